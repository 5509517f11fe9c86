/*
 * What the files of persistence share (persistence.h): the queue of commits, and what a mode of recovery does.
 *
 * A change has a number; `changed` is that of the last one, `durable` that of the last one known to be safe. A mode
 * gathers changes as they come, writes them when it is told to and has nothing under way, and says how far it got.
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
        /* Stand for election. Sets p->data, or fails. */
        int (*open)(struct persistence *p, const struct fst_conf *conf, struct fst_error *error);
        /*
         * Change number p->changed: @entry (journal.h) stores; NULL removes. Borrowed for the call. May be called
         * before `write`, not after `close`.
         */
        void (*change)(struct persistence *p, enum master_record kind, const char *id, const struct buf *entry);
        /* Write what was changed; nothing if that is under way already: then it is called again. */
        void (*write)(struct persistence *p);
        /* Write what was changed, give leadership up, then call persistence_closed. */
        void (*close)(struct persistence *p);
};

struct persistence {
        uv_loop_t *loop;
        const struct persistence_mode *mode;
        const struct persistence_ops *ops;
        void *owner;
        char *name;
        struct codec codec; /* of the mode's entries */
        void *data;         /* the mode's; freed by it before persistence_closed */
        uint64_t changed, durable;
        bool leads;
        bool over;                          /* revoked or failed */
        bool closing;                       /* nobody is called any more but `closed` */
        VEC(struct waiting_commit) commits; /* those before `first_commit` are done */
        size_t first_commit;
        struct buf entry; /* scratch */
        char *trouble;
        void (*closed)(void *owner);
        void *closed_owner;
};

extern const struct persistence_mode persistence_none, persistence_file, persistence_zookeeper;

/* For modes, on the loop's thread, from its callbacks. Each may have the owner call any function of persistence.h. */
void persistence_elected(struct persistence *p, const struct persistence_record *records, size_t n);
void persistence_revoked(struct persistence *p, const char *why);
void persistence_failed(struct persistence *p, const char *message);

/* All changes up to number @change are safe: commits are done, and what came meanwhile is written. */
void persistence_is_durable(struct persistence *p, uint64_t change);

/* Why they are not, and what to do; a warning when that is new. NULL: it is over. */
void persistence_set_trouble(struct persistence *p, const char *why);

/* The last call of a mode: frees @p. */
void persistence_closed(struct persistence *p);

/* The component of log lines. */
#define PERSISTENCE_LOG "PersistenceEngine"
