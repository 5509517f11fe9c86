/*
 * Keys in registers: up to 16 bytes as two words, zero-padded, little-endian, so that a comparison is two compares and
 * a hash three multiplications. The length is kept separately: "a" and "a\0" have the same words.
 *
 * key_load reads 16 bytes wherever the key begins and masks the excess. The read may extend beyond the object but never
 * beyond the memory page in which the key begins, so it cannot fault. Under a sanitizer, and in the last bytes of a
 * page, the bytes are copied one by one. No branch depends on the length, because branch prediction fails on the
 * lengths of words.
 */
#pragma once

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KEY_INLINE 16 /* the maximal length of a short key */

struct short_key {
        uint64_t lo, hi;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEY_EXACT_LOADS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KEY_EXACT_LOADS 1
#endif
#endif
#ifndef KEY_EXACT_LOADS
#define KEY_EXACT_LOADS 0
#endif

extern const struct short_key key_masks[KEY_INLINE + 1];

/* Loads the key at @data; @len <= KEY_INLINE. */
static inline struct short_key key_load(const char *data, size_t len)
{
        struct short_key key = {0, 0};
        if (KEY_EXACT_LOADS || unlikely(len == 0 || ((uintptr_t)data & 4095) > 4096 - sizeof(key))) {
                for (size_t i = 0; i < len; i++) {
                        uint64_t byte = (unsigned char)data[i];
                        if (i < 8)
                                key.lo |= byte << (8 * i);
                        else
                                key.hi |= byte << (8 * i - 64);
                }
                return key;
        }
        memcpy(&key, data, sizeof(key));
        key.lo &= key_masks[len].lo;
        key.hi &= key_masks[len].hi;
        return key;
}

/* Makes -0.0 equal to 0.0, and all NaNs equal. */
static inline double key_f64(double x)
{
        return x != x ? __builtin_nan("") : x + 0.0;
}

static inline uint64_t key_f64_bits(double x)
{
        uint64_t bits;
        x = key_f64(x);
        memcpy(&bits, &x, sizeof(bits));
        return bits;
}

/* Odd numbers with about as many ones as zeros. The factors of the words have 32 bits, which costs vectors less. */
#define KEY_FACTOR_LO 0x9e3779b1u
#define KEY_FACTOR_HI 0x9fb21c65u
#define KEY_FACTOR 0xa0761d6478bd642fu

/* Spreads the bits of @h. */
static inline uint64_t key_mix(uint64_t h)
{
        h = (h ^ h >> 32) * KEY_FACTOR;
        return h ^ h >> 32;
}

/*
 * The hash of a short key: only operations that vectors of 64-bit numbers have, too (rdd/aggregate/table_group.c). The
 * halves of the second product change places, because otherwise two flips of the sign would cancel out.
 */
static inline uint64_t key_hash_short(struct short_key key, uint64_t len)
{
        uint64_t lo = (key.lo ^ key.lo >> 32) * KEY_FACTOR_LO, hi = (key.hi ^ key.hi >> 32) * KEY_FACTOR_HI;
        return key_mix(lo + (hi << 32 | hi >> 32) + len);
}

/* The hash of a key longer than KEY_INLINE. */
uint64_t key_hash_long(const void *data, size_t len);

/* The hash of a byte string of any length. */
static inline uint64_t key_hash_bytes(const char *data, size_t len)
{
        return likely(len <= KEY_INLINE) ? key_hash_short(key_load(data, len), len) : key_hash_long(data, len);
}
