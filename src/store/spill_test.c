#include "store/spill.h"

#include "base/error.h"
#include "base/vec.h"
#include "store/file_cipher.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define TYPE FST_PAIR(BYTES, I64)

static struct disk_dirs *dirs;
static unsigned seed = 1;

static int setup(void **state)
{
        if (temp_dir_make(NULL))
                return -1;
        char *list = mem_printf("%s/one,%s/two", temp_dir, temp_dir);
        int r = disk_dirs_new(list, 4, &dirs, NULL);
        free(list);
        return r;
}

static int teardown(void **state)
{
        disk_dirs_free(dirs);
        char *command = mem_printf("rm -rf %s", temp_dir);
        int r = system(command);
        free(command);
        return r;
}

/* Makes a page of @rows rows: words repeat and compress well. Other rows are random. */
static struct page *some_page(uint32_t rows, bool words)
{
        struct page *page = NULL;
        assert_int_equal(page_new(NULL, TYPE, 0, &page), 0);
        for (uint32_t i = 0; i < rows; i++) {
                char text[16];
                for (int j = 0; j < 16; j++)
                        text[j] = words ? 'a' : (char)rand_r(&seed);
                fst_bytes key = {text, (size_t)rand_r(&seed) % 17};
                int64_t value = rand_r(&seed) % 100;
                fst_batch b = {.rows = 1, .type = TYPE, .key.bytes = &key, .value.i64 = &value};
                if (!page_append_row(page, &b, 0))
                        break;
        }
        return page;
}

static void assert_page_equal(const struct page *a, const struct page *b)
{
        assert_int_equal(a->rows, b->rows);
        assert_int_equal(a->used, b->used);
        assert_memory_equal(a->data, b->data, a->used);
}

struct written_page {
        struct page *page;
        uint64_t offset;
        uint32_t length;
};

static void read_one(struct spill *spill, const struct written_page *w)
{
        struct fst_error error = FST_ERROR_INIT;
        struct page *page = NULL;
        assert_int_equal(spill_read_page(spill, w->offset, w->length, NULL, NULL, &page, &error), 0);
        assert_page_equal(page, w->page);
        page_free(NULL, page);
}

static void reads_written_pages(void **state)
{
        for (int round = 0; round < 6; round++) {
                enum { N = 60 };
                struct written_page w[N];
                struct fst_error error = FST_ERROR_INIT;
                struct spill *spill = NULL;
                struct spill_options o = {.dirs = dirs,
                                          .type = TYPE,
                                          .codec = (enum codec_kind)(round % 3),
                                          .level = 1,
                                          .name = round < 3 ? "named" : NULL};
                assert_int_equal(spill_new(&o, &spill, &error), 0);
                assert_int_equal(access(spill_path(spill), F_OK), round < 3 ? 0 : -1);
                uint64_t raw = 0;
                for (int i = 0; i < N; i++) {
                        uint32_t rows = i % 3 ? (uint32_t)rand_r(&seed) % 100 : (uint32_t)rand_r(&seed) % 20000;
                        w[i].page = some_page(rows, i % 2);
                        raw += w[i].page->used;
                        uint64_t end = spill_end(spill);
                        assert_int_equal(spill_write_page(spill, w[i].page, &w[i].offset, &w[i].length, &error), 0);
                        assert_int_equal(w[i].offset, end);
                        assert_int_equal(spill_end(spill), end + w[i].length);
                        read_one(spill, &w[rand_r(&seed) % (i + 1)]); /* also while it is written */
                }
                assert_int_equal(spill_finish(spill, &error), 0);
                struct spill_counters counters = spill_counters(spill);
                assert_int_equal(counters.pages, N);
                assert_int_equal(counters.raw_bytes, raw);
                assert_int_equal(counters.bytes, spill_end(spill));
                if (round % 3)
                        assert_true(counters.bytes < raw);
                for (int i = 0; i < N; i++)
                        read_one(spill, &w[i]);
                struct spill_reader reader;
                struct page *page = NULL;
                assert_int_equal(spill_reader_init(&reader, spill, w[7].offset, w[N - 2].offset, NULL, &error), 0);
                for (int i = 7; i < N - 2; i++) {
                        assert_int_equal(spill_reader_next(&reader, NULL, &page, &error), 0);
                        assert_non_null(page);
                        assert_page_equal(page, w[i].page);
                        page_free(NULL, page);
                }
                assert_int_equal(spill_reader_next(&reader, NULL, &page, &error), 0);
                assert_null(page);
                spill_reader_deinit(&reader);
                _cleanup_free_ char *path = mem_strdup(spill_path(spill));
                spill_free(spill);
                assert_int_equal(access(path, F_OK), -1);
                for (int i = 0; i < N; i++)
                        page_free(NULL, w[i].page);
        }
}

