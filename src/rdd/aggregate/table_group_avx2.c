/*
 * Loads four keys at a time with AVX2; see table_group.h.
 *
 * Each function ends with _mm256_zeroupper: the compiler forgets it before calls, and then each scalar instruction on
 * floats waits.
 */
#include "rdd/aggregate/table_group_loops.h"

#if TABLE_GROUP_VECTORS
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2"), always_inline)) static inline
#define AVX2_LOOP __attribute__((target("avx2"))) static

/* The low 64 bits of the products of @x and @factor. */
AVX2 __m256i vector_multiply_32(__m256i x, uint32_t factor)
{
        const __m256i low = _mm256_set1_epi64x(factor);
        __m256i upper = _mm256_slli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low), 32);
        return _mm256_add_epi64(_mm256_mul_epu32(x, low), upper);
}

AVX2 __m256i vector_multiply(__m256i x, uint64_t factor)
{
        const __m256i high = _mm256_set1_epi64x((int64_t)(factor >> 32));
        return _mm256_add_epi64(vector_multiply_32(x, (uint32_t)factor),
                                _mm256_slli_epi64(_mm256_mul_epu32(x, high), 32));
}

AVX2 __m256i vector_fold(__m256i x)
{
        return _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
}

/* key_hash_short of four keys. */
AVX2 __m256i vector_hash(__m256i lo, __m256i hi, __m256i len)
{
        hi = _mm256_shuffle_epi32(vector_multiply_32(vector_fold(hi), KEY_FACTOR_HI), _MM_SHUFFLE(2, 3, 0, 1));
        lo = vector_multiply_32(vector_fold(lo), KEY_FACTOR_LO);
        lo = _mm256_add_epi64(_mm256_add_epi64(lo, hi), len);
        return vector_fold(vector_multiply(vector_fold(lo), KEY_FACTOR));
}

/* The lines where the searches for @hash begin. @shift is that of vector_shift. */
AVX2 __m256i vector_home(__m256i hash, __m256i seed, __m128i shift, __m256i base)
{
        __m256i product = _mm256_slli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hash, 32), seed), 32);
        return _mm256_add_epi64(_mm256_slli_epi64(_mm256_srl_epi64(product, shift), 6), base);
}

/* How far a product in the upper half of 64 bits is shifted to become the number of a line. */
AVX2 __m128i vector_shift(uint64_t capacity, size_t in_line)
{
        return _mm_cvtsi64_si128(64 - __builtin_ctzll(capacity / in_line));
}

/* The key at @bytes->data, whose length is 1 to 16, with zeros behind it. */
AVX2 __m128i vector_load_key(const fst_bytes *bytes)
{
        const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        __m128i inside = _mm_cmpgt_epi8(_mm_set1_epi8((char)bytes->len), places);
        return _mm_and_si128(_mm_loadu_si128((const __m128i *)bytes->data), inside);
}

/* Whether all four keys have 1 to 16 bytes, and 16 bytes can be read at each. */
AVX2 bool vector_can_load(__m256i data, __m256i len)
{
        const __m256i in_page = _mm256_set1_epi64x(4095), last = _mm256_set1_epi64x(4096 - 16);
        __m256i crosses = _mm256_cmpgt_epi64(_mm256_and_si256(data, in_page), last);
        __m256i unfit = _mm256_and_si256(_mm256_sub_epi64(len, _mm256_set1_epi64x(1)), _mm256_set1_epi64x(~15ll));
        __m256i either = _mm256_or_si256(crosses, unfit);
        return _mm256_testz_si256(either, either);
}

