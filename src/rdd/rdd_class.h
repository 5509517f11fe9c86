/*
 * What each operator of lineage is: a class in the table of rdd_classes.c, by its enum rdd_op. An operator has a file
 * of its own, rdd_<operator>.c, in which its public functions build the node, and its class says the rest: how many
 * partitions it has, how it travels to executors, and how a task computes it.
 *
 * A task pushes rows (rdd/pipeline/op.h). Of a partition of a node, `feed` pushes the rows that come in: a source reads them,
 * others have partitions of their parents fed (node_feed_parent). They go into the node's op, if it has one, and what
 * that makes goes on to whoever asked for the node.
 */
#pragma once

#include "rdd/pipeline/pipeline.h"
#include "rdd/rdd_wire.h"
#include "store/page.h"

/* ------------------------------------------------------------------------------------------------ inside a task */

struct pipeline;

/* An RDD in a pipeline: one slot's, used for one partition after another. */
struct node {
        struct pipeline *pipeline;
        const fst_rdd *rdd;
        const struct rdd_class *class; /* the RDD's, or that of a checkpointed one */
        const uint32_t *parents;       /* their nodes */
        bool made;                     /* what follows is there */
        bool active;                   /* it is being fed */
        struct op *op;                 /* NULL where rows pass unchanged */
        struct op *tee;                /* behind op, where the RDD is persisted: rdd/pipeline/op_cache.h */
        enum fst_storage_level level;  /* as it was when the pipeline was made: unpersist may come at any time */
        void *state;                   /* what the class keeps from partition to partition */
        struct page_cursor cursor;     /* for reading its blocks from other executors */
};

/* What its tasks have to work with. */
const struct pipeline_env *node_env(const struct node *node);

/* Push partition @partition of parent @parent into @to: 0, OP_ENOUGH or negative. */
int node_feed_parent(struct node *node, int parent, int partition, struct op *to);

/* Before parent @next is fed for the first time: give up what nodes keep that are not being fed, if they are many. */
void node_forget_idle(struct node *node, int next);

/* Push @rows into @to. */
static inline int node_push(struct op *to, const struct rows *rows)
{
        return to->class->consume(to, rows);
}

/* ----------------------------------------------------------------------------------------------------- the class */

/* Of `parents`: one or more. */
#define RDD_ANY_PARENTS (-1)

struct rdd_class {
        const char *spark;   /* the class that it is in Spark, as event logs name it */
        int parents;         /* how many it is computed from in the same task: of a shuffle's reader none */
        bool wants_function; /* `fn` is set */
        bool passes_samples; /* a sample of what goes in gives a sample of what comes out */
        bool chooses_keys;   /* its function emits them: fst_preserves_partitioning may promise that they stay */

        /* Free what the class has of its own. NULL: nothing. */
        void (*free)(fst_rdd *rdd);

        /*
         * Set lineage.partitions; the parents' are known. 0, or the status that it failed @rdd with. Locked by the
         * context. NULL: as many as the first parent has, or as were set when it was built.
         */
        int (*plan)(fst_rdd *rdd);

        /*
         * The hosts that have what partition @partition is read from: names, the last one empty; NULL: none is nearer
         * than another. Only of an RDD that has_hosts; any thread.
         */
        const char *(*hosts)(const fst_rdd *rdd, int partition);

        /* Put what the class has of its own into @m. NULL: nothing. */
        int (*encode)(struct rdd_wire_writer *w, const fst_rdd *rdd, struct Firesteel__Rdd *m, struct fst_error *error);

        /*
         * Read it, and check that type, function, partitions and parents fit as those of a node that was built by the
         * public functions: what is trusted from then on. 0, -EBADMSG, -E2BIG.
         */
        int (*decode)(struct rdd_wire_reader *reader, const struct Firesteel__Rdd *m, fst_rdd *rdd,
                      struct fst_error *error);

        /* The operator that makes its rows. NULL, or NULL answered: rows pass unchanged. */
        struct op *(*op_new)(const fst_rdd *rdd, struct task_run *run);

        /* State for feeding, made when the node is first used in a slot. NULL: none. */
        void *(*state_new)(const struct node *node);
        void (*state_free)(void *state);

        /*
         * Push what comes in for partition @partition into @to: its op, or where its rows go. 0, OP_ENOUGH, or negative
         * after task_run_fail. NULL: the first parent's partition of the same number.
         */
        int (*feed)(struct node *node, int partition, struct op *to);
};

/* The class of @op, or NULL for a number that is no operator's. */
const struct rdd_class *rdd_class_of(int op);

extern const struct rdd_class rdd_text_file_class, rdd_parallelize_class, rdd_range_class;
extern const struct rdd_class rdd_binary_records_class, rdd_whole_files_class, rdd_object_file_class;
extern const struct rdd_class rdd_map_class, rdd_flat_map_class, rdd_filter_class, rdd_map_values_class;
extern const struct rdd_class rdd_map_partitions_class, rdd_key_by_class, rdd_values_class;
extern const struct rdd_class rdd_sampled_class, rdd_indexed_class, rdd_sorted_within_class, rdd_piped_class;
extern const struct rdd_class rdd_glom_class, rdd_sampled_by_key_class, rdd_key_range_class;
extern const struct rdd_class rdd_checkpointed_class, rdd_local_checkpoint_class, rdd_checkpoint_files_class;
extern const struct rdd_class rdd_zipped_class, rdd_zipped_partitions_class, rdd_cartesian_class;
extern const struct rdd_class rdd_coalesce_class, rdd_union_class, rdd_cogroup_class;
extern const struct rdd_class rdd_keys_class, rdd_flat_map_values_class, rdd_pack_class, rdd_unpack_class;
extern const struct rdd_class rdd_shuffled_class, rdd_combine_class;
extern const struct rdd_class rdd_counted_class, rdd_folded_class;
