/* test_certificate.c - a certificate holds exactly as it was written, and no other way. */
#include "cert_fixture.h"
#include "plan/job.h"
#include "ctxtest.h"

#include <locale.h>
#include <unistd.h>

/* Parse, then verify: what `privet verify` does with a text. */
static pv_status check(const char *text, size_t len)
{
    pvi_cert c;
    pv_arena *a = pvi_arena_create(ctx);
    pv_status s = pvi_cert_parse(ctx, a, "c", text, len, &c);
    if (s == PV_OK) s = pvi_cert_verify(ctx, "c", &c);
    pvi_arena_free(a);
    return s;
}

static char *written(const pvi_cert *c)
{
    char *text = NULL;
    PVT_OK(pvi_cert_write(ctx, c, &text));
    return text;
}

/* Status of a certificate with these fields and a correct checksum, as a careful forger would make it. */
static pv_status forged(const pvi_cert *c)
{
    char *json = written(c);
    const pv_status s = check(json, strlen(json));
    pvi_free(ctx, json);
    return s;
}

static void holds_and_round_trips(void **state)
{
    (void)state;
    const pvi_cert c = fixture_cert();
    char *json = written(&c), *again;
    PVT_CHECK(check(json, strlen(json)) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    pv_arena *a = pvi_arena_create(ctx);
    pvi_cert back;
    PVT_OK(pvi_cert_parse(ctx, a, "c", json, strlen(json), &back));
    PVT_TRUE(back.is_private && back.epsilon == c.epsilon && back.delta == c.delta && back.queries == 100);
    PVT_TRUE(back.events->n == 100 && back.events->sub->a == 32.5 && back.events_replace->sub->a == 16.25);
    PVT_IS(back.n_assumptions, 2);
    assert_string_equal(back.assumptions[1], fixture_assumptions[1]);
    assert_string_equal(back.accountant_replace, "gaussian");
    assert_string_equal(back.settings, c.settings);
    again = written(&back);
    assert_string_equal(again, json);
    pvi_free(ctx, again);
    pvi_free(ctx, json);
    pvi_arena_free(a);
}

static void other_versions_of_the_program_are_read(void **state)
{
    (void)state;
    pvi_cert c = fixture_cert();
    c.made_by = "privet 7.5.3";
    PVT_OK(forged(&c));
}

/* The last line, by the rule of docs/certificate-format.md. */
static void checksum_is_the_documented_one(void **state)
{
    (void)state;
    const pvi_cert c = fixture_cert();
    char *json = written(&c), want[160], hex[65];
    const size_t before = strlen(json) - strlen(",\n  \"checksum\": \"\"\n}\n") - 64;
    uint8_t hash[32];
    pvi_hash(NULL, 0, json, before, hash);
    pvi_hex(hash, 32, hex);
    snprintf(want, sizeof want, ",\n  \"checksum\": \"%s\"\n}\n", hex);
    assert_string_equal(json + before, want);
    pvi_free(ctx, json);
}

static void every_changed_byte_is_refused(void **state)
{
    (void)state;
    static const char put[] = { '0', '9', ' ', '"', '\\', 0 };
    const pvi_cert c = fixture_cert();
    char *json = written(&c);
    const size_t len = strlen(json);
    for (size_t i = 0; i < len; i++) {
        const char old = json[i];
        for (size_t k = 0; k < sizeof put + 2; k++) { /* some characters, and two of the eight bits by turns */
            json[i] = k < sizeof put ? put[k] : (char)(old ^ (1 << ((i + 4 * (k - sizeof put)) % 8)));
            if (json[i] == old) continue;
            const pv_status s = check(json, len);
            PVT_CHECK(s == PV_E_VERIFY || s == PV_E_FORMAT, "byte %zu: '%c' -> '%c' gave %d", i, old, json[i], s);
        }
        json[i] = old;
    }
    PVT_OK(check(json, len));
    pvi_free(ctx, json);
}

static void every_truncation_deletion_and_insertion_is_refused(void **state)
{
    (void)state;
    const pvi_cert c = fixture_cert();
    char *json = written(&c), *edited;
    const size_t len = strlen(json);
    edited = malloc(len + 2);
    for (size_t i = 0; i < len; i++) {
        PVT_CHECK(check(json, i) != PV_OK, "first %zu bytes", i);
        memcpy(edited, json, i);
        memcpy(edited + i, json + i + 1, len - i - 1);
        PVT_CHECK(check(edited, len - 1) != PV_OK, "without byte %zu", i);
        for (int k = 0; k < 4; k++) {
            edited[i] = " 0\n\""[k];
            memcpy(edited + i + 1, json + i, len - i);
            PVT_CHECK(check(edited, len + 1) != PV_OK, "'%c' before byte %zu", edited[i], i);
        }
    }
    free(edited);
    pvi_free(ctx, json);
}

/* A forger who recomputes the checksum still has to make the numbers agree. */
#define FORGE(say, change)                                                                                           \
    do {                                                                                                             \
        pvi_cert c = fixture_cert();                                                                                 \
        change;                                                                                                      \
        PVT_CHECK(forged(&c) == PV_E_VERIFY, "accepted: %s", #change);                                               \
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), say), "%s: %s", #change, pv_ctx_errmsg(ctx));                           \
    } while (0)

