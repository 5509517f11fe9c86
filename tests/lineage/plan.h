/*
 * A random lineage as data: drawn from a seed (draw.h), evaluated by loops (evaluate.h), built with the public interface
 * (build.h), and compared (compare.h).
 *
 * Nodes are in the order of their creation, parents first. Each node is evaluated before the next is drawn, because the
 * rows determine which nodes are possible: for example whether a join is small enough, and whether an order is known.
 */
#pragma once

#include "deed.h"

#include <stdio.h>

#define OPERATORS(X)                                                                                                   \
        X(RANGE, "range")                                                                                              \
        X(PARALLELIZE, "parallelize")                                                                                  \
        X(TEXT_FILE, "text_file")                                                                                      \
        X(BINARY_RECORDS, "binary_records")                                                                            \
        X(OBJECT_FILE, "object_file of what was saved of")                                                             \
        X(SAVED_TEXT, "text_file of what was saved of")                                                                \
        X(WHOLE_TEXT_FILES, "whole_text_files of what was saved of")                                                   \
        X(BINARY_FILES, "binary_files of what was saved of")                                                           \
        X(BARRIER, "repartition of barrier_map_partitions of")                                                         \
        X(MAP, "map")                                                                                                  \
        X(MAP_TO_NUMBER, "map (to a number)")                                                                          \
        X(FLAT_MAP, "flat_map")                                                                                        \
        X(FILTER, "filter")                                                                                            \
        X(MAP_VALUES, "map_values")                                                                                    \
        X(FLAT_MAP_VALUES, "flat_map_values")                                                                          \
        X(KEYS, "keys")                                                                                                \
        X(VALUES, "values")                                                                                            \
        X(KEY_BY, "key_by")                                                                                            \
        X(MAP_PARTITIONS, "map_partitions")                                                                            \
        X(MAP_PARTITIONS_WITH_INDEX, "map_partitions_with_index")                                                      \
        X(MAP_BATCHES, "map_batches")                                                                                  \
        X(SORT_BY, "sort_by")                                                                                          \
        X(SORT_ROWS, "sort_by fst_fn_identity")                                                                           \
        X(UNION, "union")                                                                                              \
        X(REPARTITION, "repartition")                                                                                  \
        X(COALESCE, "coalesce")                                                                                        \
        X(SAMPLE, "sample")                                                                                            \
        X(RANDOM_SPLIT, "random_split")                                                                                \
        X(ZIP_WITH_INDEX, "zip_with_index")                                                                            \
        X(ZIP_WITH_UNIQUE_ID, "zip_with_unique_id")                                                                    \
        X(ZIP, "zip")                                                                                                  \
        X(ZIP_PARTITIONS, "zip_partitions")                                                                            \
        X(CARTESIAN, "cartesian")                                                                                      \
        X(SORT_WITHIN_PARTITIONS, "sort_within_partitions")                                                            \
        X(PIPE, "pipe")                                                                                                \
        X(GROUP_BY, "group_by")                                                                                        \
        X(DISTINCT, "distinct")                                                                                        \
        X(INTERSECTION, "intersection")                                                                                \
        X(SUBTRACT, "subtract")                                                                                        \
        X(GLOM, "glom")                                                                                                \
        X(REDUCE_BY_KEY, "reduce_by_key")                                                                              \
        X(FOLD_BY_KEY, "fold_by_key")                                                                                  \
        X(AGGREGATE_BY_KEY, "aggregate_by_key")                                                                        \
        X(COMBINE_BY_KEY, "combine_by_key")                                                                            \
        X(SORT_BY_KEY, "sort_by_key")                                                                                  \
        X(GROUP_BY_KEY, "group_by_key")                                                                                \
        X(FLAT_MAP_GROUPS, "flat_map_groups")                                                                          \
        X(JOIN, "join")                                                                                                \
        X(RIGHT_OUTER_JOIN, "right_outer_join")                                                                        \
        X(LEFT_OUTER_JOIN, "left_outer_join")                                                                          \
        X(FULL_OUTER_JOIN, "full_outer_join")                                                                          \
        X(COGROUP, "cogroup")                                                                                          \
        X(SUBTRACT_BY_KEY, "subtract_by_key")                                                                          \
        X(PARTITION_BY, "partition_by")                                                                                \
        X(PARTITION_BY_RANGE, "partition_by_range")                                                                    \
        X(PARTITION_BY_FUNCTION, "partition_by_function")                                                              \
        X(PLACE_AND_SORT, "repartition_and_sort_within_partitions")

enum operator{
#define OPERATOR_NAME(name, text) name,
        OPERATORS(OPERATOR_NAME)
#undef OPERATOR_NAME
                OPERATORS_N
};
extern const char *const operator_names[OPERATORS_N];

/* The rule by which keys are placed in partitions. */
struct placement {
        enum { BY_NOTHING, BY_HASH, BY_RANGE, BY_FUNCTION } how;
        int n;
        uint64_t which; /* BY_RANGE: the node that found the bounds; BY_FUNCTION: the function's number */
};

