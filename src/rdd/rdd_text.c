/* Lines of text files: text_file. */
#include "rdd/rdd_make.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
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
        struct text_plan_options options = TEXT_PLAN_OPTIONS_INIT;
        int r = text_plan_options_read(rdd_registry_conf(rdd->sc), &options, &error);
        if (r == 0)
                r = text_plan(rdd->text.paths, rdd->text.min_partitions, &options, &rdd->text.splits, &error);
        if (r) {
                rdd_fail_with(rdd, r, &error);
                return rdd->status;
        }
        rdd->lineage.partitions = (int)MIN(rdd->text.splits.len, (size_t)INT_MAX);
        return 0;
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int text_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        const struct input_splits *splits = &rdd->text.splits;
        Firesteel__TextSplits *text = arena_alloc(&w->arena, sizeof(*text));
        size_t n = splits->len;
        bool packed = false;
        firesteel__text_splits__init(text);
        text->paths = arena_alloc(&w->arena, n * sizeof(*text->paths));
        text->path = arena_alloc(&w->arena, n * sizeof(*text->path));
        text->start = arena_alloc(&w->arena, n * sizeof(*text->start));
        text->length = arena_alloc(&w->arena, n * sizeof(*text->length));
        text->codec = arena_alloc(&w->arena, n * sizeof(*text->codec));
        for (size_t i = 0; i < n; i++) {
                const struct input_split *split = &splits->data[i], *before = i ? split - 1 : NULL;
                bool same = before && (before->path == split->path || strcmp(before->path, split->path) == 0);
                if (!same)
                        text->paths[text->n_paths++] = rdd_wire_text(split->path);
                text->path[i] = i && !same;
                text->start[i] = (int64_t)(split->start - (same ? before->start + before->length : 0));
                text->length[i] = (int64_t)(split->length - (before ? before->length : 0));
                text->codec[i] = split->codec;
                packed |= split->codec != 0;
        }
        text->n_path = text->n_start = text->n_length = n;
        text->n_codec = packed ? n : 0;
        m->text = text;
        return 0;
}

static int text_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                       struct fst_error *error)
{
        const Firesteel__TextSplits *m = message->text;
        size_t n = (size_t)rdd->lineage.partitions, path = 0;
        if (!m || m->n_path != n || m->n_start != n || m->n_length != n || (m->n_codec && m->n_codec != n))
                return rdd_wire_bad(rdd, error, "it has not one split for each partition");
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value)
                return rdd_wire_bad(rdd, error, "lines of text are BYTES");
        struct input_split *splits = wire_array(reader->memory, n, sizeof(*splits));
        if (!splits)
                return rdd_wire_too_big(error);
        uint64_t total = 0;
        for (size_t i = 0; i < n; i++) {
                const struct input_split *before = i ? &splits[i - 1] : NULL;
                path += m->path[i];
                if (path >= m->n_paths || (m->n_codec && m->codec[i] >= CODEC_KINDS))
                        return rdd_wire_bad(rdd, error, "a split is of no file, or of no codec");
                bool same = before && m->path[i] == 0;
                splits[i].path = m->paths[path];
                splits[i].start = (uint64_t)m->start[i] + (same ? before->start + before->length : 0);
                splits[i].length = (uint64_t)m->length[i] + (before ? before->length : 0);
                splits[i].codec = m->n_codec ? (enum codec_kind)m->codec[i] : CODEC_NONE;
                if (splits[i].start > INT64_MAX || splits[i].length > INT64_MAX - splits[i].start)
                        return rdd_wire_bad(rdd, error, "a split lies outside of any file");
                total += splits[i].length;
        }
        rdd->text.splits = (struct input_splits){.data = splits, .len = n, .cap = n, .bytes = total};
        return 0;
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
        .encode = text_encode,
        .decode = text_decode,
        .state_new = text_state_new,
        .state_free = text_state_free,
        .feed = text_feed,
};
