"""Drafts and sends messages by writing them into a maildir-like outbox.

The outbox holds two folders, `drafts` and `sent`, each with `tmp` and `new` as a maildir has them: a message is written
to `tmp`, flushed, and only then given its name in `new`, so that a reader sees a whole message or none. A name is never
given twice. A sent draft keeps its id, so that a draft is sent once however many try. A third folder, `keys`, holds for
each key that a draft was written with the id that it stands for, so that a repeated call writes no second draft.

Every answer is one JSON object on stdout. A failure is {"error": code, "message": text} and exit code 1.
"""

import argparse
import hashlib
import json
import os
import re
import secrets
import sys
import time
import unicodedata
from datetime import datetime, timezone
from email import policy
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import format_datetime, make_msgid
from pathlib import Path

FOLDERS = ("drafts", "sent")
ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{12}")
KEY = re.compile(r"[A-Za-z0-9._:-]{1,100}")
ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LOCAL_PART = re.compile(rf"{ATOM}(?:\.{ATOM})*")
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
PREVIEW_CHARACTERS = 200
MOST_RECIPIENTS = 100
MOST_DELETED = 100
LONGEST_SUBJECT = 900
CLAIM_SECONDS = 2.0
DEFAULT_FROM = "outbox@localhost"


class Refused(Exception):
    """A request that is answered with an error; the code is stable, the message is for the reader."""

    def __init__(self, code, message, **more):
        super().__init__(message)
        self.answer = {"error": code, "message": message, **more}


# Where the outbox is.


def outbox_folder():
    configured = os.environ.get("OUTBOX_DIR", "")
    folder = Path(configured).expanduser() if configured else state_folder() / "gatelatch" / "outbox"
    if not folder.is_absolute():
        raise Refused("bad_configuration", f"OUTBOX_DIR is no absolute path: `{configured}`")
    return folder


def state_folder():
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    if sys.platform == "darwin":
        return home_folder() / "Library" / "Application Support"
    # The XDG rules say that a relative path there is to be ignored.
    configured = Path(os.environ.get("XDG_STATE_HOME", ""))
    return configured if configured.is_absolute() else home_folder() / ".local" / "state"


def home_folder():
    try:
        return Path.home()
    except RuntimeError:
        raise Refused("bad_configuration", "no home folder is known; set OUTBOX_DIR") from None


# Messages.


def compose(to, cc, subject, body):
    """A message from what the caller gave, each part checked."""
    message = EmailMessage(policy=policy.default)
    message["From"] = addresses("OUTBOX_FROM", os.environ.get("OUTBOX_FROM") or DEFAULT_FROM)
    message["To"] = addresses("to", to)
    if cc is not None:
        message["Cc"] = addresses("cc", cc)
    message["Subject"] = header_text("subject", subject)
    stamp(message)
    message.set_content(body_text(body))
    return message


def stamp(message):
    """Dates and names a message anew, as happens when it is written and again when it is sent."""
    for header in ("Date", "Message-ID"):
        del message[header]
    message["Date"] = format_datetime(datetime.now(timezone.utc))
    senders = message["From"].addresses
    message["Message-ID"] = make_msgid(domain=senders[0].domain if senders else "localhost")


def addresses(argument, text):
    """Every address of a comma-separated list, or a refusal that names the bad one."""
    header_text(argument, text)
    parts = [part.strip() for part in split_at_commas(argument, text)]
    parts = [part for part in parts if part]
    if not parts:
        raise Refused("bad_address", f"`{argument}` holds no address")
    if len(parts) > MOST_RECIPIENTS:
        raise Refused("bad_address", f"`{argument}` holds {len(parts)} addresses; at most {MOST_RECIPIENTS} are allowed")
    return tuple(address(argument, part) for part in parts)


def split_at_commas(argument, text):
    """Splits at commas that stand outside quotes and angle brackets."""
    parts, current, quoted, escaped, angled = [], "", False, False, False
    for character in text:
        if character == "," and not quoted and not angled:
            parts.append(current)
            current = ""
            continue
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif not quoted and character in "<>":
            angled = character == "<"
        current += character
    if quoted or angled:
        raise Refused("bad_address", f"`{argument}` ends within a quote or an angle bracket")
    return parts + [current]


