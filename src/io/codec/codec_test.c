/* Tests that blocks and streams round-trip, and that corruption or truncation is an error with an offset. */
#include "io/codec/codec.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/codec/bzip2_library.h"
#include "io/fs/file_systems.h"
#include "io/text_reader.h"
#include "unit/cases.h"

#include <lz4frame.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

static char local[48], path[64];

static int make_path(void **state)
{
        snprintf(local, sizeof(local), "/tmp/codec_test.%d", getpid());
        snprintf(path, sizeof(path), "file:%s", local);
        return 0;
}

static int remove_path(void **state)
{
        unlink(local);
        return 0;
}

static void test_names(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        enum codec_kind kind;
        assert_int_equal(codec_parse("lz4", &kind, &error), 0);
        assert_int_equal(kind, CODEC_LZ4);
        assert_int_equal(codec_parse("ZSTD", &kind, &error), 0);
        assert_int_equal(kind, CODEC_ZSTD);
        assert_int_equal(codec_parse("org.apache.spark.io.LZ4CompressionCodec", &kind, &error), 0);
        assert_int_equal(kind, CODEC_LZ4);
        assert_int_equal(codec_parse("snappy", &kind, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "snappy"));
        assert_non_null(strstr(error_message(&error), "lz4 or zstd"));
        assert_int_equal(codec_of_file("file:/a/b.txt.gz"), CODEC_GZIP);
        assert_int_equal(codec_of_file("file:/a/b.zst"), CODEC_ZSTD);
        assert_int_equal(codec_of_file("file:/a/b.lz4"), CODEC_LZ4);
        assert_int_equal(codec_of_file("file:/a.gz/b"), CODEC_NONE);
        error_deinit(&error);
}

/* Compressible text with an incompressible part. */
static char *sample(size_t size)
{
        char *data = mem_alloc(size + 1);
        uint64_t seed = 9;
        for (size_t i = 0; i < size; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                data[i] = i % 3 == 0 ? (char)('a' + (seed >> 60)) : i % 61 == 60 ? '\n' : 'x';
        }
        return data;
}

static void test_blocks(void **state)
{
        static const size_t sizes[] = {0, 1, 100, 65536, 300000};
        static const enum codec_kind kinds[] = {CODEC_NONE, CODEC_LZ4, CODEC_ZSTD};
        struct fst_error error = FST_ERROR_INIT;

        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                struct codec codec;
                codec_init(&codec, kinds[k], 1);
                for (size_t s = 0; s < 5; s++) {
                        size_t size = sizes[s], room = codec_bound(kinds[k], size), packed = 0;
                        _cleanup_free_ char *data = sample(size);
                        _cleanup_free_ char *out = mem_alloc(room + 1), *back = mem_alloc(size + 2);
                        assert_int_equal(codec_compress(&codec, data, size, out, room, &packed, &error), 0);
                        assert_int_equal(codec_decompress(&codec, out, packed, back, size, &error), 0);
                        assert_memory_equal(data, back, size);
                        assert_int_equal(codec_decompress(&codec, out, packed, back, size + 1, &error), -EBADMSG);
                        if (size == 0)
                                continue;
                        assert_int_equal(codec_decompress(&codec, out, packed, back, size - 1, &error), -EBADMSG);
                        assert_int_equal(codec_decompress(&codec, out, packed - 1, back, size, &error), -EBADMSG);
                        size_t untouched = 77;
                        assert_int_equal(codec_compress(&codec, data, size, out, packed - 1, &untouched, &error),
                                         -ENOBUFS);
                        assert_int_equal(untouched, 77);
                }
                codec_deinit(&codec);
        }
        assert_int_equal(codec_bound(CODEC_LZ4, (size_t)4 << 30), 0);
        error_deinit(&error);
}

