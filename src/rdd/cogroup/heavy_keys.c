/* See heavy_keys.h. */
#include "rdd/cogroup/heavy_keys.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* Samples that make a key: fewer may be chance. */
#define LEAST_DRAWN 8
/* Fractions of a partition's mean work: a key with more is spread, into parts of about this size. */
#define HEAVY_SHARE 0.5
#define PART_SHARE 0.25

struct heavy_candidate {
        struct heavy_key key;
        double work;
};

/* An estimate of the rows of a key on both sides, and the number of its sampled rows. */
struct heavy_estimate {
        uint64_t hash;
        double rows[2];
        size_t drawn[2];
};

static int heavy_sample_compare(const void *a, const void *b)
{
        const struct heavy_sample *x = a, *y = b;
        return (x->hash > y->hash) - (x->hash < y->hash);
}

static int heavy_key_compare(const void *a, const void *b)
{
        const struct heavy_key *x = a, *y = b;
        return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Most work first. */
static int heavy_candidate_compare(const void *a, const void *b)
{
        const struct heavy_candidate *x = a, *y = b;
        if (x->work != y->work)
                return x->work > y->work ? -1 : 1;
        return heavy_key_compare(&x->key, &y->key);
}

/* Reads the next key of two sorted samples. Returns false at the end. */
static bool heavy_estimate_next(struct heavy_estimate *e, const struct heavy_samples samples[2], size_t at[2])
{
        bool found = false;
        for (int side = 0; side < 2; side++)
                if (at[side] < samples[side].n && (!found || samples[side].keys[at[side]].hash < e->hash)) {
                        e->hash = samples[side].keys[at[side]].hash;
                        found = true;
                }
        for (int side = 0; side < 2 && found; side++) {
                e->rows[side] = 0;
                e->drawn[side] = 0;
                for (; at[side] < samples[side].n && samples[side].keys[at[side]].hash == e->hash; at[side]++) {
                        e->rows[side] += samples[side].keys[at[side]].rows;
                        e->drawn[side]++;
                }
        }
        return found;
}

/* The rows of a side that each row of the other one meets. A key that was drawn once may have a single row. */
static double heavy_estimate_met(const struct heavy_estimate *e, enum join_side side)
{
        return e->drawn[side] > 1 ? e->rows[side] : 1;
}

/* Its rows and pairs. */
static double heavy_estimate_work(const struct heavy_estimate *e)
{
        return e->rows[JOIN_LEFT] + e->rows[JOIN_RIGHT] +
               heavy_estimate_met(e, JOIN_LEFT) * heavy_estimate_met(e, JOIN_RIGHT);
}

/* Decides whether the key is spread; @mean: the mean work of a partition. */
static bool heavy_estimate_spread(const struct heavy_estimate *e, double mean, int partitions, uint32_t sides,
                                  struct heavy_candidate *c)
{
        const enum join_side spread = e->rows[JOIN_LEFT] >= e->rows[JOIN_RIGHT] ? JOIN_LEFT : JOIN_RIGHT;
        const double work = heavy_estimate_work(e);
        if (!(sides >> spread & 1) || e->drawn[spread] < LEAST_DRAWN || work < HEAVY_SHARE * mean)
                return false;
        /* The copies of the other side's rows must cost less than the key itself. */
        double parts = fmin(ceil(work / (PART_SHARE * mean)), 1 + work / heavy_estimate_met(e, !spread));
        parts = fmin(parts, partitions);
        *c = (struct heavy_candidate){{.hash = e->hash, .parts = (uint32_t)parts, .spread = spread}, work};
        return parts >= 2;
}

size_t heavy_keys_slots(size_t n)
{
        size_t slots = 4;
        while (slots < 4 * n)
                slots *= 2;
        return slots;
}

void heavy_keys_index(struct heavy_keys *h)
{
        h->mask = (uint32_t)heavy_keys_slots(h->n) - 1;
        for (uint32_t i = 0; i < h->n; i++) {
                uint32_t at = (uint32_t)(h->keys[i].hash >> 32) & h->mask;
                while (h->slots[at])
                        at = (at + 1) & h->mask;
                h->slots[at] = i + 1;
        }
}

static void heavy_keys_set(struct heavy_keys *h, struct heavy_key *keys, size_t n)
{
        *h = (struct heavy_keys){.keys = keys, .n = (uint32_t)n, .slots = new_array(uint32_t, heavy_keys_slots(n))};
        heavy_keys_index(h);
}

/* Gives the parts of the keys to one partition after another, so that each gets as many. */
static void heavy_keys_assign(struct heavy_keys *h, const struct heavy_candidate *candidates, size_t n, int partitions)
{
        struct heavy_key *keys = new_array(struct heavy_key, n);
        uint32_t next = 0;
        for (size_t i = 0; i < n; i++) {
                keys[i] = candidates[i].key;
                keys[i].start = next;
                next = (next + keys[i].parts) % (uint32_t)partitions;
        }
        qsort(keys, n, sizeof(*keys), heavy_key_compare);
        heavy_keys_set(h, keys, n);
}

void heavy_keys_choose(struct heavy_keys *h, const struct heavy_samples samples[2], int partitions, uint32_t sides)
{
        struct heavy_estimate e;
        double total = 0;
        size_t n = 0, most = samples[JOIN_LEFT].n / LEAST_DRAWN + samples[JOIN_RIGHT].n / LEAST_DRAWN;
        for (int side = 0; side < 2; side++)
                if (samples[side].n)
                        qsort(samples[side].keys, samples[side].n, sizeof(*samples[side].keys), heavy_sample_compare);
        for (size_t at[2] = {0}; heavy_estimate_next(&e, samples, at);)
                total += heavy_estimate_work(&e);
        struct heavy_candidate *candidates = new_array(struct heavy_candidate, most);
        for (size_t at[2] = {0}; partitions > 1 && heavy_estimate_next(&e, samples, at);)
                n += heavy_estimate_spread(&e, total / partitions, partitions, sides, &candidates[n]);
        if (n)
                qsort(candidates, n, sizeof(*candidates), heavy_candidate_compare);
        heavy_keys_assign(h, candidates, MIN(n, MAX_HEAVY_KEYS(partitions)), partitions);
        free(candidates);
}

void heavy_keys_copy(struct heavy_keys *h, const struct heavy_keys *from)
{
        struct heavy_key *keys = new_array(struct heavy_key, from->n);
        if (from->n)
                memcpy(keys, from->keys, from->n * sizeof(*keys));
        heavy_keys_set(h, keys, from->n);
}

void heavy_keys_deinit(struct heavy_keys *h)
{
        free(h->keys);
        free(h->slots);
        *h = (struct heavy_keys){0};
}
