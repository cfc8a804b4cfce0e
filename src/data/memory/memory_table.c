/* memory_table.c - columns in memory to rows, by the rules of tables (encode.c).
 *
 * A block of rows is encoded column by column, so that each inner loop has one type: numbers go to doubles 64 at a
 * time, are compared with the bounds and become features (numbers.kernel.c); whatever is unusual (null, NaN, outside)
 * is then looked at one by one.  Columns of numbers that follow each other are taken eight at a time, 64 rows of
 * each, and turned into rows by 4 x 4, since storing one float takes as long as storing four.
 *
 * Each column that gives features has one slot in a row, a number or the feature of a category.  Rows of numbers are
 * handed over whole; others without their zeros, as the reader of text does, and in both cases the sum behind a row's
 * norm is over its nonzero values in order, so that text and memory give the same bits.
 *
 * Of several rows that are refused the first counts, and in it the first column, as in text. */
#include "memory_table.h"

enum { LANE = 64, TILE = 8 };

typedef struct worker { /* a block under way */
    const pvi_table *t;
    pvi_block *b;
    pvi_label_memo memo;
    char why[256], room[PVI_TEXT_ROOM];
    pvi_trouble what;
} worker;

typedef struct slot { /* what a cell becomes: val at feature code; 0: nothing is stored; or the label */
    float val;
    int32_t code;
} slot;

/* ---- one cell -------------------------------------------------------------------------------------------------- */
static bool number_cell(worker *w, const pvi_column *col, const pvi_cells *c, int64_t i, slot *out)
{
    const bool decimal = (c->words ? c->words : c)->kind == PVI_CELL_DECIMAL;
    const pvi_encoder e = { w->t->sc, pvi_outside_of(w->t->job->cfg), w->why, &w->what, decimal };
    const char *why = NULL;
    double v;
    pvi_outcome how;
    if (!pvi_cell_there(c, i)) {
        how = pvi_encode_missing(&e, col, &(pvi_span) { w->room, 0 });
    } else if (pvi_cell_is_text(c)) {
        const pvi_span f = pvi_cell_text(c, i, w->room, &why);
        how = f.s ? pvi_encode_text(&e, col, &f, &v) : PVI_REFUSED;
    } else {
        const double x = pvi_cell_number(c, i);
        if (isnan(x) && col->missing != PVI_MISSING_ERROR) {
            how = PVI_ABSENT;
        } else {
            const pvi_span f = pvi_cell_text(c, i, w->room, &why);
            how = pvi_encode_number(&e, col, x, &f, &v);
        }
    }
    if (why) snprintf(w->why, sizeof w->why, "column \"%s\": %s", col->name, why);
    if (how < PVI_ABSENT) return false;
    const bool stored = how == PVI_TAKEN || pvi_encode_absent(col, &v);
    *out = (slot) { stored ? (float)pvi_encode_feature(col, v, w->t->job->cfg->center) : 0.0f, col->first };
    return true;
}

/* A truth value may be declared as true and false, or as 1 and 0. */
static int32_t bit_code(const pvi_dictionary *words, bool set)
{
    static const char digit[2][32] = { "0", "1" }, word[2][32] = { "false", "true" };
    const int32_t code = pvi_dictionary_find(words, word[set], set ? 4 : 5);
    return code >= 0 ? code : pvi_dictionary_match(words, digit[set], 1);
}

static bool category_cell(worker *w, const pvi_column *col, const pvi_cells *c, int64_t i, slot *out)
{
    const pvi_encoder e = { w->t->sc, pvi_outside_of(w->t->job->cfg), w->why, &w->what, false };
    const char *why = NULL;
    const bool number = pvi_cell_is_number(c), real = number && c->kind != PVI_CELL_DECIMAL;
    int32_t code = 0;
    pvi_outcome how;
    if (!pvi_cell_there(c, i) || (real && isnan(pvi_cell_number(c, i)))) {
        how = pvi_encode_missing(&e, col, &(pvi_span) { w->room, 0 });
    } else if (c->kind == PVI_CELL_BIT && (code = bit_code(&col->words, pvi_cell_number(c, i) != 0.0)) >= 0) {
        how = PVI_TAKEN;
    } else {
        const pvi_span f = pvi_cell_text(c, i, w->room, &why);
        how = f.s ? pvi_encode_word(&e, col, &f, number, &code) : PVI_REFUSED;
    }
    if (why) snprintf(w->why, sizeof w->why, "column \"%s\": %s", col->name, why);
    if (how < PVI_ABSENT) return false;
    *out = (slot) { how == PVI_TAKEN ? 1.0f : 0.0f, how == PVI_TAKEN ? col->first + code : col->first };
    return true;
}

