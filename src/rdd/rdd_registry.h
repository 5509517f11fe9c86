/*
 * What lineage needs of its context, which lies in a room above: ids, the list of RDDs, configuration, a lock. The
 * context embeds one first.
 */
#pragma once

#include <firesteel/context.h>
#include <firesteel/function.h>
#include <firesteel/rdd.h>

#include <pthread.h>

struct block_store;
struct fst_error;

/*
 * Name a function of the application for messages ("split in wordcount.so"), and refuse one that no executor could
 * find. 0 with *@name, which lives for ever; -EINVAL with @error.
 */
typedef int (*rdd_describe_fn)(const fst_fn *fn, const char **name, struct fst_error *error);

/* Where partitions of persisted RDDs are, if not only in this process. Any thread. */
struct rdd_block_places {
        bool (*cached)(void *owner, int rdd, int partition);
        /* The RDD is not to be kept any more: @blocking waits until nobody does. */
        void (*unpersisted)(void *owner, int rdd, bool blocking);
        void (*kept)(void *owner, int rdd, struct fst_storage_info *storage); /* all but the level */
        void *owner;
};

struct rdd_registry {
        pthread_mutex_t lock; /* recursive */
        const fst_conf *conf;
        struct rdd_block_places places; /* set before the first job; without functions, `blocks` is asked */
        struct block_store *blocks;     /* of this process; NULL: persisted RDDs are not kept */
        rdd_describe_fn describe;       /* NULL: functions keep the names that they were given by */
        fst_rdd *rdds;                  /* newest first */
        fst_rdd *cleaned;               /* driver/cleaner.c is done with them; nobody uses them */
        char *checkpoint_dir;           /* a directory of this application's own; NULL: none yet. Owned */
        int checkpoints_wanted;         /* RDDs that are to be checkpointed and are not yet; atomic */
        int next_rdd_id, next_shuffle_id;
};

void rdd_registry_init(struct rdd_registry *r, const fst_conf *conf);

/* The context whose RDDs carry the errors of calls without a valid RDD: the application's one. NULL: there is none. */
fst_context *rdd_registry_running(void);
void rdd_registry_set_running(struct rdd_registry *r);

/*
 * In driver/context_handles.c, for public functions that are given a context: @sc if it lives. NULL, a stopped context
 * and a call inside of a task are reported, with the call of @site, and answered by the refused context.
 *
 * The refused context never started: everything asked of it fails with -EINVAL, and lineage can be built on it.
 */
fst_context *context_given(const fst_context *sc, fst_site site);
fst_context *context_refused(void);

/*
 * A mistake of the application's that no action reports: logs it as an error, and the running context, if there is one,
 * answers -EINVAL when it stops.
 */
void context_misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Frees every RDD. */
void rdd_registry_deinit(struct rdd_registry *r);

/* These take the context, whose first member is its registry. */
void rdd_registry_add(fst_context *sc, fst_rdd *rdd);
int rdd_registry_shuffle_id(fst_context *sc);

/* The id of the next RDD, unless another thread makes one. */
int rdd_registry_next_id(fst_context *sc);
const fst_conf *rdd_registry_conf(fst_context *sc);
int rdd_registry_describe(fst_context *sc, const fst_fn *fn, const char **name, struct fst_error *error);

/* Whether a partition of a persisted RDD is kept anywhere; and give up all of them. */
bool rdd_registry_cached(fst_context *sc, int rdd, int partition);
void rdd_registry_unpersist(fst_context *sc, int rdd, bool blocking);

/*
 * Where the checkpoint of an RDD goes: owned by the caller. The directory of this application's own is made in
 * spark.checkpoint.dir if rdd_registry_set_checkpoint_dir has not been called. -EINVAL if nobody has said where.
 */
int rdd_registry_checkpoint_path(fst_context *sc, int rdd, char **path, struct fst_error *error);
int rdd_registry_set_checkpoint_dir(fst_context *sc, const char *dir, struct fst_error *error);

/* One more or fewer RDD is to be checkpointed; how many there are then. Any thread. */
int rdd_registry_want_checkpoint(fst_context *sc, int change);

/* The RDD with this id, or NULL. It lives as long as the context. */
const fst_rdd *rdd_registry_find(fst_context *sc, int id);
void rdd_registry_lock(fst_context *sc);
void rdd_registry_unlock(fst_context *sc);
