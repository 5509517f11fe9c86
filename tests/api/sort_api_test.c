/* Tests sort_by_key and sort_by through the public interface: order, numbers of partitions, and even partitions. Cases
 * follow Spark's SortingSuite, and RDDSuite for sorting. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/backend/wire_fixture.h"

enum { MANY = 1000 };

/* ----------------------------------------------------------------------------------------------------- the rows */

/* Distinct keys in random order, with values that identify them. */
static void shuffled_pairs(int64_t *keys, int64_t *values, int n)
{
        uint64_t random = 42;
        for (int i = 0; i < n; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                keys[i] = (int64_t)(random >> 8) - ((int64_t)1 << 55);
                values[i] = ~keys[i];
        }
}

static fst_rdd *pairs_of(fst_context *sc, int n, int partitions)
{
        int64_t keys[MANY], values[MANY];
        shuffled_pairs(keys, values, n);
        return fst_parallelize_pairs_n(sc, keys, values, (size_t)n, partitions);
}

/* Checks @n pairs: keys strictly in order, each with its value. */
static void assert_sorted(fst_rdd *sorted, enum fst_order order, int n)
{
        fst_iter *rows;
        int64_t key, value, last = 0;
        int at = 0;
        assert_int_equal(fst_collect(sorted, &rows), 0);
        for (; fst_next(rows, &key, &value); at++, last = key) {
                if (at > 0)
                        assert_true(order == FST_ASCENDING ? key > last : key < last);
                assert_true(value == ~key);
        }
        assert_int_equal(at, n);
}

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, ~x);
        return 0;
}

/* The smallest and the greatest key of each partition and their number. No row for an empty partition. */
struct extent {
        int64_t first, last, n;
};

static int extent_of(fst_task *task, fst_iter *rows, fst_out *out)
{
        struct extent e = {0};
        int64_t key, value;
        while (fst_next(rows, &key, &value)) {
                e.first = e.n++ ? e.first : key;
                e.last = key;
        }
        fst_emit(out, &e);
        return fst_iter_status(rows);
}

static int collect_extents(fst_rdd *sorted, struct extent *extents, int room)
{
        fst_iter *rows;
        const void *row = NULL;
        int n = 0;
        fst_rdd *all = fst_map_partitions(sorted, extent_of, FST_FIXED(sizeof(struct extent)));
        assert_int_equal(fst_collect(all, &rows), 0);
        for (; fst_next(rows, &row); n++) {
                assert_true(n < room);
                memcpy(&extents[n], row, sizeof(*extents));
        }
        return n;
}

/* ------------------------------------------------------------------------------------------------------- by key */

static void sorts_few_keys(void **state)
{
        static const int64_t numbers[] = {1, 2, 0, 3};
        fst_rdd *pairs = fst_map(fst_parallelize_n(*state, numbers, 4, 2), keyed, FST_PAIR(I64, I64));
        fst_iter *rows;
        int64_t key, value, at = 0;
        assert_int_equal(fst_collect(fst_sort_by_key(pairs, FST_ASCENDING), &rows), 0);
        for (; fst_next(rows, &key, &value); at++)
                assert_int_equal(key, at);
        assert_int_equal(at, 4);
}

static void sorts_many_keys_into_partitions(void **state)
{
        for (enum fst_order order = FST_ASCENDING; order <= FST_DESCENDING; order++) {
                fst_rdd *pairs = pairs_of(*state, MANY, 2), *sorted = fst_sort_by_key(pairs, order);
                assert_int_equal(fst_rdd_partitions(sorted), 2);
                assert_sorted(sorted, order, MANY);
                assert_sorted(fst_sort_by_key_n(pairs_of(*state, MANY, 1), order, 1), order, MANY);
                static const int partitions[] = {1, 20};
                for (int i = 0; i < 2; i++) {
                        sorted = fst_sort_by_key_n(pairs, order, partitions[i]);
                        assert_int_equal(fst_rdd_partitions(sorted), partitions[i]);
                        assert_sorted(sorted, order, MANY);
                }
        }
}

static void sorts_into_more_partitions_than_keys(void **state)
{
        assert_sorted(fst_sort_by_key(pairs_of(*state, 10, 30), FST_ASCENDING), FST_ASCENDING, 10);
        assert_sorted(fst_sort_by_key_n(pairs_of(*state, 10, 2), FST_DESCENDING, 30), FST_DESCENDING, 10);
}

static bool never(fst_task *task, int64_t x)
{
        return false;
}

static void sorts_no_rows(void **state)
{
        fst_rdd *none = fst_filter(fst_range_n(*state, 0, 10, 2), never);
        assert_sorted(fst_sort_by_key(pairs_of(*state, 0, 2), FST_ASCENDING), FST_ASCENDING, 0);
        assert_sorted(fst_sort_by_key_n(fst_map(none, keyed, FST_PAIR(I64, I64)), FST_DESCENDING, 5), FST_DESCENDING,
                      0);
        int64_t n;
        assert_int_equal(fst_count(fst_sort_by(none, fst_fn_identity, FST_I64, FST_ASCENDING), &n), 0);
        assert_int_equal(n, 0);
}

