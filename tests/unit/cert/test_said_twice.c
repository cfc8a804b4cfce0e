/* test_said_twice.c - what a certificate says twice is compared: every row of the table in cert_settings.c.
 *
 * For each row, over the certificates of tests/corpus (of version 4 for rows about persons): the row holds for what
 * privet wrote, and another value of the setting or of the field is seen by the row and refused by verifying.  Then
 * forgeries by hand, with what is said of each. */
#include "corpus.h"
#include "ctxtest.h"

typedef struct search {
    const pvi_said_twice *row;
    int tried, seen, refused; /* changes; those the row sees; those that verifying refuses */
} search;

/* What the row says of the certificate and its settings; -1: the settings do not say it. */
static int asks(const search *s, pv_arena *a, const pvi_cert *c)
{
    pvi_json *v;
    PVT_OK(pvi_json_parse(ctx, a, "settings", c->settings, strlen(c->settings), &v));
    const pvi_json *said = pvi_json_get(v, s->row->key);
    if (!said || said->type == PVI_JNULL || (said->type == PVI_JSTR && strcmp(said->text, "auto") == 0)) return -1;
    return s->row->agrees(v, said, c);
}

static void try(search *s, pv_arena *a, const pvi_cert *c)
{
    char *json;
    pvi_cert back;
    s->tried++;
    if (asks(s, a, c) != 0) return; /* a change that contradicts nothing, as a larger budget */
    s->seen++;
    PVT_OK(pvi_cert_write(ctx, c, &json)); /* with a checksum that fits */
    pv_status st = pvi_cert_parse(ctx, a, "c", json, strlen(json), &back);
    if (st == PV_OK) st = pvi_cert_verify(ctx, "c", &back);
    PVT_CHECK(st == PV_E_VERIFY || st == PV_E_FORMAT, "%s and %s: accepted", s->row->field, s->row->key);
    s->refused += strstr(pv_ctx_errmsg(ctx), s->row->key) || strstr(pv_ctx_errmsg(ctx), s->row->field);
    pvi_free(ctx, json);
}

/* Other values of the setting, in its place in the text. */
static void change_setting(search *s, pv_arena *a, const pvi_cert *from)
{
    static const char *const texts[] = { "\"x\"", "\"constant\"", "\"max\"", "\"off\"", "\"cosine\"" };
    char key[64], number[64];
    pvi_cert c = *from;
    snprintf(key, sizeof key, "\"%s\":", s->row->key);
    const char *at = strstr(from->settings, key) + strlen(key);
    const size_t len = *at == '"' ? (size_t)(strchr(at + 1, '"') + 1 - at) : strcspn(at, ",}");
    for (int i = 0; i < 7; i++) {
        if (i < 5 && *at != '"') continue;
        if (i >= 5 && *at == '"') continue;
        snprintf(number, sizeof number, "%.17g", i == 5 ? 2.0 * strtod(at, NULL) + 1.0 : 0.25 * strtod(at, NULL));
        pvi_str b = { .ctx = ctx };
        pvi_str_add(&b, from->settings, (size_t)(at - from->settings));
        pvi_str_puts(&b, i < 5 ? texts[i] : number);
        pvi_str_puts(&b, at + len);
        c.settings = pvi_arena_strdup(a, b.s, b.len);
        pvi_str_free(&b);
        try(s, a, &c);
    }
}

static void change_field(search *s, pv_arena *a, const pvi_cert *from)
{
    pvi_cert c = *from;
    const char *f = s->row->field;
    if (strcmp(f, "weights") == 0) c.weights++;
    else if (strcmp(f, "features_measured") == 0) c.features_measured = true;
    else if (strcmp(f, "row_norm") == 0) c.row_norm = 7.0;
    else if (strcmp(f, "rows") == 0) c.rows++;
    else if (strcmp(f, "releases") == 0 && c.n_kinds == 2) c.kinds[0].count++, c.kinds[1].count--;
    else return;
    try(s, a, &c);
}

