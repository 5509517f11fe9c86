/* Tests Java object files: bytes as a JVM writes them, splits, damage, and files that are refused. */
#include "io/java_object_file.h"

#include "base/error.h"
#include "io/java_arrays.h"
#include "io/sequence_file.h"
#include "unit/temp_dir.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#define BYTES(text) ((fst_bytes){text, sizeof(text) - 1})

/* new byte[][] {"ab", null, "", the first again} as java.io.ObjectOutputStream writes it */
#define BYTES_ARRAY "\xac\xed\0\5ur\0\3[[B\x4b\xfd\x19\x15\x67\x67\xdb\x37\2\0\0xp"
#define FIRST_BYTES "ur\0\2[B\xac\xf3\x17\xf8\6\x08T\xe0\2\0\0xp"
#define NEXT_BYTES "uq\0~\0\2"

static void expect_elements(fst_bytes data, const char *wanted)
{
        java_arrays elements = {0};
        struct fst_error error = FST_ERROR_INIT;
        char text[256] = "";
        if (java_arrays_read(data, &elements, &error))
                fail_msg("%s", error_message(&error));
        for (size_t i = 0; i < elements.len; i++) {
                fst_bytes e = elements.data[i];
                size_t at = strlen(text);
                if (e.data)
                        snprintf(text + at, sizeof(text) - at, "[%.*s]", (int)e.len - 4, e.data + 4);
                else
                        snprintf(text + at, sizeof(text) - at, "-");
        }
        assert_string_equal(text, wanted);
        vec_deinit(&elements);
}

static void expect_refused(fst_bytes data, int status, const char *text)
{
        java_arrays elements = {0};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(java_arrays_read(data, &elements, &error), status);
        if (!strstr(error_message(&error), text))
                fail_msg("\"%s\" is not in: %s", text, error_message(&error));
        assert_int_equal(elements.len, 0);
        error_deinit(&error);
        vec_deinit(&elements);
}

static void reads_what_java_writes(void **state)
{
        expect_elements(BYTES(BYTES_ARRAY "\0\0\0\4" FIRST_BYTES "\0\0\0\2ab"
                                          "p" NEXT_BYTES "\0\0\0\0"
                                          "q\0~\0\3"),
                        "[ab]-[][ab]");
        expect_elements(BYTES(BYTES_ARRAY "\0\0\0\0"), "");
        expect_elements(BYTES("\xac\xed\0\5ur\0\x13[Ljava.lang.Object;\x90\xce\x58\x9f\x10\x73\x29\x6c\2\0\0xp"
                              "\0\0\0\1" FIRST_BYTES "\0\0\0\1x"),
                        "[x]");
}

static void refuses_other_objects(void **state)
{
        expect_refused(BYTES("\xac\xed\0\5t\0\1a"), -ENOTSUP, "it holds a string (type code 0x74)");
        expect_refused(BYTES("\xac\xed\0\5ur\0\x13[Ljava.lang.String;\xad\xd2\x56\xe7\xe9\x1d\x7b\x47\2\0\0xp"
                             "\0\0\0\1t\0\1a"),
                       -ENOTSUP, "objects of class [Ljava.lang.String;");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\1t\0\1a"), -ENOTSUP, "it holds a string");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\1" BYTES_ARRAY), -ENOTSUP, "an unknown object (type code 0xac)");
        expect_refused(BYTES("\xac\xed\0\5" FIRST_BYTES "\0\0\0\1a"), -ENOTSUP, "objects of class byte[]");
}

static void rejects_damaged_objects(void **state)
{
        const fst_bytes whole = BYTES(BYTES_ARRAY "\0\0\0\2" FIRST_BYTES "\0\0\0\2ab" NEXT_BYTES "\0\0\0\1c");
        for (size_t len = 0; len < whole.len; len++) {
                java_arrays elements = {0};
                assert_int_equal(java_arrays_read((fst_bytes){whole.data, len}, &elements, NULL), -EBADMSG);
                vec_deinit(&elements);
        }
        expect_refused(BYTES("\xac\xed\0\4ur"), -EBADMSG, "its magic number");
        expect_refused(BYTES(BYTES_ARRAY "\xff\xff\xff\xff"), -EBADMSG, "more elements than bytes");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\1q\0~\0\1"), -EBADMSG, "a reference to no array of bytes");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\1q\0~\0\x9"), -EBADMSG, "a reference leads nowhere");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\1q\0\0\0\0"), -EBADMSG, "a reference leads nowhere");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\1" FIRST_BYTES "\xff\xff\xff\xff"), -EBADMSG, "is truncated");
        expect_refused(BYTES(BYTES_ARRAY "\0\0\0\0p"), -EBADMSG, "bytes behind the array");
}

