/* fuzz_csv.c - any bytes as a table, with one of a few schemas or none: refused with one line, or rows inside the
 * ball; the same whatever the cuts, and the same from every kernel.  The first two bytes choose settings. */
#include "data/format/csv.h"
#include "fuzz_rows.h"

enum { FRONT = 16, BEHIND = 96, LIMIT = 1 << 16 };

static const char *const schemas[] = {
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 9}, {\"name\": \"b\", \"type\": "
    "\"category\", "
    "\"values\": [\"x\", [\"y\", \"Y\"], \"z,z\", \"a long word that has more than 16 bytes\"]}, {\"name\": \"y\", "
    "\"type\": "
    "\"label\", \"values\": [\"no\", \"yes\"]}]}",
    "{\"header\": false, \"separator\": \";\", \"skip\": 1, \"missing\": [\"\", \"?\", \"-9\"], \"columns\": "
    "[{\"name\": \"a\", "
    "\"type\": \"number\", \"min\": -10, \"max\": 10, \"missing\": \"middle\"}, {\"name\": \"i\", \"type\": "
    "\"ignore\"}, {\"name\": "
    "\"b\", \"type\": \"number\", \"min\": 0, \"max\": 1e9, \"missing\": \"zero\", \"outside\": \"missing\"}, "
    "{\"name\": \"y\", "
    "\"type\": \"label\", \"min\": -1, \"max\": 1}]}",
    "{\"header\": false, \"separator\": \"\\t\", \"columns\": [{\"name\": \"c\", \"type\": \"category\", \"values\": "
    "[\"1\", \"2\"]}, "
    "{\"name\": \"n\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"outside\": \"clamp\"}, {\"name\": \"m\", "
    "\"type\": "
    "\"number\", \"min\": 0, \"max\": 1e6}]}",
};
static const char dialect[] =
    "{\"separator\": \";\", \"decimal\": \",\", \"thousands\": \".\", \"trailing\": true, \"columns\": [{\"name\": "
    "\"a\", \"type\": \"number\", \"min\": -10, \"max\": 1e5}, {\"name\": \"b\", \"type\": \"boolean\"}, {\"name\": "
    "\"t\", \"type\": \"text\"}, {\"name\": \"y\", \"type\": \"label\", \"min\": -1, \"max\": 1}]}";

typedef struct parsed {
    pvi_chunk c;
    uint32_t end[LIMIT];
    float y[LIMIT], val[LIMIT];
    int32_t idx[LIMIT];
} parsed;

static void run(pvi_csv_parse_fn *kernel, const pvi_csv *st, const char *text, size_t n, bool last, parsed *p)
{
    p->c = (pvi_chunk) { .begin = text, .end = text + n, .stop = text, .last = last };
    p->c.seg.end = p->end;
    p->c.seg.y = p->y;
    p->c.seg.val = p->val;
    p->c.seg.idx = p->idx;
    kernel(st, &p->c);
}

static void same(const parsed *a, const parsed *b)
{
    FUZZ_REQUIRE(a->c.bad == b->c.bad && a->c.stop == b->c.stop && a->c.lines == b->c.lines &&
                 a->c.seg.rows == b->c.seg.rows);
    FUZZ_REQUIRE(!a->c.bad || strcmp(a->c.why, b->c.why) == 0);
    const size_t rows = (size_t)a->c.seg.rows, n = rows ? a->end[rows - 1] : 0;
    FUZZ_REQUIRE(memcmp(a->end, b->end, rows * 4) == 0 && memcmp(a->y, b->y, rows * 4) == 0);
    FUZZ_REQUIRE(memcmp(a->idx, b->idx, n * 4) == 0 && memcmp(a->val, b->val, n * 4) == 0);
}

static void kernels_agree(pv_ctx *ctx, const pvi_data_cfg *cfg, const char *schema, const uint8_t *data, size_t size)
{
    static parsed a, b;
    struct pv_load job = { .ctx = ctx, .cfg = cfg, .arena = pvi_arena_create(ctx) };
    pvi_schema *sc;
    FUZZ_REQUIRE(job.arena && pvi_schema_load(ctx, job.arena, schema, &sc) == PV_OK);
    job.labelled = sc->label >= 0;
    if (job.labelled) {
        const pvi_column *l = &sc->column[sc->label];
        job.label = (pvi_label_rule) { .classes = l->words.codes, .lo = l->lo, .hi = l->hi, .words = l->words };
    }
    const pvi_csv st = { .job = &job, .sc = sc, .columns = sc->count, .outside = pvi_outside_of(cfg) };
    char *buf = calloc(1, FRONT + size + 1 + BEHIND); /* exactly the room that is promised */
    FUZZ_REQUIRE(buf != NULL);
    memcpy(buf + FRONT, data, size);
    buf[FRONT + size] = '\n';
    for (int last = 0; last < 2; last++) {
        run(pvi_csv_parse_isa[PVI_ISA_BASE], &st, buf + FRONT, size + 1, last, &a);
        for (int isa = 1; isa <= (int)pvi_isa(); isa++) {
            run(pvi_csv_parse_isa[isa], &st, buf + FRONT, size + 1, last, &b);
            same(&a, &b);
        }
    }
    free(buf);
    pvi_arena_free(job.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pvi_data_cfg cfg;
    if (size < 3 || size > LIMIT - 2) return 0;
    pv_ctx *ctx = fuzz_context(&cfg);
    const int which = data[0] & 3;
    pvi_expect e = { .classes = -1, .labels_optional = data[0] & 4, .y_lo = -1, .y_hi = 2 };
    cfg.format = "csv";
    cfg.outside = data[0] >> 3 & 3 ? (data[0] >> 3 & 3) - 1 : 0;
    const char *schema = data[0] & 64 ? dialect : which < 3 ? schemas[which] : NULL;
    if (schema) cfg.schema = schema;
    else if (data[0] & 32) cfg.labels = "1,2,x";
    else e.classes = 0;
    cfg.bias = data[1] & 4 ? 0.0 : 1.0;
    cfg.center = data[1] & 8 ? 0.5 : 0.0;
    cfg.path = fuzz_file(data + 2, size - 2);
    fuzz_load(ctx, &cfg, &e, 16 + (data[1] >> 4));
    kernels_agree(ctx, &cfg, schema ? schema : schemas[0], data + 2, size - 2);
    pv_ctx_free(ctx);
    return 0;
}