static void forged_numbers_are_refused(void **state)
{
    (void)state;
    FORGE("more than the claimed", c.epsilon = 1.0);
    FORGE("more than the claimed", c.epsilon = fixture_epsilon(32.5, 100, 1e-5) * (1 - 2e-9));
    FORGE("epsilon is not", c.epsilon = INFINITY);
    FORGE("epsilon is not", c.epsilon = NAN);
    FORGE("epsilon is not", c.epsilon = -1);
    FORGE("delta is not", c.delta = 0);
    FORGE("delta is not", c.delta = 1);
    FORGE("delta is not", c.delta = -1e-5);
    FORGE("delta is not", c.delta = NAN);
    FORGE("more than the claimed", (c.delta = 1e-7, c.delta_draws = 1e-7 / 1024,
                                    c.settings = fixture_with(FIXTURE_SETTINGS, "budget.delta", "\"auto\"")));
    FORGE("delta_draws is not", c.delta_draws = 0);
    FORGE("delta_draws is not", c.delta_draws = NAN);
    FORGE("(replace)", c.epsilon_replace = fixture_epsilon(16.25, 100, 1e-5) * (1 - 2e-9));
    FORGE("epsilon_replace is below", c.epsilon_replace = c.epsilon * 0.5);
    FORGE("epsilon_replace is below", c.epsilon_replace = NAN);
    FORGE("noise_multiplier is not", (c.noise_multiplier = 33, c.noise_stddev = 33));
    FORGE("noise_multiplier is not", (c.noise_multiplier = 32, c.noise_stddev = 32));
    FORGE("noise_stddev is not", c.noise_multiplier = 33);
    FORGE("noise_stddev is not", c.noise_stddev = 33);
    FORGE("finite and above 0", c.noise_stddev = NAN);
    FORGE("finite and above 0", (c.noise_multiplier = 0, c.noise_stddev = 0));
    FORGE("finite and above 0", c.sensitivity = INFINITY);
    FORGE("finite and above 0", c.clip_norm = -1);
    FORGE("finite and above 0", c.row_norm = 0);
    FORGE("sensitivity does not follow", (c.sensitivity = 0.5, c.noise_stddev = 16.25));
    FORGE("sensitivity does not follow", c.rounding_allowance = 0.5);
    FORGE("sensitivity does not follow", (c.clip_norm = c.clip_gradient = 2, c.replace_change = 4));
    FORGE("rounding_allowance is below", (c.sensitivity = 0.5, c.noise_stddev = 16.25, c.rounding_allowance = -0.5));
    FORGE("power of two", c.grid_spacing = 3e-5);
    FORGE("power of two", c.grid_spacing = 0);
    FORGE("power of two", c.grid_spacing = NAN);
    FORGE("does not pay", c.grid_spacing = 0x1p-20);
    FORGE("out of range", c.rows = 0);
    FORGE("out of range", c.features = 0);
    FORGE("out of range", c.queries = -1);
    FORGE("does not count as many", c.queries = 99);
    FORGE("does not count as many", c.queries = 101);
    FORGE("queries is 99", (c.queries = 99, c.kinds[0].count = 99));
    FORGE("queries is 101", (c.queries = 101, c.kinds[0].count = 101));
    FORGE("does not count as many", c.kinds[0].count = 99);
    FORGE("does not count as many", c.kinds[0].count = INT64_MAX);
    FORGE("does not count as many", c.n_kinds = 0);
    FORGE("a kind that the optimizer does not ask for", c.kinds[0].kind = "selection");
    FORGE("between 0 and clip_norm", c.clip_gradient = 1.5);
    FORGE("between 0 and clip_norm", c.clip_gradient = -1);
    FORGE("between 0 and clip_norm", c.clip_gradient = NAN);
    FORGE("clip_norm_gradient is not clip_norm", c.clip_gradient = 0.5);
    FORGE("accuracy of the draws", (c.epsilon = c.epsilon_replace = 40, c.delta_draws = 0));
    FORGE("a row is exposed outright", c.mechanism = "ball");
    FORGE("replace_change does not follow", c.replace_change = 1.5);
    FORGE("replace_change does not follow", c.replace_change = NAN);
    FORGE("sensitivity does not follow", c.clip_norm = 2);
}

static void forged_names_are_refused(void **state)
{
    (void)state;
    FORGE("unknown accountant no-such", c.accountant = "no-such");
    FORGE("unknown accountant no-such", c.accountant_replace = "no-such");
    FORGE("accountant are missing", c.accountant = NULL);
    FORGE("unknown mechanism no-such", (c.mechanism = "no-such", c.settings = "{}"));
    FORGE("are missing", c.mechanism = NULL);
    FORGE("are missing", c.model = NULL);
    FORGE("are missing", c.optimizer = NULL);
    FORGE("are missing", c.sampler = NULL);
    FORGE("unknown sampler", c.sampler = "some");
    FORGE("are missing", c.settings = NULL);
    FORGE("are missing", c.data_digest = NULL);
    FORGE("64 hexadecimal digits", c.data_digest = "0123");
    FORGE("64 hexadecimal digits", c.data_salt = NULL);
    FORGE("64 hexadecimal digits", c.weights_digest = NULL);
    FORGE("64 hexadecimal digits", c.header_digest = "");
    FORGE("gives a reason", c.why_not = "test seed");
    FORGE("NOT PRIVATE: no reason", c.is_private = false);
    FORGE("NOT PRIVATE: privacy=off", (c.is_private = false, c.why_not = "privacy=off"));
}

