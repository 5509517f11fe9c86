/*
 * The accumulator updates of one task (firesteel/shared.h): a small table, created when a function first adds
 * something. It travels to the driver with the task's result, and the driver merges it (driver/accumulators.h) if the
 * task counts.
 *
 * One thread at a time. The encoded form is little-endian:
 *
 *      count u32, then for each: id u64 | kind u32 | size u32 | size bytes: the state
 *
 * The state of I64 and F64 is four numbers of 8 bytes (count, sum, min, max). The state of FST_ACCUMULATOR_OWN is the
 * application's struct. That of FST_ACCUMULATOR_LIST, whose size is 0, is
 *
 *      count u32 | length u64 | the blobs, each after its length as a big-endian u32
 */
#pragma once

#include <firesteel/shared.h>

struct buf;
struct fst_error;

/* Limit for one task: a further accumulator fails the task. */
#define MAX_ACCUMULATOR_UPDATES 4096

struct accumulator_update {
        fst_accumulator accumulator;
        union {
                fst_totals_i64 i64;
                fst_totals_f64 f64;
                void *own; /* accumulator.size bytes */
                struct accumulator_list {
                        char *data; /* the blobs with their lengths; owned */
                        size_t len;
                        uint32_t n;
                } list;
        };
};

struct accumulator_updates {
        struct accumulator_update *data;
        uint32_t n, room;
};

/* NULL is allowed. */
void accumulator_updates_free(struct accumulator_updates *updates);

/* Returns the update of @a, creating it and *@updates if they are missing. NULL beyond MAX_ACCUMULATOR_UPDATES. */
struct accumulator_update *accumulator_updates_of(struct accumulator_updates **updates, fst_accumulator a);

/* Appends a copy of @blob, which must be shorter than 2 GiB. Returns 0, or -ENOMEM. */
int accumulator_add_blob(struct accumulator_list *list, fst_bytes blob);

/* Returns the blobs, views into @list in an array that the caller frees. */
fst_bytes *accumulator_list_blobs(const struct accumulator_list *list);

void accumulator_add_i64(fst_totals_i64 *totals, int64_t x);
void accumulator_add_f64(fst_totals_f64 *totals, double x);
void accumulator_merge_i64(fst_totals_i64 *totals, const fst_totals_i64 *more);
void accumulator_merge_f64(fst_totals_f64 *totals, const fst_totals_f64 *more);

/* Appends the encoded form. NULL is encoded as an empty table. */
void accumulator_updates_encode(const struct accumulator_updates *updates, struct buf *out);

/* Decodes untrusted bytes. Returns 0 with *@updates, which the caller owns (NULL if empty), or -EBADMSG. Checks kinds
 * against sizes. The driver checks that the accumulators exist when it merges. */
int accumulator_updates_decode(const void *data, size_t len, struct accumulator_updates **updates,
                               struct fst_error *error);
