/*
 * Questions of executors to the driver about Celeborn shuffles, and its answers, as bytes of celeborn_driver.proto:
 *
 *      LOCATIONS    where to push: the newest location of each partition. The driver answers when the slots of the
 *                   shuffle are reserved.
 *      REVIVE       other locations for the named ones, after a split or a failed push. One answer for all of them.
 *      FILES        what to read: the committed files of all partitions. The driver answers when all workers have
 *                   committed.
 *
 * A shuffle here is Celeborn's: a shuffle that lost data runs again under a new number. The place of a map output
 * (shuffle/remote_shuffle.h) is that number + 1, and the driver names it to map tasks with their stage. Its shuffle key
 * is "application-number".
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

/* A server that stores map outputs. */
struct celeborn_worker {
        char *host;
        int rpc_port, push_port, fetch_port, replicate_port;
};

/* A partition's file of one epoch, at one worker or, replicated, at two. */
struct celeborn_location {
        int32_t partition, epoch;
        int32_t primary, replica; /* indexes into the answer's workers; -1: no copy there */
};

/* A location that must be replaced. */
struct celeborn_revive {
        int32_t map; /* that asks; -1: unknown */
        int32_t partition, epoch;
        uint8_t cause; /* enum celeborn_status */
};

enum celeborn_question_kind {
        CELEBORN_ASK_LOCATIONS = 1,
        CELEBORN_ASK_REVIVE = 2,
        CELEBORN_ASK_FILES = 3,
};

struct celeborn_question {
        enum celeborn_question_kind kind;
        int32_t shuffle;                 /* Celeborn's number */
        struct celeborn_revive *revives; /* owned */
        int n;
};

/*
 * LOCATIONS: `locations` by partition. REVIVE: those of the question, in its order; primary -1: none could be had.
 * FILES: by rising partition and epoch; a partition may have none.
 *
 * status CELEBORN_SUCCESS; CELEBORN_STAGE_ENDED: all maps have ended, and a push of an attempt that still runs is
 * useless; CELEBORN_SHUFFLE_DATA_LOST: the shuffle must run again; CELEBORN_SHUFFLE_UNREGISTERED: it was removed or
 * given up; other statuses with `message`: the task fails, and may run again.
 *
 * secret: with what the executor authenticates to the workers (celeborn_auth.h).
 */
struct celeborn_answer {
        int status;    /* enum celeborn_status */
        char *message; /* owned; NULL: none */
        char *secret;  /* owned; NULL: connections are not authenticated */
        struct celeborn_worker *workers;
        struct celeborn_location *locations;
        int n_workers, n_locations;
};

void celeborn_question_deinit(struct celeborn_question *question);
void celeborn_answer_deinit(struct celeborn_answer *answer);

void celeborn_question_put(const struct celeborn_question *question, struct buf *out);
void celeborn_answer_put(const struct celeborn_answer *answer, struct buf *out);

/* Parse what the functions above wrote. Return 0, or -EPROTO with @error; the outputs are unchanged then. */
int celeborn_question_parse(const uint8_t *data, size_t len, struct celeborn_question *question,
                            struct fst_error *error);
int celeborn_answer_parse(const uint8_t *data, size_t len, struct celeborn_answer *answer, struct fst_error *error);

/* The place of map outputs in a Celeborn shuffle, and back. */
static inline uint32_t celeborn_place(int32_t shuffle)
{
        return (uint32_t)shuffle + 1;
}

static inline int32_t celeborn_shuffle_of_place(uint32_t place)
{
        return (int32_t)place - 1;
}