static bool label_cell(worker *w, const pvi_column *col, const pvi_cells *c, int64_t i, slot *out)
{
    const pvi_label_rule *r = &w->t->job->label;
    const char *why = NULL;
    if (!pvi_cell_there(c, i)) {
        snprintf(w->why, sizeof w->why, *col->name ? "column \"%s\": the label is missing" : "%sthe label is missing",
                 col->name);
        return false;
    }
    if (c->kind < PVI_CELL_HALF)
        return pvi_label_of(r, w->b->seen, (pv_type)c->kind, c->at, i * c->stride, &out->val, w->why, sizeof w->why);
    if (c->kind == PVI_CELL_BIT) {
        const uint8_t bit = pvi_cell_number(c, i) != 0.0;
        const int32_t code = r->classes ? bit_code(&r->words, bit) : -1;
        if (code >= 0) return out->val = pvi_label_class(r, code), true;
        return pvi_label_of(r, w->b->seen, PV_BOOL8, &bit, 0, &out->val, w->why, sizeof w->why);
    }
    const pvi_span f = pvi_cell_text(c, i, w->room, &why);
    double x;
    if (!f.s) return snprintf(w->why, sizeof w->why, "column \"%s\": %s", col->name, why), false;
    if (c->kind == PVI_CELL_DECIMAL && pvi_number(f.s, f.len, &x))
        return pvi_label_number(r, x, f.s, f.len, &out->val, w->why, sizeof w->why);
    return pvi_label_recall(r, &w->memo, f.s, f.len, &out->val, w->why, sizeof w->why);
}

/* Which word of its dictionary a cell is an index of; -1: none.  Compared before it becomes an integer: any 64 bits
 * may be there. */
static int64_t word_index(const pvi_cells *c, int64_t i)
{
    const double index = pvi_cell_number(c, i);
    return index >= 0 && index < (double)c->words->count ? (int64_t)index : -1;
}

/* The cell itself, or the word it is an index of. */
static bool one_cell(worker *w, const pvi_column *col, const pvi_cells *c, int64_t i, slot *out)
{
    pvi_cells empty = { .kind = PVI_CELL_NULL };
    if (c->words && !pvi_cell_there(c, i)) {
        c = &empty;
    } else if (c->words) {
        const int64_t k = word_index(c, i);
        if (k < 0) {
            snprintf(w->why, sizeof w->why, "column \"%s\": an index that is none of its dictionary of %lld values",
                     col->name, (long long)c->words->count);
            return false;
        }
        c = c->words;
        i = k;
    }
    switch (col->type) {
    case PVI_COL_NUMBER: return number_cell(w, col, c, i, out);
    case PVI_COL_CATEGORY: return category_cell(w, col, c, i, out);
    default: return label_cell(w, col, c, i, out);
    }
}

/* Row r of the block. */
static bool slow_cell(worker *w, int64_t column, int64_t r, slot *out)
{
    const int64_t i = w->b->first + r;
    if (one_cell(w, &w->t->sc->column[column], &w->t->cells[column], i, out)) return true;
    pvi_block_fail(w->b, i, column, "%s", w->why);
    return false;
}

/* ---- one column ------------------------------------------------------------------------------------------------ */
/* Which of n numbers need a closer look: outside the bounds, not finite, or a number that stands for no value. */
static uint64_t unusual(const pvi_schema *sc, const pvi_column *col, const double *v, int64_t n)
{
    const double lo = col->lo, hi = col->hi;
    uint64_t mask = 0;
    for (int64_t j = 0; j < n; j++) mask |= (uint64_t) !((v[j] >= lo) & (v[j] <= hi)) << j;
    for (int64_t k = 0; k < sc->missing.count && sc->numeric_missing; k++)
        for (int64_t j = 0; j < n; j++) mask |= (uint64_t)(v[j] == sc->missing.word[k].num) << j;
    return mask;
}

static void put(const pvi_table *t, pvi_block *b, int64_t r, int64_t k, slot s)
{
    b->seg.val[r * t->slots + k] = s.val;
    if (!t->whole) b->seg.idx[r * t->slots + k] = s.code;
}

/* What a column will read soon: it begins somewhere else, which the processor cannot know. */
static void fetch(const pvi_cells *c, int64_t i, int64_t n)
{
    if (c->kind == PVI_CELL_NONE || c->kind >= PVI_CELL_HALF || c->stride != 1) return;
    const int64_t size = pvi_type_size((pv_type)c->kind);
    const char *at = (const char *)c->at + i * size;
    for (int64_t k = 0; k < n * size; k += 64) __builtin_prefetch(at + k);
}

