/*
 * Lineage: the schedulers' view of an RDD. Every fst_rdd embeds one. The schedulers use nothing else of the RDD.
 *
 * A dependency is narrow (a partition needs a bounded set of the parent's partitions, computed in the same task) or a
 * shuffle (a partition needs a part of every parent partition, which a map stage has written before). The application's
 * threads build lineage. It does not change once a job uses it.
 */
#pragma once

#include <firesteel/rdd.h>

#include <stdbool.h>

struct lineage;

enum lineage_dep_kind { LINEAGE_NARROW, LINEAGE_SHUFFLE };

struct lineage_dep {
        enum lineage_dep_kind kind;
        struct lineage *parent;
        int shuffle_id;        /* LINEAGE_SHUFFLE: unique in the application */
        int reduce_partitions; /* LINEAGE_SHUFFLE: number of outputs of each map task */
        struct lineage *child; /* LINEAGE_SHUFFLE: the RDD that reads it */
        /*
         * LINEAGE_NARROW: @partition of the child needs the parent's partitions *@first … *@first + *@count - 1, or
         * none if *@count is 0. NULL: the parent's partition of the same number or, where the numbers of partitions
         * differ, an even share of consecutive partitions.
         */
        void (*needs)(const struct lineage *child, const struct lineage_dep *dep, int partition, int *first,
                      int *count);
};

struct lineage {
        int id;                /* the RDD's id */
        int partitions;        /* > 0 once the job is submitted */
        const char *name;      /* the operation or the user's name, for logs; atomic; lives as long as the RDD */
        const char *call_site; /* "reduce_by_key at wordcount.c:14"; borrowed */
        const char *details;   /* a longer call site; borrowed. NULL: none */
        int storage_level; /* enum fst_storage_level; atomic: the application may persist and unpersist during jobs */
        struct lineage_dep *deps;
        int n_deps;
        bool barrier;       /* its stage runs all tasks at once or none, and they synchronize */
        bool indeterminate; /* a recomputation may give other rows or another order */
        int profile;        /* id of its resource profile; atomic; 0: none was set */
        /*
         * True if a block store holds partition @p, so that it need not be computed. NULL: never. Any thread. Atomic.
         */
        bool (*cached)(const struct lineage *self, int partition);
};
