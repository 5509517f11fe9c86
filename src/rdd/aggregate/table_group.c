/*
 * Loads the keys of a group; see table_group.h. Four keys of up to 16 bytes are loaded at a time with AVX2, if the
 * processor has it; the hash consists of operations that vectors have.
 */
#include "rdd/aggregate/table_group.h"

#if defined(__x86_64__) && !KEY_EXACT_LOADS
#include <immintrin.h>
#define HAS_VECTORS 1
#else
#define HAS_VECTORS 0
#endif

/* What a home depends on, copied so that the compiler can keep it in registers across stores. */
struct slot_home_params {
        union {
                struct table_slot *slots;
                struct number_slot *numbers;
        };
        uint64_t capacity;
        uint32_t seed;
};

static inline uint64_t slot_meta(uint64_t hash, uint64_t len)
{
        return (hash & 0xffffffff00000000u) | (len + 1);
}

static inline __attribute__((always_inline)) void
table_group_set_row(struct slot_home_params place, struct group_row *row, uint64_t meta, uint64_t lo, uint64_t hi)
{
        struct table_slot *home = place.slots + slot_home(place.capacity, place.seed, meta, SLOTS_IN_LINE);
        __builtin_prefetch(home, 1);
        *row = (struct group_row){meta, lo, hi, home};
}

static inline __attribute__((always_inline)) void
table_group_load_bytes_key(struct slot_home_params place, struct group_row *row, const char *data, size_t len)
{
        if (likely(len <= KEY_INLINE)) {
                struct short_key key = key_load(data, len);
                table_group_set_row(place, row, slot_meta(key_hash_short(key, len), len), key.lo, key.hi);
        } else {
                uint64_t hash = key_hash_long(data, len);
                table_group_set_row(place, row, slot_meta(hash, MIN(len, (size_t)UINT32_MAX - 1)), (uintptr_t)data,
                                    hash);
        }
}

static void table_group_load_bytes(struct slot_home_params place, struct group_row *rows, const fst_bytes *keys,
                                   uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                table_group_load_bytes_key(place, rows + i, keys[i].data, keys[i].len);
}

static void table_group_load_fixed(struct slot_home_params place, struct group_row *rows, const char *keys, size_t size,
                                   uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                table_group_load_bytes_key(place, rows + i, keys + i * size, size);
}

static inline __attribute__((always_inline)) void table_group_load_number(struct slot_home_params place,
                                                                          struct group_number *number, uint64_t key)
{
        struct number_slot *home =
                place.numbers + slot_home(place.capacity, place.seed, number_hash(key), NUMBERS_IN_LINE);
        __builtin_prefetch(home, 1);
        *number = (struct group_number){key ^ NUMBER_FREE, home};
}

static void table_group_load_i64(struct slot_home_params place, struct group_number *numbers, const int64_t *keys,
                                 uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                table_group_load_number(place, numbers + i, (uint64_t)keys[i]);
}

static void table_group_load_f64(struct slot_home_params place, struct group_number *numbers, const double *keys,
                                 uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                table_group_load_number(place, numbers + i, key_f64_bits(keys[i]));
}

/* ------------------------------------------------------------------------------------------------- four at a time */

#if HAS_VECTORS
#define AVX2 __attribute__((target("avx2"), always_inline)) static inline

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

/* The bytes behind the first of @base's slots of the lines where the searches for @hash begin. */
AVX2 __m256i vector_home(__m256i hash, __m256i seed, __m128i shift, uint64_t slot_size, const void *base)
{
        __m256i product = _mm256_slli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hash, 32), seed), 32);
        __m256i in_line = _mm256_set1_epi64x(~(int64_t)(64 / slot_size - 1));
        __m256i at = _mm256_and_si256(_mm256_srl_epi64(product, shift), in_line);
        at = _mm256_slli_epi64(at, slot_size == 32 ? 5 : 4);
        return _mm256_add_epi64(at, _mm256_set1_epi64x((int64_t)(uintptr_t)base));
}

