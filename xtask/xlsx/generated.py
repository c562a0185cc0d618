"""Workbooks that openpyxl writes, each with what has to be read from it: generated.py FOLDER SEED.

Writes the books and `cases.json` into FOLDER: `[{rule, action, args, env?, result | error | file}]`. What has to be read
follows from what was written; nothing is read back here. What openpyxl cannot write (cached results of formulas, a table
of shared strings, damage of every kind) is written into the parts of its books by hand.
"""
import datetime as dt, io, json, os, random, re, sys, zipfile

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter as letters
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.workbook.defined_name import DefinedName

FOLDER, SEED = sys.argv[1], int(sys.argv[2])
CASES = []


def case(rule, action, args, **wanted):
    CASES.append({"rule": rule, "action": action, "args": args, **wanted})


def read(rule, path, rows, truncated=False, **args):
    """The rows of a sheet, and that they are all unless it is said otherwise."""
    rest = {"truncated": truncated} if truncated else {"truncated": False, "total_rows": len(rows)}
    args = {name.replace("_", "-"): value for name, value in args.items()}
    case(rule, "read-sheet", {"path": path, **args}, result={"rows": rows, **rest})


def save(book, name, edit=None):
    """Saves a book; `edit` maps the names of its parts to functions from text to text, None to leave a part out."""
    path = os.path.join(FOLDER, name)
    if edit is None:
        book.save(path)
        return name
    memory = io.BytesIO()
    book.save(memory)
    with zipfile.ZipFile(memory) as parts, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for part in parts.namelist():
            change = edit.get(part, lambda text: text)
            if change is not None:
                out.writestr(part, change(parts.read(part).decode()))
        for part, change in edit.items():
            if part not in parts.namelist() and change is not None:
                out.writestr(part, change(""))
    return name


def shared(sheets=1):
    """Moves the texts of cells into a table of shared strings, each once."""
    table = {}

    def move(text):
        def one(found):
            number = table.setdefault(found[2], len(table))
            return f'{found[1]}t="s"><v>{number}</v></c>'
        return re.sub(r'(<c [^>]*?)t="inlineStr"><is>(.*?)</is></c>', one, text, flags=re.S)

    def strings(_):
        return "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">" + "".join(
            f"<si>{text}</si>" for text in table) + "</sst>"

    names = {f"xl/worksheets/sheet{number}.xml": move for number in range(1, sheets + 1)}
    return {**names, "xl/sharedStrings.xml": strings}


def clock(time):
    fraction = f".{time.microsecond:06}" if time.microsecond else ""
    return f"{time.hour:02}:{time.minute:02}:{time.second:02}{fraction}"


