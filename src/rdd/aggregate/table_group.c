/*
 * Loads the keys of a group; see table_group.h. Keys of up to 16 bytes are loaded four at a time with AVX2 or eight at
 * a time with AVX-512, if the processor has it. The hash consists of operations that vectors have.
 */
#include "rdd/aggregate/table_group_loops.h"

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

static void table_group_find(const struct group_number *numbers, uint32_t n, uint8_t *found)
{
        for (uint32_t i = 0; i < n; i++) {
                const struct number_slot *s = numbers[i].home;
                const uint64_t key = numbers[i].key;
                found[i] = (uint8_t)((s[0].key == key) | (s[1].key == key) << 2 | (s[2].key == key) << 4 |
                                     (s[3].key == key) << 6);
        }
}

const struct table_group_loops table_group_loops_plain = {
        .find_numbers = table_group_find,
        .load_bytes = table_group_load_bytes,
        .load_i64 = table_group_load_i64,
};

#if TABLE_GROUP_VECTORS
/* The 512-bit loops also need VBMI2: it came with processors whose clock does not drop for 512 bits. */
static bool table_group_can_avx512(void)
{
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vbmi2");
}
#endif

size_t table_group_loops_here(const struct table_group_loops *loops[static 3])
{
        size_t n = 0;
#if TABLE_GROUP_VECTORS
        if (table_group_can_avx512())
                loops[n++] = &table_group_loops_avx512;
        if (__builtin_cpu_supports("avx2"))
                loops[n++] = &table_group_loops_avx2;
#endif
        loops[n++] = &table_group_loops_plain;
        return n;
}

void table_group_load(struct table_group *g, const struct combine_table *t, const fst_batch *batch, uint32_t first,
                      uint32_t n)
{
        const struct slot_home_params place = {{t->slots}, t->capacity, t->seed};
        const struct table_group_loops *all[3];
        table_group_loops_here(all);
        const struct table_group_loops *loops = all[0];
        switch (t->type.key) {
        case FST_KIND_I64:
                loops->load_i64(place, g->numbers, batch->key.i64 + first, n);
                break;
        case FST_KIND_F64:
                table_group_load_f64(place, g->numbers, batch->key.f64 + first, n);
                break;
        case FST_KIND_BYTES:
                loops->load_bytes(place, g->rows, batch->key.bytes + first, n);
                break;
        default:
                table_group_load_fixed(place, g->rows, batch->key.fixed + (size_t)first * t->type.key_size,
                                       t->type.key_size, n);
        }
}

void table_group_find_numbers(struct table_group *g, uint32_t n)
{
        const struct table_group_loops *all[3];
        table_group_loops_here(all);
        (all[0]->find_numbers ? all[0] : &table_group_loops_plain)->find_numbers(g->numbers, n, g->found);
}

void table_group_load_pieces(struct table_group *g, const struct combine_table *t, const struct piece_ends *pieces,
                             uint32_t first, uint32_t n)
{
        const struct slot_home_params place = {{t->slots}, t->capacity, t->seed};
        const struct table_group_loops *all[3];
        fst_bytes keys[TABLE_GROUP];
        table_group_loops_here(all);
        const uint32_t whole = all[0]->load_pieces ? n & ~7u : 0;
        if (whole)
                all[0]->load_pieces(place, g->rows, pieces->text, pieces->ends + first, whole);
        for (uint32_t i = whole; i < n; i++)
                keys[i] = piece_at(pieces, first + i);
        all[0]->load_bytes(place, g->rows + whole, keys + whole, n - whole);
}
