"""run_notebook.py NOTEBOOK FOLDER - executes a copy in FOLDER; exit 1 with the error of the first cell that fails."""

import sys

import nbformat
from nbclient import NotebookClient

path, folder = sys.argv[1:]
book = nbformat.read(path, 4)
NotebookClient(book, timeout=1200, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
shown = [o for c in book.cells if c.cell_type == "code" for o in c.outputs]
if not shown or any(o.output_type == "error" for o in shown):
    sys.exit(f"{path}: nothing was shown, or an error")
for cell in book.cells:
    for o in cell.get("outputs", []):
        print(o.get("text") or o.get("data", {}).get("text/plain", ""))
