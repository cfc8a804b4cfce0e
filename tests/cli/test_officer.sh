# What an officer asks of a model file: verify's first screen, and the entry for a registry.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
ok train small --quiet --delta 1e-4 --out m.pvt
ok verify m.pvt
for text in 'protects     each of 200 rows; somebody with several rows is protected less' 'groups       somebody with ' \
    'replace      epsilon ' 'rests on     the word of whoever issued it' 'who issued it, whom to ask and when: not stated' \
    'data         digest '; do
    has out "$text"
done
check 'all of it on the first screen' sh -c 'head -24 out | grep -q "^data "'
ok report m.pvt --registry
check 'JSON' python3 -c 'import json, sys; v = json.load(open("out")); d = v["deployment"]
sys.exit(not v["verified"] or d["data_curator"] != "not stated" or "one of 200 rows" not in d["unit"] or "epsilon 1 at delta 0.0001" not in d["loss"])'
check 'no page is written' test ! -e report.html
for key in tier flavour unit loss model accounting implementation unit_of_privacy trust_model side_channels data_collection bias; do
    has out "\"$key\": \""
done
privet train small --quiet --privacy off --out off.pvt >/dev/null 2>&1
run report off.pvt --registry
has out '"flavour": "none: NOT PRIVATE"'
has out '"verified": false'
fails 2 'privet: --registry prints the entry of a model: privet report MODEL --registry' report m.pvt small --registry
privet demo d >/dev/null 2>&1
ok verify d/model.pvt
has out 'protects     each of 9,208 persons, with all rows of one id, of which 8 count at most'
finish
