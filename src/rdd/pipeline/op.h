/*
 * Operators: the parts of a stage inside a task.
 *
 * A source pushes rows in batches of at most FST_BATCH_ROWS through a chain of operators into a sink. A batch is
 * borrowed: it is valid only during the call of `consume`. An operator that makes rows gathers them in its fst_out. It
 * pushes them when the batch is full, and no later than the end of the input batch, because the rows may point into
 * that batch's memory. Therefore nothing is copied on the way.
 *
 * Results: 0; OP_ENOUGH, when downstream needs no more rows (take has its rows): the source stops without a failure; or
 * negative, after task_run_fail recorded the reason. After any result but 0 from downstream, the operator keeps it in
 * `status` and drops what is emitted.
 *
 * An operator belongs to one slot and is used for one partition after another: begin, consume…, end.
 */
#pragma once

#include "base/arena.h"
#include "rdd/pipeline/task_run.h"
#include "structs/struct_type.h"

#include <firesteel/iter.h>

#define OP_ENOUGH 1

/* From a one_for_one operator to its fst_out: push the rows made so far before emitting another. */
#define OP_FULL 2

/* From `borrow`: the rows must come through `consume`. */
#define OP_NOT_BORROWED 3

/* A batch, and the memory of its bytes that lives as long as the batch. */
struct rows {
        fst_batch batch;
        struct fst_stable stable[2]; /* the source's buffer; the arena of the operator that made the batch */
        /* The source's buffer is text, and its rows are lines without the newlines between them. 16 bytes behind it can
         * be read. */
        bool lines;
};

/*
 * Rows that are pieces of a text, none of them empty: piece i begins at ends[i - 1] + 1, for which ends[-1] exists, and
 * ends before ends[i]. 16 bytes behind the text can be read.
 */
struct piece_ends {
        const char *text;
        const uint32_t *ends;
        uint32_t n;
        bool pairs; /* rows are pairs with `number` */
        int64_t number;
};

static inline fst_bytes piece_at(const struct piece_ends *p, uint32_t i)
{
        const uint32_t *end = p->ends + i, start = end[-1] + 1;
        return (fst_bytes){p->text + start, *end - start};
}

/* Lines whose pieces were emitted, and are found later in all of them at once: rdd/pipeline/emit_pieces.h. */
struct deferred_lines {
        const char *start, *end; /* the lines and the newlines between them; end is NULL if there are none */
        uint32_t room;           /* of `out`, which has none meanwhile, so that other rows come after the lines */
        char separator;
        bool pairs; /* rows are pairs with `number` */
        int64_t number;
        const char *file; /* of the first call */
        int line;
};

struct op;
struct page;
struct page_loan;

struct op_class {
        const char *name;
        /* Starts a partition. NULL: nothing to do. */
        int (*begin)(struct op *op);
        int (*consume)(struct op *op, const struct rows *in);
        /* Consumes the first *@done pieces, as many as it can; the others come as rows. NULL: all come as rows. */
        int (*consume_pieces)(struct op *op, const struct piece_ends *pieces, uint32_t *done);
        /* Takes the rows of @page where they are, and takes over @loan, which keeps the page. Returns 0,
         * OP_NOT_BORROWED, or negative as `consume`; unless it is 0 the loan is still the caller's. NULL: no page is
         * borrowed. */
        int (*borrow)(struct op *op, const struct page *page, struct page_loan *loan);
        /* Pushes what it makes of the rows so far: no later row has a key of theirs. NULL: rows by bucket of their keys
         * are of no use. */
        int (*bucket_end)(struct op *op);
        /* Pushes rows that were held back. The partition's input is complete. NULL: none are held back. */
        int (*end)(struct op *op);
        /* Discards rows that were held back. The partition is abandoned. NULL: none are held back. */
        void (*abandon)(struct op *op);
        void (*free)(struct op *op);
};

