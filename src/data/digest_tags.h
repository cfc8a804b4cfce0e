/* digest_tags.h - short keyed tags of blocks of data: the fast first stage of the digest (digest.c). */
#ifndef PVI_DIGEST_TAGS_H
#define PVI_DIGEST_TAGS_H
#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

enum { PVI_TAG_BLOCK = 1024, PVI_TAG_LANES = 4, PVI_TAG_KEY = PVI_TAG_BLOCK * PVI_TAG_LANES };
/* out[4 i + l] = tag of block i of PVI_TAG_BLOCK bytes under the l-th PVI_TAG_BLOCK bytes of the key. */
typedef void pvi_tags_fn(const uint8_t key[PVI_TAG_KEY], const void *data, size_t blocks, uint64_t *out);
extern pvi_tags_fn *const pvi_tags_isa[PVI_ISA_COUNT];
#endif
