/*
 * sample_by_key and sample_by_key_exact: a fraction of the pairs of each key. They are the pairs that Spark takes
 * (rdd/aggregate/stratified_sampler.h).
 *
 * Before the first job of an exact sample, driver/actions/sample_thresholds.c computes its thresholds. It runs RDDs of
 * this class with another `step` and the strata of the first. Their rows are pairs (key, number). The key is
 * STEP_RESULTS × the number of the stratum + an enum step_result.
 */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "io/row_text.h"
#include "rdd/aggregate/hash.h"
#include "rdd/aggregate/stratified_sampler.h"

#include <firesteel/pair.h>

#include <math.h>

/* ----------------------------------------------------------------------------------------------------- building */

static int by_key_check(fst_rdd *pairs, const void *keys, fst_type key, const double *fractions, size_t n,
                        fst_site site, struct fst_error *error)
{
        char have[64], given[64];
        fst_type wanted = {.key = pairs->type.key, .key_size = pairs->type.key_size};
        if (!pairs->type.value)
                return error_set(error, -EINVAL, "%s needs pairs, but the rows are %s", site.operation,
                                 fst_type_name(pairs->type, have));
        if (!fst_type_equal(wanted, key))
                return error_set(error, -EINVAL, "%s was given fractions for keys that are %s, but the pairs are %s",
                                 site.operation, fst_type_name(key, given), fst_type_name(pairs->type, have));
        if (n > UINT32_MAX / STEP_RESULTS)
                return error_set(error, -EINVAL, "%s was given fractions for too many keys", site.operation);
        if (n > 0 && (!keys || !fractions))
                return error_set(error, -EINVAL, "%s was given NULL instead of %zu %s", site.operation, n,
                                 keys ? "fractions" : "keys");
        for (size_t i = 0; i < n; i++)
                if (!(fractions[i] >= 0))
                        return error_set(error, -EINVAL, "Negative sampling rates.");
                else if (isinf(fractions[i]))
                        return error_set(error, -EINVAL, "%s was given the fraction %g, but fractions must be finite",
                                         site.operation, fractions[i]);
        return 0;
}

FST_API fst_rdd *fst_sample_by_key_at(fst_rdd *pairs, bool with_replacement, const void *keys, fst_type key,
                                      const double *fractions, size_t n, int64_t seed, bool exact, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct fst_error error = FST_ERROR_INIT;
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_SAMPLED_BY_KEY, pairs->type, pairs, site);
        int r = rdd->status ? 0 : by_key_check(pairs, keys, key, fractions, n, site, &error);
        rdd->by_key.replaced = with_replacement;
        rdd->by_key.exact = exact;
        rdd->by_key.seed = seed;
        rdd_depend_narrowly(rdd, true);
        if (r)
                return rdd_fail_with(rdd, r, &error);
        if (!rdd->status) {
                rdd->by_key.strata = new0(struct strata);
                strata_init(rdd->by_key.strata, key, keys, fractions, n);
        }
        return rdd;
}

