/* answers.c - what an officer asks first of a model file, each with its answer in plain words: the same on the screen
 * and on the page.  Everything is of the verified certificate; what nobody stated is called so. */
#include "cli.h"

#include <string.h>

static void protects(jv v, char *out, size_t cap)
{
    char n[40], k[40], relation[16];
    const bool replace = strcmp(jv_str(jv_get(v, "relation"), relation, sizeof relation), "replace") == 0;
    const jv persons = jv_get(v, "persons");
    if (persons.p)
        snprintf(out, cap, "each of %s persons, with all rows of one id, of which %s count at most: %s",
                 with_commas(jv_num(persons), n), with_commas(jv_num(jv_get(v, "rows_per_person")), k),
                 replace ? "which of two persons' rows were used" : "whether any of their rows was used");
    else
        snprintf(out, cap, "each of %s rows: %s; somebody with several rows is protected less",
                 with_commas(jv_num(jv_get(v, "rows")), n),
                 replace ? "which of two rows was used" : "whether it was used, with all that stands in it");
}

static void on_scale(jv v, char *out, size_t cap)
{
    static const char *const words[] = { "strong", "moderate", "weak", "next to none" };
    char word[32];
    size_t n = 0;
    jv_str(jv_get(v, "strength"), word, sizeof word);
    for (int i = 0; i < 4; i++) {
        const bool here = strcmp(word, words[i]) == 0;
        n += (size_t)snprintf(out + n, cap - n, "%s%s%s%s", i ? " > " : "", here ? "[" : "", words[i],
                              here ? "]" : "");
    }
}

static void groups(jv v, char *out, size_t cap)
{
    char words[320];
    people_words(jv_get(v, jv_get(v, "persons").p ? "groups" : "people"), words, sizeof words);
    snprintf(out, cap, "%s, at this delta, draws taken as ideal", words);
}

static void replaced(jv v, char *out, size_t cap)
{
    char eps[40];
    const double e = jv_num(jv_get(v, "epsilon_replace"));
    if (e < 1e300)
        snprintf(out, cap, "epsilon %s where another stands in the place of one, instead of nobody",
                 cost_text(e, eps));
    else snprintf(out, cap, "no bound is claimed where another stands in the place of one");
}

static void rests_on(jv v, char *out, size_t cap)
{
    (void)v;
    snprintf(
        out, cap,
        "the word of whoever issued it; bounds, categories and settings that owe nothing to the rows but for what "
        "is listed; a computer that kept its secrets; in full below");
}

static const char *or_not(jv v, const char *key, char *out, size_t cap)
{
    const char *s = jv_str(jv_get(v, key), out, cap);
    return s && *s && strcmp(s, "null") != 0 ? s : "not stated";
}

static void issued(jv v, char *out, size_t cap)
{
    char who[256], contact[256], date[32];
    or_not(v, "issuer", who, sizeof who), or_not(v, "contact", contact, sizeof contact);
    snprintf(out, cap, "%s; whom to ask: %s; when: %s%s", or_not(v, "issuer", who, sizeof who),
             or_not(v, "contact", contact, sizeof contact), or_not(v, "date", date, sizeof date),
             jv_get(v, "issuer").p && strcmp(who, "not stated") != 0 ? ". So the file says; a signature would show it"
                                                                     : "");
}

static void program(jv v, char *out, size_t cap)
{
    char made[64];
    snprintf(out, cap, "%s, certificate of version %.0f", or_not(v, "made_by", made, sizeof made),
             jv_num(jv_get(v, "version")));
}

static void which_data(jv v, char *out, size_t cap)
{
    char name[256], digest[80], n[40];
    const jv persons = jv_get(v, "persons");
    snprintf(out, cap,
             "name: %s; %s %s; digest %.16s..., salted anew in every run: two certificates do not tell whether their "
             "rows are the same. Who has rows, model and key can: privet eval MODEL DATA",
             or_not(v, "data_name", name, sizeof name),
             with_commas(jv_num(persons.p ? persons : jv_get(v, "rows")), n), persons.p ? "persons" : "rows",
             or_not(v, "data_digest", digest, sizeof digest));
}

static void other_runs(jv v, char *out, size_t cap)
{
    (void)v;
    snprintf(
        out, cap,
        "not stated: this file counts its own run alone. Of several files privet account FILE FILE ... says what "
        "they cost together");
}

static void not_covered(jv v, char *out, size_t cap)
{
    snprintf(out, cap,
             "%s, what holds for a whole group of people, the data file itself, and figures that somebody published "
             "without noise; in full below",
             jv_get(v, "persons").p ? "somebody under several ids, larger groups than those above"
                                    : "somebody with several rows beyond the groups above");
}

static const struct {
    const char *label, *question;
    void (*say)(jv v, char *out, size_t cap);
} questions[] = {
    { "protects", "What is protected, and for whom?", protects },
    { "scale", "How strong is that?", on_scale },
    { "groups", "And of several together?", groups },
    { "replace", "And if another stood there?", replaced },
    { "rests on", "What does it rest on?", rests_on },
    { "issued by", "Who issued it, and when?", issued },
    { "made by", "Which program?", program },
    { "data", "Which data?", which_data },
    { "other runs", "What else was released?", other_runs },
    { "leaves out", "What is not covered?", not_covered },
};

void answers(jv v, answer_fn fn, void *user)
{
    char text[1200];
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        questions[i].say(v, text, sizeof text);
        fn(user, questions[i].label, questions[i].question, text);
    }
}
