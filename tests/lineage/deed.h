/*
 * The functions of a lineage: pure functions of the rows and of random numbers of the operator. The application's
 * functions (functions.h) call them in tasks, and the evaluator calls them in a loop, so each function is written once,
 * and the test covers everything around it.
 */
#pragma once

#include "cell.h"

/* The parameters of an operator's function. The application's function captures them, so they contain no pointers. */
struct deed {
        fst_type from;     /* type of input rows; of keys only, if values come from several sides */
        fst_type sides[3]; /* types of the values of several sides, or of the inputs of zip_partitions */
        fst_type into;     /* type of output rows */
        int n_sides;
        int odd;                           /* ODD_… of output rows */
        uint64_t number;                   /* selects the function */
        uint32_t key_spread, value_spread; /* number of distinct keys and values of output rows */
        uint32_t reads;                    /* maximum number of rows read from an iterator; 0: all */
        bool keep_key;                     /* output rows have the key of their input */
        bool in_order;                     /* its result depends on the order of its input rows */
        bool one;                          /* one output row for each input row */

        uint32_t fail_one_in;  /* 0: never fails */
        int32_t fail_attempts; /* the number of attempts that fail */
        bool fail_silently;    /* calls fst_fail and continues */

        fst_accumulator seen; /* foreach adds each row's hash to it */
};

/* All attempts fail: more than spark.task.maxFailures. */
#define DEED_POISON 1000

/* Returns true if the function fails on rows with this hash in attempt @attempt. */
static inline bool deed_fails(const struct deed *d, uint64_t hash, int attempt)
{
        return d->fail_one_in && attempt < d->fail_attempts && mix(hash, d->number) % d->fail_one_in == 0;
}

/* The number of output rows for an input with this hash, and the @i-th of them. @key is the input's key. */
uint32_t deed_copies(const struct deed *d, uint64_t hash);
struct row deed_row(const struct deed *d, uint64_t hash, uint32_t i, struct cell key, struct cell_room *room);

bool deed_keeps(const struct deed *d, uint64_t hash);

/* The hash of a key with a left and a right value. One of them may be missing. */
uint64_t deed_hash_joined(struct cell key, struct cell left, struct cell right);

/* The partition of a key by the application's function. */
int deed_place(const struct deed *d, struct cell key, int partitions);

/* The hash of several rows, including their order if in_order. It starts as the hash of no rows. */
struct deed_summary {
        uint64_t hash, n;
};
void deed_see(const struct deed *d, struct deed_summary *s, struct row r);
bool deed_has_seen_enough(const struct deed *d, const struct deed_summary *s);
uint64_t deed_summary_hash(struct deed_summary s);

/* The output of the task of partition @part for the @n messages that the tasks of a barrier stage exchanged. */
#define MAX_GATHERED 4
uint64_t deed_gather(int part, const uint64_t *told, int n);

/* Returns true if @a has the greater hash. Values of one kind with equal hashes are equal. */
static inline bool deed_greater(struct cell a, struct cell b)
{
        return cell_hash(a) > cell_hash(b);
}

/* A combination of rows that is associative but not commutative. 16 bytes. */
struct deed_chain {
        uint64_t factor, sum;
};
#define DEED_CHAIN_ZERO ((struct deed_chain){1, 0})
void deed_chain_take(struct deed_chain *c, uint64_t hash);
void deed_chain_join(struct deed_chain *a, const struct deed_chain *b);

/* The same for numbers: composes maps x → factor x + sum in 64 bits. */
int64_t deed_compose(int64_t a, int64_t b);
