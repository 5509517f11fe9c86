/*
 * Pushes map outputs of this executor to Celeborn's workers: the shell of push_core. Three threads: one waits for the
 * connections to all workers, one asks the driver for other locations, one for those of new shuffles.
 *
 *      push_client_begin(client, shuffle, map, attempt, …, &push)         on a task's thread, like all below
 *      map_push_output(push, output, …)                                    …
 *      map_push_wait(push, …)                                             all pages are stored
 *      map_push_free(push)
 *
 * A page is sent from where it is. It stays until its push is answered.
 */
#pragma once

#include "celeborn/push/push_core.h"

#include <stddef.h>
#include <stdint.h>

struct celeborn_answer;
struct celeborn_question;
struct fst_error;
struct map_push;
struct page;
struct push_client;
struct shuffle_output;

struct push_client_options {
        struct push_core_config core;
        const char *app_id;      /* copied */
        int64_t connect_timeout; /* ns */
        /*
         * Asks the driver (celeborn_wire.h), and waits. *@stopped (may be NULL) ends the wait with -ECANCELED. Returns
         * 0 with *@answer, or negative with @error. Any thread.
         */
        int (*ask)(void *owner, const struct celeborn_question *question, const int *stopped,
                   struct celeborn_answer *answer, struct fst_error *error);
        void *owner;
};

/* Returns 0, or negative with @error if no thread can be started. */
int push_client_new(const struct push_client_options *options, struct push_client **client, struct fst_error *error);

/* Ends the threads. All pushes are freed. NULL is allowed. */
void push_client_free(struct push_client *client);

/* Forgets where to push a shuffle. Any thread. */
void push_client_forget(struct push_client *client, int32_t shuffle);

/*
 * Begins to push the output of attempt @attempt of map @map of Celeborn's shuffle @shuffle. Asks the driver for
 * locations the first time. Returns 0, or negative with @error.
 */
int push_client_begin(struct push_client *client, int32_t shuffle, int32_t map, int64_t attempt, const int *stopped,
                      struct map_push **push, struct fst_error *error);

/*
 * Does the same if the locations are known. Else returns NULL and, with @ask, asks for them in the background: call it
 * again later, or push_client_begin, which reports errors.
 */
struct map_push *push_client_try_begin(struct push_client *client, int32_t shuffle, int32_t map, int64_t attempt,
                                       bool ask);

/*
 * Pushes a page, which stays until map_push_wait has returned, or, if the push is freed before, as map_push_keep says.
 * Returns 0, or the negative status of an earlier page: map_push_wait reports it.
 */
int map_push_page(struct map_push *push, int32_t partition, const struct page *page);

/* More pages follow soon: each is sent with others when they fill a body. Without, what is there is sent now. */
void map_push_collect(struct map_push *push, bool collecting);

/* References and pins the output that has the pages until all of them are answered, also beyond map_push_free. Once. */
void map_push_keep(struct map_push *push, struct shuffle_output *output);

/*
 * Pushes all of a finished output, in the order of its partitions. It stays referenced and pinned until all its pages
 * are answered, also beyond map_push_free. Returns 0, or negative with @error if the output cannot be read.
 */
int map_push_output(struct map_push *push, struct shuffle_output *output, const int *stopped, struct fst_error *error);

/*
 * Waits until all pages are stored. Returns 0; -ECANCELED once *@stopped is nonzero; or the negative status of a failed
 * push with @error.
 */
int map_push_wait(struct map_push *push, const int *stopped, struct fst_error *error);

/* Ends a push. Its pages are not needed any more: those in flight and the output are freed later. NULL is allowed. */
void map_push_free(struct map_push *push);
