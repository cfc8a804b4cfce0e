/* persons.c - rows of one person become one unit.
 *
 *   (1) id      h = the first 88 bits of SipHash-2-4 of the id's text under the key k.  Two persons get one h, and
 *               are one unit then, with probability below n^2 2^-89.  Nothing else is kept of an id.
 *   (2) place   persons stand in the order of h.  k is drawn for every load, from nothing but the system's randomness
 *               or run.seed, and kept nowhere: which place a person gets is random and independent of all rows.
 *   (3) rows    of a person stand in the order of a tag: t = SipHash of the row's values and label under k; of rows
 *               that are equal, the j-th has SipHash(t, j).  Which of equal rows is the first does not matter.
 *   (4) cap     of more than K rows the first K by (3) stay: K of them drawn without replacement, each subset alike.
 * So the order of rows in the file decides nothing; a row depends on the rows of its own person and on k alone.
 *
 * Why another person may stand at another place.  Sums are made in groups of places (query/release.c), so a proof
 * compares tables that differ at one place.  Put Bob instead of Alice: h puts him elsewhere, and others move by one.
 * But the places of n persons are, over the draw of k, a uniform permutation for either table, apart from whoever
 * could tell SipHash from random bits.  Match each permutation with the one where Bob has Alice's place: the pairs
 * differ at one place, each obeys the bound, and so do the two averages over permutations.
 *
 * The number of rows is nobody's but the owner's: from here on a table has domain.n persons.  Rows above the cap are
 * not counted, and no message says whether there were some. */
#include "data.h"

#include <strings.h>

/* ---- ids ------------------------------------------------------------------------------------------------------ */

pvi_id pvi_id_hash(const uint8_t *key, const void *data, size_t size)
{
    pvi_id out;
    pvi_short_hash(key, data, size, (uint8_t *)&out);
    return out;
}

bool pvi_person_id(const struct pv_load *job, const char *s, size_t len, pvi_id *out, char *why, size_t why_size)
{
    if (len == 0 || len > PVI_PERSON_TEXT) {
        if (len == 0) snprintf(why, why_size, "no id: whose row is it?  A person with one row needs an id, too");
        else snprintf(why, why_size, "an id of more than %d bytes", PVI_PERSON_TEXT);
        return false;
    }
    *out = pvi_id_hash(job->person_key, s, len); /* (1) */
    return true;
}

/* (2) */
static pv_status make_key(struct pv_load *job)
{
    uint8_t seeded[PVI_HASH_SIZE];
    if (job->expect->seed == PV_AUTO_I64) return pvi_entropy(job->ctx, job->person_key, sizeof job->person_key);
    char text[64];
    snprintf(text, sizeof text, "privet persons %lld", (long long)job->expect->seed);
    pvi_hash(NULL, 0, text, strlen(text), seeded);
    memcpy(job->person_key, seeded, sizeof job->person_key);
    return PV_OK;
}

/* data.person names a column of the schema that is nothing else. */
static pv_status choose_column(struct pv_load *job, pvi_schema *sc)
{
    const char *name = job->cfg->person;
    if (!sc || !name || !*name) return PV_OK;
    for (int64_t i = 0; i < sc->count; i++) {
        if (strcmp(sc->column[i].name, name) != 0) continue;
        if (sc->person >= 0 && sc->person != i)
            return pvi_fail(job->ctx, PV_E_PARAM, "data.person=%s, but the schema says that \"%s\" is the person",
                            name, sc->column[sc->person].name);
        if (sc->column[i].type != PVI_COL_IGNORE && sc->column[i].type != PVI_COL_PERSON)
            return pvi_fail(job->ctx, PV_E_PARAM,
                            "data.person=%s: the schema has it as %s; declare \"type\": \"person\"", name,
                            i == sc->label ? "the label" : "a feature");
        sc->column[i].type = PVI_COL_PERSON;
        sc->person = i;
        return PV_OK;
    }
    return pvi_fail(job->ctx, PV_E_PARAM, "data.person=%s: the schema has no such column", name);
}

/* K: as set, or as the schema declares it; PV_AUTO_I64: neither. */
static int64_t cap_of(const pvi_data_cfg *c, const pvi_schema *sc)
{
    return c->person_rows != PV_AUTO_I64 || !sc ? c->person_rows : sc->person_rows;
}

