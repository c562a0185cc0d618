"""The two Python readers of the bench, one measurement a process: readers.py openpyxl|python-calamine FILE."""
import json, resource, sys, time

def rows(reader, path):
    if reader == "openpyxl":
        import openpyxl
        book = openpyxl.load_workbook(path, data_only=True, read_only=True)
        yield from book.worksheets[0].iter_rows(values_only=True)
    else:
        from python_calamine import CalamineWorkbook
        yield from CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()

reader, path = sys.argv[1:]
__import__("openpyxl" if reader == "openpyxl" else "python_calamine")
start = time.perf_counter()
text = json.dumps(list(rows(reader, path)), default=str)
ms = (time.perf_counter() - start) * 1000
print(json.dumps({"ms": ms, "json_bytes": len(text), "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
