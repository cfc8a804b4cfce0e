# label: long
# CONTRIBUTING.md, done for real: its two plug-ins and its query are one file each and the lines it says, and the grown
# lists pass.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

mkdir tree
for part in .clang-format CMakeLists.txt Makefile CONTRIBUTING.md README.md CHANGELOG.md SECURITY.md LICENSE include src cli cmake tools tests bench examples; do
    cp -r "$PRIVET_SOURCE/$part" tree/
done
cd tree || exit 1
find src cli include -type f | sort | xargs cksum >../before

# ```c PATH ... ``` is a file; ```registry, ```query and ```kind are lines of registry.def, query.def and release.c.
awk '/^```c src\//  { file = $2; next }
     /^```registry/ { file = "lines"; next }
     /^```query/    { file = "queries"; next }
     /^```kind/     { file = "kinds"; next }
     /^```/         { file = ""; next }
     file != ""     { print > file }' CONTRIBUTING.md
same 'two lines, and one of a query' '2 1' "$(wc -l <lines) $(wc -l <queries)"
cat lines >>src/core/registry.def
cat queries >>src/query/query.def
awk '/^    \{ 0 \},$/ && !done { while ((getline line <"kinds") > 0) print line; done = 1 }
     { print }' src/query/release.c >grown
mv grown src/query/release.c
rm lines queries kinds
find src cli include -type f | sort | xargs cksum >../after
same 'three new files, the lists and the table of kinds, nothing else' \
    'src/acct/acct_pure.c src/core/registry.def src/model/loss_arctan.c src/query/query.def src/query/query_mean.c src/query/release.c' \
    "$(diff ../before ../after | sed -n 's/^> .* //p' | sort | tr '\n' ' ' | sed 's/ $//')"
# A loss in vector instructions: again one file and one line.
sed 's/sigmoid/twin/g' src/model/loss_sigmoid.kernel.c >src/model/loss_twin.kernel.c
echo 'PV_PLUGIN(loss, twin)' >>src/core/registry.def

cmake=/usr/bin/cmake ctest=/usr/bin/ctest
[ -x "$cmake" ] || cmake=cmake ctest=ctest
check 'configures' "$cmake" -G Ninja -B build -S . -DPRIVET_WERROR=ON
check 'builds without warnings' "$cmake" --build build
PRIVET_COMMAND=$PWD/build/privet
"$ctest" --test-dir build -L contract --output-on-failure >../ctest.log 2>&1 || problem "contract tests: $(tail -40 ../ctest.log)"
cd "$work" || exit 1
ok list accountant
has out 'pure'
ok list loss
has out 'arctan'
has out 'twin'
small_data >small
run train small model=arctan budget.delta=1e-5 --out arctan.pvt
same 'trains with the new loss' 0 "$code"
ok verify arctan.pvt
run plan accountant=pure --rows 100 --features 3
same 'the new accountant refuses Gaussian noise' 2 "$code"
finish
