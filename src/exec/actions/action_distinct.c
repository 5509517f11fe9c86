/* count_approx_distinct: a sketch of each partition's rows (rdd/aggregate/distinct_sketch.h). */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/aggregate/distinct_sketch.h"
#include "rdd/aggregate/hash.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

struct distinct_sink {
        struct op op;
        int precision;
        uint8_t *registers;
};

static struct distinct_sink *action_distinct_sink_of(struct op *op)
{
        return container_of(op, struct distinct_sink, op);
}

static size_t action_distinct_size_of(const struct action *action)
{
        return (size_t)1 << container_of(action, struct distinct_action, action)->precision;
}

static int distinct_begin(struct op *op)
{
        struct distinct_sink *sink = action_distinct_sink_of(op);
        free(sink->registers);
        sink->registers = new_array(uint8_t, (size_t)1 << sink->precision);
        return 0;
}

static int distinct_consume(struct op *op, const struct rows *in)
{
        uint64_t hashes[FST_BATCH_ROWS], values[FST_BATCH_ROWS];
        const fst_batch *batch = &in->batch;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        hash_keys(batch, hashes);
        if (batch->type.value) {
                fst_batch other = {.rows = batch->rows,
                                   .type = {.key = batch->type.value, .key_size = batch->type.value_size},
                                   .key = batch->value};
                hash_keys(&other, values);
                for (uint32_t i = 0; i < batch->rows; i++)
                        hashes[i] = hashes[i] * 0x9e3779b97f4a7c15u + values[i];
        }
        distinct_add(action_distinct_sink_of(op)->registers, action_distinct_sink_of(op)->precision, hashes,
                     batch->rows);
        return 0;
}

static void distinct_free(struct op *op)
{
        free(action_distinct_sink_of(op)->registers);
        op_deinit(op);
        free(action_distinct_sink_of(op));
}

static const struct op_class distinct_class = {"count_approx_distinct", .begin = distinct_begin,
                                               .consume = distinct_consume, .free = distinct_free};

static struct op *distinct_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct distinct_sink *sink = new0(struct distinct_sink);
        op_init(&sink->op, &distinct_class, run, action->type);
        sink->precision = container_of(action, struct distinct_action, action)->precision;
        return &sink->op;
}

static int distinct_result(struct action *action, struct op *op, struct task_result *result)
{
        result->data = steal(action_distinct_sink_of(op)->registers);
        result->bytes = action_distinct_size_of(action);
        return 0;
}

static void distinct_discard(struct action *action, struct task_result *result)
{
        free(result->data);
}

static int distinct_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                           struct fst_error *error)
{
        message->limit = (uint64_t)container_of(action, struct distinct_action, action)->precision;
        return 0;
}

static int distinct_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                           struct action **out, struct fst_error *error)
{
        struct distinct_action *self = wire_array(reader->memory, 1, sizeof(*self));
        if (!self)
                return rdd_wire_too_big(error);
        if (message->limit < MIN_DISTINCT_PRECISION || message->limit > MAX_DISTINCT_PRECISION)
                return error_set(error, -EBADMSG, "count_approx_distinct has an invalid precision");
        self->precision = (int)message->limit;
        *out = &self->action;
        return 0;
}

/* Encodes the result: one byte for each register. */
static int distinct_encode_result(const struct action *action, const struct task_result *result, struct buf *out,
                                  struct fst_error *error)
{
        buf_append(out, result->data, action_distinct_size_of(action));
        return 0;
}

static int distinct_decode_result(const struct action *action, const unsigned char *data, size_t len,
                                  struct task_result *result, struct fst_error *error)
{
        if (len != action_distinct_size_of(action))
                return error_set(error, -EBADMSG, "the sketch has %zu registers instead of %zu",
                                 action_distinct_size_of(action), len);
        result->data = mem_alloc(len);
        memcpy(result->data, data, len);
        result->bytes = len;
        return 0;
}

const struct action_class distinct_action_class = {
        .name = "count_approx_distinct",
        .sink_new = distinct_sink_new,
        .result = distinct_result,
        .discard = distinct_discard,
        .encode = distinct_encode,
        .decode = distinct_decode,
        .encode_result = distinct_encode_result,
        .decode_result = distinct_decode_result,
};
