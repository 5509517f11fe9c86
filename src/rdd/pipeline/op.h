/*
 * Operators: what a stage is made of inside a task.
 *
 * Rows flow in batches of at most FST_BATCH_ROWS, pushed from a source through a chain of operators into a sink.
 * A batch is borrowed: it is valid during the call of `consume` only. An operator that makes rows of its own
 * gathers them in its fst_out and pushes them on when it is full, and at the latest when its input batch ends,
 * because they may point into that batch's memory; that is why nothing has to be copied on the way.
 *
 * Results: 0; OP_ENOUGH, when nothing more is wanted (take has its rows): the source stops, nobody failed; or
 * negative, after task_run_fail recorded why. Once an operator's downstream answered anything but 0 the operator
 * keeps that in `status` and drops what is emitted.
 *
 * An operator belongs to one slot and is used for one partition after another: begin, consume…, end.
 */
#pragma once

#include "base/arena.h"
#include "rdd/pipeline/task_run.h"

#include <firesteel/iter.h>

#define OP_ENOUGH 1

/* Between an operator that is one_for_one and its out: no further row before those made so far were pushed on. */
#define OP_FULL 2

/* A batch with the memory that its bytes may point to and that lives as long as the batch. */
struct rows {
        fst_batch batch;
        struct fst_stable stable[2]; /* the source's buffer; the arena of the operator that made the batch */
};

struct op;
struct page;

struct op_class {
        const char *name;
        /* A partition begins. NULL if there is nothing to do. */
        int (*begin)(struct op *op);
        int (*consume)(struct op *op, const struct rows *in);
        /* All of the partition's input was consumed: push on what was held back. NULL if nothing is. */
        int (*end)(struct op *op);
        /* The partition is given up half-way: forget what was held back. NULL if nothing is. */
        void (*abandon)(struct op *op);
        void (*free)(struct op *op);
};

struct op {
        const struct op_class *class;
        struct op *next; /* NULL for a sink */
        struct task_run *run;
        int partition;               /* of its RDD, that is being computed */
        int status;                  /* what downstream last answered */
        fst_type type;               /* of the rows that it makes */
        fst_out out;                 /* the batch being made */
        struct arena heap;           /* bytes of that batch that had to be copied */
        struct fst_stable source[2]; /* of the input batch at hand: what `out` may borrow from */
        bool one_for_one;            /* each input row makes one row: an excess row is an error, nothing is flushed */
        bool in_parts;               /* one_for_one: OP_FULL in `status` when `heap` is large */
};

/* Prepare the common part; @type is what the operator makes (what a sink takes). */
void op_init(struct op *op, const struct op_class *class, struct task_run *run, fst_type type);

/* Give `out` columns for rows of type @made: the operator's own type, or the values alone for map_values. */
void op_alloc_out(struct op *op, fst_type made);

/* Release the common part (not the struct). */
void op_deinit(struct op *op);

void op_free(struct op *op);

static inline uint32_t fst_type_tag(fst_type type)
{
        return FST_TAG(type.key, type.value);
}

static inline bool fst_type_equal(fst_type a, fst_type b)
{
        return a.key == b.key && a.value == b.value && a.key_size == b.key_size && a.value_size == b.value_size;
}

static inline bool fst_type_has_bytes(fst_type type)
{
        return type.key == FST_KIND_BYTES || type.value == FST_KIND_BYTES;
}

/* "PAIR(BYTES, I64)" into @text; of a type with the sizes, "FIXED(8)". */
const char *fst_type_name(fst_type type, char text[static 64]);
const char *fst_tag_name(uint32_t tag, char text[static 64]);

/* The type of @tag, with the sizes of structs as far as FST_SIZES knows them; and a source file without its folder. */
const char *fst_access_name(uint32_t tag, uint64_t sizes, char text[static 64]);
const char *file_base_name(const char *path);

/* 0 if there can be rows of @type, else -EINVAL with what is wrong with it. */
int fst_type_check(fst_type type, struct fst_error *error);

/* @column from row @at on. */
static inline fst_column column_from(fst_column column, uint8_t kind, uint32_t size, uint32_t at)
{
        if (kind == FST_KIND_BYTES)
                column.bytes += at;
        else if (kind == FST_KIND_FIXED)
                column.fixed += (size_t)at * size;
        else if (kind != FST_KIND_NONE)
                column.i64 += at;
        return column;
}

/* Rows @at … @at + @n of @rows. */
static inline struct rows rows_part(const struct rows *rows, uint32_t at, uint32_t n)
{
        struct rows part = *rows;
        fst_type type = rows->batch.type;
        part.batch.rows = n;
        part.batch.key = column_from(rows->batch.key, type.key, type.key_size, at);
        part.batch.value = column_from(rows->batch.value, type.value, type.value_size, at);
        return part;
}

/* Hand @rows to the next operator, unless it has answered before. */
int op_push(struct op *op, const struct rows *rows);

/* Push the batch in `out`, if there is one. */
int op_flush(struct op *op);

/* Push the rows @at[0 … @n) of @in, at most FST_BATCH_ROWS, by way of the columns of `out`, which has their type. */
int op_push_some(struct op *op, const struct rows *in, const uint16_t *at, uint32_t n);

/* Before and after the rows of an input batch are emitted to `out`. */
void op_borrow(struct op *op, const struct rows *in);
int op_input_done(struct op *op);

static inline int op_begin(struct op *op)
{
        op->status = 0;
        return op->class->begin ? op->class->begin(op) : 0;
}

/* What nobody wants any more is not to be what the next partition begins with. */
static inline void op_drop(struct op *op)
{
        op->out.rows = 0;
        arena_reset(&op->heap);
}

static inline int op_end(struct op *op)
{
        int r = op->class->end ? op->class->end(op) : 0;
        if (r == 0)
                return op_flush(op);
        op_drop(op);
        return r;
}

static inline void op_abandon(struct op *op)
{
        if (op->class->abandon)
                op->class->abandon(op);
        op_drop(op);
}

/*
 * One partition whose rows, of @type, are in these pages: begin, consume…, end, or abandon if that fails. 0, also when
 * enough was seen before the last page, or negative.
 */
int op_feed_pages(struct op *op, fst_type type, const struct page *pages);
