/* fuzz_certificate.c - no text but a written one is accepted, and no number its events do not support.
 *
 * First byte: 0 raw text; 1 edits of a valid certificate; 2 the same with the checksum repaired, as a
 * forger would; otherwise numbers put into a certificate that is then written by the library itself. */
#include "acct/range.h"
#include "cert_fixture.h"
#include "fuzz.h"

static void repair(pvi_str *b)
{
    char hex[65];
    uint8_t hash[32];
    char *tail = memmem(b->s, b->len, ",\n  \"checksum\"", 14);
    if (!tail) return;
    b->len = (size_t)(tail - b->s);
    pvi_hash(NULL, 0, b->s, b->len, hash);
    pvi_hex(hash, 32, hex);
    pvi_str_printf(b, ",\n  \"checksum\": \"%s\"\n}\n", hex);
}

/* The exact cost is at most the claim, whatever was accepted. */
static void check_claim(const pvi_cert *c)
{
    const pv_event *e = c->events;
    double T = 1;
    if (e->kind == PV_EV_REPEAT) {
        T = (double)e->n;
        e = e->sub;
    }
    if (e->kind != PV_EV_GAUSSIAN || c->delta < 1e-12 || !(T > 0)) return; /* the formula below is for these */
    const double mu = sqrt(T) / e->a;
    if (!(mu > 1e-3 && mu < 8)) return;
    FUZZ_REQUIRE(c->epsilon >= fixture_epsilon(e->a, T, c->delta) * (1 - 1e-5) - 1e-12);
}

static void check_text(pv_ctx *ctx, const char *text, size_t len, bool valid)
{
    pvi_cert c;
    pv_arena *a = pvi_arena_create(ctx);
    char *copy = malloc(len + 1), *again;
    memcpy(copy, text, len);
    pv_status s = pvi_cert_parse(ctx, a, "f", copy, len, &c);
    if (valid && s != PV_OK) fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
    FUZZ_REQUIRE(s == PV_OK || !valid);
    if (s == PV_OK) {
        FUZZ_REQUIRE(pvi_cert_write(ctx, &c, &again) == PV_OK);
        FUZZ_REQUIRE(strlen(again) == len && memcmp(again, text, len) == 0);
        pvi_free(ctx, again);
        s = pvi_cert_verify(ctx, "f", &c);
        if (s == PV_OK) check_claim(&c);
    }
    if (s != PV_OK) fuzz_refused(ctx, s);
    free(copy);
    pvi_arena_free(a);
}

static double next_f64(const uint8_t **p, const uint8_t *end)
{
    double x = 1.0;
    if (end - *p >= 8) {
        memcpy(&x, *p, 8);
        *p += 8;
    }
    return x;
}

static void check_numbers(pv_ctx *ctx, const uint8_t *p, const uint8_t *end)
{
    pv_event one = { .kind = PV_EV_GAUSSIAN }, half = one;
    pv_event all = { .kind = PV_EV_REPEAT, .sub = &one }, all2 = { .kind = PV_EV_REPEAT, .sub = &half };
    pvi_cert c = fixture_cert();
    char *json;
    c.epsilon = next_f64(&p, end);
    c.delta = next_f64(&p, end);
    c.delta_draws = pvi_draws_share(c.epsilon, c.delta);
    c.noise_multiplier = one.a = fabs(next_f64(&p, end));
    c.clip_norm = next_f64(&p, end);
    c.rounding_allowance = next_f64(&p, end);
    c.epsilon_replace = next_f64(&p, end);
    const double T = next_f64(&p, end);
    all.n = all2.n = c.queries = c.kinds[0].count = T >= 1 && T < 1e9 ? (int64_t)T : 3;
    char steps[32]; /* settings that say nothing of the numbers but the number of releases */
    snprintf(steps, sizeof steps, "%lld", (long long)all.n);
    c.settings = fixture_with(FIXTURE_SETTINGS, "optimizer.steps", steps);
    c.settings = fixture_with(c.settings, "budget.delta", "\"auto\"");
    c.settings = fixture_with(c.settings, "budget.epsilon", "1000000");
    c.sensitivity = c.clip_norm + c.rounding_allowance;
    c.noise_stddev = c.noise_multiplier * c.sensitivity;
    half.a = c.noise_stddev / (2 * c.clip_norm);
    if (!pvi_in_range(PVI_RANGE_NOISE, one.a) || !pvi_in_range(PVI_RANGE_NOISE, half.a)) return; /* no events */
    c.events = &all;
    c.events_replace = &all2;
    if (pvi_cert_write(ctx, &c, &json) != PV_OK) abort();
    check_text(ctx, json, strlen(json), true);
    pvi_free(ctx, json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    if (size < 1 || size > 65536 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    if (data[0] == 0) check_text(ctx, (const char *)data + 1, size - 1, false);
    if (data[0] > 2) check_numbers(ctx, data + 1, data + size);
    if (data[0] == 1 || data[0] == 2) {
        const pvi_cert c = fixture_cert();
        pvi_str b = { .ctx = ctx };
        if (pvi_cert_write(ctx, &c, &b.s) != PV_OK) abort();
        b.len = strlen(b.s);
        b.cap = b.len + 1;
        b.len = fuzz_edit(b.s, b.len, data + 1, size - 1);
        if (data[0] == 2) repair(&b);
        check_text(ctx, b.s, b.len, false);
        pvi_str_free(&b);
    }
    pv_ctx_free(ctx);
    return 0;
}
