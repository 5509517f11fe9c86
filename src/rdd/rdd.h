/*
 * The node of lineage behind an fst_rdd. The application's threads build it. Once a job uses it, it changes only where
 * a field below says so, in its checkpoint, and in its partitioner (fst_preserves_partitioning). The context frees it.
 */
#pragma once

#include "base/error.h"
#include "io/input_splits.h"
#include "rdd/lineage.h"
#include "rdd/partitioner.h"
#include "rdd/aggregate/sampler.h"
#include "rdd/cogroup/broadcast_side.h"

#include <firesteel/firesteel.h>

/* Operators. Each has a class (rdd_class.h). The numbers equal those of rpc/stage.proto. */
enum rdd_op {
        RDD_TEXT_FILE = 1,
        RDD_BINARY_RECORDS = 60,
        RDD_WHOLE_FILES = 61,
        RDD_OBJECT_FILE = 62,
        RDD_CHECKPOINT_FILES = 63, /* object files of a reliable checkpoint: no file may be skipped */
        RDD_PARALLELIZE = 2,
        RDD_RANGE = 3,
        RDD_MAP = 4,
        RDD_FLAT_MAP = 5,
        RDD_FILTER = 6,
        RDD_MAP_VALUES = 7,
        RDD_MAP_PARTITIONS = 8, /* by iterator or by batch */
        RDD_KEY_BY = 9,         /* row → (key of fn, row): for sort_by */
        RDD_VALUES = 10,        /* (key, row) → row */
        RDD_COALESCE = 11,
        RDD_SHUFFLED = 12, /* rows of a shuffle; combines or sorts them if the shuffle says so */
        RDD_COMBINE = 13,  /* combines by key without a shuffle: the parent already has the right partitioner */
        RDD_UNION = 14,    /* rows of several parents, without a shuffle */
        RDD_SAMPLED = 16,
        RDD_INDEXED = 17, /* (row, number) */
        RDD_ZIPPED = 18,
        RDD_ZIPPED_PARTITIONS = 19,
        RDD_CARTESIAN = 20,
        RDD_SORTED_WITHIN = 21, /* sorts each partition by key */
        RDD_PIPED = 22,
        RDD_GLOM = 23,             /* each partition as one list */
        RDD_COUNTED = 40,          /* (key or row, 1) */
        RDD_FOLDED = 41,           /* (partition, folded value of its rows): a stage of tree_aggregate */
        RDD_CHECKPOINTED = 50,     /* only on the wire: an RDD that is read from its checkpoint */
        RDD_LOCAL_CHECKPOINT = 51, /* source of a locally checkpointed RDD: its cached partitions */
        /* groups rows of several parents by key. The parents share one partitioner; an RDD_SHUFFLED is inserted where
         * they do not */
        RDD_COGROUP = 15,
        RDD_BROADCAST_JOIN = 55, /* joins rows with those of a small parent, which a job collects before */
        RDD_KEYS = 70,
        RDD_FLAT_MAP_VALUES = 71,
        RDD_PACK = 72,   /* pairs → bytes (rdd/pipeline/op_key.h) */
        RDD_UNPACK = 73, /* bytes → pairs */
        RDD_SAMPLED_BY_KEY = 80,
        RDD_KEY_RANGE = 81,        /* pairs whose keys lie between two bounds */
        RDD_JAVA_OBJECT_FILE = 64, /* frames of a Java object file (io/java_object_file.h) */
        RDD_FRAMES = 90,           /* rows ↔ frames of Python (rdd/pipeline/op_frames.h) */
        RDD_PYTHON = 91,           /* frames that Python workers compute */
};

struct aggregate_values;
struct rdd_class;
struct reduce_value;
struct strata;

/* The purpose of a pass over the pairs of a sample_by_key (rdd/operators/rdd_sample_by_key.c). */
enum sample_step {
        SAMPLE_TAKE,
        SAMPLE_COUNT, /* counts the pairs of each key */
        SAMPLE_DRAW,  /* finds the numbers that an exact sample chooses from and the count that it accepts at once */
};

/* The results of SAMPLE_COUNT and SAMPLE_DRAW for each key. */
enum step_result { STEP_ITEMS, STEP_ACCEPTED, STEP_WAITS, STEP_RESULTS };

struct rdd_name {
        struct rdd_name *older;
        char text[];
};

