/* test_metrics.c - AUC against all pairs, every metric against its definition, bad input, failing memory. */
#include "ctxtest.h"
#include "core/core.h"
#include "eval/eval.h"
#include "alloctest.h"

/* Every positive against every negative. */
static double auc_of_pairs(int64_t n, const float *score, const uint8_t *positive)
{
    double won = 0.0, pairs = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (positive[i] && !positive[j]) {
                pairs += 1.0;
                won += score[i] > score[j] ? 1.0 : score[i] == score[j] ? 0.5 : 0.0;
            }
    return won / pairs;
}

static void auc_matches_all_pairs(void **state)
{
    (void)state;
    uint64_t s = 9;
    float score[200];
    uint8_t positive[200];
    for (int round = 0; round < 400; round++) {
        const int64_t n = 2 + (int64_t)(pvt_uniform(&s) * 198.0);
        const double levels = round % 3 == 0 ? 4.0 : round % 3 == 1 ? 50.0 : 1e6; /* many ties, some, none */
        for (int64_t i = 0; i < n; i++) {
            positive[i] = pvt_uniform(&s) < 0.3;
            score[i] = (float)(floor((pvt_uniform(&s) - 0.5 + 0.2 * positive[i]) * levels) *
                               exp2(20.0 * (round % 7) - 60.0));
            if (score[i] == 0.0f && i % 2) score[i] = -0.0f;
        }
        double auc;
        PVT_OK(pvi_auc(ctx, n, score, positive, &auc));
        const double want = auc_of_pairs(n, score, positive);
        if (isnan(want)) PVT_TRUE(isnan(auc));
        else PVT_NEAR(auc, want, 1e-15);
    }
}

static void auc_of_extreme_floats(void **state)
{
    (void)state;
    const float score[6] = { -3e38f, -1e-45f, -0.0f, 0.0f, 1e-45f, 3e38f };
    const uint8_t rising[6] = { 0, 0, 0, 0, 1, 1 }, falling[6] = { 1, 1, 0, 0, 0, 0 },
                  middle[6] = { 0, 0, 1, 0, 0, 0 };
    double auc;
    PVT_OK(pvi_auc(ctx, 6, score, rising, &auc));
    PVT_NEAR(auc, 1.0, 0);
    PVT_OK(pvi_auc(ctx, 6, score, falling, &auc));
    PVT_NEAR(auc, 0.0, 0);
    PVT_OK(pvi_auc(ctx, 6, score, middle, &auc));
    PVT_NEAR(auc, (2.0 + 0.5) / 5.0, 0);
    PVT_OK(pvi_auc(ctx, 0, score, middle, &auc));
    PVT_TRUE(isnan(auc));
}

static void binary_metrics_by_hand(void **state)
{
    (void)state;
    /*                      hit    miss   right-neg  alarm  tie->-1  hit */
    const float score[6] = { 2.0f, -1.0f, -3.0f, 0.5f, 0.0f, 40.0f };
    const float y[6] = { 1, 1, -1, -1, -1, 1 };
    const pv_domain dom = { .classes = 2 };
    pvi_metrics m;
    PVT_OK(pvi_metrics_compute(ctx, &dom, 6, score, y, 0.0, &m));
    PVT_NEAR(m.accuracy, 4.0 / 6.0, 1e-15);
    PVT_NEAR(m.majority, 0.5, 0);
    PVT_IS(m.confusion[0], 2); /* true -1, said -1 */
    PVT_IS(m.confusion[1], 1);
    PVT_IS(m.confusion[2], 1);
    PVT_IS(m.confusion[3], 2);
    PVT_NEAR(m.precision, 2.0 / 3.0, 1e-15);
    PVT_NEAR(m.recall, 2.0 / 3.0, 1e-15);
    PVT_NEAR(m.f1, 2.0 / 3.0, 1e-15);
    double loss = 0.0;
    for (int i = 0; i < 6; i++) loss += log(1.0 + exp(-(double)y[i] * score[i])) / 6.0;
    PVT_NEAR(m.log_loss, loss, 1e-15);
    PVT_NEAR(m.auc, (3.0 + 1.0 + 3.0) / 9.0, 1e-15);
    PVT_IS(m.bins[8].count, 1); /* sigmoid(2) = .88 */
    PVT_IS(m.bins[9].count, 1); /* sigmoid(40) rounds to 1: the last bin is closed */
    PVT_IS(m.bins[5].count, 1); /* sigmoid(0) = .5 */
    PVT_IS(m.bins[6].count, 1); /* sigmoid(.5) = .62 */
    PVT_NEAR(m.bins[8].observed, 1.0, 0);
    PVT_NEAR(m.bins[8].predicted, 1.0 / (1.0 + exp(-2.0)), 1e-15);
    PVT_TRUE(isnan(m.bins[1].observed));
    pvi_metrics_free(ctx, &m);
    PVT_OK(pvi_metrics_compute(ctx, &dom, 6, score, y, -2.0, &m)); /* another cut decides, and changes nothing else */
    PVT_IS(m.confusion[0], 1);
    PVT_IS(m.confusion[1], 2);
    PVT_IS(m.confusion[2], 0);
    PVT_IS(m.confusion[3], 3);
    PVT_NEAR(m.recall, 1.0, 0);
    PVT_NEAR(m.log_loss, loss, 1e-15);
    pvi_metrics_free(ctx, &m);
}

