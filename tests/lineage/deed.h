/*
 * What the functions of a lineage do to rows: pure functions of the rows and of numbers drawn for the operator. The
 * application's functions (functions.h) call them in tasks, the evaluator calls them in a loop; so a function is
 * written once, and what is tested is everything around it.
 */
#pragma once

#include "cell.h"

/* An operator's function: what it was drawn to do. Captured by the application's function, so it has no pointers. */
struct deed {
        fst_type from;     /* of rows that come in; of keys alone where values come from several sides */
        fst_type sides[3]; /* the values of several sides, or what zip_partitions reads */
        fst_type into;     /* of rows that go out */
        int n_sides;
        int odd;                           /* of the rows that it makes: ODD_… */
        uint64_t number;                   /* other numbers, other functions */
        uint32_t key_spread, value_spread; /* as many different keys and values come out */
        uint32_t reads;                    /* of an iterator: as many rows at most; 0: all */
        bool keep_key;                     /* rows go out under the key that came in */
        bool in_order;                     /* what it makes of several rows depends on their order */
        bool one;                          /* exactly one row for one row */

        uint32_t fail_one_in;  /* 0: never fails */
        int32_t fail_attempts; /* the first so many attempts fail */
        bool fail_silently;    /* it calls fst_fail and goes on */

        fst_accumulator seen; /* foreach adds each row's hash to it */
};

/* Fails forever, which is more than spark.task.maxFailures. */
#define DEED_POISON 1000

/* Whether it fails on what has this hash, in attempt @attempt. */
static inline bool deed_fails(const struct deed *d, uint64_t hash, int attempt)
{
        return d->fail_one_in && attempt < d->fail_attempts && mix(hash, d->number) % d->fail_one_in == 0;
}

/* How many rows what has this hash becomes, and the @i-th of them. @key is that which came in. */
uint32_t deed_copies(const struct deed *d, uint64_t hash);
struct row deed_row(const struct deed *d, uint64_t hash, uint32_t i, struct cell key, struct cell_room *room);

bool deed_keeps(const struct deed *d, uint64_t hash);

/* The hash of a key with a left and a right value, of which one may be missing. */
uint64_t deed_hash_joined(struct cell key, struct cell left, struct cell right);

/* Where a function of the application's puts a key. */
int deed_place(const struct deed *d, struct cell key, int partitions);

/* The hash of several rows: of their order too, if in_order. It begins with that of nothing. */
struct deed_summary {
        uint64_t hash, n;
};
void deed_see(const struct deed *d, struct deed_summary *s, struct row r);
bool deed_has_seen_enough(const struct deed *d, const struct deed_summary *s);
uint64_t deed_summary_hash(struct deed_summary s);

/* What the task of partition @part makes of the @n that those of a barrier stage have told each other. */
#define MAX_GATHERED 4
uint64_t deed_gather(int part, const uint64_t *told, int n);

/* Of two values of one kind, the one that has the greater hash; they are the same where the hashes are. */
static inline bool deed_greater(struct cell a, struct cell b)
{
        return cell_hash(a) > cell_hash(b);
}

/* Rows that are compounded in their order: associative, not commutative. 16 bytes. */
struct deed_chain {
        uint64_t factor, sum;
};
#define DEED_CHAIN_ZERO ((struct deed_chain){1, 0})
void deed_chain_take(struct deed_chain *c, uint64_t hash);
void deed_chain_join(struct deed_chain *a, const struct deed_chain *b);

/* The same of numbers: maps x → factor x + sum, one after another, in 64 bits. */
int64_t deed_compose(int64_t a, int64_t b);
