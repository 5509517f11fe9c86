/* See stratified_sampler.h. */
#include "rdd/aggregate/stratified_sampler.h"

#include "base/mem.h"
#include "rdd/aggregate/hash.h"
#include "rdd/aggregate/op_lookup.h"

#include <math.h>

/* ---------------------------------------------------------------------------------------------------------- keys */

size_t strata_slots(size_t n)
{
        size_t slots = 2;
        while (slots < 2 * n)
                slots *= 2;
        return slots;
}

static fst_batch strata_copy_keys(const struct strata *s, size_t at)
{
        return (fst_batch){.rows = (uint32_t)MIN(s->n - at, (size_t)FST_BATCH_ROWS),
                           .type = s->key,
                           .key = column_from(s->keys, s->key.key, s->key.key_size, (uint32_t)at)};
}

static uint32_t *stratified_sampler_slot_of(const struct strata *s, const struct reduce_value *key, uint64_t hash)
{
        for (size_t at = hash & s->mask;; at = (at + 1) & s->mask) {
                if (!s->slots[at])
                        return &s->slots[at];
                fst_batch one = strata_copy_keys(s, s->slots[at] - 1);
                if (lookup_is_key(&one, 0, key))
                        return &s->slots[at];
        }
}

void strata_index(struct strata *s)
{
        uint64_t hashes[FST_BATCH_ROWS];
        s->mask = strata_slots(s->n) - 1;
        for (size_t at = 0; at < s->n; at += FST_BATCH_ROWS) {
                fst_batch batch = strata_copy_keys(s, at);
                hash_keys(&batch, hashes);
                for (uint32_t i = 0; i < batch.rows; i++) {
                        struct reduce_value key = reduce_value_at(s->key, batch.key, i);
                        *stratified_sampler_slot_of(s, &key, hashes[i]) = (uint32_t)(at + i) + 1;
                }
        }
}

static void strata_copy_bytes(struct strata *s, const fst_bytes *from)
{
        size_t total = 0;
        for (size_t i = 0; i < s->n; i++)
                total += from[i].len;
        char *to = s->bytes = mem_alloc(total + 1);
        s->keys.bytes = new_array(fst_bytes, s->n + 1);
        for (size_t i = 0; i < s->n; i++) {
                if (from[i].len)
                        memcpy(to, from[i].data, from[i].len);
                s->keys.bytes[i] = (fst_bytes){to, from[i].len};
                to += from[i].len;
        }
}

void strata_init(struct strata *s, fst_type key, const void *keys, const double *fractions, size_t n)
{
        *s = (struct strata){.key = key, .n = n, .data = new_array(struct stratum, n + 1)};
        for (size_t i = 0; i < n; i++)
                s->data[i].fraction = fractions[i];
        if (key.key == FST_KIND_BYTES) {
                strata_copy_bytes(s, keys);
        } else {
                s->keys.fixed = mem_alloc(n * key.key_size + 1);
                if (n)
                        memcpy(s->keys.fixed, keys, n * key.key_size);
        }
        s->slots = new_array(uint32_t, strata_slots(n));
        strata_index(s);
}

void strata_deinit(struct strata *s)
{
        free(s->keys.fixed);
        free(s->bytes);
        free(s->data);
        free(s->slots);
}

uint32_t strata_find(const struct strata *s, const fst_batch *batch, uint32_t row, uint64_t hash)
{
        struct reduce_value key = reduce_value_at(s->key, batch->key, row);
        uint32_t slot = *stratified_sampler_slot_of(s, &key, hash);
        return slot ? slot - 1 : STRATA_NONE;
}

/* ------------------------------------------------------------------------------------------------- exact samples */

/* The probability that a sample accepts too many pairs, and that its wait list is too short. */
#define STRATA_DELTA 5e-5
#define MIN_RATE 1e-10

void strata_bounds_once(double fraction, int64_t items, double *accept, double *wait)
{
        double gamma = -log(STRATA_DELTA) / (double)items, low = gamma * (2.0 / 3.0);
        *accept = fraction + low - sqrt(low * low + 3 * low * fraction);
        double upper = fraction + gamma + sqrt(gamma * gamma + 2 * gamma * fraction);
        *wait = isnan(upper) ? upper : fmin(1, fmax(MIN_RATE, upper));
}

/* The number of standard deviations of a Poisson distribution with mean @size for that probability. */
static double poisson_deviations(double size)
{
        return size < 6 ? 12 : size < 16 ? 9 : 6;
}

void strata_bounds_replaced(double fraction, int64_t items, double *accept, double *wait)
{
        double n = (double)items, size = ceil(n * fraction), wide = poisson_deviations(size) * sqrt(size);
        double lower = fmax(size - wide, 1e-15), upper = fmax(size + wide, 1e-10);
        *accept = lower / n;
        *wait = (upper - lower) / n;
}

static int strata_compare_numbers(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

bool strata_threshold(double fraction, int64_t items, int64_t accepted, double *waiting, size_t n, double accept,
                      double *threshold)
{
        int64_t missing = (int64_t)ceil((double)items * fraction) - accepted;
        if (n)
                qsort(waiting, n, sizeof(*waiting), strata_compare_numbers);
        if (missing < 0) {
                *threshold = accept;
                return false;
        }
        if ((uint64_t)missing < n)
                *threshold = waiting[missing];
        else /* takes the whole wait list */
                *threshold = n ? nextafter(waiting[n - 1], INFINITY) : accepted ? accept : 0;
        return (uint64_t)missing <= n;
}
