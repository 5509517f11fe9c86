/*
 * Bounds of range partitioners: a sample of the keys, taken by a job of its own before the job that needs them.
 *
 * As in Spark the sample aims at 20 keys a partition (spark.rdd.sortByKey's million at most), three times as many
 * from each input partition as its share, and each key stands for the rows that it was drawn from. Where the rows
 * come from text files through element-wise operators only, a task reads some blocks of its split instead of all of
 * it; if that gives too little, everything is read.
 *
 * An action whose partitioners are ready takes no lock. One that needs bounds which another thread's action is
 * computing waits for that; if the sampling job fails or is cancelled, the action it was run for fails with its error,
 * and one of those that waited samples anew, in a job of its own group. Waiting threads hold no claims, so they form no
 * circle.
 */
#include "driver/actions.h"

#include "base/arena.h"
#include "base/mem.h"
#include "rdd/partitioner.h"

#include <math.h>

#define SAMPLE_BLOCKS ((size_t)1 << 20) /* bytes of a split that a quick sample reads */

/* What one task drew. */
struct drawn {
        struct arena arena;
        struct sample_key *keys;
        size_t n;
};

struct sample_action {
        struct action action;
        fst_type type;
        size_t per_partition;
        struct drawn **drawn; /* by output */
        int n;
};

struct sample_sink {
        struct op op;
        size_t room;
        uint64_t seen;
        struct drawn *drawn;
};

/* ----------------------------------------------------------------------------------------------------- drawing */

static void drawn_free(struct drawn *d)
{
        if (!d)
                return;
        arena_deinit(&d->arena);
        free(d->keys);
        free(d);
}

static int sample_begin(struct op *op)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        drawn_free(sink->drawn);
        sink->drawn = new0(struct drawn);
        sink->drawn->keys = new_array(struct sample_key, sink->room);
        sink->seen = 0;
        return 0;
}

static void keep(struct sample_sink *sink, const fst_batch *batch, uint32_t row, size_t at)
{
        fst_bytes view = key_view(batch->type, batch->key, row);
        struct sample_key *key = &sink->drawn->keys[at];
        key->prefix = key_prefix(batch->type, batch->key, row);
        key->bytes = (fst_bytes){0};
        if (view.data)
                key->bytes = (fst_bytes){arena_copy(&sink->drawn->arena, view.data, view.len), view.len};
}

/* Reservoir sampling: the first `room` rows, then each later one with the right chance in place of another. */
static int sample_consume(struct op *op, const struct rows *in)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < in->batch.rows; i++, sink->seen++) {
                if (sink->drawn->n < sink->room) {
                        keep(sink, &in->batch, i, sink->drawn->n++);
                        continue;
                }
                uint64_t at = fst_random_u64(&op->run->task) % (sink->seen + 1);
                if (at < sink->room)
                        keep(sink, &in->batch, i, at);
        }
        return 0;
}

static void sample_free(struct op *op)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        drawn_free(sink->drawn);
        op_deinit(op);
        free(sink);
}

static const struct op_class sample_class = {"sample", .begin = sample_begin, .consume = sample_consume,
                                             .free = sample_free};

static struct op *sample_sink_new(struct action *action, struct task_run *run)
{
        struct sample_action *self = container_of(action, struct sample_action, action);
        struct sample_sink *sink = new0(struct sample_sink);
        op_init(&sink->op, &sample_class, run, self->type);
        sink->room = self->per_partition;
        return &sink->op;
}

static int sample_result(struct action *action, struct op *op, struct task_result *result)
{
        struct sample_sink *sink = container_of(op, struct sample_sink, op);
        struct drawn *d = sink->drawn;
        double rows = (double)sink->seen * op->run->sample_scale;
        for (size_t i = 0; i < d->n; i++)
                d->keys[i].weight = rows / (double)d->n;
        result->data = steal(sink->drawn);
        result->bytes = d->n * sizeof(*d->keys) + d->arena.bytes;
        return 0;
}

static int sample_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct sample_action, action)->drawn[output] = result->data;
        return 0;
}

static void sample_discard(struct action *action, struct task_result *result)
{
        drawn_free(result->data);
}

/* ------------------------------------------------------------------------------------------------------- bounds */

