/* Tests the choice of heavy keys, and that each left row meets each right row of its key in exactly one partition. */
#include "rdd/cogroup/skewed_placer.h"

#include "base/mem.h"
#include "rdd/aggregate/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { PARTITIONS = 5, MAPS = 3, HEAVY = 90, KEYS = 40 };

/* ------------------------------------------------------------------------------------------------------ choosing */

/* @rows samples of key 7, which stand for @weight rows each, and one of each of KEYS others. */
static struct heavy_samples samples_of(size_t rows, double weight)
{
        struct heavy_samples s = {new_array(struct heavy_sample, rows + KEYS), 0};
        for (size_t i = 0; i < KEYS; i++)
                s.keys[s.n++] = (struct heavy_sample){UINT64_C(1) << 32 | (100 + i), weight};
        for (size_t i = 0; i < rows; i++)
                s.keys[s.n++] = (struct heavy_sample){7, weight};
        return s;
}

static struct heavy_keys chosen_of(size_t left, size_t right, double weight, int partitions, uint32_t sides)
{
        struct heavy_samples s[] = {samples_of(left, weight), samples_of(right, weight)};
        struct heavy_keys h;
        heavy_keys_choose(&h, s, partitions, sides);
        free(s[0].keys);
        free(s[1].keys);
        return h;
}

static void chooses_frequent_keys(void **state)
{
        enum { L = 1 << JOIN_LEFT, R = 1 << JOIN_RIGHT };
        static const struct {
                size_t left, right;
                int partitions;
                uint32_t sides;
                int spread; /* -1: no key is heavy */
                uint32_t parts;
        } cases[] = {
                {0, 0, 8, L | R, -1, 0},        {40, 1, 8, L | R, JOIN_LEFT, 8},  {1, 40, 8, L | R, JOIN_RIGHT, 8},
                {40, 1, 8, R, -1, 0}, /* its side must stay together */
                {1, 40, 8, L, -1, 0},           {40, 30, 8, L | R, JOIN_LEFT, 8}, {30, 40, 8, L | R, JOIN_RIGHT, 8},
                {40, 30, 8, R, -1, 0},    /* copies of the larger side would cost more */
                {7, 1, 40, L | R, -1, 0}, /* so few may be chance */
                {8, 0, 2, L | R, -1, 0},  /* less than half of a partition */
                {8, 0, 9, L | R, JOIN_LEFT, 5}, {40, 1, 1, L | R, -1, 0},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct heavy_keys h = chosen_of(cases[i].left, cases[i].right, 1, cases[i].partitions, cases[i].sides);
                const struct heavy_key *key = heavy_keys_find(&h, 7);
                assert_int_equal(h.n, cases[i].spread >= 0);
                assert_true(!heavy_keys_find(&h, 8));
                assert_int_equal(key != NULL, cases[i].spread >= 0);
                if (key) {
                        assert_int_equal(key->spread, cases[i].spread);
                        assert_int_equal(key->parts, cases[i].parts);
                }
                heavy_keys_deinit(&h);
        }
}

/* Copies of the other side's rows are fewer than the pairs and rows of the key. */
static void limits_the_copies(void **state)
{
        struct heavy_keys h = chosen_of(10, 10, 1, 1000, 3);
        assert_int_equal(h.n, 1);
        assert_int_equal(h.keys[0].parts, 1 + (10 + 10 + 100) / 10);
        heavy_keys_deinit(&h);
}

/* Each partition gets about as many parts of keys as any other. */
static void assigns_parts_in_turn(void **state)
{
        struct heavy_samples s[2] = {{new_array(struct heavy_sample, 4000), 4000}, {NULL, 0}};
        uint32_t count[64] = {0};
        struct heavy_keys h;
        for (size_t i = 0; i < s[0].n; i++)
                s[0].keys[i] = (struct heavy_sample){(uint64_t)(i % 50) << 30, 100};
        heavy_keys_choose(&h, s, 64, 3);
        assert_int_equal(h.n, 50);
        for (uint32_t i = 0; i < h.n; i++) {
                assert_true(i == 0 || h.keys[i - 1].hash < h.keys[i].hash);
                for (uint32_t part = 0; part < h.keys[i].parts; part++)
                        count[heavy_key_place(&h.keys[i], part, 64)]++;
        }
        for (int i = 1; i < 64; i++)
                assert_in_range(count[i], count[0] - 1, count[0]);
        heavy_keys_deinit(&h);
        free(s[0].keys);
}

/* ------------------------------------------------------------------------------------------------------- placing */

struct placed_cell {
        int64_t number;
        double real;
        char text[24];
        char *fixed;
};

/* A row's column of @type with number @x. */
static fst_column column_of(struct placed_cell *cell, fst_bytes *view, uint8_t kind, uint32_t size, int64_t x)
{
        cell->number = x;
        cell->real = x == 0 ? -0.0 : (double)x;
        *view = (fst_bytes){cell->text, (size_t)snprintf(cell->text, sizeof(cell->text), "key %" PRId64, x)};
        cell->fixed = mem_zero(size + 8);
        memcpy(cell->fixed, &x, sizeof(x));
        switch (kind) {
        case FST_KIND_I64:
                return (fst_column){.i64 = &cell->number};
        case FST_KIND_F64:
                return (fst_column){.f64 = &cell->real};
        case FST_KIND_BYTES:
                return (fst_column){.bytes = view};
        default:
                return (fst_column){.fixed = cell->fixed};
        }
}