static void forged_settings_are_refused(void **state)
{
    (void)state;
    static const char *const other[][2] = {
        { "model", "\"squared\"" }, { "mechanism", "\"ball\"" }, { "budget.relation", "\"replace\"" },
        { "privacy", "\"off\"" },   { "budget.delta", "1e-06" },
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        FORGE("is not what the setting", c.settings = fixture_with(FIXTURE_SETTINGS, other[i][0], other[i][1]));
    FORGE("batch is not what the setting sampler.batch says",
          c.settings = fixture_with(FIXTURE_SETTINGS, "sampler.batch", "500"));
    FORGE("sampler is not what the setting sampler says", c.batch = 10000);
    FORGE("queries is not what the setting optimizer.steps says",
          c.settings = fixture_with(FIXTURE_SETTINGS, "optimizer.steps", "101"));
    FORGE("releases is not what the setting optimizer.steps says",
          c.settings = fixture_with(FIXTURE_SETTINGS, "optimizer.steps", "99"));
    FORGE("noise_multiplier is not", c.settings = fixture_with(FIXTURE_SETTINGS, "budget.noise_multiplier", "16"));
    FORGE("clip_norm is not what the setting clip says", c.settings = fixture_with(FIXTURE_SETTINGS, "clip", "0.5"));
    FORGE("epsilon is not what the setting budget.epsilon says",
          c.settings = fixture_with(FIXTURE_SETTINGS, "budget.epsilon", "0.5"));
    FORGE("row_norm is not what the setting data.row_norm says",
          (c.row_norm = 7, c.settings = fixture_with(FIXTURE_SETTINGS, "data.row_norm", "1")));
    static const pv_event faint = { .kind = PV_EV_GAUSSIAN, .a = 1e6 }, faint2 = { .kind = PV_EV_GAUSSIAN, .a = 5e5 };
    static const pv_event quiet[2] = { { .kind = PV_EV_GAUSSIAN, .a = 32.5, .next = &quiet[1] },
                                       { .kind = PV_EV_REPEAT, .n = 99, .sub = &faint } };
    static const pv_event quiet2[2] = { { .kind = PV_EV_GAUSSIAN, .a = 16.25, .next = &quiet2[1] },
                                        { .kind = PV_EV_REPEAT, .n = 99, .sub = &faint2 } };
    static const pv_event loud = { .kind = PV_EV_SEQ, .sub = quiet }, loud2 = { .kind = PV_EV_SEQ, .sub = quiet2 };
    FORGE("noise_multiplier_max is not what the setting optimizer.noise says",
          (c.events = &loud, c.events_replace = &loud2, c.noise_multiplier_max = 1e6));
    FORGE("unknown optimizer", (c.optimizer = "no-such", c.settings = "{}"));
    FORGE("no proof", (c.optimizer = "fw-l1", c.settings = "{}", c.kinds[0].kind = "selection"));
    FORGE("no proof", (c.optimizer = "prgd", c.settings = "{}", c.kinds[0].kind = "gradient of one row"));
    pvi_cert c = fixture_cert();
    c.settings = fixture_with(FIXTURE_SETTINGS, "budget.delta", "\"auto\"");
    PVT_OK(forged(&c));
}

/* From version 3 on every setting is there, none else, and each has a value that it can have. */
static void settings_that_no_run_has(void **state)
{
    (void)state;
    static const char *const refused[][3] = {
        { "budget.epsilon", "1e15", "between" },
        { "budget.epsilon", "\"auto\"", "between" },
        { "budget.epsilon", "\"2\"", "another type" },
        { "budget.delta", "1", "between" },
        { "data.bias", "-1", "between" },
        { "data.bias", "null", "another type" },
        { "data.chunk", "17.5", "between" },
        { "data.norm", "\"x\"", "is needed" },
        { "data.norm", "1", "another type" },
        { "data.format", "\"x\"", "names no reader" },
        { "data.labels", "[]", "another type" },
        { "data.labels", "true", "another type" },
        { "sampler", "\"x\"", "is needed" },
        { "sampler", "5", "another type" },
        { "privacy", "1", "another type" },
        { "model", "\"x\"", "model names none" },
        { "model", "\"glm\"", "model names no loss" },
        { "model", "null", "another type" },
        { "reg", "\"x\"", "reg names none" },
        { "reg", "\"l2\"", "reg.lambda is missing" },
        { "set", "\"x\"", "set names none" },
        { "set", "\"l1ball\"", "set.radius is missing" },
        { "mechanism", "\"auto\"", "names none" },
        { "accountant", "\"x\"", "names none" },
        { "accountant", "\"auto\"", "names none" },
        { "optimizer", "\"auto\"", "optimizer names none" },
        { "optimizer", "\"fw-l2\"", "momentum is none" },
        { "optimizer.momentum", "1e308", "between" },
        { "optimizer.momentum", "-0.5", "between" },
        { "optimizer.step", "0", "between" },
        { "optimizer.step", "-1", "between" },
        { "optimizer.steps", "\"auto\"", "is auto" },
        { "optimizer.output", "\"first\"", "is needed" },
        { "data.chunk", "8,\"run.seed\":1", "data.chunk" },
        { "data.chunk", "16,\"run.seed\":1", "run.seed is none" },
        { "data.chunk", "16,\"data.path\":\"x\"", "data.path is none" },
        { "data.chunk", "16,\"other\":7", "other is none" },
        { "data.chunk", "16,\"model.layers\":\"dense\"", "model.layers is none" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        FORGE(refused[i][2], c.settings = fixture_with(FIXTURE_SETTINGS, refused[i][0], refused[i][1]));
    FORGE("is missing", c.settings = "{}");
    FORGE("model is missing", c.settings = "{" FIXTURE_PGD "}");
    FORGE("optimizer.steps is missing", c.settings = "{" FIXTURE_COMMON "}");
    pvi_cert c = fixture_cert();
    static const char *const may[][2] = { { "optimizer.step", "1e30" },
                                          { "optimizer.step", "\"auto\"" },
                                          { "data.chunk", "1e3" } };
    for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
        c.settings = fixture_with(FIXTURE_SETTINGS, may[i][0], may[i][1]);
        PVT_CHECK(forged(&c) == PV_OK, "%s: %s", may[i][0], pv_ctx_errmsg(ctx));
    }
}

/* One setting after the other left out. */
static void every_setting_is_there(void **state)
{
    (void)state;
    int left_out = 0;
    for (const char *at = &FIXTURE_SETTINGS[1], *end; *at; at = end + 1, left_out++) {
        char settings[4096];
        end = at + strcspn(at, ",}");
        pvi_cert c = fixture_cert();
        snprintf(settings, sizeof settings, "%.*s%s", (int)(at - FIXTURE_SETTINGS) - (*end == '}'), FIXTURE_SETTINGS,
                 *end == '}' ? "}" : end + 1);
        c.settings = settings;
        PVT_CHECK(forged(&c) == PV_E_VERIFY, "accepted: %s", settings);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "is missing"), "%s", pv_ctx_errmsg(ctx));
        if (*end == '}') break;
    }
    PVT_IS(left_out, 37);
}