/* Rows r .. r + n of a column; false: one of them is refused. */
static bool number_lane(worker *w, int64_t column, int64_t r, int64_t n, float *x)
{
    const pvi_table *t = w->t;
    const pvi_column *col = &t->sc->column[column];
    const pvi_cells *c = &t->cells[column];
    double v[LANE];
    if (column + TILE < t->sc->count) fetch(c + TILE, w->b->first + r, n);
    pvi_cells_numbers(c, w->b->first + r, n, v);
    uint64_t look = pvi_cells_null(c, w->b->first + r, n);
    if (!t->numbers(col, t->job->cfg->center, v, n, x) || t->sc->numeric_missing) look |= unusual(t->sc, col, v, n);
    for (; look; look &= look - 1) {
        const int64_t j = __builtin_ctzll(look);
        slot s = { 0 };
        if (!slow_cell(w, column, r + j, &s)) return false;
        x[j] = s.val;
    }
    return true;
}

/* to[j ld + c] = x[c][j] for n values of each of some columns. */
static void turn(float (*x)[LANE], int64_t columns, int64_t n, float *to, int64_t ld)
{
    typedef float four __attribute__((vector_size(16)));
    typedef float any __attribute__((vector_size(16), aligned(4), may_alias));
    const int64_t wide = columns / 4 * 4, high = n / 4 * 4;
    for (int64_t j = 0; j < high; j += 4)
        for (int64_t c = 0; c < wide; c += 4) {
            float *at = to + j * ld + c;
            const four p = *(any *)&x[c][j], q = *(any *)&x[c + 1][j], r = *(any *)&x[c + 2][j],
                       s = *(any *)&x[c + 3][j];
            const four a = __builtin_shufflevector(p, q, 0, 4, 1, 5), b = __builtin_shufflevector(p, q, 2, 6, 3, 7),
                       d = __builtin_shufflevector(r, s, 0, 4, 1, 5), e = __builtin_shufflevector(r, s, 2, 6, 3, 7);
            *(any *)at = __builtin_shufflevector(a, d, 0, 1, 4, 5);
            *(any *)(at + ld) = __builtin_shufflevector(a, d, 2, 3, 6, 7);
            *(any *)(at + 2 * ld) = __builtin_shufflevector(b, e, 0, 1, 4, 5);
            *(any *)(at + 3 * ld) = __builtin_shufflevector(b, e, 2, 3, 6, 7);
        }
    for (int64_t c = 0; c < columns; c++)
        for (int64_t j = c < wide ? high : 0; j < n; j++) to[j * ld + c] = x[c][j];
}

typedef struct run { /* columns of numbers that are encoded together, and the slot of the first */
    int64_t column[TILE], count, slot;
} run;

/* Of rows that are refused the first counts, so none behind the lane of one need be looked at. */
static void number_columns(worker *w, const run *g)
{
    const pvi_table *t = w->t;
    for (int64_t r = 0; r < w->b->rows; r += LANE) {
        const int64_t n = w->b->rows - r < LANE ? w->b->rows - r : LANE;
        float x[TILE][LANE];
        bool good = true;
        for (int64_t c = 0; c < g->count; c++) good &= number_lane(w, g->column[c], r, n, x[c]);
        if (!good) return;
        turn(x, g->count, n, w->b->seg.val + r * t->slots + g->slot, t->slots);
    }
    int32_t *idx = w->b->seg.idx + g->slot;
    for (int64_t r = 0; r < w->b->rows && !t->whole; r++)
        for (int64_t c = 0; c < g->count; c++) idx[r * t->slots + c] = t->sc->column[g->column[c]].first;
}

static void end_run(worker *w, run *g)
{
    if (g->count) number_columns(w, g);
    g->slot += g->count;
    g->count = 0;
}

/* Words that have been looked up. */
static bool known_word(const pvi_cells *c, int64_t i, slot *out)
{
    if (!c->word_val || !pvi_cell_there(c, i)) return false;
    const int64_t k = word_index(c, i);
    if (k < 0) return false;
    *out = (slot) { c->word_val[k], c->word_code[k] };
    return c->word_code[k] >= 0;
}

