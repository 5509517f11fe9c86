/*
 * Builds stages from lineage. A walk over narrow dependencies collects the shuffles at the edge of a stage. Each
 * shuffle has one map stage, which all running jobs that need the shuffle share.
 *
 * Stage ids are ordered as in Spark: ancestors before descendants, the result stage last. The parents of one stage have
 * the order of the dependencies (in Spark that of a hash set). No walk recurses, because a loop of ten thousand
 * iterations makes a lineage ten thousand deep. One array by RDD id holds the number of the last walk that visited the
 * RDD, so a walk usually allocates no memory.
 *
 * Invariant: if a job is registered with a stage, it is registered with all ancestors of the stage too.
 */
#include "sched/dag.h"
#include "sched/sched_recorder.h"

typedef VEC(const struct lineage *) lineage_stack;
typedef VEC(const struct lineage_dep *) dep_list;
typedef VEC(int) id_list;

bool dag_mark_rdd(struct sched *s, const struct lineage *rdd)
{
        size_t id = (size_t)rdd->id;

        while (s->rdd_marks.len <= id)
                vec_push(&s->rdd_marks, 0);
        if (s->rdd_marks.data[id] == s->walk)
                return false;
        s->rdd_marks.data[id] = s->walk;
        return true;
}

static bool all_cached(struct sched *s, const struct lineage *rdd)
{
        bool (*cached)(const struct lineage *, int) = __atomic_load_n(&rdd->cached, __ATOMIC_RELAXED);
        if (!cached)
                return false;
        for (int p = 0; p < rdd->partitions; p++)
                if (!cached(rdd, p))
                        return false;
        sched_note(s, line, "cached %d", rdd->id);
        return true;
}

/* Collects the shuffles that @rdd reads directly, in order. With @cut, skips those before a completely cached RDD. */
static void edge_shuffles(struct sched *s, const struct lineage *rdd, bool cut, dep_list *out)
{
        lineage_stack stack = {0};

        s->walk++;
        vec_push(&stack, rdd);
        while (stack.len > 0) {
                const struct lineage *at = stack.data[--stack.len];

                if (!dag_mark_rdd(s, at) || (cut && all_cached(s, at)))
                        continue;
                for (int i = 0; i < at->n_deps; i++)
                        if (at->deps[i].kind == LINEAGE_SHUFFLE)
                                vec_push(out, &at->deps[i]);
                for (int i = at->n_deps; i-- > 0;)
                        if (at->deps[i].kind == LINEAGE_NARROW)
                                vec_push(&stack, at->deps[i].parent);
        }
        vec_deinit(&stack);
}

static void stage_graph_add_profile(struct sched *s, const struct lineage *rdd, id_list *profiles)
{
        int id = __atomic_load_n(&rdd->profile, __ATOMIC_RELAXED);
        size_t at = profiles->len;

        if (id == 0)
                return;
        sched_note(s, line, "rdd_profile %d %d", rdd->id, id);
        for (size_t i = 0; i < profiles->len; i++)
                if (profiles->data[i] == id)
                        return;
        vec_push(profiles, id);
        for (; at > 0 && profiles->data[at - 1] > id; at--)
                profiles->data[at] = profiles->data[at - 1];
        profiles->data[at] = id;
}

/* Collects what the RDDs that the tasks of @stage compute ask for: flags, and ids of resource profiles by rising id. */
static void stage_graph_collect(struct sched *s, struct stage *stage, id_list *profiles)
{
        lineage_stack stack = {0};

        s->walk++;
        vec_push(&stack, stage->lineage);
        while (stack.len > 0) {
                const struct lineage *at = stack.data[--stack.len];

                if (!dag_mark_rdd(s, at))
                        continue;
                stage->barrier |= at->barrier;
                stage->indeterminate |= at->indeterminate;
                stage_graph_add_profile(s, at, profiles);
                for (int i = 0; i < at->n_deps; i++)
                        if (at->deps[i].kind == LINEAGE_NARROW)
                                vec_push(&stack, at->deps[i].parent);
        }
        vec_deinit(&stack);
}

/* Spark's DAGScheduler.mergeResourceProfilesForStage. */
static void stage_graph_set_profile(struct sched *s, struct stage *stage, const id_list *ids)
{
        const struct task_profile *profile = NULL;

        stage->profile = s->tasks.executors.profiles.data[0];
        if (ids->len == 0)
                return;
        if (s->ops->profile)
                profile = s->ops->profile(s->owner, ids->data, (int)ids->len);
        if (profile)
                stage->profile = executors_add_profile(&s->tasks.executors, profile);
        else
                stage->profiles_conflict = true;
}

struct shuffle *dag_shuffle(struct sched *s, int shuffle_id)
{
        if (shuffle_id < 0 || (size_t)shuffle_id >= s->shuffles.len || !s->shuffles.data[shuffle_id].outputs)
                return NULL;
        return &s->shuffles.data[shuffle_id];
}

static struct stage *stage_graph_map_stage(struct sched *s, const struct lineage_dep *dep)
{
        struct shuffle *shuffle = dag_shuffle(s, dep->shuffle_id);

        return shuffle ? shuffle->stage : NULL;
}

static struct stage *stage_new(struct sched *s, struct lineage *rdd, struct job *job, const dep_list *edge)
{
        struct stage *stage = new0(struct stage);
        id_list profiles = {0};

