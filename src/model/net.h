/* net.h - a network as a list of layers: what is written, what shapes follow, where the weights lie.
 *
 * Images are stored row after row, pixel after pixel, channels last: x[(i W + j) C + c].
 * Weights are one vector of d doubles, layer after layer, in each layer the weights and then the biases:
 *   conv       weights[((a K + b) in_c + c) units + n]  row a, column b of the kernel, channel c, filter n; biases[n]
 *   dense      weights[j units + n], j over the flattened input (channels last), n over outputs;        biases[n]
 *   groupnorm  weights: gain of each channel;                                                           biases[c]
 * All other layers have none. */
#ifndef PVI_NET_H
#define PVI_NET_H
#include "model/model.h"

typedef enum pvi_layer_kind { /* order of the names in net_parse.c */
                              PVI_LAYER_CONV,
                              PVI_LAYER_DENSE,
                              PVI_LAYER_MAXPOOL,
                              PVI_LAYER_AVGPOOL,
                              PVI_LAYER_RELU,
                              PVI_LAYER_TANH,
                              PVI_LAYER_GELU,    /* 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
                              PVI_LAYER_SIGMOID, /* 1/(1 + e^-x) */
                              PVI_LAYER_GROUPNORM,
                              PVI_LAYER_LRN, /* local response normalisation: net_norm.c (4) */
                              PVI_LAYER_FLATTEN
} pvi_layer_kind;

#define PVI_GROUPNORM_EPSILON 1e-5 /* added to the variance */
/* x / (1 + alpha mean of squares)^beta; the mean over 2 radius + 1 channels */
#define PVI_LRN_ALPHA 1e-3
#define PVI_LRN_BETA  0.75

typedef struct pvi_hwc {
    int64_t h, w, c; /* height, width, channels; a vector is 1 x 1 x c */
} pvi_hwc;

typedef struct pvi_layer {
    pvi_layer_kind kind;
    int64_t units;          /* filters of a conv, outputs of a dense (0 as written: one per class) */
    int64_t kernel, stride; /* conv and pools; square                                              */
    int64_t groups;         /* groupnorm                                                           */
    int64_t radius;         /* lrn: channels on either side                                        */
    bool same;              /* conv and pools: padded so that the output is ceil(input / stride)   */
    /* filled by pvi_net_shape */
    pvi_hwc in, out;
    int64_t pad_top, pad_left, pad_bottom, pad_right; /* zeros around the input of a conv; of a pool: nothing */
    int64_t weights, n_weights; /* first and number; n_weights = 0: the layer has no parameters     */
    int64_t biases, n_biases;
    char text[32]; /* as written */
} pvi_layer;

enum { PVI_MAX_LAYERS = 64 };
typedef struct pvi_net {
    int64_t n; /* layers */
    pvi_layer layer[PVI_MAX_LAYERS];
    pvi_hwc in;
    int64_t outputs; /* of the last layer: classes, or 1 for a real label */
    int64_t d;       /* weights in all */
} pvi_net;

extern const char *const pvi_layer_names[]; /* by kind */

/* Reads a description such as conv16x8s2same,relu,pool2s1,flatten,dense32,relu,dense; docs/algorithms/networks.md
 * has the grammar.  PV_E_PARAM with the layer and what would work. */
pv_status pvi_net_parse(pv_ctx *ctx, const char *text, pvi_net *out);
/* Shapes and places of the weights for this input; PV_E_PARAM names the layer, what comes in and what it needs. */
pv_status pvi_net_shape(pv_ctx *ctx, pvi_net *net, pvi_hwc in, int64_t outputs);

/* ---- the models mlp, cnn and the presets (net.c) ------------------------------------------------------- */
enum { PVI_CLIP_FLAT, PVI_CLIP_LAYER, PVI_CLIP_AUTOMATIC }; /* order of model.clipping */
typedef struct pvi_net_cfg {
    const char *layers; /* settings */
    int64_t loss, clipping, seed;
    double gamma, scale;    /* scale: factor of every input value */
    int64_t augment, shift; /* views of a row, and by how many pixels at most they are moved */
    bool flip;
    double radius;    /* of hidden values: split.c only      */
    pv_numbers clips; /* of every layer; none: equal         */
    pvi_net net;      /* filled by pvi_net_open */
    double all_clips; /* sqrt(sum_l clips_l^2); INFINITY: none */
} pvi_net_cfg;
/* What layer number `part` of `parts` with weights may add, of the bound C of all (net.c (5)). */
static inline double pvi_net_share(const pvi_net_cfg *c, double C, int64_t part, double parts)
{
    return c->clips.n ? C * (pvi_list_at(&c->clips, part) / c->all_clips) : C / sqrt(parts);
}
#define PVI_CLIPS_ROW                                                                                                \
    {                                                                                                                \
        "clips", PV_LIST, offsetof(pvi_net_cfg, clips), PV_AUTO, 1e-12, 1e12, true,                                  \
            "C_l, bounds on a row's gradient for each layer, together sqrt(sum C_l^2); equal: clip/sqrt(layers)",    \
            "equal"                                                                                                  \
    }
/* The slot `open`: reads the layers and checks them against the domain. */
pv_status pvi_net_open(void *cfg, const pv_domain *dom, pv_ctx *ctx);
/* Of every network: contract slots of pv_model_ops. */
int64_t pvi_net_dim(const void *cfg, const pv_domain *dom);
void pvi_net_start(const void *cfg, const pv_domain *dom, double *w);
int64_t pvi_net_tensors(const void *cfg, const pv_domain *dom, pv_tensor *out);
int64_t pvi_net_outputs(const void *cfg, const pv_domain *dom);
bool pvi_is_net(const pv_model_ops *model); /* its cfg is a pvi_net_cfg */

/* A product that may have lost digits below the normal range is 0: a relative bound then holds for all others. */
static inline float pvi_times(float x, float f)
{
    const float v = x * f;
    return v >= 0x1p-126f || v <= -0x1p-126f ? v : 0.0f;
}
#endif
