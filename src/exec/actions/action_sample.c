/*
 * sample: some keys of each partition, drawn uniformly, and how many rows each of them represents. The driver computes
 * the bounds of range partitioners from them (driver/actions/range_bounds.c).
 */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

#include <math.h>

/* Limit of keys for one task: Spark samples at most three million in all. */
#define MAX_KEYS 4000000
#define MOST_SKIPPED 1e18 /* rows */

struct sample_sink {
        struct op op;
        size_t room;
        uint64_t seen; /* rows */
        uint64_t next; /* once `room` rows are drawn: the next row that replaces one */
        double least;  /* the largest of the random numbers of the drawn rows */
        struct sampled_keys *drawn;
        fst_task chance; /* used for its random numbers only: the same in every run, so that bounds are, as in Spark */
};

void sampled_keys_free(struct sampled_keys *d)
{
        if (!d)
                return;
        arena_deinit(&d->arena);
        free(d->keys);
        free(d);
}

static int sample_begin(struct op *op)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        sampled_keys_free(sink->drawn);
        sink->drawn = new0(struct sampled_keys);
        sink->drawn->keys = new_array(struct sample_key, sink->room);
        sink->seen = 0;
        sink->next = sink->room ? 0 : UINT64_MAX; /* without room no row is drawn */
        sink->least = 1;
        sink->chance.random_state = (uint64_t)op->run->task.info.partition;
        return 0;
}

static int sample_keep(struct sample_sink *sink, const fst_batch *batch, uint32_t row, size_t at)
{
        fst_bytes view = key_view(batch->type, batch->key, row);
        struct sample_key *key = &sink->drawn->keys[at];
        key->prefix = key_prefix(batch->type, batch->key, row);
        key->bytes = (fst_bytes){0};
        if (!view.data)
                return 0;
        char *copy = arena_try_copy(&sink->drawn->arena, view.data, view.len);
        if (!copy)
                return task_run_fail(sink->op.run, -ENOMEM,
                                     "no memory to sample a key of %zu bytes for the order of a sort: sort by shorter "
                                     "keys, raise spark.executor.memoryOverhead (with a local master the limit of the "
                                     "control group), or run fewer tasks at a time",
                                     view.len);
        key->bytes = (fst_bytes){copy, view.len};
        return 0;
}

/* Draws how many rows are passed over before the next one that replaces a drawn one. */
static void sample_skip(struct sample_sink *sink)
{
        sink->least *= exp(log(1 - fst_random_f64(&sink->chance)) / (double)sink->room);
        double skipped = floor(log(1 - fst_random_f64(&sink->chance)) / log1p(-sink->least));
        sink->next += 1 + (uint64_t)(skipped < MOST_SKIPPED ? skipped : MOST_SKIPPED);
}

/*
 * Reservoir sampling, Li's algorithm L: each row has a random number, and the rows with the `room` smallest are drawn.
 * Only the numbers of rows that are drawn matter, so the distance to the next such row is drawn instead.
 */
static int sample_consume(struct op *op, const struct rows *in)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = 0;
        uint64_t begin = sink->seen, end = begin + in->batch.rows;
        for (uint64_t at = begin; at < end && sink->drawn->n < sink->room && r == 0; at++) {
                r = sample_keep(sink, &in->batch, (uint32_t)(at - begin), sink->drawn->n++);
                sink->next = at;
                if (sink->drawn->n == sink->room)
                        sample_skip(sink);
        }
        while (sink->drawn->n == sink->room && sink->next < end && r == 0) {
                r = sample_keep(sink, &in->batch, (uint32_t)(sink->next - begin),
                                fst_random_u64(&sink->chance) % sink->room);
                sample_skip(sink);
        }
        sink->seen = end;
        return r;
}

static void sample_free(struct op *op)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        sampled_keys_free(sink->drawn);
        op_deinit(op);
        free(sink);
}

static const struct op_class sample_class = {"sample", .begin = sample_begin, .consume = sample_consume,
                                             .free = sample_free};

static struct op *sample_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct sample_action *self = container_of(action, struct sample_action, action);
        struct sample_sink *sink = new0(struct sample_sink);
        op_init(&sink->op, &sample_class, run, action->type);
        sink->room = self->per_partition;
        return &sink->op;
}

static int sample_result(struct action *action, struct op *op, struct task_result *result)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        struct sampled_keys *d = sink->drawn;
        double rows = (double)sink->seen * op->run->sample_scale;
        for (size_t i = 0; i < d->n; i++)
                d->keys[i].weight = rows / (double)d->n;
        result->data = steal(sink->drawn);
        result->bytes = d->n * sizeof(*d->keys) + d->arena.bytes;
        return 0;
}

