/*
 * Answers to tasks that ask whether they may commit, held back until the journal has the permission.
 *
 * A driver that dies after "yes" may leave an attempt that commits later. The next driver finds its permission in the
 * journal, and revokes it before another attempt runs (driver/resume/resume_outputs.c). The requests of one turn of the
 * scheduler's thread share a write.
 *
 * On the runner's thread.
 */
#pragma once

#include "base/vec.h"
#include "driver/backend/scheduler_backend.h"

#include <stdbool.h>
#include <stdint.h>

struct resume;

struct commit_replies {
        VEC(struct commit_reply {
                struct commit_requester asker;
                uint64_t position; /* of the journal; 0: no write was requested so far */
        })
        waiting; /* in the order of their records */
};

/* The permission is in the journal's buffer: answers @asker once it is durable. */
void commit_replies_hold(struct commit_replies *replies, const struct commit_requester *asker);

/* At the end of a turn: requests the write for the answers that were added. */
void commit_replies_request(struct commit_replies *replies, struct resume *resume);

/* Everything up to @position is durable: sends the answers. */
void commit_replies_send(struct commit_replies *replies, uint64_t position);

/* The application ends: those that wait may not commit. */
void commit_replies_deinit(struct commit_replies *replies);
