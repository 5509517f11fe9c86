/* java_object_file: frames of files that Spark's saveAsObjectFile or fst_save_as_java_object_file has written. */
#include "rdd/operators/rdd_files.h"

#include "base/mem.h"
#include "io/java_object_file.h"
#include "io/sequence_file.h"
#include "io/text_plan.h"

#include <firesteel/frames.h>

FST_API fst_rdd *fst_java_object_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site)
{
        return rdd_files_new(sc, RDD_JAVA_OBJECT_FILE, FST_BYTES, path, min_partitions, site);
}

/* No split is smaller than the distance of marks, as in Hadoop's SequenceFileInputFormat. */
static int java_objects_find_splits(fst_rdd *rdd, const struct input_options *options, struct fst_error *error)
{
        struct input_options own = *options;
        own.min_split_size = MAX(own.min_split_size, (uint64_t)SEQUENCE_SYNC_INTERVAL);
        return plain_plan(rdd->text.paths, rdd->text.min_partitions, &own, &rdd->text.splits, error);
}

static int java_objects_partitions(fst_rdd *rdd)
{
        return rdd_files_plan(rdd, java_objects_find_splits);
}

static int java_objects_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                               struct fst_error *error)
{
        if (!fst_type_equal(rdd->type, FST_BYTES))
                return rdd_wire_bad(rdd, error, "frames of a file are BYTES");
        return rdd_files_decode(reader, m, rdd, error);
}

static void *java_objects_state_new(const struct pipeline_node *node)
{
        return java_object_reader_new();
}

static void java_objects_state_free(void *state)
{
        java_object_reader_free(state);
}

static int java_objects_feed(struct pipeline_node *node, int partition, struct op *to)
{
        struct java_object_reader *reader = node->state;
        struct task_run *run = node_env(node)->run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {0};
        const struct input_split *split = &node->rdd->text.splits.data[partition];
        int r = java_object_reader_open(reader, split, &error);
        bool unreadable = r < 0;
        while (r == 0) {
                r = java_object_reader_next(reader, &rows.batch, &error);
                unreadable = r < 0;
                if (r || rows.batch.rows == 0)
                        break;
                task_run_count_read(run, &run->counters.input_records, rows.batch.rows);
                r = node_push(to, &rows);
        }
        run->counters.input_bytes += (int64_t)java_object_reader_bytes(reader);
        java_object_reader_close(reader);
        if (unreadable && r != -ENOTSUP && rdd_files_skip(node, split, r, &error))
                r = 0;
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

const struct rdd_class rdd_java_object_file_class = {
        .spark = "MapPartitionsRDD",
        .free = rdd_files_free,
        .plan = java_objects_partitions,
        .hosts = rdd_files_hosts,
        .encode = rdd_files_encode,
        .decode = java_objects_decode,
        .state_new = java_objects_state_new,
        .state_free = java_objects_state_free,
        .feed = java_objects_feed,
};