struct fst_rdd {
        struct lineage lineage; /* first member: the schedulers' view */
        fst_context *sc;
        enum rdd_op op;
        const struct rdd_class *class;
        fst_type type;
        fst_rdd **parents; /* borrowed RDDs, possibly the same one twice, in an owned array; see rdd_parent */
        int n_parents;
        fst_fn fn;                       /* owns copies of the captured struct and the name */
        struct aggregate_values *values; /* how values enter accumulators (rdd/aggregate/aggregate.h), or NULL */
        fst_site site;
        int scope;               /* the id of the first RDD that the same call of the application created */
        const char *spark_class; /* what descriptions call it, if not as its class; static; see rdd_describe_as */
        bool hidden;             /* descriptions show its parents in its place: it is a part of its child */
        int status;              /* not 0: the RDD is invalid and the action reports @error */
        struct fst_error error;
        struct rdd_checkpoint {
                fst_rdd *source; /* read instead of the parents; NULL until the checkpoint exists; atomic */
                bool wanted;     /* requested but not written yet; rdd_registry_lock guards it and the next */
                bool local;      /* kept in the block store */
                bool relevel;    /* its cached blocks may have a level without disk */
                char *path;      /* directory of a reliable checkpoint; owned */
                struct lineage_dep
                        *former; /* its dependencies before the checkpoint: running stages may refer to them */
        } checkpoint;
        bool planned;   /* the number of partitions is known */
        bool has_hosts; /* some partition is read from files whose hosts are known (rdd_class.hosts) */
        bool released;  /* the application has no handle or released it; rdd_registry_lock guards this and the next */
        bool needed;    /* the mark of driver/cleaner.c */
        int pins;       /* cleaner_pin without cleaner_unpin; atomic */
        bool preparing; /* a thread runs its preliminary job; the context's lock `prepare` guards it */

        struct partitioner *partitioner; /* the partitioner of its keys, if known; borrowed from the shuffle */

        union {
                struct {
                        char *paths;
                        int min_partitions;
                        struct input_splits splits; /* set by planning */
                } text;                             /* also for binary records and object files */
                struct {
                        char *paths;
                        int min_partitions;
                        bool unpack;
                        struct input_splits splits; /* set by planning: one for each file */
                        uint32_t *firsts;           /* partition i has the files firsts[i] … firsts[i + 1] - 1 */
                } whole;
                struct {
                        void *data; /* one column of the type; owned */
                        size_t count;
                        char *bytes; /* the bytes of BYTES rows; owned */
                        size_t n_bytes;
                        bool mapped; /* `bytes` is a mapped file */
                } parallelize;
                struct {
                        int64_t start, end;
                } range;
                struct sampling_plan sample;
                struct rdd_by_key {
                        struct strata *strata; /* owned if the step is SAMPLE_TAKE; NULL if the RDD is invalid */
                        enum sample_step step;
                        bool replaced, exact;
                        bool counted; /* exact with replacement: the bounds are known; `prepare` guards it */
                        bool ready;   /* exact: the thresholds are known, too; atomic */
                        int64_t seed;
                } by_key;
                struct {
                        bool unique;
                        uint64_t *starts; /* the number of each partition's first row; `prepare` guards it; owned */
                } index;
                struct {
                        struct range_key {
                                uint64_t prefix; /* see key_prefix in rdd/partitioner.h */
                                int64_t number;  /* I64, or the bits of F64; not sent on the wire */
                                fst_bytes bytes; /* BYTES and FIXED; owned */
                        } low, high;
                        int first, last; /* from the wire: the partitions that can hold such keys */
                } key_range;
                enum fst_order sorted_within;
                int frames;                /* enum frames_mode */
                struct rdd_python *python; /* rdd/operators/rdd_python.h; owned. NULL: the RDD is invalid */
                struct {
                        char **words, **environment; /* NULL-terminated arrays; owned */
                } pipe;
                struct {
                        struct reduce_value *zero; /* the zero value, or NULL */
                        bool values;               /* the rows are values of an earlier stage */
                } fold;
                struct {
                        int count;
                } coalesce;
                struct {
                        /* partition i unites the parents' partitions i; otherwise the parents' partitions follow each
                         * other */
                        bool in_place;
                } unite;
                struct {
                        int mode; /* enum cogroup_mode */
                        /* bits of the sides (enum join_side) whose heavy keys are spread: their shuffles are SKEWED */
                        uint32_t spread;
                        bool ready; /* the heavy keys are known; atomic */
                } cogroup;
                struct {
                        int mode;                    /* enum cogroup_mode */
                        struct broadcast_side small; /* of the last parent; `prepare` guards it */
                        uint64_t digest;             /* of its rows in any order */
                        bool ready;                  /* its rows are collected; atomic */
                } broadcast_join;
                struct rdd_shuffle {
                        int id;                         /* unique in the application */
                        struct partitioner partitioner; /* owned; the first job computes the bounds of a RANGE */
                        bool combine;                   /* combine by fn on the map side and the reduce side */
                        bool sort;
                        enum fst_order order;
                        fst_rdd *like; /* RANGE: the RDD that owns the same bounds; NULL: this RDD owns them */
                } shuffle;
        };