static void pack(enum codec_kind kind, const char *data, size_t size, struct buf *out)
{
        buf_reserve(out, size + size / 8 + 100000);
        char *to = out->data + out->len;
        size_t room = out->cap - out->len - 1, n = 0;
        if (kind == CODEC_BZIP2) {
                const struct bzip2_library *library;
                bz_stream z = {.next_in = (char *)data,
                               .avail_in = (unsigned)size,
                               .next_out = to,
                               .avail_out = (unsigned)room};
                assert_int_equal(bzip2_library_load(&library, NULL), 0);
                assert_int_equal(library->compress_init(&z, 1, 0, 0), BZ_OK);
                assert_int_equal(library->compress(&z, BZ_FINISH), BZ_STREAM_END);
                n = room - z.avail_out;
                library->compress_end(&z);
        } else if (kind == CODEC_GZIP || kind == CODEC_DEFLATE) {
                int bits = kind == CODEC_GZIP ? 15 + 16 : 15;
                z_stream z = {0};
                assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
                z.next_in = (unsigned char *)data;
                z.avail_in = (unsigned)size;
                z.next_out = (unsigned char *)to;
                z.avail_out = (unsigned)room;
                assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
                n = room - z.avail_out;
                deflateEnd(&z);
        } else if (kind == CODEC_ZSTD) {
                ZSTD_CCtx *c = ZSTD_createCCtx();
                ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
                n = ZSTD_compress2(c, to, room, data, size);
                ZSTD_freeCCtx(c);
        } else {
                LZ4F_preferences_t p = {.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled};
                n = LZ4F_compressFrame(to, room, data, size, &p);
        }
        assert_true(n > 0);
        assert_true(n <= room);
        out->len += n;
}

static void write_file(const void *data, size_t size)
{
        FILE *f = fopen(local, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, size, f), size);
        fclose(f);
}

/* Decompresses the file in pieces of @step bytes. Returns the status, and the text in @out. */
static int unpack(struct decoder *d, enum codec_kind kind, size_t step, struct buf *out, struct fst_error *error)
{
        const struct file_system *fs;
        struct open_file file = OPEN_FILE_INIT;
        char *piece = mem_alloc(step);
        size_t got = 1;
        assert_int_equal(file_system_of(path, &fs, NULL), 0);
        assert_int_equal(fs->open(fs, path, &file, NULL), 0);
        int r = decoder_start(d, kind, &file, error);
        while (r == 0 && got > 0) {
                r = decoder_read(d, piece, step, &got, error);
                if (r == 0)
                        buf_append(out, piece, got);
        }
        fs->close(&file, NULL);
        free(piece);
        return r;
}

static void test_streams(void **state)
{
        static const enum codec_kind kinds[] = {CODEC_GZIP, CODEC_ZSTD, CODEC_LZ4, CODEC_BZIP2, CODEC_DEFLATE};
        struct fst_error error = FST_ERROR_INIT;
        struct decoder *d = decoder_new();
        size_t size = 700000;
        _cleanup_free_ char *data = sample(size);

        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                _cleanup_(buf_deinit) struct buf packed = BUF_INIT, got = BUF_INIT;
                /* Two members with an empty one between them. */
                pack(kinds[k], data, 300000, &packed);
                pack(kinds[k], data, 0, &packed);
                pack(kinds[k], data + 300000, size - 300000, &packed);
                size_t whole = packed.len;
                if (kinds[k] == CODEC_GZIP)
                        buf_append(&packed, "\0\0\0\0\0", 5);
                write_file(packed.data, packed.len);
                static const size_t steps[] = {1000, 1 << 20, 7};
                for (size_t s = 0; s < 3; s++) {
                        buf_reset(&got);
                        assert_int_equal(unpack(d, kinds[k], steps[s], &got, &error), 0);
                        assert_int_equal(got.len, size);
                        assert_memory_equal(got.data, data, size);
                        assert_int_equal(decoder_bytes(d), packed.len);
                }
                /* Truncated at various positions. */
                for (size_t cut = 1; cut < whole; cut += whole / 23) {
                        write_file(packed.data, whole - cut);
                        buf_reset(&got);
                        assert_int_equal(unpack(d, kinds[k], 5000, &got, &error), -EBADMSG);
                        assert_non_null(strstr(error_message(&error), path));
                        assert_non_null(strstr(error_message(&error), "at byte"));
                }
                /* One wrong byte: all these formats have checksums, so it is always detected. */
                for (size_t at = whole / 2; at < whole - 8; at += whole / 17) {
                        packed.data[at] ^= 0x20;
                        write_file(packed.data, whole);
                        packed.data[at] ^= 0x20;
                        buf_reset(&got);
                        assert_int_equal(unpack(d, kinds[k], 5000, &got, &error), -EBADMSG);
                }
                /* Other data after the stream. */
                write_file(packed.data, whole);
                FILE *f = fopen(local, "a");
                fputs("junk", f);
                fclose(f);
                assert_int_equal(unpack(d, kinds[k], 5000, &got, &error), -EBADMSG);
        }
        decoder_free(d);
        error_deinit(&error);
}

