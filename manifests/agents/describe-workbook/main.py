"""Describes a workbook by calling the xlsx tool through `gatelatch run`, one read-only action after another.

The runner says where the `gatelatch` program is (GATELATCH_BIN) and hands on the catalog. What this agent may call is
decided by the gate, as for everybody else.
"""

import argparse
import json
import os
import subprocess
import sys

# What one sheet may add to the answer: a sheet can be thousands of columns wide.
MOST_BYTES_A_SHEET = 32768


class Failed(Exception):
    """A call that failed; `answer` is what this agent prints."""

    def __init__(self, error, message, cause=None):
        super().__init__(message)
        self.answer = {"error": error, "message": message}
        if cause is not None:
            self.answer["cause"] = cause


def call(action, arguments):
    """The result of one action of the xlsx tool."""
    program = os.environ.get("GATELATCH_BIN")
    if not program:
        raise Failed("not_under_gatelatch", "GATELATCH_BIN is not set; start this agent with `gatelatch agent describe-workbook`")
    ended = subprocess.run(
        [program, "run", "xlsx", action, "--args", json.dumps(arguments), "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    answer = parsed(ended.stdout)
    if ended.returncode != 0:
        cause = answer if answer is not None else {"text": ended.stderr.decode("utf-8", "replace")[-2000:]}
        raise Failed("call_failed", f"xlsx {action}: {reason(cause)}", cause)
    if not isinstance(answer, dict):
        raise Failed("call_failed", f"xlsx {action} gave no JSON object")
    return answer


def parsed(output):
    try:
        return json.loads(output)
    except ValueError:
        return None


def reason(cause):
    if isinstance(cause, dict):
        return str(cause.get("message") or cause.get("text") or cause.get("error") or cause)
    return str(cause)


def described(path, sheet, rows_wanted):
    """What is told of one sheet. A sheet that cannot be read does not hide the others."""
    entry = outline(sheet)
    if sheet.get("kind", "worksheet") != "worksheet":
        return entry
    wanted = {"path": path, "sheet": sheet["title"], "max-results": rows_wanted + 1, "max-bytes": MOST_BYTES_A_SHEET}
    try:
        answer = call("read-sheet", wanted)
    except Failed as failed:
        return {**entry, "error": str(failed)}
    rows = answer.get("rows", [])
    header = rows[0] if rows and reads_like_names(rows[0]) else None
    sample = rows[1:] if header else rows[:rows_wanted]
    if header:
        entry["header"] = header
    entry["sample"] = sample
    entry["more"] = bool(answer.get("truncated")) or len(rows) > len(sample) + (1 if header else 0)
    return entry


def outline(sheet):
    return {key: sheet[key] for key in ("title", "rows", "columns", "visible", "kind") if key in sheet}


def reads_like_names(row):
    """Column names are texts, none blank, no two alike."""
    return len(row) > 0 and all(isinstance(cell, str) and cell.strip() for cell in row) and len(set(row)) == len(row)


def report(done, total):
    """One step, in the form that the runner passes on to whoever waits."""
    print(json.dumps({"progress": done, "total": total}), file=sys.stderr, flush=True)


def describe(path, rows_wanted, sheets_wanted):
    sheets = call("list-sheets", {"path": path})["sheets"]
    total = min(len(sheets), sheets_wanted)
    entries = []
    for number, sheet in enumerate(sheets):
        if number >= sheets_wanted:
            entries.append(outline(sheet))
            continue
        entries.append(described(path, sheet, rows_wanted))
        report(number + 1, total)
    return {"path": path, "sheets": entries}


def main():
    parser = argparse.ArgumentParser(prog="describe-workbook", allow_abbrev=False)
    parser.add_argument("--path", required=True)
    parser.add_argument("--max-results", type=int, default=5)
    parser.add_argument("--max-sheets", type=int, default=20)
    request = parser.parse_args()
    try:
        answer, code = describe(request.path, request.max_results, request.max_sheets), 0
    except Failed as failed:
        answer, code = failed.answer, 1
    print(json.dumps(answer))
    return code


if __name__ == "__main__":
    sys.exit(main())
