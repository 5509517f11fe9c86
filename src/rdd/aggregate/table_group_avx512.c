/*
 * Loads eight keys at a time with AVX-512; see table_group.h.
 */
#include "rdd/aggregate/table_group_loops.h"

#if TABLE_GROUP_VECTORS
#include <immintrin.h>

#define AVX512_TARGET target("avx512f,avx512bw,avx512dq,avx512vl")
#define AVX512 __attribute__((AVX512_TARGET, always_inline)) static inline
#define AVX512_LOOP __attribute__((AVX512_TARGET)) static

AVX512 __m512i wide_multiply(__m512i x, uint64_t factor)
{
        return _mm512_mullo_epi64(x, _mm512_set1_epi64((int64_t)factor));
}

AVX512 __m512i wide_fold(__m512i x)
{
        return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
}

/* key_hash_short of eight keys. */
AVX512 __m512i wide_hash(__m512i lo, __m512i hi, __m512i len)
{
        hi = _mm512_rol_epi64(wide_multiply(wide_fold(hi), KEY_FACTOR_HI), 32);
        lo = wide_multiply(wide_fold(lo), KEY_FACTOR_LO);
        lo = _mm512_add_epi64(_mm512_add_epi64(lo, hi), len);
        return wide_fold(wide_multiply(wide_fold(lo), KEY_FACTOR));
}

/* The lines where the searches for @hash begin. @shift is that of wide_shift. */
AVX512 __m512i wide_home(__m512i hash, __m512i seed, __m128i shift, __m512i base)
{
        __m512i product = _mm512_slli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hash, 32), seed), 32);
        return _mm512_add_epi64(_mm512_slli_epi64(_mm512_srl_epi64(product, shift), 6), base);
}

/* How far a product in the upper half of 64 bits is shifted to become the number of a line. */
AVX512 __m128i wide_shift(uint64_t capacity, size_t in_line)
{
        return _mm_cvtsi64_si128(64 - __builtin_ctzll(capacity / in_line));
}

AVX512 __m256i wide_load_two(const fst_bytes *bytes)
{
        __m256i first = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)bytes[0].data));
        return _mm256_inserti128_si256(first, _mm_loadu_si128((const __m128i *)bytes[1].data), 1);
}

/* The keys @bytes[0] to [3], whose lengths are 1 to 16, with zeros behind them. @views are @bytes. */
AVX512 __m512i wide_load_keys(__m512i views, const fst_bytes *bytes)
{
        const __m512i place =
                _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        __mmask64 inside = _mm512_cmplt_epu8_mask(place, _mm512_shuffle_epi8(views, _mm512_set1_epi8(8)));
        __m512i keys = _mm512_inserti64x4(_mm512_castsi256_si512(wide_load_two(bytes)), wide_load_two(bytes + 2), 1);
        return _mm512_maskz_mov_epi8(inside, keys);
}

/* Whether all eight keys have 1 to 16 bytes, and 16 bytes can be read at each. */
AVX512 bool wide_can_load(__m512i data, __m512i len)
{
        __m512i in_page = _mm512_and_si512(data, _mm512_set1_epi64(4095));
        __mmask8 crosses = _mm512_cmpgt_epu64_mask(in_page, _mm512_set1_epi64(4096 - 16));
        __mmask8 unfit = _mm512_cmpge_epu64_mask(_mm512_sub_epi64(len, _mm512_set1_epi64(1)), _mm512_set1_epi64(16));
        return _kortestz_mask8_u8(crosses, unfit);
}

/* Vectors that turn the hashes of a group of rows into their places. */
struct wide_row_params {
        __m512i seed, base;
        __m128i shift;
};

AVX512 struct wide_row_params wide_row_params(struct slot_home_params place)
{
        return (struct wide_row_params){_mm512_set1_epi64(place.seed),
                                        _mm512_set1_epi64((int64_t)(uintptr_t)place.slots),
                                        wide_shift(place.capacity, SLOTS_IN_LINE)};
}

/*
 * Hashes the keys 0 to 3 and 4 to 7, and stores eight rows. Lanes are in the order 0, 4, 1, 5, 2, 6, 3, 7, which
 * unpacking makes and undoes; @len has that order.
 */
AVX512 void wide_store_rows(struct wide_row_params p, struct group_row *rows, __m512i first, __m512i second,
                            __m512i len)
{
        const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                      upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        __m512i lo = _mm512_unpacklo_epi64(first, second), hi = _mm512_unpackhi_epi64(first, second);
        __m512i hash = wide_hash(lo, hi, len);
        __m512i meta = _mm512_mask_blend_epi32(0xaaaa, _mm512_add_epi64(len, _mm512_set1_epi64(1)), hash);
        __m512i home = wide_home(hash, p.seed, p.shift, p.base);
        __m512i even = _mm512_unpacklo_epi64(meta, lo), odd = _mm512_unpackhi_epi64(meta, lo);
        __m512i even_end = _mm512_unpacklo_epi64(hi, home), odd_end = _mm512_unpackhi_epi64(hi, home);
        _mm512_store_si512(rows, _mm512_permutex2var_epi64(even, lower, even_end));
        _mm512_store_si512(rows + 2, _mm512_permutex2var_epi64(even, upper, even_end));
        _mm512_store_si512(rows + 4, _mm512_permutex2var_epi64(odd, lower, odd_end));
        _mm512_store_si512(rows + 6, _mm512_permutex2var_epi64(odd, upper, odd_end));
#pragma GCC unroll 8
        for (uint32_t j = 0; j < 8; j++)
                __builtin_prefetch(rows[j].home, 1);
}