static int64_t number_of(fst_type type, fst_column column, uint32_t row)
{
        int64_t x = -1;
        switch (type.value) {
        case FST_KIND_I64:
                return column.i64[row];
        case FST_KIND_F64:
                return (int64_t)column.f64[row];
        case FST_KIND_BYTES:
                assert_int_equal(sscanf(column.bytes[row].data, "key %" SCNd64, &x), 1);
                return x;
        default:
                memcpy(&x, column.fixed + (size_t)row * type.value_size, sizeof(x));
                return x;
        }
}

/* Places HEAVY rows of key 3 and one of key 4, of map partition @map. Sets the bit of its partition in @found of a row.
 */
static void place_rows(struct skewed_placer *s, const struct partitioner *p, fst_type type, int map, uint64_t *found)
{
        struct placed_cell keys, others, value;
        fst_bytes key_view, other_view, value_view;
        uint32_t out[FST_BATCH_ROWS];
        fst_batch copies;
        fst_column key = column_of(&keys, &key_view, type.key, type.key_size, 3),
                   other = column_of(&others, &other_view, type.key, type.key_size, 4);
        skewed_placer_begin(s, p, map);
        for (int i = 0; i <= HEAVY; i++) {
                fst_batch batch = {.rows = 1, .type = type, .key = i < HEAVY ? key : other};
                batch.value = column_of(&value, &value_view, type.value, type.value_size, i);
                skewed_placer_place(s, &batch, out);
                found[i] |= UINT64_C(1) << out[0];
                while (skewed_placer_next_copies(s, &copies, out))
                        for (uint32_t k = 0; k < copies.rows; k++) {
                                assert_int_equal(number_of(type, copies.value, k), i);
                                assert_false(found[i] >> out[k] & 1);
                                found[i] |= UINT64_C(1) << out[k];
                        }
                free(value.fixed);
        }
        free(keys.fixed);
        free(others.fixed);
}

static void rows_meet_once(fst_type type, enum join_side spread)
{
        struct partitioner p[2];
        struct skewed_placer *s = new0(struct skewed_placer);
        struct placed_cell cell;
        fst_bytes view;
        uint64_t hash, found[2][HEAVY + 1], partitions = 0;
        fst_batch key = {.rows = 1, .type = type};
        key.key = column_of(&cell, &view, type.key, type.key_size, 3);
        hash_keys(&key, &hash);
        struct heavy_sample left[HEAVY], right[] = {{hash, 1}};
        for (int i = 0; i < HEAVY; i++)
                left[i] = (struct heavy_sample){hash, 1};
        struct heavy_samples samples[2];
        struct heavy_keys heavy;
        samples[spread] = (struct heavy_samples){left, HEAVY};
        samples[!spread] = (struct heavy_samples){right, 1};
        heavy_keys_choose(&heavy, samples, PARTITIONS, 3);
        assert_int_equal(heavy.keys[0].parts, PARTITIONS);
        for (int map = 0; map < MAPS; map++) {
                memset(found, 0, sizeof(found));
                for (int side = 0; side < 2; side++) {
                        partitioner_init_skewed(&p[side], PARTITIONS, type, side);
                        assert_false(partitioner_ready(&p[side]));
                        partitioner_set_heavy_keys(&p[side], &heavy);
                        assert_true(partitioner_ready(&p[side]));
                        place_rows(s, &p[side], type, side ? map : 0, found[side]);
                        partitioner_deinit(&p[side]);
                }
                for (int i = 0; i < HEAVY; i++) {
                        partitions |= found[spread][i];
                        for (int k = 0; k < HEAVY; k++)
                                assert_int_equal(__builtin_popcountll(found[0][i] & found[1][k]), 1);
                }
                assert_int_equal(__builtin_popcountll(found[0][HEAVY]), 1);
                assert_int_equal(found[0][HEAVY], found[1][HEAVY]);
        }
        assert_int_equal(partitions, (1 << PARTITIONS) - 1);
        heavy_keys_deinit(&heavy);
        skewed_placer_deinit(s);
        free(s);
        free(cell.fixed);
}

static void each_pair_of_rows_meets_once(void **state)
{
        const fst_type types[] = {FST_I64, FST_F64, FST_BYTES, FST_FIXED(24)};
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                for (size_t k = 0; k < ARRAY_SIZE(types); k++)
                        for (int spread = JOIN_LEFT; spread <= JOIN_RIGHT; spread++)
                                rows_meet_once(fst_type_pair(types[i], types[k]), spread);
        /* of which a batch of copies has two */
        rows_meet_once(fst_type_pair(FST_I64, FST_FIXED(COLUMN_BYTES / 2)), JOIN_LEFT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(chooses_frequent_keys),
                cmocka_unit_test(limits_the_copies),
                cmocka_unit_test(assigns_parts_in_turn),
                cmocka_unit_test(each_pair_of_rows_meets_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
