/*
 * A journal of arbitrary bytes, and one whose first entry has arbitrary content with valid checksums: the reader
 * reports skipped bytes and ends at the end of an entry. Records can be written and read again unchanged.
 */
#include "base/error.h"
#include "standalone/recovery/journal.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct reading {
        struct buf again;
        size_t entries, damaged;
};

static void on_entry(void *context, enum master_record kind, const char *id, const void *data, size_t size)
{
        struct reading *r = context;
        r->entries++;
        if (!data)
                journal_put_remove(&r->again, kind, id);
        else if (journal_put_store(&r->again, NULL, kind, id, data, size) < 0)
                abort();
}

static void on_damaged(void *context, const char *message, bool cut_off)
{
        struct reading *r = context;
        r->damaged++;
        if (strncmp(message, "j: skipped bytes ", 17) != 0)
                abort();
}

static void read_all(const void *data, size_t size, struct reading *r)
{
        const struct journal_reader reader = {.entry = on_entry, .damaged = on_damaged, .context = r};
        struct fst_error error = FST_ERROR_INIT;
        int64_t end = journal_read(data, size, "j", &reader, &error);
        if (end > (int64_t)size || (end < 0) != (error.message != NULL) || (end < 0 && r->entries))
                abort();
        error_deinit(&error);
        r->entries = r->damaged = 0;
        journal_read_one(data, size, "j", &reader, NULL);
        if (r->damaged)
                abort();
}

static void check_journal(const void *data, size_t size)
{
        struct reading first = {0}, second = {0};
        const struct journal_reader reader = {.entry = on_entry, .damaged = on_damaged, .context = &second};
        buf_puts(&first.again, JOURNAL_BEGINNING);
        read_all(data, size, &first);
        buf_puts(&second.again, JOURNAL_BEGINNING);
        if (journal_read(first.again.data, first.again.len, "j", &reader, NULL) != (int64_t)first.again.len ||
            second.damaged || second.again.len != first.again.len ||
            memcmp(first.again.data, second.again.data, first.again.len) != 0)
                abort();
        buf_deinit(&first.again);
        buf_deinit(&second.again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        check_journal(data, size);
        if (size >= 32) {
                unsigned char *signed_entry = malloc(size);
                memcpy(signed_entry, data, size);
                memcpy(signed_entry,
                       "\xF5"
                       "fsj",
                       4);
                uint32_t seed = (uint32_t)XXH3_64bits(signed_entry, 20);
                memcpy(signed_entry + 20, &seed, 4);
                uint64_t sum = XXH3_64bits_withSeed(signed_entry + 32, size - 32, seed);
                memcpy(signed_entry + 24, &sum, 8);
                check_journal(signed_entry, size);
                free(signed_entry);
        }
        return 0;
}
