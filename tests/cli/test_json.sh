# --json prints one JSON object, of demo, report, reproduce and a certificate that does not hold as well.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
export PRIVET_DATA="$work/nowhere"
python=${PRIVET_PYTHON:-python3}
command -v "$python" >/dev/null || skip "no $python"

gives() { # 'EXPRESSION in v' ARGS: one object, of which the expression is true
    expression=$1
    shift
    run "$@"
    checks=$((checks + 1))
    "$python" -c "import json, os.path; v = json.load(open('out')); assert isinstance(v, dict) and ($expression), v" 2>why ||
        problem "privet $*: $(tail -1 why) $(cat err)"
}

gives 'v["verified"] and v["epsilon"] == 1 and v["rows"] == 20000 and 0.7 < v["private"]["accuracy"] < 0.9 and
    0.7 < v["not_private"]["auc"] < 0.95 and all(os.path.exists(v[k]) for k in ("train", "test", "schema", "model", "model_not_private"))' \
    demo d --json
same 'nothing else is said' '' "$(cat err)"
gives 'v["report"] == "report.html" and v["data"] is None and v["private"] and v["epsilon"] == 1 and v["strength"] == "strong" and
    v["figures"] is None' report d/model.pvt --json
gives 'v["figures"]["exact"] is False and v["figures"]["rows"] == 5000 and round(v["figures"]["accuracy"], 2) == v["figures"]["accuracy"]' \
    report d/model.pvt d/demo_test.csv --json
figure=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' out)
has report.html "<tr><th>accuracy</th><td class=\"n\">$figure</td>"
gives 'v["figures"]["exact"] is True' report d/model.pvt d/demo_test.csv --exact --json
gives 'v["figures"] is None' report d/model.pvt d/demo_train.csv --json # of the training rows nothing is shown
gives 'v["private"] is False and "epsilon" not in v' report d/not-private.pvt --json

gives 'v["out"] == "r" and v["skipped"] == 0 and v["items"][0]["name"] == "ls-table3" and v["items"][0]["runs"] > 0 and
    all(os.path.exists(f) for f in v["items"][0]["files"])' reproduce ls-table3 --out r --json
gives 'v["items"] == 1 and v["report"] == "r.html"' report r --out r.html --json
gives 'v["skipped"] == 1 and "PRIVET_DATA" in v["items"][0]["skipped"]' reproduce tr-fig6 --quick --json
same 'missing data: code' 6 "$code"
gives '"--full" in v["items"][0]["left_out"]' reproduce ls-fig6 --json

gives 'v["verified"] is True' verify d/model.pvt --json
gives 'v["verified"] is False and "NOT PRIVATE" in v["because"]' verify d/not-private.pvt --json
same 'does not hold: code' 3 "$code"
same 'does not hold: one line' 1 "$(wc -l <err)"
privet verify d/model.pvt --certificate c.json >/dev/null
sed 's/"persons": 9208/"persons": 9209/' c.json >changed.json
gives 'v["verified"] is False and "changed.json" in v["because"]' verify changed.json --json
same 'changed: code' 3 "$code"
printf 'a "quoted" \\ name' >'a "b".json'
gives 'v["verified"] is False and v["because"].startswith("a \"b\".json: ")' verify 'a "b".json' --json
finish