fst_rdd *rdd_sample_step(fst_rdd *sampled, enum sample_step step)
{
        fst_rdd *parent = rdd_parent(sampled);
        fst_rdd *rdd = rdd_new(sampled->sc, RDD_SAMPLED_BY_KEY, FST_PAIR(I64, F64), parent, sampled->site);
        rdd->by_key = sampled->by_key;
        rdd->by_key.step = step;
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

static void by_key_free(fst_rdd *rdd)
{
        if (rdd->by_key.step != SAMPLE_TAKE || !rdd->by_key.strata)
                return; /* the strata are borrowed */
        strata_deinit(rdd->by_key.strata);
        free(rdd->by_key.strata);
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static void by_key_encode_keys(struct rdd_wire_writer *w, const struct strata *strata, Firesteel__Strata *m)
{
        size_t total = 0;
        if (strata->key.key != FST_KIND_BYTES) {
                m->keys.data = (uint8_t *)strata->keys.fixed;
                m->keys.len = strata->n * strata->key.key_size;
                return;
        }
        m->n_key_lengths = strata->n;
        m->key_lengths = arena_alloc(&w->arena, strata->n * sizeof(*m->key_lengths));
        for (size_t i = 0; i < strata->n; i++) {
                m->key_lengths[i] = (uint32_t)strata->keys.bytes[i].len;
                total += strata->keys.bytes[i].len;
        }
        m->keys.data = (uint8_t *)strata->bytes; /* contiguous, as they were copied */
        m->keys.len = total;
}

static int by_key_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *message,
                         struct fst_error *error)
{
        const struct strata *strata = rdd->by_key.strata;
        bool bounds = rdd->by_key.exact && rdd->by_key.step != SAMPLE_COUNT;
        Firesteel__Strata *m = arena_alloc(&w->arena, sizeof(*m));
        firesteel__strata__init(m);
        if (rdd->by_key.exact && rdd->by_key.step == SAMPLE_TAKE && !rdd_sample_ready(rdd))
                return error_set(error, -EINVAL, "the thresholds of %s are not known yet", rdd->call_site);
        m->step = rdd->by_key.step;
        m->replaced = rdd->by_key.replaced;
        m->exact = rdd->by_key.exact;
        m->seed = rdd->by_key.seed;
        by_key_encode_keys(w, strata, m);
        m->n_fractions = strata->n;
        m->fractions = arena_alloc(&w->arena, strata->n * sizeof(double));
        m->n_bounds = bounds ? 3 * strata->n : 0;
        m->bounds = arena_alloc(&w->arena, m->n_bounds * sizeof(double));
        for (size_t i = 0; i < strata->n; i++) {
                const struct stratum *s = &strata->data[i];
                m->fractions[i] = s->fraction;
                if (bounds)
                        memcpy(&m->bounds[3 * i], (double[]){s->accept, s->wait, s->threshold}, 3 * sizeof(double));
        }
        message->strata = m;
        return 0;
}

static int by_key_decode_keys(struct rdd_wire_reader *reader, const Firesteel__Strata *m, fst_rdd *rdd,
                              struct strata *strata, struct fst_error *error)
{
        size_t at = 0, n = strata->n;
        if (strata->key.key != FST_KIND_BYTES) {
                if (m->keys.len / strata->key.key_size != n || m->keys.len % strata->key.key_size)
                        return rdd_wire_bad(rdd, error, "its fractions do not match its keys");
                char *keys = wire_array(reader->memory, n + 1, strata->key.key_size); /* aligned */
                if (!keys)
                        return rdd_wire_too_big(error);
                if (n)
                        memcpy(keys, m->keys.data, m->keys.len);
                strata->keys.fixed = keys;
                return 0;
        }
        if (m->n_key_lengths != n)
                return rdd_wire_bad(rdd, error, "its fractions do not match its keys");
        strata->keys.bytes = wire_array(reader->memory, n + 1, sizeof(fst_bytes));
        if (!strata->keys.bytes)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < n; i++) {
                if (m->key_lengths[i] > m->keys.len - at)
                        return rdd_wire_bad(rdd, error, "a key exceeds the bytes of all keys");
                size_t len = m->key_lengths[i]; /* empty bytes have no pointer in the message */
                strata->keys.bytes[i] = len ? (fst_bytes){(const char *)m->keys.data + at, len} : fst_bytes_of("");
                at += m->key_lengths[i];
        }
        return 0;
}

static int by_key_decode_strata(struct rdd_wire_reader *reader, const Firesteel__Strata *m, fst_rdd *rdd, bool bounds,
                                struct fst_error *error)
{
        fst_type in = rdd_parent(rdd)->type;
        struct strata *strata = wire_array(reader->memory, 1, sizeof(*strata));
        if (!strata || m->n_fractions > UINT32_MAX / STEP_RESULTS)
                return rdd_wire_too_big(error);
        strata->key = (fst_type){.key = in.key, .key_size = in.key_size};
        strata->n = m->n_fractions;
        int r = by_key_decode_keys(reader, m, rdd, strata, error);
        if (r)
                return r;
        strata->data = wire_array(reader->memory, strata->n + 1, sizeof(*strata->data));
        strata->slots = wire_array(reader->memory, strata_slots(strata->n), sizeof(*strata->slots));
        if (!strata->data || !strata->slots)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < strata->n; i++) {
                struct stratum s = {.fraction = m->fractions[i]};
                if (bounds)
                        s = (struct stratum){s.fraction, m->bounds[3 * i], m->bounds[3 * i + 1], m->bounds[3 * i + 2]};
                if (!(s.fraction >= 0) || isinf(s.fraction) || isinf(s.accept) || isinf(s.wait))
                        return rdd_wire_bad(rdd, error, "a fraction is not valid");
                strata->data[i] = s;
        }
        strata_index(strata);
        rdd->by_key.strata = strata;
        return 0;
}

