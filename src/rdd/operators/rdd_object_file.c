/* object_file: rows that fst_save_as_object_file has written. */
#include "rdd/object_file.h"

#include "rdd/operators/rdd_files.h"
#include "rdd/rdd_registry.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/text_plan.h"

FST_API fst_rdd *fst_object_file_at(fst_context *sc, const char *path, fst_type type, int min_partitions, fst_site site)
{
        return rdd_files_new(sc, RDD_OBJECT_FILE, type, path, min_partitions, site);
}

/*
 * Checks the type of the first file. Tasks check the other files. With spark.files.ignoreCorruptFiles a damaged file is
 * left to the tasks, too.
 */
static int object_check_rows(const fst_rdd *rdd, struct fst_error *error)
{
        bool ignores;
        int r = conf_get_bool(rdd_registry_conf(rdd->sc), "spark.files.ignoreCorruptFiles", &ignores, error);
        if (r || rdd->text.splits.len == 0)
                return r;
        const char *path = rdd->text.splits.data[0].path;
        r = object_file_check(path, rdd->type, error);
        if (r != -EBADMSG || !ignores)
                return r;
        error_deinit(error);
        return 0;
}

static int object_find_splits(fst_rdd *rdd, const struct input_options *options, struct fst_error *error)
{
        int r = plain_plan(rdd->text.paths, rdd->text.min_partitions, options, &rdd->text.splits, error);
        return r ? r : object_check_rows(rdd, error);
}

static int object_partitions(fst_rdd *rdd)
{
        return rdd_files_plan(rdd, object_find_splits);
}

static void *object_state_new(const struct pipeline_node *node)
{
        return object_reader_new();
}

static void object_state_free(void *state)
{
        object_reader_free(state);
}

/* A damaged or missing file, not one with rows of another type or of another version. A checkpoint is always whole. */
static bool object_may_skip(const struct pipeline_node *node, int status)
{
        return node->rdd->op == RDD_OBJECT_FILE && status != -EINVAL && status != -ENOTSUP;
}

static int object_feed(struct pipeline_node *node, int partition, struct op *to)
{
        struct object_reader *reader = node->state;
        struct task_run *run = node_env(node)->run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {0};
        const struct input_split *split = &node->rdd->text.splits.data[partition];
        int r = object_reader_open(reader, split, node->rdd->type, &error);
        bool unreadable = r < 0;
        while (r == 0) {
                const void *stable = NULL;
                r = object_reader_next(reader, &rows.batch, &stable, &rows.stable[0].size, &error);
                unreadable = r < 0;
                if (r || rows.batch.rows == 0)
                        break;
                rows.stable[0].start = (uintptr_t)stable;
                task_run_count_read(run, &run->counters.input_records, rows.batch.rows);
                r = node_push(to, &rows);
        }
        run->counters.input_bytes += (int64_t)object_reader_bytes(reader);
        object_reader_close(reader);
        if (unreadable && object_may_skip(node, r) && rdd_files_skip(node, split, r, &error))
                r = 0;
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

#define CLASS_OF_FILES(name)                                                                                           \
        .spark = (name), .free = rdd_files_free, .plan = object_partitions, .hosts = rdd_files_hosts,                  \
        .encode = rdd_files_encode, .decode = rdd_files_decode, .state_new = object_state_new,                         \
        .state_free = object_state_free, .feed = object_feed

const struct rdd_class rdd_object_file_class = {CLASS_OF_FILES("MapPartitionsRDD")};

const struct rdd_class rdd_checkpoint_files_class = {CLASS_OF_FILES("ReliableCheckpointRDD")};