/* The settings of no plug-in are the planner's. */
static void general_settings_are_those_of_a_plan(void **state)
{
    (void)state;
    const pv_param *c = pvi_cert_general;
    for (const pv_param *p = pvi_settings_params; p->key; p++) {
        if (pvi_cert_is_local(p->key)) continue;
        PVT_CHECK(c->key, "%s is missing", p->key);
        assert_string_equal(c->key, p->key);
        PVT_CHECK(c->type == p->type && c->lo == p->lo && c->hi == p->hi && isnan(c->def) == isnan(p->def), "%s",
                  p->key);
        PVT_CHECK(!c->choices == !p->choices && (!c->choices || strcmp(c->choices, p->choices) == 0), "%s", p->key);
        c++;
    }
    PVT_TRUE(!c->key);
}

static void forged_events_are_refused(void **state)
{
    (void)state;
    static const pv_event g = { .kind = PV_EV_GAUSSIAN, .a = 32.5 }, none = { .kind = PV_EV_NONE };
    static const pv_event half = { .kind = PV_EV_GAUSSIAN, .a = 16.25 }, l = { .kind = PV_EV_LAPLACE, .a = 32.5 };
    static const pv_event more = { .kind = PV_EV_REPEAT, .n = 101, .sub = &g };
    static const pv_event zero = { .kind = PV_EV_REPEAT, .n = 100, .sub = &g };
    static const pv_event lap = { .kind = PV_EV_REPEAT, .n = 100, .sub = &l };
    static const pv_event more_half = { .kind = PV_EV_REPEAT, .n = 101, .sub = &half };
    static const pv_event parts[2] = { { .kind = PV_EV_REPEAT, .n = 50, .sub = &g, .next = &parts[1] },
                                       { .kind = PV_EV_REPEAT, .n = 50, .sub = &g } };
    static const pv_event mixed[2] = { { .kind = PV_EV_REPEAT, .n = 99, .sub = &g, .next = &mixed[1] },
                                       { .kind = PV_EV_GAUSSIAN, .a = 40 } };
    static const pv_event lower[2] = { { .kind = PV_EV_GAUSSIAN, .a = 20, .next = &lower[1] },
                                       { .kind = PV_EV_REPEAT, .n = 99, .sub = &g } };
    static const pv_event seq = { .kind = PV_EV_SEQ, .sub = parts }, odd = { .kind = PV_EV_SEQ, .sub = mixed };
    static const pv_event odd2 = { .kind = PV_EV_SEQ, .sub = lower }, first = { .kind = PV_EV_SEQ, .sub = &parts[1] };
    static const pv_event huge = { .kind = PV_EV_REPEAT, .n = 1LL << 45, .sub = &g };
    static const pv_event sampled = { .kind = PV_EV_POISSON, .a = 0.5, .sub = &g };
    static const pv_event again = { .kind = PV_EV_POISSON, .a = 0.5, .sub = &sampled };
    static const pv_event twice = { .kind = PV_EV_REPEAT, .n = 100, .sub = &again };
    static const pv_event poisson = { .kind = PV_EV_REPEAT, .n = 100, .sub = &sampled };
    static const pv_event part = { .kind = PV_EV_CYCLIC, .n = 4, .sub = &g };
    static const pv_event turns = { .kind = PV_EV_REPEAT, .n = 100, .sub = &part };
    static const pv_event nothing = { .kind = PV_EV_POISSON, .a = 0.5, .sub = &none };
    static const pv_event empty = { .kind = PV_EV_REPEAT, .n = 100, .sub = &nothing };
    FORGE("but the events hold 101", c.events = &more);
    FORGE("but the events hold 0", c.events = &none);
    FORGE("but the events hold 35184372088832", c.events = &huge);
    FORGE("recorded mechanism", c.events = &lap);
    FORGE("noise_multiplier is not", c.events = &odd);
    FORGE("noise_multiplier is not", c.events = &odd2);
    FORGE("events or the accountant are missing", c.events = NULL);
    FORGE("under replace are missing", c.events_replace = NULL);
    FORGE("not the same releases", c.events = &seq);
    FORGE("another sampler", c.events = &poisson);
    FORGE("another sampler", c.sampler = "poisson");
    FORGE("another sampler", c.sampler = "fixed size");
    FORGE("another sampler", (c.events = &poisson, c.sampler = "fixed size"));
    FORGE("another sampler", (c.events = &twice, c.sampler = "poisson"));
    FORGE("another sampler", (c.events = &poisson, c.sampler = "poisson")); /* half the rows, but the batch is all */
    FORGE("not the same releases", (c.events = &poisson, c.sampler = "poisson", c.batch = 10000));
    FORGE("recorded mechanism", (c.events = &empty, c.sampler = "poisson", c.batch = 10000));
    FORGE("another sampler", c.sampler = "cyclic");
    FORGE("another sampler", c.events = &turns);
    FORGE("another sampler", (c.events = &turns, c.sampler = "cyclic")); /* quarters, but the batch is all */
    FORGE("another sampler", (c.events = &turns, c.sampler = "cyclic", c.batch = 10000));
    FORGE("not the same releases", (c.events = &turns, c.sampler = "cyclic", c.batch = 5000));
    FORGE("batch is not", c.batch = 20001);
    FORGE("batch is not", c.batch = NAN);
    FORGE("not the same releases", (c.events = &seq, c.events_replace = &first));
    FORGE("not the same releases", (c.events_replace = &more_half, c.epsilon_replace = 100));
    FORGE("against the change of a row", c.events_replace = &zero); /* replace may not use zero-out's sensitivity */
    FORGE("replace_is_group_bound", c.replace_is_group_bound = true);
    FORGE("replace_is_group_bound", (c.replace_is_group_bound = true, c.events_replace = c.events));
}