static int by_key_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                         struct fst_error *error)
{
        const Firesteel__Strata *m = message->strata;
        if (!m || m->step > SAMPLE_DRAW || !rdd_parent(rdd)->type.value)
                return rdd_wire_bad(rdd, error, "its sampling step is missing");
        bool bounds = m->exact && m->step != SAMPLE_COUNT;
        if (m->n_bounds != (bounds ? 3 * m->n_fractions : 0))
                return rdd_wire_bad(rdd, error, "its bounds do not match its keys");
        rdd->by_key.step = (enum sample_step)m->step;
        rdd->by_key.replaced = m->replaced;
        rdd->by_key.exact = m->exact;
        rdd->by_key.seed = m->seed;
        int r = rdd_wire_check_partitions(rdd, error);
        if (r == 0 && m->step == SAMPLE_TAKE)
                r = rdd_wire_check_type(rdd, error);
        else if (r == 0 && !fst_type_equal(rdd->type, FST_PAIR(I64, F64)))
                r = rdd_wire_bad(rdd, error, "its rows must be pairs of I64");
        return r ? r : by_key_decode_strata(reader, m, rdd, bounds, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

/* Poisson-distributed numbers of one mean. Spark has a generator for each mean, all seeded alike. */
struct poisson_numbers {
        double mean;
        struct well19937c *well; /* NULL before the first draw */
        bool begun;              /* seeded for this partition */
};

struct by_key_op {
        struct op op;
        const fst_rdd *rdd;
        uint64_t uniform;
        struct poisson_numbers *poisson; /* ascending by mean */
        size_t n_poisson;
        struct key_draws { /* for each key, when drawing or counting */
                int64_t items, accepted;
        } * seen;
};

static struct by_key_op *by_key_of(struct op *op)
{
        return container_of(op, struct by_key_op, op);
}

static int64_t by_key_seed(const struct by_key_op *self)
{
        return (int64_t)((uint64_t)self->rdd->by_key.seed + (uint64_t)self->op.partition);
}

static int by_key_begin(struct op *op)
{
        struct by_key_op *self = by_key_of(op);
        self->uniform = xorshift_start(by_key_seed(self));
        for (size_t i = 0; i < self->n_poisson; i++)
                self->poisson[i].begun = false;
        if (self->seen)
                memset(self->seen, 0, self->rdd->by_key.strata->n * sizeof(*self->seen));
        return 0;
}

static uint32_t by_key_poisson(struct by_key_op *self, double mean)
{
        size_t low = 0, high = self->n_poisson;
        if (!(mean > 0))
                return 0;
        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                if (self->poisson[middle].mean <= mean)
                        low = middle;
                else
                        high = middle;
        }
        struct poisson_numbers *p = &self->poisson[low];
        if (!p->well)
                p->well = new0(struct well19937c);
        if (!p->begun)
                poisson_begin(p->well, by_key_seed(self));
        p->begun = true;
        return poisson_next(p->well, mean);
}

/* The number of times that a pair of stratum @s is taken. */
static uint32_t by_key_times(struct by_key_op *self, const struct stratum *s)
{
        const struct rdd_by_key *by = &self->rdd->by_key;
        if (!by->replaced)
                return xorshift_f64(&self->uniform) < (by->exact ? s->threshold : s->fraction);
        if (!by->exact)
                return by_key_poisson(self, s->fraction);
        uint32_t n = by_key_poisson(self, s->accept);
        for (uint32_t waiting = by_key_poisson(self, s->wait); waiting > 0; waiting--)
                n += xorshift_f64(&self->uniform) < s->threshold;
        return n;
}

static int64_t by_key_result(uint32_t stratum, enum step_result what)
{
        return (int64_t)stratum * STEP_RESULTS + what;
}

/* Counts a pair of stratum @i and draws its number. */
static void by_key_draw(struct by_key_op *self, uint32_t i)
{
        const struct rdd_by_key *by = &self->rdd->by_key;
        const struct stratum *s = &by->strata->data[i];
        struct key_draws *seen = &self->seen[i];
        fst_out *out = &self->op.out;
        if (by->step == SAMPLE_DRAW && by->replaced) {
                seen->accepted += by_key_poisson(self, s->accept);
                for (uint32_t waiting = by_key_poisson(self, s->wait); waiting > 0; waiting--)
                        fst_emit(out, by_key_result(i, STEP_WAITS), xorshift_f64(&self->uniform));
        } else if (by->step == SAMPLE_DRAW) {
                double accept, wait, x = xorshift_f64(&self->uniform);
                strata_bounds_once(s->fraction, seen->items, &accept, &wait);
                if (x < accept)
                        seen->accepted++;
                else if (x < wait)
                        fst_emit(out, by_key_result(i, STEP_WAITS), x);
        }
        seen->items++;
}

static int by_key_no_fraction(struct by_key_op *self, const fst_batch *batch, uint32_t row)
{
        fst_batch key = {.rows = 1,
                         .type = self->rdd->by_key.strata->key,
                         .key = column_from(batch->key, batch->type.key, batch->type.key_size, row)};
        _cleanup_free_ char *text = mem_alloc(row_text_size(&key, 0) + 1);
        char *end = row_text_print(text, &key, 0);
        return task_run_fail(self->op.run, -ENOENT, "key not found: %.*s (%s has no fraction for it)",
                             (int)MIN(end - text, 200), text, self->rdd->site.operation);
}

static int by_key_consume(struct op *op, const struct rows *in)
{
        struct by_key_op *self = by_key_of(op);
        const struct rdd_by_key *by = &self->rdd->by_key;
        uint64_t hashes[FST_BATCH_ROWS];
        uint16_t taken[FST_BATCH_ROWS];
        uint32_t n = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        hash_keys(&in->batch, hashes);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                uint32_t stratum = strata_find(by->strata, &in->batch, i, hashes[i]);
                if (stratum == STRATA_NONE)
                        return by_key_no_fraction(self, &in->batch, i);
                if (by->step != SAMPLE_TAKE) {
                        by_key_draw(self, stratum);
                        continue;
                }
                for (uint32_t more = by_key_times(self, &by->strata->data[stratum]); more > 0; more--) {
                        taken[n++] = (uint16_t)i;
                        if (n < FST_BATCH_ROWS)
                                continue;
                        int r = op_push_some(op, in, taken, n);
                        if (r)
                                return r;
                        n = 0;
                }
        }
        return by->step == SAMPLE_TAKE ? op_push_some(op, in, taken, n) : op->status;
}

