/*
 * Finds line ends; see text_scan.h.
 *
 * A block becomes a 64-bit mask with a bit for each terminator. Text has about one line end in a block, sometimes none
 * or two: a loop over the bits would be mispredicted once a block. So the first two lines of a block are written
 * unconditionally and counted without a branch. Only further lines need a loop. Blocks with a "\r" take a slower path.
 *
 * Invariant: a block is entered only if @lines has room for TEXT_SCAN_BLOCK lines, so writes need no check.
 */
#include "io/text_scan.h"

#include "base/mem.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Writes one line, from *start to the first bit of @mask in the block at @base, without a branch. Counts it only if
 * there is a bit. */
#define EMIT_IF_ANY(mask)                                                                                              \
        do {                                                                                                           \
                size_t there = (mask) != 0, all = -there;                                                              \
                __asm__("" : "+r"(all)); /* keeps the compiler from making it a branch */                              \
                size_t stop = base + (size_t)__builtin_ctzll((mask) | (uint64_t)1 << 63);                              \
                lines[n].data = data + start;                                                                          \
                lines[n].len = stop - start;                                                                           \
                n += (uint32_t)there;                                                                                  \
                start ^= (start ^ (stop + 1)) & all;                                                                   \
                (mask) &= (mask)-1;                                                                                    \
        } while (0)

/* Handles a block with a "\r": @mask has both kinds of terminators. */
static uint32_t text_scan_mixed_block(const char *data, size_t base, uint64_t mask, size_t *start, fst_bytes *lines)
{
        uint32_t n = 0;
        for (; mask; mask &= mask - 1) {
                size_t stop = base + (size_t)__builtin_ctzll(mask);
                if (data[stop] != '\n' || stop != *start || stop == 0 || data[stop - 1] != '\r')
                        lines[n++] = (fst_bytes){data + *start, stop - *start};
                *start = stop + 1;
        }
        return n;
}

/* The loop over blocks for one way to compute a block's two masks. Each instruction set gets its own function. */
#define SCAN_BLOCKS(masks)                                                                                             \
        do {                                                                                                           \
                uint32_t n = 0;                                                                                        \
                size_t base = s->at, start = s->start;                                                                 \
                for (; end - base >= TEXT_SCAN_BLOCK && n + TEXT_SCAN_BLOCK <= max; base += TEXT_SCAN_BLOCK) {         \
                        uint64_t newlines, returns;                                                                    \
                        masks(data + base, &newlines, &returns);                                                       \
                        if (unlikely(returns != 0)) {                                                                  \
                                n += text_scan_mixed_block(data, base, newlines | returns, &start, lines + n);         \
                                continue;                                                                              \
                        }                                                                                              \
                        if (unlikely(start == base && base > 0 && (newlines & 1) && data[base - 1] == '\r')) {         \
                                newlines &= ~(uint64_t)1;                                                              \
                                start = base + 1;                                                                      \
                        }                                                                                              \
                        EMIT_IF_ANY(newlines);                                                                         \
                        EMIT_IF_ANY(newlines);                                                                         \
                        while (unlikely(newlines != 0))                                                                \
                                EMIT_IF_ANY(newlines);                                                                 \
                }                                                                                                      \
                s->at = base;                                                                                          \
                s->start = start;                                                                                      \
                return n;                                                                                              \
        } while (0)

#ifdef __x86_64__

__attribute__((target("avx2,bmi"))) static inline void masks_avx2(const char *p, uint64_t *newlines, uint64_t *returns)
{
        const __m256i nl = _mm256_set1_epi8('\n'), cr = _mm256_set1_epi8('\r');
        __m256i a = _mm256_loadu_si256((const __m256i *)p), b = _mm256_loadu_si256((const __m256i *)(p + 32));
        *newlines = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, nl)) |
                    (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, nl)) << 32;
        *returns = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, cr)) |
                   (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, cr)) << 32;
}

static inline uint64_t equal_sse2(const __m128i *v, __m128i c)
{
        return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[0], c)) |
               (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[1], c)) << 16 |
               (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[2], c)) << 32 |
               (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[3], c)) << 48;
}

static inline void masks_sse2(const char *p, uint64_t *newlines, uint64_t *returns)
{
        __m128i v[4];
        for (int i = 0; i < 4; i++)
                v[i] = _mm_loadu_si128((const __m128i *)p + i);
        *newlines = equal_sse2(v, _mm_set1_epi8('\n'));
        *returns = equal_sse2(v, _mm_set1_epi8('\r'));
}

__attribute__((target("avx2,bmi"))) static uint32_t scan_avx2(const char *data, size_t end, struct text_scan *s,
                                                              fst_bytes *lines, uint32_t max)
{
        SCAN_BLOCKS(masks_avx2);
}

static uint32_t scan_sse2(const char *data, size_t end, struct text_scan *s, fst_bytes *lines, uint32_t max)
{
        SCAN_BLOCKS(masks_sse2);
}

uint32_t text_scan_blocks(const char *data, size_t end, struct text_scan *s, fst_bytes *lines, uint32_t max)
{
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
                return scan_avx2(data, end, s, lines, max);
        return scan_sse2(data, end, s, lines, max);
}

#else

static inline void masks_plain(const char *p, uint64_t *newlines, uint64_t *returns)
{
        uint64_t n = 0, r = 0;
        for (int i = 0; i < TEXT_SCAN_BLOCK; i++) {
                n |= (uint64_t)(p[i] == '\n') << i;
                r |= (uint64_t)(p[i] == '\r') << i;
        }
        *newlines = n;
        *returns = r;
}

uint32_t text_scan_blocks(const char *data, size_t end, struct text_scan *s, fst_bytes *lines, uint32_t max)
{
        SCAN_BLOCKS(masks_plain);
}

#endif

size_t text_scan_terminator(const char *data, size_t len)
{
        size_t i = 0;
#ifdef __x86_64__
        const __m128i nl = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
        for (; i + 16 <= len; i += 16) {
                __m128i v = _mm_loadu_si128((const __m128i *)(data + i));
                int hits = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(v, nl), _mm_cmpeq_epi8(v, cr)));
                if (hits)
                        return i + (size_t)__builtin_ctz((unsigned)hits);
        }
#endif
        while (i < len && data[i] != '\n' && data[i] != '\r')
                i++;
        return i;
}