def address(argument, text):
    """`ann@example.org` or `Ann <ann@example.org>`."""
    name, bare = "", text
    if text.endswith(">"):
        name, bracket, bare = text[:-1].rpartition("<")
        name = display_name(argument, name.strip()) if bracket else name
        bare = bare if bracket else text
    local, at, domain = bare.rpartition("@")
    if not at or not LOCAL_PART.fullmatch(local) or len(local) > 64:
        raise Refused("bad_address", f"`{argument}` holds `{text}`, which is no address; write ann@example.org")
    return Address(display_name=name, username=local, domain=ascii_domain(argument, text, domain))


def display_name(argument, text):
    if len(text) >= 2 and text.startswith('"') and text.endswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if any(character in text for character in '<>"'):
        raise Refused("bad_address", f"`{argument}` holds a name with stray quotes or brackets: `{text}`")
    return text


def ascii_domain(argument, text, domain):
    try:
        plain = domain.encode("idna").decode("ascii") if domain else ""
    except UnicodeError:
        plain = ""
    if not plain or len(plain) > 253 or not all(LABEL.fullmatch(label) for label in plain.split(".")):
        raise Refused("bad_address", f"`{argument}` holds `{text}`, whose domain is none")
    return plain


def header_text(argument, text):
    """Text that may stand in a header: one line, no control characters, whole characters."""
    if len(text) > LONGEST_SUBJECT and argument == "subject":
        raise Refused("bad_text", f"`subject` has {len(text)} characters; at most {LONGEST_SUBJECT} are allowed")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text):
        raise Refused("bad_text", f"`{argument}` holds a line break or another control character")
    return text


def body_text(text):
    if any(unicodedata.category(character) == "Cs" or character == "\0" for character in text):
        raise Refused("bad_text", "`body` holds bytes that are no text")
    return text


# Files.


def new_id():
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + "-" + secrets.token_hex(6)


def checked_id(text):
    if not ID.fullmatch(text):
        raise Refused("bad_id", "an id looks like 20260131-101500-0123456789ab; list-messages gives them")
    return text


