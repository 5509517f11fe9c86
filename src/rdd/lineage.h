/*
 * Lineage: an RDD as the schedulers see it. Every fst_rdd embeds one; the schedulers know nothing else of it.
 *
 * A dependency is narrow (a partition needs a bounded set of the parent's partitions, computed in the same task)
 * or a shuffle (it needs something of every partition, which a map stage has written before). Lineage is built
 * by the application's threads and does not change once a job uses it.
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
        int reduce_partitions; /* LINEAGE_SHUFFLE: how many outputs each map task writes */
        struct lineage *child; /* LINEAGE_SHUFFLE: who reads it */
        /*
         * LINEAGE_NARROW: the partitions *@first … *@first + *@count - 1 of the parent are what @partition of the
         * child needs (none: *@count 0). NULL: the one of the same number, or where their numbers differ, an even
         * share of consecutive ones.
         */
        void (*needs)(const struct lineage *child, const struct lineage_dep *dep, int partition, int *first,
                      int *count);
};

struct lineage {
        int id;                /* the RDD's */
        int partitions;        /* > 0 once the job is submitted */
        const char *name;      /* the operation or the user's name, for logs; atomic; lives as long as the RDD */
        const char *call_site; /* "reduce_by_key at wordcount.c:14": borrowed */
        int storage_level;     /* enum fst_storage_level; atomic: persist and unpersist may come during jobs */
        struct lineage_dep *deps;
        int n_deps;
        bool barrier;       /* the tasks of its stage run all at once or not at all, and talk to each other */
        bool indeterminate; /* computed again, its rows may be others, or lie in another order */
        /* True if partition @p need not be computed because a block store holds it. NULL: never. Any thread. Atomic. */
        bool (*cached)(const struct lineage *self, int partition);
};
