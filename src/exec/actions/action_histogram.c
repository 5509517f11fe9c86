/*
 * histogram: counts how many numbers of a partition fall into each bucket. A bucket includes its lower bound and
 * excludes its upper bound; the last bucket includes both. Numbers outside all buckets and NaN are not counted.
 */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

struct histogram_sink {
        struct op op;
        const struct histogram_action *action;
        int64_t *counts;
};

static struct histogram_sink *action_histogram_sink_of(struct op *op)
{
        return container_of(op, struct histogram_sink, op);
}

/*
 * Finds the bucket of @x by division, for buckets of equal width. As in Spark, if all bounds are equal every number is
 * in the first.
 */
static int even_bucket(const struct histogram_action *h, double x)
{
        double low = h->bounds[0], high = h->bounds[h->buckets];
        if (!(x >= low && x <= high))
                return -1;
        double at = (x - low) / (high - low) * h->buckets;
        return at != at ? 0 : at >= h->buckets - 1 ? h->buckets - 1 : (int)at;
}

static int search_bucket(const struct histogram_action *h, double x)
{
        int low = 0, high = h->buckets; /* bounds[low] <= x < bounds[high], once @x is known to be inside */
        if (!(x >= h->bounds[0] && x <= h->bounds[h->buckets]))
                return -1;
        while (high - low > 1) {
                int middle = low + (high - low) / 2;
                if (x >= h->bounds[middle])
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static int histogram_begin(struct op *op)
{
        struct histogram_sink *sink = action_histogram_sink_of(op);
        if (!sink->counts)
                sink->counts = new_array(int64_t, (size_t)sink->action->buckets);
        memset(sink->counts, 0, (size_t)sink->action->buckets * sizeof(*sink->counts));
        return 0;
}

static int histogram_consume(struct op *op, const struct rows *in)
{
        struct histogram_sink *sink = action_histogram_sink_of(op);
        const fst_batch *batch = &in->batch;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < batch->rows; i++) {
                double x = batch->type.key == FST_KIND_F64 ? batch->key.f64[i] : (double)batch->key.i64[i];
                int bucket = sink->action->even ? even_bucket(sink->action, x) : search_bucket(sink->action, x);
                if (bucket >= 0)
                        sink->counts[bucket]++;
        }
        return 0;
}

static void histogram_free(struct op *op)
{
        free(action_histogram_sink_of(op)->counts);
        op_deinit(op);
        free(action_histogram_sink_of(op));
}

static const struct op_class histogram_class = {"histogram", .begin = histogram_begin, .consume = histogram_consume,
                                                .free = histogram_free};

static struct op *histogram_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct histogram_sink *sink = new0(struct histogram_sink);
        op_init(&sink->op, &histogram_class, run, action->type);
        sink->action = container_of(action, struct histogram_action, action);
        return &sink->op;
}

static int histogram_result(struct action *action, struct op *op, struct task_result *result)
{
        result->data = steal(action_histogram_sink_of(op)->counts);
        result->bytes = (size_t)container_of(action, struct histogram_action, action)->buckets * 8;
        return 0;
}

static void histogram_discard(struct action *action, struct task_result *result)
{
        free(result->data);
}

static int histogram_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                            struct fst_error *error)
{
        const struct histogram_action *self = container_of(action, struct histogram_action, action);
        message->limit = self->even;
        message->has_data = true;
        message->data.len = ((size_t)self->buckets + 1) * 8;
        message->data.data = (uint8_t *)arena_copy(&writer->arena, self->bounds, message->data.len);
        return 0;
}

static int histogram_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                            struct action **out, struct fst_error *error)
{
        struct histogram_action *self = wire_array(reader->memory, 1, sizeof(*self));
        size_t n = message->data.len / 8;
        double *bounds = wire_array(reader->memory, n, sizeof(*bounds));
        if (!self || !bounds)
                return rdd_wire_too_big(error);
        if (!action_takes_numbers(type) || message->data.len % 8 || n < 2 || n > MAX_HISTOGRAM + 1)
                return error_set(error, -EBADMSG, "histogram needs numbers and at least two bounds");
        memcpy(bounds, message->data.data, n * 8);
        self->bounds = bounds;
        self->buckets = (int)n - 1;
        self->even = message->limit != 0;
        *out = &self->action;
        return 0;
}

/* Encodes the result: one i64 for each bucket. */
static int histogram_encode_result(const struct action *action, const struct task_result *result, struct buf *out,
                                   struct fst_error *error)
{
        buf_append(out, result->data, (size_t)container_of(action, struct histogram_action, action)->buckets * 8);
        return 0;
}

static int histogram_decode_result(const struct action *action, const unsigned char *data, size_t len,
                                   struct task_result *result, struct fst_error *error)
{
        size_t size = (size_t)container_of(action, struct histogram_action, action)->buckets * 8;
        if (len != size)
                return error_set(error, -EBADMSG, "the counts have %zu bytes instead of %zu", size, len);
        result->data = mem_alloc(size);
        memcpy(result->data, data, size);
        result->bytes = size;
        return 0;
}

const struct action_class histogram_action_class = {
        .name = "histogram",
        .sink_new = histogram_sink_new,
        .result = histogram_result,
        .discard = histogram_discard,
        .encode = histogram_encode,
        .decode = histogram_decode,
        .encode_result = histogram_encode_result,
        .decode_result = histogram_decode_result,
};
