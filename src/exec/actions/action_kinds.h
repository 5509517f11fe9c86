/*
 * The kinds of actions, each with what its tasks have to know. The driver's structs embed these first.
 */
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
        fst_fn fn; /* borrowed, captured struct and all; form checked by element_check */
};

/* result.data: a struct reduce_value on the heap */
extern const struct action_class reduce_action_class;
struct reduce_action {
        struct action action;
        fst_fn fn;                       /* borrowed; form checked by reduce_check */
        fst_type made;                   /* of the result; not a pair */
        const struct reduce_value *zero; /* what each partition begins with; NULL: its first row. Borrowed */
};

/* result.data: a struct stat_counter on the heap */
extern const struct action_class stats_action_class;
struct stats_action {
        struct action action; /* takes numbers */
        bool sum_only;        /* only how many, and their sum */
};

/* Whether rows are numbers, and no pairs. */
bool action_takes_numbers(fst_type type);

/* result.data: int64_t[buckets] on the heap */
extern const struct action_class histogram_action_class;
#define MAX_HISTOGRAM 1000000 /* buckets */
struct histogram_action {
        struct action action; /* takes numbers */
        const double *bounds; /* buckets + 1 of them, borrowed */
        int buckets;
        bool even; /* the bounds are equally far from each other */
};

/* result.data: the registers of a sketch (rdd/aggregate/distinct_sketch.h) on the heap */
extern const struct action_class distinct_action_class;
struct distinct_action {
        struct action action;
        int precision;
};

/* result.data: a list of pages of rows of `made`, NULL without rows */
extern const struct action_class rows_action_class;    /* all of them, up to a limit */
extern const struct action_class run_job_action_class; /* what `fn`, of the form ITER, makes of a partition */
extern const struct action_class top_action_class;     /* the first `limit` in `order` */
extern const struct action_class lookup_action_class;  /* the values whose key is `value` */
extern const struct action_class combine_action_class; /* a pair for each key, its values combined by `fn` */
struct rows_action {
        struct action action;
        int64_t limit; /* rows of a partition; INT64_MAX: all */
        fst_type made;
        fst_fn fn; /* borrowed, with its captured struct */
        enum fst_order order;
        bool keyed; /* top: `made` are rows with a key before them, which `fn` makes (rdd/pipeline/op_key.h) */
        const struct reduce_value *value; /* borrowed */
};

/* no result: `fn` takes whole partitions */
extern const struct action_class foreach_partition_action_class;

/* no result */
extern const struct action_class save_action_class, save_objects_action_class, save_records_action_class;
struct save_action {
        struct action action;
        struct output_committer *committer; /* borrowed */
};

/* result.data: a struct drawn */
extern const struct action_class sample_action_class;
struct sample_action {
        struct action action;
        size_t per_partition; /* keys to draw */
};

/* The keys that one task drew. */
struct drawn {
        struct arena arena; /* what their bytes point into */
        struct sample_key *keys;
        size_t n;
};

/* NULL is allowed. */
void drawn_free(struct drawn *drawn);

/* The class of that name; NULL if there is none. */
const struct action_class *action_class_of(const char *name);
