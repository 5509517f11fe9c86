/* See rdd_checkpoint.h. */
#include "rdd/rdd_checkpoint.h"

#include "base/mem.h"
#include "rdd/rdd_make.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"

/* -------------------------------------------------------------------------------------------------- asking for it */

/* The level that keeps what does not fit into memory on disk: there is nothing to compute it from any more. */
static enum fst_storage_level with_disk(enum fst_storage_level level)
{
        switch (level) {
        case FST_STORAGE_NONE:
        case FST_MEMORY_ONLY:
                return FST_MEMORY_AND_DISK;
        case FST_MEMORY_ONLY_2:
                return FST_MEMORY_AND_DISK_2;
        case FST_MEMORY_ONLY_SER:
                return FST_MEMORY_AND_DISK_SER;
        case FST_MEMORY_ONLY_SER_2:
                return FST_MEMORY_AND_DISK_SER_2;
        default:
                return level;
        }
}

FST_API fst_rdd *fst_local_checkpoint(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        enum fst_storage_level level = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        if (!rdd->checkpoint.wanted)
                rdd_registry_want_checkpoint(rdd->sc, 1);
        rdd->checkpoint.wanted = true;
        if (!rdd_is_checkpointed(rdd)) /* else it has forgotten what it was computed from, and its files stay it */
                rdd->checkpoint.local = true;
        rdd_registry_unlock(rdd->sc);
        if (level == FST_STORAGE_NONE)
                return fst_persist(rdd, with_disk(level));
        __atomic_store_n(&rdd->lineage.storage_level, with_disk(level), __ATOMIC_RELAXED);
        return rdd;
}

FST_API fst_rdd *fst_checkpoint(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        char *path = NULL;
        int r = rdd_registry_checkpoint_path(rdd->sc, rdd->lineage.id, &path, &error);
        if (r)
                return rdd_fail_with(rdd, r, &error);
        rdd_registry_lock(rdd->sc);
        if (!rdd->checkpoint.wanted)
                rdd_registry_want_checkpoint(rdd->sc, 1);
        if (!rdd_is_checkpointed(rdd)) {
                rdd->checkpoint.wanted = true;
                rdd->checkpoint.local = false;
                if (!rdd->checkpoint.path) /* else another thread may be writing to it */
                        rdd->checkpoint.path = steal(path);
        }
        rdd_registry_unlock(rdd->sc);
        free(path);
        return rdd;
}

FST_API const char *fst_checkpoint_file(const fst_rdd *rdd)
{
        return rdd_is_checkpointed(rdd) && !rdd->checkpoint.local ? rdd->checkpoint.path : NULL;
}

FST_API bool fst_is_checkpointed(const fst_rdd *rdd)
{
        return rdd_is_checkpointed(rdd);
}

/* ---------------------------------------------------------------------------------------------------- having it */

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

/* ------------------------------------------------------------------------------------------- where it was kept */

fst_rdd *rdd_checkpoint_files(fst_rdd *rdd, struct input_splits *splits)
{
        fst_rdd *source = rdd_new(rdd->sc, RDD_OBJECT_FILE, rdd->type, NULL, rdd->site);
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

static int local_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        return 0;
}

static int local_feed(struct node *node, int partition, struct op *to)
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
        .decode = local_decode,
        .feed = local_feed,
};