static void other_column(worker *w, int64_t column, int64_t k)
{
    const pvi_cells *c = &w->t->cells[column];
    const bool label = w->t->sc->column[column].type == PVI_COL_LABEL;
    for (int64_t r = 0; r < w->b->rows; r++) {
        slot s = { 0 };
        if (!known_word(c, w->b->first + r, &s) && !slow_cell(w, column, r, &s)) return;
        if (label) w->b->seg.y[r] = s.val;
        else put(w->t, w->b, r, k, s);
    }
}

/* The id's text: of the cell, or of the word it is an index of. */
static bool person_cell(worker *w, const pvi_column *col, const pvi_cells *c, int64_t i, pvi_id *out)
{
    const char *why = NULL;
    pvi_span f = { w->room, 0 };
    if (c->words && pvi_cell_there(c, i)) {
        const int64_t k = word_index(c, i);
        if (k < 0)
            return snprintf(w->why, sizeof w->why, "column \"%s\": an index that is none of its dictionary",
                            col->name),
                   false;
        c = c->words;
        i = k;
    }
    const bool real = c->kind == PV_FLOAT32 || c->kind == PV_FLOAT64 || c->kind == PVI_CELL_HALF;
    if (pvi_cell_there(c, i) && !(real && isnan(pvi_cell_number(c, i)))) f = pvi_cell_text(c, i, w->room, &why);
    if (!f.s) return snprintf(w->why, sizeof w->why, "column \"%s\": %s", col->name, why), false;
    if (pvi_dictionary_find(&w->t->sc->missing, f.s, f.len) >= 0) f.len = 0;
    return pvi_person_id(w->t->job, f.s, f.len, out, w->why, sizeof w->why);
}

static void person_column(worker *w, int64_t column)
{
    for (int64_t r = 0; r < w->b->rows && w->t->job->by_person; r++) {
        const int64_t i = w->b->first + r;
        if (person_cell(w, &w->t->sc->column[column], &w->t->cells[column], i, &w->b->seg.person[r])) continue;
        pvi_block_fail(w->b, i, column, "%s", w->why);
        return;
    }
}