static int by_key_end(struct op *op)
{
        struct by_key_op *self = by_key_of(op);
        for (size_t i = 0; self->seen && i < self->rdd->by_key.strata->n && op->status == 0; i++) {
                if (self->seen[i].items)
                        fst_emit(&op->out, by_key_result((uint32_t)i, STEP_ITEMS), (double)self->seen[i].items);
                if (self->seen[i].accepted)
                        fst_emit(&op->out, by_key_result((uint32_t)i, STEP_ACCEPTED), (double)self->seen[i].accepted);
        }
        return op->status;
}

static void by_key_op_free(struct op *op)
{
        struct by_key_op *self = by_key_of(op);
        for (size_t i = 0; i < self->n_poisson; i++)
                free(self->poisson[i].well);
        free(self->poisson);
        free(self->seen);
        op_deinit(op);
        free(self);
}

static const struct op_class by_key_op_class = {"sample_by_key", .begin = by_key_begin, .consume = by_key_consume,
                                                .end = by_key_end, .free = by_key_op_free};

static int by_key_compare_means(const void *a, const void *b)
{
        double x = ((const struct poisson_numbers *)a)->mean, y = ((const struct poisson_numbers *)b)->mean;
        return (x > y) - (x < y);
}

/* Creates a generator for each distinct mean except 0. */
static void by_key_find_means(struct by_key_op *self)
{
        const struct rdd_by_key *by = &self->rdd->by_key;
        size_t n = 0;
        if (!by->replaced || by->step == SAMPLE_COUNT)
                return;
        self->poisson = new_array(struct poisson_numbers, 2 * by->strata->n + 1);
        for (size_t i = 0; i < by->strata->n; i++) {
                const struct stratum *s = &by->strata->data[i];
                double means[] = {by->exact ? s->accept : s->fraction, by->exact ? s->wait : 0};
                for (int k = 0; k < 2; k++)
                        if (means[k] > 0)
                                self->poisson[n++].mean = means[k];
        }
        if (n)
                qsort(self->poisson, n, sizeof(*self->poisson), by_key_compare_means);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || self->poisson[i].mean != self->poisson[self->n_poisson - 1].mean)
                        self->poisson[self->n_poisson++].mean = self->poisson[i].mean;
}

static struct op *by_key_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct by_key_op *self = new0(struct by_key_op);
        op_init(&self->op, &by_key_op_class, run, rdd->type);
        op_alloc_out(&self->op, rdd->type);
        self->rdd = rdd;
        by_key_find_means(self);
        if (rdd->by_key.step != SAMPLE_TAKE)
                self->seen = new_array(struct key_draws, rdd->by_key.strata->n + 1);
        return &self->op;
}

const struct rdd_class rdd_sampled_by_key_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .free = by_key_free,
        .encode = by_key_encode,
        .decode = by_key_decode,
        .op_new = by_key_op_new,
};
