/*
 * Preferred locations of the tasks of a stage: Spark's getPreferredLocs. They are those of the partition itself, else
 * those of the first partition that it depends on, and so on along narrow dependencies.
 *
 * The walk does not recurse, because a lineage may be ten thousand deep. RDDs without locations are found before the
 * first task, so a stage without locations costs one walk.
 */
#include "sched/dag.h"

struct location_node {
        const struct lineage *rdd;
        int partition;
};

struct walk {
        struct sched *s;
        VEC(struct location_node) stack;
};

/* Returns whether some RDD of the stage may have locations. */
static bool stage_may_prefer(struct walk *w, const struct lineage *final)
{
        struct sched *s = w->s;
        bool found = false;

        if (!s->ops->may_prefer)
                return true;
        s->walk++;
        vec_push(&w->stack, (struct location_node){final, 0});
        while (w->stack.len > 0 && !found) {
                const struct lineage *rdd = w->stack.data[--w->stack.len].rdd;

                if (!dag_mark_rdd(s, rdd))
                        continue;
                found = s->ops->may_prefer(s->owner, rdd);
                for (int i = 0; i < rdd->n_deps; i++)
                        if (rdd->deps[i].kind == LINEAGE_NARROW)
                                vec_push(&w->stack, (struct location_node){rdd->deps[i].parent, 0});
        }
        w->stack.len = 0;
        return found;
}

/* Returns the partitions of the parent that @partition needs. */
static void preferred_locations_needs(const struct lineage *child, const struct lineage_dep *dep, int partition,
                                      int *first, int *count)
{
        int64_t from = dep->parent->partitions, to = child->partitions;

        if (dep->needs) {
                dep->needs(child, dep, partition, first, count);
        } else if (from == to) {
                *first = partition;
                *count = 1;
        } else {
                *first = (int)(partition * from / to);
                *count = (int)((partition + 1) * from / to) - *first;
        }
}

static void push_needed(struct walk *w, struct location_node at)
{
        for (int i = at.rdd->n_deps; i-- > 0;) {
                const struct lineage_dep *dep = &at.rdd->deps[i];
                int first, count;

                if (dep->kind != LINEAGE_NARROW)
                        continue;
                preferred_locations_needs(at.rdd, dep, at.partition, &first, &count);
                for (int k = count; k-- > 0;)
                        vec_push(&w->stack, (struct location_node){dep->parent, first + k});
        }
}

/* A diamond of RDDs may be walked many times. Spark marks visited partitions. This walk limits its steps instead. */
enum { MAX_STEPS = 100000 };

static int preferred_locations_locate(void *owner, struct task_set *set, int index, struct task_location *out, int max)
{
        struct walk *w = owner;
        int n = 0;

        w->stack.len = 0;
        vec_push(&w->stack, (struct location_node){set->stage->lineage, task_set_partition(set, index)});
        for (int step = 0; w->stack.len > 0 && step < MAX_STEPS && n == 0; step++) {
                struct location_node at = w->stack.data[--w->stack.len];

                if (!w->s->ops->may_prefer || w->s->ops->may_prefer(w->s->owner, at.rdd))
                        n = w->s->ops->preferred(w->s->owner, at.rdd, at.partition, out, max);
                if (n <= 0)
                        push_needed(w, at);
        }
        return n;
}

void preferred_places_find(struct sched *s, struct task_set *set)
{
        struct walk w = {.s = s};

        if (!s->ops->preferred)
                return;
        if (stage_may_prefer(&w, set->stage->lineage))
                set->locality = locality_new(set, &s->tasks.executors, s->ops, s->owner, preferred_locations_locate, &w,
                                             s->now);
        vec_deinit(&w.stack);
}
