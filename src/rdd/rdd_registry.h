/* The part of a context that lineage uses: ids, the list of RDDs, configuration, a lock. The context (in a higher room)
 * embeds it as its first member. */
#pragma once

#include <firesteel/context.h>
#include <firesteel/function.h>
#include <firesteel/rdd.h>

#include <pthread.h>

struct block_store;
struct fst_error;

/* Names a function of the application for messages ("split in wordcount.so") and rejects one that executors could not
 * find. Returns 0 with *@name, which is never freed, or -EINVAL with @error. */
typedef int (*rdd_describe_fn)(const fst_fn *fn, const char **name, struct fst_error *error);

/* Finds persisted partitions in other processes. Any thread. */
struct rdd_block_locations {
        bool (*cached)(void *owner, int rdd, int partition);
        /* Removes the blocks of the RDD; @blocking waits until all processes have done so. */
        void (*unpersisted)(void *owner, int rdd, bool blocking);
        /* Fills in all fields of @storage but the level. */
        void (*storage_info)(void *owner, int rdd, struct fst_storage_info *storage);
        void *owner;
};

struct rdd_registry {
        pthread_mutex_t lock; /* recursive */
        const fst_conf *conf;
        struct rdd_block_locations locations; /* set before the first job; without functions, `blocks` is used */
        struct block_store *blocks;           /* of this process; NULL: persisted RDDs are not cached */
        rdd_describe_fn describe;             /* NULL: functions keep the names given by the application */
        /* Returns a local property of the calling thread, borrowed until the thread changes it. NULL: there are none.
         */
        const char *(*local_property)(fst_context *sc, const char *key);
        fst_rdd *rdds;               /* newest first */
        fst_rdd *cleaned;            /* RDDs that driver/cleaner.c has cleaned and that are not used any more */
        char *checkpoint_dir;        /* the application's own directory, or NULL; owned */
        const char *checkpoint_name; /* its name, for an application that several drivers run; NULL: a random one */
        int checkpoint_dirs;         /* that had this name */
        int checkpoints_wanted;      /* RDDs that wait for their checkpoint; atomic */
        int next_rdd_id, next_shuffle_id;
};

void rdd_registry_init(struct rdd_registry *r, const fst_conf *conf);

/* The application's running context, whose RDDs carry the errors of calls without a valid RDD. NULL: there is none. */
fst_context *rdd_registry_running(void);
void rdd_registry_set_running(struct rdd_registry *r);

/*
 * Checks the context that the application passed to a public function (defined in driver/context_handles.c). Returns
 * @sc if it is running. NULL, a stopped context and a call inside a task are reported with @site, and the refused
 * context is returned.
 *
 * The refused context never started: every request to it fails with -EINVAL, and lineage can be built on it.
 */
fst_context *context_given(const fst_context *sc, fst_site site);
fst_context *context_refused(void);

/* Reports misuse that no action reports: logs it as an error, and makes fst_context_stop of the running context, if
 * any, return -EINVAL. */
void context_misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Frees all RDDs. */
void rdd_registry_deinit(struct rdd_registry *r);

/* The functions below take the context, whose first member is its registry. */
void rdd_registry_add(fst_context *sc, fst_rdd *rdd);
int rdd_registry_shuffle_id(fst_context *sc);

/* The id of the next RDD, unless another thread creates one first. */
int rdd_registry_next_id(fst_context *sc);
const fst_conf *rdd_registry_conf(fst_context *sc);
int rdd_registry_describe(fst_context *sc, const fst_fn *fn, const char **name, struct fst_error *error);

/* Returns a local property of the calling thread, or NULL. Borrowed until the thread changes it. */
const char *rdd_registry_local_property(fst_context *sc, const char *key);

/* rdd_registry_cached: true if any process caches the partition. rdd_registry_unpersist: removes all partitions. */
bool rdd_registry_cached(fst_context *sc, int rdd, int partition);
void rdd_registry_unpersist(fst_context *sc, int rdd, bool blocking);

/*
 * Returns in *@path the checkpoint directory of an RDD. The caller owns the string. Creates the application's own
 * directory in spark.checkpoint.dir, unless rdd_registry_set_checkpoint_dir has set another. -EINVAL if neither is set.
 */
int rdd_registry_checkpoint_path(fst_context *sc, int rdd, char **path, struct fst_error *error);
int rdd_registry_set_checkpoint_dir(fst_context *sc, const char *dir, struct fst_error *error);

/* Adds @change to the number of RDDs that wait for a checkpoint and returns the new number. Any thread. */
int rdd_registry_want_checkpoint(fst_context *sc, int change);

/* The RDD with this id, or NULL. It lives as long as the context. */
const fst_rdd *rdd_registry_find(fst_context *sc, int id);
void rdd_registry_lock(fst_context *sc);
void rdd_registry_unlock(fst_context *sc);
