/* test_net_parse.c - what descriptions of networks mean, and how wrong ones are refused. */
#include "model/net.h"
#include "ctxtest.h"

static const char tutorial[] = "conv16x8s2same,relu,pool2s1,conv32x4s2valid,relu,pool2s1,flatten,dense32,relu,dense";

static void is_shape(pvi_hwc s, int64_t h, int64_t w, int64_t c)
{
    PVT_IS(s.h, h);
    PVT_IS(s.w, w);
    PVT_IS(s.c, c);
}

/* The tutorial network of TensorFlow Privacy: 1040 + 8224 + 16416 + 330 weights. */
static void tutorial_network(void **state)
{
    (void)state;
    pvi_net n;
    PVT_OK(pvi_net_parse(ctx, tutorial, &n));
    PVT_IS(n.n, 10);
    PVT_OK(pvi_net_shape(ctx, &n, (pvi_hwc) { 28, 28, 1 }, 10));
    is_shape(n.layer[0].out, 14, 14, 16);
    PVT_IS(n.layer[0].pad_top, 3);
    PVT_IS(n.layer[0].pad_bottom, 3);
    is_shape(n.layer[2].out, 13, 13, 16);
    is_shape(n.layer[3].out, 5, 5, 32);
    is_shape(n.layer[5].out, 4, 4, 32);
    is_shape(n.layer[9].out, 1, 1, 10);
    PVT_IS(n.layer[3].weights, 1040);
    PVT_IS(n.layer[7].weights, 1040 + 8224);
    PVT_IS(n.layer[9].biases, 26000);
    PVT_IS(n.d, 26010);
}

static void spellings(void **state)
{
    (void)state;
    pvi_net n;
    PVT_OK(pvi_net_parse(ctx, "conv4x3", &n));
    PVT_IS(n.layer[0].stride, 1);
    PVT_TRUE(!n.layer[0].same);
    PVT_OK(pvi_net_parse(ctx, " conv4x3same , avgpool3 ,maxpool2s1,groupnorm4,gelu,tanh,dense7", &n));
    PVT_IS(n.n, 7);
    PVT_TRUE(n.layer[0].same);
    PVT_IS(n.layer[1].kind, PVI_LAYER_AVGPOOL);
    PVT_IS(n.layer[1].stride, 3);
    PVT_IS(n.layer[2].kind, PVI_LAYER_MAXPOOL);
    PVT_IS(n.layer[3].groups, 4);
    PVT_IS(n.layer[6].units, 7);
    PVT_OK(pvi_net_shape(ctx, &n, (pvi_hwc) { 10, 9, 3 }, 7));
    is_shape(n.layer[0].out, 10, 9, 4);
    is_shape(n.layer[1].out, 3, 3, 4);
    is_shape(n.layer[2].out, 2, 2, 4);
}

/* The TensorFlow tutorial's network for CIFAR-10, on its crops of 24 x 24 and on whole images. */
static void cifar_tutorial(void **state)
{
    (void)state;
    const pv_model_ops *m = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, "cifar-tutorial");
    pvi_net_cfg c = { 0 };
    pvi_net n;
    pvi_param_defaults(m->head.params, &c);
    PVT_OK(pvi_net_parse(ctx, c.layers, &n));
    PVT_OK(pvi_net_shape(ctx, &n, (pvi_hwc) { 24, 24, 3 }, 10));
    is_shape(n.layer[0].out, 24, 24, 64);
    is_shape(n.layer[2].out, 12, 12, 64);
    is_shape(n.layer[3].out, 12, 12, 64);
    is_shape(n.layer[7].out, 6, 6, 64);
    PVT_TRUE(n.layer[2].pad_top == 0 && n.layer[2].pad_bottom == 1); /* 11 strides of 2 and a window of 3: 25 */
    PVT_TRUE(n.layer[3].kind == PVI_LAYER_LRN && n.layer[3].radius == 4);
    PVT_IS(n.d, 4864 + 102464 + 885120 + 73920 + 1930);
    PVT_OK(pvi_net_parse(ctx, c.layers, &n));
    PVT_OK(pvi_net_shape(ctx, &n, (pvi_hwc) { 32, 32, 3 }, 10));
    PVT_IS(n.d, 1756426);
}