static void does_not_compress_an_oversized_record(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        char *text = mem_zero(2 << 20);
        fst_bytes key = {text, 2 << 20};
        int64_t value = 1;
        fst_batch b = {.rows = 1, .type = TYPE, .key.bytes = &key, .value.i64 = &value};
        struct page *page = NULL;
        assert_int_equal(page_new(NULL, TYPE, page_record_size(&b, 0), &page), 0);
        assert_int_equal(page_append(page, &b, 0), 1);
        struct spill *spill = NULL;
        struct spill_options o = {.dirs = dirs, .type = TYPE, .codec = CODEC_LZ4};
        struct written_page w = {.page = page};
        assert_int_equal(spill_new(&o, &spill, &error), 0);
        assert_int_equal(spill_write_page(spill, page, &w.offset, &w.length, &error), 0);
        assert_true(w.length > 2 << 20);
        read_one(spill, &w);
        spill_free(spill);
        page_free(NULL, page);
        free(text);
}

/* Reads everything. Returns 0, or the first error. Returned pages must be among those written. */
static int read_all(struct spill *spill, const struct written_page *w, int n)
{
        struct fst_error error = FST_ERROR_INIT;
        struct spill_reader reader;
        struct page *page = NULL;
        int r = spill_reader_init(&reader, spill, 0, spill_end(spill), NULL, &error);
        assert_int_equal(r, 0);
        for (int i = 0; (r = spill_reader_next(&reader, NULL, &page, &error)) == 0 && page; i++) {
                assert_true(i < n);
                assert_page_equal(page, w[i].page);
                page_free(NULL, page);
        }
        spill_reader_deinit(&reader);
        if (r)
                assert_non_null(strstr(error_message(&error), spill_path(spill)));
        error_deinit(&error);
        return r;
}

static void detects_damage(void **state)
{
        for (int kind = CODEC_NONE; kind <= CODEC_ZSTD; kind++) {
                enum { N = 5 };
                struct written_page w[N];
                struct spill *spill = NULL;
                struct spill_options o = {.dirs = dirs, .type = TYPE, .codec = (enum codec_kind)kind, .name = "damage"};
                assert_int_equal(spill_new(&o, &spill, NULL), 0);
                for (int i = 0; i < N; i++) {
                        w[i].page = some_page(40, i % 2);
                        assert_int_equal(spill_write_page(spill, w[i].page, &w[i].offset, &w[i].length, NULL), 0);
                }
                assert_int_equal(spill_finish(spill, NULL), 0);
                int fd = open(spill_path(spill), O_RDWR | O_CLOEXEC), found = 0;
                enum { FLIPS = 600 };
                for (int i = 0; i < FLIPS; i++) {
                        off_t at = (off_t)((uint64_t)rand_r(&seed) % spill_end(spill));
                        if (i < PAGE_FRAME_HEADER)
                                at = i;
                        unsigned char c, bad;
                        assert_int_equal(pread(fd, &c, 1, at), 1);
                        bad = c ^ (unsigned char)(1 << rand_r(&seed) % 8);
                        assert_int_equal(pwrite(fd, &bad, 1, at), 1);
                        int r = read_all(spill, w, N);
                        assert_true(r == 0 || r == -EBADMSG);
                        found += r != 0;
                        assert_int_equal(pwrite(fd, &c, 1, at), 1);
                }
                /* A compressor may encode the same bytes in two ways. Any other change must be detected. */
                assert_true(kind == CODEC_NONE ? found == FLIPS : found > FLIPS * 9 / 10);
                assert_int_equal(read_all(spill, w, N), 0);
                assert_int_equal(ftruncate(fd, (off_t)spill_end(spill) - 1), 0);
                assert_int_equal(read_all(spill, w, N), -EBADMSG);
                close(fd);
                spill_free(spill);
                for (int i = 0; i < N; i++)
                        page_free(NULL, w[i].page);
        }
}