static void writes_what_java_writes(void **state)
{
        struct buf out = BUF_INIT;
        struct java_arrays_writer w;
        const fst_bytes wanted = BYTES(BYTES_ARRAY "\0\0\0\4p" FIRST_BYTES "\0\0\0\2ab" NEXT_BYTES "\0\0\0\0p");
        java_arrays_begin(&w, &out);
        assert_true(java_arrays_put(&w, (fst_bytes){0}));
        assert_true(java_arrays_put(&w, BYTES("\0\0\0\2ab")));
        assert_true(java_arrays_put(&w, BYTES("\0\0\0\0")));
        assert_true(java_arrays_put(&w, (fst_bytes){0}));
        java_arrays_end(&w);
        assert_int_equal(out.len, wanted.len);
        assert_memory_equal(out.data, wanted.data, wanted.len);
        buf_deinit(&out);
}

/* ------------------------------------------------------------------------------------------------------- files */

/* Frame @i: null, or up to 30,000 bytes that name it. Returns its size. */
static size_t make_frame(char *frame, uint32_t i)
{
        uint32_t len = i % 7 == 3 ? (uint32_t)-5 : i % 11 == 5 ? 30000 : 8 + i % 90;
        uint32_t length = htobe32(len);
        memcpy(frame, &length, 4);
        if (len == (uint32_t)-5)
                return 4;
        memset(frame + 4, 'x', len);
        memcpy(frame + 4, &i, sizeof(i));
        return 4 + len;
}

static char *write_frames(const char *name, uint32_t n)
{
        struct java_object_writer *w = java_object_writer_new();
        struct fst_error error = FST_ERROR_INIT;
        char *path = mem_printf("file:%s/%s", temp_dir, name), *frame = mem_alloc(40000);
        assert_int_equal(java_object_writer_open(w, path, &error), 0);
        for (uint32_t i = 0; i < n; i++) {
                fst_bytes row = {frame, make_frame(frame, i)};
                fst_batch batch = {.type = FST_BYTES, .rows = 1, .key.bytes = &row};
                assert_int_equal(java_object_writer_write(w, &batch, &error), 0);
        }
        assert_int_equal(java_object_writer_close(w, &error), 0);
        assert_int_equal(java_object_writer_rows(w), n);
        java_object_writer_free(w);
        free(frame);
        return path;
}

/* Reads a split and checks that its frames follow frame *@next. Returns its status. */
static int read_split(struct java_object_reader *r, const char *path, uint64_t start, uint64_t length, uint32_t *next,
                      struct fst_error *error)
{
        struct input_split split = {.path = path, .start = start, .length = length};
        fst_batch batch = {0};
        char *frame = mem_alloc(40000);
        int e = java_object_reader_open(r, &split, error);
        while (e == 0 && (e = java_object_reader_next(r, &batch, error)) == 0 && batch.rows > 0)
                for (uint32_t i = 0; i < batch.rows; i++, ++*next) {
                        size_t size = make_frame(frame, *next);
                        assert_int_equal(batch.key.bytes[i].len, size);
                        assert_memory_equal(batch.key.bytes[i].data, frame, size);
                }
        java_object_reader_close(r);
        free(frame);
        return e;
}

static uint64_t file_size(const char *path)
{
        struct stat st;
        assert_int_equal(stat(path + strlen("file:"), &st), 0);
        return (uint64_t)st.st_size;
}

static void each_row_is_in_one_split(void **state)
{
        enum { N = 1000 };
        char *path = write_frames("splits", N);
        struct java_object_reader *r = java_object_reader_new();
        uint64_t size = file_size(path);
        assert_true(size > 20 * SEQUENCE_SYNC_INTERVAL);
        static const uint64_t lengths[] = {UINT32_MAX, 1 << 20, 102400, 102397, 65536, 30001, 4096, 1021};
        for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
                uint32_t next = 0;
                for (uint64_t at = 0; at < size; at += lengths[k])
                        assert_int_equal(read_split(r, path, at, MIN(lengths[k], size - at), &next, NULL), 0);
                assert_int_equal(next, N);
        }
        java_object_reader_free(r);
        free(path);
}

static void writes_empty_files(void **state)
{
        char *path = write_frames("empty", 0);
        struct java_object_reader *r = java_object_reader_new();
        uint32_t next = 0;
        assert_int_equal(read_split(r, path, 0, file_size(path), &next, NULL), 0);
        assert_int_equal(next, 0);
        java_object_reader_free(r);
        free(path);
}

static void rejects_rows_that_are_no_frames(void **state)
{
        struct java_object_writer *w = java_object_writer_new();
        struct fst_error error = FST_ERROR_INIT;
        char *path = mem_printf("file:%s/pairs", temp_dir);
        fst_bytes rows[] = {BYTES("\0\0\0\1a\0\0\0\1b"), BYTES("abc"), BYTES("\xff\xff\xff\xfe")};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                fst_batch batch = {.type = FST_BYTES, .rows = 1, .key.bytes = &rows[i]};
                assert_int_equal(java_object_writer_open(w, path, &error), 0);
                assert_int_equal(java_object_writer_write(w, &batch, &error), -EBADMSG);
                assert_non_null(strstr(error_message(&error), "is not one frame"));
                java_object_writer_abandon(w);
                error_deinit(&error);
        }
        java_object_writer_free(w);
        free(path);
}

