/* kinds.c - files that no reader reads, by their first bytes, and how they become a table. */
#include "reader.h"

static const struct {
    const char *bytes;
    size_t len;
    const char *what, *how;
} kinds[] = {
    { "PK\x03\x04", 4, "a ZIP archive or an Excel workbook",
      "unzip the one, save the other as CSV UTF-8 or with pandas.read_excel" },
    { "\xd0\xcf\x11\xe0", 4, "an Excel workbook", "save it as CSV UTF-8, or with pandas.read_excel" },
    { "PAR1", 4, "a Parquet file",
      "duckdb -c \"COPY 'FILE' TO 'FILE.csv'\" or pandas.read_parquet makes a CSV of it" },
    { "ARROW1", 6, "an Arrow file", "pandas.read_feather makes a CSV of it; Python's privet takes Arrow tables" },
    { "SQLite format 3", 15, "an SQLite database",
      "sqlite3 -header -csv FILE 'select * from TABLE' makes a CSV of it" },
    { "\x89HDF", 4, "an HDF5 file", "pandas.read_hdf makes a CSV of it" },
    { "\xfd"
      "7zXZ",
      5, "an xz archive", "xz -dc FILE | privet ... - reads it" },
    { "\x28\xb5\x2f\xfd", 4, "a zstd archive", "zstd -dc FILE | privet ... - reads it" },
    { "7z\xbc\xaf", 4, "a 7z archive", "7z x FILE unpacks it" },
    { "%PDF", 4, "a PDF document", "a table is needed, as CSV" },
    { "\xff\xfe", 2, "text in UTF-16 or UTF-32 within a compressed file", "zcat FILE | privet ... - reads UTF-16" },
    { "\xfe\xff", 2, "text in UTF-16 within a compressed file", "zcat FILE | privet ... - reads it" },
};

/* An object or a list that begins as those of JSON do. */
static bool is_json(const uint8_t *s, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", s[i]) && s[i]) i++;
    if (i == n || (s[i] != '{' && s[i] != '[')) return false;
    for (i++; i < n && strchr(" \t\r\n", s[i]) && s[i];) i++;
    return i < n && s[i] && strchr("\"{[", s[i]);
}

pv_status pvi_kind_check(pv_ctx *ctx, const char *name, const uint8_t *s, size_t n)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (n >= kinds[i].len && memcmp(s, kinds[i].bytes, kinds[i].len) == 0)
            return pvi_fail(ctx, PV_E_FORMAT, "%s: %s, not text in UTF-8; %s", name, kinds[i].what, kinds[i].how);
    if (!is_json(s, n)) return PV_OK;
    return pvi_fail(ctx, PV_E_FORMAT,
                    "%s: JSON, not a table; duckdb -c \"COPY (FROM 'FILE') TO 'FILE.csv'\" or pandas.read_json "
                    "makes a CSV of it",
                    name);
}
