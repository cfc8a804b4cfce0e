/* svm.h - between the LIBSVM reader and its kernel. */
#ifndef PVI_SVM_H
#define PVI_SVM_H
#include "core/isa.h"
#include "data/reader.h"

typedef struct pvi_svm {
    const pvi_label_rule *label;
    bool labelled;
    bool drop;     /* features above the limit are left out, because data.outside=missing */
    bool scoring;  /* the limit is that of a trained model                                 */
    int64_t limit; /* largest index allowed                                                */
} pvi_svm;

typedef void pvi_svm_parse_fn(const void *st, pvi_chunk *c);
extern pvi_svm_parse_fn *const pvi_svm_parse_isa[PVI_ISA_COUNT];

/* What the kernel does not take: each either understands it or records the error and returns NULL or false. */
const char *pvi_svm_pair(pvi_chunk *c, const char *p, int64_t *index, float *value);
const char *pvi_svm_label(const pvi_svm *s, pvi_chunk *c, pvi_label_memo *memo, const char *p, float *y);
bool pvi_svm_order(pvi_chunk *c, const char *p, int64_t index, int64_t before);
bool pvi_svm_above(const pvi_svm *s, pvi_chunk *c, const char *p, int64_t index);

static inline bool pvi_svm_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool pvi_svm_ends(char c) /* a token */
{
    return pvi_svm_blank(c) || c == '\n' || c == '#';
}

static inline const char *pvi_svm_skip(const char *p)
{
    while (pvi_svm_blank(*p)) p++;
    return p;
}
#endif
