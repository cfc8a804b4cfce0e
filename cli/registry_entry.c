/* registry_entry.c - privet report --registry: what registries of deployments and checklists ask of a release, as
 * JSON.
 *
 * `deployment` has the fields of an entry of the OpenDP registry of deployments, under their names and in their order
 * (the files of opendp/deployments-registry-data, tiers 1 to 3).  `nist_sp_800_226` goes through the parts of that
 * publication's pyramid, top to bottom.  Numbers and texts are of the certificate; what it
 * cannot say is "not stated". */
#include "cli.h"

#include <string.h>

static const char unknown[] = "not stated";

typedef struct entry {
    jv c, v; /* certificate; what verify says, p NULL: it is not private */
    bool person, private;
    const char *last; /* what stands before the next member */
} entry;

static void key_of(entry *e, const char *key)
{
    fputs(e->last, stdout);
    e->last = ",\n    ";
    printf("\"%s\": ", key);
}

static void field(entry *e, const char *key, const char *text)
{
    key_of(e, key);
    json_text(NULL, text);
}

static void open_part(entry *e, const char *name)
{
    key_of(e, name);
    fputs("{", stdout);
    e->last = "\n      ";
}

static void close_part(entry *e)
{
    fputs("\n    }", stdout);
    e->last = ",\n    ";
}

static void part(entry *e, const char *key, const char *text) /* of an open one */
{
    fputs(e->last, stdout);
    e->last = ",\n      ";
    json_text(key, text);
}

static void missing(entry *e, const char *const *keys)
{
    for (; *keys; keys++) part(e, *keys, unknown);
}

static const char *text_of(jv v, const char *key, char *out, size_t cap)
{
    const char *s = v.p ? jv_str(jv_get(v, key), out, cap) : NULL;
    return s && *s && strcmp(s, "null") != 0 ? s : unknown;
}

static void product(entry *e)
{
    static const char *const purpose[] = { "intended_use", NULL }, *const where[] = { "data_product_region", NULL },
                             *const sector[] = { "data_product_sector", NULL };
    char name[256], kind[64], data[400];
    const jv s = jv_get(e->c, "settings");
    open_part(e, "product");
    part(e, "name", unknown);
    fputs(",\n      \"data_curators\": [", stdout), json_text(NULL, text_of(s, "issuer.name", name, sizeof name));
    putchar(']');
    missing(e, purpose);
    part(e, "data_product_type", "Machine learning model");
    missing(e, where);
    snprintf(data, sizeof data, "a model of kind %s with %.0f weights; its data are called: %s",
             text_of(e->c, "model", kind, sizeof kind), jv_num(jv_get(e->c, "weights")),
             text_of(s, "issuer.data", name, sizeof name));
    part(e, "description", data);
    part(e, "publication_date", text_of(s, "issuer.date", name, sizeof name));
    missing(e, sector);
    part(e, "contact", text_of(s, "issuer.contact", name, sizeof name));
    close_part(e);
}

static void flavour(entry *e)
{
    char relation[16], epsilon[40], line[160];
    open_part(e, "dp_flavor");
    part(e, "name", e->private ? "Approximate DP" : "none: NOT PRIVATE");
    const bool replace = strcmp(text_of(e->c, "relation", relation, sizeof relation), "replace") == 0;
    part(e, "input_metric",
         replace ? "units in whose place another stands (change-one distance)"
                 : "units whose contribution is left out, their number staying known (zero-out distance)");
    part(e, "bound_on_input_distance", "1");
    part(e, "output_measure", "fixed smoothed max divergence");
    snprintf(line, sizeof line, "epsilon %s at delta", cost_text(jv_num(jv_get(e->c, "epsilon")), epsilon));
    char *end = line + strlen(line);
    snprintf(end, sizeof line - (size_t)(end - line), " %s", cost_text(jv_num(jv_get(e->c, "delta")), epsilon));
    part(e, "bound_on_output_distance", e->private ? line : "none: NOT PRIVATE");
    part(e, "data_domain", "rows within what the settings and the schema in the model file declare");
    part(e, "unprotected_quantities",
         e->person ? "the number of persons, declared bounds, categories, labels, and every setting"
                   : "the number of rows, declared bounds, categories, labels, and every setting");
    close_part(e);
}

static void loss(entry *e)
{
    char eps[40], line[500], groups[320];
    open_part(e, "privacy_loss");
    part(e, "privacy_unit", e->person ? "person-level" : "record-level");
    snprintf(line, sizeof line,
             e->person ? "one of %.0f persons with all rows of one id, of which %.0f count at most"
                       : "one of %.0f rows; a person with several rows is protected less",
             jv_num(jv_get(e->c, e->person ? "persons" : "rows")), jv_num(jv_get(e->c, "rows_per_person")));
    part(e, "privacy_unit_description", line);
    fputs(",\n      \"privacy_parameters\": ", stdout);
    if (e->private) {
        printf("{\"epsilon\": %s, ", cost_text(jv_num(jv_get(e->c, "epsilon")), eps));
        printf("\"delta\": %s}", cost_text(jv_num(jv_get(e->c, "delta")), eps));
    } else {
        fputs("null", stdout);
    }
    char word[32];
    people_words(jv_get(e->v, e->person ? "groups" : "people"), groups, sizeof groups);
    snprintf(line, sizeof line, "%s by privet's scale; epsilon %s if another unit stands in the place of one; %s",
             text_of(e->v, "strength", word, sizeof word), cost_text(jv_num(jv_get(e->c, "epsilon_replace")), eps),
             groups);
    part(e, "privacy_parameters_description", e->private ? line : "NOT PRIVATE: no noise, or noise from a seed");
    close_part(e);
}

