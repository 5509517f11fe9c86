/*
 * sum, mean and stats: numbers are counted in blocks of fixed size (rdd/aggregate/stat_counter.h). The block size does
 * not depend on the batches, so rounding is the same for a cache and a file.
 */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

#define BLOCK 1024

struct stats_sink {
        struct op op;
        bool sum_only;
        uint32_t n; /* numbers in the block */
        struct stat_counter counter;
        double block[BLOCK];
};

static struct stats_sink *action_stats_sink_of(struct op *op)
{
        return container_of(op, struct stats_sink, op);
}

static int stats_begin(struct op *op)
{
        action_stats_sink_of(op)->n = 0;
        action_stats_sink_of(op)->counter = STAT_COUNTER_INIT;
        return 0;
}

static void count_block(struct stats_sink *sink)
{
        stat_counter_add(&sink->counter, sink->block, sink->n, sink->sum_only);
        sink->n = 0;
}

static void count_columns(double *to, const fst_batch *in, uint32_t at, uint32_t n)
{
        if (in->type.key == FST_KIND_F64)
                memcpy(to, in->key.f64 + at, n * sizeof(*to));
        else
                for (uint32_t i = 0; i < n; i++)
                        to[i] = (double)in->key.i64[at + i];
}

static int stats_consume(struct op *op, const struct rows *in)
{
        struct stats_sink *sink = action_stats_sink_of(op);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t at = 0; at < in->batch.rows;) {
                uint32_t n = MIN(BLOCK - sink->n, in->batch.rows - at);
                count_columns(sink->block + sink->n, &in->batch, at, n);
                sink->n += n;
                at += n;
                if (sink->n == BLOCK)
                        count_block(sink);
        }
        return 0;
}

static int stats_end(struct op *op)
{
        count_block(action_stats_sink_of(op));
        return 0;
}

static void stats_free(struct op *op)
{
        op_deinit(op);
        free(action_stats_sink_of(op));
}

static const struct op_class stats_class = {"stats", .begin = stats_begin, .consume = stats_consume, .end = stats_end,
                                            .free = stats_free};

static struct op *stats_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct stats_sink *sink = new0(struct stats_sink);
        op_init(&sink->op, &stats_class, run, action->type);
        sink->sum_only = container_of(action, struct stats_action, action)->sum_only;
        return &sink->op;
}

static int stats_result(struct action *action, struct op *op, struct task_result *result)
{
        struct stat_counter *counter = mem_alloc(sizeof(*counter));
        *counter = action_stats_sink_of(op)->counter;
        result->data = counter;
        result->bytes = sizeof(*counter);
        return 0;
}

static void stats_discard(struct action *action, struct task_result *result)
{
        free(result->data);
}

static int stats_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                        struct fst_error *error)
{
        message->limit = container_of(action, struct stats_action, action)->sum_only;
        return 0;
}

static int stats_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                        struct action **out, struct fst_error *error)
{
        struct stats_action *self = wire_array(reader->memory, 1, sizeof(*self));
        if (!self)
                return rdd_wire_too_big(error);
        if (!action_takes_numbers(type))
                return error_set(error, -EBADMSG, "stats needs numbers");
        self->sum_only = message->limit != 0;
        *out = &self->action;
        return 0;
}

bool action_takes_numbers(fst_type type)
{
        return !type.value && (type.key == FST_KIND_I64 || type.key == FST_KIND_F64);
}

/* Encodes the result: count i64, then f64 each: sum, mean, squares, minimum, maximum. */
static int stats_encode_result(const struct action *action, const struct task_result *result, struct buf *out,
                               struct fst_error *error)
{
        const struct stat_counter *c = result->data;
        double numbers[] = {c->sum, c->mean, c->squares, c->min, c->max};
        buf_append(out, &c->n, 8);
        buf_append(out, numbers, sizeof(numbers));
        return 0;
}

static int stats_decode_result(const struct action *action, const unsigned char *data, size_t len,
                               struct task_result *result, struct fst_error *error)
{
        double numbers[5];
        int64_t n;
        if (len != 8 + sizeof(numbers))
                return error_set(error, -EBADMSG, "the counter has %zu bytes instead of %zu", 8 + sizeof(numbers), len);
        memcpy(&n, data, 8);
        memcpy(numbers, data + 8, sizeof(numbers));
        if (n < 0)
                return error_set(error, -EBADMSG, "the counter has an invalid count of %lld", (long long)n);
        struct stat_counter *counter = mem_alloc(sizeof(*counter));
        *counter = (struct stat_counter){n, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
        result->data = counter;
        result->bytes = sizeof(*counter);
        return 0;
}

const struct action_class stats_action_class = {
        .name = "stats",
        .sink_new = stats_sink_new,
        .result = stats_result,
        .discard = stats_discard,
        .encode = stats_encode,
        .decode = stats_decode,
        .encode_result = stats_encode_result,
        .decode_result = stats_decode_result,
};
