/* Tests loading keys, with all vectors that this processor has. */
#include "rdd/aggregate/hash.h"
#include "rdd/aggregate/table_group_loops.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
        random_state += 0x9e3779b97f4a7c15u;
        return key_mix(random_state) % n;
}

/* Keys that are loaded several at a time are as those of hash_keys, wherever they lie and whatever their length is. */
static void loads_groups_as_it_loads_keys(void **state)
{
        static char pages[2 * 4096] __attribute__((aligned(4096)));
        static struct table_slot slots[1 << 11];
        const struct table_group_loops *loops[3];
        size_t sets = table_group_loops_here(loops);
        struct slot_home_params place = {{slots}, ARRAY_SIZE(slots), 0x9e3779b1};
        struct table_group g;
        fst_bytes keys[TABLE_GROUP];
        int64_t numbers[TABLE_GROUP];
        uint64_t hashes[TABLE_GROUP];
        for (size_t i = 0; i < sizeof(pages); i++)
                pages[i] = (char)random_below(256);
        for (size_t repeat = 0; repeat < 200; repeat++) {
                const struct table_group_loops *set = loops[repeat % sets];
                uint32_t n = 1 + (uint32_t)random_below(TABLE_GROUP), longest = repeat / sets % 2 ? KEY_INLINE : 24;
                for (uint32_t i = 0; i < n; i++) {
                        keys[i].len = random_below(longest + 1);
                        keys[i].data = pages + random_below(sizeof(pages) - keys[i].len + 1);
                        if (keys[i].len == 0 && random_below(2))
                                keys[i].data = NULL;
                        numbers[i] = (int64_t)random_below(UINT64_MAX);
                }
                fst_batch batch = {.rows = n, .type = FST_BYTES, .key.bytes = keys};
                hash_keys(&batch, hashes);
                set->load_bytes(place, g.rows, keys, n);
                for (uint32_t i = 0; i < n; i++) {
                        const struct group_row *row = &g.rows[i];
                        assert_true(row->meta == ((hashes[i] & 0xffffffff00000000u) | (keys[i].len + 1)));
                        assert_ptr_equal(row->home, slots + slot_home(place.capacity, place.seed, hashes[i], 2));
                        struct short_key key = {(uintptr_t)keys[i].data, hashes[i]};
                        if (keys[i].len <= KEY_INLINE)
                                key = key_load(keys[i].data, keys[i].len);
                        assert_true(row->lo == key.lo);
                        assert_true(row->hi == key.hi);
                }
                batch = (fst_batch){.rows = n, .type = FST_I64, .key.i64 = numbers};
                hash_keys(&batch, hashes);
                set->load_i64(place, g.numbers, numbers, n);
                for (uint32_t i = 0; i < n; i++) {
                        assert_true(g.numbers[i].key == ((uint64_t)numbers[i] ^ NUMBER_FREE));
                        assert_ptr_equal(g.numbers[i].home,
                                         place.numbers + slot_home(place.capacity, place.seed, hashes[i], 4));
                }
        }
}

/* Lines with each slot free, with another key, or with the row's, which is at most once in a line. */
static void finds_numbers_in_their_lines(void **state)
{
        static struct number_slot slots[TABLE_GROUP * NUMBERS_IN_LINE] __attribute__((aligned(64)));
        const struct table_group_loops *loops[3];
        const size_t sets = table_group_loops_here(loops);
        struct table_group g;
        uint32_t expected[TABLE_GROUP];
        for (uint32_t i = 0; i < TABLE_GROUP; i++) {
                struct number_slot *line = slots + i * NUMBERS_IN_LINE;
                g.numbers[i] = (struct group_number){1 + random_below(UINT64_MAX), line};
                for (uint32_t j = 0; j < NUMBERS_IN_LINE; j++)
                        line[j] = (struct number_slot){random_below(2) ? g.numbers[i].key ^ UINT64_C(1) << 32 : 0,
                                                       {g.numbers[i].key}};
                const uint32_t place = (uint32_t)random_below(NUMBERS_IN_LINE + 1);
                expected[i] = place < NUMBERS_IN_LINE ? 1u << 2 * place : 0;
                if (expected[i])
                        line[place].key = g.numbers[i].key;
        }
        for (size_t set = 0; set < sets; set++) {
                memset(g.found, 0xff, sizeof(g.found));
                if (!loops[set]->find_numbers)
                        continue;
                loops[set]->find_numbers(g.numbers, TABLE_GROUP, g.found);
                for (uint32_t i = 0; i < TABLE_GROUP; i++)
                        assert_int_equal(g.found[i], expected[i]);
        }
        memset(g.found, 0xff, sizeof(g.found));
        table_group_find_numbers(&g, TABLE_GROUP - 3);
        for (uint32_t i = 0; i < TABLE_GROUP; i++)
                assert_int_equal(g.found[i], i < TABLE_GROUP - 3 ? expected[i] : 0xff);
}

/* Pieces give the same rows as the same keys of kind BYTES. */
static void loads_pieces_as_it_loads_bytes(void **state)
{
        static char text[TABLE_GROUP * 20 + 16];
        static struct table_slot slots[1 << 11];
        struct combine_table t = {
                .slots = slots, .capacity = ARRAY_SIZE(slots), .seed = 0x9e3779b1, .type = FST_PAIR(BYTES, I64)};
        struct table_group pieces_group, bytes_group;
        uint32_t ends[1 + TABLE_GROUP];
        fst_bytes keys[TABLE_GROUP];
        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)random_below(256);
        for (size_t repeat = 0; repeat < 200; repeat++) {
                const uint32_t n = 1 + (uint32_t)random_below(TABLE_GROUP), longest = repeat % 2 ? KEY_INLINE : 19;
                struct piece_ends pieces = {.text = text, .ends = ends + 1, .n = n};
                ends[0] = UINT32_MAX;
                for (uint32_t i = 0; i < n; i++) {
                        ends[i + 1] = ends[i] + 2 + (uint32_t)random_below(longest);
                        keys[i] = piece_at(&pieces, i);
                        assert_in_range(keys[i].len, 1, longest);
                }
                const uint32_t first = (uint32_t)random_below(n);
                fst_batch batch = {.rows = n, .type = t.type, .key.bytes = keys};
                table_group_load(&bytes_group, &t, &batch, first, n - first);
                table_group_load_pieces(&pieces_group, &t, &pieces, first, n - first);
                assert_memory_equal(pieces_group.rows, bytes_group.rows, (n - first) * sizeof(struct group_row));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(loads_groups_as_it_loads_keys),
                cmocka_unit_test(finds_numbers_in_their_lines),
                cmocka_unit_test(loads_pieces_as_it_loads_bytes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