/* A sequence, the same under both relations but for the noise. */
static void sequences(void **state)
{
    (void)state;
    static const pv_event g = { .kind = PV_EV_GAUSSIAN, .a = 32.5 }, half = { .kind = PV_EV_GAUSSIAN, .a = 16.25 };
    static const pv_event parts[3] = { { .kind = PV_EV_REPEAT, .n = 60, .sub = &g, .next = &parts[1] },
                                       { .kind = PV_EV_NONE, .next = &parts[2] },
                                       { .kind = PV_EV_REPEAT, .n = 40, .sub = &g } };
    static const pv_event halves[3] = { { .kind = PV_EV_REPEAT, .n = 60, .sub = &half, .next = &halves[1] },
                                        { .kind = PV_EV_NONE, .next = &halves[2] },
                                        { .kind = PV_EV_REPEAT, .n = 40, .sub = &half } };
    static const pv_event seq = { .kind = PV_EV_SEQ, .sub = parts },
                          seq_replace = { .kind = PV_EV_SEQ, .sub = halves };
    pvi_cert c = fixture_cert();
    c.events = &seq;
    c.events_replace = &seq_replace;
    PVT_CHECK(forged(&c) == PV_OK, "%s", pv_ctx_errmsg(ctx));
}

/* Poisson sampling; under replace the group bound, from the same events. */
static void sampled(void **state)
{
    (void)state;
    static const pv_event g = { .kind = PV_EV_GAUSSIAN, .a = 2 };
    static const pv_event one = { .kind = PV_EV_POISSON, .a = 0.01, .sub = &g };
    static const pv_event other = { .kind = PV_EV_POISSON, .a = 0.02, .sub = &g };
    static const pv_event all = { .kind = PV_EV_REPEAT, .n = 100, .sub = &one };
    static const pv_event more = { .kind = PV_EV_REPEAT, .n = 100, .sub = &other };
    pvi_cert c = fixture_cert();
    pvi_cost cost, cost_replace;
    if (pvi_account(ctx, "best", PV_REL_ZERO_OUT, &all, c.delta - c.delta_draws, &cost) != PV_OK) {
        PVT_SKIP("no accountant for Poisson sampling is registered");
        return;
    }
    PVT_OK(pvi_account(ctx, "best", PV_REL_REPLACE, &all, c.delta - c.delta_draws, &cost_replace));
    c.sampler = "poisson";
    const char *const own = fixture_with(FIXTURE_SETTINGS, "sampler", "\"poisson\"");
    c.settings = fixture_with(own, "budget.epsilon", "1000");
    c.batch = 200;
    c.events = c.events_replace = &all;
    c.noise_multiplier = c.noise_stddev = 2;
    c.replace_is_group_bound = cost_replace.group_bound;
    c.accountant = cost.accountant;
    c.accountant_replace = cost_replace.accountant;
    c.epsilon = pvi_cert_claim(cost.epsilon, INFINITY);
    c.epsilon_replace = pvi_cert_claim(cost_replace.epsilon, INFINITY);
    PVT_TRUE(cost_replace.group_bound);
    PVT_CHECK(forged(&c) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    const char *const mine = c.settings;
    static const char *const others[][2] = { { "sampler", "\"cyclic\"" },
                                             { "sampler", "\"fixed\"" },
                                             { "sampler", "\"full\"" },
                                             { "sampler", "\"auto\"" },
                                             { "sampler.batch", "100" } };
    for (int i = 0; i < 5; i++) {
        c.settings = fixture_with(mine, others[i][0], others[i][1]);
        PVT_IS(forged(&c), PV_E_VERIFY);
        PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "is not what the setting sampler"));
    }
    c.settings = fixture_with(FIXTURE_SETTINGS, "sampler.batch", "200");
    c.settings = fixture_with(c.settings, "sampler", "\"poisson\"");
    c.settings = fixture_with(c.settings, "budget.epsilon", "1000");
    PVT_CHECK(forged(&c) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    c.batch = 400;
    c.events = &more; /* twice the rate costs more than was claimed */
    PVT_IS(forged(&c), PV_E_VERIFY);
    c.events_replace = &more;
    PVT_IS(forged(&c), PV_E_VERIFY);
    c.events = c.events_replace = &all;
    c.batch = 200;
    c.replace_is_group_bound = false; /* would need the noise of replace */
    PVT_IS(forged(&c), PV_E_VERIFY);
}

