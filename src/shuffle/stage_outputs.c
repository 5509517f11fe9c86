/* See stage_outputs.h. A lock for all stages protects `here` and `ended` of their inputs: each task takes it once. */
#include "shuffle/stage_outputs.h"

#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_store.h"

#include <pthread.h>

#define LEAST_BLOCKS (1 << 16) /* map partitions × partitions: fewer are looked at one by one */

static pthread_mutex_t stage_outputs_lock = PTHREAD_MUTEX_INITIALIZER;

void stage_outputs_unref(struct stage_outputs *s)
{
        if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        for (int m = 0; m < s->n; m++)
                shuffle_output_unref(s->at[m]);
        free(s->at);
        free(s->wanted);
        free(s);
}

/* The partitions of the outputs if most blocks are empty, so that a table pays; else 0. */
static int stage_outputs_sparse(const struct stage_outputs *s)
{
        int partitions = 0, here = 0, packed = 0;
        for (int m = 0; m < s->n; m++) {
                if (!s->at[m])
                        continue;
                if (partitions && s->at[m]->partitions != partitions)
                        return 0;
                partitions = s->at[m]->partitions;
                here++;
                packed += s->at[m]->present != NULL;
        }
        return packed > here / 2 && (int64_t)s->n * partitions >= LEAST_BLOCKS ? partitions : 0;
}

static void stage_outputs_mark(struct stage_outputs *s)
{
        int partitions = stage_outputs_sparse(s);
        if (!partitions)
                return;
        s->words = ((size_t)s->n + 63) / 64;
        s->wanted = new_array(uint64_t, s->words * (size_t)partitions);
        for (int m = 0; m < s->n; m++) {
                const struct shuffle_output *o = s->at[m];
                bool all = !o || !o->present;
                for (int p = 0; p < partitions; p++) {
                        if (!all)
                                p = shuffle_output_next(o, p);
                        if (p < partitions)
                                s->wanted[(size_t)p * s->words + (size_t)m / 64] |= UINT64_C(1) << m % 64;
                }
        }
}

static struct stage_outputs *stage_outputs_look_up(const struct shuffle_inputs *inputs, int here,
                                                   struct shuffle_store *store)
{
        struct stage_outputs *s = new0(struct stage_outputs);
        s->refs = 1;
        s->n = inputs->n;
        s->at = new_array(struct shuffle_output *, (size_t)MAX(s->n, 1));
        if (here >= 0)
                shuffle_store_get_all(store, inputs->shuffle_id, inputs->maps, inputs->n, here, s->at);
        stage_outputs_mark(s);
        return s;
}

struct stage_outputs *stage_outputs_get(struct shuffle_inputs *inputs, int here, struct shuffle_store *store)
{
        pthread_mutex_lock(&stage_outputs_lock);
        struct stage_outputs *s = inputs->here ? inputs->here : stage_outputs_look_up(inputs, here, store);
        if (!inputs->ended) {
                inputs->here = s;
                __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
        }
        pthread_mutex_unlock(&stage_outputs_lock);
        return s;
}

void stage_outputs_end(struct shuffle_inputs *inputs)
{
        pthread_mutex_lock(&stage_outputs_lock);
        struct stage_outputs *s = steal(inputs->here);
        inputs->ended = true;
        pthread_mutex_unlock(&stage_outputs_lock);
        stage_outputs_unref(s);
}
