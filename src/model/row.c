/* row.c - what a model sees of a row that is stored as it came: x = s (v, b).
 *
 *   v, b   values of a stored row, any finite floats; the bias, a float (0: no such column)
 *   norm   float stored with the row, norm >= ||(v, b)|| (data.norm=max: the largest of |v_j|, |b|)
 *   r      the largest float <= R, 10^-6 <= R <= 10^6; or infinity, for rows that are taken as they are
 *   s      gain of the row                               u      2^-24
 *
 * (1) s = 1 where norm <= r; data.norm=unit: where norm = r or norm = 0.  Elsewhere s = fl(fl(r / norm) (1 - 4u)),
 *     0 where that is below the normal floats or norm is infinite, and the largest float where it is above all
 *     floats.
 * (2) s norm <= r in exact arithmetic: two roundings raise by a factor of at most 1 + u each, and
 *     (1 + u)^2 (1 - 4u) < 1; the two limits only lower s.  Hence ||s (v, b)|| <= r <= R.
 * (3) The floats x_j = fl(s v_j), fl(s b) have norm at most r as well, and where s = 1 at most norm: rounding changes
 *     them by at most u |s v_j| + 2^-150 each, so ||x|| <= (1 + u)^3 (1 - 4u) r + sqrt(p) 2^-150 < r, since p < 2^32
 *     and u r > 2^-45.  Of the largest |x_j|, rounding makes no number at most r larger than r.
 * (4) <(v, b), w> is summed in floats and multiplied by s afterwards.  v alone may be so large or small that the sum
 *     overflows or vanishes though s (v, b) is an ordinary row.  Where norm is not 0 and not within 2^-60 .. 2^60
 *     the sum is made in double: products of floats are exact and at most 2^256.
 * (5) A row with norm > r / 2^-126, or an infinite one, has s = 0 in (1), and adds nothing to the sums of linear
 *     models.  Its margin, what is predicted of it, and what a network sees of it go by r / norm in double, of the
 *     true norm where the float is infinite: exported models, which scale in other ways, see it like that as well.
 *
 * Privacy rests on neither s nor (4) nor (5), but on norm: coefficients of the stored row (v, b) are bounded by
 * clip / norm (glm.c, softmax.c), or clipping is by what was computed (net.c, split.c), or by (3) (glm_joint.c,
 * softmax_joint.c).  All of it is a function of the row, its norm and public numbers. */
#include "model.h"

double pvi_row_dot(const pv_rows *rows, int64_t r, const float *w)
{
    const int64_t q = pvi_stored(rows);
    double sum = rows->bias != 0.0f ? (double)rows->bias * (double)w[q] : 0.0;
    if (rows->x)
        for (int64_t j = 0; j < q; j++) sum += (double)rows->x[r * rows->ld + j] * (double)w[j];
    else
        for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
            sum += (double)rows->val[e] * (double)w[rows->idx[e]];
    return sum;
}

double pvi_far_gain(const pv_rows *rows, int64_t r, float norm)
{
    const int64_t q = pvi_stored(rows);
    double sum = (double)rows->bias * (double)rows->bias;
    if (pvi_gain(rows, norm) != 0.0f || !(norm > 0.0f)) return (double)pvi_gain(rows, norm);
    for (int64_t j = 0; rows->x && j < q; j++)
        sum += (double)rows->x[r * rows->ld + j] * (double)rows->x[r * rows->ld + j];
    for (int64_t e = rows->x ? 0 : rows->ptr[r]; !rows->x && e < rows->ptr[r + 1]; e++)
        sum += (double)rows->val[e] * (double)rows->val[e];
    return (double)rows->bound / (isinf(norm) ? sqrt(sum) : (double)norm) * (1.0 - 0x1p-22);
}

/* ---- blocks of rows as the model sees them --------------------------------------------------------------- */

static int64_t padded(int64_t p)
{
    return (p + 15) / 16 * 16;
}

size_t pvi_shown_size(int64_t p)
{
    return (sizeof(float) + sizeof(int32_t)) * PVI_SHOWN_ROWS * (size_t)padded(p);
}

void pvi_shown_open(pvi_shown *s, int64_t p, void *room)
{
    s->ld = padded(p);
    s->x = room;
    s->idx = (int32_t *)(void *)(s->x + PVI_SHOWN_ROWS * s->ld);
}

static void see_dense(pvi_shown *s, const pv_rows *rows, int64_t n, const float **row, const float *gain)
{
    pvi_hess_kernel_isa[pvi_isa()]->scale(row, n, pvi_stored(rows), rows->bias, gain, s->x, s->ld);
    for (int64_t i = 0; i < n; i++) row[i] = s->x + i * s->ld;
}

static void see_sparse(pvi_shown *s, const pv_rows *rows, int64_t n, int64_t *r, const float *gain)
{
    int64_t e = 0;
    s->ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = rows->ptr[r[i]]; k < rows->ptr[r[i] + 1]; k++) {
            s->idx[e] = rows->idx[k];
            s->x[e++] = gain[i] * rows->val[k];
        }
        if (rows->bias != 0.0f) {
            s->idx[e] = (int32_t)pvi_stored(rows);
            s->x[e++] = gain[i] * rows->bias;
        }
        s->ptr[i + 1] = e;
        r[i] = i;
    }
    s->rows.ptr = s->ptr;
    s->rows.idx = s->idx;
    s->rows.val = s->x;
}

void pvi_show(pvi_shown *s, const pv_rows *rows, int64_t n, const float **row, int64_t *r, float *norm)
{
    float gain[PVI_SHOWN_ROWS];
    bool same = rows->bias == 0.0f;
    PVI_REQUIRE(n <= PVI_SHOWN_ROWS);
    s->rows = *rows;
    s->rows.bias = 0.0f;
    s->rows.bound = INFINITY;
    s->rows.unit = false;
    for (int64_t i = 0; i < n; i++) {
        gain[i] = pvi_gain(rows, norm[i]);
        same &= gain[i] == 1.0f;
        norm[i] = pvi_shown_norm(rows, norm[i]); /* (3) */
    }
    if (same) return;
    if (rows->x) see_dense(s, rows, n, row, gain);
    else see_sparse(s, rows, n, r, gain);
}
