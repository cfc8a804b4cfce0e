"""schema_editor.py COMMAND SCHEMA_OF_SCHEMAS SOURCE - what an editor would say of a schema, beside what privet says.

Each sample is checked by both.  Whatever privet takes an editor must take, but for keys that mean nothing in a column of
that type, which privet passes over; and the mistakes listed here both refuse.  The keys that editors offer are those of
src/data/schema.c."""
import copy, glob, json, re, subprocess, sys, tempfile

import jsonschema

command, path, source = sys.argv[1:]
editor = jsonschema.Draft7Validator(json.load(open(path)))
jsonschema.Draft7Validator.check_schema(editor.schema)

BASE = {
    "header": True, "separator": ";", "decimal": ",", "thousands": "'", "trailing": True, "skip": 0, "missing": ["", "?"],
    "columns": [
        {"name": "a", "type": "number", "min": 0, "max": 9.5, "missing": "middle", "outside": "clamp", "text": "missing",
         "source": "dictionary", "scale": "symlog", "monotone": "up"},
        {"name": "d", "type": "date", "min": "2000-01-01", "max": "2030-01-01", "knots": ["2000-01-01", "2010-01-01"]},
        {"name": "s", "type": "number", "min": -1, "max": 1, "curve": False},
        {"name": "c", "type": "category", "values": ["x", ["y", "Y"], {"z": ["z1", "z2"]}, 4], "missing": "zero", "outside": "other"},
        {"name": "b", "type": "boolean", "missing": "error"}, {"name": "v", "type": "category", "values": "boolean"},
        {"name": "t", "type": "text"}, {"name": "i", "type": "ignore"}, {"name": "p", "type": "person", "rows": 3},
        {"name": "y", "type": "label", "values": ["no", "yes"]},
    ],
}
WORDS = [None, True, 0, 1, 2, -1, 1.5, "", "x", "error", "boolean", "open", [], ["x"], ["x", "y"], {}, {"g": ["h"]}, "2010-01-01"]


def privet_takes(text):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        f.write(text)
        f.flush()
        return subprocess.run([command, "schema", "show", f.name], capture_output=True).returncode == 0


def idle(column, key):
    """Does the key mean nothing there?"""
    of = [d["properties"] for d in editor.schema["definitions"].values() if column["type"] in d.get("properties", {}).get("type", {}).get("enum", [])]
    return key not in of[0]


def samples():
    yield BASE, True
    for label in ({"min": 0, "max": 1, "outside": "clamp"}, {"values": "boolean"}, {"values": [["n", "N"], "y"]}):
        yield {**BASE, "columns": BASE["columns"][:1] + [{"name": "y", "type": "label", **label}]}, True
    for key in list(BASE):  # without a key, with others in its place, and with one that nobody knows
        for word in WORDS:
            yield {**BASE, key: word}, None
        yield {k: v for k, v in BASE.items() if k != key}, key != "columns"
    yield {**BASE, "colums": []}, False
    for i, column in enumerate(BASE["columns"]):
        for key in list(column) + ["min", "values", "rows", "knots", "colour"]:
            for word in WORDS:
                changed = copy.deepcopy(BASE)
                changed["columns"][i][key] = word
                yield changed, False if key == "colour" else "idle" if idle(column, key) else None
            changed = copy.deepcopy(BASE)
            if changed["columns"][i].pop(key, None) is not None and key in ("name", "type", "min", "max", "values"):
                yield changed, False


both = neither = stricter = wrong = 0
for sample, want in samples():
    text = json.dumps(sample)
    takes, offers = privet_takes(text), editor.is_valid(sample)
    both, neither, stricter = both + (takes and offers), neither + (not takes and not offers), stricter + (offers and not takes)
    if offers if want == "idle" else (takes and not offers) or (want is not None and (takes != want or offers != want)):
        wrong += 1
        changed = [c for c in sample.get("columns") or [] if c not in BASE["columns"]] if isinstance(sample.get("columns"), list) else text
        print(f"privet {'takes' if takes else 'refuses'}, an editor {'takes' if offers else 'refuses'}: {changed or text}")
for file in glob.glob(source + "/tests/fuzz/corpus/schema/*"):
    text = open(file, "rb").read().decode("utf-8", "replace")
    if privet_takes(text):
        both += 1
        if not editor.is_valid(json.loads(text)):
            wrong += 1
            print("privet takes, an editor refuses:", file)
keys = {name: set(re.findall(r'"([$a-z]+)"', re.search(name + r"\[\] = \{(.*?)\};", open(source + "/src/data/schema.c").read(), re.S)[1]))
        for name in ("table_keys", "column_keys")}
offered = set().union(*(d.get("properties", {}) for d in editor.schema["definitions"].values()))
if keys["table_keys"] != set(editor.schema["properties"]) or keys["column_keys"] != offered:
    wrong += 1
    print("other keys:", keys["table_keys"] ^ set(editor.schema["properties"]), keys["column_keys"] ^ offered)
print(f"{both} taken by both, {neither} by neither, {stricter} by an editor alone")
sys.exit(1 if wrong or both < 50 or neither < 500 or stricter > 60 else 0)
