/*
 * What one task adds to accumulators (firesteel/shared.h): a small table, made when its function first adds something,
 * carried with the task's result to the driver, and merged there (driver/accumulators.h) if the task counts.
 *
 * One thread at a time. Encoded, it is (little-endian):
 *
 *      count u32, then for each: id u64 | kind u32 | size u32 | size bytes: the state
 *
 * where the state of I64 and F64 is four numbers of 8 bytes (count, sum, min, max), and that of FST_ACCUMULATOR_OWN is
 * the application's struct as it is.
 */
#pragma once

#include <firesteel/shared.h>

struct buf;
struct fst_error;

/* Of one task: further ones fail the task. */
#define MAX_ACCUMULATOR_UPDATES 4096

struct accumulator_update {
        fst_accumulator accumulator;
        union {
                fst_totals_i64 i64;
                fst_totals_f64 f64;
                void *own; /* accumulator.size bytes */
        };
};

struct accumulator_updates {
        struct accumulator_update *data;
        uint32_t n, room;
};

/* NULL is allowed. */
void accumulator_updates_free(struct accumulator_updates *updates);

/* The update of @a, made if missing; NULL beyond MAX_ACCUMULATOR_UPDATES. *@updates may be NULL: it is made. */
struct accumulator_update *accumulator_updates_of(struct accumulator_updates **updates, fst_accumulator a);

void accumulator_add_i64(fst_totals_i64 *totals, int64_t x);
void accumulator_add_f64(fst_totals_f64 *totals, double x);
void accumulator_merge_i64(fst_totals_i64 *totals, const fst_totals_i64 *more);
void accumulator_merge_f64(fst_totals_f64 *totals, const fst_totals_f64 *more);

/* Append the encoded form; for NULL, that of none. */
void accumulator_updates_encode(const struct accumulator_updates *updates, struct buf *out);

/*
 * From untrusted bytes: 0 with *@updates owned by the caller (NULL if there are none), or -EBADMSG. Kinds and sizes are
 * checked against each other; whether there are such accumulators, the driver checks when it merges.
 */
int accumulator_updates_decode(const void *data, size_t len, struct accumulator_updates **updates,
                               struct fst_error *error);