        stage->id = s->next_stage_id++;
        stage->attempt = -1;
        stage->last_failed = -1;
        stage->lineage = rdd;
        stage->first_job_id = job->id;
        stage_graph_collect(s, stage, &profiles);
        stage_graph_set_profile(s, stage, &profiles);
        vec_deinit(&profiles);
        stage->parents = new_array(struct stage *, edge->len + 1);
        for (size_t i = 0; i < edge->len; i++) {
                struct stage *parent = stage_graph_map_stage(s, edge->data[i]);
                bool known = false;

                for (int k = 0; k < stage->n_parents; k++)
                        known |= stage->parents[k] == parent;
                if (!known)
                        stage->parents[stage->n_parents++] = parent;
        }
        return stage;
}

static void make_map_stage(struct sched *s, const struct lineage_dep *dep, struct job *job, const dep_list *edge)
{
        struct stage *stage = stage_new(s, dep->parent, job, edge);

        stage->shuffle = dep;
        stage->partitions = dep->parent->partitions;
        stage->call_site = dep->parent->call_site;
        while (s->shuffles.len <= (size_t)dep->shuffle_id)
                vec_push(&s->shuffles, (struct shuffle){0});
        struct shuffle *shuffle = &s->shuffles.data[dep->shuffle_id];

        if (!shuffle->outputs) {
                shuffle->outputs = new0(struct map_outputs);
                map_outputs_init(shuffle->outputs, dep->shuffle_id, stage->partitions);
        }
        shuffle->stage = stage;
        stage->outputs = shuffle->outputs;
        stage->pending = new_array(uint8_t, (size_t)MAX(stage->partitions, 1));
}

/* Creates the missing map stages of @wanted and of their ancestors. */
static void make_ancestors(struct sched *s, struct job *job, const dep_list *wanted)
{
        dep_list stack = {0}, edge = {0};

        for (size_t i = wanted->len; i-- > 0;)
                vec_push(&stack, wanted->data[i]);
        while (stack.len > 0) {
                const struct lineage_dep *dep = stack.data[stack.len - 1];
                size_t before = stack.len;

                if (stage_graph_map_stage(s, dep)) {
                        stack.len--;
                        continue;
                }
                edge.len = 0;
                edge_shuffles(s, dep->parent, false, &edge);
                for (size_t i = edge.len; i-- > 0;)
                        if (!stage_graph_map_stage(s, edge.data[i]))
                                vec_push(&stack, edge.data[i]);
                if (stack.len > before)
                        continue;
                make_map_stage(s, dep, job, &edge);
                stack.len--;
        }
        vec_deinit(&stack);
        vec_deinit(&edge);
}

static int stage_graph_by_id(const void *a, const void *b)
{
        const struct stage *x = *(struct stage *const *)a, *y = *(struct stage *const *)b;

        return (x->id > y->id) - (x->id < y->id);
}

static void sort_stages(stage_list *list)
{
        if (list->len > 1)
                qsort(list->data, list->len, sizeof(*list->data), stage_graph_by_id);
}

/* Registers the job with @result and all its ancestors. */
static void register_job(struct sched *s, struct job *job, struct stage *result)
{
        stage_list found = {0};

        s->stage_walk++;
        result->mark = s->stage_walk;
        vec_push(&found, result);
        for (size_t i = 0; i < found.len; i++)
                for (int k = 0; k < found.data[i]->n_parents; k++) {
                        struct stage *parent = found.data[i]->parents[k];

                        if (parent->mark == s->stage_walk)
                                continue;
                        parent->mark = s->stage_walk;
                        vec_push(&found, parent);
                }
        sort_stages(&found);
        for (size_t i = 0; i < found.len; i++) {
                found.data[i]->refs++;
                vec_push(&found.data[i]->jobs, job);
        }
        job->stages = found.data;
        job->n_stages = (int)found.len;
}

void stage_graph_build(struct sched *s, struct job *job)
{
        dep_list edge = {0};

        edge_shuffles(s, job->final, false, &edge);
        make_ancestors(s, job, &edge);
        struct stage *stage = stage_new(s, job->final, job, &edge);

        stage->partitions = job->n;
        stage->call_site = job->call_site;
        stage->job = job;
        job->result_stage = stage;
        register_job(s, job, stage);
        vec_deinit(&edge);
}

void stage_graph_missing(struct sched *s, const struct stage *stage, stage_list *missing)
{
        dep_list edge = {0};

        edge_shuffles(s, stage->lineage, true, &edge);
        for (size_t i = 0; i < edge.len; i++) {
                struct stage *parent = stage_graph_map_stage(s, edge.data[i]);
                bool known = false;

                for (size_t k = 0; k < missing->len; k++)
                        known |= missing->data[k] == parent;
                if (!known && !map_outputs_complete(parent->outputs))
                        vec_push(missing, parent);
        }
        sort_stages(missing);
        vec_deinit(&edge);
}

void stage_unref(struct sched *s, struct stage *stage)
{
        if (--stage->refs > 0)
                return;
        s->ops->stage_removed(s->owner, stage);
        vec_deinit(&stage->jobs);
        free(stage->parents);
        free(stage->pending);
        free(stage);
}