static void label_beside(worker *w)
{
    static const pvi_column label = { .name = "", .type = PVI_COL_LABEL };
    for (int64_t r = 0; r < w->b->rows; r++) {
        slot s = { 0 };
        if (!label_cell(w, &label, &w->t->beside, w->b->first + r, &s)) {
            pvi_block_fail(w->b, w->b->first + r, -1, "%s", w->why);
            return;
        }
        w->b->seg.y[r] = s.val;
    }
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */
/* Slots without zeros, in place: an entry never moves up. */
static void pack(const pvi_table *t, pvi_segment *g)
{
    uint32_t n = 0;
    for (int64_t r = 0; r < g->rows; r++) {
        for (int64_t k = r * t->slots; k < (r + 1) * t->slots; k++) {
            g->val[n] = g->val[k];
            g->idx[n] = g->idx[k];
            n += g->val[n] != 0.0f;
        }
        g->end[r] = n;
    }
}

static bool plain_numbers(const pvi_column *col, const pvi_cells *c)
{
    return col->type == PVI_COL_NUMBER && !c->words && c->kind != PVI_CELL_NULL && !pvi_cell_is_text(c);
}

static void fill(void *arg, pvi_block *b)
{
    const pvi_table *t = arg;
    worker w = { .t = t, .b = b };
    run g = { 0 };
    for (int64_t i = 0; i < t->sc->count; i++) {
        const pvi_column *col = &t->sc->column[i];
        if (t->cells[i].kind == PVI_CELL_NONE || col->type == PVI_COL_IGNORE) continue;
        if (col->type == PVI_COL_PERSON) {
            person_column(&w, i);
        } else if (plain_numbers(col, &t->cells[i])) {
            g.column[g.count++] = i;
            if (g.count == TILE) end_run(&w, &g);
        } else {
            end_run(&w, &g); /* of columns that refuse the same row the first counts */
            other_column(&w, i, g.slot);
            g.slot += col->type != PVI_COL_LABEL;
        }
    }
    end_run(&w, &g);
    if (t->beside.kind != PVI_CELL_NONE) label_beside(&w);
    b->seg.max_index = t->sc->features;
    b->seg.row = t->whole ? b->seg.val : NULL;
    b->seg.row_ld = t->slots;
    if (!t->whole && b->bad < 0) pack(t, &b->seg);
}

/* `row 2, column "age"` and what is wrong, which may begin with the column itself. */
static pv_status refuse(void *arg, const pvi_block *b)
{
    const pvi_table *t = arg;
    const char *told = pvi_told(t->job, b->why);
    const long long row = (long long)(t->row0 + b->bad + 1);
    if (b->column < 0) return pvi_fail(t->job->ctx, PV_E_FORMAT, "%s: row %lld: %s", t->job->name, row, told);
    const pvi_column *col = &t->sc->column[b->column];
    char place[64], head[64], part[48];
    pvi_excerpt(col->name, strlen(col->name), part);
    if (*col->name) snprintf(place, sizeof place, "column \"%s\"", part);
    else snprintf(place, sizeof place, "column %lld", (long long)b->column + 1);
    const int n = snprintf(head, sizeof head, "column \"%s\"", part);
    const bool own = strncmp(told, head, (size_t)n) == 0 && told[n] == ':';
    if (strncmp(told, head, (size_t)n) == 0 && told[n] == ' ')
        return pvi_fail(t->job->ctx, PV_E_FORMAT, "%s: row %lld: %s", t->job->name, row, told);
    if (!own && col->type == PVI_COL_LABEL && told == b->why) /* which names the column itself */
        return pvi_fail(t->job->ctx, PV_E_FORMAT, "%s: row %lld: %s", t->job->name, row, told);
    return pvi_fail(t->job->ctx, PV_E_FORMAT, "%s: row %lld, %s: %s", t->job->name, row, place,
                    own ? told + n + 2 : told);
}

/* ---- words of dictionaries ------------------------------------------------------------ */
static void free_words(pvi_table *t)
{
    for (int64_t i = 0; i < t->sc->count; i++) {
        pvi_free(t->job->ctx, t->cells[i].word_val);
        pvi_free(t->job->ctx, t->cells[i].word_code);
        t->cells[i].word_val = NULL;
        t->cells[i].word_code = NULL;
    }
}

/* What each word becomes; a code of -1: look at it when a row uses it. */
static pv_status look_up(pvi_table *t, int64_t column)
{
    pvi_cells *c = &t->cells[column];
    const size_t n = (size_t)c->words->count;
    worker w = { .t = t, .b = &t->rounds.block[0] };
    c->word_val = pvi_raw(t->job->ctx, n * sizeof *c->word_val);
    c->word_code = pvi_raw(t->job->ctx, n * sizeof *c->word_code);
    if (!c->word_val || !c->word_code) return pvi_nomem(t->job->ctx);
    for (size_t i = 0; i < n; i++) {
        slot s = { 0 };
        const bool good = one_cell(&w, &t->sc->column[column], c->words, (int64_t)i, &s);
        c->word_val[i] = s.val;
        c->word_code[i] = good ? s.code : -1;
    }
    return PV_OK;
}

/* ---- one load ------------------------------------------------------------ */
pvi_numbers_fn PVI_DECLARE_NARROW(pvi_numbers);
pvi_numbers_fn *const pvi_numbers_isa[PVI_ISA_COUNT] = PVI_EACH_NARROW(pvi_numbers);

pv_status pvi_table_open(pvi_table *t, struct pv_load *job, const pvi_schema *sc, pvi_cells *cells)
{
    *t = (pvi_table) { .job = job, .sc = sc, .cells = cells, .numbers = pvi_numbers_isa[pvi_isa()] };
    t->rounds = (pvi_rounds) { .job = job, .arg = t, .fill = fill, .refuse = refuse };
    bool numbers = true;
    for (int64_t i = 0; i < sc->count; i++) {
        t->slots += sc->column[i].type == PVI_COL_NUMBER || sc->column[i].type == PVI_COL_CATEGORY;
        numbers &= sc->column[i].type != PVI_COL_CATEGORY;
    }
    if (t->slots == 0) return pvi_fail(job->ctx, PV_E_FORMAT, "%s: no feature in any row", job->name);
    const pv_status s = pvi_build_begin(job, sc->features);
    if (s != PV_OK) return s;
    t->whole = numbers && pvi_build_takes_rows(job->out);
    return pvi_rounds_open(&t->rounds, t->slots);
}

pv_status pvi_table_run(pvi_table *t, int64_t rows, double before, double after)
{
    pv_status s = PV_OK;
    for (int64_t i = 0; i < t->sc->count && s == PV_OK; i++) {
        const pvi_cells *c = &t->cells[i];
        if (c->words && c->kind != PVI_CELL_NONE && c->words->count <= rows &&
            t->sc->column[i].type != PVI_COL_PERSON)
            s = look_up(t, i);
    }
    if (s == PV_OK) s = pvi_rounds_run(&t->rounds, rows, before, after);
    free_words(t);
    t->row0 += rows;
    return s;
}

void pvi_table_close(pvi_table *t)
{
    if (t->job) pvi_rounds_close(&t->rounds);
}
