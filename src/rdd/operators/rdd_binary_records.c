/* binary_records: records of fixed length from files. */
#include "rdd/operators/rdd_files.h"

#include "base/mem.h"
#include "io/binary_records.h"

FST_API fst_rdd *fst_binary_records_at(fst_context *sc, const char *path, uint32_t record_length, fst_site site)
{
        return rdd_files_new(sc, RDD_BINARY_RECORDS, FST_FIXED(record_length), path, 0, site);
}

static int records_find_splits(fst_rdd *rdd, const struct input_options *options, struct fst_error *error)
{
        return binary_records_plan(rdd->text.paths, rdd->type.key_size, options, &rdd->text.splits, error);
}

static int records_partitions(fst_rdd *rdd)
{
        return rdd_files_plan(rdd, records_find_splits);
}

static int records_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                          struct fst_error *error)
{
        if (rdd->type.key != FST_KIND_FIXED || rdd->type.value || rdd->type.key_size == 0)
                return rdd_wire_bad(rdd, error, "binary records are FIXED");
        return rdd_files_decode(reader, m, rdd, error);
}

static void *records_state_new(const struct pipeline_node *node)
{
        return binary_records_new(node->rdd->type.key_size);
}

static void records_state_free(void *state)
{
        binary_records_free(state);
}

static int records_feed(struct pipeline_node *node, int partition, struct op *to)
{
        struct binary_records *reader = node->state;
        const struct pipeline_env *env = node_env(node);
        const struct input_split *split = &node->rdd->text.splits.data[partition];
        struct task_run *run = env->run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {.batch = {.type = node->rdd->type}};
        int r = binary_records_open(reader, split, &error);
        if (r == 0 && env->sample_budget)
                binary_records_sample(reader, env->sample_budget);
        bool unreadable = r < 0;
        while (r == 0) {
                const char *records = NULL;
                r = binary_records_next(reader, FST_BATCH_ROWS, &records, &rows.batch.rows, &error);
                unreadable = r < 0;
                if (r || rows.batch.rows == 0)
                        break;
                rows.batch.key.fixed = (char *)records;
                task_run_count_read(run, &run->counters.input_records, rows.batch.rows);
                r = node_push(to, &rows);
        }
        uint64_t bytes = binary_records_bytes(reader);
        run->counters.input_bytes += (int64_t)bytes;
        if (env->sample_budget && bytes)
                run->sample_scale = MAX(1.0, (double)split->length / (double)bytes);
        binary_records_close(reader);
        if (unreadable && rdd_files_skip(node, split, r, &error))
                r = 0;
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

const struct rdd_class rdd_binary_records_class = {
        .spark = "MapPartitionsRDD",
        .free = rdd_files_free,
        .plan = records_partitions,
        .hosts = rdd_files_hosts,
        .encode = rdd_files_encode,
        .decode = records_decode,
        .state_new = records_state_new,
        .state_free = records_state_free,
        .feed = records_feed,
};
