/*
 * Encodes and reads records of the master: in the journal of recoveryMode FILESYSTEM, or one per ZooKeeper node.
 *
 * A journal is one file, JOURNAL_FILE, to which entries are appended. The last entry about a record counts. It begins
 * with a readable line:
 *
 *      Firesteel master journal, version 1. Not a text: do not edit.\n
 *
 * Then come entries, one after another, numbers little endian:
 *
 *      offset  bytes
 *           0      4   mark: F5 'f' 's' 'j'
 *           4      1   version of the entry: 1
 *           5      1   what: 1 store, 2 remove
 *           6      1   kind: 1 application, 2 driver, 3 worker, 4 framework
 *           7      1   codec of the data: 0 none, 1 lz4, 2 zstd
 *           8      4   n, length of the id in bytes
 *          12      4   m, length of the data as it stands here; 0 for remove
 *          16      4   length of the data when unpacked
 *          20      4   the low half of XXH3-64 of bytes 0 to 19
 *          24      8   XXH3-64 of id and data as they stand here, seeded with the number at 20
 *          32      n   the id
 *        32+n      m   the data: a record (master_record.h)
 *
 * An entry that is damaged or of an unknown version is reported and skipped. Reading continues at the next entry: its
 * offset follows from the lengths if the header is intact; otherwise the reader searches for the mark. An incomplete
 * last entry is an interrupted write. No reply depends on it.
 *
 * Pure: no file is opened here.
 */
#pragma once

#include "base/buf.h"
#include "standalone/recovery/persistence.h"
#include "io/codec/codec.h"

#define JOURNAL_FILE "journal"
#define JOURNAL_BEGINNING "Firesteel master journal, version 1. Not a text: do not edit.\n"
#define MAX_JOURNAL_ID (64 << 10)
#define MAX_JOURNAL_DATA (64 << 20)

/* "app", "driver", "worker", "framework": the prefixes of Spark's files and nodes. */
const char *journal_kind_name(enum master_record kind);

/* Appends an entry that stores @data, compressed with @codec (may be NULL) if that is shorter. -E2BIG if the id or
 * the data are too long. Nothing is appended then.
 */
int journal_put_store(struct buf *out, struct codec *codec, enum master_record kind, const char *id, const void *data,
                      size_t size);
void journal_put_remove(struct buf *out, enum master_record kind, const char *id);

struct journal_reader {
        /* An entry; @data is NULL for a removal. Borrowed for the call. */
        void (*entry)(void *context, enum master_record kind, const char *id, const void *data, size_t size);
        /* @message: the bytes (of @name), the record if known, and the problem. @cut_off: the entry is the last one
         * and looks like an interrupted write.
         */
        void (*damaged)(void *context, const char *message, bool cut_off);
        void *context;
};

/* Reads a whole journal, called @name in messages. Returns the end of the last good entry: the rest was cut off and
 * may be overwritten. An empty file, or a partial first line, is an empty journal that ends at 0. -EBADMSG: neither
 * the first line nor any entry is valid.
 */
int64_t journal_read(const void *bytes, size_t size, const char *name, const struct journal_reader *reader,
                     struct fst_error *error);

/* Reads the entry of a node: exactly one that stores. Returns 0 after calling reader.entry, or -EBADMSG with @error.
 */
int journal_read_one(const void *bytes, size_t size, const char *name, const struct journal_reader *reader,
                     struct fst_error *error);
