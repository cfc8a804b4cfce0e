/* registry_entry.c - privet report --registry: what registries of deployments and checklists ask of a release, as
 * JSON.
 *
 * The fields are those that the OpenDP registry of deployments asks for (tier, flavour, unit, loss, model,
 * accounting, implementation), then the questions of NIST SP 800-226 that a certificate can answer.  What it cannot
 * say is "not stated": the file knows nobody's name, and nothing of why the data were collected. */
#include "cli.h"

#include <math.h>
#include <string.h>

static const char unknown[] = "not stated";

static void field(const char *key, const char *text, bool last)
{
    fputs("    ", stdout);
    json_text(key, text);
    puts(last ? "" : ",");
}

static const char *text_of(jv v, const char *key, char *out, size_t cap)
{
    const char *s = jv_str(jv_get(v, key), out, cap);
    return s && *s ? s : unknown;
}

static void deployment(jv c, jv v)
{
    char word[64], made[64], name[64], line[400], eps[40], delta[40], replace[40];
    const bool person = jv_get(c, "persons").p != NULL, is_private = jv_true(jv_get(c, "private"));
    const double n = jv_num(jv_get(c, person ? "persons" : "rows"));
    puts("  \"deployment\": {");
    field("data_curator", unknown, false);
    field("contact", unknown, false);
    field("date", unknown, false);
    snprintf(line, sizeof line, "not stated; by privet's scale the protection is %s",
             is_private ? text_of(v, "strength", word, sizeof word) : "none: NOT PRIVATE");
    field("tier", line, false);
    field("flavour", is_private ? "(epsilon, delta)-differential privacy" : "none: NOT PRIVATE", false);
    snprintf(line, sizeof line,
             person ? "one of %.0f persons with all rows of one id, of which %.0f count at most"
                    : "one of %.0f rows; a person with several rows is protected less",
             n, jv_num(jv_get(c, "rows_per_person")));
    field("unit", line, false);
    field("adjacency", text_of(c, "relation", name, sizeof name), false);
    snprintf(line, sizeof line, "epsilon %s at delta %s; epsilon %s if another unit stands in the place of one",
             cost_text(jv_num(jv_get(c, "epsilon")), eps), cost_text(jv_num(jv_get(c, "delta")), delta),
             cost_text(jv_num(jv_get(c, "epsilon_replace")), replace));
    field("loss", is_private ? line : "unbounded", false);
    field("model",
          is_private ? "central: whoever ran the training saw the rows; the release is noisy" : "none: NOT PRIVATE",
          false);
    snprintf(line, sizeof line, "accountant %s, recomputed from the recorded events; this run alone",
             text_of(c, "accountant", word, sizeof word));
    field("accounting", is_private ? line : "none: NOT PRIVATE", false);
    snprintf(line, sizeof line, "%s, optimizer %s, mechanism %s", text_of(c, "made_by", made, sizeof made),
             text_of(c, "optimizer", name, sizeof name),
             is_private ? text_of(c, "mechanism", word, sizeof word) : "none: NOT PRIVATE");
    field("implementation", line, true);
    puts("  },");
}

static void checklist(jv c)
{
    char digest[80];
    const bool person = jv_get(c, "persons").p != NULL, is_private = jv_true(jv_get(c, "private"));
    puts("  \"nist_sp_800_226\": {");
    field("unit_of_privacy", person ? "person" : "row", false);
    field("trust_model", "central: the curator, the computer and its source of randomness are trusted", false);
    field("side_channels",
          is_private
              ? "noise is drawn on an integer grid, safe from floating-point attacks; running time is not covered"
              : "none is covered: NOT PRIVATE",
          false);
    field("floating_point",
          is_private ? "rounding is part of the sensitivity (rounding_allowance)" : "not covered: NOT PRIVATE",
          false);
    field("data_collection", unknown, false);
    field("access_control", unknown, false);
    field("bias", "not stated; privet eval --by COLUMN measures groups, NOT PRIVATE", false);
    field("other_releases", "not stated; privet account FILE ... composes certificates on the same data", false);
    field("data_digest", text_of(c, "data_digest", digest, sizeof digest), true);
    puts("  },");
}

void registry_entry(const findings *r)
{
    const jv c = r->certificate;
    puts("{");
    fputs("  ", stdout), json_text("model_file", r->model_file), puts(",");
    printf("  \"verified\": %s,\n", r->verification.p ? "true" : "false");
    deployment(c, r->verification);
    checklist(c);
    char digest[80];
    fputs("  ", stdout), json_text("weights_digest", text_of(c, "weights_digest", digest, sizeof digest)),
        puts("\n}");
}