/* An even kernel pads more behind than in front, an uncovered rest of the stride needs nothing. */
static void padding(void **state)
{
    (void)state;
    pvi_net n;
    PVT_OK(pvi_net_parse(ctx, "conv1x4same,dense", &n));
    PVT_OK(pvi_net_shape(ctx, &n, (pvi_hwc) { 5, 7, 1 }, 2));
    PVT_IS(n.layer[0].pad_top, 1);
    PVT_IS(n.layer[0].pad_bottom, 2);
    PVT_OK(pvi_net_parse(ctx, "conv1x1s3same,dense", &n));
    PVT_OK(pvi_net_shape(ctx, &n, (pvi_hwc) { 5, 7, 1 }, 2));
    is_shape(n.layer[0].out, 2, 3, 1);
    PVT_IS(n.layer[0].pad_top + n.layer[0].pad_bottom + n.layer[0].pad_left, 0);
}

static void refuses(const char *text, const char *why)
{
    pvi_net n;
    pv_status s = pvi_net_parse(ctx, text, &n);
    if (s == PV_OK) s = pvi_net_shape(ctx, &n, (pvi_hwc) { 8, 8, 3 }, 10);
    PVT_IS(s, PV_E_PARAM);
    PVT_CHECK(strstr(pv_ctx_errmsg(ctx), why), "%s: %s", text, pv_ctx_errmsg(ctx));
}

static void refused(void **state)
{
    (void)state;
    refuses("", "layer 1 is empty");
    refuses("dense,", "layer 2 is empty");
    refuses("batchnorm,dense", "use groupnorm");
    refuses("rulu,dense", "did you mean relu");
    refuses("xyzzy", "there is conv, dense");
    refuses("conv,dense", "conv16x8s2same");
    refuses("conv4x0", "conv16x8s2same");
    refuses("conv4x3s", "conv16x8s2same");
    refuses("conv4x3s1samee", "\"e\" is not understood");
    refuses("conv4x99999999999999999999", "conv16x8s2same");
    refuses("pool", "pool2s1");
    refuses("pool2s1samee", "\"e\" is not understood");
    refuses("dropout,dense", "leave it out");
    refuses("dropout0.5,dense", "depend on that draw");
    refuses("lrn,dense", "lrn4");
    refuses("dense4,lrn4,dense", "before the first dense");
    refuses("sigmod,dense", "did you mean sigmoid");
    refuses("pool2s0", "pool2s1");
    refuses("dense3x", "\"x\" is not understood");
    refuses("densex", "no such layer");
    refuses("groupnorm", "how many groups");
    refuses("relu7", "\"7\" is not understood");
    refuses("conv4x9,dense", "layer 1 (conv4x9) gets 8x8x3, smaller than its window of 9x9");
    refuses("pool2,pool2,pool2,pool2,dense", "layer 4 (pool2) gets 1x1x3");
    refuses("dense4,conv4x1,dense", "before the first dense");
    refuses("groupnorm2,dense", "layer 1 (groupnorm2) gets 8x8x3, and needs a number of channels that 2 divides");
    refuses("dense10,groupnorm10,dense", "groups of one value");
    refuses("dense10,relu", "the last layer is relu");
    refuses("dense11", "need 10 outputs");
    refuses("conv65536x65536same,dense", "2^31");
    refuses("dense65536,dense65536,dense65536,dense", "2^31");
    char many[8 * PVI_MAX_LAYERS] = "relu";
    for (int i = 0; i < PVI_MAX_LAYERS; i++) strcat(many, ",relu");
    refuses(many, "more than 64 layers");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(tutorial_network), cmocka_unit_test(cifar_tutorial),
                                      cmocka_unit_test(spellings), cmocka_unit_test(padding),
                                      cmocka_unit_test(refused) };
    return cmocka_run_group_tests(all, setup, teardown);
}
