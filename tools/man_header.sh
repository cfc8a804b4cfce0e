#!/bin/sh
# man_header.sh HEADER VERSION - libprivet(3): the contracts of the public header, comment by comment, as a manual page.
set -eu
awk -v version="$2" '
function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); if (s ~ /^[.'"'"']/) s = "\\&" s; return s }
function code_off() { if (code) print ".fi\n.RE"; code = 0 }
BEGIN {
    print ".TH LIBPRIVET 3 \"\" \"privet " version "\" \"Library Functions\"\n.ad l\n.SH NAME"
    print "libprivet \\- empirical risk minimisation under differential privacy\n.SH SYNOPSIS\n.nf\n#include <privet.h>\n\ncc \\`pkg\\-config \\-\\-cflags \\-\\-libs privet\\`\n.fi\n.SH DESCRIPTION"
}
/^#(ifndef|define|endif|include|ifdef|else|if )/ && !body { next }
/^\/\* ---- / { code_off(); s = $0; sub(/^\/\* -+ */, "", s); sub(/ -+ \*\/ *$/, "", s); print ".SH \"" toupper(s) "\""; next }
!open && /^\/\*/ { code_off(); open = 1; print ".PP"; sub(/^\/\* ?/, "") }
open {
    last = /\*\//
    sub(/ ?\*\/.*$/, ""); sub(/^ \* ?/, "")
    if (/^ *[A-Z][A-Z]+  +/) { if (example) print ".fi"; example = 0; contract = 1; print ".PP" }
    if (/^  / && !contract && !example) { example = 1; print ".PP\n.nf" } # how a program begins
    sub(/^ +/, "")
    if ($0 != "") print roff($0)
    else print ".PP"
    if (last) open = 0
    next
}
/^$/ { next }
/^(extern "C"|}$|#)/ && !body { next }
{
    if (!code) print ".RS 4\n.nf"
    code = 1
    print roff($0)
}
END { code_off(); print ".SH SEE ALSO\n.BR privet (1),\n.BR privet\\-schema (5);\nc\\-api.md under share/doc/privet/docs of the installation, a tour with examples." }
' "$1"
