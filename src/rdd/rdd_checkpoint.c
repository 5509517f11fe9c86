/* See rdd_checkpoint.h. */
#include "rdd/rdd_checkpoint.h"

#include "base/mem.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "store/storage_level.h"

/* ---------------------------------------------------------------------------------------- requesting a checkpoint */

FST_API fst_rdd *fst_local_checkpoint(fst_rdd *rdd)
{
        rdd = rdd_given(rdd, rdd_site("local_checkpoint"));
        rdd_registry_lock(rdd->sc);
        enum fst_storage_level level = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        if (!rdd->checkpoint.wanted)
                rdd_registry_want_checkpoint(rdd->sc, 1);
        rdd->checkpoint.wanted = true;
        if (!rdd_is_checkpointed(rdd)) { /* a checkpointed RDD has dropped its dependencies and keeps its files */
                rdd->checkpoint.local = true;
                rdd->checkpoint.relevel |= level && !storage_level_uses_disk(level);
        }
        rdd_registry_unlock(rdd->sc);
        return rdd_set_level(rdd, storage_level_with_disk(level));
}

bool rdd_wants_local_checkpoint(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        bool local = rdd->checkpoint.wanted && rdd->checkpoint.local;
        rdd_registry_unlock(rdd->sc);
        return local;
}

FST_API fst_rdd *fst_checkpoint(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        char *path = NULL;
        rdd = rdd_given(rdd, rdd_site("checkpoint"));
        int r = rdd_registry_checkpoint_path(rdd->sc, rdd->lineage.id, &path, &error);
        if (r)
                return rdd_fail_with(rdd, r, &error);
        rdd_registry_lock(rdd->sc);
        if (!rdd->checkpoint.wanted) { /* otherwise, as in Spark, the first request decides: a local one stays local */
                rdd_registry_want_checkpoint(rdd->sc, 1);
                rdd->checkpoint.wanted = true;
                rdd->checkpoint.path = steal(path);
        }
        rdd_registry_unlock(rdd->sc);
        free(path);
        return rdd;
}

FST_API bool fst_is_checkpointed(const fst_rdd *rdd)
{
        return !rdd_missing(rdd, "is_checkpointed") && rdd_is_checkpointed(rdd);
}

FST_API const char *fst_checkpoint_file(const fst_rdd *rdd)
{
        return fst_is_checkpointed(rdd) && !rdd->checkpoint.local ? rdd->checkpoint.path : NULL;
}

/* ---------------------------------------------------------------------------------------- applying a checkpoint */

void rdd_set_checkpoint(fst_rdd *rdd, fst_rdd *source)
{
        struct lineage_dep *dep = new0(struct lineage_dep);
        *dep = (struct lineage_dep){.kind = LINEAGE_NARROW, .parent = &source->lineage};
        rdd->checkpoint.former = rdd->lineage.deps;
        rdd->lineage.deps = dep;
        rdd->lineage.n_deps = 1;
        rdd->lineage.barrier = false;
        rdd->lineage.indeterminate = false;
        __atomic_store_n(&rdd->checkpoint.source, source, __ATOMIC_RELEASE);
}

static int checkpointed_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                               struct fst_error *error)
{
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_check_type(rdd, error);
}

const struct rdd_class rdd_checkpointed_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .decode = checkpointed_decode,
};

/* ---------------------------------------------------------------------------------- reading a local checkpoint */

fst_rdd *rdd_checkpoint_files(fst_rdd *rdd, struct input_splits *splits)
{
        fst_rdd *source = rdd_new(rdd->sc, RDD_CHECKPOINT_FILES, rdd->type, NULL, rdd->site);
        source->text.paths = mem_strdup(rdd->checkpoint.path);
        source->text.splits = *splits;
        *splits = INPUT_SPLITS_INIT;
        source->has_hosts = source->text.splits.near_hosts;
        source->lineage.partitions = rdd->lineage.partitions;
        source->planned = true;
        return source;
}

fst_rdd *rdd_local_checkpoint(fst_rdd *rdd)
{
        fst_rdd *source = rdd_new(rdd->sc, RDD_LOCAL_CHECKPOINT, rdd->type, NULL, rdd->site);
        source->lineage.partitions = rdd->lineage.partitions;
        source->planned = true;
        return source;
}

static int local_checkpoint_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                                   struct fst_error *error)
{
        return 0;
}

static int local_checkpoint_feed(struct pipeline_node *node, int partition, struct op *to)
{
        return task_run_fail(node_env(node)->run, -ENOENT,
                             "Checkpoint block of partition %d of %s not found! Either the executor that originally "
                             "checkpointed this partition is no longer alive, or the original RDD is unpersisted. If "
                             "this problem persists, you may consider using fst_checkpoint instead, which is slower "
                             "than local checkpointing but more fault-tolerant",
                             partition, node->rdd->call_site);
}

const struct rdd_class rdd_local_checkpoint_class = {
        .spark = "LocalCheckpointRDD",
        .decode = local_checkpoint_decode,
        .feed = local_checkpoint_feed,
};