AVX2 __m128i vector_shift(uint64_t capacity)
{
        return _mm_cvtsi64_si128(64 - __builtin_ctzll(capacity));
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
__attribute__((target("avx2"))) static void
table_group_load_bytes_avx2(struct slot_home_params place, struct group_row *rows, const fst_bytes *keys, uint32_t n)
{
        const __m256i seed = _mm256_set1_epi64x(place.seed);
        const __m128i shift = vector_shift(place.capacity);
        uint32_t i = 0;
        for (; i + 4 <= n; i += 4) {
                __m256i first = _mm256_loadu_si256((const __m256i *)(keys + i));
                __m256i second = _mm256_loadu_si256((const __m256i *)(keys + i + 2));
                __m256i len = _mm256_unpackhi_epi64(first, second);
                if (unlikely(!vector_can_load(_mm256_unpacklo_epi64(first, second), len))) {
                        table_group_load_bytes(place, rows + i, keys + i, 4);
                        continue;
                }
                first = _mm256_set_m128i(vector_load_key(keys + i + 1), vector_load_key(keys + i));
                second = _mm256_set_m128i(vector_load_key(keys + i + 3), vector_load_key(keys + i + 2));
                __m256i lo = _mm256_unpacklo_epi64(first, second), hi = _mm256_unpackhi_epi64(first, second);
                __m256i hash = vector_hash(lo, hi, len);
                __m256i meta = _mm256_blend_epi32(_mm256_add_epi64(len, _mm256_set1_epi64x(1)), hash, 0xaa);
                __m256i home = vector_home(hash, seed, shift, sizeof(*place.slots), place.slots);
                __m256i even = _mm256_unpacklo_epi64(meta, lo), odd = _mm256_unpackhi_epi64(meta, lo);
                __m256i even_end = _mm256_unpacklo_epi64(hi, home), odd_end = _mm256_unpackhi_epi64(hi, home);
                __m256i *out = (__m256i *)(rows + i);
                _mm256_store_si256(out, _mm256_permute2x128_si256(even, even_end, 0x20));
                _mm256_store_si256(out + 1, _mm256_permute2x128_si256(even, even_end, 0x31));
                _mm256_store_si256(out + 2, _mm256_permute2x128_si256(odd, odd_end, 0x20));
                _mm256_store_si256(out + 3, _mm256_permute2x128_si256(odd, odd_end, 0x31));
                __builtin_prefetch(rows[i].home, 1);
                __builtin_prefetch(rows[i + 1].home, 1);
                __builtin_prefetch(rows[i + 2].home, 1);
                __builtin_prefetch(rows[i + 3].home, 1);
        }
        _mm256_zeroupper(); /* the compiler forgets it, and then each scalar instruction on floats waits */
        table_group_load_bytes(place, rows + i, keys + i, n - i);
}

__attribute__((target("avx2"))) static void
table_group_load_i64_avx2(struct slot_home_params place, struct group_number *numbers, const int64_t *keys, uint32_t n)
{
        const __m256i seed = _mm256_set1_epi64x(place.seed), unused = _mm256_set1_epi64x((int64_t)NUMBER_FREE);
        const __m128i shift = vector_shift(place.capacity);
        uint32_t i = 0;
        for (; i + 4 <= n; i += 4) {
                __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
                __m256i hash = vector_hash(key, _mm256_setzero_si256(), _mm256_set1_epi64x(sizeof(*keys)));
                __m256i home = vector_home(hash, seed, shift, sizeof(*place.numbers), place.numbers);
                key = _mm256_xor_si256(key, unused);
                __m256i even = _mm256_unpacklo_epi64(key, home), odd = _mm256_unpackhi_epi64(key, home);
                _mm256_store_si256((__m256i *)(numbers + i), _mm256_permute2x128_si256(even, odd, 0x20));
                _mm256_store_si256((__m256i *)(numbers + i + 2), _mm256_permute2x128_si256(even, odd, 0x31));
                __builtin_prefetch(numbers[i].home, 1);
                __builtin_prefetch(numbers[i + 1].home, 1);
                __builtin_prefetch(numbers[i + 2].home, 1);
                __builtin_prefetch(numbers[i + 3].home, 1);
        }
        _mm256_zeroupper();
        table_group_load_i64(place, numbers + i, keys + i, n - i);
}
#else
#define table_group_load_bytes_avx2 table_group_load_bytes
#define table_group_load_i64_avx2 table_group_load_i64
#endif

static bool has_avx2(void)
{
#if HAS_VECTORS
        return __builtin_cpu_supports("avx2");
#else
        return false;
#endif
}

void table_group_load(struct table_group *g, const struct combine_table *t, const fst_batch *batch, uint32_t first,
                      uint32_t n)
{
        const struct slot_home_params place = {{t->slots}, t->capacity, t->seed};
        switch (t->type.key) {
        case FST_KIND_I64:
                if (has_avx2())
                        table_group_load_i64_avx2(place, g->numbers, batch->key.i64 + first, n);
                else
                        table_group_load_i64(place, g->numbers, batch->key.i64 + first, n);
                break;
        case FST_KIND_F64:
                table_group_load_f64(place, g->numbers, batch->key.f64 + first, n);
                break;
        case FST_KIND_BYTES:
                if (has_avx2())
                        table_group_load_bytes_avx2(place, g->rows, batch->key.bytes + first, n);
                else
                        table_group_load_bytes(place, g->rows, batch->key.bytes + first, n);
                break;
        default:
                table_group_load_fixed(place, g->rows, batch->key.fixed + (size_t)first * t->type.key_size,
                                       t->type.key_size, n);
        }
}
