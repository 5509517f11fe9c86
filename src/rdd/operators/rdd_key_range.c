/*
 * filter_by_range: pairs whose keys lie between two bounds. If the parent has a range partitioner, partitions without
 * such keys are not computed. They still exist, and are empty, because the bounds that identify them are only known
 * after a job. (Spark's sortByKey has already run that job, so its filterByRange has fewer partitions.)
 */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "rdd/aggregate/op_lookup.h"

#include <firesteel/pair.h>

#include <limits.h>

/* ----------------------------------------------------------------------------------------------------- building */

/* A column of one key. */
static fst_column range_key_column(struct range_key *key, fst_type type)
{
        if (type.key == FST_KIND_BYTES)
                return (fst_column){.bytes = &key->bytes};
        if (type.key == FST_KIND_FIXED)
                return (fst_column){.fixed = (char *)key->bytes.data};
        return (fst_column){.i64 = &key->number};
}

static int range_key_set(struct range_key *to, fst_type pairs, fst_key key, struct fst_error *error)
{
        struct reduce_value value;
        _cleanup_(arena_deinit) struct arena space = ARENA_INIT;
        int r = lookup_key(pairs, key, &space, &value, error);
        if (r)
                return r;
        if (value.size && !value.data)
                return error_set(error, -EINVAL, "filter_by_range was given NULL for a key of %zu bytes",
                                 (size_t)value.size);
        to->number = value.number;
        if (pairs.key == FST_KIND_BYTES || pairs.key == FST_KIND_FIXED) {
                char *copy = mem_alloc(value.size + 1);
                if (value.size)
                        memcpy(copy, value.data, value.size);
                to->bytes = (fst_bytes){copy, value.size};
        }
        to->prefix = key_prefix(pairs, range_key_column(to, pairs), 0);
        return 0;
}

FST_API fst_rdd *fst_filter_by_range_at(fst_rdd *pairs, fst_key low, fst_key high, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct fst_error error = FST_ERROR_INIT;
        char have[64];
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_KEY_RANGE, pairs->type, pairs, site);
        int r = 0;
        rdd_depend_narrowly(rdd, true);
        rdd->key_range.last = INT_MAX;
        if (!rdd->status && !pairs->type.value)
                r = error_set(&error, -EINVAL, "%s needs pairs, but the rows are %s", site.operation,
                              fst_type_name(pairs->type, have));
        if (r == 0 && !rdd->status)
                r = range_key_set(&rdd->key_range.low, pairs->type, low, &error);
        if (r == 0 && !rdd->status)
                r = range_key_set(&rdd->key_range.high, pairs->type, high, &error);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

static void key_range_free(fst_rdd *rdd)
{
        free((void *)rdd->key_range.low.bytes.data);
        free((void *)rdd->key_range.high.bytes.data);
}

/* --------------------------------------------------------------------------------------------------- partitions */

static int range_key_partition(const struct partitioner *p, struct range_key *key)
{
        uint32_t to;
        fst_batch one = {.rows = 1, .type = p->key, .key = range_key_column(key, p->key)};
        partitioner_place(p, &one, &to);
        return (int)to;
}

/* Finds the partitions that can hold such keys: *@first … *@last. */
static void key_range_find_partitions(const fst_rdd *rdd, int *first, int *last)
{
        const struct partitioner *p = rdd->partitioner; /* NULL in other processes */
        struct range_key low = rdd->key_range.low, high = rdd->key_range.high;
        *first = rdd->key_range.first;
        *last = rdd->key_range.last;
        if (!p || p->kind != PARTITIONER_RANGE || !partitioner_ready(p))
                return;
        int a = range_key_partition(p, &low), b = range_key_partition(p, &high);
        *first = MIN(a, b); /* in descending order the greatest keys come first */
        *last = MAX(a, b);
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int key_range_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *message,
                            struct fst_error *error)
{
        Firesteel__KeyRange *m = arena_alloc(&w->arena, sizeof(*m));
        const struct range_key *low = &rdd->key_range.low, *high = &rdd->key_range.high;
        firesteel__key_range__init(m);
        m->low_prefix = low->prefix;
        m->high_prefix = high->prefix;
        m->low = (ProtobufCBinaryData){low->bytes.len, (uint8_t *)low->bytes.data};
        m->high = (ProtobufCBinaryData){high->bytes.len, (uint8_t *)high->bytes.data};
        key_range_find_partitions(rdd, &m->first, &m->last);
        message->key_range = m;
        return 0;
}

