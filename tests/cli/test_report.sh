# The report: what it says, and that it is one safe page.  How a browser shows it: test_browser.sh.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 >other
ok train small --quiet --delta 1e-4 --out m.pvt
mkdir folder && cp m.pvt folder
ok report folder/m.pvt other
same 'where it went' 'report       report.html' "$(cat out)"
for text in 'Protection of each row: <span class="badge">strong</span>' '<strong>epsilon 1 per row, delta 0.0001</strong>' \
    '<div class="verdict green">' 'guesses right at most 73.2&nbsp;% of the time; without the result, 50&nbsp;%.' \
    'epsilon 1 is at most 1, and delta 0.0001 is at most a tenth of one in 200 rows' 'a person with several rows is protected less' \
    'at most e<sup>1</sup> times what it would be if one row contributed nothing, plus 0.0001' 'times: gaussian, noise multiplier' \
    'Confusion matrix' 'Calibration' 'Privacy curve' 'Errors of any test for one unit' 'What it does not cover' \
    'mu of the closest Gaussian curve' 'privet verify m.pvt' '<th>budget.epsilon</th><td>1</td>' 'the guarantee does not cover them'; do
    has report.html "$text"
done
check 'no folder of the maker' sh -c '! grep -q folder report.html'
same 'as many tags closed as opened' "$(grep -o '<table>' report.html | wc -l)" "$(grep -o '</table>' report.html | wc -l)"
# nothing is fetched: the only address is the name of SVG
same 'addresses in the page' 'http://www.w3.org/2000/svg' "$(grep -oE 'https?://[^" ]*' report.html | sort -u)"
check 'no script' sh -c '! grep -qi "<script\|javascript:\|onload" report.html'

# ---- without rows; on the training rows; without privacy
ok report m.pvt --out plain.html
check 'no figures without rows' sh -c '! grep -q "How good" plain.html'
run report m.pvt small --out training.html
has training.html 'These are the training rows: figures computed from them are NOT PRIVATE'
check 'no figures of training rows' sh -c '! grep -q "accuracy</th>\|Confusion\|Calibration" training.html'
run report m.pvt small --exact --out training.html
has training.html 'These are the training rows: figures computed from them are NOT PRIVATE'
has training.html 'Confusion matrix'
privet train small --quiet --privacy off --out off.pvt >/dev/null 2>&1
run report off.pvt --out off.html
has off.html '<div class="verdict none"><p class="head"><span class="badge">NOT PRIVATE</span>'
check 'nothing private is claimed' sh -c '! grep -q "Protection of\|per row" off.html'

