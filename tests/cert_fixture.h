/* cert_fixture.h - a certificate that holds, for tests of src/cert and src/export: T Gaussian releases, all rows. */
#ifndef CERT_FIXTURE_H
#define CERT_FIXTURE_H
#include "cert/cert.h"
#include "export/model_file.h"

#define FIXTURE_COMMON                                                                                               \
    "\"model\":\"logistic\",\"reg\":\"none\",\"set\":\"none\",\"optimizer\":\"pgd\","                                \
    "\"mechanism\":\"gaussian\",\"accountant\":\"best\",\"privacy\":\"on\",\"budget.epsilon\":1.5,"                  \
    "\"budget.delta\":1e-05,\"budget.relation\":\"zero-out\",\"budget.noise_multiplier\":\"auto\","                  \
    "\"clip\":\"auto\",\"sampler\":\"auto\",\"sampler.batch\":\"auto\",\"data.format\":\"auto\","                    \
    "\"data.labels\":null,\"data.y_min\":\"auto\",\"data.y_max\":\"auto\",\"data.rows\":\"auto\","                   \
    "\"data.features\":2,\"data.row_norm\":1,\"data.norm\":\"clip\",\"data.center\":0,\"data.bias\":1,"              \
    "\"data.layout\":\"auto\",\"data.outside\":\"error\",\"data.messages\":\"full\","                                \
    "\"data.chunk\":262144,\"data.image\":null,\"data.transform\":\"none\",\"data.scatter_scales\":2,"               \
    "\"data.scatter_angles\":8,\"data.scatter_groups\":27"
#define FIXTURE_PGD                                                                                                  \
    "\"optimizer.steps\":100,\"optimizer.output\":\"average\",\"optimizer.step\":4,"                                 \
    "\"optimizer.momentum\":0.5,\"optimizer.calibration\":\"default\""
#define FIXTURE_SETTINGS "{" FIXTURE_COMMON "," FIXTURE_PGD "}"

/* These settings but for one, whose value is JSON.  The text stays until eight more were made. */
static inline const char *fixture_with(const char *settings, const char *key, const char *value)
{
    static char made[8][4096];
    static int next;
    char quoted[64], *out = made[next++ % 8];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(settings, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    snprintf(out, sizeof made[0], "%.*s%s%s", (int)(at - settings), settings, value, at + strcspn(at, ",}"));
    return out;
}

/* BLAKE2b of the header and the weights of fixture_model, computed apart: test_model_file.c tells when they
 * are wrong. */
#define FIXTURE_HEADER  "635c2f2d89b5683c2019f3959d9eb555d759a821391fbffdbe856c2a9e5f97ab"
#define FIXTURE_WEIGHTS "a36064fe1f1f4d0a615d55a1ea981a06c1cb2462fa4dfc9bffd77eadff6aa2ad"

static const char *const fixture_assumptions[] = { "Rows are independent of each other.", "Quote \" and \xc3\xa9." };

/* Exact epsilon of T Gaussians of multiplier z (Balle, Wang, ICML 2018, Theorem 8), mu = sqrt(T)/z:
 *   delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)
 * plus a relative 1e-9: an acceptable claim, of which 2e-9 less is one the events do not support. */
static inline double fixture_phi(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static inline double fixture_epsilon(double z, double T, double delta)
{
    const double mu = sqrt(T) / z;
    double lo = 0.0, hi = 100.0;
    for (int i = 0; i < 200; i++) {
        const double e = 0.5 * (lo + hi);
        if (fixture_phi(mu / 2 - e / mu) - exp(e) * fixture_phi(-mu / 2 - e / mu) > delta * (1.0 - 0x1p-10)) lo = e;
        else hi = e;
    }
    return hi * (1.0 + 1e-9);
}

static inline pvi_cert fixture_cert(void)
{
    /* z is exact in binary, so half of it is, and the replace events are its exact halves */
    static const pv_event one = { .kind = PV_EV_GAUSSIAN, .a = 32.5 }, half = { .kind = PV_EV_GAUSSIAN, .a = 16.25 };
    static const pv_event all = { .kind = PV_EV_REPEAT, .n = 100, .sub = &one };
    static const pv_event all_replace = { .kind = PV_EV_REPEAT, .n = 100, .sub = &half };
    return (pvi_cert) {
        .version = PVI_CERT_VERSION,
        .is_private = true,
        .relation = PV_REL_ZERO_OUT,
        .epsilon = fixture_epsilon(32.5, 100, 1e-5),
        .delta = 1e-5,
        .delta_draws = 1e-5 / 1024, /* the share set aside for the draws */
        .accountant = "gaussian",
        .events = &all,
        .epsilon_replace = fixture_epsilon(16.25, 100, 1e-5),
        .events_replace = &all_replace,
        .model = "logistic",
        .optimizer = "pgd",
        .mechanism = "gaussian",
        .sampler = "full batch",
        .rows = 20000,
        .features = 3,
        .weights = 3,
        .batch = 20000,
        .clip_norm = 1.0,
        .rounding_allowance = 0x1p-59,
        .sensitivity = 1.0,
        .noise_multiplier = 32.5,
        .noise_stddev = 32.5,
        .grid_spacing = 0x1p-60,
        .row_norm = 1.0,
        .queries = 100,
        .kinds = { { .kind = "gradient", .count = 100 } },
        .n_kinds = 1,
        .data_salt = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100",
        .data_digest = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        .header_digest = FIXTURE_HEADER,
        .weights_digest = FIXTURE_WEIGHTS,
        .settings = FIXTURE_SETTINGS,
        .assumptions = fixture_assumptions,
        .n_assumptions = 2,
    };
}

static const double fixture_weights[3] = { 0.5, -1.25e-300, 3.0e8 };
static const char *const fixture_classes[2] = { "no", "yes" };
static inline pvi_model_file fixture_model(const char *certificate)
{
    return (pvi_model_file) {
        .model = "logistic",
        .settings = FIXTURE_SETTINGS,
        .certificate = certificate,
        .schema = "{\"columns\":[]}",
        .class_names = fixture_classes,
        .domain = { .n = 20000, .p = 3, .row_norm = 1.0, .classes = 2, .y_lo = -1.0, .y_hi = 1.0 },
        .w = fixture_weights,
        .d = 3,
    };
}
#endif
