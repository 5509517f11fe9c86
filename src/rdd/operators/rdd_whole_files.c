/* whole_text_files and binary_files: files as rows (path, content). */
#include "rdd/operators/rdd_files.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/splits_wire.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/whole_files.h"

#include <limits.h>

static fst_rdd *whole_files_rdd_new(fst_context *sc, const char *path, int min_partitions, bool unpack, fst_site site)
{
        sc = context_given(sc, site);
        fst_rdd *rdd = rdd_new(sc, RDD_WHOLE_FILES, FST_PAIR(BYTES, BYTES), NULL, site);
        rdd->whole.paths = mem_strdup(path ? path : "");
        rdd->whole.min_partitions = min_partitions > 0 ? min_partitions : MIN(fst_context_default_parallelism(sc), 2);
        rdd->whole.unpack = unpack;
        if (!path || !*path)
                rdd_fail(rdd, -EINVAL, "a path is needed: Can not create a Path from an empty string");
        return rdd;
}

FST_API fst_rdd *fst_whole_text_files_at(fst_context *sc, const char *path, int min_partitions, fst_site site)
{
        return whole_files_rdd_new(sc, path, min_partitions, true, site);
}

FST_API fst_rdd *fst_binary_files_at(fst_context *sc, const char *path, int min_partitions, fst_site site)
{
        return whole_files_rdd_new(sc, path, min_partitions, false, site);
}

static void whole_free(fst_rdd *rdd)
{
        free(rdd->whole.paths);
        free(rdd->whole.firsts);
        input_splits_deinit(&rdd->whole.splits);
}

static int whole_partitions(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        struct whole_files_options options = {.input = INPUT_OPTIONS_INIT,
                                              .unpack = rdd->whole.unpack,
                                              .min_partitions = rdd->whole.min_partitions,
                                              .packing.cores = (uint64_t)MAX(fst_context_default_parallelism(rdd->sc), 1)};
        size_t n = 0;
        int r = whole_files_options_read(rdd_registry_conf(rdd->sc), &options, &error);
        if (r == 0)
                r = whole_files_plan(rdd->whole.paths, &options, &rdd->whole.splits, &rdd->whole.firsts, &n, &error);
        if (r) {
                rdd_fail_with(rdd, r, &error);
                return rdd->status;
        }
        rdd->lineage.partitions = (int)MIN(n, (size_t)INT_MAX);
        rdd->has_hosts = rdd->whole.splits.near_hosts;
        return 0;
}

/* The hosts of the first file. Spark takes hosts that have all files of the partition, which rarely exist. */
static const char *whole_hosts(const fst_rdd *rdd, int partition)
{
        return rdd->whole.splits.data[rdd->whole.firsts[partition]].hosts;
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int whole_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        size_t n = (size_t)rdd->lineage.partitions;
        m->text = splits_encode(w, &rdd->whole.splits);
        splits_encode_firsts(w, m->text, rdd->whole.firsts, n);
        return 0;
}

static int whole_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        size_t n = (size_t)rdd->lineage.partitions;
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value != FST_KIND_BYTES)
                return rdd_wire_bad(rdd, error, "whole files are pairs of BYTES");
        int r = splits_decode_firsts(reader, m->text, n, rdd, &rdd->whole.firsts, error);
        return r < 0 ? r : splits_decode(reader, m->text, rdd->whole.firsts[n], rdd, &rdd->whole.splits, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct whole_state {
        struct decoder *decoder;
        struct buf content;
};

static void *whole_state_new(const struct pipeline_node *node)
{
        struct whole_state *state = new0(struct whole_state);
        state->decoder = decoder_new();
        return state;
}

static void whole_state_free(void *data)
{
        struct whole_state *state = data;
        decoder_free(state->decoder);
        buf_deinit(&state->content);
        free(state);
}

static int whole_push_file(struct pipeline_node *node, const struct input_split *file, struct op *to)
{
        struct whole_state *state = node->state;
        struct task_run *run = node_env(node)->run;
        struct fst_error error = FST_ERROR_INIT;
        uint64_t bytes = 0;
        buf_reset(&state->content);
        int r = whole_file_read(file, state->decoder, &state->content, &bytes, &error);
        run->counters.input_bytes += (int64_t)bytes;
        if (rdd_files_skip(node, file, r, &error))
                return 0;
        if (r)
                return task_run_fail_with(run, r, &error);
        fst_bytes path = {file->path, strlen(file->path)};
        fst_bytes content = {buf_text(&state->content), state->content.len};
        struct rows rows = {.batch = {.type = node->rdd->type, .rows = 1, .key.bytes = &path, .value.bytes = &content}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)content.data, content.len};
        rows.stable[1] = (struct fst_stable){(uintptr_t)path.data, path.len};
        task_run_count_read(run, &run->counters.input_records, 1);
        return node_push(to, &rows);
}

static int whole_feed(struct pipeline_node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        struct whole_state *state = node->state;
        int r = 0;
        for (uint32_t i = rdd->whole.firsts[partition]; r == 0 && i < rdd->whole.firsts[partition + 1]; i++)
                r = task_run_stopped(node_env(node)->run) ? task_run_cancelled(node_env(node)->run)
                                                          : whole_push_file(node, &rdd->whole.splits.data[i], to);
        buf_deinit(&state->content); /* does not keep such a large buffer */
        return r;
}

const struct rdd_class rdd_whole_files_class = {
        .spark = "MapPartitionsRDD",
        .free = whole_free,
        .plan = whole_partitions,
        .hosts = whole_hosts,
        .encode = whole_encode,
        .decode = whole_decode,
        .state_new = whole_state_new,
        .state_free = whole_state_free,
        .feed = whole_feed,
};
