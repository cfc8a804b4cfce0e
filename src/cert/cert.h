/* cert.h - the certificate: what it says, as text and in words, and whether it holds. */
#ifndef PVI_CERT_H
#define PVI_CERT_H
#include "acct/acct.h"
#include "data/load.h"
#include "query/query.h"

/* ---- certificate (certificate.c, statement.c, cert_check.c, cert_settings.c, cert_run.c) -----------------------
 * Everything a certificate says.  Strings are borrowed from the arena or static. */
enum { PVI_CERT_FIRST = 2, PVI_CERT_VERSION = 3, PVI_CERT_PERSONS = 4, PVI_CERT_KINDS = 6 };

typedef struct pvi_cert_kind { /* so many of the releases are of this kind */
    const char *kind;          /* a name of pvi_release_kinds (query/release.c) */
    int64_t count;
    /* Of kinds on samples of their own: what the fields of the certificate say of the others.  batch 0: not one. */
    double batch, clip_norm, replace_change, rounding_allowance, sensitivity;
    double noise_multiplier, noise_stddev, grid_spacing;
    const int64_t
        *counts; /* n_counts noisy counts that a stage or an evaluation released, as whole numbers; NULL: neither */
    int64_t n_counts;
} pvi_cert_kind;

typedef struct pvi_cert {
    int64_t version;       /* of the format; 0 when writing: PVI_CERT_VERSION; PVI_CERT_PERSONS: a unit is a person */
    bool is_private;       /* false: privacy=off or a test seed; verify rejects it */
    const char *why_not;   /* reason when !is_private, else NULL */
    const char *made_by;   /* version that wrote it; NULL when writing: this one */
    pv_relation relation;  /* the headline */
    double epsilon, delta; /* claimed; see pvi_cert_claim */
    double delta_draws;    /* share of delta for the finite accuracy of the draws: pvi_draws_share */
    const char *accountant;
    const pv_event *events;
    double epsilon_replace;         /* the same releases under replace, at the same delta (zero-out headline) */
    const char *accountant_replace; /* NULL when writing: the same accountant */
    const pv_event *events_replace; /* replace headline: NULL, and epsilon_replace is not looked at */
    bool replace_is_group_bound;    /* the cost under replace, headline or not, goes through zero-out twice */
    const char *model, *optimizer, *mechanism;
    const char *sampler;             /* "full batch", "poisson", "fixed size" or "cyclic" */
    double batch;                    /* expected rows per query */
    int64_t rows, features, weights; /* n, units: rows or persons; columns, d as used in the guarantee */
    const char *unit;                /* "person"; NULL up to version 3: a row */
    int64_t unit_rows;               /* K: rows of a person that count at most; 0 up to version 3 */
    bool features_measured;          /* taken from the file, treated as public */
    double clip_norm;     /* B: what one row adds to a sum, at most; version 2 under replace: half of the change */
    double clip_gradient; /* C: of the gradient alone; 0 when writing: clip_norm, as where nothing else is released */
    double replace_change; /* how far another row in the place of one moves a sum; 0 when writing: 2 clip_norm */
    double sensitivity, noise_multiplier, noise_stddev, grid_spacing, row_norm;
    double noise_multiplier_max; /* of the noisiest release; 0 when writing: noise_multiplier, as in all of them */
    const char *conditional;     /* JSON object: what holds under more assumptions; NULL: nothing */
    double rounding_allowance;   /* part of the sensitivity that pays for floating-point and the grid */
    int64_t queries;             /* noisy releases the events pay for */
    pvi_cert_kind kinds[PVI_CERT_KINDS]; /* n_kinds of them; their counts add up to queries */
    int64_t n_kinds;
    const char *data_salt;   /* fresh in every run, hex; NULL in version 2 */
    const char *data_digest; /* pvi_salted_digest of it and the keyed digest; version 2: the keyed digest */
    const char *header_digest, *weights_digest; /* of the model file: pvi_model_digests; NULL in version 2 */
    const char *settings;           /* JSON object of every setting, resolved; secrets and paths left out */
    const char *const *assumptions; /* n_assumptions sentences */
    int64_t n_assumptions;
} pvi_cert;

/* The release before the optimiser's; NULL: none.  How many releases are the optimiser's, and their events. */
const pvi_cert_kind *pvi_cert_stage(const pvi_cert *c);
/* The stage, where it is of this kind. */
const pvi_cert_kind *pvi_cert_stage_of(const pvi_cert *c, const char *kind);
/* The release of an evaluation; NULL: it is of a model that was trained. */
const pvi_cert_kind *pvi_cert_evaluation(const pvi_cert *c);
int64_t pvi_cert_asked(const pvi_cert *c);
const pv_event *pvi_cert_steps(const pvi_cert *c, const pv_event *events);
/* The model that a certificate names, by its own name or that of its loss; NULL: none. */
const pv_model_ops *pvi_cert_model_of(const char *name);

