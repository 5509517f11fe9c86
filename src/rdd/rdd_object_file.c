/* Rows as fst_save_as_object_file has written them: object_file. */
#include "rdd/object_file.h"

#include "rdd/rdd_make.h"
#include "rdd/rdd_registry.h"
#include "rdd/splits_wire.h"

#include "base/mem.h"
#include "io/text_plan.h"

#include <limits.h>

FST_API fst_rdd *fst_object_file_at(fst_context *sc, const char *path, fst_type type, int min_partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(sc, RDD_OBJECT_FILE, type, NULL, site);
        rdd->text.paths = mem_strdup(path ? path : "");
        rdd->text.min_partitions = min_partitions > 0 ? min_partitions : MIN(fst_context_default_parallelism(sc), 2);
        if (!path || !*path)
                rdd_fail(rdd, -EINVAL, "object_file needs a path: Can not create a Path from an empty string");
        return rdd;
}

static void object_free(fst_rdd *rdd)
{
        free(rdd->text.paths);
        input_splits_deinit(&rdd->text.splits);
}

/* That the first file has such rows: a task checks each. */
static int check_rows(const fst_rdd *rdd, struct fst_error *error)
{
        char found[64], wanted[64];
        fst_type type;
        if (rdd->text.splits.len == 0)
                return 0;
        const char *path = rdd->text.splits.data[0].path;
        int r = object_file_type(path, &type, error);
        if (r < 0 || fst_type_equal(type, rdd->type))
                return r;
        return error_set(error, -EINVAL, "%s has rows of %s, not of %s", path, fst_type_name(type, found),
                         fst_type_name(rdd->type, wanted));
}

static int object_partitions(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        struct input_options options = INPUT_OPTIONS_INIT;
        int r = input_options_read(rdd_registry_conf(rdd->sc), &options, &error);
        if (r == 0)
                r = plain_plan(rdd->text.paths, rdd->text.min_partitions, &options, &rdd->text.splits, &error);
        if (r == 0)
                r = check_rows(rdd, &error);
        if (r) {
                rdd_fail_with(rdd, r, &error);
                return rdd->status;
        }
        rdd->lineage.partitions = (int)MIN(rdd->text.splits.len, (size_t)INT_MAX);
        rdd->has_hosts = rdd->text.splits.near_hosts;
        return 0;
}

static int object_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->text = splits_encode(w, &rdd->text.splits);
        return 0;
}

static int object_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        return splits_decode(reader, m->text, (size_t)rdd->lineage.partitions, rdd, &rdd->text.splits, error);
}

static void *object_state_new(const struct node *node)
{
        return object_reader_new();
}

static void object_state_free(void *state)
{
        object_reader_free(state);
}

static int object_feed(struct node *node, int partition, struct op *to)
{
        struct object_reader *reader = node->state;
        struct task_run *run = node_env(node)->run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {0};
        int r = object_reader_open(reader, &node->rdd->text.splits.data[partition], node->rdd->type, &error);
        while (r == 0) {
                const void *stable = NULL;
                r = object_reader_next(reader, &rows.batch, &stable, &rows.stable[0].size, &error);
                if (r || rows.batch.rows == 0)
                        break;
                rows.stable[0].start = (uintptr_t)stable;
                run->counters.input_records += rows.batch.rows;
                r = node_push(to, &rows);
        }
        run->counters.input_bytes += (int64_t)object_reader_bytes(reader);
        object_reader_close(reader);
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

const struct rdd_class rdd_object_file_class = {
        .spark = "MapPartitionsRDD",
        .free = object_free,
        .plan = object_partitions,
        .hosts = rdd_split_hosts,
        .encode = object_encode,
        .decode = object_decode,
        .state_new = object_state_new,
        .state_free = object_state_free,
        .feed = object_feed,
};
