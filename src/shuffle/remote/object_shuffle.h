/*
 * Map outputs in an object store or a file system that all executors reach (spark.firesteel.shuffle.store): the
 * executor's side, as a remote_shuffle.
 *
 * Group commit: the outputs that tasks of a shuffle finish at about the same time go into one object
 * (shuffle/remote/object_file.h). The first task of a group waits for others until the group has
 * spark.firesteel.shuffle.store.objectSize bytes, spark.firesteel.shuffle.store.wait has passed, or no other task runs.
 * Its place is the number of the object.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

struct file_key;
struct fst_conf;
struct spill_space;

/* The store; the one that only decommissioned executors write to; and the directory in it that the driver made for the
 * application (shuffle/remote/object_lease.h). */
#define OBJECT_STORE_KEY "spark.firesteel.shuffle.store"
#define OBJECT_FALLBACK_KEY "spark.storage.decommission.fallbackStorage.path"
#define OBJECT_DIRECTORY_KEY "spark.firesteel.shuffle.store.directory"

struct object_shuffle_options {
        const struct fst_conf *conf; /* during the call of object_shuffle_new */
        const char *directory;       /* a full path */
        int32_t writer;              /* the number of this executor (shuffle/remote_shuffle.h) */
        int cores;
        const struct spill_space *space;
        struct file_key *key; /* of objects; stolen, also on failure. NULL: not encrypted */
        /* Returns how many batches of tasks run here, with those that publish. Any thread. NULL: unknown. */
        int (*running)(void *owner);
        void *owner;
};

/* Makes no request yet. Returns 0, or negative with @error, which names the key. */
int object_shuffle_new(const struct object_shuffle_options *options, struct remote_shuffle **remote,
                       struct fst_error *error);
