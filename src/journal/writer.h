/*
 * Writes the records of a journal from a thread of its own: many records to a frame.
 *
 *      struct buf *body = journal_writer_begin(w);     locks
 *      …append records…
 *      journal_writer_end(w);                          unlocks; durable within the interval
 *      journal_writer_sync(w);                         waits until everything before is durable
 *
 * A failed write (a full disk) is logged once. The application then goes on without a journal: records are dropped and
 * nobody waits. When a newer epoch appears, @superseded is called, which ends the process.
 *
 * Any thread.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct journal_place;
struct journal_writer;

struct journal_writer_options {
        int64_t interval_ms;             /* between a record and its write, if nobody waits for it */
        int64_t watch_ms;                /* how often to look for a newer epoch when nothing is written */
        size_t max_backlog;              /* bytes; writers of records wait while more is unwritten */
        bool looks_first;                /* look for a newer epoch before each write, too, because it makes a file */
        void (*superseded)(void *owner); /* another driver has the application. On the writer's thread, or a caller's */
        /* After a requested write: all records up to @position are durable, or the journal has failed. On the writer's
         * thread, before a caller of journal_writer_sync returns. */
        void (*written)(void *owner, uint64_t position);
        /* Appends to @body the records that the journal comes to, all of it as read from the place up to its taken
         * epoch. Returns false if the journal shall stay as it is. On the writer's thread. */
        bool (*fold)(void *owner, struct buf *body);
        void *owner;
};
#define JOURNAL_WRITER_DEFAULT                                                                                         \
        ((struct journal_writer_options){.interval_ms = 50, .watch_ms = 1000, .max_backlog = (size_t)256 << 20})

/* Starts the thread, for the taken epoch of @place, which must outlive it. Returns a negative errno with @error. */
int journal_writer_start(struct journal_place *place, const struct journal_writer_options *options,
                         struct journal_writer **writer, struct fst_error *error);

/* Removes the journal: later records have no effect, and nobody looks for a newer epoch any more. */
void journal_writer_remove(struct journal_writer *w);

/* Writes what is left, ends the thread. NULL is allowed. */
void journal_writer_stop(struct journal_writer *w);

struct buf *journal_writer_begin(struct journal_writer *w);
void journal_writer_end(struct journal_writer *w);

/* Asks for a write at once and does not wait: returns the position of which `written` tells, or 0 if all records are
 * durable already. Records that are added before the thread wakes up are part of the same write. */
uint64_t journal_writer_request(struct journal_writer *w);

/* The position behind the last record. */
uint64_t journal_writer_position(struct journal_writer *w);

/* Asks for the journal to be folded (journal_place_fold) after its next write. Does not wait. */
void journal_writer_fold(struct journal_writer *w);

/* Returns true if the records are durable, false if the journal has failed. */
bool journal_writer_sync(struct journal_writer *w);

/*
 * Calls superseded if a newer epoch exists. Returns true if there is none: the caller may act for the application.
 * Looks at the place if the last look is more than @fresh_ms old.
 */
bool journal_writer_check_epoch(struct journal_writer *w, int64_t fresh_ms);

/* Makes the writer's thread look now, which calls superseded if a newer epoch exists. Does not wait. */
void journal_writer_look(struct journal_writer *w);
