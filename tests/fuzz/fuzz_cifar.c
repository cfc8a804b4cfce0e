/* fuzz_cifar.c - any bytes as CIFAR-10 records, plain or compressed: refused with one line, or rows inside the ball.
 * Byte 0: settings; byte 1: the last record loses so many bytes; the others are stretched to records, as the reader
 * is indifferent to pixels but not to lengths and classes. */
#include "fuzz_rows.h"

enum { RECORD = 3073, MOST = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[MOST * RECORD];
    pvi_data_cfg cfg;
    if (size < 3 || size > 4096) return 0;
    pv_ctx *ctx = fuzz_context(&cfg);
    const pvi_expect e = { .classes = -1, .pixels = data[0] & 32 };
    cfg.format = "cifar";
    cfg.bias = data[0] & 1 ? 0.0 : 1.0;
    cfg.norm = data[0] & 2 ? PVI_NORM_UNIT : PVI_NORM_CLIP;
    cfg.labels = data[0] & 4 ? "0,1,2" : NULL;
    cfg.center = data[0] & 8 ? 0.5 : 0.0;
    const size_t rows = size - 2 < MOST ? size - 2 : MOST;
    for (size_t i = 0; i < rows * RECORD; i++) bytes[i] = data[2 + (i % RECORD ? i % (size - 2) : i / RECORD)];
    cfg.path = data[0] & 16 ? fuzz_file(data + 2, size - 2) : fuzz_file(bytes, rows * RECORD - data[1]);
    fuzz_load(ctx, &cfg, &e, 8192);
    pv_ctx_free(ctx);
    return 0;
}
