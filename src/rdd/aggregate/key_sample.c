/* See key_sample.h. No key is taken with more than MAX_ZEROS zero bits but the one whose hash is 1. */
#include "rdd/aggregate/key_sample.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define MAX_ZEROS 63

/* Upper bits of a hash choose the sample, lower ones a slot. */
static bool sample_takes(const struct key_sample *s, uint64_t hash)
{
        return hash >> 1 >> (63 - s->zeros) == 0;
}

static void sample_insert(struct key_sample *s, uint64_t hash)
{
        uint32_t slot = (uint32_t)(hash ^ hash >> 20) & (KEY_SAMPLE_ROOM - 1);
        while (s->slots[slot] && s->slots[slot] != hash)
                slot = (slot + 1) & (KEY_SAMPLE_ROOM - 1);
        s->n += !s->slots[slot];
        s->slots[slot] = hash;
}

static __attribute__((noinline)) void sample_halve(struct key_sample *s)
{
        uint64_t old[KEY_SAMPLE_ROOM];
        memcpy(old, s->slots, sizeof(old));
        memset(s->slots, 0, sizeof(s->slots));
        s->n = 0;
        s->zeros++;
        for (uint32_t i = 0; i < KEY_SAMPLE_ROOM; i++)
                if (old[i] && sample_takes(s, old[i]))
                        sample_insert(s, old[i]);
}

void key_sample_clear(struct key_sample *s)
{
        memset(s, 0, sizeof(*s));
}

void key_sample_start(struct key_sample *s, uint32_t zeros)
{
        key_sample_clear(s);
        s->zeros = zeros;
}

static void sample_add(struct key_sample *s, uint64_t hash)
{
        if (!sample_takes(s, hash))
                return;
        sample_insert(s, hash);
        if (s->n > KEY_SAMPLE_ROOM / 2 && s->zeros < MAX_ZEROS)
                sample_halve(s);
}

static void sample_add_hashes(struct key_sample *s, const uint64_t *hashes, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                sample_add(s, hashes[i] ? hashes[i] : 1);
}

#ifdef __x86_64__
#define EIGHT 8

/* Passes over hashes that the sample does not take, eight at a time. */
__attribute__((target("avx512f"))) static uint32_t sample_add_eights(struct key_sample *s, const uint64_t *hashes,
                                                                     uint32_t n)
{
        uint32_t i = 0;
        for (; i + EIGHT <= n; i += EIGHT) {
                const __m512i eight = _mm512_loadu_si512(hashes + i);
                if (_mm512_cmple_epu64_mask(eight, _mm512_set1_epi64((int64_t)(UINT64_MAX >> s->zeros))))
                        sample_add_hashes(s, hashes + i, EIGHT);
        }
        return i;
}
#endif

void key_sample_add(struct key_sample *s, const uint64_t *hashes, uint32_t n)
{
        uint32_t done = 0;
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx512f"))
                done = sample_add_eights(s, hashes, n);
#endif
        sample_add_hashes(s, hashes + done, n - done);
}
