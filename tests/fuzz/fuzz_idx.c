/* fuzz_idx.c - any bytes as a pair of IDX files: refused with one line, or rows inside the ball.
 * Byte 0: settings; byte 1: rows; byte 2: pixels; bytes 3 and 4: length of the labels file, which follows. */
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pvi_data_cfg cfg;
    if (size < 6) return 0;
    const size_t labels = (size_t)(data[3] | data[4] << 8), rest = size - 5;
    if (labels >= rest) return 0;
    pv_ctx *ctx = fuzz_context(&cfg);
    const pvi_expect e = { .classes = -1, .labels_optional = data[0] & 1, .pixels = data[0] & 32 };
    cfg.format = data[0] & 2 ? "auto" : "idx";
    cfg.bias = data[0] & 4 ? 0.0 : 1.0;
    cfg.image = data[0] & 8 ? "2x3" : NULL;
    cfg.rows = data[1] + 1; /* declared, as a huge size would ask for a huge matrix */
    cfg.features = data[2] + 1;
    if (!(data[0] & 16)) cfg.labels = fuzz_labels(data + 5, labels);
    cfg.path = fuzz_file(data + 5 + labels, rest - labels);
    fuzz_load(ctx, &cfg, &e, 8192);
    pv_ctx_free(ctx);
    return 0;
}