/* 1 … 1000 in four partitions: each has its share, and the partitions are in order. */
static void fills_partitions_evenly(void **state)
{
        fst_rdd *pairs = fst_map(fst_range_n(*state, 1, MANY + 1, 4), keyed, FST_PAIR(I64, I64));
        for (enum fst_order order = FST_ASCENDING; order <= FST_DESCENDING; order++) {
                struct extent e[4];
                fst_rdd *sorted = fst_sort_by_key(pairs, order);
                assert_sorted(sorted, order, MANY);
                assert_int_equal(collect_extents(sorted, e, 4), 4);
                for (int i = 0; i < 4; i++) {
                        assert_in_range(e[i].n, 101, 399);
                        if (i > 0)
                                assert_true(order == FST_ASCENDING ? e[i - 1].last < e[i].first
                                                                   : e[i - 1].last > e[i].first);
                }
        }
}

struct bounds {
        int64_t low, high;
};

static bool within(fst_task *task, int64_t key, int64_t value)
{
        const struct bounds *b = fst_captured(task);
        return key >= b->low && key <= b->high;
}

/* Spark's filterByRange: the filter keeps order and partitioner. */
static void filters_sorted_keys_by_range(void **state)
{
        fst_rdd *pairs = fst_map(fst_range_n(*state, 1, MANY + 1, 10), keyed, FST_PAIR(I64, I64));
        fst_rdd *sorted[] = {fst_sort_by_key(pairs, FST_ASCENDING), fst_sort_by_key(pairs, FST_DESCENDING)};
        static const struct bounds bounds[] = {{20, 40}, {200, 800}, {850, 2000}, {0, 1000}, {41, 40}};
        for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
                int64_t high = MIN(bounds[i].high, MANY), low = MAX(bounds[i].low, 1);
                for (int k = 0; k < 2; k++) {
                        fst_rdd *range = fst_filter_by_range(sorted[k], bounds[i].low, bounds[i].high);
                        assert_sorted(range, k ? FST_DESCENDING : FST_ASCENDING, (int)MAX(high - low + 1, 0));
                        assert_ptr_equal(range->partitioner, sorted[k]->partitioner);
                }
                int64_t n;
                assert_int_equal(fst_count(fst_filter(pairs, FST_WITH(within, bounds[i])), &n), 0);
                assert_int_equal(n, MAX(high - low + 1, 0));
        }
}

/* -------------------------------------------------------------------------------------------------- computed keys */

struct column {
        int at;
};

static fst_bytes column_of(fst_bytes line, int at)
{
        fst_bytes piece = {0};
        for (fst_split pieces = fst_split_of(line, '|'); at >= 0 && fst_split_next(&pieces, &piece); at--)
                ;
        return piece;
}

static int by_column(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_emit(out, column_of(line, ((const struct column *)fst_captured(task))->at));
        return 0;
}