def duration(delta):
    millis = round(delta.total_seconds() * 1000)
    sign, millis = "-" if millis < 0 else "", abs(millis)
    days, rest = divmod(millis, 86_400_000)
    hours, minutes = rest // 3_600_000, rest // 60_000 % 60
    seconds = f"{rest % 60_000 / 1000:.3f}".rstrip("0").rstrip(".")
    time = "".join(f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M")) if number)
    if seconds != "0" or not millis:
        time += f"{seconds}S"
    return f"{sign}P{f'{days}D' if days else ''}{f'T{time}' if time else ''}"


def value(written):
    """What has to be read where this was written."""
    if isinstance(written, bool):
        return written
    if isinstance(written, str):
        # openpyxl marks the white space around a text as kept, but not that of a text that is nothing else.
        return written if written.strip() else ""
    if written is None:
        return ""
    if isinstance(written, (int, float)):
        # openpyxl writes sixteen digits of a number and no more.
        stored = "%.16g" % written
        whole = float(stored)
        return int(whole) if whole.is_integer() and abs(whole) < 2**53 else whole
    if isinstance(written, dt.datetime):
        return f"{written.year:04}-{written.month:02}-{written.day:02}T{clock(written)}"
    if isinstance(written, dt.date):
        return f"{written.year:04}-{written.month:02}-{written.day:02}"
    if isinstance(written, dt.time):
        return clock(written)
    if isinstance(written, dt.timedelta):
        return duration(written)
    return str(written)


def filled(rows, keep_empty=False):
    """Rows as they are read: blanks at the end go, rows of nothing but blanks too."""
    out = []
    for row in rows:
        row = [value(cell) for cell in row]
        while row and isinstance(row[-1], str) and not row[-1].strip():
            row.pop()
        if row or keep_empty:
            out.append(row)
    while out and not out[-1]:
        out.pop()
    return out


def sheet_of(book, title, rows):
    sheet = book.create_sheet(title)
    for number, row in enumerate(rows, 1):
        for column, cell in enumerate(row, 1):
            if cell is not None:
                sheet.cell(number, column, cell)
    return sheet


def empty_book():
    book = Workbook()
    book.remove(book.active)
    return book


# What a sheet is -----------------------------------------------------------------------------------------------------

def lists():
    book = empty_book()
    book.create_chartsheet("Chart")
    data = sheet_of(book, "Data", [[1, 2], [], [None, None, 3]])
    data.merge_cells("B5:F9")
    sheet_of(book, "Hidden", [["h"]]).sheet_state = "hidden"
    sheet_of(book, "Very", [[None, "v"]]).sheet_state = "veryHidden"
    book.create_sheet("Empty")
    # A cell that has a format and no value is used, as every spreadsheet program says.
    book.create_sheet("Styled")["D7"].font = Font(bold=True)
    sheet_of(book, "名前 & <Ünï>", [["x"]])
    name = save(book, "lists.xlsx")
    sheet = lambda title, rows, columns, visible=True, kind="worksheet": {
        "title": title, "rows": rows, "columns": columns, "visible": visible, "kind": kind}
    case("sheets are listed with their last used row and column, whether they are shown and what they are",
         "list-sheets", {"path": name}, result={"path": name, "sheets": [
             sheet("Chart", 0, 0, kind="chartsheet"), sheet("Data", 9, 6), sheet("Hidden", 1, 1, False),
             sheet("Very", 1, 2, False), sheet("Empty", 0, 0), sheet("Styled", 7, 4), sheet("名前 & <Ünï>", 1, 1)]})
    case("the first sheet is the first that holds cells", "read-sheet", {"path": name},
         result={"sheet": "Data", "rows": [[1, 2], ["", "", 3]], "truncated": False, "total_rows": 2})
    read("a hidden sheet is read by its name", name, [["", "v"]], sheet="Very")
    read("a sheet without cells has no rows", name, [], sheet="Empty")
    case("a chart sheet holds no cells", "read-sheet", {"path": name, "sheet": "Chart"}, error={"error": "not_a_worksheet"})
    case("an unknown sheet is answered with those that exist and the nearest name", "read-sheet",
         {"path": name, "sheet": "Hiden"}, error={"error": "no_such_sheet", "nearest": ["Hidden"], "sheets": book.sheetnames})
    many = empty_book()
    for number in range(300):
        sheet_of(many, f"S{number}", [[number]])
    read("the last of many sheets is read", save(many, "many.xlsx"), [[299]], sheet="S299")


def rows():
    written = [["a", None, "c", "  ", None], [None, " \t"], [], ["", "", "x"], ["\n "], [None, 0, False]]
    name = save_rows("rows.xlsx", written)
    read("cells that are blank at the end are dropped, rows of blanks are skipped, an empty cell inside is an empty text",
         name, filled(written))
    read("keep-empty keeps the rows in their places", name, filled(written, True), keep_empty=True)
    keyed = [["k", "k", None, "v"], [1, 2, 3, 4, 5], [], [6]]
    name = save_rows("keyed.xlsx", keyed)
    case("records are keyed by the header row, each key once", "read-sheet", {"path": name, "header": True}, result={
        "rows": [{"k": 1, "k_2": 2, "C": 3, "v": 4, "E": 5}, {"k": 6, "k_2": "", "C": "", "v": ""}],
        "columns": ["k", "k_2", "C", "v"], "truncated": False, "total_rows": 2})
    case("records keep empty rows when asked", "read-sheet", {"path": name, "header": True, "keep-empty": True},
         result={"rows": [{"k": 1, "k_2": 2, "C": 3, "v": 4, "E": 5}, {}, {"k": 6, "k_2": "", "C": "", "v": ""}],
                 "truncated": False, "total_rows": 3})
    far = empty_book()
    far.create_sheet("Far")["XFD1048576"] = "corner"
    read("the last cell of the largest sheet is read", save(far, "far.xlsx"), [["corner"]], range="XFD1048576")


def save_rows(name, rows, edit=None):
    book = empty_book()
    sheet_of(book, "Sheet", rows)
    return save(book, name, edit)


def ranges():
    grid = [[f"{letters(column)}{row}" for column in range(1, 9)] for row in range(1, 21)]
    book = empty_book()
    sheet_of(book, "Grid", grid)
    sheet_of(book, "It's other", [["o1", "o2"], ["o3", "o4"]])
    book.defined_names["Block"] = DefinedName("Block", attr_text="Grid!$B$3:$C$4")
    book.defined_names["Single"] = DefinedName("Single", attr_text="'It''s other'!$B$2")
    book["It's other"].defined_names["Local"] = DefinedName("Local", attr_text="'It''s other'!$A$1:$A$2")
    book.defined_names["Formula"] = DefinedName("Formula", attr_text="SUM(Grid!$A$1:$A$3)")
    name = save(book, "ranges.xlsx")
    area = lambda top, left, bottom, right: [row[left - 1:right] for row in grid[top - 1:bottom]]
    for text, rows in [
        ("B2:F14", area(2, 2, 14, 6)), ("F14:B2", area(2, 2, 14, 6)), ("$C$5", area(5, 3, 5, 3)), ("g19:z99", area(19, 7, 20, 8)),
        ("B:C", area(1, 2, 20, 3)), ("7:8", area(7, 1, 8, 8)), ("Grid!A1:B1", area(1, 1, 1, 2)),
        ("'It''s other'!A2:B2", [["o3", "o4"]]), ("block", area(3, 2, 4, 3)), ("Single", [["o4"]]), ("Local", [["o1"], ["o3"]]),
        ("J1:K9", []),
    ]:
        read(f"the range {text} is read", name, rows, range=text)
    for text, wanted in [
        ("Blok", {"error": "bad_range", "range": "Blok", "nearest": ["Block"], "sheets": book.sheetnames}),
        ("Formula", {"error": "bad_range", "range": "Formula"}), ("A1:", {"error": "bad_range"}), ("XFE1", {"error": "bad_range"}),
        ("Gird!A1", {"error": "no_such_sheet", "nearest": ["Grid"]}),
    ]:
        case(f"the range {text} is refused with what helps", "read-sheet", {"path": name, "range": text}, error=wanted)
    case("a name of another sheet is told with both", "read-sheet", {"path": name, "sheet": "Grid", "range": "Single"},
         error={"error": "bad_range", "sheet": "Grid", "nearest": ["It's other"]})


def pages():
    book = empty_book()
    written = [[number] if number % 3 else [] for number in range(40)]
    sheet_of(book, "Pages", written + [[" "]])
    name = save(book, "pages.xlsx", shared())
    rows = filled(written)
    for most in (0, 1, 25, len(rows) - 1):
        case(f"{most} rows are returned and another exists", "read-sheet", {"path": name, "max-results": most},
             result={"rows": rows[:most], "truncated": True, "next_offset": most, "total_rows": None})
    # Behind the last row nothing but white space stands.
    read("truncated is true only when another non-empty row exists", name, rows, max_results=len(rows))
    case("the next page begins where the one before ended", "read-sheet", {"path": name, "offset": 20, "max-results": 3},
         result={"rows": rows[20:23], "truncated": True, "next_offset": 23})
    case("the total is told when the end was reached", "read-sheet", {"path": name, "offset": len(rows) - 2},
         result={"rows": rows[-2:], "truncated": False, "total_rows": len(rows)})
    long = save_rows("long.xlsx", [["x" * 1000] for _ in range(20)])
    case("over its cap the result stops by itself and says where to go on", "read-sheet", {"path": long, "max-bytes": 8000},
         result={"rows": [["x" * 1000]] * 6, "truncated": True, "next_offset": 6})


# What a cell holds ---------------------------------------------------------------------------------------------------

def texts():
    written = [["plain", "Zoë", "日本語", "مرحبا", "😀👩‍👩‍👧", "a\nb\tc"], ["<&>\"'", "]]>", " kept  spaces ", "=not", "'quoted", "x" * 32_767]]
    book = empty_book()
    sheet = sheet_of(book, "Texts", written)
    sheet["D2"].data_type = "s"
    bold = InlineFont(b=True)
    sheet["A3"] = CellRichText("rich ", TextBlock(bold, "text "), "and 日本", TextBlock(bold, " more"))
    rows = filled(written) + [["rich text and 日本 more"]]
    read("texts in their cells keep every letter, rich ones are joined", save(book, "inline.xlsx"), rows)
    name = save(book, "shared.xlsx", shared())
    read("texts in the table of strings keep every letter", name, rows)
    spoken = {"xl/sharedStrings.xml": lambda _: "<sst><si><t>課</t><rPh sb='0' eb='1'><t>カ</t></rPh></si></sst>",
              "xl/worksheets/sheet1.xml": lambda text: re.sub("<v>.*?</v>", "<v>0</v>", text).replace('t="n"', 't="s"')}
    read("what tells how to pronounce a text is no part of it", save_rows("spoken.xlsx", [[7]], spoken), [["課"]])


def numbers():
    written = [[0, 1, -1, 42.0, 1.5, -0.1, 1 / 3, 1e-7, 123456789.125, 2**53, True, False, 1e308, -2.5e-300]]
    read("whole numbers are integers, others keep every bit, booleans are booleans", save_rows("numbers.xlsx", written), filled(written))
    digits = ["9007199254740993", "-9223372036854775813", "12345678901234567890", "1152921504606846976"]

    def put(text):
        for column, number in enumerate(digits, 1):
            text = re.sub(rf'(<c r="{letters(column)}1"[^>]*>)<v>.*?</v>', rf"\g<1><v>{number}</v>", text)
        return text

    name = save_rows("big.xlsx", [[0] * len(digits)], {"xl/worksheets/sheet1.xml": put})
    case("numbers that JSON cannot carry exactly are text and said so", "read-sheet", {"path": name},
         result={"rows": [digits[:3] + [2**60]], "notes": [
             "3 numbers are given as text: JSON readers would round them, so every digit is kept this way"]})
    errors = ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"]
    read("errors are told as they are shown", save_rows("errors.xlsx", [errors]), [errors])


def formulas():
    """openpyxl writes a formula without its result; the results are put in here."""
    results = [("n", "", "42", 42), ("n", "", "0.5", 0.5), ("str", ' t="str"', "a &amp; b", "a & b"), ("b", ' t="b"', "1", True),
               ("e", ' t="e"', "#DIV/0!", "#DIV/0!"), ("str", ' t="str"', "", ""), ("none", "", None, ""), ("n", "", "7", 7)]
    book = empty_book()
    sheet = sheet_of(book, "Formulas", [[f"=A{number}+1" for number in range(1, len(results) + 1)]])
    sheet["J1"], sheet["J1"].number_format = "=TODAY()", "yyyy-mm-dd"

    def put(text):
        for column, (_, kind, stored, _) in enumerate(results, 1):
            cell = f"{letters(column)}1"
            content = "" if stored is None else f"<v>{stored}</v>"
            text = re.sub(rf'<c r="{cell}"[^>]*>(<f>.*?</f>)<v ?/>(</c>)|<c r="{cell}"[^>]*>(<f>.*?</f>)<v></v></c>',
                          lambda found: f'<c r="{cell}"{kind}>{found[1] or found[3]}{content}</c>', text)
        return re.sub(r'(<c r="J1"[^>]*>)(<f>.*?</f>)<v ?/?>(</v>)?', r"\1\2<v>44197</v>", text)

    rows = [[wanted for *_, wanted in results] + ["", "2021-01-01"]]
    read("formulas give the results that are stored with them", save(book, "formulas.xlsx", {"xl/worksheets/sheet1.xml": put}), rows)
    several = ('<f t="shared" ref="A1:A3" si="0">B1*2</f><v>2</v>', '<f t="shared" si="0"/><v>4</v>', '<f t="array" ref="A3">B3</f><v>6</v>')

    def put_shared(text):
        for row, content in enumerate(several, 1):
            text = re.sub(rf'(<c r="A{row}"[^>]*>)<v>.*?</v>', rf"\g<1>{content}", text)
        return text

    name = save_rows("sharedf.xlsx", [[0], [0], [0]], {"xl/worksheets/sheet1.xml": put_shared})
    read("shared formulas and those of arrays give their results too", name, [[2], [4], [6]])


def moments():
    dates = [dt.date(1900, 1, 1), dt.date(1900, 2, 28), dt.date(1900, 3, 1), dt.date(1999, 12, 31), dt.date(2021, 1, 1),
             dt.date(2024, 2, 29), dt.date(9999, 12, 31)]
    times = [dt.time(0, 0, 1), dt.time(6), dt.time(23, 59, 59), dt.time(12, 30, 15, 250_000)]
    both = [dt.datetime(2021, 1, 1), dt.datetime(2021, 1, 1, 10, 10, 10), dt.datetime(1987, 6, 5, 4, 3, 2, 1000),
            dt.datetime(2020, 2, 29, 23, 59, 59, 999_000)]
    deltas = [dt.timedelta(days=10, hours=15, minutes=10, seconds=10), dt.timedelta(hours=1), dt.timedelta(days=1),
              dt.timedelta(seconds=90.5), dt.timedelta(hours=100), dt.timedelta(0), -dt.timedelta(hours=36)]
    written = [dates, times, both, deltas]
    read("dates, times, date-times and durations are ISO 8601, from 1900", save_rows("from1900.xlsx", written), filled(written))
    book = empty_book()
    book.epoch = CALENDAR_MAC_1904
    written = [[day for day in dates if day.year > 1903] + [dt.date(1904, 1, 2)], times, both, deltas]
    sheet_of(book, "Sheet", written)
    read("dates, times, date-times and durations are ISO 8601, from 1904", save(book, "from1904.xlsx"), filled(written))
    book = empty_book()
    book.iso_dates = True
    sheet_of(book, "Sheet", [dates[3:], both])
    read("dates that are stored as ISO 8601 text are dates", save(book, "iso.xlsx"), filled([dates[3:], both]))


def formats():
    """One number under many formats: what a format shows decides what is read."""
    number = 44_197.75
    day, time, both = "2021-01-01", "18:00:00", "2021-01-01T18:00:00"
    shown = [
        ("General", 44_197.75), ("0.00", 44_197.75), ("#,##0.00 [$€-407]", 44_197.75), ('0 "days"', 44_197.75), ("0%", 44_197.75),
        ("[Red]0.0;[Blue]-0.0", 44_197.75), ("@", 44_197.75), (r"0\d", 44_197.75), ('"y"0_d', 44_197.75), ("0.00E+00", 44_197.75),
        ("yyyy-mm-dd", both), ("d/m/yy", both), ("mmm yy", both), ("[$-409]dddd, mmmm d, yyyy", both), ('yyyy"年"m"月"d"日"', both),
        ("dd.mm.yyyy hh:mm", both), ("h:mm AM/PM", both), ("mm:ss.0", both), ("yyyy-mm-dd;@", both), ("[$-F800]dddd", both),
        ("[h]:mm", "P44197DT18H"), ("[mm]:ss", "P44197DT18H"), ("[ss]", "P44197DT18H"), ('[h] "h" mm "m"', "P44197DT18H"),
    ]
    book = empty_book()
    sheet = book.create_sheet("Formats")
    for row, (code, _) in enumerate(shown, 1):
        sheet.cell(row, 1, number).number_format = code
        sheet.cell(row, 2, 44_197).number_format = code
        sheet.cell(row, 3, 0.75).number_format = code
    whole = {number: 44_197, both: f"{day}T00:00:00", "P44197DT18H": "P44197D"}
    rows = []
    for code, wanted in shown:
        plain = wanted == number
        is_date = wanted == both and not any(letter in code for letter in "hs")
        part = 0.75 if plain else "PT18H" if wanted.startswith("P") else time
        rows.append([wanted, day if is_date else whole[wanted], part])
    read("a number format decides whether a number is a date, a time or a duration", save(book, "formats.xlsx"), rows)


def merged():
    book = empty_book()
    sheet = sheet_of(book, "Merged", [["wide", None, None, "next"], [1], [2, 3]])
    sheet.merge_cells("A1:C1")
    sheet.merge_cells("A3:A6")
    read("merged cells hold their value once, in their first place", save(book, "merged.xlsx"), [["wide", "", "", "next"], [1], [2, 3]])


# What the other actions answer ---------------------------------------------------------------------------------------

def dumps():
    book = empty_book()
    sheet_of(book, "Data", [["a", "b"], [], [1, None, 2.5], [True, "two\nlines"]])
    sheet_of(book, "Hidden", [["h"]]).sheet_state = "hidden"
    book.create_sheet("Empty")
    name = save(book, "dump.xlsx")
    text = (f'### FILE: {name}\n### SHEETS: ["Data","Hidden","Empty"]\n\n===== SHEET: Data  (dims A1:C4) =====\nr1: a | b\n'
            'r3: 1 |  | 2.5\nr4: true | two\\nlines\n\n===== SHEET: Hidden  (dims A1:A1)  (hidden) =====\nr1: h\n\n'
            '===== SHEET: Empty  (dims A1:A1) =====\n(empty)\n')
    case("a dump shows every sheet with its size and its own row numbers", "dump", {"path": name},
         result={"text": text, "characters": len(text)})
    cut = text.replace("r3: 1 |  | 2.5\nr4: true | two\\nlines\n", "... [truncated at 1 non-empty rows]\n")
    case("a dump says where it was cut", "dump", {"path": name, "max-results": 1}, result={"text": cut, "characters": len(cut)})
    # A dump in letters of several bytes: characters are counted as characters.
    wide = save_rows("Zoë.xlsx", [["日本", "😀"]])
    text = f'### FILE: {wide}\n### SHEETS: ["Sheet"]\n\n===== SHEET: Sheet  (dims A1:B1) =====\nr1: 日本 | 😀\n'
    to = os.path.join(FOLDER, "out.txt")
    case("a dump is saved as UTF-8 under its resolved path, and its characters are counted", "save-dump",
         {"path": wide, "to": "./out.txt"}, result={"savedTo": to, "characters": len(text)}, file={"path": "out.txt", "text": text})
    case("nothing is overwritten unasked", "save-dump", {"path": name, "to": "out.txt"}, error={"error": "file_exists"},
         file={"path": "out.txt", "text": text})
    case("what is overwritten when asked is kept as a backup", "save-dump", {"path": wide, "to": "out.txt", "overwrite": True, "max-results": 0},
         result={"savedTo": to, "backup": f"{to}.1.old"}, file={"path": "out.txt.1.old", "text": text})
    case("nothing is written beyond the working folder", "save-dump", {"path": name, "to": "../beyond.txt"}, error={"error": "outside_roots"})


def finds():
    book = empty_book()
    sheet_of(book, "One", [["Miller", "x"], [None, "millers & co"], [1234.5]])
    sheet_of(book, "Two", [["smith"], ["MILLER"]])
    name = save(book, "find.xlsx", shared(2))
    hit = lambda sheet, cell, row, value: {"sheet": sheet, "cell": cell, "row": row, "value": value}
    hits = [hit("One", "A1", 1, "Miller"), hit("One", "B2", 2, "millers & co"), hit("Two", "A2", 2, "MILLER")]
    case("search finds cells that hold a text, whatever its case", "search", {"path": name, "text": "miLLer"},
         result={"text": "miLLer", "matches": hits, "truncated": False, "total": 3})
    case("search stops where it is told and says so", "search", {"path": name, "text": "miller", "max-results": 2},
         result={"matches": hits[:2], "truncated": True, "total": None})
    case("search keeps to a sheet", "search", {"path": name, "text": "miller", "sheet": "Two"}, result={"matches": hits[2:], "total": 1})
    case("search finds numbers as they are told", "search", {"path": name, "text": "234.5"}, result={"matches": [hit("One", "A3", 3, 1234.5)]})


def describes():
    rows = [["name", "n", "price", "day", "at", "took", "ok", "mixed", "bad"]]
    for number in range(50):
        rows.append([f"item {number % 7}", number, number / 4, dt.date(2021, 1, 1 + number % 28), dt.datetime(2021, 1, 1, number % 24),
                     dt.timedelta(hours=number), number % 2 == 0, number if number % 2 else "odd", "#N/A" if number % 5 == 0 else number])
    name = save_rows("describe.xlsx", rows)
    column = lambda letter, name, kind, distinct, **more: {"column": letter, "name": name, "type": kind, "count": 50, "distinct": distinct, **more}
    case("describe tells type, count, distinct values, range and examples of every column", "describe", {"path": name}, result={
        "sheet": "Sheet", "rows": 50, "truncated": False, "columns": [
            column("A", "name", "text", 7, minimum="item 0", maximum="item 6", examples=["item 0", "item 1", "item 2"]),
            column("B", "n", "integer", 50, minimum=0, maximum=49, examples=[0, 1, 2]),
            column("C", "price", "number", 50, minimum=0, maximum=12.25, examples=[0, 0.25, 0.5]),
            column("D", "day", "date", 28, minimum="2021-01-01", maximum="2021-01-28", examples=["2021-01-01", "2021-01-02", "2021-01-03"]),
            column("E", "at", "datetime", 24, minimum="2021-01-01T00:00:00", maximum="2021-01-01T23:00:00",
                   examples=["2021-01-01T00:00:00", "2021-01-01T01:00:00", "2021-01-01T02:00:00"]),
            column("F", "took", "duration", 50, examples=["PT0S", "PT1H", "PT2H"]),
            column("G", "ok", "boolean", 2, examples=[True, False]),
            column("H", "mixed", "mixed", 26, examples=["odd", 1, 3]),
            column("I", "bad", "integer", 41, minimum=1, maximum=49, errors=10, examples=["#N/A", 1, 2])]})


# What is strange, and what is hostile --------------------------------------------------------------------------------

def strange():
    plain = [["a", 1], [None, 2.5]]
    book = empty_book()
    sheet_of(book, "Sheet", plain)
    prefixed = lambda text: re.sub(r"<(/?)(?![?!])", r"<\1x:", text).replace("xmlns=", "xmlns:x=", 1)
    main, of_book = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "xl/_rels/workbook.xml.rels"
    unplaced = lambda text: re.sub(r' r="[A-Z]*\d+"', "", text)
    for title, edit, rows in [
        ("prefixes", {"xl/worksheets/sheet1.xml": prefixed, "xl/workbook.xml": prefixed}, plain),
        ("the strict variant", {part: lambda text: text.replace(main, "http://purl.oclc.org/ooxml/spreadsheetml/main").replace(
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://purl.oclc.org/ooxml/officeDocument/relationships")
            for part in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", of_book, "_rels/.rels")}, plain),
        ("relative paths", {of_book: lambda text: text.replace('"/xl/', '"')}, plain),
        ("no dimension", {"xl/worksheets/sheet1.xml": lambda text: re.sub("<dimension[^>]*/>", "", text)}, plain),
        ("a dimension that lies", {"xl/worksheets/sheet1.xml": lambda text: re.sub('ref="[^"]*"', 'ref="A1:XFD1048576"', text, count=1)}, plain),
        ("no content types", {"[Content_Types].xml": None}, plain),
        ("no styles", {"xl/styles.xml": None}, plain),
        # Without places cells follow one another, so the gap is gone.
        ("cells without places", {"xl/worksheets/sheet1.xml": unplaced}, [["a", 1], [2.5]]),
    ]:
        name = save(book, title.replace(" ", "_") + ".xlsx", edit)
        read(f"{title} make no difference", name, filled(rows))
    os.replace(os.path.join(FOLDER, save(book, "named.xlsx")), os.path.join(FOLDER, "named.csv"))
    read("a workbook is known by its content and not by its name", "named.csv", filled(plain))
    save(book, "macros.xlsm")
    read("an .xlsm is read", "macros.xlsm", filled(plain))


def hostile():
    book = empty_book()
    sheet_of(book, "Sheet", [["a" * 100, number] for number in range(200)])
    name = save(book, "sound.xlsx")
    sound = open(os.path.join(FOLDER, name), "rb").read()

    def refused(title, content, code):
        path = title.replace(" ", "_") + ".xlsx"
        with open(os.path.join(FOLDER, path), "wb") as out:
            out.write(content)
        case(f"{title} is refused with a clear error", "read-sheet", {"path": path}, error={"error": code}, within_ms=1000)

    refused("a text", b"a,b\n1,2\n", "not_a_workbook")
    refused("an empty file", b"", "not_a_workbook")
    refused("a picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "not_a_workbook")
    refused("half a workbook", sound[:len(sound) // 2], "damaged")
    # The directory's numbers of bytes are made others.
    at = sound.rindex(b"PK\x01\x02")
    refused("a lying directory", sound[:at] + sound[at:at + 20] + b"\xff\xff\xff\x7f\xff\xff\xff\x7f" + sound[at + 28:], "damaged")
    flipped = bytearray(sound)
    flipped[sound.index(b"xl/worksheets/sheet1.xml") + 60] ^= 0xFF
    refused("a flipped byte", bytes(flipped), "damaged")
    head = '<worksheet><sheetData><row r="1"><c r="A1"><v>'
    sheet = "xl/worksheets/sheet1.xml"
    for title, part, code in [
        ("a bomb", head + "1" * (64 << 20), "too_large"), ("deep XML", "<a>" * 100_000, "too_large"), ("XML that breaks off", head, "damaged"),
        ("a document type", '<!DOCTYPE a [<!ENTITY b "' + "c" * 99 + '">]>' + head, "damaged"),
    ]:
        save(book, "source.xlsx", {sheet: lambda _: part})
        refused(title, open(os.path.join(FOLDER, "source.xlsx"), "rb").read(), code)
    case("an address is never fetched", "read-sheet", {"path": "https://example.org/a.xlsx"}, error={"error": "not_local"})
    case("a file that is not there is told", "read-sheet", {"path": "absent.xlsx"}, error={"error": "file_not_found"})
    inside = os.path.join(FOLDER, "inside")
    os.makedirs(inside, exist_ok=True)
    save(book, "inside/in.xlsx")
    roots = {"GATELATCH_XLSX_READ_ROOTS": inside}
    case("paths within the roots are read", "list-sheets", {"path": "inside/in.xlsx"}, env=roots, result={"path": "inside/in.xlsx"})
    case("paths outside the roots are not", "list-sheets", {"path": name}, env=roots, error={"error": "outside_roots"})
    link = os.path.join(inside, "link.xlsx")
    if hasattr(os, "symlink") and os.name != "nt":
        os.symlink(os.path.join(FOLDER, name), link)
        case("a link that leads out of the roots leads nowhere", "list-sheets", {"path": "inside/link.xlsx"}, env=roots, error={"error": "outside_roots"})


# What nobody thought of ----------------------------------------------------------------------------------------------

LETTERS = "abc XYZ 09 .,;:-_+*/\\#'\"<>&=()[]{}\n\täöüßéñœ日本語中文한국어русскийعربيעבריתไทย😀🚀𝒳"


def anything(chance, from_1904):
    first = 1904 if from_1904 else 1900
    def day():
        return dt.date(chance.randint(first, 9999), chance.randint(1, 12), chance.randint(1, 28))
    def text():
        return "".join(chance.choice(LETTERS) for _ in range(chance.randint(1, 30)))
    def time():
        return dt.time(chance.randint(0, 23), chance.randint(0, 59), chance.randint(0, 59), chance.randint(0, 999) * 1000)
    kind = chance.randrange(11)
    if kind < 3:
        # A text that begins with an equals sign would be a formula.
        return "t" + text() if chance.random() < 0.9 else " " * chance.randint(1, 3)
    return [
        lambda: chance.randint(-10**chance.randint(1, 20), 10**chance.randint(1, 20)), lambda: chance.uniform(-1, 1) * 10.0**chance.randint(-300, 300),
        lambda: chance.random() < 0.5, day, lambda: dt.datetime.combine(day(), time()), lambda: time() if not from_1904 else day(),
        lambda: dt.timedelta(milliseconds=chance.randint(0, 10**10)), lambda: chance.choice(["#DIV/0!", "#N/A", "#REF!", "#VALUE!"]),
    ][kind - 3]()


def random_books():
    chance = random.Random(SEED)
    for number in range(12):
        from_1904 = number % 4 == 3
        book = empty_book()
        sheets = []
        if from_1904:
            book.epoch = CALENDAR_MAC_1904
        for at in range(chance.randint(1, 4)):
            full = chance.choice([0.1, 0.5, 0.95])
            rows = [[anything(chance, from_1904) if chance.random() < full else None for _ in range(chance.randint(0, 14))]
                    for _ in range(chance.randint(0, 60))]
            title = f"{chance.choice(['Sheet', 'Tabelle', '表', 'a b'])} {at}"
            sheet_of(book, title, rows)
            sheets.append((title, rows))
        name = save(book, f"random{number}.xlsx", shared(len(sheets)) if number % 2 else None)
        for title, rows in sheets:
            rule = f"seed {SEED}: sheet {title} of {name} is read as it was written"
            keep = chance.random() < 0.5
            read(rule, name, filled(rows, keep), sheet=title, keep_empty=keep)
            top, left = chance.randint(1, 30), chance.randint(1, 8)
            bottom, right = top + chance.randint(0, 30), left + chance.randint(0, 8)
            area = [row[left - 1:right] for row in rows[top - 1:bottom]]
            read(rule + ", a range of it too", name, filled(area), sheet=title, range=f"{letters(left)}{top}:{letters(right)}{bottom}")


for make in (lists, rows, ranges, pages, texts, numbers, formulas, moments, formats, merged, dumps, finds, describes, strange, hostile, random_books):
    make()
with open(os.path.join(FOLDER, "cases.json"), "w", encoding="utf-8") as out:
    json.dump(CASES, out, ensure_ascii=False)
