/* count: the sink adds up the rows of its batches. */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"

struct count_sink {
        struct op op;
        int64_t rows;
};

static int count_begin(struct op *op)
{
        container_of(op, struct count_sink, op)->rows = 0;
        return 0;
}

static int count_consume(struct op *op, const struct rows *in)
{
        container_of(op, struct count_sink, op)->rows += in->batch.rows;
        return task_run_stopped(op->run) ? task_run_cancelled(op->run) : 0;
}

static void count_free(struct op *op)
{
        op_deinit(op);
        free(container_of(op, struct count_sink, op));
}

static const struct op_class count_class = {"count", .begin = count_begin, .consume = count_consume,
                                            .free = count_free};

static struct op *count_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct count_sink *sink = new0(struct count_sink);
        op_init(&sink->op, &count_class, run, (fst_type){0});
        return &sink->op;
}

static int count_result(struct action *action, struct op *sink, struct task_result *result)
{
        result->number = container_of(sink, struct count_sink, op)->rows;
        result->bytes = 8;
        return 0;
}

/* Encodes the result: the number, i64. */
static int count_encode_result(const struct action *action, const struct task_result *result, struct buf *out,
                               struct fst_error *error)
{
        buf_append(out, &result->number, 8);
        return 0;
}

static int count_decode_result(const struct action *action, const unsigned char *data, size_t len,
                               struct task_result *result, struct fst_error *error)
{
        if (len != 8)
                return error_set(error, -EBADMSG, "a number has 8 bytes, not %zu", len);
        memcpy(&result->number, data, 8);
        result->bytes = 8;
        return 0;
}

const struct action_class count_action_class = {
        .name = "count",
        .sink_new = count_sink_new,
        .result = count_result,
        .encode_result = count_encode_result,
        .decode_result = count_decode_result,
};
