# privet schema --page: a page to fill in, in a browser; what it writes is a schema that privet takes.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
printf 'age,"<script>alert(1)</script>",since,y,"a ""b"""\n1,a,2020-01-01,no,2\n' >t.csv
ok schema draft t.csv --label y --quiet --page p.html
same 'what is said' 'page         p.html: open it in a browser, fill in the columns and save the schema' "$(cat out)"
check 'names do not end the script' sh -c '! grep -q "<script>alert" p.html'
check 'nothing is fetched' sh -c '! grep -Eq "https?://|src=|@import" p.html'
ok schema draft t.csv --label y --quiet --out open.json
ok schema show open.json --page again.html
check 'the page of a schema that is not finished' cmp p.html again.html
printf '{"separator": ";", "decimal": ",", "columns": [{"name": "x", "type": "number", "min": 0, "max": 1.5, "knots": [0, 1], "missing": "zero"},
    {"name": "c", "type": "category", "values": ["a", ["b", "B"], {"d": ["e", "f"]}]}, {"name": "y", "type": "label", "values": "boolean"}]}' >whole.json
ok schema show whole.json --page whole.html
printf '{"columns": [{"nam": "x"}]}' >bad.json
run schema show bad.json --page bad.html
same 'no schema: code' 3 "$code"
check 'no page is left' test ! -e bad.html
fails 3 'privet: none/p.html: cannot be written: none: No such file or directory' schema draft t.csv --page none/p.html

in_browser p.html
in_browser whole.html

# Fills the fields in, and leaves what the page would save in dom; the title is what is left to do before and after
fill() { # PAGE SCRIPT
    cat >probe.html <<PROBE
<title>not filled</title><iframe src="$1" style="width:800px;height:900px" onload="
    const d = this.contentDocument, set = (id, v) => {
        const e = d.getElementById(id); e.value = v; e.dispatchEvent(new Event('input')); };
    const before = d.getElementById('open').textContent;
    $2
    document.title = before + ' / ' + d.getElementById('open').textContent;
    const bytes = new TextEncoder().encode(d.getElementById('json').value);
    document.body.append(Object.assign(document.createElement('pre'), { id: 'saved', textContent: btoa(String.fromCharCode(...bytes)) }));"></iframe>
PROBE
    show probe.html --disable-extensions --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom >dom
    sed -n 's/.*id="saved">\([^<]*\)<.*/\1/p' dom | base64 -d >saved.json
}
fill p.html "set('type0', 'number'); set('min0', '0'); set('max0', '120'); set('source0', 'dictionary'); set('missing0', 'middle');
    set('type1', 'category'); set('values1', 'a\nb | B'); set('outside1', 'other'); set('type2', 'date'); set('min2', '2000-01-01');
    set('max2', '2030-01-01'); set('values3', 'no\nyes'); set('type4', 'text'); set('missing', 'NA\n?'); set('thousands', ' ');"
has dom '<title>5 of 5 columns to do / All columns are complete.</title>'
cat >want <<'END'
{"header":true,"separator":",","missing":["","NA","?"],"thousands":" ",
 "columns": [
  {"name":"age","type":"number","min":0,"max":120,"missing":"middle","source":"dictionary"},
  {"name":"<script>alert(1)</script>","type":"category","values":["a",["b","B"]],"outside":"other"},
  {"name":"since","type":"date","min":"2000-01-01","max":"2030-01-01"},
  {"name":"y","type":"label","values":["no","yes"]},
  {"name":"a \"b\"","type":"text"}
]}
END
check "what is saved: $(cat saved.json)" cmp saved.json want
ok schema show saved.json
ok schema check saved.json t.csv
fill p.html "set('type0', 'number'); set('min0', '5'); set('max0', '5'); set('type1', 'ignore'); set('type2', 'ignore'); set('values3', 'no'); set('type4', 'category');"
has dom '<title>5 of 5 columns to do / 2 of 5 columns to do</title>' # equal bounds; no values
fill whole.html "set('source0', 'by hand');"
has dom '<title>All columns are complete. / All columns are complete.</title>'
ok schema show saved.json --json
sed 's/,"source":"by hand"//' out >filled
has saved.json '"knots":[0,1]'
ok schema show whole.json --json
check "what the page has no field for stays: $(cat filled)" cmp filled out
finish