/* A selection of epsilon e counts as noise of multiplier 1/e. */
static void selections(void **state)
{
    (void)state;
    static const pv_event one = { .kind = PV_EV_SELECT, .a = 0.015625 },
                          other = { .kind = PV_EV_SELECT, .a = 0.03125 };
    static const pv_event all = { .kind = PV_EV_REPEAT, .n = 100, .sub = &one };
    static const pv_event all_replace = { .kind = PV_EV_REPEAT, .n = 100, .sub = &other };
    pvi_cert c = fixture_cert();
    c.settings =
        "{" FIXTURE_COMMON ",\"optimizer.steps\":100,\"optimizer.output\":\"last\",\"optimizer.step\":\"auto\","
        "\"optimizer.calibration\":\"default\"}";
    c.settings = fixture_with(c.settings, "optimizer", "\"fw-l1\"");
    c.settings = fixture_with(c.settings, "mechanism", "\"select\"");
    c.settings = fixture_with(c.settings, "budget.epsilon", "2");
    c.optimizer = "fw-l1";
    c.mechanism = "select";
    c.kinds[0].kind = "selection";
    c.assumptions = &pv_mechanism_select.caveat;
    c.n_assumptions = 1;
    c.accountant = "zcdp";
    c.events = &all;
    c.events_replace = &all_replace;
    c.noise_multiplier = c.noise_stddev = 64;
    c.epsilon = 2;
    c.epsilon_replace = 4;
    PVT_CHECK(forged(&c) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    c.events_replace = &all; /* the same as if a replaced row moved a score no further */
    PVT_IS(forged(&c), PV_E_VERIFY);
    c.events_replace = &all_replace;
    c.noise_multiplier = c.noise_stddev = 128;
    PVT_IS(forged(&c), PV_E_VERIFY);
}

/* A replace headline: nothing beside it, and the sensitivity is twice the clipping norm. */
static void replace_headline(void **state)
{
    (void)state;
    pvi_cert c = fixture_cert();
    c.relation = PV_REL_REPLACE;
    c.settings = fixture_with(FIXTURE_SETTINGS, "budget.relation", "\"replace\"");
    PVT_IS(forged(&c), PV_E_VERIFY); /* the sensitivity of zero-out */
    c.sensitivity = 2.0;
    c.noise_stddev = 65.0;
    PVT_CHECK(forged(&c) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    c.replace_is_group_bound = true;
    PVT_IS(forged(&c), PV_E_VERIFY);
    c.replace_is_group_bound = false;
    char *json = written(&c);
    PVT_TRUE(strstr(json, "\"events_replace\": null") &&
             strstr(json, "putting any other row in the place of one row"));
    pvi_free(ctx, json);
}

/* Replaces `from` once and repairs the checksum, which is all a text editor cannot do. */
static char *edit(const char *json, const char *from, const char *to)
{
    const char *at = strstr(json, from);
    PVT_CHECK(at != NULL, "no %s", from);
    pvi_str b = { .ctx = ctx };
    char hex[65];
    uint8_t hash[32];
    pvi_str_add(&b, json, (size_t)(at - json));
    pvi_str_puts(&b, to);
    pvi_str_puts(&b, at + strlen(from));
    b.len = (size_t)(strstr(b.s, ",\n  \"checksum\"") - b.s);
    pvi_hash(NULL, 0, b.s, b.len, hash);
    pvi_hex(hash, 32, hex);
    pvi_str_printf(&b, ",\n  \"checksum\": \"%s\"\n}\n", hex);
    return b.s;
}

static void edited_text_with_a_repaired_checksum(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *say;
    } edits[] = {
        { "\"delta\"", "\"delta_\"", "unknown field" },
        { "  \"rows\": 20000,\n", "", "rows is missing" },
        { "\"rows\": 20000", "\"rows\": 20000,\n  \"rows\": 20000", "same key twice" },
        { "\"rows\": 20000", "\"rows\": 2e4", "whole number" },
        { "\"rows\": 20000", "\"rows\": \"many\"", "whole number" },
        { "\"private\": true", "\"private\": 1", "true or false" },
        { "\"version\": 3", "\"version\": 5", "version 5" },
        { "\"version\": 3", "\"version\": 1", "version 1" },
        { "\"version\": 3", "\"version\": 2", "unknown field clip_norm_gradient" },
        { "  \"version\": 3,\n", "", "version is missing" },
        { "\"kind\": \"gradient\"", "\"kind\": \"gradients\"", "a known kind of release" },
        { "\"count\": 100", "\"count\": 0", "a count of at least 1" },
        { "\"count\": 100", "\"count\": 100,\n      \"of\": 1", "a count of at least 1" },
        { "\"releases\": [", "\"releases\": [3,", "a kind and a count" },
        { "privet-certificate", "other-certificate", "not a privet certificate" },
        { "\"relation\": \"zero-out\"", "\"relation\": \"add\"", "zero-out or replace" },
        { "\"delta\": 1e-05", "\"delta\": 0.00001", "not as privet writes it" },
        { "\"delta\": 1e-05", "\"delta\": \"1e-05\"", "a number" },
        { "by a factor of at most", "by a mere factor of at most", "not as privet writes it" },
        { "Other runs", "Older runs", "not as privet writes it" },
        { "\"clip_norm\": 1", "\"clip_norm\": 1.0", "not as privet writes it" },
        { "\"kind\": \"gaussian\"", "\"kind\": \"gauss\"", "kind" },
        { "\"model\": \"logistic\"", "\"model\": 3", "text" },
        { "\"settings\": {", "\"settings\": [{", "" },
        { "\"optimizer.steps\": 100", "\"optimizer.steps\": 100.0", "not as privet writes it" },
        { "\"assumptions\": [", "\"assumptions\": [7,", "text is needed" },
        { "\n  \"rows\"", "\n   \"rows\"", "not as privet writes it" },
        { "\"epsilon\": ", "\"epsilon\": 0", "" },
    };
    const pvi_cert c = fixture_cert();
    char *json = written(&c);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *e = edit(json, edits[i].from, edits[i].to);
        PVT_CHECK(check(e, strlen(e)) != PV_OK, "accepted: %s", edits[i].to);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), edits[i].say), "%s: %s", edits[i].to, pv_ctx_errmsg(ctx));
        pvi_free(ctx, e);
    }
    char *same = edit(json, "logistic", "logistic");
    PVT_OK(check(same, strlen(same)));
    pvi_free(ctx, same);
    pvi_free(ctx, json);
}

