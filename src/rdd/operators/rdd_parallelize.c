/* parallelize: rows of an array on the driver. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/slice.h"

#include "base/buf.h"
#include "base/mem.h"
#include "structs/struct_row.h"

#include <sys/mman.h>

static void parallelize_copy_bytes(fst_rdd *rdd, const fst_bytes *from, size_t count)
{
        size_t total = 0;
        for (size_t i = 0; i < count; i++)
                total += from[i].len;
        char *to = mem_alloc(total + 1);
        fst_bytes *rows = new_array(fst_bytes, count);
        rdd->parallelize.bytes = to;
        rdd->parallelize.n_bytes = total;
        for (size_t i = 0; i < count; i++) {
                if (from[i].len)
                        memcpy(to, from[i].data, from[i].len);
                rows[i] = (fst_bytes){to, from[i].len};
                to += from[i].len;
        }
        rdd->parallelize.data = rows;
}

/* The same for an array of structs with fields. */
static void parallelize_copy_structs(fst_rdd *rdd, const struct struct_type *s, const char *from, size_t count)
{
        size_t total = 0;
        for (size_t i = 0; i < count; i++)
                total += struct_row_size(s, from + i * s->size);
        char *to = mem_alloc(total + 1);
        fst_bytes *rows = new_array(fst_bytes, count);
        rdd->parallelize.bytes = to;
        rdd->parallelize.n_bytes = total;
        for (size_t i = 0; i < count; i++, from += s->size) {
                rows[i] = (fst_bytes){to, struct_row_size(s, from)};
                struct_row_write(s, from, to);
                to += rows[i].len;
        }
        rdd->parallelize.data = rows;
}

/* Reports an invalid array: NULL, or larger than any array can be. */
static void parallelize_fail_array(fst_rdd *rdd, const void *data, size_t count)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = data ? error_set(&error, -EOVERFLOW, "parallelize of %zu rows: no array can be that large", count)
                     : error_set(&error, -EINVAL, "parallelize was given NULL instead of an array of %zu rows", count);
        rdd_fail_with(rdd, r, &error);
        rdd->parallelize.count = 0;
}

FST_API fst_rdd *fst_parallelize_at(fst_context *sc, const void *data, size_t count, fst_type type, int partitions,
                                    fst_site site)
{
        sc = context_given(sc, site);
        fst_rdd *rdd = rdd_new(sc, RDD_PARALLELIZE, type, NULL, site);
        rdd->parallelize.count = count;
        rdd->lineage.partitions = rdd_source_partitions(rdd, partitions);
        const struct struct_type *s = struct_type_of_column(type.key, type.key_size);
        size_t width = type.key == FST_KIND_BYTES ? sizeof(fst_bytes) : type.key_size;
        if (type.value) {
                rdd_fail(rdd, -EINVAL, "parallelize takes an array of one column");
        } else if (count && (!data || count > PTRDIFF_MAX / MAX(width, (size_t)1))) {
                parallelize_fail_array(rdd, data, count);
        } else if (rdd->status) {
                rdd->parallelize.count = 0;
        } else if (s) {
                parallelize_copy_structs(rdd, s, data, count);
        } else if (type.key == FST_KIND_BYTES) {
                parallelize_copy_bytes(rdd, data, count);
        } else {
                rdd->parallelize.data = new_array(char, count *type.key_size + 1);
                if (count)
                        memcpy(rdd->parallelize.data, data, count * type.key_size);
        }
        return rdd;
}

/* Both columns are cut alike, so a partition has the keys and values of the same rows. */
FST_API fst_rdd *fst_parallelize_pairs_at(fst_context *sc, const void *keys, const void *values, size_t count,
                                          fst_type key, fst_type value, int partitions, fst_site site)
{
        sc = context_given(sc, site);
        fst_rdd *left = fst_parallelize_at(sc, keys, count, key, partitions, site);
        return fst_zip_at(left, fst_parallelize_at(sc, values, count, value, partitions, site), site);
}

