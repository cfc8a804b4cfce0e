/* test_corpus.c - certificates and model files that earlier versions wrote verify for ever, and no lower epsilon
 * does.
 *
 * tests/corpus/certificates-vN holds one of every optimiser, relation, sampler, model and so on, as written by the
 * version of privet that wrote version N of the format (make_certificates.sh; of persons, version 4,
 * make_person_certificates.sh). */
#include "corpus.h"
#include "ctxtest.h"

#include <unistd.h>

static pv_status check(const char *text, size_t len)
{
    pvi_cert c;
    pv_arena *a = pvi_arena_create(ctx);
    pv_status s = pvi_cert_parse(ctx, a, "c", text, len, &c);
    if (s == PV_OK) s = pvi_cert_verify(ctx, "c", &c);
    pvi_arena_free(a);
    return s;
}

/* Half of the claimed epsilon, written as privet would, is refused; a certificate of (0, delta) has none to halve. */
static void halve_epsilon(const char *name, const char *text, size_t len)
{
    pvi_cert c;
    char *json;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_cert_parse(ctx, a, name, text, len, &c));
    if (c.epsilon > 0.0) {
        c.epsilon *= 0.5;
        c.delta_draws = pvi_draws_share(c.epsilon, c.delta);
        PVT_OK(pvi_cert_write(ctx, &c, &json));
        PVT_CHECK(check(json, strlen(json)) == PV_E_VERIFY, "%s: half of epsilon was accepted", name);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "more than the claimed"), "%s: %s", name, pv_ctx_errmsg(ctx));
        pvi_free(ctx, json);
    }
    pvi_arena_free(a);
}

static void one_certificate(const char *path, const char *name, void *user)
{
    char *text;
    size_t len;
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    PVT_CHECK(pv_verify(ctx, path, NULL) == PV_OK, "%s: %s", name, pv_ctx_errmsg(ctx));
    halve_epsilon(name, text, len);
    pvi_free(ctx, text);
    ++*(int *)user;
}

static void one_model(const char *path, const char *name, void *user)
{
    PVT_CHECK(pv_verify(ctx, path, NULL) == PV_OK, "%s: %s", name, pv_ctx_errmsg(ctx));
    ++*(int *)user;
}

static void every_certificate_verifies(void **state)
{
    (void)state;
    int seen[3] = { 0, 0, 0 };
    corpus_each("certificates-v2", ".json", one_certificate, &seen[0]);
    corpus_each("certificates-v3", ".json", one_certificate, &seen[1]);
    corpus_each("certificates-v4", ".json", one_certificate, &seen[2]);
    PVT_IS(seen[0], 131);
    PVT_IS(seen[1], 155);
    PVT_IS(seen[2], 73);
}

static void every_model_verifies(void **state)
{
    (void)state;
    int seen = 0;
    corpus_each("certificates-v2", ".pvt", one_model, &seen);
    corpus_each("certificates-v3", ".pvt", one_model, &seen);
    corpus_each("certificates-v4", ".pvt", one_model, &seen);
    PVT_IS(seen, 8);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { CASE(every_certificate_verifies), CASE(every_model_verifies) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