static pv_status check_settings(struct pv_load *job, const pvi_schema *sc)
{
    const pvi_data_cfg *c = job->cfg;
    job->person_rows = cap_of(c, sc);
    job->cap_open = job->person_rows == PV_AUTO_I64; /* not taken from the rows: one may have more than all others */
    if (job->cap_open) job->person_rows = c->person_rows_most;
    if (c->rows != PV_AUTO_I64)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.rows declares rows, whose number is private where persons own them: data.persons=N "
                        "declares persons");
    return PV_OK;
}

bool pvi_named_like_id(const char *name)
{
    static const char *const words[] = {
        "id", "person", "patient", "customer", "client", "user", "member", "subject"
    };
    const size_t n = strlen(name);
    if (n > 3 && strcasecmp(name + n - 3, "_id") == 0) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0) return true;
    return false;
}

static void note_ids(const struct pv_load *job, const pvi_schema *sc)
{
    for (int64_t i = 0; sc && i < sc->count; i++) {
        const pvi_coltype type = sc->column[i].type;
        if ((type != PVI_COL_NUMBER && type != PVI_COL_CATEGORY) || !pvi_named_like_id(sc->column[i].name)) continue;
        pvi_log(
            job->ctx, PV_LOG_NOTE,
            "column \"%s\" is a feature, and its name is that of an id: \"type\": \"person\" protects all rows of a "
            "person together, \"ignore\" leaves it out",
            sc->column[i].name);
        return;
    }
}

pv_status pvi_data_ownerless(pv_ctx *ctx, const pvi_data_cfg *c)
{
    if (c->person_rows == PV_AUTO_I64 && c->persons == PV_AUTO_I64 && isnan(c->person_rows_share)) return PV_OK;
    return pvi_fail(ctx, PV_E_PARAM,
                    "data.person_rows, data.person_rows_share and data.persons are for rows that persons own: a "
                    "column of \"type\": "
                    "\"person\", data.person or data.person_file says whose they are");
}

pv_status pvi_persons_open(struct pv_load *job, pvi_schema *sc)
{
    const pvi_data_cfg *c = job->cfg;
    const bool apart = job->from && job->from->persons, file = c->person_file && *c->person_file;
    pv_status s = choose_column(job, sc);
    if (s != PV_OK || !(job->expect->persons || job->expect->owner_key)) return s;
    const bool column = sc ? sc->person >= 0 : c->person && *c->person;
    if (column + apart + file > 1)
        return pvi_fail(job->ctx, PV_E_PARAM, "%s: ids of persons in %s: one place is enough", job->name,
                        file ? "data.person_file and elsewhere" : "a column and apart");
    job->by_person = column || apart || file;
    job->id_column = column;
    if (!job->expect->persons) {
        memcpy(job->person_key, job->expect->owner_key, sizeof job->person_key);
        return PV_OK;
    }
    if (!job->by_person) {
        note_ids(job, sc);
        return pvi_data_ownerless(job->ctx, c);
    }
    s = check_settings(job, sc);
    return s == PV_OK ? make_key(job) : s;
}

pv_status pvi_data_by_person(pv_ctx *ctx, const pvi_data_cfg *cfg, bool *by_person, int64_t *rows)
{
    pvi_schema *sc;
    *by_person = (cfg->person && *cfg->person) || (cfg->person_file && *cfg->person_file);
    *rows = cap_of(cfg, NULL);
    if (!cfg->schema || !*cfg->schema) return PV_OK;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    const pv_status s = pvi_schema_load(ctx, a, cfg->schema, &sc);
    if (s == PV_OK) *by_person |= sc->person >= 0;
    if (s == PV_OK) *rows = cap_of(cfg, sc);
    pvi_arena_free(a);
    return s;
}

/* ---- ids that come apart -------------------------------------------------------------------------------------- */

static pv_status not_as_many(const struct pv_load *job)
{
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s: another number of ids of persons than of rows", job->name);
}

static pv_status refuse_id(const struct pv_load *job, int64_t i, const char *why)
{
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s: id %lld: %s", job->name, (long long)i + 1, pvi_told(job, why));
}