static void one_certificate(const char *path, const char *name, void *user)
{
    search *s = user;
    pvi_cert c;
    char *text;
    size_t len;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    PVT_OK(pvi_cert_parse(ctx, a, name, text, len, &c));
    const int said = c.version >= s->row->since ? asks(s, a, &c) : -1;
    PVT_CHECK(said != 0, "%s: %s and %s disagree", name, s->row->field, s->row->key);
    if (said == 1 && s->seen < 6) { /* a few certificates of each kind are enough */
        change_setting(s, a, &c);
        change_field(s, a, &c);
    }
    pvi_free(ctx, text);
    pvi_arena_free(a);
}

static void every_row_is_compared(void **state)
{
    (void)state;
    for (const pvi_said_twice *t = pvi_cert_said_twice; t->key; t++) {
        for (int version = 2; version <= PVI_CERT_PERSONS; version++) {
            char folder[32];
            search s = { .row = t };
            if (version < t->since || (version == PVI_CERT_PERSONS && t->since < version)) continue;
            snprintf(folder, sizeof folder, "certificates-v%d", version);
            corpus_each(folder, ".json", one_certificate, &s);
            PVT_CHECK(s.seen > 0 && s.refused > 0, "version %d, %s and %s: %d changes, %d seen, %d refused", version,
                      t->field, t->key, s.tried, s.seen, s.refused);
        }
    }
}

/* Forgeries that keep everything else: one text for another, in the settings or in the conditional bound. */
typedef struct forgery {
    const char *file, *from, *to, *says; /* says NULL: it holds */
} forgery;
static int tried;

