"""docs/python-api.md is what tools/python_api.py makes of the docstrings."""

import importlib.util
import os
import unittest

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Page(unittest.TestCase):
    def test_page_is_up_to_date(self):
        spec = importlib.util.spec_from_file_location("python_api", os.path.join(TREE, "tools", "python_api.py"))
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        with open(os.path.join(TREE, "docs", "python-api.md"), encoding="utf-8") as f:
            held = f.read()
        self.assertEqual(held.split("\n"), tool.main().split("\n"), "python tools/python_api.py >docs/python-api.md")


if __name__ == "__main__":
    unittest.main()
