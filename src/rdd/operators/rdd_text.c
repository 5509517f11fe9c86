/* text_file: lines of text files. */
#include "rdd/operators/rdd_files.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "io/split_packing.h"
#include "io/text_plan.h"
#include "io/text_reader.h"
#include "rdd/rdd_registry.h"

FST_API fst_rdd *fst_text_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site)
{
        return rdd_files_new(sc, RDD_TEXT_FILE, FST_BYTES, path, min_partitions, site);
}

static int text_find_splits(fst_rdd *rdd, const struct input_options *options, struct fst_error *error)
{
        const fst_conf *conf = rdd_registry_conf(rdd->sc);
        bool combine = false;
        struct split_packing packing = {
                .cores = (uint64_t)MAX(fst_context_default_parallelism(rdd->sc), rdd->text.min_partitions)};
        int r = text_plan(rdd->text.paths, rdd->text.min_partitions, options, &rdd->text.splits, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.firesteel.files.combine", &combine, error);
        if (r < 0 || !combine)
                return r;
        if ((r = split_packing_read(conf, &packing, error)) == 0)
                split_packing_apply(&packing, &rdd->text.splits);
        return r;
}

static int text_partitions(fst_rdd *rdd)
{
        return rdd_files_plan(rdd, text_find_splits);
}

static int text_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                       struct fst_error *error)
{
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value)
                return rdd_wire_bad(rdd, error, "lines of text are BYTES");
        size_t n = (size_t)rdd->lineage.partitions;
        if (!message->text || message->text->n_files == 0)
                return rdd_files_decode(reader, message, rdd, error);
        uint32_t *firsts;
        int r = splits_decode_firsts(reader, message->text, n, rdd, &firsts, error);
        if (r == 0)
                r = splits_decode(reader, message->text, firsts[n], rdd, &rdd->text.splits, error);
        if (r == 0) {
                rdd->text.splits.firsts = firsts;
                rdd->text.splits.partitions = n;
        }
        return r;
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct text_state {
        struct text_reader *reader;
        fst_bytes lines[FST_BATCH_ROWS];
};

static void *text_state_new(const struct pipeline_node *node)
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

/* Pushes the lines of @split, or a sample of them of about @budget bytes if it is not 0. Adds the bytes read to
 * *@bytes. */
static int text_feed_split(struct pipeline_node *node, const struct input_split *split, size_t budget, struct op *to,
                           uint64_t *bytes)
{
        const struct pipeline_env *env = node_env(node);
        struct text_state *state = node->state;
        struct task_run *run = env->run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {.batch = {.type = node->rdd->type, .key.bytes = state->lines}, .lines = true};
        int r = text_reader_open(state->reader, split, &error);
        if (r == 0 && budget)
                text_reader_sample(state->reader, budget);
        bool unreadable = r < 0;
        while (r == 0) {
                const char *start = NULL;
                r = text_reader_next(state->reader, state->lines, FST_BATCH_ROWS, &rows.batch.rows, &start,
                                     &rows.stable[0].size, &error);
                unreadable = r < 0;
                if (r || rows.batch.rows == 0)
                        break;
                rows.stable[0].start = (uintptr_t)start;
                task_run_count_read(run, &run->counters.input_records, rows.batch.rows);
                r = node_push(to, &rows);
        }
        *bytes += text_reader_bytes(state->reader);
        run->counters.input_bytes += (int64_t)text_reader_bytes(state->reader);
        text_reader_close(state->reader);
        if (unreadable && rdd_files_skip(node, split, r, &error))
                r = 0;
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

static int text_feed(struct pipeline_node *node, int partition, struct op *to)
{
        const struct pipeline_env *env = node_env(node);
        const struct input_splits *splits = &node->rdd->text.splits;
        size_t first = input_splits_first(splits, (size_t)partition);
        size_t end = input_splits_first(splits, (size_t)partition + 1);
        uint64_t length = 0, bytes = 0;
        int r = 0;
        for (size_t i = first; i < end; i++)
                length += splits->data[i].length;
        for (size_t i = first; r == 0 && i < end; i++) {
                const struct input_split *split = &splits->data[i];
                double share = length ? (double)split->length / (double)length : 1;
                size_t budget = env->sample_budget ? MAX((size_t)((double)env->sample_budget * share), (size_t)1) : 0;
                r = i > first && task_run_stopped(env->run) ? task_run_cancelled(env->run)
                                                            : text_feed_split(node, split, budget, to, &bytes);
        }
        if (env->sample_budget && bytes)
                env->run->sample_scale = MAX(1.0, (double)length / (double)bytes);
        return r;
}

const struct rdd_class rdd_text_file_class = {
        .spark = "MapPartitionsRDD",
        .free = rdd_files_free,
        .plan = text_partitions,
        .hosts = rdd_files_hosts,
        .encode = rdd_files_encode,
        .decode = text_decode,
        .state_new = text_state_new,
        .state_free = text_state_free,
        .feed = text_feed,
};
