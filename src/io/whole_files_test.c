/* Compares partitions with those of Spark 4.3 for the same files, and tests that content is complete. */
#include "io/whole_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "io/fs/path.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static void make_file(const char *name, off_t size)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (off_t i = 0; i < size; i++)
                putc("abc"[i % 3], f);
        assert_int_equal(fclose(f), 0);
}

#define SPARSE 3000000000 /* size of a sparse file */

static int plan(const char *name, const struct whole_files_options *o, struct input_splits *splits, struct buf *text,
                struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        uint32_t *firsts = NULL;
        size_t partitions = 0;
        int r = whole_files_plan(path, o, splits, &firsts, &partitions, error);
        for (size_t p = 0; r == 0 && p < partitions; p++) {
                buf_puts(text, p ? " | " : "");
                for (uint32_t i = firsts[p]; i < firsts[p + 1]; i++)
                        buf_printf(text, "%s%s", i > firsts[p] ? " " : "", path_name(splits->data[i].path));
        }
        free(firsts);
        return r;
}

static void packs_files_into_partitions_like_spark(void **state)
{
        static const struct {
                int sizes[9]; /* -1: end */
                int min_partitions;
                const char *text, *binary;
        } cases[] = {
                {{10, 10, 10, 10, -1}, 1, "0 1 2 3", "0 1 2 3"},
                {{10, 10, 10, 10, 10, 10, -1}, 3, "0 1 | 2 3 | 4 5", "0 1 2 3 4 5"},
                {{10, 10, 10, 10, 10, 10, -1}, 5, "0 1 | 2 3 | 4 5", "0 1 2 3 4 5"},
                {{0, 0, 0, -1}, 3, "0 1 2", "0 1 2"},
                {{0, 5, 0, 5, 0, -1}, 1, "1 3 | 0 2 4", "1 3 0 2 4"},
                {{0, 5, 0, 5, 0, -1}, 3, "1 | 3 | 0 2 4", "1 3 0 2 4"},
                {{3, 3, 3, 3, 3, 3, 3, -1}, 2, "0 1 2 3 | 4 5 6", "0 1 2 3 4 5 6"},
                {{3, 3, 3, 3, 3, 3, 3, -1}, 5, "0 1 | 2 3 | 4 5 | 6", "0 1 2 3 4 5 6"},
                {{1000, -1}, 5, "0", "0"},
                {{-1}, 2, "", ""},
        };
        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                char folder[80], name[16];
                snprintf(folder, sizeof(folder), "%s/%zu", temp_dir, c);
                assert_int_equal(mkdir(folder, 0777), 0);
                for (int i = 0; cases[c].sizes[i] >= 0; i++) {
                        snprintf(name, sizeof(name), "%zu/%d", c, i);
                        make_file(name, cases[c].sizes[i]);
                }
                for (int unpack = 0; unpack < 2; unpack++) {
                        struct input_splits splits = INPUT_SPLITS_INIT;
                        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                        struct whole_files_options o = {.input = INPUT_OPTIONS_INIT,
                                                        .unpack = unpack,
                                                        .min_partitions = cases[c].min_partitions,
                                                        .packing = {128 << 20, 4 << 20, 2}};
                        snprintf(name, sizeof(name), "%zu", c);
                        assert_int_equal(plan(name, &o, &splits, &text, NULL), 0);
                        assert_string_equal(buf_text(&text), unpack ? cases[c].text : cases[c].binary);
                        input_splits_deinit(&splits);
                }
        }
        /* The cost of opening a file, and the limit of a partition. */
        struct input_splits splits = INPUT_SPLITS_INIT;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct whole_files_options o = {.input = INPUT_OPTIONS_INIT, .packing = {25, 1, 1}};
        assert_int_equal(plan("1", &o, &splits, &text, NULL), 0);
        assert_string_equal(buf_text(&text), "0 1 2 | 3 4 5");
        input_splits_deinit(&splits);
}

static int read_file(const char *name, bool unpack, struct buf *content, uint64_t *bytes, struct fst_error *error)
{
        struct input_splits splits = INPUT_SPLITS_INIT;
        struct whole_files_options o = {.input = INPUT_OPTIONS_INIT, .unpack = unpack, .packing = {1, 1, 0}};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct decoder *d = decoder_new();
        int r = plan(name, &o, &splits, &text, error);
        if (r == 0)
                r = whole_file_read(&splits.data[0], d, content, bytes, error);
        decoder_free(d);
        input_splits_deinit(&splits);
        return r;
}

static void reads_whole_content(void **state)
{
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        uint64_t bytes = 0;
        make_file("plain", 3000001);
        assert_int_equal(read_file("plain", false, &content, &bytes, NULL), 0);
        assert_int_equal(content.len, 3000001);
        assert_int_equal(bytes, 3000001);
        assert_memory_equal(content.data + 2999998, "bca", 3);
        _cleanup_free_ char *packed = mem_printf("%s/packed.gz", temp_dir);
        gzFile gz = gzopen(packed, "w");
        assert_int_equal(gzwrite(gz, content.data, (unsigned)content.len), content.len);
        assert_int_equal(gzclose(gz), Z_OK);
        buf_reset(&content);
        bytes = 0;
        assert_int_equal(read_file("packed.gz", true, &content, &bytes, NULL), 0);
        assert_int_equal(content.len, 3000001);
        assert_true(bytes < 100000);
        buf_reset(&content);
        bytes = 0;
        assert_int_equal(read_file("packed.gz", false, &content, &bytes, NULL), 0);
        assert_int_equal(content.len, bytes);
        assert_memory_equal(content.data, "\x1f\x8b", 2);
}

static void names_files_larger_than_a_row(void **state)
{
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        uint64_t bytes = 0;
        make_file("huge", 0);
        make_file("x.snappy", 1);
        _cleanup_free_ char *path = mem_printf("%s/huge", temp_dir), *full = mem_printf("file:%s", path);
        assert_int_equal(truncate(path, SPARSE), 0);
        assert_int_equal(read_file("huge", false, &content, &bytes, &error), -EFBIG);
        assert_non_null(strstr(error_message(&error), "huge is larger than 2147483647 bytes"));
        assert_int_equal(read_file("x.snappy", true, &content, &bytes, &error), -ENOTSUP);
        struct input_split split = {.path = full, .length = 100};
        assert_int_equal(truncate(path, 60), 0);
        assert_int_equal(whole_file_read(&split, NULL, &content, &bytes, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "huge has become shorter than 100 bytes"));
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(packs_files_into_partitions_like_spark),
                cmocka_unit_test(reads_whole_content),
                cmocka_unit_test(names_files_larger_than_a_row),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
