# What an officer asks of a model file: verify's first screen, and the entry for a registry.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
ok train small --quiet --delta 1e-4 --out m.pvt
ok verify m.pvt
for text in 'protects     each of 200 rows: whether it was used, with all that stands in it; somebody with' \
    'scale        [strong] > moderate > weak > next to none' 'groups       somebody with 2, 5, 10, 20 rows has epsilon ' \
    'replace      epsilon ' 'rests on     the word of whoever issued it' 'issued by    not stated; whom to ask: not stated; when: not stated' \
    'made by      privet ' 'data         name: not stated; 200 rows; digest ' 'other runs   not stated' 'leaves out   somebody with several'; do
    has out "$text"
done
check 'all of it on the first screen' sh -c 'head -32 out | grep -q "^leaves out "'

# Who issued it stands in the certificate, with the day, and on the page; what is no line or no day is refused.
ok train small --quiet --delta 1e-4 --issuer 'St. <Anna>, data office' --contact dpo@anna.example --data-name 'stays 2025' --out named.pvt
ok verify named.pvt
has out "issued by    St. <Anna>, data office; whom to ask: dpo@anna.example; when: $(date -u +%Y-)"
has out 'data         name: stays 2025; 200 rows'
ok verify named.pvt --certificate named.json
has named.json '"issuer.name": "St. <Anna>, data office"'
sed 's/"issuer.data": "stays 2025"/"issuer.data": "stays 2024"/' named.json >other.json
fails 3 'privet: other.json: the checksum does not match: the certificate was changed' verify other.json
ok report named.pvt --out named.html
has named.html 'St. &lt;Anna&gt;, data office'
has named.html 'What else was released?'
fails 2 'privet: issuer.date=2026-02-30: a day as 2026-01-31, or today, is needed' train small --date 2026-02-30
fails 2 'privet: issuer.name=: one line of 1 to 200 bytes of UTF-8 is needed' train small --issuer ''
small_data 11 >fresh
ok eval named.pvt fresh --delta 1e-4 --epsilon 1 --issuer Anna --date 2026-03-04 --certificate e.json
ok verify e.json --json
has out '"issuer": "Anna"'
has out '"date": "2026-03-04"'
ok report m.pvt --registry
check 'JSON' python3 -c 'import json, sys; v = json.load(open("out")); d = v["deployment"]
sys.exit(not v["verified"] or d["product"]["data_curators"] != ["not stated"] or "one of 200 rows" not in d["privacy_loss"]["privacy_unit_description"]
         or d["privacy_loss"]["privacy_parameters"] != {"epsilon": 1, "delta": 0.0001})'
check 'no page is written' test ! -e report.html
for key in intended_use data_product_type publication_date input_metric data_domain unprotected_quantities privacy_unit model_name release_type \
    post_processing composition pre_processing_eda_hyperparameter_tuning mechanisms justification unit_of_privacy trust_model side_channels \
    data_collection bias data_security_and_access_control; do
    has out "\"$key\": \""
done
ok report named.pvt --registry
has out '"data_curators": ["St. <Anna>, data office"]'
privet train small --quiet --privacy off --out off.pvt >/dev/null 2>&1
run report off.pvt --registry
has out '"privacy_parameters": null'
has out '"verified": false'
fails 2 'privet: --registry prints the entry of a model: privet report MODEL --registry' report m.pvt small --registry
privet demo d >/dev/null 2>&1
ok verify d/model.pvt
has out 'protects     each of 9,208 persons, with all rows of one id, of which 8 count at most: whether any'
has out 'groups       2, 5, 10, 20 persons together have epsilon '
finish