static void huge_margins_stay_finite(void **state)
{
    (void)state;
    const float score[4] = { 1e6f, -1e6f, 3e38f, -3e38f }, y[4] = { 1, -1, -1, 1 };
    const pv_domain dom = { .classes = 2 };
    pvi_metrics m;
    PVT_OK(pvi_metrics_compute(ctx, &dom, 4, score, y, 0.0, &m));
    PVT_REL(m.log_loss, ((double)score[2] - (double)score[3]) / 4.0, 1e-12);
    PVT_NEAR(m.calibration_error, 0.5, 1e-15);
    pvi_metrics_free(ctx, &m);

    const float logits[6] = { 3e38f, 0.0f, -3e38f, -1e6f, 1e6f, 0.0f }, label[2] = { 0, 1 };
    const pv_domain three = { .classes = 3 };
    PVT_OK(pvi_metrics_compute(ctx, &three, 2, logits, label, 0.0, &m));
    PVT_NEAR(m.log_loss, 0.0, 0);
    PVT_NEAR(m.accuracy, 1.0, 0);
    pvi_metrics_free(ctx, &m);
}

static double probability(const float *l, int k, int c)
{
    double sum = 0.0;
    for (int j = 0; j < k; j++) sum += exp((double)l[j]);
    return exp((double)l[c]) / sum;
}

static void many_classes_match_the_definition(void **state)
{
    (void)state;
    enum { N = 300, K = 5 };
    uint64_t s = 21;
    float score[N * K], y[N], column[N];
    uint8_t positive[N];
    for (int i = 0; i < N; i++) {
        y[i] = (float)(int)(pvt_uniform(&s) * (K - 1)); /* class 4 never occurs: left out of the AUC */
        for (int c = 0; c < K; c++) score[i * K + c] = (float)(pvt_normal(&s) + 1.5 * (c == (int)y[i]));
    }
    const pv_domain dom = { .classes = K };
    pvi_metrics m;
    PVT_OK(pvi_metrics_compute(ctx, &dom, N, score, y, 0.0, &m));

    double loss = 0.0, right = 0.0, auc = 0.0, gap = 0.0;
    double said[10] = { 0 }, was[10] = { 0 };
    int64_t confusion[K * K] = { 0 };
    for (int i = 0; i < N; i++) {
        int best = 0;
        for (int c = 0; c < K; c++) best = score[i * K + c] > score[i * K + best] ? c : best;
        const double p = probability(score + i * K, K, best);
        loss -= log(probability(score + i * K, K, (int)y[i])) / N;
        right += best == (int)y[i];
        confusion[(int)y[i] * K + best]++;
        said[(int)(10.0 * p)] += p;
        was[(int)(10.0 * p)] += best == (int)y[i];
    }
    for (int b = 0; b < 10; b++) gap += fabs(said[b] - was[b]) / N;
    for (int c = 0; c < K - 1; c++) {
        for (int i = 0; i < N; i++) {
            column[i] = (float)log(probability(score + i * K, K, c));
            positive[i] = (int)y[i] == c;
        }
        auc += auc_of_pairs(N, column, positive) / (K - 1);
    }
    PVT_NEAR(m.log_loss, loss, 1e-13);
    PVT_NEAR(m.accuracy, right / N, 1e-15);
    PVT_NEAR(m.auc, auc, 1e-4); /* the last bit of a float may break a tie */
    PVT_NEAR(m.calibration_error, gap, 1e-13);
    for (int k = 0; k < K * K; k++) PVT_IS(m.confusion[k], confusion[k]);
    PVT_TRUE(isnan(m.f1));
    pvi_metrics_free(ctx, &m);
}