/* Writes @data to the file, compressed by an encoder in pieces of @step bytes. */
static void write_packed(struct encoder *e, enum codec_kind kind, const char *data, size_t size, size_t step)
{
        const struct file_system *fs;
        struct open_file file = OPEN_FILE_INIT;
        struct stat st;
        assert_int_equal(file_system_of(path, &fs, NULL), 0);
        assert_int_equal(fs->create(fs, path, &file, NULL), 0);
        assert_int_equal(encoder_start(e, kind, &file, NULL), 0);
        for (size_t at = 0; at < size; at += step)
                assert_int_equal(encoder_write(e, data + at, MIN(step, size - at), NULL), 0);
        assert_int_equal(encoder_end(e, NULL), 0);
        assert_int_equal(fs->close(&file, NULL), 0);
        assert_int_equal(stat(local, &st), 0);
        assert_int_equal(st.st_size, encoder_bytes(e));
}

static void test_encoders(void **state)
{
        static const size_t sizes[] = {0, 1, 1000, 261100, 261101, 3000000}, steps[] = {1 << 20, 777};
        struct fst_error error = FST_ERROR_INIT;
        struct decoder *d = decoder_new();
        struct encoder *e = encoder_new();
        _cleanup_free_ char *data = sample(3000000);

        for (int kind = CODEC_LZ4; kind < CODEC_KINDS; kind++)
                for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                        for (size_t k = 0; k < ARRAY_SIZE(steps); k++) {
                                _cleanup_(buf_deinit) struct buf got = BUF_INIT;
                                write_packed(e, (enum codec_kind)kind, data, sizes[i], steps[k]);
                                if (unpack(d, (enum codec_kind)kind, 70000, &got, &error) < 0)
                                        fail_msg("%s", error_message(&error));
                                assert_int_equal(got.len, sizes[i]);
                                assert_memory_equal(got.data ? got.data : "", data, sizes[i]);
                                assert_true(sizes[i] < 1000 || encoder_bytes(e) < sizes[i]);
                        }
        encoder_free(e);
        encoder_free(NULL);
        decoder_free(d);
        error_deinit(&error);
}

/* Wrong bytes anywhere in the encoders' frames. Incompressible data is stored unchanged, so only a checksum detects
 * them. Hadoop's Lz4Codec format has no checksum. */
