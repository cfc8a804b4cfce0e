/* fuzz_libsvm.c - any bytes as a LIBSVM file (plain, gzip, bzip2): refused with one line, or rows inside the ball;
 * the same whatever the cuts, and the same from every kernel.  The first two bytes choose settings. */
#include "data/format/svm.h"
#include "fuzz_rows.h"

enum { FRONT = 16, BEHIND = 96, LIMIT = 1 << 16 };

typedef struct parsed {
    pvi_chunk c;
    uint32_t end[LIMIT];
    float y[LIMIT], val[LIMIT];
    int32_t idx[LIMIT];
} parsed;

static void run(pvi_svm_parse_fn *kernel, const pvi_svm *st, const char *text, size_t n, parsed *p)
{
    p->c = (pvi_chunk) { .begin = text, .end = text + n, .stop = text, .last = true };
    p->c.seg.end = p->end;
    p->c.seg.y = p->y;
    p->c.seg.val = p->val;
    p->c.seg.idx = p->idx;
    kernel(st, &p->c);
}

static void kernels_agree(pv_ctx *ctx, const pvi_data_cfg *cfg, const uint8_t *data, size_t size)
{
    static parsed a, b;
    const pvi_expect e = { .classes = 2 };
    struct pv_load job = { .ctx = ctx, .cfg = cfg, .expect = &e, .arena = pvi_arena_create(ctx) };
    FUZZ_REQUIRE(job.arena && pvi_label_declare(&job, &job.label) == PV_OK);
    const pvi_svm st = { .label = &job.label, .labelled = true, .limit = INT32_MAX };
    char *buf = calloc(1, FRONT + size + 1 + BEHIND); /* exactly the room that is promised */
    FUZZ_REQUIRE(buf != NULL);
    memcpy(buf + FRONT, data, size);
    buf[FRONT + size] = '\n';
    run(pvi_svm_parse_isa[PVI_ISA_BASE], &st, buf + FRONT, size + 1, &a);
    for (int isa = 1; isa <= (int)pvi_isa(); isa++) {
        run(pvi_svm_parse_isa[isa], &st, buf + FRONT, size + 1, &b);
        FUZZ_REQUIRE(a.c.bad == b.c.bad && a.c.stop == b.c.stop && a.c.lines == b.c.lines &&
                     a.c.seg.rows == b.c.seg.rows);
        FUZZ_REQUIRE(!a.c.bad || strcmp(a.c.why, b.c.why) == 0);
        const size_t rows = (size_t)a.c.seg.rows, n = rows ? a.end[rows - 1] : 0;
        FUZZ_REQUIRE(memcmp(a.end, b.end, rows * 4) == 0 && memcmp(a.y, b.y, rows * 4) == 0);
        FUZZ_REQUIRE(memcmp(a.idx, b.idx, n * 4) == 0 && memcmp(a.val, b.val, n * 4) == 0);
    }
    free(buf);
    pvi_arena_free(job.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const labels[] = { NULL, "1,2,3", "a|b,c", "-1.5,7" };
    pvi_data_cfg cfg;
    if (size < 3 || size > LIMIT - 2) return 0;
    pv_ctx *ctx = fuzz_context(&cfg);
    pvi_expect e = {
        .classes = -1, .labels_optional = data[0] & 1, .features = data[0] & 2 ? 9 : 0, .y_lo = -1, .y_hi = 2
    };
    if (data[0] & 4) e.classes = 0;
    cfg.format = data[0] & 8 ? "auto" : "libsvm";
    cfg.outside = data[0] >> 4 & 3 ? (data[0] >> 4 & 3) - 1 : 0;
    cfg.labels = e.classes == 0 ? NULL : labels[data[0] >> 6];
    cfg.layout = data[1] & 3 ? (data[1] & 3) - 1 : 0;
    if (cfg.layout == PVI_LAYOUT_DENSE && !e.features)
        cfg.features = 40; /* a huge index would ask for a huge matrix */
    cfg.bias = data[1] & 4 ? 0.0 : 1.0;
    cfg.norm = data[1] & 8 ? PVI_NORM_UNIT : PVI_NORM_CLIP;
    cfg.path = fuzz_file(data + 2, size - 2);
    fuzz_load(ctx, &cfg, &e, 16 + (data[1] >> 4));
    cfg.labels = NULL;
    cfg.outside = 0;
    kernels_agree(ctx, &cfg, data + 2, size - 2);
    pv_ctx_free(ctx);
    return 0;
}