/* Lanes are in the order 0, 2, 1, 3, which unpacking makes and undoes. */
AVX2_LOOP void load_bytes_avx2(struct slot_home_params place, struct group_row *rows, const fst_bytes *keys, uint32_t n)
{
        const __m256i seed = _mm256_set1_epi64x(place.seed), base = _mm256_set1_epi64x((int64_t)(uintptr_t)place.slots);
        const __m128i shift = vector_shift(place.capacity, SLOTS_IN_LINE);
        uint32_t i = 0;
        for (; i + 4 <= n; i += 4) {
                __m256i first = _mm256_loadu_si256((const __m256i *)(keys + i));
                __m256i second = _mm256_loadu_si256((const __m256i *)(keys + i + 2));
                __m256i len = _mm256_unpackhi_epi64(first, second);
                if (unlikely(!vector_can_load(_mm256_unpacklo_epi64(first, second), len))) {
                        table_group_loops_plain.load_bytes(place, rows + i, keys + i, 4);
                        continue;
                }
                first = _mm256_set_m128i(vector_load_key(keys + i + 1), vector_load_key(keys + i));
                second = _mm256_set_m128i(vector_load_key(keys + i + 3), vector_load_key(keys + i + 2));
                __m256i lo = _mm256_unpacklo_epi64(first, second), hi = _mm256_unpackhi_epi64(first, second);
                __m256i hash = vector_hash(lo, hi, len);
                __m256i meta = _mm256_blend_epi32(_mm256_add_epi64(len, _mm256_set1_epi64x(1)), hash, 0xaa);
                __m256i home = vector_home(hash, seed, shift, base);
                __m256i even = _mm256_unpacklo_epi64(meta, lo), odd = _mm256_unpackhi_epi64(meta, lo);
                __m256i even_end = _mm256_unpacklo_epi64(hi, home), odd_end = _mm256_unpackhi_epi64(hi, home);
                __m256i *out = (__m256i *)(rows + i);
                _mm256_store_si256(out, _mm256_permute2x128_si256(even, even_end, 0x20));
                _mm256_store_si256(out + 1, _mm256_permute2x128_si256(even, even_end, 0x31));
                _mm256_store_si256(out + 2, _mm256_permute2x128_si256(odd, odd_end, 0x20));
                _mm256_store_si256(out + 3, _mm256_permute2x128_si256(odd, odd_end, 0x31));
#pragma GCC unroll 4
                for (uint32_t j = 0; j < 4; j++)
                        __builtin_prefetch(rows[i + j].home, 1);
        }
        _mm256_zeroupper();
        table_group_loops_plain.load_bytes(place, rows + i, keys + i, n - i);
}

AVX2_LOOP void load_i64_avx2(struct slot_home_params place, struct group_number *numbers, const int64_t *keys,
                             uint32_t n)
{
        const __m256i seed = _mm256_set1_epi64x(place.seed), unused = _mm256_set1_epi64x((int64_t)NUMBER_FREE),
                      base = _mm256_set1_epi64x((int64_t)(uintptr_t)place.numbers);
        const __m128i shift = vector_shift(place.capacity, NUMBERS_IN_LINE);
        uint32_t i = 0;
        for (; i + 4 <= n; i += 4) {
                __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
                __m256i hash = vector_hash(key, _mm256_setzero_si256(), _mm256_set1_epi64x(sizeof(*keys)));
                __m256i home = vector_home(hash, seed, shift, base);
                key = _mm256_xor_si256(key, unused);
                __m256i even = _mm256_unpacklo_epi64(key, home), odd = _mm256_unpackhi_epi64(key, home);
                _mm256_store_si256((__m256i *)(numbers + i), _mm256_permute2x128_si256(even, odd, 0x20));
                _mm256_store_si256((__m256i *)(numbers + i + 2), _mm256_permute2x128_si256(even, odd, 0x31));
#pragma GCC unroll 4
                for (uint32_t j = 0; j < 4; j++)
                        __builtin_prefetch(numbers[i + j].home, 1);
        }
        _mm256_zeroupper();
        table_group_loops_plain.load_i64(place, numbers + i, keys + i, n - i);
}

const struct table_group_loops table_group_loops_avx2 = {
        .load_bytes = load_bytes_avx2,
        .load_i64 = load_i64_avx2,
};
#endif
