/* synth.c - the demonstration table: hospital stays, and whether the patient came back within 30 days.
 *
 * Nothing in it is real.  Patients come back: each has 1 to MOST stays, somewhere in the file, with one sex, age and
 * build and a frailty that no column shows.  Other columns are drawn for every stay; the label follows
 *
 *   (1) z = b + sum_j effect_j(column_j) + interactions + frailty,   P(readmitted) = 1 / (1 + exp(-s z))
 *
 * Most effects are straight lines.  That of age is curved, lowest at 58, that of the BMI has a bend, and there are
 * two interactions (short stays after an emergency are a bad sign): a linear model has something to learn and
 * something it cannot reach.  The same seed writes the same bytes; no patient is in both files.
 * A few values are missing, some texts are quoted: what a real export looks like. */
#include "data/synth.h"

#include <errno.h>
#include <sys/stat.h>

static const char *const sexes[] = { "female", "male" };
static const char *const admissions[] = { "emergency", "urgent", "elective" };
static const char *const wards[] = { "cardiology", "surgery", "internal", "neurology", "\"geriatrics, acute\"" };
static const char *const discharges[] = { "home", "rehabilitation", "care home", "against advice" };

enum { MOST = 12, DECLARED = 8 }; /* stays of a patient; how many of them the schema lets count */

typedef struct patient {
    int age, sex, stays;
    double bmi, creatinine, frailty;
} patient;

typedef struct stay {
    int age, days, visits, medications, sex, admission, ward, discharge;
    double bmi, creatinine, frailty;
    bool bmi_missing, ward_missing, readmitted;
} stay;

