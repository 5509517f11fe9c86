/*
 * What a standalone master must not forget, and which of several masters leads.
 *
 *      persistence_open(loop, conf, "spark://host:7077", &ops, owner, &p, &error);
 *      …                                           → ops.elected(records…): this master leads
 *      persistence_store(p, MASTER_RECORD_APP, "app-2026…", bytes, n);
 *      persistence_store(p, MASTER_RECORD_WORKER, …);
 *      if (persistence_commit(p, say, batch))      at the end of the loop's turn
 *              say(batch);                         there was nothing to wait for
 *      …                                           → say(batch), once both are safe
 *      persistence_close(p, closed, owner);
 *
 * spark.deploy.recoveryMode says where records go:
 *
 *      NONE        nowhere; this master leads, knows nothing, and every commit is done at once.
 *      FILESYSTEM  into a journal (standalone/recovery/journal.h) in spark.deploy.recoveryDirectory, compressed with
 *                  spark.deploy.recoveryCompressionCodec (none, lz4, zstd). Who locks the directory leads; a second
 *                  master with the same directory stands by until the first one is gone. ROCKSDB is taken for it.
 *      ZOOKEEPER   into children of <spark.deploy.zookeeper.dir>/master_status on the servers of
 *                  spark.deploy.zookeeper.url, and the leader is elected by ephemeral sequential children of
 *                  …/leader_election, as Spark's are.
 *
 * Order is kept: what was stored first is durable first, and a commit is done after all that was stored or removed
 * before it, and after the commits before it. Changes that come while others are being written are written together.
 *
 * While a change cannot be written (the disk is full, ZooKeeper does not answer) it is tried again, the log says so
 * once, and commits wait: nothing that depends on an unsafe record is said. A record that cannot be read is named in a
 * warning and left out; nothing else is lost with it.
 *
 * All functions and operations on the loop's thread; nothing blocks it (files are written and fsync'ed in libuv's
 * pool). No operation and no `done` is called from within a function of this page.
 */
#pragma once

#include "standalone/core/master_core.h"

#include <uv.h>

struct fst_conf;
struct persistence;

/* A record as it was stored. */
struct persistence_record {
        enum master_record kind;
        const char *id;
        const void *data;
        size_t size;
};

struct persistence_ops {
        /*
         * This master leads, and these are the records, in the order in which they were first stored (in ZooKeeper
         * those that were written together go by kind and id). Borrowed for the call. At most once.
         */
        void (*elected)(void *owner, const struct persistence_record *records, size_t n);
        /*
         * It did lead, and does not any more: @why is for the log. Commits that are not done never will be. Nothing is
         * called after this; end the process, or close and open another.
         */
        void (*revoked)(void *owner, const char *why);
        /*
         * It will never lead: @message says why and what to do (ZooKeeper refuses the password, the directory cannot be
         * read). Nothing is called after this.
         */
        void (*failed)(void *owner, const char *message);
};

/*
 * Read the keys, and stand for election. @name is what others are told of the leader: its URL. @ops and @owner are
 * borrowed until `closed`; @conf and @name for the call. Negative with @error: a key that cannot be (named), a recovery
 * directory that cannot be made or written. ZooKeeper that does not answer is no error: it is tried until it does.
 */
int persistence_open(uv_loop_t *loop, const struct fst_conf *conf, const char *name, const struct persistence_ops *ops,
                     void *owner, struct persistence **p, struct fst_error *error);

/* Whether this master leads: elected and not revoked. */
bool persistence_leads(const struct persistence *p);

/*
 * Store @size bytes under @id (copied), replacing; or remove what is there, if anything. Only while it leads, else
 * nothing happens. A record that is larger than can be stored (64 MiB; with ZooKeeper, after compression,
 * MAX_PERSISTENCE_NODE) is left out with an error in the log: it is not recovered, but nobody waits for it.
 */
void persistence_store(struct persistence *p, enum master_record kind, const char *id, const void *data, size_t size);
void persistence_remove(struct persistence *p, enum master_record kind, const char *id);

/* What ZooKeeper takes by default (jute.maxbuffer, 1 MiB - 1), less what surrounds it. */
#define MAX_PERSISTENCE_NODE (1000 << 10)

/*
 * True: all that was stored and removed is durable already, and all commits before are done; @done is not called.
 * False: @done is called with @context when that is so; never, if this master is revoked or @p is closed before.
 */
bool persistence_commit(struct persistence *p, void (*done)(void *context), void *context);

/* Why changes have been waiting, for a page or a metric; NULL while all is well. Borrowed until the next call. */
const char *persistence_trouble(const struct persistence *p);

/*
 * Step down and close. What was changed is still written, commits are not called any more. @closed (may be NULL) is
 * called once it is over and @p is freed: the loop must run until then, or never again. NULL is allowed for @p: then
 * @closed is not called.
 */
void persistence_close(struct persistence *p, void (*closed)(void *owner), void *owner);
