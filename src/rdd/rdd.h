/*
 * An RDD inside: a node of lineage. Built by the application's threads, never changed once a job uses it, but for
 * what is noted below, its checkpoint, and its partitioner (fst_preserves_partitioning). Freed with its context.
 */
#pragma once

#include "base/error.h"
#include "io/input_splits.h"
#include "rdd/lineage.h"
#include "rdd/partitioner.h"
#include "rdd/aggregate/sampler.h"

#include <firesteel/firesteel.h>

/* Operators, each with a class (rdd_class.h). Numbers are those of rpc/stage.proto. */
enum rdd_op {
        RDD_TEXT_FILE = 1,
        RDD_BINARY_RECORDS = 60,
        RDD_WHOLE_FILES = 61,
        RDD_OBJECT_FILE = 62,
        RDD_PARALLELIZE = 2,
        RDD_RANGE = 3,
        RDD_MAP = 4,
        RDD_FLAT_MAP = 5,
        RDD_FILTER = 6,
        RDD_MAP_VALUES = 7,
        RDD_MAP_PARTITIONS = 8, /* by iterator or by batch */
        RDD_KEY_BY = 9,         /* row → (key of fn, row): for sort_by */
        RDD_VALUES = 10,        /* and back */
        RDD_COALESCE = 11,
        RDD_SHUFFLED = 12, /* rows of a shuffle; combined or sorted if it says so */
        RDD_COMBINE = 13,  /* combine by key without a shuffle: the parent is partitioned as wanted */
        RDD_UNION = 14,    /* rows of several parents */
        RDD_SAMPLED = 16,
        RDD_INDEXED = 17, /* (row, number) */
        RDD_ZIPPED = 18,
        RDD_ZIPPED_PARTITIONS = 19,
        RDD_CARTESIAN = 20,
        RDD_SORTED_WITHIN = 21, /* each partition by key */
        RDD_PIPED = 22,
        RDD_GLOM = 23,             /* partitions as lists */
        RDD_COUNTED = 40,          /* (key or row, 1) */
        RDD_FOLDED = 41,           /* (partition, value of its rows): a stage of tree_aggregate */
        RDD_CHECKPOINTED = 50,     /* only on the wire: an RDD that is read from its checkpoint */
        RDD_LOCAL_CHECKPOINT = 51, /* what such a one is read from whose cached partitions are all there is */
        RDD_COGROUP = 15, /* rows of several parents with equal keys, which are partitioned alike: where they were not,
                             it is RDD_SHUFFLED that it groups */
        RDD_KEYS = 70,
        RDD_FLAT_MAP_VALUES = 71,
        RDD_PACK = 72,   /* pairs as bytes (rdd/pipeline/op_key.h) */
        RDD_UNPACK = 73, /* and back */
        RDD_SAMPLED_BY_KEY = 80,
        RDD_KEY_RANGE = 81, /* pairs with keys between two */
};

struct aggregate_values;
struct rdd_class;
struct reduce_value;
struct strata;

/* What a pass over pairs is for of which a fraction of each key is taken (rdd/operators/rdd_sample_by_key.c). */
enum sample_step {
        SAMPLE_TAKE,
        SAMPLE_COUNT, /* how many pairs a key has */
        SAMPLE_DRAW,  /* which numbers an exact sample may choose from, and how many are taken for sure */
};

/* What the latter two tell of a key. */
enum step_result { STEP_ITEMS, STEP_ACCEPTED, STEP_WAITS, STEP_RESULTS };

struct rdd_name {
        struct rdd_name *older;
        char text[];
};

struct fst_rdd {
        struct lineage lineage; /* first: what the schedulers see */
        fst_context *sc;
        enum rdd_op op;
        const struct rdd_class *class;
        fst_type type;
        fst_rdd **parents; /* borrowed RDDs (one may be there twice) in an array of its own; see rdd_parent */
        int n_parents;
        fst_fn fn; /* its captured struct and name are copies */
        struct aggregate_values
                *values; /* combining takes them into accumulators (rdd/aggregate/aggregate.h); else NULL */
        fst_site site;
        int status; /* not 0: the RDD cannot be; the action reports @error */
        struct fst_error error;
        struct rdd_checkpoint {
                fst_rdd *source; /* what it is read from instead of its parents; atomic; NULL: there is none (yet) */
                bool wanted;     /* and not there yet; with the next under rdd_registry_lock */
                bool local;      /* in the block store */
                bool relevel;    /* its blocks may be there at a level without disk */
                char *path;      /* where it goes otherwise; owned */
                struct lineage_dep *former; /* the dependencies that it had: running stages may know them */
        } checkpoint;
        bool planned;   /* partitions are known */
        bool has_hosts; /* some partition is read from files of which hosts are known (rdd_class.hosts) */
        bool released;  /* the application has no handle, or gave it up; with the next under rdd_registry_lock */
        bool needed;    /* driver/cleaner.c */
        bool preparing; /* a thread finds out what it needs to know; under the context's lock `prepare` */

