# The report: what it says, that it is one safe page, and how a browser shows it.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 >other
ok train small --quiet --delta 1e-4 --out m.pvt
ok report m.pvt other
same 'where it went' 'report       report.html' "$(cat out)"
for text in '<strong>Private: epsilon 1, delta 0.0001</strong>' 'relation zero-out).' 'times: gaussian, noise multiplier' \
    'Confusion matrix' 'Calibration' 'Privacy curve' 'Errors of any test for one row' 'What it does not cover' \
    'mu of the closest Gaussian curve' 'privet verify m.pvt' '<th>budget.epsilon</th><td>1</td>' 'not covered by the guarantee'; do
    has report.html "$text"
done
same 'as many tags closed as opened' "$(grep -o '<table>' report.html | wc -l)" "$(grep -o '</table>' report.html | wc -l)"
# nothing is fetched: the only address is the name of SVG
same 'addresses in the page' 'http://www.w3.org/2000/svg' "$(grep -oE 'https?://[^" ]*' report.html | sort -u)"
check 'no script' sh -c '! grep -qi "<script\|javascript:\|onload" report.html'

# ---- without rows; on the training rows; without privacy
ok report m.pvt --out plain.html
check 'no figures without rows' sh -c '! grep -q "How good" plain.html'
run report m.pvt small --out training.html
has training.html 'These are the training rows: the figures are NOT PRIVATE'
privet train small --quiet --privacy off --out off.pvt >/dev/null 2>&1
run report off.pvt --out off.html
has off.html 'NOT PRIVATE</strong>'
check 'nothing private is claimed' sh -c '! grep -q "Private: epsilon" off.html'

# ---- names from files are text, never markup
printf '{"columns": [{"name": "<b>x</b>&", "type": "number", "min": 0, "max": 1}, {"name": "y", "type": "label", "values": ["no", "<script>alert(1)</script>"]}]}' >s.json
awk 'BEGIN { print "<b>x</b>&,y"; for (i = 0; i < 300; i++) print (i % 10) / 10 "," (i % 10 < 5 ? "no" : "<script>alert(1)</script>") }' >t.csv
ok train t.csv --schema s.json --quiet --delta 1e-4 --out t.pvt
run report t.pvt t.csv --out t.html
has t.html '<td>&lt;b&gt;x&lt;/b&gt;&amp;</td>'
has t.html '&lt;script&gt;alert(1)&lt;/script&gt;'
check 'no markup from files' sh -c '! grep -q "<script>\|<b>x" t.html'

# ---- bad input
fails 3 'privet: small: not a privet model file' report small
fails 3 'privet: missing: No such file or directory' report m.pvt missing
fails 3 'privet: none/r.html: cannot be written: none: No such file or directory' report m.pvt --out none/r.html

# ---- contrast of text and background, light and dark: at least 4.5 to 1 (WCAG AA)
contrast() { # FOREGROUND BACKGROUND NTH: colours of the NTH theme
    fg=$(grep -o -- "--$1:#[0-9a-f]*" report.html | sed -n "${3}p" | cut -d'#' -f2)
    bg=$(grep -o -- "--$2:#[0-9a-f]*" report.html | sed -n "${3}p" | cut -d'#' -f2)
    printf '%s %s\n' "$fg" "$bg" | awk '
        function hex(s,  i, v) { v = 0; for (i = 1; i <= 2; i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1; return v / 255 }
        function lin(c) { return c <= 0.03928 ? c / 12.92 : exp(2.4 * log((c + 0.055) / 1.055)) }
        function lum(s) { return 0.2126 * lin(hex(substr(s, 1))) + 0.7152 * lin(hex(substr(s, 3))) + 0.0722 * lin(hex(substr(s, 5))) }
        { a = lum($1); b = lum($2); r = a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05); exit !(r >= 4.5) }'
}
for theme in 1 2; do
    for pair in 'ink page' 'soft page' 'ink card' 'soft card' 'good card' 'bad card'; do
        # shellcheck disable=SC2086  # words
        check "contrast of $pair in theme $theme" contrast $pair $theme
    done
done

in_browser report.html
finish