static inline bool placement_equal(struct placement a, struct placement b)
{
        return a.how && a.how == b.how && a.n == b.n && a.which == b.which;
}

/* The rows of a node. */
struct table {
        int n; /* partitions */
        struct rows *parts;
        bool ordered; /* the order within partitions is defined */
        struct placement by;
        size_t rows; /* of all partitions */
};

enum { NODE_PARENTS = 3, PLAN_NODES = 14, PLAN_ACTIONS = 3, FILE_CODECS = 6 };

struct node {
        enum operator operator;
        int parents[NODE_PARENTS], n_parents;
        fst_type type;
        int n;       /* requested partitions; 0: the default */
        int variant; /* selects one of several equivalent ways to build it */
        int codec;   /* codec of saved files; 0: not compressed */
        bool descending;
        struct deed deed; /* of its function */
        double fraction;  /* SAMPLE, RANDOM_SPLIT: its bounds */
        double upper;
        int64_t seed;
        size_t count; /* of a source: rows */

        enum fst_storage_level level;
        enum { KEEP_LINEAGE, CHECKPOINT, LOCAL_CHECKPOINT } checkpoint;

        struct table table; /* evaluated */
        fst_rdd *rdd;       /* built */
};

/* Joins of one variant send their right side to every task. Those of another spread the rows of frequent keys. */
enum { BROADCAST_JOIN = 1, SKEWED_JOIN };

static inline bool node_is_broadcast_join(const struct node *n)
{
        return n->variant == BROADCAST_JOIN && (n->operator== JOIN || n->operator== LEFT_OUTER_JOIN);
}

static inline bool node_is_skewed_join(const struct node *n)
{
        return n->variant == SKEWED_JOIN &&
               (n->operator== JOIN || n->operator== LEFT_OUTER_JOIN || n->operator== RIGHT_OUTER_JOIN);
}

#define ACTIONS(X)                                                                                                     \
        X(COLLECT, "collect")                                                                                          \
        X(COUNT, "count")                                                                                              \
        X(TAKE, "take")                                                                                                \
        X(FIRST, "first")                                                                                              \
        X(IS_EMPTY, "is_empty")                                                                                        \
        X(REDUCE, "reduce")                                                                                            \
        X(TREE_REDUCE, "tree_reduce")                                                                                  \
        X(FOLD, "fold")                                                                                                \
        X(AGGREGATE, "aggregate")                                                                                      \
        X(TREE_AGGREGATE, "tree_aggregate")                                                                            \
        X(MIN, "min")                                                                                                \
        X(MAX, "max")                                                                                             \
        X(SUM, "sum")                                                                                                  \
        X(STATS, "stats")                                                                                              \
        X(HISTOGRAM, "histogram")                                                                                      \
        X(TOP, "top")                                                                                                  \
        X(TAKE_ORDERED, "take_ordered")                                                                                \
        X(TAKE_ORDERED_BY, "take_ordered_by")                                                                          \
        X(COUNT_BY_KEY, "count_by_key")                                                                                \
        X(COUNT_BY_VALUE, "count_by_value")                                                                            \
        X(COLLECT_AS_MAP, "collect_as_map")                                                                            \
        X(REDUCE_BY_KEY_LOCALLY, "reduce_by_key_locally")                                                              \
        X(COUNT_APPROX_DISTINCT, "count_approx_distinct")                                                              \
        X(LOOKUP, "lookup")                                                                                            \
        X(TAKE_SAMPLE, "take_sample")                                                                                  \
        X(RUN_JOB, "run_job")                                                                                          \
        X(TO_LOCAL_ITERATOR, "to_local_iterator")                                                                      \
        X(FOREACH, "foreach")                                                                                          \
        X(SAVE_AS_TEXT_FILE, "save_as_text_file")

enum act {
#define ACTION_NAME(name, text) ACT_##name,
        ACTIONS(ACTION_NAME)
#undef ACTION_NAME
                ACTIONS_N
};
extern const char *const action_names[ACTIONS_N];

struct action {
        enum act act;
        int node;
        int n; /* how many, which, how deep */
        struct deed deed;
        bool whole;         /* FOREACH: a call for each partition */
        bool async;         /* asynchronous: runs beside earlier actions */
        fst_future *future; /* then, once it was begun */
};

struct plan {
        uint64_t seed;
        struct node nodes[PLAN_NODES];
        int n_nodes;
        struct action actions[PLAN_ACTIONS];
        int n_actions;
        int parallelism; /* spark.default.parallelism; 0: not set */
        int cores;
        int odd;       /* ODD_…: of all functions */
        bool poisoned; /* the function of the last node always fails */
        bool failed;   /* the action failed as intended */
        size_t most_rows;
        struct arena arena; /* of all rows */
};

/* Returns true if the node reads files whose sizes determine its partitions. */
bool node_reads_files(const struct node *n);

/* Returns row @i of a source other than RANGE, in the plan's arena. */
struct row plan_source_row(struct plan *p, const struct node *n, size_t i);

/* Prints the plan to @out, one line for each node and action. */
void plan_print(const struct plan *p, FILE *out);
