/*
 * A damaged spill file: the target writes a few pages, overwrites bytes of the file (pairs of a two-byte offset and a
 * byte), and reads everything. Reading must end with pages or an error. The first byte of the input chooses codec and
 * length.
 */
#include "base/error.h"
#include "base/log.h"
#include "store/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TYPE FST_PAIR(BYTES, I64)

static struct disk_dirs *dirs;

static void free_dirs(void)
{
        disk_dirs_free(dirs);
}

static void write_pages(struct spill *spill)
{
        struct page *page = NULL;
        if (page_new(NULL, TYPE, 0, &page))
                abort();
        for (int p = 0; p < 3; p++) {
                page->used = page->rows = 0;
                for (int64_t i = 0; i < 20 * p; i++) {
                        char text[24];
                        fst_bytes key = {text, (size_t)snprintf(text, sizeof(text), "key %d", (int)i)};
                        fst_batch b = {.rows = 1, .type = TYPE, .key.bytes = &key, .value.i64 = &i};
                        page_append(page, &b, 0);
                }
                if (spill_write_page(spill, page, NULL, NULL, NULL))
                        abort();
        }
        page_free(NULL, page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (!dirs) {
                log_set_level(LOG_OFF);
                if (disk_dirs_new("/tmp", 1, &dirs, NULL))
                        abort();
                atexit(free_dirs);
        }
        if (size == 0)
                return 0;
        struct spill *spill = NULL;
        struct spill_options o = {.dirs = dirs, .name = "fuzz", .type = TYPE, .codec = (enum codec_kind)(data[0] % 3)};
        if (spill_new(&o, &spill, NULL))
                abort();
        write_pages(spill);
        if (spill_finish(spill, NULL))
                abort();
        uint64_t end = spill_end(spill);
        int fd = open(spill_path(spill), O_WRONLY | O_CLOEXEC);
        for (size_t i = 1; i + 3 <= size; i += 3)
                if (pwrite(fd, data + i + 2, 1, (off_t)((data[i] | data[i + 1] << 8) % end)) != 1)
                        abort();
        if (data[0] & 0x80 && ftruncate(fd, (off_t)(end * (data[0] & 0x7f) / 0x80)))
                abort();
        close(fd);
        struct spill_reader reader;
        struct fst_error error = FST_ERROR_INIT;
        struct page *page = NULL;
        if (spill_reader_init(&reader, spill, 0, end, NULL, &error) == 0) {
                while (spill_reader_next(&reader, NULL, &page, &error) == 0 && page)
                        page_free(NULL, page);
                spill_reader_deinit(&reader);
        }
        error_deinit(&error);
        spill_free(spill);
        return 0;
}
