/* See join_stream.h. Rows go to the output of the join, as all of its rows. */
#include "rdd/cogroup/join_stream.h"

#include "base/mem.h"
#include "rdd/cogroup/join_probe.h"
#include "rdd/sort/sorter.h"

/* A larger table exceeds the near caches by far: partitions (hash_join.h) cost less then. */
#define MAX_STREAM_TABLE ((size_t)1 << 18)

struct join_stream {
        struct op op; /* takes the rows */
        struct cogroup_op *join;
        bool started;
        struct memory_consumer memory;
        struct join_partitions rows; /* the rows of the table, as one partition */
        struct join_table table;
        struct join_probe probe;
};

static int join_stream_call(void *owner, const fst_batch *left, const fst_batch *right, uint32_t n)
{
        struct cogroup_op *join = owner;
        if (unlikely(task_run_stopped(join->op.run)))
                return task_run_cancelled(join->op.run);
        return join_caller_call(&join->join.caller, &join->op, &join->fn, left, 0, 1, right, 0, n);
}

static int join_stream_consume(struct op *op, const struct rows *in)
{
        struct join_stream *s = container_of(op, struct join_stream, op);
        struct cogroup_op *join = s->join;
        struct task_run *run = op->run;
        const void *captured = run->task.captured;
        run->task.captured = join->fn.captured;
        const char *outer = task_run_enter(run, join->fn.name);
        op_borrow(&join->op, in);
        int r = join_probe_batch(&s->probe, &s->table, &in->batch, join_stream_call, join);
        task_run_leave(run, outer);
        run->task.captured = captured;
        return r ? r : op_input_done(&join->op);
}

static const struct op_class join_stream_class = {"join", .consume = join_stream_consume};

struct join_stream *join_stream_new(struct cogroup_op *join)
{
        struct join_stream *s = new0(struct join_stream);
        op_init(&s->op, &join_stream_class, join->op.run, join->sides[JOIN_LEFT].op.type);
        s->join = join;
        return s;
}

void join_stream_end(struct join_stream *s)
{
        if (!s->started)
                return;
        join_table_free(&s->table);
        memory_consumer_deinit(&s->memory);
        op_borrow(&s->join->op, &(struct rows){0});
        s->started = false;
}

void join_stream_free(struct join_stream *s)
{
        if (!s)
                return;
        join_stream_end(s);
        join_probe_deinit(&s->probe);
        op_deinit(&s->op);
        free(s);
}

struct op *join_stream_op(struct join_stream *s)
{
        return &s->op;
}

/* Whether a table of all rows of @sorter pays, and memory allows one. */
static bool join_stream_pays(const struct join_stream *s, const struct sorter *sorter)
{
        const struct sort_index *rows = sorter_rows(sorter);
        return rows && rows->n <= MAX_STREAM_TABLE && !(rows->in_order && rows->n > 1) &&
               sorter_reserved(sorter) + join_table_bytes(rows->n) <= memory_task_share(s->memory.task) / 4;
}

/* Reserves and makes the table. The reservation may make the sorter spill. */
static int join_stream_build(struct join_stream *s, enum join_side built)
{
        const struct cogroup_side *side = &s->join->sides[built];
        if (!join_stream_pays(s, side->sorter))
                return COGROUP_UNCHANGED;
        int r = memory_acquire(&s->memory, join_table_bytes(sorter_rows(side->sorter)->n));
        if (r)
                return r < 0 ? r : COGROUP_UNCHANGED;
        struct sort_index *index = sorter_unsorted(side->sorter);
        if (!index || !join_table_alloc(&s->table, index->n))
                return COGROUP_UNCHANGED;
        join_partitions_count(&s->rows, index, 0);
        join_partitions_place(&s->rows);
        join_table_build(&s->table, s->rows.key, join_partitions_rows(&s->rows, 0), 0);
        return 0;
}

int join_stream_start(struct join_stream *s, enum join_side built)
{
        struct cogroup_op *join = s->join;
        int r = sorter_close(join->sides[built].sorter, &join->error);
        if (r)
                return r;
        join_stream_end(s);
        memory_consumer_init(&s->memory, task_run_memory(join->op.run), "join", NULL);
        s->started = true;
        s->op.type = join->sides[!built].op.type;
        r = join_stream_build(s, built);
        if (r)
                join_stream_end(s);
        else
                join_probe_start(&s->probe, join->sides[JOIN_LEFT].op.type, join->sides[JOIN_RIGHT].op.type, built,
                                 join->mode != COGROUP_JOIN);
        return r;
}