AVX512_LOOP void load_bytes_avx512(struct slot_home_params place, struct group_row *rows, const fst_bytes *keys,
                                   uint32_t n)
{
        const struct wide_row_params params = wide_row_params(place);
        uint32_t i = 0;
        for (; i + 8 <= n; i += 8) {
                __m512i first = _mm512_loadu_si512(keys + i), second = _mm512_loadu_si512(keys + i + 4);
                __m512i len = _mm512_unpackhi_epi64(first, second);
                if (unlikely(!wide_can_load(_mm512_unpacklo_epi64(first, second), len))) {
                        table_group_loops_plain.load_bytes(place, rows + i, keys + i, 8);
                        continue;
                }
                first = wide_load_keys(first, keys + i);
                second = wide_load_keys(second, keys + i + 4);
                wide_store_rows(params, rows + i, first, second, len);
        }
        _mm256_zeroupper(); /* the compiler forgets it, and then each scalar instruction on floats waits */
        table_group_loops_plain.load_bytes(place, rows + i, keys + i, n - i);
}

/* The 16 bytes at four pieces of @text that begin after @ends[-1] to [2], with zeros behind the lengths in @inside. */
AVX512 __m512i wide_load_pieces(const char *text, const uint32_t *ends, __mmask64 inside)
{
        const __m128i *at[4];
        for (int j = 0; j < 4; j++)
                at[j] = (const __m128i *)(text + (uint32_t)(ends[j - 1] + 1));
        __m256i first =
                _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(at[0])), _mm_loadu_si128(at[1]), 1);
        __m256i second =
                _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(at[2])), _mm_loadu_si128(at[3]), 1);
        return _mm512_maskz_mov_epi8(inside, _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
}

/* The bytes of four keys that are inside of them. @spread moves their lengths, of 32 bits, to where the keys are. */
AVX512 __mmask64 wide_inside(__m256i len, __m512i spread)
{
        const __m512i place =
                _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        __m512i moved = _mm512_permutexvar_epi32(spread, _mm512_castsi256_si512(len));
        return _mm512_cmplt_epu8_mask(place, _mm512_shuffle_epi8(moved, _mm512_setzero_si512()));
}

static void load_long_pieces(struct slot_home_params place, struct group_row *rows, const char *text,
                             const uint32_t *ends)
{
        fst_bytes keys[8];
        for (int j = 0; j < 8; j++) {
                uint32_t start = ends[j - 1] + 1;
                keys[j] = (fst_bytes){text + start, ends[j] - start};
        }
        table_group_loops_plain.load_bytes(place, rows, keys, 8);
}

AVX512_LOOP void load_pieces_avx512(struct slot_home_params place, struct group_row *rows, const char *text,
                                    const uint32_t *ends, uint32_t n)
{
        const struct wide_row_params params = wide_row_params(place);
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), one = _mm256_set1_epi32(1);
        const __m512i spread = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        for (uint32_t i = 0; i < n; i += 8, ends += 8, rows += 8) {
                __m256i start = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(ends - 1)), one);
                __m256i len = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)ends), start);
                if (unlikely(_mm256_cmpge_epu32_mask(_mm256_sub_epi32(len, one), _mm256_set1_epi32(KEY_INLINE)))) {
                        load_long_pieces(place, rows, text, ends);
                        continue;
                }
                __m512i first = wide_load_pieces(text, ends, wide_inside(len, spread));
                __m512i second = wide_load_pieces(text, ends + 4,
                                                  wide_inside(len, _mm512_add_epi32(spread, _mm512_set1_epi32(4))));
                wide_store_rows(params, rows, first, second,
                                _mm512_cvtepu32_epi64(_mm256_permutevar8x32_epi32(len, order)));
        }
        _mm256_zeroupper();
}

AVX512_LOOP void load_i64_avx512(struct slot_home_params place, struct group_number *numbers, const int64_t *keys,
                                 uint32_t n)
{
        const __m512i seed = _mm512_set1_epi64(place.seed), unused = _mm512_set1_epi64((int64_t)NUMBER_FREE),
                      base = _mm512_set1_epi64((int64_t)(uintptr_t)place.numbers);
        const __m512i lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                      upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        const __m128i shift = wide_shift(place.capacity, NUMBERS_IN_LINE);
        uint32_t i = 0;
        for (; i + 8 <= n; i += 8) {
                __m512i key = _mm512_loadu_si512(keys + i);
                __m512i hash = wide_hash(key, _mm512_setzero_si512(), _mm512_set1_epi64(sizeof(*keys)));
                __m512i home = wide_home(hash, seed, shift, base);
                key = _mm512_xor_si512(key, unused);
                _mm512_store_si512(numbers + i, _mm512_permutex2var_epi64(key, lower, home));
                _mm512_store_si512(numbers + i + 4, _mm512_permutex2var_epi64(key, upper, home));
#pragma GCC unroll 8
                for (uint32_t j = 0; j < 8; j++)
                        __builtin_prefetch(numbers[i + j].home, 1);
        }
        _mm256_zeroupper();
        table_group_loops_plain.load_i64(place, numbers + i, keys + i, n - i);
}

AVX512_LOOP void find_numbers_avx512(const struct group_number *numbers, uint32_t n, uint8_t *found)
{
        for (uint32_t i = 0; i < n; i++) {
                const __m512i key = _mm512_set1_epi64((int64_t)numbers[i].key);
                found[i] = _mm512_mask_cmpeq_epi64_mask(0x55, _mm512_loadu_si512(numbers[i].home), key);
        }
        _mm256_zeroupper();
}

const struct table_group_loops table_group_loops_avx512 = {
        .find_numbers = find_numbers_avx512,
        .load_bytes = load_bytes_avx512,
        .load_pieces = load_pieces_avx512,
        .load_i64 = load_i64_avx512,
};
#endif
