/* See rdd_files.h. */
#include "rdd/operators/rdd_files.h"

#include "base/log.h"
#include "base/mem.h"
#include "rdd/rdd_registry.h"

#include <limits.h>

fst_rdd *rdd_files_new(fst_context *sc, enum rdd_op op, fst_type type, const char *path, int min_partitions,
                       fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        sc = context_given(sc, site);
        fst_rdd *rdd = rdd_new(sc, op, type, NULL, site);
        rdd->text.paths = mem_strdup(path ? path : "");
        rdd->text.min_partitions = min_partitions > 0 ? min_partitions : MIN(fst_context_default_parallelism(sc), 2);
        if (path && *path)
                return rdd;
        error_set(&error, -EINVAL, "%s needs a path: Can not create a Path from an empty string", site.operation);
        return rdd_fail_with(rdd, -EINVAL, &error);
}

int rdd_files_plan(fst_rdd *rdd, rdd_files_plan_fn plan)
{
        struct fst_error error = FST_ERROR_INIT;
        struct input_options options = INPUT_OPTIONS_INIT;
        int r = input_options_read(rdd_registry_conf(rdd->sc), &options, &error);
        if (r == 0)
                r = plan(rdd, &options, &error);
        if (r) {
                rdd_fail_with(rdd, r, &error);
                return rdd->status;
        }
        rdd->lineage.partitions = (int)MIN(input_splits_partitions(&rdd->text.splits), (size_t)INT_MAX);
        rdd->has_hosts = rdd->text.splits.near_hosts;
        return 0;
}

void rdd_files_free(fst_rdd *rdd)
{
        free(rdd->text.paths);
        input_splits_deinit(&rdd->text.splits);
}

const char *rdd_files_hosts(const fst_rdd *rdd, int partition)
{
        return rdd->text.splits.data[input_splits_first(&rdd->text.splits, (size_t)partition)].hosts;
}

int rdd_files_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->text = splits_encode(w, &rdd->text.splits);
        if (rdd->text.splits.firsts)
                splits_encode_firsts(w, m->text, rdd->text.splits.firsts, rdd->text.splits.partitions);
        return 0;
}

int rdd_files_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        return splits_decode(reader, m->text, (size_t)rdd->lineage.partitions, rdd, &rdd->text.splits, error);
}

bool rdd_files_skip(const struct pipeline_node *node, const struct input_split *file, int status,
                    struct fst_error *error)
{
        const struct pipeline_env *env = node_env(node);
        if (status >= 0 || status == -ENOMEM)
                return false;
        if (status == -ENOENT ? !env->ignore_missing_files : !env->ignore_corrupt_files)
                return false;
        if (status == -ENOENT)
                log_warn("HadoopRDD", "Skipped missing file: %s:%llu+%llu", file->path, (unsigned long long)file->start,
                         (unsigned long long)file->length);
        else
                log_warn("HadoopRDD", "Skipped the rest content in the corrupted file: %s:%llu+%llu: %s", file->path,
                         (unsigned long long)file->start, (unsigned long long)file->length, error_message(error));
        error_deinit(error);
        return true;
}