static void model(entry *e)
{
    open_part(e, "model");
    part(e, "model_name", "Central");
    part(e, "actors",
         "the curator, who saw the rows, the computer and its source of randomness are trusted; whoever gets the "
         "model "
         "is not");
    part(e, "release_type", "One release");
    part(e, "release_type_description", "the weights of this model; other releases of the same rows are not stated");
    part(e, "data_source_type", "Static");
    part(e, "access_type", "Non-interactive");
    close_part(e);
}

static void how(entry *e)
{
    char word[64], name[64], made[64], line[400];
    open_part(e, "accounting");
    part(e, "post_processing", "averages, scaling and rounding of released weights, as the settings say");
    snprintf(line, sizeof line, "%.0f releases composed by accountant %s, recomputed from the recorded events",
             jv_num(jv_get(e->c, "queries")), text_of(e->c, "accountant", word, sizeof word));
    part(e, "composition", e->private ? line : "none: NOT PRIVATE");
    close_part(e);
    open_part(e, "implementation");
    part(
        e, "pre_processing_eda_hyperparameter_tuning",
        "bounds, categories and settings were declared; trials and looks at the rows before this run are not stated");
    snprintf(line, sizeof line,
             "mechanism %s, optimizer %s, made by %s; rounding is part of the sensitivity; noise from ChaCha20 and "
             "AES-256 keyed by the operating system",
             text_of(e->c, "mechanism", word, sizeof word), text_of(e->c, "optimizer", name, sizeof name),
             text_of(e->c, "made_by", made, sizeof made));
    part(e, "mechanisms", e->private ? line : "none: NOT PRIVATE");
    part(e, "justification", unknown);
    close_part(e);
}

static void checklist(entry *e)
{
    char eps[40], delta[40], digest[80], line[200];
    const bool p = e->private;
    fputs("\n  },\n  \"nist_sp_800_226\": {", stdout);
    e->last = "\n    ";
    snprintf(line, sizeof line, "epsilon %s, delta %s", cost_text(jv_num(jv_get(e->c, "epsilon")), eps),
             cost_text(jv_num(jv_get(e->c, "delta")), delta));
    field(e, "privacy_parameters", p ? line : "none: NOT PRIVATE");
    field(e, "definition", p ? "(epsilon, delta)-differential privacy" : "none: NOT PRIVATE");
    field(e, "unit_of_privacy", e->person ? "person" : "row");
    field(e, "utility", "not stated here; privet eval MODEL DATA --epsilon E releases figures with intervals");
    field(e, "bias", "not stated; privet eval --by COLUMN measures groups, NOT PRIVATE");
    field(e, "algorithm_correctness",
          p ? "epsilon recomputed from the recorded events by privet verify; that the run took place is on trust"
            : "NOT PRIVATE");
    field(e, "floating_point",
          p ? "rounding is part of the sensitivity (rounding_allowance)" : "not covered: NOT PRIVATE");
    field(e, "randomness", p ? "stream ciphers keyed by the operating system" : "not covered: NOT PRIVATE");
    field(e, "trust_model", "central: the curator, the computer and its source of randomness are trusted");
    field(e, "side_channels",
          p ? "running time, memory and messages to whoever ran the training are not covered"
            : "none is covered: NOT PRIVATE");
    field(e, "privacy_budget", "of this run alone; privet account FILE ... composes certificates on the same data");
    field(e, "data_security_and_access_control", unknown);
    field(e, "data_collection", unknown);
    field(e, "data_digest", text_of(e->c, "data_digest", digest, sizeof digest));
}

void registry_entry(const findings *r)
{
    entry e = { .c = r->certificate,
                .v = r->verification,
                .person = jv_get(r->certificate, "persons").p != NULL,
                .private = jv_true(jv_get(r->certificate, "private")),
                .last = "\n    " };
    char digest[80];
    fputs("{\n  ", stdout), json_text("model_file", r->model_file);
    printf(",\n  \"verified\": %s,\n  ", r->verification.p ? "true" : "false");
    json_text("weights_digest", text_of(e.c, "weights_digest", digest, sizeof digest));
    fputs(",\n  \"deployment\": {", stdout);
    product(&e), flavour(&e), loss(&e), model(&e), how(&e);
    checklist(&e);
    puts("\n  }\n}");
}
