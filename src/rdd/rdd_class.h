/*
 * The class of an operator: a row in the table of rdd_classes.c, at its enum rdd_op. Each operator has a file
 * rdd_<operator>.c. Its public functions build the node. Its class tells how many partitions the node has, how it is
 * sent to executors, and how a task computes it.
 *
 * Tasks push rows (rdd/pipeline/op.h). For a partition of a node, `feed` pushes the input rows: a source reads them,
 * any other operator feeds partitions of its parents (node_feed_parent). The rows go through the node's op, if it has
 * one, to the consumer of the node.
 */
#pragma once

#include "rdd/pipeline/pipeline.h"
#include "rdd/rdd_wire.h"
#include "store/page.h"

/* ------------------------------------------------------------------------------------------------ inside a task */

struct pipeline;

/* An RDD in the pipeline of one slot. The node is used for one partition after another. */
struct pipeline_node {
        struct pipeline *pipeline;
        const fst_rdd *rdd;
        const struct rdd_class *class; /* the RDD's class, or the class of its checkpoint */
        const uint32_t *parents;       /* the indexes of their nodes */
        bool made;                     /* the fields below are set */
        bool active;                   /* being fed now */
        struct op *op;                 /* NULL where rows pass unchanged */
        struct op *cache;              /* after op, if the RDD is persisted: rdd/pipeline/op_cache.h */
        /* the level when the pipeline was made: the application may unpersist at any time */
        enum fst_storage_level level;
        void *state;               /* state of the class across partitions */
        struct page_cursor cursor; /* reads its blocks from other executors */
};

/* The environment of the node's tasks. */
const struct pipeline_env *node_env(const struct pipeline_node *node);

/* Pushes partition @partition of parent @parent into @to. Returns 0, OP_ENOUGH or a negative errno. */
int node_feed_parent(struct pipeline_node *node, int parent, int partition, struct op *to);

/* Call this before parent @next is fed for the first time. Frees the state of idle nodes if there are many. */
void node_forget_idle(struct pipeline_node *node, int next);

/* Pushes @rows into @to. */
static inline int node_push(struct op *to, const struct rows *rows)
{
        return to->class->consume(to, rows);
}

/* ----------------------------------------------------------------------------------------------------- the class */

/* A value of `parents`: one or more. */
#define RDD_ANY_PARENTS (-1)

struct rdd_class {
        const char *spark;   /* the class in Spark; rdd_spark_class has exceptions */
        int parents;         /* number of parents computed in the same task: 0 for the reader of a shuffle */
        bool wants_function; /* `fn` must be set */
        bool passes_samples; /* a sample of the input gives a sample of the output */
        /* its function emits the keys: fst_preserves_partitioning may promise that they do not change */
        bool chooses_keys;

        /* Frees the class's own fields. NULL: there are none. */
        void (*free)(fst_rdd *rdd);

        /*
         * Sets lineage.partitions from those of the parents, which are planned. Returns 0, or the status with which it
         * failed @rdd. The context's lock is held. NULL: the number that was set when the node was built, otherwise the
         * first parent's.
         */
        int (*plan)(fst_rdd *rdd);

        /* The hosts that store the input of partition @partition: names, ended by an empty one. NULL: no host is
         * preferred. Called only if has_hosts. Any thread. */
        const char *(*hosts)(const fst_rdd *rdd, int partition);

        /* Writes the class's own fields into @m. NULL: there are none. */
        int (*encode)(struct rdd_wire_writer *w, const fst_rdd *rdd, struct Firesteel__Rdd *m, struct fst_error *error);

        /* Reads them and checks type, function, partitions and parents as strictly as the public functions do. Later
         * code trusts the node. Returns 0, -EBADMSG or -E2BIG. */
        int (*decode)(struct rdd_wire_reader *reader, const struct Firesteel__Rdd *m, fst_rdd *rdd,
                      struct fst_error *error);

        /* Creates the operator. NULL, or a NULL result: rows pass unchanged. */
        struct op *(*op_new)(const fst_rdd *rdd, struct task_run *run);

        /* Creates the state for feeding when a slot first uses the node. NULL: there is none. */
        void *(*state_new)(const struct pipeline_node *node);
        void (*state_free)(void *state);

        /* Pushes the input of partition @partition into @to: the node's op or its consumer. Returns 0, OP_ENOUGH, or
         * negative after task_run_fail. NULL: feeds the first parent's partition of the same number. */
        int (*feed)(struct pipeline_node *node, int partition, struct op *to);
};

/* The class of @op, or NULL for an unknown number. */
const struct rdd_class *rdd_class_of(int op);

/* The name of the class in Spark that does what @rdd does: an empty union and one in place have classes of their own. */
const char *rdd_spark_class(const fst_rdd *rdd);

extern const struct rdd_class rdd_text_file_class, rdd_parallelize_class, rdd_range_class;
extern const struct rdd_class rdd_binary_records_class, rdd_whole_files_class, rdd_object_file_class;
extern const struct rdd_class rdd_map_class, rdd_flat_map_class, rdd_filter_class, rdd_map_values_class;
extern const struct rdd_class rdd_map_partitions_class, rdd_key_by_class, rdd_values_class;
extern const struct rdd_class rdd_sampled_class, rdd_indexed_class, rdd_sorted_within_class, rdd_piped_class;
extern const struct rdd_class rdd_glom_class, rdd_sampled_by_key_class, rdd_key_range_class;
extern const struct rdd_class rdd_checkpointed_class, rdd_local_checkpoint_class, rdd_checkpoint_files_class;
extern const struct rdd_class rdd_zipped_class, rdd_zipped_partitions_class, rdd_cartesian_class;
extern const struct rdd_class rdd_coalesce_class, rdd_union_class, rdd_cogroup_class, rdd_broadcast_join_class;
extern const struct rdd_class rdd_keys_class, rdd_flat_map_values_class, rdd_pack_class, rdd_unpack_class;
extern const struct rdd_class rdd_shuffled_class, rdd_combine_class;
extern const struct rdd_class rdd_counted_class, rdd_folded_class, rdd_frames_class, rdd_java_object_file_class;
extern const struct rdd_class rdd_python_class;
