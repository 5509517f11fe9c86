/*
 * Hashes keys. Short keys, the usual case, are hashed in registers (rdd/pipeline/key.h), longer ones by XXH3. The
 * processes of one application share these numbers. Nothing on disk depends on them.
 *
 * Differs from Spark: its HashPartitioner takes Java's hashCode modulo the number of partitions, so a key may fall into
 * another partition here. Spark promises no particular partition.
 */
#include "rdd/aggregate/hash.h"

#include "rdd/pipeline/key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define LOW(n) ((n) >= 8 ? ~0ull : (1ull << (8 * ((n)&7))) - 1)
#define MASK(n)                                                                                                        \
        {                                                                                                              \
                LOW(n), (n) > 8 ? LOW((n)-8) : 0                                                                       \
        }

const struct short_key key_masks[KEY_INLINE + 1] = {
        MASK(0), MASK(1),  MASK(2),  MASK(3),  MASK(4),  MASK(5),  MASK(6),  MASK(7),  MASK(8),
        MASK(9), MASK(10), MASK(11), MASK(12), MASK(13), MASK(14), MASK(15), MASK(16),
};

uint64_t key_hash_long(const void *data, size_t len)
{
        return XXH3_64bits(data, len);
}

static inline __attribute__((always_inline)) void hash_i64_keys_in(const int64_t *restrict keys, size_t n,
                                                                   uint64_t *restrict hashes)
{
        for (size_t i = 0; i < n; i++)
                hashes[i] = key_hash_short((struct short_key){(uint64_t)keys[i], 0}, sizeof(*keys));
}

#ifdef __x86_64__
/* The compiler turns the loop into one over four keys. */
__attribute__((target("avx2"))) static void hash_i64_keys_avx2(const int64_t *keys, size_t n, uint64_t *hashes)
{
        hash_i64_keys_in(keys, n, hashes);
}

#ifdef __clang__
#define EIGHT_KEYS "avx512f,avx512dq" /* clang does not know the rest, and may compute four at a time */
#else
#define EIGHT_KEYS "avx512f,avx512dq,prefer-vector-width=512"
#endif

/* The same over eight, with an instruction for the multiplications. */
__attribute__((target(EIGHT_KEYS))) static void hash_i64_keys_avx512(const int64_t *keys, size_t n, uint64_t *hashes)
{
        hash_i64_keys_in(keys, n, hashes);
}
#endif

static void hash_i64_keys(const int64_t *keys, size_t n, uint64_t *hashes)
{
#ifdef __x86_64__
        /* VBMI2 came with processors whose clock does not drop for 512 bits. */
        if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi2")) {
                hash_i64_keys_avx512(keys, n, hashes);
                return;
        }
        if (__builtin_cpu_supports("avx2")) {
                hash_i64_keys_avx2(keys, n, hashes);
                return;
        }
#endif
        hash_i64_keys_in(keys, n, hashes);
}

void hash_keys(const fst_batch *batch, uint64_t *hashes)
{
        uint32_t size = batch->type.key_size;
        switch (batch->type.key) {
        case FST_KIND_I64:
                hash_i64_keys(batch->key.i64, batch->rows, hashes);
                break;
        case FST_KIND_F64:
                for (uint32_t i = 0; i < batch->rows; i++)
                        hashes[i] = key_hash_short((struct short_key){key_f64_bits(batch->key.f64[i]), 0}, 8);
                break;
        case FST_KIND_BYTES:
                for (uint32_t i = 0; i < batch->rows; i++)
                        hashes[i] = key_hash_bytes(batch->key.bytes[i].data, batch->key.bytes[i].len);
                break;
        default:
                for (uint32_t i = 0; i < batch->rows; i++)
                        hashes[i] = key_hash_bytes(batch->key.fixed + (size_t)i * size, size);
        }
}
