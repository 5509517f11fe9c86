/* Shared by the files of persistence (persistence.h): the queue of commits, and the operations of a recovery mode.
 *
 * Changes are numbered: `changed` is the last one, `durable` the last one known to be safe. A mode collects changes,
 * writes them when it is asked to and no write is in progress, and reports the last durable number.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "standalone/recovery/persistence.h"
#include "io/codec/codec.h"

struct waiting_commit {
        uint64_t change;
        void (*done)(void *context);
        void *context;
};

struct persistence_mode {
        /* Stands for election. Sets p->data, or fails. */
        int (*open)(struct persistence *p, const struct fst_conf *conf, struct fst_error *error);
        /* Change number p->changed: @entry (journal.h) stores; NULL removes. Borrowed for the call. May be called
         * before `write`, not after `close`.
         */
        void (*change)(struct persistence *p, enum master_record kind, const char *id, const struct buf *entry);
        /* Writes the collected changes. During a write it does nothing, and is called again afterwards. */
        void (*write)(struct persistence *p);
        /* Writes the collected changes, gives leadership up, then calls persistence_closed. */
        void (*close)(struct persistence *p);
};

struct persistence {
        uv_loop_t *loop;
        const struct persistence_mode *mode;
        const struct persistence_ops *ops;
        void *owner;
        char *name;
        struct codec codec; /* of the mode's entries */
        void *data;         /* the mode's; the mode frees it before persistence_closed */
        uint64_t changed, durable;
        bool leads;
        bool over;                          /* revoked or failed */
        bool closing;                       /* from now on only `closed` is called */
        VEC(struct waiting_commit) commits; /* those before `first_commit` are done */
        size_t first_commit;
        struct buf entry; /* reused buffer */
        char *trouble;
        void (*closed)(void *owner);
        void *closed_owner;
};

extern const struct persistence_mode persistence_none, persistence_file, persistence_zookeeper;

/* For modes, on the loop's thread, from its callbacks. Each may cause calls of any function of persistence.h. */
void persistence_elected(struct persistence *p, const struct persistence_record *records, size_t n);
void persistence_revoked(struct persistence *p, const char *why);
void persistence_failed(struct persistence *p, const char *message);

/* All changes up to number @change are durable: completes commits and writes changes that arrived meanwhile. */
void persistence_is_durable(struct persistence *p, uint64_t change);

/* @why changes cannot be written, and the remedy. Logs a warning if it is new. NULL: the problem is over. */
void persistence_set_trouble(struct persistence *p, const char *why);

/* The last call of a mode: frees @p. */
void persistence_closed(struct persistence *p);

/* The component of log lines. */
#define PERSISTENCE_LOG "PersistenceEngine"
