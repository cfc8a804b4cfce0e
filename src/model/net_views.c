/* net_views.c - several views of a row: moved or mirrored copies whose gradients are averaged before clipping.
 *
 *   g_v    gradient of view v of a row, v < K       q = (1/K) sum_v g_v       what is clipped and added
 *   view   the first is the row itself; the others are moved by up to `shift` pixels down and right, and mirrored
 *          with probability 1/2 where `flip` asks for it.  Pixels that come in take the value of the nearest one.
 *
 * Which views a row gets is drawn from a public stream by the seed, the number of the query and the place of the row.
 * No row has a say in it, and two tables that differ in one row have the same views of all others.
 *
 * Privacy.  q is formed for one row at a time as floats, like the gradient of a convolution in net.c (3): it is a
 * function of the row, its place, the query and the weights.  Its norm is taken of these floats and one multiply-add
 * per coordinate adds it, so (M1), (M2) and (M3) of net.c hold as they stand: K enters neither sensitivity nor cost.
 * A row with a view that is not usable adds nothing.
 * Cost      K times that of a row, and one pass over all weights per row for the sum.
 * Reference De, Berrada, Hayes, Smith, Balle 2022, Section 3.3 (augmentation multiplicity). */
#include "model/net_run.h"

enum { WORDS = 16 };
_Static_assert((int)PVI_MAX_VIEWS <= (int)WORDS, "a block of the stream holds a word per view");

void pvi_net_views(const pvi_net_cfg *c, uint64_t query, int64_t row, pvi_view view[PVI_MAX_VIEWS])
{
    static const uint8_t key[PVI_KEY_SIZE] = { 1 }; /* start weights have 0 */
    uint32_t word[WORDS];
    const uint32_t wide = (uint32_t)(2 * c->shift + 1);
    pvi_chacha20(key, (uint64_t)c->seed, query << 40 ^ (uint64_t)row, (uint8_t *)word, sizeof word);
    view[0] = (pvi_view) { 0, 0, false };
    for (int64_t v = 1; v < c->augment; v++) {
        const uint32_t w = word[v] >> 1;
        view[v] = (pvi_view) { (int64_t)(w % wide) - c->shift, (int64_t)(w / wide % wide) - c->shift,
                               c->flip && (word[v] & 1) };
    }
}

static int64_t within(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Image and view are inputs of the first layer, zeros around them included. */
static void make_view(const pvi_net_state *s, const float *image, const pvi_view *v, float *to)
{
    const pvi_hwc in = s->net->in;
    const pvi_place *first = &s->plan.place[0];
    const int64_t top = s->input[0], line = in.h > 1 ? s->input[in.w] - top : 0;
    memcpy(to, image, sizeof *to * (size_t)first->in_size);
    if (v->down == 0 && v->right == 0 && !v->flip) return;
    for (int64_t y = 0; y < in.h; y++)
        for (int64_t x = 0; x < in.w; x++) {
            const int64_t j = within(x - v->right, in.w), column = v->flip ? in.w - 1 - j : j;
            memcpy(to + top + y * line + x * in.c, image + top + within(y - v->down, in.h) * line + column * in.c,
                   sizeof *to * (size_t)in.c);
        }
}

/* Views first .. of the row in the scratch image; false: one of them is not usable. */
static bool add_views(const pvi_net_state *s, const pvi_net_cfg *c, const pvi_view *view, int64_t first, bool more,
                      float y, pvi_net_work *k)
{
    const pvi_place *in = &s->plan.place[0], *last = &s->plan.place[s->net->n - 1];
    k->n = c->augment - first < s->plan.batch ? c->augment - first : s->plan.batch;
    for (int64_t e = 0; e < k->n; e++)
        make_view(s, k->x + s->plan.image, &view[first + e], k->x + in->in + e * in->in_size);
    const float *const z = pvi_net_forward(s, k);
    for (int64_t e = 0; e < k->n; e++) {
        k->usable[e] = true;
        if (!isfinite(pvi_net_loss(s, c, z + e * last->out_size, y, k->x + last->delta + e * last->out_size)))
            return false;
    }
    pvi_net_back_tail(s, k);
    pvi_net_form(s, k, 0, k->n, more, k->x + s->plan.mean);
    return true;
}

bool pvi_net_add_row(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *rows, int64_t r, int64_t place,
                     bool more, pvi_net_work *k)
{
    pvi_view view[PVI_MAX_VIEWS];
    pvi_net_views(c, s->query, place, view);
    pvi_net_fill_row(s, rows, r, k->x + s->plan.image);
    for (int64_t first = 0; first < c->augment; first += s->plan.batch)
        if (!add_views(s, c, view, first, more || first > 0, rows->y[r], k)) return false;
    return true;
}

void pvi_net_sum_views(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *rows, double clip, float *g,
                       int64_t *n_bad, pvi_net_work *k)
{
    float *const mean = k->x + s->plan.mean, share = 1.0f / (float)c->augment;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t r = rows->pick ? rows->pick[i] : i, place = rows->pick ? r : rows->first + i;
        const bool good = pvi_net_add_row(s, c, rows, r, place, false, k);
        for (int64_t j = 0; good && j < s->net->d; j++) mean[j] *= share;
        if (!good || !pvi_net_add_vector(s, c, clip, mean, 1.0f, 1.0, g)) ++*n_bad;
    }
}