static double within(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static int pick(uint64_t *s, const double *weight, int n)
{
    double u = pvi_synth_uniform(s);
    for (int i = 0; i < n - 1; i++) {
        u -= weight[i];
        if (u < 0) return i;
    }
    return n - 1;
}

/* ---- one patient, one stay --------------------------------------------------------------------------- */

/* The patient with this number: the same for every stay. */
static patient draw_patient(uint64_t seed, int64_t number)
{
    uint64_t s = seed ^ (uint64_t)number * 0xD1B54A32D192ED03u;
    s = pvi_synth_next(&s);
    patient w = { .age = (int)within(64 + 17 * pvi_synth_normal(&s), 18, 100), .sex = (int)(pvi_synth_next(&s) & 1) };
    w.stays = (int)within(1 - 1.6 * log(pvi_synth_uniform(&s)), 1, MOST);
    w.bmi = 27 + 5 * pvi_synth_normal(&s);
    w.creatinine = 0.05 + 0.3 * pvi_synth_normal(&s) + 0.004 * (w.age - 60);
    w.frailty = 0.3 * pvi_synth_normal(&s);
    return w;
}

static void draw_columns(uint64_t *s, const patient *who, stay *p)
{
    static const double admission[] = { 0.45, 0.25, 0.30 }, ward[] = { 0.24, 0.26, 0.30, 0.10, 0.10 };
    static const double discharge[] = { 0.66, 0.17, 0.14, 0.03 };
    p->age = who->age;
    p->sex = who->sex;
    p->frailty = who->frailty;
    p->admission = pick(s, admission, 3);
    p->ward = p->age > 80 && pvi_synth_uniform(s) < 0.5 ? 4 : pick(s, ward, 5);
    p->discharge = p->age > 75 && pvi_synth_uniform(s) < 0.35 ? 2 : pick(s, discharge, 4);
    p->days = (int)within(1 - 5 * log(pvi_synth_uniform(s)) + (p->ward == 4 ? 4 : 0), 0, 30);
    p->visits = (int)within(-1.6 * log(pvi_synth_uniform(s)), 0, 20);
    p->medications = (int)within(4 + 0.12 * p->age + 5 * pvi_synth_normal(s) + 1.5 * p->visits, 0, 60);
    p->bmi = within(who->bmi + pvi_synth_normal(s), 12, 70);
    p->creatinine = within(exp(who->creatinine + 0.18 * pvi_synth_normal(s)), 0.2, 12);
    p->bmi_missing = pvi_synth_uniform(s) < 0.04;
    p->ward_missing = pvi_synth_uniform(s) < 0.01;
}

/* s z of (1) */
static double logit(const stay *p)
{
    static const double admission[] = { 0.7, 0.2, -0.7 }, ward[] = { 0.2, -0.4, 0.1, 0.0, 0.3 };
    static const double discharge[] = { -0.5, 0.1, 0.5, 1.4 };
    const double far = p->age - 58; /* from the age of least risk */
    double z = -1.75 + 0.0018 * far * far + p->frailty + 0.55 * within(p->visits, 0, 8) +
               0.06 * (p->medications - 14) + 0.8 * (p->creatinine - 1.1);
    z += admission[p->admission] + ward[p->ward] + discharge[p->discharge] + (p->sex ? 0.1 : 0.0);
    z += 0.03 * fabs(p->bmi - 26) + 0.05 * (p->days - 5);
    if (p->admission == 0 && p->days < 3) z += 0.9;
    if (p->age > 75 && p->discharge == 0) z += 0.8;
    return 1.4 * z;
}

static void draw(uint64_t *s, const patient *who, stay *p)
{
    draw_columns(s, who, p);
    p->readmitted = pvi_synth_uniform(s) < 1.0 / (1.0 + exp(-logit(p)));
}

/* ---- files --------------------------------------------------------------------------------------------- */
static void put_row(pvi_atomic *f, int64_t id, const stay *p)
{
    pvi_atomic_fmt(f, "P%07lld,%d,%s,%s,%s,%d,%d,%d,", (long long)id, p->age, sexes[p->sex], admissions[p->admission],
                   p->ward_missing ? "?" : wards[p->ward], p->days, p->visits, p->medications);
    if (!p->bmi_missing) pvi_atomic_fmt(f, "%d.%d", (int)p->bmi, (int)(10 * p->bmi) % 10);
    pvi_atomic_fmt(f, ",%d.%02d,%s,%s\n", (int)p->creatinine, (int)(100 * p->creatinine) % 100,
                   discharges[p->discharge], p->readmitted ? "yes" : "no");
}

/* Whose stay each row is: patients 0, 1, ... as often as they come, in a random order. */
static void draw_owners(uint64_t seed, int64_t rows, int32_t *owner)
{
    uint64_t s = seed ^ 0xA0761D6478BD642Fu;
    int64_t n = 0;
    for (int32_t who = 0; n < rows; who++)
        for (int k = draw_patient(seed, who).stays; k > 0 && n < rows; k--) owner[n++] = who;
    for (int64_t i = rows - 1; i > 0; i--) {
        const int64_t k = (int64_t)(pvi_synth_next(&s) % (uint64_t)(i + 1));
        const int32_t keep = owner[i];
        owner[i] = owner[k];
        owner[k] = keep;
    }
}

static void put_rows(pvi_atomic *f, uint64_t seed, int64_t first, int64_t rows, const int32_t *owner)
{
    uint64_t s = seed;
    stay p;
    for (int64_t i = 0; i < rows; i++) {
        const patient who = draw_patient(seed, owner[i]);
        draw(&s, &who, &p);
        put_row(f, first + owner[i], &p);
    }
}

static pv_status write_table(pv_ctx *ctx, const char *path, uint64_t seed, int64_t first, int64_t rows)
{
    pvi_atomic a;
    int32_t *owner = pvi_alloc(ctx, sizeof *owner * (size_t)(rows + 1));
    if (!owner) return pvi_nomem(ctx);
    draw_owners(seed, rows, owner);
    pv_status s = pvi_atomic_open(ctx, path, &a);
    if (s != PV_OK) {
        pvi_free(ctx, owner);
        return s;
    }
    pvi_atomic_fmt(
        &a, "patient,age,sex,admission,ward,days,prior_visits,medications,bmi,creatinine,discharge,readmitted\n");
    put_rows(&a, seed, first, rows, owner);
    pvi_free(ctx, owner);
    return pvi_atomic_commit(&a);
}

static void put_number(pvi_jw *w, const char *name, double lo, double hi, const char *missing)
{
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "name", name);
    pvi_jw_str(w, "type", "number");
    pvi_jw_f64(w, "min", lo);
    pvi_jw_f64(w, "max", hi);
    if (missing) pvi_jw_str(w, "missing", missing);
    pvi_jw_close(w, '}');
}