static void not_private_says_so(void **state)
{
    (void)state;
    pvi_cert c = { .why_not = "privacy=off", .epsilon = INFINITY, .delta = NAN, .relation = PV_REL_ZERO_OUT };
    char *json = written(&c);
    PVT_TRUE(strstr(json, "NOT PRIVATE (privacy=off)") && strstr(json, "\"private\": false"));
    PVT_IS(check(json, strlen(json)), PV_E_VERIFY);
    PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "NOT PRIVATE: privacy=off"), "%s", pv_ctx_errmsg(ctx));
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_cert_parse(ctx, a, "c", json, strlen(json), &c)); /* readable, so that a model file can carry it */
    PVT_TRUE(!c.is_private && c.epsilon == INFINITY && isnan(c.delta));
    pvi_arena_free(a);
    pvi_free(ctx, json);
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    const pvi_cert c = fixture_cert();
    char *before = written(&c);
    static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8" };
    bool found = false;
    for (int i = 0; i < 3 && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found) {
        pvi_free(ctx, before);
        PVT_SKIP("no locale with a decimal comma is installed");
        return;
    }
    char *after = written(&c);
    PVT_OK(check(before, strlen(before)));
    setlocale(LC_ALL, "C");
    assert_string_equal(before, after);
    pvi_free(ctx, before);
    pvi_free(ctx, after);
}