/* Files in directories with a key are encrypted and can be read as usual: small pages, large ones, in any order. */
static void files_are_encrypted(void **state)
{
        uint8_t random[MAX_FILE_SECRET];
        size_t len;
        for (int bits = 128; bits <= 256; bits += 64) {
                struct disk_dirs *secret = NULL;
                struct file_key *key = NULL;
                assert_int_equal(file_secret_new(bits, random, &len, NULL), 0);
                assert_int_equal(file_key_from(random, len, &key, NULL), 0);
                assert_int_equal(disk_dirs_new("/tmp", 1, &secret, NULL), 0);
                disk_dirs_encrypt(secret, key);
                for (int kind = CODEC_NONE; kind <= CODEC_ZSTD; kind++) {
                        enum { N = 40 };
                        struct written_page w[N];
                        struct spill *spill = NULL;
                        struct spill_options o = {
                                .dirs = secret, .type = TYPE, .codec = (enum codec_kind)kind, .name = "secret"};
                        assert_int_equal(spill_new(&o, &spill, NULL), 0);
                        for (int i = 0; i < N; i++) {
                                w[i].page = some_page(1 + i * 40, i % 2);
                                assert_int_equal(spill_write_page(spill, w[i].page, &w[i].offset, &w[i].length, NULL),
                                                 0);
                        }
                        assert_int_equal(spill_finish(spill, NULL), 0);
                        assert_int_equal(read_all(spill, w, N), 0);
                        for (int i = N - 1; i >= 0; i--) {
                                struct page *page = NULL;
                                struct codec codec;
                                codec_init(&codec, o.codec, 1);
                                assert_int_equal(
                                        spill_read_page(spill, w[i].offset, w[i].length, &codec, NULL, &page, NULL), 0);
                                assert_int_equal(page->used, w[i].page->used);
                                assert_memory_equal(page->data, w[i].page->data, page->used);
                                page_free(NULL, page);
                                codec_deinit(&codec);
                                unsigned char frame[PAGE_FRAME_HEADER], raw[PAGE_FRAME_HEADER];
                                assert_int_equal(spill_read_bytes(spill, w[i].offset, frame, sizeof(frame), NULL), 0);
                                int fd = open(spill_path(spill), O_RDONLY | O_CLOEXEC);
                                assert_int_equal(pread(fd, raw, sizeof(raw), (off_t)w[i].offset), sizeof(raw));
                                close(fd);
                                assert_memory_equal(frame + 8, "FSP1", 4);
                                assert_memory_not_equal(raw, frame, sizeof(raw));
                                assert_memory_not_equal(raw + 8, "FSP1", 4);
                        }
                        spill_free(spill);
                        for (int i = 0; i < N; i++)
                                page_free(NULL, w[i].page);
                }
                disk_dirs_free(secret);
        }
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(file_secret_new(100, random, &len, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.io.encryption.keySizeBits"));
        error_deinit(&error);
}

static void keeps_written_pages_on_a_full_disk(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct rlimit before, limit;
        enum { N = 8 };
        struct written_page w[N];
        struct spill *spill = NULL;
        struct spill_options o = {.dirs = dirs, .type = TYPE};
        assert_int_equal(spill_new(&o, &spill, &error), 0);
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        limit.rlim_cur = 1 << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        int good = 0, r = 0;
        for (; good < N; good++) {
                w[good].page = some_page(20000, false);
                r = spill_write_page(spill, w[good].page, &w[good].offset, &w[good].length, &error);
                if (r)
                        break;
        }
        assert_int_equal(r, -EFBIG);
        assert_true(good >= 3);
        assert_true(good < N);
        assert_non_null(strstr(error_message(&error), "spark.local.dir"));
        for (int i = 0; i < good; i++)
                read_one(spill, &w[i]);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(spill_write_page(spill, w[good].page, &w[good].offset, &w[good].length, &error), 0);
        for (int i = 0; i <= good; i++)
                read_one(spill, &w[i]);
        /* New files are in another directory now. */
        for (int i = 0; i < 10; i++) {
                struct spill *other = NULL;
                assert_int_equal(spill_new(&o, &other, &error), 0);
                assert_memory_not_equal(spill_path(other), spill_path(spill), strlen(temp_dir) + 4);
                spill_free(other);
        }
        spill_free(spill);
        for (int i = 0; i <= good; i++)
                page_free(NULL, w[i].page);
        error_deinit(&error);
}

struct shared {
        struct spill *spill;
        struct written_page *w;
        int n;
};

static void *read_shared(void *argument)
{
        struct shared *s = argument;
        for (int i = 0; i < 5; i++)
                if (read_all(s->spill, s->w, s->n))
                        abort();
        return NULL;
}

static void many_threads_read_a_finished_one(void **state)
{
        for (int named = 0; named < 2; named++) {
                enum { N = 20 };
                struct written_page w[N];
                struct shared shared = {.w = w, .n = N};
                struct spill_options o = {
                        .dirs = dirs, .type = TYPE, .codec = CODEC_ZSTD, .name = named ? "shared" : NULL};
                assert_int_equal(spill_new(&o, &shared.spill, NULL), 0);
                for (int i = 0; i < N; i++) {
                        w[i].page = some_page(1000, true);
                        assert_int_equal(spill_write_page(shared.spill, w[i].page, NULL, NULL, NULL), 0);
                }
                assert_int_equal(spill_finish(shared.spill, NULL), 0);
                pthread_t threads[3];
                for (int i = 0; i < 3; i++)
                        assert_int_equal(pthread_create(&threads[i], NULL, read_shared, &shared), 0);
                for (int i = 0; i < 3; i++)
                        pthread_join(threads[i], NULL);
                spill_free(shared.spill);
                for (int i = 0; i < N; i++)
                        page_free(NULL, w[i].page);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_written_pages), cmocka_unit_test(does_not_compress_an_oversized_record),
                cmocka_unit_test(detects_damage),      cmocka_unit_test(many_threads_read_a_finished_one),
                cmocka_unit_test(files_are_encrypted), cmocka_unit_test(keeps_written_pages_on_a_full_disk),
        };
        return cmocka_run_group_tests(tests, setup, teardown);
}
