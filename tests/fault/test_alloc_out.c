/* test_alloc_out.c - every allocation of src/cert and src/export fails once: a clean error, no leak, then success. */
#include "alloctest.h"
#include "cert_fixture.h"

#include <unistd.h>

static char path[64];

static pv_status write_certificate(pv_ctx *ctx)
{
    const pvi_cert c = fixture_cert();
    char *json;
    const pv_status s = pvi_cert_write(ctx, &c, &json);
    PVT_TRUE((s == PV_OK) == (json != NULL));
    pvi_free(ctx, json);
    return s;
}

static pv_status write_model(pv_ctx *ctx)
{
    const pvi_cert c = fixture_cert();
    char *json;
    pv_status s = pvi_cert_write(ctx, &c, &json);
    const pvi_model_file m = fixture_model(json);
    if (s == PV_OK) s = pvi_model_write(ctx, path, &m);
    pvi_free(ctx, json);
    return s;
}

static pv_status verify(pv_ctx *ctx)
{
    char *report;
    const pv_status s = pv_verify(ctx, path, &report);
    PVT_TRUE((s == PV_OK) == (report != NULL));
    pv_string_free(ctx, report);
    return s;
}

/* Fails allocation 0, 1, 2 ... of `job` until it succeeds; returns how many there were. */
static long sweep(pv_status (*job)(pv_ctx *))
{
    for (long n = 0;; n++) {
        pvt_memory c = { .once = true };
        pv_ctx *ctx = pvt_counted(&c);
        c.left = n;
        const pv_status s = job(ctx);
        PVT_CHECK(s == PV_OK || s == PV_E_NOMEM, "allocation %ld: %d, %s", n, s, pv_ctx_errmsg(ctx));
        PVT_CHECK(c.live == 1, "allocation %ld: %lld blocks leaked", n, (long long)c.live - 1);
        const bool reached = c.left < 0;
        pv_ctx_free(ctx);
        if (s == PV_OK && !reached) return n;
        PVT_TRUE(n < 100000);
    }
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    char dir[] = "/tmp/privet-test-XXXXXX";
    PVT_TRUE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/m.pvt", dir);
    PVT_TRUE(sweep(write_certificate) > 3);
    PVT_TRUE(sweep(write_model) > 10);
    PVT_TRUE(sweep(verify) > 10);
    unlink(path);
    PVT_IS(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