static bool range_key_fits(fst_type pairs, const ProtobufCBinaryData *key)
{
        return pairs.key == FST_KIND_BYTES || key->len == (pairs.key == FST_KIND_FIXED ? pairs.key_size : 0);
}

/* Comparing needs a pointer even for an empty key, for which a decoded message has NULL. */
static fst_bytes range_key_bytes(const ProtobufCBinaryData *key)
{
        return key->len ? (fst_bytes){(const char *)key->data, key->len} : fst_bytes_of("");
}

static int key_range_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                            struct fst_error *error)
{
        const Firesteel__KeyRange *m = message->key_range;
        if (!m || !rdd->type.value || !range_key_fits(rdd->type, &m->low) || !range_key_fits(rdd->type, &m->high))
                return rdd_wire_bad(rdd, error, "its key range is missing");
        rdd->key_range.low = (struct range_key){.prefix = m->low_prefix, .bytes = range_key_bytes(&m->low)};
        rdd->key_range.high = (struct range_key){.prefix = m->high_prefix, .bytes = range_key_bytes(&m->high)};
        rdd->key_range.first = m->first;
        rdd->key_range.last = m->last;
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_check_type(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

static int key_range_feed(struct pipeline_node *node, int partition, struct op *to)
{
        int first, last;
        key_range_find_partitions(node->rdd, &first, &last);
        return partition < first || partition > last ? 0 : node_feed_parent(node, 0, partition, to);
}

struct range_op {
        struct op op;
        const fst_rdd *rdd;
};

/* Compares the key of row @row with @key: <0, 0, >0. */
static int range_key_compare(const fst_batch *batch, uint32_t row, const struct range_key *key)
{
        uint64_t prefix = key_prefix(batch->type, batch->key, row);
        if (prefix != key->prefix)
                return prefix < key->prefix ? -1 : 1;
        if (batch->type.key != FST_KIND_BYTES && batch->type.key != FST_KIND_FIXED)
                return 0;
        return fst_bytes_compare(key_view(batch->type, batch->key, row), key->bytes);
}

static int key_range_consume(struct op *op, const struct rows *in)
{
        const fst_rdd *rdd = container_of(op, struct range_op, op)->rdd;
        uint16_t kept[FST_BATCH_ROWS];
        uint32_t n = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < in->batch.rows; i++)
                if (range_key_compare(&in->batch, i, &rdd->key_range.low) >= 0 &&
                    range_key_compare(&in->batch, i, &rdd->key_range.high) <= 0)
                        kept[n++] = (uint16_t)i;
        return n == in->batch.rows ? op_push(op, in) : op_push_some(op, in, kept, n);
}

static void key_range_op_free(struct op *op)
{
        op_deinit(op);
        free(container_of(op, struct range_op, op));
}

static const struct op_class range_op_class = {"filter_by_range", .consume = key_range_consume,
                                               .free = key_range_op_free};

static struct op *key_range_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct range_op *self = new0(struct range_op);
        op_init(&self->op, &range_op_class, run, rdd->type);
        op_alloc_out(&self->op, rdd->type);
        self->rdd = rdd;
        return &self->op;
}

const struct rdd_class rdd_key_range_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .passes_samples = true,
        .free = key_range_free,
        .encode = key_range_encode,
        .decode = key_range_decode,
        .op_new = key_range_op_new,
        .feed = key_range_feed,
};
