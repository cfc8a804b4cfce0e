# How a browser shows the pages that privet writes: a report, a folder of results, and a comparison.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 >other
ok train small --quiet --delta 1e-4 --out m.pvt
ok report m.pvt other --out report.html
in_browser report.html
ok reproduce prgd-fig2 --quick --out results
ok report results --out results.html
in_browser results.html
ok compare small --holdout other --optimizer pgd,none,tr --epsilon 1,4 --delta 1e-4 --repeats 2 --out c
cp c/compare.html comparison.html
in_browser comparison.html
finish