static void test_encoders_write_checksums(void **state)
{
        static const enum codec_kind kinds[] = {CODEC_GZIP, CODEC_ZSTD, CODEC_BZIP2, CODEC_DEFLATE};
        struct fst_error error = FST_ERROR_INIT;
        struct decoder *d = decoder_new();
        struct encoder *e = encoder_new();
        unsigned char data[20000];
        uint64_t x = 1;
        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (unsigned char)((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                _cleanup_(buf_deinit) struct buf got = BUF_INIT;
                write_packed(e, kinds[k], (const char *)data, sizeof(data), 5000);
                size_t packed = encoder_bytes(e);
                _cleanup_free_ char *bytes = mem_alloc(packed);
                FILE *f = fopen(local, "r");
                assert_int_equal(fread(bytes, 1, packed, f), packed);
                fclose(f);
                for (size_t at = packed / 10; at < packed - packed / 10; at += packed / 11) {
                        bytes[at] ^= 4;
                        write_file(bytes, packed);
                        bytes[at] ^= 4;
                        buf_reset(&got);
                        if (unpack(d, kinds[k], 5000, &got, &error) != -EBADMSG)
                                fail_msg("%s: byte %zu of %zu is wrong, and nobody says so", codec_name(kinds[k]), at,
                                         packed);
                }
        }
        encoder_free(e);
        decoder_free(d);
        error_deinit(&error);
}

/* The output of Hadoop's Lz4Codec for "one\ntwo\n" and for an empty file, and invalid files. */
static void test_lz4_blocks(void **state)
{
        static const struct {
                const char *bytes;
                size_t size;
                const char *text; /* NULL: damaged */
        } cases[] = {
                {"\0\0\0\x08\0\0\0\x09\x80one\ntwo\n", 17, "one\ntwo\n"},
                {"\0\0\0\0", 4, ""},
                /* a block of two chunks, an empty block, another block */
                {"\0\0\0\x08\0\0\0\x05\x40one\n\0\0\0\x05\x40two\n\0\0\0\0\0\0\0\x01\0\0\0\x02\x10!", 36,
                 "one\ntwo\n!"},
                {"\0\0\0\x08\0\0\0\x05\x40one\n", 13, NULL},
                {"\0\0\0\x08\0\0\0\x05\x40one", 12, NULL},
                {"\0\0\0\x08\0\0", 6, NULL},
                {"\0\0\0\x03\0\0\0\x05\x40one\n", 13, NULL},
                {"\0\0\0\x08\0\0\0\0", 8, NULL},
                {"\0\0\0\x08\x7f\0\0\0\x40one\n", 13, NULL},
        };
        struct fst_error error = FST_ERROR_INIT;
        struct decoder *d = decoder_new();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: bytes \"%s\", size %zu, text \"%s\"", i,
                           cases[i].bytes ? cases[i].bytes : "(none)", cases[i].size,
                           cases[i].text ? cases[i].text : "(none)");
                _cleanup_(buf_deinit) struct buf got = BUF_INIT;
                write_file(cases[i].bytes, cases[i].size);
                int r = unpack(d, CODEC_LZ4, 3, &got, &error);
                assert_int_equal(r, cases[i].text ? 0 : -EBADMSG);
                if (cases[i].text)
                        assert_string_equal(buf_text(&got), cases[i].text);
                else
                        assert_non_null(strstr(error_message(&error), path));
        }
        decoder_free(d);
        error_deinit(&error);
}

static void test_reader(void **state)
{
        static const enum codec_kind kinds[] = {CODEC_GZIP, CODEC_ZSTD, CODEC_LZ4, CODEC_BZIP2, CODEC_DEFLATE};
        struct fst_error error = FST_ERROR_INIT;
        struct text_reader *r = text_reader_new(0);
        size_t size = 700000;
        _cleanup_free_ char *data = sample(size);

        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                _cleanup_(buf_deinit) struct buf packed = BUF_INIT, got = BUF_INIT;
                pack(kinds[k], data, size, &packed);
                write_file(packed.data, packed.len);
                struct input_split split = {.path = path, .length = packed.len, .codec = kinds[k]};
                fst_bytes lines[500];
                uint32_t n;
                assert_int_equal(text_reader_open(r, &split, &error), 0);
                while (text_reader_next(r, lines, 500, &n, NULL, NULL, &error) == 0 && n > 0)
                        for (uint32_t i = 0; i < n; i++) {
                                buf_append(&got, lines[i].data, lines[i].len);
                                buf_putc(&got, '\n');
                        }
                assert_int_equal(got.len, size + (data[size - 1] != '\n'));
                assert_memory_equal(got.data, data, size);
                assert_int_equal(text_reader_bytes(r), packed.len);

                /* A sample is the beginning of the file. */
                size_t bytes = 0;
                assert_int_equal(text_reader_open(r, &split, &error), 0);
                text_reader_sample(r, 20000);
                while (text_reader_next(r, lines, 500, &n, NULL, NULL, &error) == 0 && n > 0)
                        for (uint32_t i = 0; i < n; i++)
                                bytes += lines[i].len + 1;
                assert_true(bytes >= 20000);
                assert_true(bytes < 20200);

                write_file(packed.data, packed.len / 2);
                int status = 0;
                assert_int_equal(text_reader_open(r, &split, &error), 0);
                for (n = 1; status == 0 && n > 0;)
                        status = text_reader_next(r, lines, 500, &n, NULL, NULL, &error);
                assert_int_equal(status, -EBADMSG);
        }
        text_reader_free(r);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_blocks),
                cmocka_unit_test(test_streams),
                cmocka_unit_test(test_encoders),
                cmocka_unit_test(test_encoders_write_checksums),
                cmocka_unit_test(test_lz4_blocks),
                cmocka_unit_test(test_reader),
        };
        return cmocka_run_group_tests(tests, make_path, remove_path);
}
