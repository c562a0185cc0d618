"""What the outbox tool promises, through its own command line.

Run with `python3 -m unittest discover -s crates/cli/tests/python` from the root of the workspace.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest
from email import policy
from email.parser import BytesParser
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[4] / "manifests" / "tools" / "outbox" / "main.py"


class OutboxCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.home = Path(scratch.name)
        self.outbox = self.home / "outbox"

    def call(self, *arguments, **environment):
        """(exit code, answer) of one run; the environment is as bare as the runner makes it."""
        base = {"HOME": str(self.home), "USERPROFILE": str(self.home), "OUTBOX_DIR": str(self.outbox)}
        if "SYSTEMROOT" in os.environ:
            base["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        ended = subprocess.run(
            [sys.executable, str(PROGRAM), *arguments],
            env={**base, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(ended.stderr, b"", "nothing may go to stderr")
        return ended.returncode, json.loads(ended.stdout)

    def works(self, *arguments, **environment):
        code, answer = self.call(*arguments, **environment)
        self.assertEqual((code, answer.get("error")), (0, None), answer)
        return answer

    def refused(self, error, *arguments, **environment):
        code, answer = self.call(*arguments, **environment)
        self.assertEqual((code, answer.get("error")), (1, error), answer)
        self.assertTrue(answer["message"])
        return answer

    def draft(self, to="ann@example.org", subject="Minutes", body="Hello"):
        return self.works("draft-message", f"--to={to}", f"--subject={subject}", f"--body={body}")

    def ids(self, folder):
        return [message["id"] for message in self.works("list-messages", "--folder", folder)["messages"]]

    def files(self):
        return sorted(str(path.relative_to(self.outbox)) for path in self.outbox.rglob("*") if path.is_file())


class Drafting(OutboxCase):
    def test_a_draft_is_a_message_file_that_a_mail_reader_understands(self):
        answer = self.draft(to='Ann <ann@example.org>, "Bob, Jr." <bob@example.org>', subject="Grüße", body="Zeile\nzwei – 東京")
        message = BytesParser(policy=policy.default).parsebytes(Path(answer["path"]).read_bytes())
        self.assertEqual(message["To"].addresses[1].display_name, "Bob, Jr.")
        self.assertEqual([address.addr_spec for address in message["To"].addresses], ["ann@example.org", "bob@example.org"])
        self.assertEqual(message["Subject"], "Grüße")
        self.assertEqual(message.get_content(), "Zeile\nzwei – 東京\n")
        self.assertEqual(message["Message-ID"], answer["message_id"])
        self.assertIsNotNone(message["Date"].datetime)
        self.assertEqual(message.defects, [])

    def test_a_draft_is_not_sent(self):
        answer = self.draft()
        self.assertEqual(self.ids("drafts"), [answer["id"]])
        self.assertEqual(self.ids("sent"), [])

    def test_nothing_stays_in_tmp(self):
        self.draft()
        self.assertTrue(all(Path(name).parts[1] == "new" for name in self.files()), self.files())

    @unittest.skipIf(sys.platform == "win32", "modes are a matter of POSIX")
    def test_messages_are_private_to_the_user(self):
        path = Path(self.draft()["path"])
        self.assertEqual(path.stat().st_mode & 0o077, 0)
        self.assertEqual(path.parent.stat().st_mode & 0o077, 0)

    def test_the_sender_is_configured(self):
        answer = self.works("draft-message", "--to=a@b.c", "--subject=s", "--body=b", OUTBOX_FROM="Me <me@example.org>")
        self.assertEqual(answer["from"], "Me <me@example.org>")

    def test_a_text_that_looks_like_an_option_is_text(self):
        answer = self.draft(subject="--body=x", body="--help")
        self.assertEqual(answer["subject"], "--body=x")
        self.assertEqual(self.works("list-messages")["messages"][0]["preview"], "--help")

    def test_an_empty_body_and_subject_are_allowed(self):
        self.assertEqual(self.draft(subject="", body="")["subject"], "")

    def test_a_domain_of_another_script_becomes_ascii(self):
        self.assertEqual(self.draft(to="ann@münchen.example")["to"], "ann@xn--mnchen-3ya.example")


class Keys(OutboxCase):
    def keyed(self, key="minutes-1", **other):
        given = {"to": "Ann <ann@example.org>", "subject": "Grüße", "body": "Zeile\n\nzwei – 東京", "key": key, **other}
        return [f"--{name}={value}" for name, value in given.items()]

    def draft(self, *arguments):
        return self.works("draft-message", *arguments)

    def test_a_repeated_call_with_a_key_gives_the_same_draft(self):
        first = self.draft(*self.keyed())
        self.assertEqual(self.draft(*self.keyed()), first)
        self.assertEqual(self.ids("drafts"), [first["id"]])
        self.assertNotEqual(self.draft(*self.keyed("minutes-2"))["id"], first["id"])

    def test_without_a_key_every_call_writes_a_draft(self):
        arguments = ("--to=ann@example.org", "--subject=s", "--body=b")
        self.assertNotEqual(self.draft(*arguments)["id"], self.draft(*arguments)["id"])

    def test_many_calls_with_a_key_at_once_write_one_draft(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.draft(*self.keyed()), range(16)))
        self.assertEqual({answer["id"] for answer in answers}, {answers[0]["id"]})
        self.assertEqual({answer["message_id"] for answer in answers}, {answers[0]["message_id"]})
        self.assertEqual(self.ids("drafts"), [answers[0]["id"]])

    def test_a_key_of_another_message_is_refused(self):
        self.draft(*self.keyed())
        for other in ({"body": "other"}, {"subject": "other"}, {"to": "bob@example.org"}, {"cc": "bob@example.org"}):
            with self.subTest(other=other):
                self.refused("key_used", "draft-message", *self.keyed(**other))
        self.assertEqual(len(self.ids("drafts")), 1)

    def test_a_draft_that_was_sent_is_not_drafted_again(self):
        draft = self.draft(*self.keyed())
        self.works("send-message", "--id", draft["id"])
        again = self.draft(*self.keyed())
        self.assertEqual((again["id"], again["folder"]), (draft["id"], "sent"))
        self.assertEqual(self.ids("drafts"), [])

    def test_a_deleted_draft_frees_its_key_and_never_its_id(self):
        draft = self.draft(*self.keyed())
        self.works("delete-messages", "--ids", json.dumps([draft["id"]]))
        again = self.draft(*self.keyed())
        self.assertNotEqual(again["id"], draft["id"])
        self.assertEqual(self.ids("drafts"), [again["id"]])

    def test_a_call_that_ended_after_its_claim_is_completed_by_the_next_one(self):
        draft = self.draft(*self.keyed())
        Path(draft["path"]).unlink()
        self.assertEqual(self.draft(*self.keyed())["id"], draft["id"])

    def test_what_is_no_key_is_refused_and_leaves_nothing_behind(self):
        for key in ("", "a b", "../x", "k" * 101, "é", "a\n"):
            with self.subTest(key=key):
                self.refused("bad_arguments", "draft-message", *self.keyed(key))
        self.assertFalse(self.outbox.exists())

    def test_a_claim_that_is_damaged_is_told(self):
        self.draft(*self.keyed())
        [claim] = (self.outbox / "keys").iterdir()
        claim.write_text("")
        self.refused("outbox_unusable", "draft-message", *self.keyed())

    @unittest.skipIf(sys.platform == "win32", "modes are a matter of POSIX")
    def test_a_key_itself_is_not_kept(self):
        self.draft(*self.keyed("private-word"))
        kept = [path for path in self.outbox.rglob("*") if path.is_file()]
        self.assertFalse(any("private-word" in str(path) or b"private-word" in path.read_bytes() for path in kept))


class Refusing(OutboxCase):
    def test_a_line_break_in_a_header_is_refused(self):
        for argument in ("to", "cc", "subject"):
            for text in ("x\nBcc: eve@example.org", "x\rBcc: eve@example.org", "x\u2028y", "x\x0by", "x\x7fy"):
                given = {"to": "ann@example.org", "subject": "s", "body": "b", argument: text}
                with self.subTest(argument=argument, text=text):
                    self.refused("bad_text", "draft-message", *(f"--{name}={value}" for name, value in given.items()))
                    self.refused("bad_text", "send-message", *(f"--{name}={value}" for name, value in given.items()))
        self.assertFalse(self.outbox.exists(), "a refused message leaves nothing behind")

    def test_what_is_no_address_is_refused(self):
        bad = ["", " , ", "ann", "@example.org", "ann@", "ann@-x.org", "ann@a..b", "ann b@example.org", "ann@example.org bob@example.org",
               "Ann <ann@example.org", "ann@example.org>", 'A"nn <ann@example.org>', "<a@b.c> <d@e.f>", "a@b@c.d", "ann@exa mple.org",
               ".ann@example.org", "ann@example.org.", "x" * 65 + "@example.org", "ann@" + "a" * 64 + ".org"]
        for text in bad:
            with self.subTest(text=text):
                self.refused("bad_address", "draft-message", f"--to={text}", "--subject=s", "--body=b")
        self.refused("bad_address", "draft-message", "--to=" + ",".join(f"a{n}@b.c" for n in range(101)), "--subject=s", "--body=b")

    def test_bytes_that_are_no_text_are_refused(self):
        if sys.platform == "win32":
            self.skipTest("arguments are text there")
        ended = subprocess.run(
            [sys.executable.encode(), str(PROGRAM).encode(), b"send-message", b"--to=a@b.c", b"--subject=s", b"--body=\xff\xfe"],
            env={"HOME": str(self.home), "OUTBOX_DIR": str(self.outbox)}, capture_output=True, check=False,
        )
        self.assertEqual((ended.returncode, json.loads(ended.stdout)["error"]), (1, "bad_text"))

    def test_a_wrong_command_line_is_answered_as_json(self):
        for arguments in ([], ["fly"], ["draft-message", "--to=a@b.c"], ["list-messages", "--max-results=x"],
                          ["list-messages", "--max-results=0"], ["list-messages", "--fold=sent"], ["send-message"],
                          ["send-message", "--to=a@b.c"], ["delete-messages"]):
            with self.subTest(arguments=arguments):
                self.refused("bad_arguments", *arguments)

    def test_an_outbox_that_cannot_be_written_is_told(self):
        self.outbox.write_text("a file, no folder")
        self.refused("outbox_unusable", "draft-message", "--to=a@b.c", "--subject=s", "--body=b")

    def test_a_relative_outbox_is_refused(self):
        self.refused("bad_configuration", "list-messages", OUTBOX_DIR="outbox")


class Sending(OutboxCase):
    def test_a_sent_draft_leaves_the_drafts_and_keeps_its_id(self):
        draft = self.draft(body="As agreed")
        sent = self.works("send-message", "--id", draft["id"])
        self.assertEqual((sent["id"], sent["folder"]), (draft["id"], "sent"))
        self.assertEqual((self.ids("drafts"), self.ids("sent")), ([], [draft["id"]]))
        message = BytesParser(policy=policy.default).parsebytes(Path(sent["path"]).read_bytes())
        self.assertEqual(message.get_content(), "As agreed\n")
        self.assertEqual(len(message.get_all("Date")), 1)
        self.assertEqual(message["Message-ID"], sent["message_id"])
        self.assertNotEqual(sent["message_id"], draft["message_id"])

    def test_a_message_given_directly_is_sent(self):
        sent = self.works("send-message", "--to=ann@example.org", "--cc=bob@example.org", "--subject=Lunch", "--body=At noon?")
        listed = self.works("list-messages", "--folder=sent")["messages"]
        self.assertEqual([(m["id"], m["subject"], m["cc"], m["preview"]) for m in listed], [(sent["id"], "Lunch", "bob@example.org", "At noon?")])

    def test_a_draft_is_sent_once(self):
        draft = self.draft()
        self.works("send-message", "--id", draft["id"])
        self.refused("already_sent", "send-message", "--id", draft["id"])
        self.assertEqual(len(self.files()), 1)

    def test_a_draft_is_sent_once_however_many_try_at_once(self):
        draft = self.draft()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            codes = sorted(code for code, _ in pool.map(lambda _: self.call("send-message", "--id", draft["id"]), range(8)))
        self.assertEqual(codes, [0] + [1] * 7)
        self.assertEqual(self.files(), [os.path.join("sent", "new", draft["id"] + ".eml")])

    def test_a_draft_that_stayed_behind_is_not_sent_again(self):
        draft = self.draft()
        left = Path(draft["path"])
        content = left.read_bytes()
        self.works("send-message", "--id", draft["id"])
        left.write_bytes(content)
        self.refused("already_sent", "send-message", "--id", draft["id"])
        self.assertEqual((self.ids("drafts"), self.ids("sent")), ([], [draft["id"]]))

    def test_sending_many_at_once_gives_each_its_own_id(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            sent = list(pool.map(lambda n: self.works("send-message", "--to=a@b.c", f"--subject=s{n}", "--body=b"), range(16)))
        self.assertEqual(len({answer["id"] for answer in sent}), 16)
        self.assertEqual(self.works("list-messages", "--folder=sent")["total"], 16)

    def test_an_unknown_draft_is_told(self):
        self.refused("no_such_message", "send-message", "--id", "20260131-101500-0123456789ab")

    def test_an_id_with_a_path_in_it_is_refused(self):
        secret = self.home / "secret.eml"
        secret.write_text("From: a@b.c\n\nsecret\n")
        for text in ("../../../secret", "20260131-101500-0123456789ab/../x", "", ".", "/etc/passwd", "20260131-101500-0123456789ab\n"):
            with self.subTest(text=text):
                self.refused("bad_id", "send-message", f"--id={text}")
                self.refused("bad_id", "delete-messages", f"--ids={json.dumps([text])}")
        self.assertTrue(secret.exists())

    def test_an_id_and_a_message_together_are_refused(self):
        draft = self.draft()
        self.refused("bad_arguments", "send-message", "--id", draft["id"], "--to=eve@example.org")
        self.assertEqual(self.ids("sent"), [])


class Listing(OutboxCase):
    def test_listing_creates_nothing(self):
        answer = self.works("list-messages")
        self.assertEqual((answer["messages"], answer["total"], answer["truncated"]), ([], 0, False))
        self.assertEqual(answer["outbox"], str(self.outbox))
        self.assertFalse(self.outbox.exists())

    def test_a_cap_is_told(self):
        for number in range(4):
            self.draft(subject=f"s{number}")
        answer = self.works("list-messages", "--max-results", "3")
        self.assertEqual((len(answer["messages"]), answer["total"], answer["truncated"]), (3, 4, True))
        self.assertFalse(self.works("list-messages", "--max-results", "4")["truncated"])

    def test_the_newest_comes_first(self):
        older = self.draft(subject="older")
        renamed = Path(older["path"]).with_name("20200101-000000-0123456789ab.eml")
        Path(older["path"]).rename(renamed)
        self.draft(subject="newer")
        self.assertEqual([message["subject"] for message in self.works("list-messages")["messages"]], ["newer", "older"])

    def test_what_a_mail_reader_has_moved_to_cur_is_found(self):
        draft = self.draft()
        cur = self.outbox / "drafts" / "cur"
        cur.mkdir()
        flag = "" if sys.platform == "win32" else ":2,S"
        Path(draft["path"]).rename(cur / f"{draft['id']}.eml{flag}")
        self.assertEqual(self.ids("drafts"), [draft["id"]])
        self.works("send-message", "--id", draft["id"])
        self.assertEqual((self.ids("drafts"), self.ids("sent")), ([], [draft["id"]]))

    def test_strange_files_do_not_hide_the_rest(self):
        draft = self.draft()
        new = Path(draft["path"]).parent
        (new / "notes.txt").write_text("mine")
        (new / "20260131-101500-0123456789ab.eml").write_bytes(b"\xff\xfe\x00 no headers at all\n\n\xff")
        (new / "20260131-101500-0123456789ac.eml").write_bytes(b"Subject: =?x-unknown?b?AAAA?=\nTo: <<>>,,;:@\nContent-Type: text/plain; charset=none\n\n\xff")
        answer = self.works("list-messages")
        self.assertIn(draft["id"], [message["id"] for message in answer["messages"]])
        self.assertEqual(len(answer["messages"]) + answer["unreadable"], 3)

    @unittest.skipIf(sys.platform == "win32", "links need rights there")
    def test_a_link_in_the_folder_is_no_message(self):
        draft = self.draft()
        secret = self.home / "secret"
        secret.write_text("Subject: secret\n\nsecret\n")
        (Path(draft["path"]).parent / "20260131-101500-0123456789ab.eml").symlink_to(secret)
        self.assertEqual(self.ids("drafts"), [draft["id"]])


class Deleting(OutboxCase):
    def test_messages_are_deleted_from_either_folder(self):
        draft, sent = self.draft(), self.works("send-message", "--to=a@b.c", "--subject=s", "--body=b")
        kept = self.draft()
        answer = self.works("delete-messages", "--ids", json.dumps([draft["id"], sent["id"], draft["id"]]))
        self.assertEqual([(item["id"], item["folder"]) for item in answer["deleted"]], [(draft["id"], "drafts"), (sent["id"], "sent")])
        self.assertEqual(self.files(), [os.path.join("drafts", "new", kept["id"] + ".eml")])

    def test_one_unknown_id_deletes_none(self):
        draft = self.draft()
        answer = self.refused("no_such_message", "delete-messages", "--ids", json.dumps([draft["id"], "20260131-101500-0123456789ab"]))
        self.assertEqual(answer["unknown"], ["20260131-101500-0123456789ab"])
        self.assertEqual(self.ids("drafts"), [draft["id"]])

    def test_what_is_no_array_of_ids_is_refused(self):
        for text in ("", "x", "[]", "{}", "null", "[1]", '"20260131-101500-0123456789ab"'):
            with self.subTest(text=text):
                self.refused("bad_arguments", "delete-messages", f"--ids={text}")


class Place(OutboxCase):
    @unittest.skipUnless(sys.platform.startswith("linux"), "the place is another elsewhere")
    def test_without_configuration_the_outbox_lies_in_the_state_folder(self):
        self.assertEqual(self.works("list-messages", OUTBOX_DIR="")["outbox"], str(self.home / ".local/state/gatelatch/outbox"))
        answer = self.works("list-messages", OUTBOX_DIR="", XDG_STATE_HOME=str(self.home / "state"))
        self.assertEqual(answer["outbox"], str(self.home / "state/gatelatch/outbox"))
        answer = self.works("list-messages", OUTBOX_DIR="", XDG_STATE_HOME="relative")
        self.assertEqual(answer["outbox"], str(self.home / ".local/state/gatelatch/outbox"))

    @unittest.skipIf(sys.platform == "win32", "a home folder is written otherwise there")
    def test_a_tilde_means_the_home_folder(self):
        self.assertEqual(self.works("list-messages", OUTBOX_DIR="~/mail")["outbox"], str(self.home / "mail"))


if __name__ == "__main__":
    unittest.main()