/* Canonical JSON, fields in a fixed order, ends with a checksum over everything before it. */
pv_status pvi_cert_write(pv_ctx *ctx, const pvi_cert *c, char **json);
/* Strict: unknown, missing or repeated fields (PV_E_FORMAT), a wrong checksum or text that is not
 * canonical (PV_E_VERIFY): refused. */
pv_status pvi_cert_parse(pv_ctx *ctx, pv_arena *a, const char *name, const char *text, size_t len, pvi_cert *out);
/* Checks the fields against each other and recomputes both epsilons from the events; PV_E_VERIFY
 * with the reason.  What was recomputed goes to `out` (may be NULL). */
typedef struct pvi_recomputed {
    double epsilon, epsilon_replace;
} pvi_recomputed;
pv_status pvi_cert_verify(pv_ctx *ctx, const char *name, const pvi_cert *c);
/* What is said twice, here and in the settings (cert_settings.c).  `key` NULL ends the table. */
typedef struct pvi_said_twice {
    const char *field, *key; /* of the certificate; of its settings */
    int64_t since;           /* version of the certificate in which it is compared */
    bool (*agrees)(const pvi_json *settings, const pvi_json *said,
                   const pvi_cert *c); /* said: the setting, not auto */
} pvi_said_twice;
extern const pvi_said_twice pvi_cert_said_twice[];
/* The run that the settings describe (cert_run.c): its plug-ins, configured by them. */
typedef struct pvi_cert_run {
    const pvi_data_cfg *data;
    const pv_model_ops *model; /* of a loss: the model that takes losses */
    void *model_cfg;
    size_t model_size;
    const pv_reg_ops *reg;
    const void *reg_cfg;
    const pv_optimizer_ops *opt;
    const void *opt_cfg;
    uint8_t unit_combine, unit_weight;
    pv_domain dom; /* after pvi_cert_domain */
} pvi_cert_run;
/* PV_E_PARAM: a setting is unknown, missing, or has a value that it cannot have. */
pv_status pvi_cert_run_read(pv_ctx *ctx, pv_arena *a, const pvi_json *settings, pvi_cert_run *out);
/* The domain on which the model has as many weights as recorded; opens the model's configuration for it. */
typedef enum pvi_fit { PVI_FITS, PVI_MISFIT, PVI_UNKNOWN_FIT } pvi_fit; /* unknown: too many to try */
pvi_fit pvi_cert_domain(pv_ctx *ctx, pv_arena *a, pvi_cert_run *run, const pvi_cert *c);
extern const pv_param pvi_cert_general[]; /* settings of no plug-in, data.* apart */
/* What a value of a setting issuer.* has to be, as it is not (issuer.c); NULL: it is, or the setting is another. */
const char *pvi_issuer_needs(const char *key, const char *value);
void pvi_issuer_write(const pvi_cert *c, pv_ctx *ctx, pvi_jw *w); /* what the settings say, null: not stated */
bool pvi_cert_is_local(const char *key);                          /* a setting of one machine: in no certificate */
pv_status pvi_cert_check_settings(pv_ctx *ctx, const char *name, const pvi_cert *c);
pv_status pvi_cert_recompute(pv_ctx *ctx, const char *name, const pvi_cert *c, pvi_recomputed *out);
/* One sentence that says what is guaranteed, or that nothing is. */
void pvi_cert_statement(const pvi_cert *c, pvi_str *out);
/* The assumption of a run that showed diagnostics; with it, statement and not_covered leave them out. */
extern const char pvi_cert_diagnostics[];
/* Assumptions that follow from other fields: from version 3 on a certificate that leaves one out does not hold. */
extern const char pvi_cert_ideal_draws[], pvi_cert_public_start[];
extern const char pvi_cert_part[];    /* of a run on some of the rows, the others held out or trained on */
extern const char pvi_cert_holdout[]; /* the assumption of a run that measured on held-out rows */
/* How rows above the cap were left out, and what was made of a person's rows: from version 4 on. */
const char *pvi_cert_person_rows(bool sum, bool by_rows);
extern const char pvi_cert_found_classes[]; /* of data.measured=classes */
bool pvi_cert_assumes(const pvi_cert *c, const char *sentence);
void pvi_cert_not_covered(const pvi_cert *c, pvi_jw *w, const char *key);
/* What verifying shows, and what it leaves to the word of whoever issued the file; is_model: a model file was
 * verified. */
void pvi_cert_shown(const pvi_cert *c, bool is_model, pvi_jw *w, const char *key);
void pvi_cert_taken_on_trust(const pvi_cert *c, bool is_model, pvi_jw *w, const char *key);
#endif
