/* Zip archives: what the writer writes, libarchive and the reader read; damaged archives are refused. */
#include "io/codec/zip_file.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "io/codec/archive_library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/zip_file_test.XXXXXX";

static int append(void *context, const void *data, size_t n, struct fst_error *error)
{
        buf_append(context, data, n);
        return 0;
}

static int refuse(void *context, const void *data, size_t n, struct fst_error *error)
{
        return error_set(error, -ENOSPC, "no space");
}

static void save(const struct buf *text)
{
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(text->data, 1, text->len, f), text->len);
        fclose(f);
}

/* A directory, an empty file, a short one, and one of several blocks. */
static void make(struct buf *zip, struct buf *large)
{
        struct zip_writer w;
        zip_writer_init(&w, append, zip);
        for (int i = 0; i < 200000; i++)
                buf_putc(large, (char)(i * 7));
        assert_int_equal(zip_writer_add(&w, "d/", NULL, 0, NULL), 0);
        assert_int_equal(zip_writer_add(&w, "d/empty", NULL, 0, NULL), 0);
        assert_int_equal(zip_writer_add(&w, "d/\xc3\xa9", "text", 4, NULL), 0);
        assert_int_equal(zip_writer_begin(&w, "large", NULL), 0);
        assert_int_equal(zip_writer_put(&w, large->data, 1, NULL), 0);
        assert_int_equal(zip_writer_put(&w, large->data + 1, large->len - 1, NULL), 0);
        assert_int_equal(zip_writer_end(&w, NULL), 0);
        assert_int_equal(zip_writer_finish(&w, NULL), 0);
        zip_writer_deinit(&w);
        save(zip);
}

static void reads_entries_by_name(void **state)
{
        _cleanup_(buf_deinit) struct buf zip = BUF_INIT, large = BUF_INIT, got = BUF_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        make(&zip, &large);
        assert_int_equal(zip_file_read(path, "d/\xc3\xa9", 100, &got, &error), 0);
        assert_string_equal(buf_text(&got), "text");
        buf_reset(&got);
        assert_int_equal(zip_file_read(path, "large", 1 << 20, &got, &error), 0);
        assert_int_equal(got.len, large.len);
        assert_memory_equal(got.data, large.data, got.len);
        assert_int_equal(zip_file_read(path, "d/empty", 0, &got, &error), 0);
        assert_int_equal(zip_file_read(path, "absent", 100, &got, &error), -ENOENT);
        assert_int_equal(zip_file_read(path, "large", 1000, &got, &error), -EFBIG);
        assert_int_equal(zip_file_read("/no/such/file", "large", 1000, &got, &error), -ENOENT);
        assert_string_equal(error_message(&error), "opening /no/such/file: No such file or directory");
}