/* Whether some blocks of the files say as much as all of them. */
static bool can_read_less(const fst_rdd *rdd)
{
        for (; rdd; rdd = rdd->parent) {
                if (__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED))
                        return false;
                switch (rdd->op) {
                case RDD_MAP:
                case RDD_FLAT_MAP:
                case RDD_FILTER:
                case RDD_MAP_VALUES:
                case RDD_KEY_BY:
                case RDD_COALESCE:
                        break;
                default: /* small files are read whole anyway */
                        return rdd->op == RDD_TEXT_FILE &&
                               rdd->text.splits.bytes > rdd->text.splits.len * SAMPLE_BLOCKS;
                }
        }
        return false;
}

static size_t set_bounds(struct partitioner *p, struct sample_action *action, size_t at_least)
{
        size_t n = 0;
        for (int i = 0; i < action->n; i++)
                n += action->drawn[i] ? action->drawn[i]->n : 0;
        if (n < at_least)
                return n;
        struct sample_key *keys = new_array(struct sample_key, n);
        size_t at = 0;
        for (int i = 0; i < action->n; i++) {
                struct drawn *d = action->drawn[i];
                if (d && d->n)
                        memcpy(keys + at, d->keys, d->n * sizeof(*keys));
                at += d ? d->n : 0;
        }
        partitioner_set_bounds(p, keys, n);
        free(keys);
        return n;
}

static int sample(fst_rdd *shuffled, bool quick, fst_site site, struct fst_error *error)
{
        struct partitioner *p = &shuffled->shuffle.partitioner;
        fst_rdd *rdd = shuffled->parent;
        int inputs = MAX(rdd->lineage.partitions, 1);
        double size = MIN(20.0 * p->partitions, 1e6);
        struct sample_action action = {
                .action = {.name = "sample",
                           .sample_budget = quick ? SAMPLE_BLOCKS : 0,
                           .sink_new = sample_sink_new,
                           .result = sample_result,
                           .merge = sample_merge,
                           .discard = sample_discard},
                .type = rdd->type,
                .per_partition = (size_t)ceil(3.0 * size / inputs),
                .n = rdd->lineage.partitions,
        };
        action.drawn = new_array(struct drawn *, (size_t)inputs);
        int r = action_run(rdd, &action.action, NULL, 0, site, error);
        if (r == 0)
                set_bounds(p, &action, quick ? (size_t)size : 0);
        for (int i = 0; i < action.n; i++)
                drawn_free(action.drawn[i]);
        free(action.drawn);
        return r;
}

/* True if the caller is to compute the bounds; false once they are there, computed by whoever was first. */
static bool claim(fst_rdd *rdd)
{
        fst_context *sc = rdd->sc;
        pthread_mutex_lock(&sc->prepare);
        while (rdd->shuffle.sampling)
                pthread_cond_wait(&sc->prepared, &sc->prepare);
        bool mine = !partitioner_ready(&rdd->shuffle.partitioner);
        rdd->shuffle.sampling = mine;
        pthread_mutex_unlock(&sc->prepare);
        return mine;
}

static void release(fst_rdd *rdd)
{
        fst_context *sc = rdd->sc;
        pthread_mutex_lock(&sc->prepare);
        rdd->shuffle.sampling = false;
        pthread_cond_broadcast(&sc->prepared);
        pthread_mutex_unlock(&sc->prepare);
}

/* Parents first, so that nobody holds a claim while waiting for another. */
static int prepare(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        int r = rdd->parent ? prepare(rdd->parent, site, error) : 0;
        if (r || rdd->op != RDD_SHUFFLED || partitioner_ready(&rdd->shuffle.partitioner) || !claim(rdd))
                return r;
        site.operation = rdd->site.operation;
        if (can_read_less(rdd->parent))
                r = sample(rdd, true, site, error);
        if (r == 0 && !partitioner_ready(&rdd->shuffle.partitioner))
                r = sample(rdd, false, site, error);
        release(rdd);
        return r;
}

int range_bounds_prepare(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        bool needed = false;
        for (const fst_rdd *at = rdd; at; at = at->parent)
                needed |= at->op == RDD_SHUFFLED && !partitioner_ready(&at->shuffle.partitioner);
        return needed ? prepare(rdd, site, error) : 0;
}
