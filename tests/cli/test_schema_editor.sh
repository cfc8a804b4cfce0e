# The JSON Schema that editors check schemas by takes what privet takes, and knows the same keys.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
python=${PRIVET_PYTHON:-python3}
"$python" -c 'import jsonschema' 2>/dev/null || skip "$python has no jsonschema (Debian: python3-jsonschema)"
"$python" "$PRIVET_SOURCE/tests/cli/schema_editor.py" "$PRIVET_COMMAND" "$PRIVET_SOURCE/share/schema.schema.json" "$PRIVET_SOURCE" >said 2>&1 ||
    problem "$(cut -c1-400 said)"
checks=$((checks + 1))
cat said
finish