struct op {
        const struct op_class *class;
        struct op *next; /* NULL: this is a sink */
        struct task_run *run;
        int partition;                            /* the partition of its RDD that is computed */
        int status;                               /* the last result from downstream */
        fst_type type;                            /* type of the rows it makes */
        fst_out out;                              /* the batch being filled */
        const struct struct_type *out_structs[2]; /* of its keys and values; NULL: not structs */
        struct arena heap;                        /* copied bytes of that batch */
        struct fst_stable source[2];              /* memory of the current input batch, which `out` may point into */
        /* each input row makes one row: an excess row is an error and nothing is flushed */
        bool one_for_one;
        bool in_parts;         /* one_for_one: OP_FULL in `status` when `heap` is large */
        bool may_defer;        /* its functions see rows of `source` only, and it flushes after each input batch */
        bool source_has_lines; /* `source[0]` is that of rows with `lines` */
        struct deferred_lines deferred; /* in `source[0]` */
};

/* Initializes the common part. @type is the type that the operator makes or that a sink takes. */
void op_init(struct op *op, const struct op_class *class, struct task_run *run, fst_type type);

/*
 * Allocates the columns of `out` for rows of type @made: the operator's own type, or for map_values the values alone.
 */
void op_alloc_out(struct op *op, fst_type made);

/* Releases the common part, but not the struct. */
void op_deinit(struct op *op);

void op_free(struct op *op);

static inline uint32_t fst_type_tag(fst_type type)
{
        return FST_TAG(type.key, type.value);
}

/* The type of rows of @type in functions: columns of structs are FIXED. */
static inline fst_type fst_type_seen(fst_type type)
{
        const struct struct_type *key = struct_type_of_column(type.key, type.key_size);
        const struct struct_type *value = struct_type_of_column(type.value, type.value_size);
        return (fst_type){.key = key ? FST_KIND_FIXED : type.key,
                          .value = value ? FST_KIND_FIXED : type.value,
                          .key_size = key ? key->size : type.key_size,
                          .value_size = value ? value->size : type.value_size};
}

static inline bool fst_type_equal(fst_type a, fst_type b)
{
        return a.key == b.key && a.value == b.value && a.key_size == b.key_size && a.value_size == b.value_size;
}

static inline bool fst_type_has_bytes(fst_type type)
{
        return type.key == FST_KIND_BYTES || type.value == FST_KIND_BYTES;
}

/* fst_type_name writes "PAIR(BYTES, I64)" into @text. The second also writes sizes, as in "FIXED(8)". */
const char *fst_type_name(fst_type type, char text[static 64]);
const char *fst_tag_name(uint32_t tag, char text[static 64]);

/* fst_access_name writes the type of @tag, with the struct sizes that FST_SIZES knows. The second returns the name of a
 * source file without its directory. */
const char *fst_access_name(uint32_t tag, uint64_t sizes, char text[static 64]);
const char *file_base_name(const char *path);

/* Returns 0 if @type is valid, otherwise -EINVAL with the reason. */
int fst_type_check(fst_type type, struct fst_error *error);

/* @column starting at row @at. */
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

/* The rows @at … @at + @n of @rows. */
static inline struct rows rows_part(const struct rows *rows, uint32_t at, uint32_t n)
{
        struct rows part = *rows;
        fst_type type = rows->batch.type;
        part.batch.rows = n;
        part.batch.key = column_from(rows->batch.key, type.key, type.key_size, at);
        part.batch.value = column_from(rows->batch.value, type.value, type.value_size, at);
        return part;
}

/* Passes @rows to the next operator unless `status` is set. */
int op_push(struct op *op, const struct rows *rows);

/* Pushes the batch in `out` unless it is empty. */
int op_flush(struct op *op);

/* Pushes the rows @at[0 … @n) of @in, at most FST_BATCH_ROWS. Uses the columns of `out`, which has their type. */
int op_push_some(struct op *op, const struct rows *in, const uint16_t *at, uint32_t n);

/* op_borrow before, and op_return after, the rows of an input batch are emitted to `out`. */
void op_borrow(struct op *op, const struct rows *in);
int op_input_done(struct op *op);

static inline int op_begin(struct op *op)
{
        op->status = 0;
        return op->class->begin ? op->class->begin(op) : 0;
}

/* Empties `out`, so that the next partition does not begin with rows of this one. */
static inline void op_drop(struct op *op)
{
        if (op->deferred.end)
                op->out.room = op->deferred.room;
        op->deferred.end = NULL;
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

/* Feeds one partition: the rows of @type in @pages. Calls begin, consume…, end, and abandon after a failure. Returns 0,
 * also if downstream had enough before the last page, or negative. */
int op_feed_pages(struct op *op, fst_type type, const struct page *pages);
