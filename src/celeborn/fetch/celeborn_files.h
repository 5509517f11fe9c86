/*
 * The committed files of Celeborn shuffles, as the driver named them: asked once for all tasks of an executor.
 */
#pragma once

#include "base/list.h"
#include "celeborn/protocol/celeborn_wire.h"

#include <pthread.h>

struct fst_error;

/* The files of one shuffle. Constant once it is returned. */
struct celeborn_file_group {
        struct celeborn_file_group *prev, *next;
        int32_t shuffle;
        int refs; /* of readers; under the lock */
        bool forgotten;
        struct celeborn_answer answer; /* locations by rising partition and epoch */
};

struct celeborn_files {
        pthread_mutex_t lock;   /* protects the groups; held for a moment only */
        pthread_mutex_t asking; /* one task asks at a time, and others wait */
        LIST(struct celeborn_file_group) groups;
        /* As in struct push_client_options. */
        int (*ask)(void *owner, const struct celeborn_question *question, const int *stopped,
                   struct celeborn_answer *answer, struct fst_error *error);
        void *owner;
};

void celeborn_files_init(struct celeborn_files *files,
                         int (*ask)(void *owner, const struct celeborn_question *question, const int *stopped,
                                    struct celeborn_answer *answer, struct fst_error *error),
                         void *owner);
void celeborn_files_deinit(struct celeborn_files *files); /* there are no readers */

/*
 * Gets the files of a shuffle, which the caller gives back. Returns 0; FST_REMOTE_E_LOST with @error if the shuffle
 * must run again (shuffle/remote_shuffle.h); or negative with @error. Any thread. Blocks.
 */
int celeborn_files_get(struct celeborn_files *files, int32_t shuffle, const int *stopped,
                       const struct celeborn_file_group **group, struct fst_error *error);
void celeborn_files_put(struct celeborn_files *files, const struct celeborn_file_group *group); /* NULL is allowed */

/* Forgets a shuffle once it has no readers. Does not wait for questions: the loop that brings their answers calls it.
 */
void celeborn_files_forget(struct celeborn_files *files, int32_t shuffle);

/* Returns the locations of a partition, *@n of them. */
const struct celeborn_location *celeborn_file_group_partition(const struct celeborn_file_group *group,
                                                              int32_t partition, int *n);