static void parallelize_free(fst_rdd *rdd)
{
        free(rdd->parallelize.data);
        if (rdd->parallelize.mapped)
                munmap(rdd->parallelize.bytes, rdd->parallelize.n_bytes);
        else
                free(rdd->parallelize.bytes);
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int parallelize_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        Firesteel__Slices *slices = arena_alloc(&w->arena, sizeof(*slices));
        _cleanup_(buf_deinit) struct buf data = BUF_INIT;
        /* A decoded RDD may not have its rows: the tasks fetch them. */
        size_t size = rdd->parallelize.data ? slice_size(rdd) : SIZE_MAX;
        firesteel__slices__init(slices);
        slices->rows = rdd->parallelize.count;
        if (rdd->parallelize.count && size <= w->inline_left) {
                int r = slice_encode(rdd, -1, &data, error);
                if (r)
                        return r;
                w->inline_left -= size;
                slices->data.data = (uint8_t *)arena_copy(&w->arena, data.data, data.len);
                slices->data.len = data.len;
        }
        m->slices = slices;
        return 0;
}

/* Decodes rows that came with the stage. */
static int parallelize_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                              struct fst_error *error)
{
        const Firesteel__Slices *m = message->slices;
        struct slice slice;
        if (!m || rdd->type.value)
                return rdd_wire_bad(rdd, error, "it is not a parallelize of one column");
        rdd->parallelize.count = m->rows;
        if (!m->rows || !m->data.len)
                return 0;
        int r = slice_open(&slice, rdd->type, m->rows, m->data.data, m->data.len, error);
        if (r)
                return error_wrap(error, r, "RDD %d (%s)", rdd->lineage.id, rdd->call_site);
        if (rdd->type.key != FST_KIND_BYTES) {
                rdd->parallelize.data = (void *)slice.column;
                return 0;
        }
        fst_bytes *rows = wire_array(reader->memory, m->rows, sizeof(*rows));
        fst_column column = {.bytes = rows};
        if (!rows)
                return rdd_wire_too_big(error);
        for (uint64_t at = 0; at < m->rows;)
                at += slice_next(&slice, FST_BATCH_ROWS, rows + at, &column);
        rdd->parallelize.data = rows;
        rdd->parallelize.bytes = (char *)slice.heap;
        rdd->parallelize.n_bytes = slice.heap_size;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

static int parallelize_push_slice(struct slice *slice, struct op *to)
{
        fst_bytes views[FST_BATCH_ROWS];
        struct rows rows = {.batch = {.type = slice->type}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)slice->heap, slice->heap_size};
        int r = 0;
        while (r == 0 && (rows.batch.rows = slice_next(slice, FST_BATCH_ROWS, views, &rows.batch.key)) > 0)
                r = node_push(to, &rows);
        return r;
}

/* Fetches the rows from the driver and pushes them. */
static int parallelize_feed_fetched(const struct pipeline_env *env, const fst_rdd *rdd, int partition, uint64_t n,
                                    struct op *to)
{
        struct task_run *run = env->run;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf data = BUF_INIT;
        struct slice slice;
        if (!env->slices)
                return task_run_fail(run, -ENOENT, "the rows of %s are on the driver, which this task cannot reach",
                                     rdd->call_site);
        int r = env->slices->fetch(env->slice_owner, run, rdd->lineage.id, partition, &data);
        if (r)
                return r;
        r = slice_open(&slice, rdd->type, n, data.data, data.len, &error);
        return r ? task_run_fail_with(run, r, &error) : parallelize_push_slice(&slice, to);
}

static int parallelize_feed(struct pipeline_node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        uint64_t at = slice_start(rdd->parallelize.count, partition, rdd->lineage.partitions);
        uint64_t end = slice_start(rdd->parallelize.count, partition + 1, rdd->lineage.partitions);
        if (!rdd->parallelize.data)
                return end > at ? parallelize_feed_fetched(node_env(node), rdd, partition, end - at, to) : 0;
        struct rows rows = {.batch = {.type = rdd->type}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)rdd->parallelize.bytes, rdd->parallelize.n_bytes};
        size_t width = rdd->type.key == FST_KIND_BYTES ? sizeof(fst_bytes) : rdd->type.key_size;
        int r = 0;
        while (at < end && r == 0) {
                rows.batch.rows = (uint32_t)MIN(end - at, (uint64_t)FST_BATCH_ROWS);
                rows.batch.key.fixed = (char *)rdd->parallelize.data + at * width;
                at += rows.batch.rows;
                r = node_push(to, &rows);
        }
        return r;
}

const struct rdd_class rdd_parallelize_class = {
        .spark = "ParallelCollectionRDD",
        .free = parallelize_free,
        .encode = parallelize_encode,
        .decode = parallelize_decode,
        .feed = parallelize_feed,
};