        const char *name;       /* the name that the user gave, in `names`, or NULL; atomic */
        struct rdd_name *names; /* every name ever given: other threads' jobs may still read an old one */
        char *call_site;        /* owned; lineage borrows it */
        char *details;          /* callSite.long, or NULL; likewise */
        fst_rdd *next;          /* the next older RDD of the context */
};

/* The first parent; NULL for sources. */
static inline fst_rdd *rdd_parent(const fst_rdd *rdd)
{
        return rdd->n_parents ? rdd->parents[0] : NULL;
}

/* The number of parents whose rows its tasks read. The small parent of a broadcast join was collected before. */
static inline int rdd_task_parents(const fst_rdd *rdd)
{
        return rdd->op == RDD_BROADCAST_JOIN ? 1 : rdd->n_parents;
}

static inline fst_rdd *rdd_of(struct lineage *lineage)
{
        return (fst_rdd *)lineage; /* lineage is the first member */
}

static inline const fst_rdd *rdd_of_const(const struct lineage *lineage)
{
        return (const fst_rdd *)lineage;
}

/* True if the sampler can run: an exact one needs its thresholds first. */
static inline bool rdd_sample_ready(const fst_rdd *rdd)
{
        return !rdd->by_key.exact || rdd->by_key.step != SAMPLE_TAKE ||
               __atomic_load_n(&rdd->by_key.ready, __ATOMIC_ACQUIRE);
}

/* Plans the RDD: finds its number of partitions (a text file lists its input files). Returns 0, or the RDD's status
 * with rdd->error set. Takes the context's lock. Any thread. */
int rdd_plan(fst_rdd *rdd);

void rdd_free(fst_rdd *rdd);

/*
 * Checks the RDD that the application passed to the public function of @site. Public functions call this first. Returns
 * @rdd if it is usable. For NULL, and for an RDD that was freed, returns an RDD of the running context that carries the
 * error for the action to report. Without a context, and inside a task (which then fails), returns an RDD of the
 * refused context (rdd_registry.h). Never returns NULL.
 */
fst_rdd *rdd_given(fst_rdd *rdd, fst_site site);

/* rdd_given for an array: NULL if all RDDs are usable, otherwise the replacement of the first that is not. */
fst_rdd *rdd_first_given(fst_rdd *const *rdds, size_t n, fst_site site);

/* For public functions that only query: true if @rdd is unusable or the caller is a task. Reports the misuse. */
bool rdd_missing(const fst_rdd *rdd, const char *operation);

/*
 * "count at x.c:5", or the operation alone. The file of a binding's site may be a place of its own, "runJob at
 * X.scala": then it is the text, and the operation is only the scope. The caller owns the string.
 */
char *rdd_site_text(fst_site site);

/* The operation of a site whose RDD Spark makes by a constructor, which is no scope. */
#define RDD_CONSTRUCTOR "RDD"

/*
 * Make descriptions of the new RDD @rdd show it as one of Spark's class @spark_class (static; NULL: that of its
 * operator) with the name @name (NULL: none), because a binding makes it where Spark has that class.
 */
void rdd_describe_as(fst_rdd *rdd, const char *spark_class, const char *name);

/* The same, unless the calling thread has set another by the local property callSite.short. */
char *rdd_call_site(fst_context *sc, fst_site site);

/* The site of a public function that records no source line. */
static inline fst_site rdd_site(const char *operation)
{
        return (fst_site){.operation = operation};
}