static void real_labels_match_the_definition(void **state)
{
    (void)state;
    const float z[4] = { 1, 2, 3, 4 }, y[4] = { 1, 1, 5, 4 }, flat[4] = { 2, 2, 2, 2 };
    const pv_domain dom = { .classes = 0 };
    pvi_metrics m;
    PVT_OK(pvi_metrics_compute(ctx, &dom, 4, z, y, 0.0, &m));
    PVT_NEAR(m.rmse, sqrt(5.0 / 4.0), 1e-15);
    PVT_NEAR(m.mae, 0.75, 1e-15);
    const double mean = 11.0 / 4.0,
                 spread = 2 * (1 - mean) * (1 - mean) + (5 - mean) * (5 - mean) + (4 - mean) * (4 - mean);
    PVT_NEAR(m.r2, 1.0 - 5.0 / spread, 1e-15);
    PVT_TRUE(isnan(m.accuracy) && isnan(m.auc) && !m.confusion);
    PVT_OK(pvi_metrics_compute(ctx, &dom, 4, z, flat, 0.0, &m));
    PVT_TRUE(isnan(m.r2));
}

static void one_sided_labels_have_no_auc(void **state)
{
    (void)state;
    const float score[2] = { -1, -2 }, y[2] = { -1, -1 };
    const pv_domain dom = { .classes = 2 };
    pvi_metrics m;
    PVT_OK(pvi_metrics_compute(ctx, &dom, 2, score, y, 0.0, &m));
    PVT_TRUE(isnan(m.auc) && isnan(m.precision) && isnan(m.recall) && isnan(m.f1));
    PVT_NEAR(m.accuracy, 1.0, 0);
    pvi_metrics_free(ctx, &m);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const float score[3] = { 1, 2, 3 }, nan_score[3] = { 1, NAN, 3 }, inf_score[3] = { 1, 2, INFINITY };
    const float y[3] = { 1, -1, 1 }, zero[3] = { 1, 0, 1 }, nan_y[3] = { NAN, 1, 1 };
    pv_domain dom = { .classes = 2 };
    pvi_metrics m;
    PVT_IS(pvi_metrics_compute(ctx, &dom, 0, score, y, 0.0, &m), PV_E_ARG);
    PVT_IS(pvi_metrics_compute(ctx, &dom, -1, score, y, 0.0, &m), PV_E_ARG);
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, nan_score, y, 0.0, &m), PV_E_NUMERIC);
    assert_string_equal(pv_ctx_errmsg(ctx), "row 2: the model's score is not a finite number");
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, inf_score, y, 0.0, &m), PV_E_NUMERIC);
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, score, zero, 0.0, &m), PV_E_ARG);
    assert_string_equal(pv_ctx_errmsg(ctx), "row 2: label 0 is not one of the 2 classes");
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, score, nan_y, 0.0, &m), PV_E_ARG);
    dom.classes = 3;
    PVT_IS(pvi_metrics_compute(ctx, &dom, 1, score, y + 1, 0.0, &m), PV_E_ARG); /* -1 */
    const float three = 3, half = 0.5;
    PVT_IS(pvi_metrics_compute(ctx, &dom, 1, score, &three, 0.0, &m), PV_E_ARG);
    PVT_IS(pvi_metrics_compute(ctx, &dom, 1, score, &half, 0.0, &m), PV_E_ARG);
    PVT_IS(pvi_metrics_compute(ctx, &dom, 1, nan_score, zero, 0.0, &m), PV_E_NUMERIC);
    dom.classes = 1;
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, score, y, 0.0, &m), PV_E_ARG);
    dom.classes = 0;
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, score, nan_y, 0.0, &m), PV_E_ARG);
    PVT_IS(pvi_metrics_compute(ctx, &dom, 3, nan_score, y, 0.0, &m), PV_E_NUMERIC);
}