static void assert_lines(fst_rdd *sorted, const char *const *want, int n)
{
        fst_iter *rows;
        fst_bytes line = {0};
        int at = 0;
        assert_int_equal(fst_collect(sorted, &rows), 0);
        for (; fst_next(rows, &line); at++) {
                assert_true(at < n);
                if (!fst_bytes_equal(line, fst_bytes_of(want[at])))
                        fail_msg("row %d is %.*s, not %s", at, (int)line.len, line.data, want[at]);
        }
        assert_int_equal(at, n);
}
#define LINES(rdd, ...)                                                                                                \
        assert_lines(rdd, (const char *const[]){__VA_ARGS__},                                                          \
                     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static fst_rdd *lines_of(fst_context *sc, const char *const *texts, int n)
{
        fst_bytes lines[8];
        for (int i = 0; i < n; i++)
                lines[i] = fst_bytes_of(texts[i]);
        return fst_parallelize_n(sc, lines, (size_t)n, 2);
}

static void sorts_rows_by_each_column(void **state)
{
        static const char *const texts[] = {"5|50|A", "4|60|C", "6|40|B"};
        fst_rdd *lines = lines_of(*state, texts, 3);
        struct column c = {0};
        LINES(fst_sort_by(lines, FST_WITH(by_column, c), FST_BYTES, FST_ASCENDING), "4|60|C", "5|50|A", "6|40|B");
        LINES(fst_sort_by(lines, FST_WITH(by_column, c), FST_BYTES, FST_DESCENDING), "6|40|B", "5|50|A", "4|60|C");
        c.at = 1;
        LINES(fst_sort_by(lines, FST_WITH(by_column, c), FST_BYTES, FST_ASCENDING), "6|40|B", "5|50|A", "4|60|C");
        c.at = 2;
        LINES(fst_sort_by(lines, FST_WITH(by_column, c), FST_BYTES, FST_ASCENDING), "5|50|A", "6|40|B", "4|60|C");
}

static int64_t age_of(fst_task *task, fst_bytes line)
{
        char text[24] = {0};
        fst_bytes age = column_of(line, 2);
        memcpy(text, age.data, MIN(age.len, sizeof(text) - 1));
        return atoll(text);
}

/* The order is that of the key's bytes: the first field matters most. */
static int last_name_first(fst_task *task, fst_bytes line, fst_out *out)
{
        char key[100];
        fst_bytes first = column_of(line, 0), last = column_of(line, 1);
        int n = snprintf(key, sizeof(key), "%.*s%c%.*s", (int)last.len, last.data, 0, (int)first.len, first.data);
        fst_emit(out, ((fst_bytes){key, (size_t)n}));
        return 0;
}

static void sorts_rows_by_computed_key(void **state)
{
        static const char *const texts[] = {"Bob|Smith|50", "Jane|Smith|40", "Thomas|Williams|30", "Karen|Williams|60"};
        fst_rdd *people = lines_of(*state, texts, 4);
        LINES(fst_sort_by_n(people, age_of, FST_I64, FST_ASCENDING, 2), "Thomas|Williams|30", "Jane|Smith|40",
              "Bob|Smith|50", "Karen|Williams|60");
        LINES(fst_sort_by_n(people, last_name_first, FST_BYTES, FST_ASCENDING, 2), "Bob|Smith|50", "Jane|Smith|40",
              "Karen|Williams|60", "Thomas|Williams|30");
}

struct place {
        int64_t street, number;
};

static int place_of(fst_task *task, int64_t x, fst_out *out)
{
        struct place place = {.street = x, .number = -x};
        fst_emit(out, &place);
        return 0;
}

static int key_of(fst_task *task, int64_t x, fst_out *out)
{
        char space[64];
        fst_key_buffer key = fst_key_in(space, sizeof(space));
        if (fst_key_append_i64(&key, x % 3, FST_DESCENDING) || fst_key_append_i64(&key, x, FST_ASCENDING))
                return fst_fail(task, "the key is too long");
        fst_emit(out, fst_key_encoded(&key));
        return 0;
}

static void sorts_composite_keys_by_columns(void **state)
{
        static const int64_t wanted[] = {2, 5, 8, 1, 4, 7, 0, 3, 6};
        fst_iter *rows;
        int64_t x;
        size_t at = 0;
        assert_int_equal(fst_collect(fst_sort_by(fst_range_n(*state, 0, 9, 3), key_of, FST_BYTES, FST_ASCENDING), &rows),
                         0);
        for (; fst_next(rows, &x); at++)
                assert_int_equal(x, wanted[at]);
        assert_int_equal(at, ARRAY_SIZE(wanted));
}

/* The warning appears once in a process: this is the only case that sorts structs. */
static void warns_once_of_struct_keys(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "WARN", NULL);
        int was = api_listen();
        fst_rdd *numbers = fst_range(sc, 0, 9);
        fst_sort_by(numbers, key_of, FST_BYTES, FST_ASCENDING);
        for (int i = 0; i < 2; i++)
                fst_sort_by(numbers, place_of, FST_FIXED(sizeof(struct place)), FST_ASCENDING);
        char *heard = api_heard(was);
        const char *first = strstr(heard, "WARN RDD: sort_by at ");
        assert_non_null(first);
        assert_non_null(strstr(first, "struct keys are ordered byte by byte"));
        assert_null(strstr(first + 1, "WARN RDD"));
        free(heard);
        fst_context_stop(sc);
}

#define CASES                                                                                                          \
        cmocka_unit_test(sorts_few_keys), cmocka_unit_test(sorts_many_keys_into_partitions),           \
                cmocka_unit_test(sorts_into_more_partitions_than_keys), cmocka_unit_test(sorts_no_rows),                      \
                cmocka_unit_test(fills_partitions_evenly), cmocka_unit_test(filters_sorted_keys_by_range),                 \
                cmocka_unit_test(sorts_rows_by_each_column), cmocka_unit_test(sorts_rows_by_computed_key), \
                cmocka_unit_test(sorts_composite_keys_by_columns)

int main(void)
{
        const struct CMUnitTest here[] = {CASES}, by_way_of_the_wire[] = {CASES};
        int failed = cmocka_run_group_tests_name("here", here, api_setup, api_teardown);
        local_backend_set_probe(&by_wire);
        failed += cmocka_run_group_tests_name("by way of the wire", by_way_of_the_wire, api_setup, api_teardown);
        local_backend_set_probe(NULL);
        const struct CMUnitTest warnings[] = {cmocka_unit_test(warns_once_of_struct_keys)};
        return failed + cmocka_run_group_tests_name("warnings", warnings, NULL, NULL);
}