static void put_person(pvi_jw *w, const char *name, int rows)
{
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "name", name);
    pvi_jw_str(w, "type", "person");
    pvi_jw_i64(w, "rows", rows);
    pvi_jw_close(w, '}');
}

static void put_words(pvi_jw *w, const char *name, const char *type, const char *const *words, int n)
{
    char text[64];
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "name", name);
    pvi_jw_str(w, "type", type);
    pvi_jw_open(w, "values", '[');
    for (int i = 0; i < n; i++) {
        const bool quoted = words[i][0] == '"';
        snprintf(text, sizeof text, "%.*s", (int)strlen(words[i]) - 2 * quoted, words[i] + quoted);
        pvi_jw_str(w, NULL, text);
    }
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}

static pv_status write_schema(pv_ctx *ctx, const char *path)
{
    static const char *const label[] = { "no", "yes" };
    pvi_str text = { .ctx = ctx };
    pvi_jw w = { .out = &text, .indent = 2 };
    char *json;
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "header", true);
    pvi_jw_raw(&w, "missing", "[\"\", \"?\"]");
    pvi_jw_open(&w, "columns", '[');
    put_person(&w, "patient", DECLARED);
    put_number(&w, "age", 18, 100, NULL);
    put_words(&w, "sex", "category", sexes, 2);
    put_words(&w, "admission", "category", admissions, 3);
    put_words(&w, "ward", "category", wards, 5);
    put_number(&w, "days", 0, 30, NULL);
    put_number(&w, "prior_visits", 0, 20, NULL);
    put_number(&w, "medications", 0, 60, NULL);
    put_number(&w, "bmi", 12, 70, "middle");
    put_number(&w, "creatinine", 0, 12, NULL);
    put_words(&w, "discharge", "category", discharges, 4);
    put_words(&w, "readmitted", "label", label, 2);
    pvi_jw_close(&w, ']');
    pvi_jw_close(&w, '}');
    pvi_str_puts(&text, "\n");
    pv_status s = pvi_str_take(&text, &json);
    if (s != PV_OK) return s;
    s = pvi_file_write(ctx, path, json, strlen(json));
    pvi_free(ctx, json);
    return s;
}

pv_status pvi_synth_folder(pv_ctx *ctx, const char *folder, int64_t rows, int64_t heldout_rows)
{
    if (!*folder || rows < 1 || heldout_rows < 0 || rows > 10000000 || heldout_rows > 10000000)
        return pvi_fail(ctx, PV_E_ARG, "a demonstration needs a folder and between 1 and 10000000 rows");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return pvi_fail(ctx, PV_E_IO, "%s: %s", folder, strerror(errno));
    return PV_OK;
}

pv_status pv_demo_data(pv_ctx *ctx, const char *folder, uint64_t seed, int64_t rows, int64_t heldout_rows)
{
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, folder);
    pv_status s = pvi_synth_folder(ctx, folder, rows, heldout_rows);
    if (s != PV_OK) return s;
    const size_t n = strlen(folder) + 32;
    char *path = pvi_alloc(ctx, n);
    if (!path) return pvi_nomem(ctx);
    snprintf(path, n, "%s/demo.schema.json", folder);
    s = write_schema(ctx, path);
    snprintf(path, n, "%s/demo_train.csv", folder);
    if (s == PV_OK) s = write_table(ctx, path, seed, 1, rows);
    snprintf(path, n, "%s/demo_test.csv", folder);
    if (s == PV_OK) s = write_table(ctx, path, ~seed, rows + 1, heldout_rows);
    pvi_free(ctx, path);
    return pvi_done(ctx, s);
}
