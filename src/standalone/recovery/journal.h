/*
 * Records of the master as bytes: in the journal of recoveryMode FILESYSTEM, and each by itself in ZooKeeper's nodes.
 *
 * A journal is one file, JOURNAL_FILE, to which entries are appended; the last entry about a record counts. It begins
 * with a line for people:
 *
 *      Firesteel master journal, version 1. Not a text: do not edit.\n
 *
 * Then come entries, one after another, numbers little endian:
 *
 *      offset  bytes
 *           0      4   mark: F5 'f' 's' 'j'
 *           4      1   version of the entry: 1
 *           5      1   what: 1 store, 2 remove
 *           6      1   kind: 1 application, 2 driver, 3 worker
 *           7      1   codec of the data: 0 none, 1 lz4, 2 zstd
 *           8      4   n, length of the id in bytes
 *          12      4   m, length of the data as it stands here; 0 for remove
 *          16      4   length of the data when unpacked
 *          20      4   the low half of XXH3-64 of bytes 0 to 19
 *          24      8   XXH3-64 of id and data as they stand here, seeded with the number at 20
 *          32      n   the id
 *        32+n      m   the data: what the master stored (master_record.h says what that is)
 *
 * An entry that is damaged, or of a version that is not known, is told of and left out, and reading goes on where the
 * next entry begins: known from the lengths if the header is whole, else looked for by its mark. An entry that the file
 * ends within is one whose writing was cut off; nobody has acted on it.
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

/* "app", "driver", "worker": as Spark's files and nodes begin. */
const char *journal_kind_name(enum master_record kind);

/*
 * Append an entry that stores @data, compressed with @codec (may be NULL) if that makes it shorter. -E2BIG if id or
 * data are longer than may be; nothing is appended then.
 */
int journal_put_store(struct buf *out, struct codec *codec, enum master_record kind, const char *id, const void *data,
                      size_t size);
void journal_put_remove(struct buf *out, enum master_record kind, const char *id);

struct journal_reader {
        /* An entry; @data is NULL for a removal. Borrowed for the call. */
        void (*entry)(void *context, enum master_record kind, const char *id, const void *data, size_t size);
        /*
         * @message: which bytes (of @name), whose if that is known, and what is wrong. @cut_off: they are the last, and
         * what an interrupted write leaves.
         */
        void (*damaged)(void *context, const char *message, bool cut_off);
        void *context;
};

/*
 * Read a whole journal, called @name in messages. Returns where the last good entry ends: what is behind was cut off
 * and may be written over. An empty file, or the beginning of a beginning, is a journal without entries that ends at 0.
 * -EBADMSG: it neither begins as one nor holds an entry.
 */
int64_t journal_read(const void *bytes, size_t size, const char *name, const struct journal_reader *reader,
                     struct fst_error *error);

/*
 * Read a single entry, of a node: exactly one that stores. 0 and reader.entry was called; -EBADMSG with @error that
 * says what is wrong.
 */
int journal_read_one(const void *bytes, size_t size, const char *name, const struct journal_reader *reader,
                     struct fst_error *error);
