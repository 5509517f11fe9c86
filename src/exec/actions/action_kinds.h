/* The classes of actions, each with the parameters that its tasks need. The driver's structs embed these first. */
#pragma once

#include "base/arena.h"
#include "exec/actions/action.h"
#include "rdd/aggregate/op_reduce.h"
#include "rdd/partitioner.h"
#include "rdd/aggregate/stat_counter.h"

struct output_committer;

/* result.number: rows */
extern const struct action_class count_action_class;

/* no result */
extern const struct action_class foreach_action_class;
struct foreach_action {
        struct action action;
        fst_fn fn; /* borrowed, with its captured struct; element_check has checked its form */
};

/* result.data: a struct reduce_value on the heap */
extern const struct action_class reduce_action_class;
struct reduce_action {
        struct action action;
        fst_fn fn;                       /* borrowed; reduce_check has checked its form */
        fst_type made;                   /* type of the result; not a pair */
        const struct reduce_value *zero; /* initial value of each partition; NULL: its first row. Borrowed */
};

/* result.data: a struct stat_counter on the heap */
extern const struct action_class stats_action_class;
struct stats_action {
        struct action action; /* of numbers */
        bool sum_only;        /* only count and sum */
};

/* True if the rows are numbers (not pairs). */
bool action_takes_numbers(fst_type type);

/* result.data: int64_t[buckets] on the heap */
extern const struct action_class histogram_action_class;
#define MAX_HISTOGRAM 1000000 /* buckets */
struct histogram_action {
        struct action action; /* of numbers */
        const double *bounds; /* buckets + 1 bounds, borrowed */
        int buckets;
        bool even; /* all buckets have the same width */
};

/* result.data: the registers of a sketch (rdd/aggregate/distinct_sketch.h) on the heap */
extern const struct action_class distinct_action_class;
struct distinct_action {
        struct action action;
        int precision;
};

/* result.data: a list of pages of rows of `made`, NULL without rows */
extern const struct action_class rows_action_class;    /* all rows, up to a limit */
extern const struct action_class run_job_action_class; /* the rows that `fn`, of the form ITER, makes of a partition */
extern const struct action_class top_action_class;     /* the first `limit` rows in `order` */
extern const struct action_class lookup_action_class;  /* the values of the key `value` */
extern const struct action_class combine_action_class; /* a pair for each key, its values combined by `fn` */
struct rows_action {
        struct action action;
        int64_t limit; /* rows of a partition; INT64_MAX: no limit */
        fst_type made;
        fst_fn fn; /* borrowed, with its captured struct */
        enum fst_order order;
        bool keyed; /* top: rows of `made` carry a key, made by `fn`, in front (rdd/pipeline/op_key.h) */
        const struct reduce_value *value; /* borrowed */
};

/* no result: `fn` takes whole partitions */
extern const struct action_class foreach_partition_action_class;

/* no result */
extern const struct action_class save_action_class, save_objects_action_class, save_records_action_class;
extern const struct action_class save_java_objects_action_class;
struct save_action {
        struct action action;
        struct output_committer *committer; /* borrowed */
        const uint8_t
                *committed; /* driver only: by partition, what an earlier driver's tasks have committed; borrowed */
};

/* result.data: a struct sampled_keys */
extern const struct action_class sample_action_class;
struct sample_action {
        struct action action;
        size_t per_partition; /* number of keys to sample */
};

/* The keys that one task sampled. */
struct sampled_keys {
        struct arena arena; /* holds the bytes of the keys */
        struct sample_key *keys;
        size_t n;
};

/* NULL is allowed. */
void sampled_keys_free(struct sampled_keys *drawn);

/* Returns the class named @name, or NULL. */
const struct action_class *action_class_of(const char *name);