# ---- words and colours: the worse of epsilon and delta decides, and a large epsilon turns no sentence round
for budget in 0.1:1e-4:green:strong 1:1e-4:green:strong 2:1e-4:amber:moderate 5:1e-4:amber:weak 13:1e-4:red:'next to none' \
    100:1e-4:red:'next to none' 1:1e-3:amber:weak 0.1:0.1:red:'next to none' 100:0.1:red:'next to none'; do
    epsilon=${budget%%:*} word=${budget##*:} rest=${budget#*:}
    delta=${rest%%:*} rest=${rest#*:}
    colour=${rest%%:*}
    run train small --quiet --epsilon "$epsilon" --delta "$delta" --json --out b.pvt
    same "epsilon $epsilon, delta $delta: trained" 0 "$code"
    has out "\"strength\": \"$word\""
    has out "\"colour\": \"$colour\""
    if [ "$colour" = red ]; then has err 'warning: protection is next to none: '; else same 'no warning' '' "$(cat err)"; fi
    ok verify b.pvt --json
    has out "\"strength\": \"$word\""
    has out "\"colour\": \"$colour\""
    ok verify b.pvt
    same 'the word comes before the list' "strength     $word:" "$(sed -n 2p out | cut -c -$((14 + ${#word})))"
    ok report b.pvt --out b.html
    has b.html "<div class=\"verdict $colour\"><p class=\"head\">Protection of each row: <span class=\"badge\">$word</span>"
    check 'no sentence that a large epsilon turns round' sh -c '! grep -q "by a factor of more than" b.html'
done

# ---- figures: rounded for passing on, exact on request
privet demo d >/dev/null 2>&1
ok train d/demo_train.csv --schema d/demo.schema.json --quiet --optimizer pgd --out d.pvt
ok report d.pvt d/demo_test.csv --out rounded.html
ok report d.pvt d/demo_test.csv --exact --out exact.html
privet eval d.pvt d/demo_test.csv --json >figures.json
count=$(tr -d ' \n' <figures.json | sed 's/.*"true_by_predicted":\[\[\([0-9]*\),.*/\1/' | sed 's/\([0-9]\)\([0-9][0-9][0-9]\)$/\1,\2/')
check 'a count to look for' test "${#count}" -ge 4
has exact.html "<td class=\"n hit\">$count</td>"
has exact.html 'Exact figures, not for passing on'
check 'no counts when rounded' sh -c "! grep -qF '>$count<' rounded.html"
check 'no figure of more than two digits behind the point' sh -c \
    "! sed -n '/How good/,/What it rests on/p' rounded.html | grep -oE '<td class=\"n[ hit]*\">[0-9.]+' | grep -qE '\.[0-9]{3}'"
has rounded.html '<td class="n">about 5,000</td>'
has rounded.html 'Of the rows of each true class, the share the model predicted as each class.'
check 'shares' grep -qE '<td class="n hit">[0-9]+ %</td>' rounded.html
head -151 other >few
ok report m.pvt few --out few.html
has few.html 'fewer than 200 rows would be told too well'
check 'nothing of few rows' sh -c '! grep -q "accuracy</th>\|Confusion\|Calibration" few.html'
awk '{ print; if ($1 == "+1") for (i = 0; i < 3; i++) print }' other | head -300 | awk '$1 == "+1" || n++ < 50' >rare
ok report m.pvt rare --out rare.html
has rare.html '<td class="n">few rows</td><td>1 is perfect, 0.5 is guessing</td>'
has rare.html '<th>-1</th><td class="n hit">few rows</td><td class="n">few rows</td>'
fails 2 'privet: --exact is about figures on labelled rows; name them: privet report MODEL DATA --exact' report m.pvt --exact

# ---- settings: what was used, not auto
for text in '<th>budget.delta</th><td>1e-05</td><td class="soft">chosen by privet' '<th>sampler</th><td>full batch</td>' \
    '<th>data.rows</th><td>told nowhere</td>' '<th>data.features</th><td>105</td>' '<th>accountant</th><td>gaussian</td>' \
    '<th>clip</th><td>0.5</td>' '<th>data.image</th><td>not set</td>' '<th>data.y_min</th><td>none</td>' \
    '<th>data.format</th><td></td><td class="soft">chosen by privet; the certificate does not record it' \
    '<th>data.persons</th><td>9208</td><td class="soft">counted'; do
    has rounded.html "$text"
done
ok train small --quiet --delta 1e-4 --relation replace --optimizer tr --out r.pvt
ok report r.pvt --out r.html
for text in 'which of two given rows is used' 'with any other row in the place of one row' 'tell from the model which of two rows was used' \
    '<th>clip</th><td></td><td class="soft">chosen by privet; the certificate does not record it'; do has r.html "$text"; done
check 'no auto for tr' sh -c '! grep -q "<td>auto</td>" r.html'
# the whole curve: (1 + delta(0))/2, here of one Gaussian, Phi(mu/2) with mu = sqrt(releases)/multiplier
same 'the guess by the curve' "$(sed -n 's/.*<td>\([0-9]*\) times: gaussian, noise multiplier \([0-9.]*\).*/\1 \2/p' rounded.html | awk '{
    x = sqrt($1) / $2 / 2; term = x; sum = x # Phi(x) - 1/2 = (x - x^3/6 + x^5/40 - ...)/sqrt(2 pi)
    for (k = 1; k < 40; k++) { term *= -x * x / (2 * k); sum += term / (2 * k + 1) }
    printf "%.1f", int(1000 * (0.5 + sum / sqrt(2 * 3.14159265358979)) + 1) / 10 }')" \
    "$(sed -n 's/.*guess above is right at most \([0-9.]*\) % of the time.*/\1/p' rounded.html)"
check 'no auto' sh -c '! grep -q "<td>auto</td>" rounded.html'

# ---- names from files are text, never markup
printf '{"columns": [{"name": "<b>x</b>&", "type": "number", "min": 0, "max": 1}, {"name": "y", "type": "label", "values": ["no", "<script>alert(1)</script>"]}]}' >s.json
awk 'BEGIN { print "<b>x</b>&,y"; for (i = 0; i < 300; i++) print (i % 10) / 10 "," (i % 10 < 5 ? "no" : "<script>alert(1)</script>") }' >t.csv
ok train t.csv --schema s.json --quiet --delta 1e-4 --out t.pvt
run report t.pvt t.csv --exact --out t.html
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
    for pair in 'ink page' 'soft page' 'ink card' 'soft card' 'good card' 'warn card' 'bad card' 'good page' 'warn page' 'bad page'; do
        # shellcheck disable=SC2086  # words
        check "contrast of $pair in theme $theme" contrast $pair $theme
    done
done

finish