static pv_status ids_of_memory(const struct pv_load *job, int64_t n, pvi_id *id)
{
    const pv_data *d = job->from;
    char why[256], room[PVI_TYPE_TEXT];
    if (d->persons != n) return not_as_many(job);
    for (int64_t i = 0; i < n; i++) {
        const char *text = d->person_words ? d->person_words[i] : room;
        size_t len =
            d->person_words ? strnlen(text, PVI_PERSON_TEXT + 1) : pvi_type_text(d->person_type, d->person, i, room);
        if (!d->person_words && pvi_type_is_float(d->person_type) &&
            isnan(pvi_type_value(d->person_type, d->person, i)))
            len = 0;
        if (!pvi_person_id(job, text, len, &id[i], why, sizeof why)) return refuse_id(job, i, why);
    }
    return PV_OK;
}

/* A line each; blanks at its ends do not count, as in tables. */
static pv_status ids_of_file(const struct pv_load *job, int64_t n, pvi_id *id)
{
    char *text, why[256];
    size_t size;
    int64_t i = 0;
    pv_status s = pvi_file_read(job->ctx, job->cfg->person_file, (size_t)1 << 40, &text, &size);
    if (s != PV_OK) return s;
    const size_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* some editors' first bytes */
    for (const char *p = text + mark, *end = text + size; p < end && s == PV_OK; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p)), *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        while (p < stop && (*p == ' ' || *p == '\t')) p++;
        while (stop > p && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r')) stop--;
        if (i == n) s = not_as_many(job);
        else if (!pvi_person_id(job, p, (size_t)(stop - p), &id[i], why, sizeof why))
            s = pvi_fail(job->ctx, PV_E_FORMAT, "%s:%lld:1: %s", job->cfg->person_file, (long long)i + 1, why);
        p = next;
    }
    pvi_free(job->ctx, text);
    return s == PV_OK && i != n ? not_as_many(job) : s;
}

/* ---- grouping -------------------------------------------------------------------------------------------------- */

static pv_status check_count(const struct pv_load *job, int64_t persons)
{
    const int64_t declared = job->cfg->persons;
    if (declared != PV_AUTO_I64 && persons != declared)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %s persons than the declared data.persons=%lld", job->name,
                        persons > declared ? "more" : "fewer", (long long)declared);
    if (persons == 1)
        pvi_log(job->ctx, PV_LOG_WARN, "%s: one person owns all rows: nothing can be learned that is not about them",
                job->name);
    return PV_OK;
}

/* Of all rows: the column's, or others, which the caller frees. */
static pv_status find_ids(struct pv_load *job, const pvi_matrix *m, pvi_id **id, pvi_id **own)
{
    *id = pvi_build_ids(job->out);
    *own = NULL;
    if (*id && !job->schema && !job->ids_found)
        return pvi_fail(
            job->ctx, PV_E_PARAM,
            "data.person=%s: rows of this format have no such column; data.person_file=FILE gives ids, a line "
            "for every row",
            job->cfg->person);
    if (*id) return PV_OK;
    *own = *id = pvi_raw(job->ctx, sizeof **id * (size_t)m->stored);
    if (!*own) return pvi_nomem(job->ctx);
    return job->from && job->from->persons ? ids_of_memory(job, m->stored, *own) : ids_of_file(job, m->stored, *own);
}

pv_status pvi_persons_group(struct pv_load *job, pvi_matrix *m)
{
    pvi_id *id, *own;
    pvi_person_order *o = NULL;
    pv_status s = find_ids(job, m, &id, &own);
    if (s == PV_OK) s = pvi_persons_find(m, job->person_key, id, &o);
    if (s == PV_OK) s = check_count(job, pvi_persons_count(o));
    if (s == PV_OK) s = pvi_persons_place(o, job->person_rows, job->expect->keep_persons);
    m->cap_open = job->cap_open;
    pvi_persons_free(o);
    pvi_free(job->ctx, own);
    return s;
}

pv_status pvi_persons_keep(struct pv_load *job, pvi_matrix *m)
{
    pvi_id *id, *own;
    const pv_status s = find_ids(job, m, &id, &own);
    const size_t size = sizeof *id * (size_t)m->stored;
    if (s == PV_OK && own) m->owner = own;
    else if (s == PV_OK && (m->owner = pvi_raw(job->ctx, size))) memcpy(m->owner, id, size);
    else pvi_free(job->ctx, own);
    for (int64_t i = 0; m->owner && i < m->stored; i++) m->owner[i] = pvi_person_of(m->owner[i]);
    return s != PV_OK || m->owner ? s : pvi_nomem(job->ctx);
}
