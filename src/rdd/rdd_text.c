/* Lines of text files: text_file. */
#include "rdd/rdd_make.h"
#include "rdd/rdd_registry.h"
#include "rdd/splits_wire.h"

#include "base/mem.h"
#include "io/text_plan.h"
#include "io/text_reader.h"

#include <limits.h>

FST_API fst_rdd *fst_text_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(sc, RDD_TEXT_FILE, FST_BYTES, NULL, site);
        rdd->text.paths = mem_strdup(path ? path : "");
        rdd->text.min_partitions = min_partitions > 0 ? min_partitions : MIN(fst_context_default_parallelism(sc), 2);
        if (!path || !*path)
                rdd_fail(rdd, -EINVAL, "text_file needs a path: Can not create a Path from an empty string");
        return rdd;
}

static void text_free(fst_rdd *rdd)
{
        free(rdd->text.paths);
        input_splits_deinit(&rdd->text.splits);
}

static int text_partitions(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        struct input_options options = INPUT_OPTIONS_INIT;
        int r = input_options_read(rdd_registry_conf(rdd->sc), &options, &error);
        if (r == 0)
                r = text_plan(rdd->text.paths, rdd->text.min_partitions, &options, &rdd->text.splits, &error);
        if (r) {
                rdd_fail_with(rdd, r, &error);
                return rdd->status;
        }
        rdd->lineage.partitions = (int)MIN(rdd->text.splits.len, (size_t)INT_MAX);
        rdd->has_hosts = rdd->text.splits.near_hosts;
        return 0;
}

const char *rdd_split_hosts(const fst_rdd *rdd, int partition)
{
        return rdd->text.splits.data[partition].hosts;
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int text_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->text = splits_encode(w, &rdd->text.splits);
        return 0;
}

static int text_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                       struct fst_error *error)
{
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value)
                return rdd_wire_bad(rdd, error, "lines of text are BYTES");
        return splits_decode(reader, message->text, (size_t)rdd->lineage.partitions, rdd, &rdd->text.splits, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct text_state {
        struct text_reader *reader;
        fst_bytes lines[FST_BATCH_ROWS];
};

static void *text_state_new(const struct node *node)
{
        struct text_state *state = new0(struct text_state);
        state->reader = text_reader_new(0);
        return state;
}

static void text_state_free(void *data)
{
        struct text_state *state = data;
        text_reader_free(state->reader);
        free(state);
}

static int text_feed(struct node *node, int partition, struct op *to)
{
        const struct pipeline_env *env = node_env(node);
        const struct input_split *split = &node->rdd->text.splits.data[partition];
        struct text_state *state = node->state;
        struct task_run *run = env->run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {.batch = {.type = node->rdd->type, .key.bytes = state->lines}};
        int r = text_reader_open(state->reader, split, &error);
        if (r == 0 && env->sample_budget)
                text_reader_sample(state->reader, env->sample_budget);
        while (r == 0) {
                const char *start = NULL;
                r = text_reader_next(state->reader, state->lines, FST_BATCH_ROWS, &rows.batch.rows, &start,
                                     &rows.stable[0].size, &error);
                if (r || rows.batch.rows == 0)
                        break;
                rows.stable[0].start = (uintptr_t)start;
                run->counters.input_records += rows.batch.rows;
                r = node_push(to, &rows);
        }
        uint64_t bytes = text_reader_bytes(state->reader);
        run->counters.input_bytes += (int64_t)bytes;
        if (env->sample_budget && bytes)
                run->sample_scale = MAX(1.0, (double)split->length / (double)bytes);
        text_reader_close(state->reader);
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

const struct rdd_class rdd_text_file_class = {
        .spark = "MapPartitionsRDD",
        .free = text_free,
        .plan = text_partitions,
        .hosts = rdd_split_hosts,
        .encode = text_encode,
        .decode = text_decode,
        .state_new = text_state_new,
        .state_free = text_state_free,
        .feed = text_feed,
};