static void libarchive_reads_all_entries(void **state)
{
        _cleanup_(buf_deinit) struct buf zip = BUF_INIT, large = BUF_INIT, names = BUF_INIT;
        const struct archive_library *lib;
        struct archive_entry *entry;
        size_t bytes = 0;
        int r;
        make(&zip, &large);
        if (archive_library_load(&lib, NULL) < 0)
                skip();
        struct archive *in = lib->archive_read_new();
        lib->archive_read_support_format_zip_streamable(in);
        assert_int_equal(lib->archive_read_open_filename(in, path, 10240), ARCHIVE_OK);
        while ((r = lib->archive_read_next_header(in, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
                char piece[4096];
                ssize_t n;
                const char *name = lib->archive_entry_pathname(entry);
                buf_printf(&names, "%s,", name ? name : "é"); /* NULL: not a name in this locale */
                while ((n = lib->archive_read_data(in, piece, sizeof(piece))) > 0)
                        bytes += (size_t)n;
                assert_int_equal(n, 0); /* the checksum is right */
        }
        lib->archive_read_free(in);
        assert_int_equal(bytes, large.len + 4);
        assert_non_null(strstr(buf_text(&names), "large,"));
}

static void refuses_damaged_archives(void **state)
{
        _cleanup_(buf_deinit) struct buf zip = BUF_INIT, large = BUF_INIT, got = BUF_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        make(&zip, &large);
        zip.data[zip.len - 300] ^= 1; /* in the directory or in the data before it */
        zip.data[200]++;
        save(&zip);
        assert_true(zip_file_read(path, "large", 1 << 20, &got, &error) < 0);
        assert_int_equal(got.len, 0);
        for (size_t n = 0; n < zip.len; n += 9973) {
                struct buf part = {.data = zip.data, .len = n};
                save(&part);
                assert_true(zip_file_read(path, "large", 1 << 20, &got, &error) < 0);
        }
        assert_true(strstr(error_message(&error), "is not a valid zip archive") != NULL);
}

static void forwards_the_sinks_error(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct zip_writer w;
        zip_writer_init(&w, refuse, NULL);
        assert_int_equal(zip_writer_add(&w, "a", "b", 1, &error), -ENOSPC);
        assert_string_equal(error_message(&error), "no space");
        zip_writer_deinit(&w);
}

static uint64_t number_at(const struct buf *zip, size_t at, int bytes)
{
        uint64_t number = 0;
        assert_true(at + (size_t)bytes <= zip->len);
        for (int i = 0; i < bytes; i++)
                number |= (uint64_t)(unsigned char)zip->data[at + (size_t)i] << (8 * i);
        return number;
}

/* An entry that begins beyond 4 GiB and one that is larger have their numbers in extra fields. The bytes before are not
 * there: only the numbers count. */
static void large_archives_have_the_numbers_of_zip64(void **state)
{
        enum { LOCAL = 30, END = 22, LOCATOR = 20, END_64 = 56 };
        const uint64_t far = UINT64_C(5) << 30, size = UINT64_C(6) << 30;
        _cleanup_(buf_deinit) struct buf zip = BUF_INIT;
        struct zip_writer w;
        zip_writer_init(&w, append, &zip);
        w.offset = far;
        assert_int_equal(zip_writer_begin(&w, "log", NULL), 0);
        assert_int_equal(number_at(&zip, 4, 2), 20); /* as Java: the header does not know */
        assert_int_equal(zip_writer_put(&w, "text", 4, NULL), 0);
        w.size += size;
        w.packed += size;
        assert_int_equal(zip_writer_end(&w, NULL), 0);
        const size_t directory = zip.len, descriptor = directory - 24;
        assert_int_equal(number_at(&zip, descriptor, 4), 0x08074b50);
        assert_int_equal(number_at(&zip, descriptor + 8, 8), size + 4 + 2 * 5);
        assert_int_equal(number_at(&zip, descriptor + 16, 8), size + 4);
        assert_int_equal(zip_writer_finish(&w, NULL), 0);
        assert_int_equal(number_at(&zip, directory, 4), 0x02014b50);
        assert_int_equal(number_at(&zip, directory + 20, 4), UINT32_MAX);
        assert_int_equal(number_at(&zip, directory + 24, 4), UINT32_MAX);
        assert_int_equal(number_at(&zip, directory + 30, 2), 28);
        assert_int_equal(number_at(&zip, directory + 42, 4), UINT32_MAX);
        const size_t extra = directory + 46 + 3;
        assert_int_equal(number_at(&zip, extra, 2), 1);
        assert_int_equal(number_at(&zip, extra + 4, 8), size + 4);
        assert_int_equal(number_at(&zip, extra + 12, 8), size + 4 + 2 * 5);
        assert_int_equal(number_at(&zip, extra + 20, 8), far);
        const size_t end = zip.len - END, locator = end - LOCATOR, record = locator - END_64;
        assert_int_equal(number_at(&zip, locator, 4), 0x07064b50);
        assert_int_equal(number_at(&zip, locator + 8, 8), far + record);
        assert_int_equal(number_at(&zip, record, 4), 0x06064b50);
        assert_int_equal(number_at(&zip, record + 40, 8), record - directory);
        assert_int_equal(number_at(&zip, record + 48, 8), far + directory);
        assert_int_equal(number_at(&zip, end + 16, 4), UINT32_MAX);
        zip_writer_deinit(&w);
}

/* A small archive with many entries is read by libarchive. */
static void archives_have_many_entries(void **state)
{
        enum { ENTRIES = 66000 };
        _cleanup_(buf_deinit) struct buf zip = BUF_INIT;
        const struct archive_library *lib;
        struct archive_entry *entry;
        struct zip_writer w;
        int n = 0;
        zip_writer_init(&w, append, &zip);
        for (int i = 0; i < ENTRIES; i++) {
                char name[16];
                snprintf(name, sizeof(name), "%d", i);
                assert_int_equal(zip_writer_add(&w, name, "x", 1, NULL), 0);
        }
        assert_int_equal(zip_writer_finish(&w, NULL), 0);
        zip_writer_deinit(&w);
        assert_int_equal(number_at(&zip, zip.len - 12, 2), UINT16_MAX);
        assert_int_equal(number_at(&zip, zip.len - 22 - 20 - 56 + 32, 8), ENTRIES);
        save(&zip);
        if (archive_library_load(&lib, NULL) < 0)
                skip();
        struct archive *in = lib->archive_read_new();
        lib->archive_read_support_format_zip_streamable(in);
        assert_int_equal(lib->archive_read_open_filename(in, path, 10240), ARCHIVE_OK);
        while (lib->archive_read_next_header(in, &entry) == ARCHIVE_OK)
                n++;
        lib->archive_read_free(in);
        assert_int_equal(n, ENTRIES);
}

static int setup(void **state)
{
        const int fd = mkstemp(path);
        return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
        return unlink(path);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_entries_by_name),
                cmocka_unit_test(libarchive_reads_all_entries),
                cmocka_unit_test(refuses_damaged_archives),
                cmocka_unit_test(forwards_the_sinks_error),
                cmocka_unit_test(large_archives_have_the_numbers_of_zip64),
                cmocka_unit_test(archives_have_many_entries),
        };
        return cmocka_run_group_tests(tests, setup, teardown);
}
