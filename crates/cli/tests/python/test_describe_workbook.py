"""What the describe-workbook agent makes of the answers of `gatelatch run`, with a stand-in for that program.

Run with `python3 -m unittest discover -s crates/cli/tests/python` from the root of the workspace.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[4] / "manifests" / "agents" / "describe-workbook" / "main.py"

# Answers from a table keyed by action and sheet, cuts rows as `read-sheet` does, and notes each call.
STAND_IN = """#!{python}
import json, sys
book = json.load(open({book!r}))
run, tool, action, flag, text, json_flag = sys.argv[1:]
assert (run, tool, flag, json_flag) == ("run", "xlsx", "--args", "--json"), sys.argv
arguments = json.loads(text)
open({log!r}, "a").write(json.dumps([action, arguments]) + "\\n")
if action == "list-sheets":
    if "refuse" in book:
        print(json.dumps(book["refuse"]))
        sys.exit(1)
    print(json.dumps({{"path": arguments["path"], "sheets": [{{"title": t, "rows": len(r), "columns": 2, **({{"kind": r}} if r == "chartsheet" else {{}})}} for t, r in book["sheets"]]}}))
else:
    rows = dict(book["sheets"])[arguments["sheet"]]
    if rows == "broken":
        print("no such part", file=sys.stderr)
        sys.exit(1)
    cap = arguments["max-results"]
    print(json.dumps({{"sheet": arguments["sheet"], "rows": rows[:cap], "truncated": len(rows) > cap}}))
"""


@unittest.skipIf(sys.platform == "win32", "the stand-in is a script with a first line that names its program")
class Describing(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.log = self.folder / "calls"
        self.stand_in = self.folder / "gatelatch"

    def describe(self, book, *arguments):
        kept = self.folder / "book.json"
        kept.write_text(json.dumps(book))
        self.stand_in.write_text(STAND_IN.format(python=sys.executable, book=str(kept), log=str(self.log)))
        self.stand_in.chmod(0o700)
        ended = subprocess.run(
            [sys.executable, str(PROGRAM), "--path=a.xlsx", *arguments],
            env={"GATELATCH_BIN": str(self.stand_in)}, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
        )
        return ended.returncode, json.loads(ended.stdout), [json.loads(line) for line in ended.stderr.splitlines()]

    def calls(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def test_a_header_row_is_told_from_data(self):
        book = {"sheets": [["People", [["name", "age"], ["Ann", 40], ["Bob", 50]]], ["Numbers", [[1, 2], [3, 4]]]]}
        code, answer, _ = self.describe(book)
        self.assertEqual(code, 0)
        self.assertEqual(answer["sheets"], [
            {"title": "People", "rows": 3, "columns": 2, "header": ["name", "age"], "sample": [["Ann", 40], ["Bob", 50]], "more": False},
            {"title": "Numbers", "rows": 2, "columns": 2, "sample": [[1, 2], [3, 4]], "more": False},
        ])

    def test_the_sample_is_as_long_as_asked_and_says_that_there_is_more(self):
        rows = [["name", "age"]] + [[f"n{number}", number] for number in range(10)]
        for book, length in (({"sheets": [["S", rows]]}, 3), ({"sheets": [["S", rows[1:]]]}, 3)):
            sheet = self.describe(book, "--max-results=3")[1]["sheets"][0]
            self.assertEqual((len(sheet["sample"]), sheet["more"]), (length, True))
        exact = self.describe({"sheets": [["S", rows[:4]]]}, "--max-results=3")[1]["sheets"][0]
        self.assertEqual((len(exact["sample"]), exact["more"]), (3, False))

    def test_a_broken_sheet_does_not_hide_the_others(self):
        code, answer, _ = self.describe({"sheets": [["Bad", "broken"], ["Good", [[1]]]]})
        self.assertEqual(code, 0)
        self.assertIn("no such part", answer["sheets"][0]["error"])
        self.assertEqual(answer["sheets"][1]["sample"], [[1]])

    def test_a_chart_is_listed_and_not_read(self):
        _, answer, _ = self.describe({"sheets": [["Chart", "chartsheet"], ["Good", [[1]]]]})
        self.assertEqual(sorted(answer["sheets"][0]), ["columns", "kind", "rows", "title"])
        self.assertEqual([action for action, _ in self.calls()], ["list-sheets", "read-sheet"])

    def test_an_empty_sheet_has_no_header_and_no_sample(self):
        self.assertEqual(self.describe({"sheets": [["Empty", []]]})[1]["sheets"][0]["sample"], [])

    def test_sheets_beyond_the_cap_are_listed_and_not_read(self):
        book = {"sheets": [[f"S{number}", [[number]]] for number in range(4)]}
        _, answer, _ = self.describe(book, "--max-sheets=2")
        self.assertEqual([sorted(sheet) for sheet in answer["sheets"][2:]], [["columns", "rows", "title"]] * 2)
        self.assertEqual([action for action, _ in self.calls()], ["list-sheets", "read-sheet", "read-sheet"])

    def test_each_sheet_is_a_step_on_stderr(self):
        steps = self.describe({"sheets": [["A", [[1]]], ["B", [[2]]]]})[2]
        self.assertEqual(steps, [{"progress": 1, "total": 2}, {"progress": 2, "total": 2}])

    def test_a_refused_call_is_passed_on_with_its_cause(self):
        refusal = {"error": "bad_workbook", "message": "no workbook"}
        code, answer, _ = self.describe({"refuse": refusal})
        self.assertEqual((code, answer["error"], answer["cause"]), (1, "call_failed", refusal))

    def test_outside_of_gatelatch_it_says_how_to_start_it(self):
        ended = subprocess.run([sys.executable, str(PROGRAM), "--path=a.xlsx"], env={}, capture_output=True, check=False)
        self.assertEqual((ended.returncode, json.loads(ended.stdout)["error"]), (1, "not_under_gatelatch"))


if __name__ == "__main__":
    unittest.main()
