/*
 * The records from which a driver that resumes an application rebuilds the lifecycle manager of the earlier one
 * (driver/resume/): fields of journal/fields.h behind a byte of enum lifecycle_record.
 *
 * Records stand in the order in which things happened. A shuffle is recorded before its map tasks start. A location is
 * recorded before an executor learns of it, thus before the success of a map that wrote to it. One that replaces another
 * is durable before that, because a task may write to it and succeed after the driver has died. The end of a shuffle to
 * which maps may write is durable before the master learns it. A commit is durable before a worker is asked for it: from
 * then on nothing is written to the shuffle, so that a repeated CommitFiles asks for the same files.
 */
#pragma once

#include "base/buf.h"
#include "celeborn/lifecycle/lifecycle.h"

#include <firesteel/types.h>

enum lifecycle_record {
        LIFECYCLE_RECORD_APPLICATION = 1, /* Celeborn's id of the application; nothing before counts */
        LIFECYCLE_RECORD_STOPPED,         /* the master knows that it ended: nothing before counts */
        LIFECYCLE_RECORD_WORKER,          /* host, ports; workers have the numbers 0, 1, … */
        LIFECYCLE_RECORD_SHUFFLE,         /* number, the engine's shuffle, maps, partitions */
        LIFECYCLE_RECORD_LOCATIONS,       /* shuffle, then: partition, epoch, primary + 1, replica + 1 */
        LIFECYCLE_RECORD_COMMITTING,      /* shuffle, then by map: attempt + 1 */
        LIFECYCLE_RECORD_COMMITTED,       /* shuffle, then: partition, epoch, state of the primary and of the replica */
        LIFECYCLE_RECORD_GONE,            /* shuffle: lost or dropped */
        LIFECYCLE_RECORD_NUMBERS,         /* the first number of a driver's shuffles; durable before it uses one */
};

/* A Celeborn shuffle, as it is begun. */
struct lifecycle_past_shuffle {
        int32_t number; /* Celeborn's */
        int shuffle;    /* the engine's */
        int maps, partitions;
};

void lifecycle_record_application(struct buf *out, const char *app_id);
void lifecycle_record_numbers(struct buf *out, int32_t first);
void lifecycle_record_shuffle(struct buf *out, const struct lifecycle_past_shuffle *shuffle);

/* Reads the records that its caller wrote. *@app_id: owned. Return -EBADMSG for another record. */
int lifecycle_read_application(fst_bytes record, char **app_id);
int lifecycle_read_shuffle(fst_bytes record, struct lifecycle_past_shuffle *shuffle);

/*
 * The first number for the shuffles of a driver that goes on with these records and those of its core. An earlier
 * driver may have begun shuffles without a durable record: at most some after the last one that is known, or after its
 * first number. -1: numbers are used up, so that the application needs another id in Celeborn.
 */
int32_t lifecycle_next_number(const fst_bytes *records, size_t n);

/* Returns the kind of a record; 0: it is empty. */
int lifecycle_record_kind(fst_bytes record);

/*
 * Adds a record of an earlier driver to a new core. Records come in order, without those before the last APPLICATION.
 * Returns -EBADMSG for one that contradicts those before; the core cannot be used then.
 */
int lifecycle_restore(struct lifecycle *l, fst_bytes record);

/* All records are there: goes on with commits that had begun. */
void lifecycle_restored(struct lifecycle *l, int64_t now);

enum lifecycle_past_state {
        LIFECYCLE_PAST_GONE,  /* unknown, lost or dropped */
        LIFECYCLE_PAST_OPEN,  /* maps may write */
        LIFECYCLE_PAST_ENDED, /* its maps have ended */
};

/* The state of a shuffle after lifecycle_restored. */
enum lifecycle_past_state lifecycle_past(const struct lifecycle *l, int32_t shuffle);