def store(outbox, folder, identifier, message):
    """Writes a message under its id, whole or not at all, and never over another one."""
    target = outbox / folder / "new" / f"{identifier}.eml"
    for name in ("tmp", "new"):
        (outbox / folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = outbox / folder / "tmp" / f"{identifier}.{secrets.token_hex(6)}"
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(message.as_bytes())
            file.flush()
            os.fsync(file.fileno())
        publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(target.parent)
    return target


def publish(temporary, target):
    """Gives a finished file its name; FileExistsError when the name is taken."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: the name is claimed first, then filled.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(temporary, target)


def flush_folder(folder):
    """Makes a new name durable where the system offers it."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def files(outbox, folder):
    """(id, path) of every message in a folder; `cur` is where a mail reader moves what it has seen."""
    for name in ("new", "cur"):
        try:
            entries = sorted(os.scandir(outbox / folder / name), key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        for entry in entries:
            identifier = entry.name[: entry.name.find(".")] if "." in entry.name else entry.name
            if ID.fullmatch(identifier) and entry.is_file(follow_symlinks=False):
                yield identifier, Path(entry.path)


def locate(outbox, folder, identifier):
    return next((path for known, path in files(outbox, folder) if known == identifier), None)


def read(path):
    return BytesParser(policy=policy.default).parsebytes(path.read_bytes())


def described(identifier, folder, path, message):
    answer = {"id": identifier, "folder": folder, "path": str(path)}
    for key in ("from", "to", "cc", "subject", "date"):
        if message[key] is not None or key != "cc":
            answer[key] = str(message[key] or "")
    return answer


def preview(message):
    body = message.get_body(preferencelist=("plain",))
    text = body.get_content() if body is not None else ""
    return " ".join(text.split())[:PREVIEW_CHARACTERS]


# The four actions.


def list_messages(request):
    outbox = outbox_folder()
    folders = [request.folder] if request.folder else FOLDERS
    found = [(identifier, folder, path) for folder in folders for identifier, path in files(outbox, folder)]
    found.sort(key=lambda item: (item[0], item[1]), reverse=True)
    messages, unreadable = [], 0
    for identifier, folder, path in found[: request.max_results]:
        try:
            message = read(path)
            entry = described(identifier, folder, path, message)
            entry.update(preview=preview(message), bytes=path.stat().st_size)
        except FileNotFoundError:
            continue  # sent or deleted meanwhile
        except (OSError, LookupError, ValueError, TypeError, AttributeError):
            # What the email package raises on a mangled message differs by its version.
            unreadable += 1
            continue
        messages.append(entry)
    return {
        "outbox": str(outbox),
        "messages": messages,
        "total": len(found),
        "truncated": len(found) > request.max_results,
        "unreadable": unreadable,
    }


def draft_message(request):
    message = compose(request.to, request.cc, request.subject, request.body)
    outbox = outbox_folder()
    if request.key is not None:
        return draft_once(outbox, checked_key(request.key), message)
    return whole(outbox, "drafts", new_id(), message)


def draft_once(outbox, key, message):
    """The draft of a key: the one that is there, or a new one under the id that the key stands for."""
    identifier = claimed_id(outbox, key)
    for _ in range(3):
        for folder in FOLDERS:
            path = locate(outbox, folder, identifier)
            if path is not None:
                try:
                    there = read(path)
                except FileNotFoundError:
                    continue  # sent or deleted meanwhile
                return same_draft(identifier, folder, path, there, message)
        try:
            return whole(outbox, "drafts", identifier, message)
        except FileExistsError:
            continue  # another call with this key was faster
    raise Refused("outbox_unusable", "the draft of this key is being moved; try again")


def same_draft(identifier, folder, path, there, message):
    if content_of(there) != content_of(message):
        raise Refused("key_used", "`key` was used for another message; give this one a key of its own")
    return {**described(identifier, folder, path, there), "message_id": str(there["Message-ID"] or "")}


def content_of(message):
    """What the caller said of a message, in the one form that it has once it was written."""
    plain = BytesParser(policy=policy.default).parsebytes(message.as_bytes())
    body = plain.get_body(preferencelist=("plain",))
    headers = [str(plain[name] or "") for name in ("To", "Cc", "Subject")]
    return headers, (body.get_content() if body is not None else "").splitlines()


def claimed_id(outbox, key):
    """The id that a key stands for. The first call with a key decides, however many come at once."""
    folder = outbox / "keys"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = hashlib.sha256(key.encode()).hexdigest()
    claim, temporary = folder / name, folder / f"{name}.{secrets.token_hex(6)}"
    if not claim.exists():
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(new_id())
                file.flush()
                os.fsync(file.fileno())
            publish(temporary, claim)
            flush_folder(folder)
        except FileExistsError:
            pass  # another call with this key was faster
        finally:
            temporary.unlink(missing_ok=True)
    # Where the file system has no hard links, a claim is filled a moment after it was made.
    deadline = time.monotonic() + CLAIM_SECONDS
    while True:
        identifier = claim.read_text()
        if ID.fullmatch(identifier):
            return identifier
        if time.monotonic() > deadline:
            raise Refused("outbox_unusable", f"what `{claim}` holds is no id; remove the file to use this key again")
        time.sleep(0.01)


def checked_key(text):
    if not KEY.fullmatch(text):
        raise Refused("bad_arguments", "`key` has 1 to 100 letters, digits, `.`, `_`, `:` and `-`")
    return text


def whole(outbox, folder, identifier, message):
    path = store(outbox, folder, identifier, message)
    return {**described(identifier, folder, path, message), "message_id": str(message["Message-ID"])}


def send_message(request):
    given = {name for name in ("to", "cc", "subject", "body") if getattr(request, name) is not None}
    if request.id is not None:
        if given:
            raise Refused("bad_arguments", "give `id` alone to send a draft, or `to`, `subject` and `body`")
        return send_draft(checked_id(request.id))
    missing = [name for name in ("to", "subject", "body") if name not in given]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise Refused("bad_arguments", f"{names} missing; give the `id` of a draft, or `to`, `subject` and `body`")
    message = compose(request.to, request.cc, request.subject, request.body)
    return sent(outbox_folder(), new_id(), message)


def send_draft(identifier):
    outbox = outbox_folder()
    draft = locate(outbox, "drafts", identifier)
    try:
        message = read(draft) if draft else None
    except FileNotFoundError:
        message = None
    if locate(outbox, "sent", identifier):
        raise already_sent(identifier, draft)
    if message is None:
        raise Refused("no_such_message", f"there is no draft `{identifier}`; list-messages shows what there is")
    stamp(message)
    try:
        answer = sent(outbox, identifier, message)
    except FileExistsError:
        raise already_sent(identifier, draft) from None
    # Were the program to die here, the draft that stays could not be sent again under its id.
    draft.unlink(missing_ok=True)
    return answer


def sent(outbox, identifier, message):
    return whole(outbox, "sent", identifier, message)


def already_sent(identifier, draft):
    if draft is not None:
        draft.unlink(missing_ok=True)
    return Refused("already_sent", f"`{identifier}` was sent before; nothing was sent now")


def delete_messages(request):
    identifiers = parsed_ids(request.ids)
    outbox = outbox_folder()
    found = [(identifier, folder, locate(outbox, folder, identifier)) for identifier in identifiers for folder in FOLDERS]
    found = [item for item in found if item[2] is not None]
    missing = [identifier for identifier in identifiers if identifier not in {item[0] for item in found}]
    if missing:
        raise Refused("no_such_message", "some ids are unknown, so nothing was deleted", unknown=missing)
    for _, _, path in found:
        path.unlink(missing_ok=True)
    forget_keys(outbox, set(identifiers))
    return {"deleted": [{"id": identifier, "folder": folder} for identifier, folder, _ in found]}


def forget_keys(outbox, identifiers):
    """A key whose message was deleted stands for nothing any more, so that no name is given twice."""
    try:
        claims = list(os.scandir(outbox / "keys"))
    except FileNotFoundError:
        return
    for claim in claims:
        path = Path(claim.path)
        try:
            if path.read_text() in identifiers:
                path.unlink()
        except (FileNotFoundError, UnicodeDecodeError):
            continue


def parsed_ids(text):
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise Refused("bad_arguments", "`ids` must be a JSON array of at least one id")
    if len(value) > MOST_DELETED:
        raise Refused("bad_arguments", f"`ids` holds {len(value)} ids; at most {MOST_DELETED} are deleted at once")
    return list(dict.fromkeys(checked_id(item) for item in value))


# The command line.


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the command line in the same form as every other failure."""

    def error(self, message):
        raise Refused("bad_arguments", message)


def command_line():
    parser = Parser(prog="outbox", allow_abbrev=False)
    actions = parser.add_subparsers(dest="action", required=True, parser_class=Parser)

    listing = actions.add_parser("list-messages", allow_abbrev=False)
    listing.add_argument("--folder", choices=FOLDERS)
    listing.add_argument("--max-results", type=int, default=20)
    listing.set_defaults(run=list_messages)

    draft = actions.add_parser("draft-message", allow_abbrev=False)
    for name in ("to", "subject", "body"):
        draft.add_argument(f"--{name}", required=True)
    draft.add_argument("--cc")
    draft.add_argument("--key")
    draft.set_defaults(run=draft_message)

    send = actions.add_parser("send-message", allow_abbrev=False)
    for name in ("id", "to", "cc", "subject", "body"):
        send.add_argument(f"--{name}")
    send.set_defaults(run=send_message)

    delete = actions.add_parser("delete-messages", allow_abbrev=False)
    delete.add_argument("--ids", required=True)
    delete.set_defaults(run=delete_messages)
    return parser


def main(arguments):
    try:
        request = command_line().parse_args(arguments)
        if request.run is list_messages and not 1 <= request.max_results <= 500:
            raise Refused("bad_arguments", "`max-results` must be from 1 to 500")
        answer, code = request.run(request), 0
    except Refused as refused:
        answer, code = refused.answer, 1
    except MessageError as error:
        answer, code = {"error": "bad_text", "message": f"the message cannot be written: {error}"}, 1
    except OSError as error:
        reason = error.strerror or type(error).__name__
        answer, code = {"error": "outbox_unusable", "message": f"{reason}: `{error.filename or ''}`"}, 1
    # ASCII only, so that no locale of the machine can get between this and the reader.
    print(json.dumps(answer))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