static void sample_discard(struct action *action, struct task_result *result)
{
        sampled_keys_free(result->data);
}

static int sample_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                         struct fst_error *error)
{
        message->limit = container_of(action, struct sample_action, action)->per_partition;
        return 0;
}

static int sample_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                         struct action **out, struct fst_error *error)
{
        struct sample_action *self = wire_array(reader->memory, 1, sizeof(*self));
        if (!self)
                return rdd_wire_too_big(error);
        if (message->limit > MAX_KEYS)
                return error_set(error, -EBADMSG, "sample has an invalid number of keys");
        self->per_partition = message->limit;
        *out = &self->action;
        return 0;
}

static bool has_views(fst_type type)
{
        return type.key == FST_KIND_BYTES || type.key == FST_KIND_FIXED;
}

/*
 * Encodes the result: empty without keys; else the rows that each key represents, f64, and the keys: numbers as their
 * prefixes (rdd/partitioner.h), u64; others as length u32 and bytes.
 */
static int sample_encode_result(const struct action *action, const struct task_result *result, struct buf *out,
                                struct fst_error *error)
{
        const struct sampled_keys *d = result->data;
        size_t total = 8;
        for (size_t i = 0; i < d->n; i++)
                total += 8 + d->keys[i].bytes.len;
        if (!buf_try_reserve(out, total))
                return error_set(error, -ENOMEM, "no memory for %zu bytes of sampled keys: sort by shorter keys",
                                 total);
        if (d->n)
                buf_append(out, &d->keys[0].weight, 8);
        for (size_t i = 0; i < d->n; i++) {
                const struct sample_key *key = &d->keys[i];
                uint32_t length = (uint32_t)key->bytes.len;
                if (key->bytes.len > UINT32_MAX)
                        return error_set(error, -E2BIG, "a key of %zu bytes is too large to sort by", key->bytes.len);
                if (!has_views(action->type)) {
                        buf_append(out, &key->prefix, 8);
                        continue;
                }
                buf_append(out, &length, 4);
                buf_append(out, key->bytes.data, length);
        }
        return 0;
}

/*
 * Reads keys of BYTES or FIXED from @data, which belongs to the arena. Returns their number, or -1 if @data is damaged.
 * @keys may be NULL.
 */
static ssize_t read_keys(fst_type type, const unsigned char *data, size_t len, struct sample_key *keys)
{
        ssize_t n = 0;
        for (; len > 0; n++) {
                uint32_t length;
                if (len < 4)
                        return -1;
                memcpy(&length, data, 4);
                if (length > len - 4 || (type.key == FST_KIND_FIXED && length != type.key_size))
                        return -1;
                if (keys) {
                        keys[n].bytes = (fst_bytes){(const char *)data + 4, length};
                        keys[n].prefix = key_prefix(FST_BYTES, (fst_column){.bytes = &keys[n].bytes}, 0);
                }
                data += 4 + length;
                len -= 4 + length;
        }
        return n;
}

static int sample_decode_result(const struct action *action, const unsigned char *data, size_t len,
                                struct task_result *result, struct fst_error *error)
{
        size_t most = container_of(action, struct sample_action, action)->per_partition;
        bool views = has_views(action->type);
        double weight = 0;
        ssize_t n = 0;
        if (len > 0) {
                if (len < 8)
                        return error_set(error, -EBADMSG, "the sample is truncated");
                memcpy(&weight, data, 8);
                data += 8;
                len -= 8;
                n = views ? read_keys(action->type, data, len, NULL) : len % 8 ? -1 : (ssize_t)(len / 8);
        }
        if (n < 0 || (size_t)n > most || !isfinite(weight) || weight < 0)
                return error_set(error, -EBADMSG, "the sampled keys are damaged, or too many");
        struct sampled_keys *d = new0(struct sampled_keys);
        d->keys = new_array(struct sample_key, (size_t)n);
        d->n = (size_t)n;
        if (views)
                read_keys(action->type, (unsigned char *)arena_copy(&d->arena, data, len), len, d->keys);
        for (size_t i = 0; i < d->n; i++) {
                d->keys[i].weight = weight;
                if (!views)
                        memcpy(&d->keys[i].prefix, data + i * 8, 8);
        }
        result->data = d;
        result->bytes = d->n * sizeof(*d->keys) + d->arena.bytes;
        return 0;
}

const struct action_class sample_action_class = {
        .name = "sample",
        .sink_new = sample_sink_new,
        .result = sample_result,
        .discard = sample_discard,
        .encode = sample_encode,
        .decode = sample_decode,
        .encode_result = sample_encode_result,
        .decode_result = sample_decode_result,
};
