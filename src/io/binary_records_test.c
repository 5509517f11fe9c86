/* Tests files of records: split between records as in Hadoop's FixedLengthBinaryInputFormat, and read completely. */
#include "io/binary_records.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* Record i repeats the number i. */
static void make_file(const char *name, uint32_t record, uint32_t n, size_t more)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name),
                            *bytes = mem_alloc((size_t)record * n + more + 1);
        for (uint32_t i = 0; i < n; i++)
                memset(bytes + (size_t)i * record, (int)(i % 251), record);
        memset(bytes + (size_t)record * n, 'x', more);
        int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
        assert_true(fd >= 0);
        assert_int_equal(write_all(fd, bytes, (size_t)record * n + more), 0);
        close(fd);
}

static int plan(const char *name, uint32_t record, uint64_t block, struct input_splits *splits, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        struct input_options options = INPUT_OPTIONS_INIT;
        options.block_size = block;
        return binary_records_plan(path, record, &options, splits, error);
}

static void splits_end_at_record_boundaries(void **state)
{
        struct input_splits splits = INPUT_SPLITS_INIT;
        make_file("a", 10, 100, 0);
        make_file("empty", 10, 0, 0);
        assert_int_equal(plan("a", 10, 256, &splits, NULL), 0);
        assert_int_equal(splits.len, 4);
        for (size_t i = 0; i < 4; i++) {
                assert_int_equal(splits.data[i].start, 250 * i);
                assert_int_equal(splits.data[i].length, 250);
        }
        input_splits_deinit(&splits);
        /* A record larger than a block is a split of its own. */
        assert_int_equal(plan("a", 500, 256, &splits, NULL), 0);
        assert_int_equal(splits.len, 2);
        assert_int_equal(splits.data[0].length, 500);
        input_splits_deinit(&splits);
        assert_int_equal(plan("{a,empty}", 10, 0, &splits, NULL), 0);
        assert_int_equal(splits.len, 1);
        input_splits_deinit(&splits);
}

static void rejects_files_of_incomplete_records(void **state)
{
        struct input_splits splits = INPUT_SPLITS_INIT;
        struct fst_error error = FST_ERROR_INIT;
        make_file("b", 10, 3, 1);
        make_file("c.gz", 10, 3, 0);
        assert_int_equal(plan("b", 10, 0, &splits, &error), -EINVAL);
        assert_non_null(
                strstr(error_message(&error), "b has 31 bytes, which is not a whole number of records of 10 bytes"));
        assert_int_equal(plan("c.gz", 10, 0, &splits, &error), -ENOTSUP);
        assert_non_null(strstr(error_message(&error), "c.gz"));
        assert_int_equal(plan("none", 10, 0, &splits, &error), -ENOENT);
        assert_int_equal(splits.len, 0);
        error_deinit(&error);
}

static void records_are_read(void **state)
{
        static const struct {
                uint32_t record, n;
                uint64_t block;
        } cases[] = {{10, 1000, 256}, {1, 70000, 0}, {300000, 3, 0}, {7, 99999, 100000}};
        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                struct input_splits splits = INPUT_SPLITS_INIT;
                uint32_t record = cases[c].record, i = 0, n;
                struct binary_records *r = binary_records_new(record);
                const char *records;
                make_file("d", record, cases[c].n, 0);
                assert_int_equal(plan("d", record, cases[c].block, &splits, NULL), 0);
                for (size_t k = 0; k < splits.len; k++) {
                        assert_int_equal(binary_records_open(r, &splits.data[k], NULL), 0);
                        while (binary_records_next(r, 1000, &records, &n, NULL) == 0 && n > 0)
                                for (uint32_t at = 0; at < n; at++, i++)
                                        for (uint32_t b = 0; b < record; b++)
                                                if ((unsigned char)records[(size_t)at * record + b] != i % 251)
                                                        fail_msg("record %u of size %u", i, record);
                        assert_int_equal(n, 0);
                        assert_int_equal(binary_records_bytes(r), splits.data[k].length);
                }
                assert_int_equal(i, cases[c].n);
                binary_records_free(r);
                input_splits_deinit(&splits);
        }
        binary_records_free(NULL);
}

static void samples_spread_over_the_split(void **state)
{
        struct input_splits splits = INPUT_SPLITS_INIT;
        struct binary_records *r = binary_records_new(10);
        const char *records;
        uint32_t n;
        unsigned seen[8] = {0};
        make_file("s", 10, 200000, 0);
        assert_int_equal(plan("s", 10, 0, &splits, NULL), 0);
        assert_int_equal(binary_records_open(r, &splits.data[0], NULL), 0);
        binary_records_sample(r, 100000);
        while (binary_records_next(r, 1000, &records, &n, NULL) == 0 && n > 0)
                for (uint32_t i = 0; i < n; i++)
                        seen[(unsigned char)records[i * 10] / 32]++;
        assert_true(binary_records_bytes(r) >= 90000);
        assert_true(binary_records_bytes(r) < 120000);
        for (size_t i = 0; i < 7; i++)
                assert_true(seen[i] > 0);
        /* A split smaller than its sample is read completely. */
        assert_int_equal(binary_records_open(r, &splits.data[0], NULL), 0);
        binary_records_sample(r, 2000000);
        while (binary_records_next(r, 1000, &records, &n, NULL) == 0 && n > 0)
                ;
        assert_int_equal(binary_records_bytes(r), 2000000);
        binary_records_free(r);
        input_splits_deinit(&splits);
}

static void reports_file_that_shrinks(void **state)
{
        struct input_splits splits = INPUT_SPLITS_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct binary_records *r = binary_records_new(10);
        const char *records;
        uint32_t n;
        make_file("e", 10, 10, 0);
        assert_int_equal(plan("e", 10, 0, &splits, NULL), 0);
        make_file("e", 10, 5, 3);
        assert_int_equal(binary_records_open(r, &splits.data[0], NULL), 0);
        assert_int_equal(binary_records_next(r, 1000, &records, &n, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "e ends at byte 53"));
        binary_records_free(r);
        input_splits_deinit(&splits);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(splits_end_at_record_boundaries),
                cmocka_unit_test(rejects_files_of_incomplete_records),
                cmocka_unit_test(records_are_read),
                cmocka_unit_test(samples_spread_over_the_split),
                cmocka_unit_test(reports_file_that_shrinks),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
