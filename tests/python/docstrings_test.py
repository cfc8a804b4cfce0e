"""Every public name has a docstring with an example, and every example is true."""

import doctest
import inspect
import unittest
import warnings

import privet

warnings.simplefilter("ignore", privet.PrivacyWarning)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


class Docstrings(unittest.TestCase):
    def test_examples(self):
        for module in [privet] + [m for m in vars(privet).values() if inspect.ismodule(m) and m.__name__.startswith("privet._")]:
            if module.__name__ == "privet._core":
                continue
            failed, tried = doctest.testmod(module, optionflags=FLAGS)
            self.assertEqual(failed, 0, f"{module.__name__}: {failed} of {tried}")

    def test_every_name_has_one(self):
        for name in privet.__all__:
            said = inspect.getdoc(getattr(privet, name)) or ""
            self.assertTrue(said, name)
            x = getattr(privet, name)
            error = inspect.isclass(x) and issubclass(x, (Exception, Warning))
            if not error and name != "Column":
                self.assertIn(">>>", said, name)


if __name__ == "__main__":
    unittest.main()