/* Reads a file of @content. Returns the status; *@error has the message. */
static int read_content(const char *name, fst_bytes content, struct fst_error *error)
{
        char *path = mem_printf("%s/%s", temp_dir, name), *full = mem_printf("file:%s", path);
        FILE *file = fopen(path, "w");
        struct java_object_reader *r = java_object_reader_new();
        uint32_t next = 0;
        assert_int_equal(fwrite(content.data, 1, content.len, file), content.len);
        assert_int_equal(fclose(file), 0);
        int e = read_split(r, full, 0, content.len, &next, error);
        java_object_reader_free(r);
        free(full);
        free(path);
        return e;
}

#define EXPECT_CONTENT(content, status, text)                                                                          \
        do {                                                                                                           \
                struct fst_error error_ = FST_ERROR_INIT;                                                              \
                assert_int_equal(read_content("content", content, &error_), status);                                   \
                if (!strstr(error_message(&error_), text) || !strstr(error_message(&error_), "/content"))              \
                        fail_msg("\"%s\" is not in: %s", text, error_message(&error_));                                \
                error_deinit(&error_);                                                                                 \
        } while (0)

#define NULL_CLASS "\x21org.apache.hadoop.io.NullWritable"
#define BYTES_CLASS "\x22org.apache.hadoop.io.BytesWritable"
#define SYNC "0123456789abcdef"
#define HEADER "SEQ\6" NULL_CLASS BYTES_CLASS "\0\0\0\0\0\0" SYNC

static void refuses_other_files(void **state)
{
        EXPECT_CONTENT(BYTES("SEQ"), -EBADMSG, "is not a SequenceFile");
        EXPECT_CONTENT(BYTES("text\n"), -EBADMSG, "is not a SequenceFile");
        EXPECT_CONTENT(BYTES("SEQ\4xxxx"), -ENOTSUP, "is a SequenceFile of version 4, not 6");
        EXPECT_CONTENT(BYTES("SEQ\6\x19org.apache.hadoop.io.Text" BYTES_CLASS "\0\0\0\0\0\0" SYNC), -ENOTSUP,
                       "a SequenceFile of org.apache.hadoop.io.Text and");
        EXPECT_CONTENT(BYTES("SEQ\6" NULL_CLASS BYTES_CLASS "\1\0\x2aorg.apache.hadoop.io.compress.DefaultCodec"
                             "\0\0\0\0" SYNC),
                       -ENOTSUP, "with record compression (org.apache.hadoop.io.compress.DefaultCodec)");
        EXPECT_CONTENT(BYTES("SEQ\6" NULL_CLASS BYTES_CLASS "\1\1\x2aorg.apache.hadoop.io.compress.DefaultCodec"
                             "\0\0\0\0" SYNC),
                       -ENOTSUP, "with block compression");
        EXPECT_CONTENT(BYTES(HEADER "\0\0\0\x9\0\0\0\0\0\0\0\5hello"), -EBADMSG, "damaged Java serialization");
}

static void rejects_damaged_files(void **state)
{
        EXPECT_CONTENT(BYTES("SEQ\6" NULL_CLASS), -EBADMSG, "it is truncated");
        EXPECT_CONTENT(BYTES("SEQ\6\x8a\xff" NULL_CLASS BYTES_CLASS), -EBADMSG, "a text of invalid length");
        EXPECT_CONTENT(BYTES(HEADER "\0\0\0\x9\0\0\0\0\0\0\0\5hel"), -EBADMSG, "it is truncated");
        EXPECT_CONTENT(BYTES(HEADER "\0\0\0\x9\0\0\0\1x\0\0\0\4hell"), -EBADMSG, "an invalid length");
        EXPECT_CONTENT(BYTES(HEADER "\0\0\0\x9\0\0\0\0\0\0\0\4hello"), -EBADMSG, "another length than its record");
        EXPECT_CONTENT(BYTES(HEADER "\xff\xff\xff\xfe\0\0\0\0"), -EBADMSG, "an invalid length");
        EXPECT_CONTENT(BYTES(HEADER "\xff\xff\xff\xff" "0123456789abcdeF"), -EBADMSG, "a mark does not match");
        EXPECT_CONTENT(BYTES(HEADER "\x7f\xff\xff\xff\0\0\0\0\0\0\0\0"), -EBADMSG, "it is truncated");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_what_java_writes),
                cmocka_unit_test(refuses_other_objects),
                cmocka_unit_test(rejects_damaged_objects),
                cmocka_unit_test(writes_what_java_writes),
                cmocka_unit_test(each_row_is_in_one_split),
                cmocka_unit_test(writes_empty_files),
                cmocka_unit_test(rejects_rows_that_are_no_frames),
                cmocka_unit_test(refuses_other_files),
                cmocka_unit_test(rejects_damaged_files),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