        struct partitioner *partitioner; /* where equal keys are, if that is known; borrowed from the shuffle */

        union {
                struct {
                        char *paths;
                        int min_partitions;
                        struct input_splits splits; /* once planned */
                } text;                             /* also of binary records and object files */
                struct {
                        char *paths;
                        int min_partitions;
                        bool unpack;
                        struct input_splits splits; /* once planned: one a file */
                        uint32_t *firsts;           /* partition i has files firsts[i] … firsts[i + 1] - 1 */
                } whole;
                struct {
                        void *data; /* a column of the type, owned */
                        size_t count;
                        char *bytes; /* what its BYTES point into, owned */
                        size_t n_bytes;
                } parallelize;
                struct {
                        int64_t start, end;
                } range;
                struct sampling_plan sample;
                struct rdd_by_key {
                        struct strata *strata; /* owned if the step is SAMPLE_TAKE; NULL: the RDD cannot be */
                        enum sample_step step;
                        bool replaced, exact;
                        bool counted; /* exact with replacement: bounds are known; under `prepare` */
                        bool ready;   /* exact: thresholds are, too; atomic */
                        int64_t seed;
                } by_key;
                struct {
                        bool unique;
                        uint64_t *starts; /* the first row's number in each partition; set under `prepare`, owned */
                } index;
                struct {
                        struct range_key {
                                uint64_t prefix; /* rdd/partitioner.h: key_prefix */
                                int64_t number;  /* I64, or the bits of F64; not where it came from the wire */
                                fst_bytes bytes; /* BYTES and FIXED; owned */
                        } low, high;
                        int first, last; /* from the wire: the partitions that may have such keys */
                } key_range;
                enum fst_order sorted_within;
                struct {
                        char **words, **environment; /* ending in NULL; owned */
                } pipe;
                struct {
                        struct reduce_value *zero; /* NULL: there is none */
                        bool values;               /* the rows are values of partitions before */
                } fold;
                struct {
                        int count;
                } coalesce;
                struct {
                        bool in_place; /* partition i is the parents' partitions i; else they follow each other */
                } unite;
                struct {
                        int mode; /* enum cogroup_mode */
                } cogroup;
                struct rdd_shuffle {
                        int id; /* unique in the application */
                        struct partitioner
                                partitioner; /* owned; of a range, its bounds are computed by the first job */
                        bool combine;        /* map side and reduce side, by fn */
                        bool sort;
                        enum fst_order order;
                        fst_rdd *like; /* a range: whose bounds it has, from an RDD that owns them; NULL: its own */
                } shuffle;
        };

        const char *name;       /* the user's, in `names`; atomic; NULL: none was given */
        struct rdd_name *names; /* all that were ever given: jobs of other threads may be reading one */
        char *call_site;        /* owned; lineage borrows it */
        fst_rdd *next;          /* all RDDs of the context */
};

/* The parent of an RDD that is made of one; the first of several; NULL for sources. */
static inline fst_rdd *rdd_parent(const fst_rdd *rdd)
{
        return rdd->n_parents ? rdd->parents[0] : NULL;
}

static inline fst_rdd *rdd_of(struct lineage *lineage)
{
        return (fst_rdd *)lineage; /* lineage is the first member */
}

static inline const fst_rdd *rdd_of_const(const struct lineage *lineage)
{
        return (const fst_rdd *)lineage;
}

/* Whether a sample of the fractions of keys knows what it needs to know. */
static inline bool rdd_sample_ready(const fst_rdd *rdd)
{
        return !rdd->by_key.exact || rdd->by_key.step != SAMPLE_TAKE ||
               __atomic_load_n(&rdd->by_key.ready, __ATOMIC_ACQUIRE);
}

/*
 * Make sure that the number of partitions is known (a text file has to look at its files): 0, or the RDD's
 * status with rdd->error saying why. Locked by the context; any thread.
 */
int rdd_plan(fst_rdd *rdd);

void rdd_free(fst_rdd *rdd);

/*
 * Checks the RDD that the application gave to the public function of @site; public functions call it first. Returns
 * @rdd, or, for NULL and for an RDD that does not exist (any more), an RDD of the running context that carries the
 * error for the action to report. Without a context, and inside of a task, which then has failed, the answer is an RDD
 * of the refused context (rdd_registry.h). Never NULL.
 */
fst_rdd *rdd_given(fst_rdd *rdd, fst_site site);

/* The same of an array: NULL if all of its RDDs exist, else what rdd_given answers for the first that does not. */
fst_rdd *rdd_first_given(fst_rdd *const *rdds, size_t n, fst_site site);

/* For public functions that only look: whether @rdd does not exist, or the caller is a task; either is reported. */
bool rdd_missing(const fst_rdd *rdd, const char *operation);

/* "count at x.c:5", or the operation alone; owned by the caller. */
char *rdd_site_text(fst_site site);

/* The site of a public function that notes no line. */
static inline fst_site rdd_site(const char *operation)
{
        return (fst_site){.operation = operation};
}