static const forgery forgeries[] = {
    { "sbcd-hidden", "\"model.radius\":4", "\"model.radius\":9", "conditional is not what the setting model.radius" },
    { "sbcd-hidden", "\"model.radius\":4", "\"model.radius\":\"auto\"", "model.radius is auto" },
    { "sbcd-hidden", "\"model.gamma\":1", "\"model.gamma\":2", "conditional is not" },
    { "sbcd-hidden", "\"model.scale\":2", "\"model.scale\":20", "conditional is not" },
    { "sbcd-hidden", "\"model.loss\":\"squared\"", "\"model.loss\":\"cross-entropy\"", "model.loss says" },
    { "sbcd-hidden", "\"model.loss\":\"squared\"", "\"model.loss\":\"auto\"", "model.loss says" }, /* of classes */
    { "sbcd-hidden", "\"model.loss\":\"squared\"", "\"model.loss\":\"logistic\"", "model.loss=logistic" },
    { "sbcd-hidden", "\"smoothness\":17", "\"smoothness\":8.5", "conditional is not" },
    { "sbcd-hidden", "\"optimizer.epochs\":30", "\"optimizer.epochs\":7", "optimizer.epochs says" },
    { "sbcd-hidden", "\"optimizer.momentum\":0", "\"optimizer.momentum\":\"auto\"", "optimizer.momentum is auto" },
    { "sbcd-hidden", "\"reg.lambda\":1,", "", "reg.lambda is missing" },
    { "weight-10", "\"optimizer.weight\":10", "\"optimizer.weight\":0.1",
      "clip_norm is not what the setting optimizer.weight" },
    { "weight-10", "\"optimizer.weight\":10,", "", "optimizer.weight is missing" },
    { "weight-10", "\"optimizer.weight\":10", "\"optimizer.weight\":1e+250", "optimizer.weight says" },
    { "paper-tr", "\"optimizer.weight\":1", "\"optimizer.weight\":2", "optimizer.weight says" },
    { "model-softmax-tr", "\"optimizer.weight\":0.7", "\"optimizer.weight\":7", "optimizer.weight says" },
    { "noise-linear", "linear:2,1", "linear:3,1", "events is not what the setting optimizer.noise" },
    { "noise-linear", "linear:2,1", "x", "optimizer.noise says" },
    { "noise-linear", "linear:2,1", "auto", "optimizer.noise says" },
    { "noise-linear", "\"linear:2,1\"", "null", "optimizer.noise is of another type" },
    { "noise-table", "table:1,2,3", "table:1,3,2", "optimizer.noise says" },
    { "schedule-within", "cosine:3,1", "cosine:4,1", "events is not what the setting optimizer.noise" },
    { "schedule-within", "cosine:3,1", "constant", "optimizer.noise says" },
    { "schedule-within", "table:1,2", "table:1,3", "optimizer.noise says" },
    { "schedule-within", "table:1,2", "constant", "optimizer.noise says" },
    { "schedule-within", "inverse-sqrt:5", "inverse-sqrt:x", "events is not" },
    { "schedule-within", "inverse-sqrt:5", "cosine", NULL }, /* the length of steps is no part of the guarantee */
    { "schedule-step", "step:exponential:4,1", "step:exponential:8,1", "optimizer.noise says" },
    { "schedule-step", "\"optimizer.noise\":\"step:exponential:4,1\",", "", "noise_multiplier_max is not" },
    { "schedule-select", "linear:4,1", "linear:8,1", "optimizer.noise says" },
    { "schedule-sosp", "linear:4,1", "linear:1,4", "optimizer.noise says" },
    { "schedule-sosp", "\"optimizer.growth\":1", "\"optimizer.growth\":2", "releases is not" },
    { "schedule-prgd", "\"inverse\"", "\"outward\"", "events is not" },
    { "sbcd-hidden-equal", "\"optimizer.schedule\":\"constant\"", "\"optimizer.schedule\":\"cosine\"",
      "conditional is not what the setting optimizer.schedule" },
    { "sbcd-hidden-equal", "\"optimizer.warmup\":0", "\"optimizer.warmup\":0.5",
      "conditional is not what the setting optimizer.warmup" },
    { "model-mlp", "dense4,relu,dense", "dense5,relu,dense", "weights is not what the setting model.layers" },
    { "model-mlp", "dense4,relu,dense", "x", "model.layers says" },
    { "model-mlp", "dense4,relu,dense", "auto", "model.layers says" },
    { "model-mlp", "\"0,1,2\"", "\"0,1\"", "weights is not" },
    { "model-cnn", "conv2x3", "conv3x3", "model.layers says" },
    { "model-cnn", "\"12x12x1\"", "null", NULL }, /* a file may bring the shape of its images */
    { "model-cnn", "\"12x12x1\"", "\"9x16x1\"", "model.layers says" },
    { "model-softmax", "\"0,1,2\"", "\"0,1,2,3\"", "weights is not what the setting data.labels" },
    { "model-softmax", "\"0,1,2\"", "\"0,1/2,3,4\"", NULL }, /* perhaps the name of a file */
    { "output-perturbation", "\"optimizer.step\":7.6", "\"optimizer.step\":8.1",
      "clip_norm is not what the setting optimizer.step" }, /* above 2/L */
    { "clip-by-hand", "\"clip\":0.25", "\"clip\":0.75", "clip_norm_gradient is not what the setting clip" },
    { "layers-clips", "\"0.3,0.4\"", "\"0.3,0.5\"", "clip_norm_gradient is not what the setting model.clips" },
    { "layers-clips", "\"0.3,0.4\"", "\"equal\"", NULL }, /* 0.5 may be set for all layers together */
    { "layers-clips", "\"0.3,0.4\"", "\"0.3,0.4,0\"", "model.clips=0.3,0.4,0: a number" },
    { "layers-clips", "\"0.3,0.4\"", "0.5", "model.layers says" }, /* one norm for two layers */
    { "layers-clips", "\"model.clipping\":\"layer\"", "\"model.clipping\":\"flat\"", "model.layers says" },
    { "layers-clips", "\"1,0\"", "\"1,0,1\"", "weights is not what the setting optimizer.smoothing" },
    { "layers-clips", "\"1,0\"", "\"1,x\"", "optimizer.smoothing=1,x" },
    { "layers-clips", "\"1,0\"", "\"1,-1\"", "optimizer.smoothing=1,-1" },
    { "layers-clips", "\"reg.layers\":1", "\"reg.layers\":\"1,2,3\"", "weights is not what the setting reg.layers" },
    { "layers-clips-less", "\"clip\":0.1", "\"clip\":0.2", "clip_norm_gradient is not" },
    { "layers-clips-less", "\"clip\":0.1", "\"clip\":\"auto\"", "clip_norm_gradient is not" },
    { "layers-rho", "\"2,3\"", "\"2,3,4\"", "weights is not what the setting optimizer.rho" },
    { "layers-rho", "\"2,3\"", "2", NULL }, /* nothing else follows from it */
    { "layers-rho", "\"3,2\"", "\"3,1\"", "conditional is not what the setting reg.lambda" },
    { "layers-rho", "\"shrinkage\":1", "\"shrinkage\":1.5", "conditional is not what the setting reg.lambda" },
    { "layers-rho", "\"3,2\"", "\"4,2\"", NULL }, /* the least counts */
    { "model-softmax", "\"reg\":\"none\"", "\"reg\":\"none\",\"reg.layers\":\"1,2\"", "setting reg.layers says" },
    { "pgd-zero-out-full", "\"sampler\":\"full\"", "\"sampler\":\"x\"", "sampler=x" },
    { "pgd-zero-out-full", "\"sampler\":\"full\"", "\"sampler\":5", "sampler is of another type" },
    { "pgd-zero-out-full", "\"data.chunk\":262144,", "", "data.chunk is missing" },
};