static void claims_sit_above_the_cost(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        const double cost = exp(60.0 * pvt_uniform(&seed) - 30.0), claim = pvi_cert_claim(cost, INFINITY);
        char text[32];
        PVT_CHECK(claim >= cost * (1 + 0.99e-9) && claim <= cost * (1 + 1.1e-5), "%.17g for %.17g", claim, cost);
        snprintf(text, sizeof text, "%.5e", claim);
        PVT_CHECK(strtod(text, NULL) == claim, "%.17g has more than six digits", claim);
        PVT_TRUE(pvi_cert_claim(cost, cost) == cost);
        PVT_TRUE(pvi_cert_claim(cost, cost * 0.5) == claim); /* over the limit already: no hiding it */
    }
    PVT_TRUE(pvi_cert_claim(0.9999997193311031, 1.0) == 1.0);
    PVT_TRUE(pvi_cert_claim(1.0, INFINITY) == 1.00001);
    PVT_TRUE(pvi_cert_claim(0.0, 1.0) == 0.0 && pvi_cert_claim(INFINITY, 1.0) == INFINITY);
    PVT_TRUE(isnan(pvi_cert_claim(NAN, 1.0)) && pvi_cert_claim(1e-310, 1.0) > 1e-310);
}

static void delta_above_one_over_n_is_pointed_out(void **state)
{
    (void)state;
    pvi_cert c = fixture_cert();
    char *json = written(&c);
    PVT_TRUE(!strstr(json, "larger than advisable"));
    pvi_free(ctx, json);
    c.rows = 100000;
    json = written(&c);
    PVT_TRUE(strstr(json, "larger than advisable"));
    pvi_free(ctx, json);
}

static void weak_promises_are_pointed_out(void **state)
{
    (void)state;
    static const struct {
        double epsilon;
        const char *factor;
        bool weak;
    } cases[] = { { 1, "factor of at most 2.719 (e^1)", false },
                  { 0.001, "factor of at most 1.002 (e^0.001)", false },
                  { 0, "factor of at most 1.001 (e^0)", false },
                  { 8, "factor of at most 2981 (e^8)", false },
                  { 8.5, "factor of at most 4915 (e^8.5)", true },
                  { 13, "factor of at most 10^6 (e^13), which rules out next to nothing, apart", true },
                  { 1000, "factor of at most 10^435 (e^1000), which rules out next to nothing, apart", true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pvi_cert c = fixture_cert();
        c.epsilon = cases[i].epsilon;
        char *json = written(&c);
        PVT_CHECK(strstr(json, cases[i].factor), "%s: %s", cases[i].factor, json);
        PVT_IS(strstr(json, "which is weak") != NULL, cases[i].weak);
        pvi_free(ctx, json);
    }
}

static void verify_reads_files(void **state)
{
    (void)state;
    char dir[] = "/tmp/privet-test-XXXXXX", path[64], *json, *report;
    const pvi_cert c = fixture_cert();
    PVT_TRUE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/c.json", dir);
    json = written(&c);
    PVT_OK(pvi_file_write(ctx, path, json, strlen(json)));
    PVT_OK(pv_verify(ctx, path, NULL));
    PVT_OK(pv_verify(ctx, path, &report));
    PVT_TRUE(strstr(report, "\"verified\": true") && strstr(report, "\"epsilon_recomputed\": ") &&
             strstr(report, "\"relation\": \"zero-out\""));
    pv_string_free(ctx, report);
    PVT_OK(pvi_file_write(ctx, path, json, strlen(json) - 5));
    PVT_IS(pv_verify(ctx, path, &report), PV_E_VERIFY);
    PVT_TRUE(report == NULL && strncmp(pv_ctx_errmsg(ctx), path, strlen(path)) == 0);
    PVT_OK(pvi_file_write(ctx, path, "", 0));
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
    unlink(path);
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_IO);
    PVT_IS(pv_verify(ctx, dir, NULL), PV_E_IO);
    PVT_IS(pv_verify(ctx, "/dev/zero", NULL), PV_E_IO);
    PVT_IS(pv_verify(NULL, path, NULL), PV_E_ARG);
    PVT_IS(pv_verify(ctx, NULL, NULL), PV_E_ARG);
    pvi_free(ctx, json);
    rmdir(dir);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        CASE(holds_and_round_trips),
        CASE(other_versions_of_the_program_are_read),
        CASE(checksum_is_the_documented_one),
        CASE(every_changed_byte_is_refused),
        CASE(every_truncation_deletion_and_insertion_is_refused),
        CASE(forged_numbers_are_refused),
        CASE(forged_names_are_refused),
        CASE(forged_settings_are_refused),
        CASE(settings_that_no_run_has),
        CASE(every_setting_is_there),
        CASE(general_settings_are_those_of_a_plan),
        CASE(forged_events_are_refused),
        CASE(sequences),
        CASE(sampled),
        CASE(selections),
        CASE(replace_headline),
        CASE(edited_text_with_a_repaired_checksum),
        CASE(not_private_says_so),
        CASE(the_locale_does_not_matter),
        CASE(claims_sit_above_the_cost),
        CASE(delta_above_one_over_n_is_pointed_out),
        CASE(weak_promises_are_pointed_out),
        CASE(verify_reads_files),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
