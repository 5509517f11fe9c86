/* range: consecutive numbers. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/slice.h"

#include "base/mem.h"

FST_API fst_rdd *fst_range_at(fst_context *sc, int64_t start, int64_t end, int partitions, fst_site site)
{
        sc = context_given(sc, site);
        fst_rdd *rdd = rdd_new(sc, RDD_RANGE, FST_I64, NULL, site);
        rdd->range.start = start;
        rdd->range.end = MAX(start, end);
        rdd->lineage.partitions = rdd_source_partitions(rdd, partitions);
        return rdd;
}

static int range_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        Firesteel__Range *range = arena_alloc(&w->arena, sizeof(*range));
        firesteel__range__init(range);
        range->start = rdd->range.start;
        range->end = rdd->range.end;
        m->range = range;
        return 0;
}

static int range_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                        struct fst_error *error)
{
        const Firesteel__Range *m = message->range;
        if (!m || m->end < m->start || rdd->type.key != FST_KIND_I64 || rdd->type.value)
                return rdd_wire_bad(rdd, error, "its range is missing");
        rdd->range.start = m->start;
        rdd->range.end = m->end;
        return 0;
}

static void *range_state_new(const struct pipeline_node *node)
{
        return new_array(int64_t, FST_BATCH_ROWS);
}

static int range_feed(struct pipeline_node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        int64_t *numbers = node->state;
        uint64_t count = (uint64_t)rdd->range.end - (uint64_t)rdd->range.start;
        uint64_t at = slice_start(count, partition, rdd->lineage.partitions);
        uint64_t end = slice_start(count, partition + 1, rdd->lineage.partitions);
        struct rows rows = {.batch = {.type = rdd->type, .key.i64 = numbers}};
        int r = 0;
        while (at < end && r == 0) {
                uint32_t n = (uint32_t)MIN(end - at, (uint64_t)FST_BATCH_ROWS);
                int64_t first = (int64_t)((uint64_t)rdd->range.start + at);
                for (uint32_t i = 0; i < n; i++)
                        numbers[i] = first + i;
                rows.batch.rows = n;
                at += n;
                r = node_push(to, &rows);
        }
        return r;
}

const struct rdd_class rdd_range_class = {
        .spark = "ParallelCollectionRDD",
        .encode = range_encode,
        .decode = range_decode,
        .state_new = range_state_new,
        .state_free = free,
        .feed = range_feed,
};