static void json_has_the_fields(void **state)
{
    (void)state;
    const float score[4] = { 2, -1, -3, 1 }, y[4] = { 1, 1, -1, -1 }, one[1] = { -1 };
    char *names[] = { "no", "yes" };
    const pv_domain dom = { .classes = 2 };
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out };
    pvi_jw_open(&w, NULL, '{');
    PVT_OK(pvi_metrics_json(ctx, &dom, names, 4, score, y, 0.0, &w));
    pvi_jw_close(&w, '}');
    pv_arena *a = pvi_arena_create(ctx);
    pvi_json *v;
    PVT_OK(pvi_json_parse(ctx, a, "metrics", out.s, out.len, &v));
    PVT_NEAR(pvi_json_get(v, "accuracy")->num, 0.5, 0);
    PVT_NEAR(pvi_json_get(v, "auc")->num, 0.75, 0);
    PVT_NEAR(pvi_json_get(v, "rows")->num, 4, 0);
    const pvi_json *c = pvi_json_get(v, "confusion");
    assert_string_equal(pvi_json_get(c, "classes")->child->next->text, "yes");
    PVT_IS(pvi_json_get(c, "true_by_predicted")->child->next->child->num, 1);
    PVT_IS(pvi_json_get(pvi_json_get(v, "calibration"), "bins")->count, 10);
    pvi_str_free(&out);

    w = (pvi_jw) { .out = &out };
    out = (pvi_str) { .ctx = ctx };
    pvi_jw_open(&w, NULL, '{');
    PVT_OK(pvi_metrics_json(ctx, &dom, NULL, 1, score, one, 0.0, &w));
    pvi_jw_close(&w, '}');
    assert_non_null(strstr(out.s, "\"auc\":null"));
    assert_non_null(strstr(out.s, "[\"-1\",\"+1\"]"));
    pvi_str_free(&out);
    pvi_arena_free(a);
}

/* ---- the k-th allocation fails: PV_E_NOMEM, and everything is given back ------------------------- */
static void failing_memory_is_reported(void **state)
{
    (void)state;
    const float score[6] = { 1, 2, 3, 3, 2, 1 }, two[6] = { 1, -1, 1, 1, -1, 1 }, k[2] = { 0, 1 };
    for (int64_t classes = 2; classes <= 3; classes++)
        for (int allowed = 0;; allowed++) {
            pvt_memory m = { 0 };
            pv_ctx *c = pvt_counted(&m);
            m.left = allowed;
            const pv_domain dom = { .classes = classes };
            pvi_metrics r;
            const pv_status s =
                pvi_metrics_compute(c, &dom, classes == 2 ? 6 : 2, score, classes == 2 ? two : k, 0.0, &r);
            if (s == PV_OK) pvi_metrics_free(c, &r);
            else PVT_IS(s, PV_E_NOMEM);
            PVT_IS(m.live, 1); /* the context itself */
            pv_ctx_free(c);
            if (s == PV_OK) {
                PVT_TRUE(allowed >= 4);
                break;
            }
        }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(auc_matches_all_pairs),
        cmocka_unit_test(auc_of_extreme_floats),
        cmocka_unit_test(binary_metrics_by_hand),
        cmocka_unit_test(huge_margins_stay_finite),
        cmocka_unit_test(many_classes_match_the_definition),
        cmocka_unit_test(real_labels_match_the_definition),
        cmocka_unit_test(one_sided_labels_have_no_auc),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(json_has_the_fields),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
