/* Tests how splits form partitions, and the errors of the keys that decide it. */
#include "io/split_packing.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Packs splits of these lengths, ended by -1, and describes the partitions: "0,1 2". */
static char *pack(struct split_packing packing, const int64_t *lengths)
{
        _cleanup_(input_splits_deinit) struct input_splits splits = INPUT_SPLITS_INIT;
        struct buf text = BUF_INIT;
        for (; *lengths >= 0; lengths++) {
                vec_push(&splits, (struct input_split){.path = "file:/a", .length = (uint64_t)*lengths});
                splits.bytes += (uint64_t)*lengths;
                splits.files++;
        }
        assert_int_equal(input_splits_partitions(&splits), splits.len);
        split_packing_apply(&packing, &splits);
        for (size_t p = 0; p < input_splits_partitions(&splits); p++)
                for (size_t i = input_splits_first(&splits, p); i < input_splits_first(&splits, p + 1); i++)
                        buf_printf(&text, "%s%zu", i == 0 ? "" : i == input_splits_first(&splits, p) ? " " : ",", i);
        return text.len ? text.data : mem_strdup("");
}

static void test_puts_neighbours_together(void **state)
{
        static const struct {
                struct split_packing packing;
                int64_t lengths[8];
                const char *partitions;
        } cases[] = {
                {{100, 0, 1}, {-1}, ""},
                {{100, 0, 1}, {10, -1}, "0"},
                {{100, 0, 1}, {50, 50, 1, -1}, "0,1 2"},
                {{100, 0, 1}, {50, 51, 49, -1}, "0 1,2"},
                {{100, 0, 1}, {200, 1, 200, -1}, "0 1 2"},
                {{100, 10, 1}, {40, 50, 1, -1}, "0,1 2"},  /* 40 + 10 + 50 */
                {{100, 10, 1}, {41, 50, 39, -1}, "0 1,2"}, /* 41 + 10 + 50 is too much */
                {{100, 0, 2}, {10, 10, 10, 10, -1}, "0,1 2,3"},
                {{100, 0, 9}, {10, 10, 10, 10, -1}, "0 1 2 3"},
                {{100, 25, 9}, {0, 0, 25, 0, -1}, "0,1 2 3"},
                {{0, 0, 0}, {0, 0, 1, 1, -1}, "0,1 2 3"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *got = pack(cases[i].packing, cases[i].lengths);
                assert_string_equal(got, cases[i].partitions);
        }
}

/* Spark SQL: bytesPerCore, the cost of opening and the maximum decide in this order. */
static void test_size_is_that_of_spark(void **state)
{
        struct split_packing packing = {128 << 20, 4 << 20, 8};
        assert_int_equal(split_packing_size(&packing, 0, 1), 4 << 20);
        assert_int_equal(split_packing_size(&packing, 80 << 20, 0), 10 << 20);
        assert_int_equal(split_packing_size(&packing, UINT64_C(80) << 30, 10), 128 << 20);
        assert_int_equal(split_packing_size(&packing, 8 << 20, 16), 9 << 20);
        packing.cores = 0;
        assert_int_equal(split_packing_size(&packing, 5 << 20, 0), 5 << 20);
}

static void test_rejects_negative_sizes(void **state)
{
        static const char *const keys[] = {"spark.files.maxPartitionBytes", "spark.files.openCostInBytes"};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                struct fst_conf conf = {0};
                struct fst_error error = FST_ERROR_INIT;
                struct split_packing packing = {0};
                strmap_set(&conf.set, keys[i], "-1");
                assert_int_equal(split_packing_read(&conf, &packing, &error), -EINVAL);
                _cleanup_free_ char *want = mem_printf("%s must not be negative, but was -1", keys[i]);
                assert_string_equal(error_message(&error), want);
                error_deinit(&error);
                strmap_deinit(&conf.set);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_puts_neighbours_together),
                cmocka_unit_test(test_size_is_that_of_spark),
                cmocka_unit_test(test_rejects_negative_sizes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
