/* Durable state of a standalone master, and leader election between masters.
 *
 *      persistence_open(loop, conf, "spark://host:7077", &ops, owner, &p, &error);
 *      …                                           → ops.elected(records…): this master leads
 *      persistence_store(p, MASTER_RECORD_APP, "app-2026…", bytes, n);
 *      persistence_store(p, MASTER_RECORD_WORKER, …);
 *      if (persistence_commit(p, say, batch))      at the end of the loop iteration
 *              say(batch);                         nothing to wait for
 *      …                                           → say(batch), once both are durable
 *      persistence_close(p, closed, owner);
 *
 * spark.deploy.recoveryMode selects the store:
 *
 *      NONE        none; this master leads, starts empty, and every commit is done at once.
 *      FILESYSTEM  a journal (standalone/recovery/journal.h) in spark.deploy.recoveryDirectory, compressed with
 *                  spark.deploy.recoveryCompressionCodec (none, lz4, zstd). The master that locks the directory leads;
 *                  a second one with the same directory stands by until the first is gone. ROCKSDB means the same.
 *      ZOOKEEPER   children of <spark.deploy.zookeeper.dir>/master_status on the servers of
 *                  spark.deploy.zookeeper.url; the leader is elected by ephemeral sequential children of
 *                  …/leader_election, as in Spark.
 *
 * Order is kept: changes become durable in the order in which they were made. A commit is done after all changes
 * before it and after earlier commits. Changes that arrive during a write are written together afterwards.
 *
 * While a change cannot be written (the disk is full, ZooKeeper does not answer), the write is repeated, the log says
 * so once, and commits wait: no reply depends on an unsafe record. An unreadable record is named in a warning and
 * skipped. The others are kept.
 *
 * All functions and operations run on the loop's thread and do not block it (files are written and fsync'ed in
 * libuv's pool). No operation and no `done` is called from within a function of this header.
 */
#pragma once

#include "standalone/core/master_core.h"

#include <uv.h>

struct fst_conf;
struct persistence;

/* A stored record. */
struct persistence_record {
        enum master_record kind;
        const char *id;
        const void *data;
        size_t size;
};

struct persistence_ops {
        /* This master leads, and these are the records in the order in which they were first stored (in ZooKeeper,
         * records written together are ordered by kind and id). Borrowed for the call. At most once.
         */
        void (*elected)(void *owner, const struct persistence_record *records, size_t n);
        /* This master no longer leads: @why is for the log. Pending commits never complete. Nothing is called after
         * this. Exit, or close and open another.
         */
        void (*revoked)(void *owner, const char *why);
        /* This master can never lead: @message has the reason and remedy (ZooKeeper rejects the password, the
         * directory cannot be read). Nothing is called after this.
         */
        void (*failed)(void *owner, const char *message);
};

/* Reads the keys and stands for election. @name, the master's URL, identifies the leader to others. @ops and @owner
 * are borrowed until `closed`; @conf and @name for the call. Negative with @error: an invalid key (named), a recovery
 * directory that cannot be created or written. An unreachable ZooKeeper is not an error: it is tried until it
 * answers.
 */
int persistence_open(uv_loop_t *loop, const struct fst_conf *conf, const char *name, const struct persistence_ops *ops,
                     void *owner, struct persistence **p, struct fst_error *error);

/* For tests: returns true if elected and not revoked. */
bool persistence_leads(const struct persistence *p);

/* Stores @size bytes under @id (copied), replacing; or removes the record if it exists. Does nothing unless this
 * master leads. A record that is too large (64 MiB; with ZooKeeper, after compression, MAX_PERSISTENCE_NODE) is
 * skipped with an error in the log: it cannot be recovered, but commits do not wait for it.
 */
void persistence_store(struct persistence *p, enum master_record kind, const char *id, const void *data, size_t size);
void persistence_remove(struct persistence *p, enum master_record kind, const char *id);

/* ZooKeeper's default limit (jute.maxbuffer, 1 MiB - 1) minus overhead. */
#define MAX_PERSISTENCE_NODE (1000 << 10)

/* True: all changes are durable and earlier commits done; @done is not called. False: @done is called with @context
 * when that is so; never, if this master is revoked or @p is closed before.
 */
bool persistence_commit(struct persistence *p, void (*done)(void *context), void *context);

/* For tests: why changes are waiting, for a page or a metric; NULL if they are not. Borrowed until the next call. */
const char *persistence_trouble(const struct persistence *p);

/* Steps down and closes. Pending changes are still written. Commits are no longer called. @closed (may be NULL) is
 * called once @p is freed: the loop must run until then, or never again. NULL is allowed for @p: then @closed is not
 * called.
 */
void persistence_close(struct persistence *p, void (*closed)(void *owner), void *owner);