/* `from` with one text in the place of another; NULL: it is not there. */
static const char *with(pv_arena *a, const char *text, const forgery *f)
{
    const char *at = text ? strstr(text, f->from) : NULL;
    if (!at) return NULL;
    pvi_str b = { .ctx = ctx };
    pvi_str_add(&b, text, (size_t)(at - text));
    pvi_str_puts(&b, f->to);
    pvi_str_puts(&b, at + strlen(f->from));
    const char *out = pvi_arena_strdup(a, b.s, b.len);
    pvi_str_free(&b);
    return out;
}

static void forge(const char *path, const char *name, void *user)
{
    const forgery *f = user;
    const size_t n = strlen(f->file);
    pvi_cert c, back;
    char *text, *json;
    size_t len;
    if (strncmp(name, f->file, n) != 0 || strcmp(name + n, ".json") != 0) return;
    tried++;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    PVT_OK(pvi_cert_parse(ctx, a, name, text, len, &c));
    const char *settings = with(a, c.settings, f), *conditional = with(a, c.conditional, f);
    PVT_CHECK(settings || conditional, "%s: no %s", name, f->from);
    if (settings) c.settings = settings;
    if (conditional) c.conditional = conditional;
    PVT_OK(pvi_cert_write(ctx, &c, &json));
    PVT_OK(pvi_cert_parse(ctx, a, "c", json, strlen(json), &back));
    const pv_status s = pvi_cert_verify(ctx, "c", &back);
    PVT_CHECK(s == (f->says ? PV_E_VERIFY : PV_OK), "%s: %s: %d %s", name, f->to, s, pv_ctx_errmsg(ctx));
    PVT_CHECK(!f->says || strstr(pv_ctx_errmsg(ctx), f->says), "%s: %s: %s", name, f->to, pv_ctx_errmsg(ctx));
    pvi_free(ctx, json);
    pvi_free(ctx, text);
    pvi_arena_free(a);
}

static void forgeries_are_refused(void **state)
{
    (void)state;
    tried = 0;
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        forgery f = forgeries[i];
        corpus_each("certificates-v3", ".json", forge, &f);
    }
    PVT_IS(tried, sizeof forgeries / sizeof *forgeries);
}

