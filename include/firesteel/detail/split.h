/* The search for separators, 64 bytes at a time. Private: do not use these names. */
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

FST_BEGIN_DECLS

#ifdef __SSE2__
static inline uint64_t fst_split_hits_16(const char *at, __m128i separator)
{
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, separator));
}

static inline uint64_t fst_split_hits_64(const char *at, char separator)
{
        const __m128i wanted = _mm_set1_epi8(separator);
        return fst_split_hits_16(at, wanted) | fst_split_hits_16(at + 16, wanted) << 16 |
               fst_split_hits_16(at + 32, wanted) << 32 | fst_split_hits_16(at + 48, wanted) << 48;
}
#else
static inline uint64_t fst_split_hits_64(const char *at, char separator)
{
        uint64_t hits = 0;
        for (int i = 0; i < 64; i++)
                hits |= (uint64_t)(at[i] == separator) << i;
        return hits;
}
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FST_MAY_READ_BEHIND 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FST_MAY_READ_BEHIND 0
#endif
#endif
#ifndef FST_MAY_READ_BEHIND
#define FST_MAY_READ_BEHIND 1
#endif

/* The same for fewer than 64 bytes, after which nothing may be read. */
static __attribute__((noinline, unused)) uint64_t fst_split_hits_copied(const char *at, size_t left, char separator)
{
        char copy[64] = {0};
        memcpy(copy, at, left);
        return fst_split_hits_64(copy, separator) & (((uint64_t)1 << left) - 1);
}

/*
 * The separators in the 64 bytes from @at, up to @end. Bytes after the end are read, and ignored, if they are in the
 * same page of memory. Otherwise the bytes are copied.
 */
static inline uint64_t fst_split_hits(const char *at, const char *end, char separator)
{
        size_t left = (size_t)(end - at);
        if (!fst_likely(left >= 64 || (FST_MAY_READ_BEHIND && ((uintptr_t)at & 4095) <= 4096 - 64)))
                return fst_split_hits_copied(at, left, separator);
        uint64_t hits = fst_split_hits_64(at, separator);
        return left < 64 ? hits & (((uint64_t)1 << left) - 1) : hits;
}

FST_END_DECLS
