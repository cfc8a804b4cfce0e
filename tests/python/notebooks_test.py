"""The notebooks as they are kept: executed in order, without errors, small, and without the paths of one machine.

test_notebooks.sh executes them."""

import glob
import json
import os
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "notebooks")


class Notebooks(unittest.TestCase):
    def test_as_kept(self):
        paths = sorted(glob.glob(os.path.join(FOLDER, "*.ipynb")))
        self.assertEqual([os.path.basename(p) for p in paths], ["adult.ipynb", "hospital.ipynb"])
        for path in paths:
            self.assertLess(os.path.getsize(path), 64 * 1024, path)
            with open(path, encoding="utf-8") as f:
                held = f.read()
            for word in ("/tmp/", "/usr/", "site-packages", "stderr"):
                self.assertNotIn(word, held)
            code = [c for c in json.loads(held)["cells"] if c["cell_type"] == "code"]
            self.assertEqual([c["execution_count"] for c in code], list(range(1, len(code) + 1)))
            self.assertFalse([o for c in code for o in c["outputs"] if o["output_type"] == "error"])
            for c in code:
                compile("".join(c["source"]), path, "exec")


if __name__ == "__main__":
    unittest.main()