/* Of persons who were counted by their rows: K, the share, and the counts. */
static void counts_are_compared(void **state)
{
    (void)state;
    static const forgery of_settings[] = {
        { "counted-tr", "\"data.person_rows_share\":0.2", "\"data.person_rows_share\":0.4",
          "data.person_rows_share" },
        { "counted-tr", "\"data.person_rows_share\":0.2", "\"data.person_rows_share\":0", "data.person_rows_share" },
        { "counted-tr", "\"data.person_rows_share\":0.2,", "", "data.person_rows_share" },
        { "counted-tr", "\"data.person_rows\":\"auto\"", "\"data.person_rows\":4", "data.person_rows" },
        { "counted-tr", "\"data.person_rows_most\":64", "\"data.person_rows_most\":32", "data.person_rows says" },
        { "counted-poisson", "\"data.person_rows\":3", "\"data.person_rows\":\"auto\"", "data.person_rows says" },
        { "unit-mean-rows", "\"data.person_rows\":3", "\"data.person_rows\":\"auto\"", "data.person_rows says" },
        { "unit-mean-rows", "\"data.person\":null", "\"data.person\":null,\"data.person_rows_share\":0.05",
          "data.person_rows_share says" },
        { "knots-zero-out", "\"data.knots_share\":0.1", "\"data.knots_share\":0.2", "data.knots_share" },
        { "knots-zero-out", "\"data.knots_share\":0.1", "\"data.knots_share\":0", "data.knots_share" },
        { "knots-zero-out", "\"data.knots_share\":0.1,", "", "data.knots_share" },
        { "unit-mean-rows", "\"data.person\":null", "\"data.person\":null,\"data.knots_share\":0.05",
          "data.knots_share says" },
    };
    tried = 0;
    for (size_t i = 0; i < sizeof of_settings / sizeof *of_settings; i++) {
        forgery f = of_settings[i];
        corpus_each("certificates-v4", ".json", forge, &f);
    }
    PVT_IS(tried, sizeof of_settings / sizeof *of_settings);
}

/* Of the fields, written anew as privet would. */
static void change_counts(const char *path, const char *name, void *user)
{
    pv_arena *a = pvi_arena_create(ctx);
    char *text;
    size_t len;
    if (strcmp(name, user) != 0) return pvi_arena_free(a);
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    for (int how = 0; how < 9; how++) {
        pvi_cert c;
        PVT_OK(pvi_cert_parse(ctx, a, name, text, len, &c));
        pvi_cert_kind *k = &c.kinds[c.n_kinds - 1];
        int64_t *counts = pv_arena_get(a, sizeof *counts * (size_t)k->n_counts);
        memcpy(counts, k->counts, sizeof *counts * (size_t)k->n_counts);
        k->counts = counts;
        if (how == 0) c.unit_rows++;
        if (how == 1) counts[0] += 100000, counts[1] -= 100000; /* nobody has a second row */
        if (how == 2) k->n_counts--;
        if (how == 3) k->noise_multiplier *= 2, k->noise_stddev *= 2;
        if (how == 4) k->clip_norm *= 0.5, k->replace_change *= 0.5;
        if (how == 5) k->batch -= 1.0;
        if (how == 6) k->rounding_allowance = 0.0;
        if (how == 7) c.n_kinds--, c.queries--;
        if (how == 8) k->count++, c.queries++;
        PVT_CHECK(pvi_cert_verify(ctx, "c", &c) == PV_E_VERIFY, "%s: change %d was accepted", name, how);
    }
    tried++;
    pvi_free(ctx, text);
    pvi_arena_free(a);
}

static void counts_follow_from_the_rest(void **state)
{
    (void)state;
    tried = 0;
    corpus_each("certificates-v4", ".json", change_counts, "counted-tr.json");
    corpus_each("certificates-v4", ".json", change_counts, "counted-replace-poisson.json");
    corpus_each("certificates-v4", ".json", change_counts, "knots-zero-out.json");
    corpus_each("certificates-v4", ".json", change_counts, "knots-poisson.json");
    PVT_IS(tried, 4);
}

/* What version 2 let pass goes on to verify: settings that are missing or out of range. */
static void version_2_stays_as_it_is(void **state)
{
    (void)state;
    static const forgery passed[] = {
        { "sbcd-hidden", "\"model.radius\":4", "\"model.radius\":9", NULL },
        { "weight-10", "\"optimizer.weight\":10", "\"optimizer.weight\":0.1", NULL },
        { "pgd-zero-out-full", "\"data.chunk\":262144,", "", NULL },
        { "pgd-zero-out-full", "\"data.bias\":1,", "\"data.bias\":-1,", NULL },
    };
    tried = 0;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        forgery f = passed[i];
        corpus_each("certificates-v2", ".json", forge, &f);
    }
    PVT_IS(tried, sizeof passed / sizeof *passed);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { CASE(every_row_is_compared), CASE(forgeries_are_refused),
                                      CASE(counts_are_compared), CASE(counts_follow_from_the_rest),
                                      CASE(version_2_stays_as_it_is) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
