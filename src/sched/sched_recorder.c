/*
 * Wraps a scheduler's operations with functions that write a line and call the owner's operation. The functions of
 * sched.h write their lines with sched_note. Without a recorder each of them costs one comparison.
 *
 * Invariants: a line is written before the owner's operation is called. Within a call, lines have the order of the
 * operations. An RDD is described once, after its parents, before the first job that uses it.
 */
#include "sched/sched_recorder.h"

#include "sched/dag.h"
#include "sched/trace_format.h"

#include <inttypes.h>
#include <stdio.h>

enum { FLUSH = 32768 };

struct sched_recorder {
        struct sched_trace_sink sink;
        const struct sched_ops *ops; /* operations of the owner */
        void *owner;
        struct buf lines;
        VEC(uint8_t) known; /* by RDD id: described already */
};

static void sched_recorder_flush(struct sched_recorder *r)
{
        if (r->lines.len > 0)
                r->sink.write(r->sink.owner, r->lines.data, r->lines.len);
        buf_reset(&r->lines);
}

static struct buf *sched_recorder_begin(struct sched_recorder *r, const char *word)
{
        buf_puts(&r->lines, word);
        return &r->lines;
}

static void sched_recorder_end(struct sched_recorder *r)
{
        buf_putc(&r->lines, '\n');
        if (r->sink.each_line || r->lines.len >= FLUSH)
                sched_recorder_flush(r);
}

void sched_recorder_line(struct sched_recorder *r, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        trace_put_list(&r->lines, format, args);
        va_end(args);
        sched_recorder_end(r);
}

/* ------------------------------------------------------------------------------------- calls of the scheduler */

static void put_rdd(struct sched_recorder *r, const struct lineage *rdd)
{
        struct buf *b = sched_recorder_begin(r, "rdd");

        trace_put_number(b, rdd->id);
        trace_put_number(b, rdd->partitions);
        trace_put_number(b, (rdd->barrier ? 1 : 0) | (rdd->indeterminate ? 2 : 0));
        trace_put_text(b, __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE));
        trace_put_text(b, rdd->call_site);
        for (int i = 0; i < rdd->n_deps; i++) {
                const struct lineage_dep *dep = &rdd->deps[i];
                bool shuffle = dep->kind == LINEAGE_SHUFFLE;

                buf_puts(b, shuffle ? " s" : dep->needs ? " m" : " n");
                trace_put_number(b, dep->parent->id);
                if (shuffle)
                        trace_put_number(b, dep->shuffle_id);
                for (int p = 0; !shuffle && dep->needs && p < rdd->partitions; p++) {
                        int first = 0, count = 0;

                        dep->needs(rdd, dep, p, &first, &count);
                        trace_put_number(b, count > 0 ? first : 0);
                        trace_put_number(b, count);
                }
        }
        sched_recorder_end(r);
}

static bool sched_recorder_known(struct sched_recorder *r, const struct lineage *rdd)
{
        while (r->known.len <= (size_t)rdd->id)
                vec_push(&r->known, 0);
        return r->known.data[rdd->id];
}

/* Describes @rdd and its undescribed ancestors, parents first, without recursion: a lineage may be ten thousand deep.
 */
static void sched_recorder_describe(struct sched_recorder *r, const struct lineage *rdd)
{
        VEC(const struct lineage *) stack = {0};

        vec_push(&stack, rdd);
        while (stack.len > 0) {
                const struct lineage *at = stack.data[stack.len - 1];
                size_t before = stack.len;

                if (sched_recorder_known(r, at)) {
                        stack.len--;
                        continue;
                }
                for (int i = at->n_deps; i-- > 0;)
                        if (!sched_recorder_known(r, at->deps[i].parent))
                                vec_push(&stack, at->deps[i].parent);
                if (stack.len > before)
                        continue;
                put_rdd(r, at);
                r->known.data[at->id] = 1;
                stack.len--;
        }
        vec_deinit(&stack);
}

/* Writes the outputs that are done before, as ranges. */
static void sched_recorder_done(struct sched_recorder *r, const struct job_spec *spec)
{
        const int n = spec->partitions ? spec->n_partitions : spec->final->partitions;
        struct buf *b = sched_recorder_begin(r, "done");

        for (int i = 0, end; i < n; i = end + 1) {
                for (end = i; end < n && spec->done[end];)
                        end++;
                if (end > i) {
                        trace_put_number(b, i);
                        trace_put_number(b, end - i);
                }
        }
        sched_recorder_end(r);
}

static void sched_recorder_stored(struct sched_recorder *r, const struct job_spec *spec)
{
        struct buf *b = sched_recorder_begin(r, "stored");

        for (int i = 0; i < spec->n_stored; i++) {
                trace_put_number(b, spec->stored[i].shuffle_id);
                trace_put_number(b, spec->stored[i].map_partition);
                trace_put_number(b, spec->stored[i].executor);
                trace_put_number(b, (int64_t)spec->stored[i].handle);
        }
        sched_recorder_end(r);
}

void sched_recorder_submit(struct sched_recorder *r, const struct job_spec *spec, int64_t now)
{
        sched_recorder_describe(r, spec->final);
        if (spec->done)
                sched_recorder_done(r, spec);
        if (spec->n_stored)
                sched_recorder_stored(r, spec);
        struct buf *b = sched_recorder_begin(r, "submit");

        trace_put_number(b, now);
        trace_put_number(b, spec->final->id);
        trace_put_text(b, spec->call_site);
        trace_put_number(b, spec->partitions ? spec->n_partitions : -1);
        for (int i = 0; spec->partitions && i < spec->n_partitions; i++)
                trace_put_number(b, spec->partitions[i]);
        for (struct strmap_entry *e = NULL; spec->properties && (e = strmap_next(spec->properties, e));) {
                if (strncmp(e->key, "spark.job", 9) != 0 && strncmp(e->key, "spark.scheduler.", 16) != 0)
                        continue;
                trace_put_text(b, e->key);
                trace_put_text(b, e->value);
        }
        sched_recorder_end(r);
}

void sched_recorder_add_executor(struct sched_recorder *r, const struct executor_spec *spec, int64_t now)
{
        struct buf *b = sched_recorder_begin(r, spec->profile ? "add_profile_executor" : "add_executor");

        trace_put_number(b, now);
        if (spec->profile)
                trace_put_number(b, spec->profile);
        trace_put_text(b, spec->id);
        trace_put_text(b, spec->host);
        trace_put_number(b, spec->cores);
        for (int i = 0; i < spec->n_resources; i++) {
                trace_put_text(b, spec->resources[i].name);
                trace_put_number(b, spec->resources[i].n);
                for (int k = 0; k < spec->resources[i].n; k++)
                        trace_put_text(b, spec->resources[i].addresses[k]);
        }
        sched_recorder_end(r);
}

void sched_recorder_adopt_run(struct sched_recorder *r, const struct task_set *set,
                              const struct sched_adoption *adoption, int64_t now)
{
        struct buf *b = sched_recorder_begin(r, "adopt_run");

        trace_put_number(b, now);
        trace_put_number(b, set->stage_id);
        trace_put_number(b, set->attempt);
        trace_put_number(b, adoption->executor);
        trace_put_number(b, adoption->first_id);
        trace_put_number(b, adoption->takes_core);
        for (int i = 0; i < adoption->n; i++)
                trace_put_number(b, adoption->outputs[i]);
        sched_recorder_end(r);
}

void sched_recorder_status(struct sched_recorder *r, const struct task_status *statuses, int n, int64_t now)
{
        struct buf *b = sched_recorder_begin(r, "status");

        trace_put_number(b, now);
        for (int i = 0; i < n; i++) {
                const struct task_status *s = &statuses[i];

                trace_put_number(b, s->task_id);
                trace_put_number(b, s->state);
                trace_put_number(b, s->run_ns);
                trace_put_number(b, s->records);
                trace_put_number(b, (int64_t)s->output);
                if (s->state == TASK_SUCCEEDED)
                        continue;
                trace_put_text(b, s->message);
                if (s->state != TASK_FETCH_FAILED)
                        continue;
                trace_put_number(b, s->fetch ? s->fetch->shuffle_id : -1);
                trace_put_number(b, s->fetch ? s->fetch->map_partition : -1);
                trace_put_number(b, s->fetch ? s->fetch->executor : -1);
        }
        sched_recorder_end(r);
}

/* --------------------------------------------------------------------------------------- decisions of the scheduler */

static void sched_recorder_job_started(void *owner, struct job *job)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= job_started %d", job->id);
        r->ops->job_started(r->owner, job);
}

static void sched_recorder_stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= stage_submitted %d.%d %d", stage->id, stage->attempt, set->n);
        r->ops->stage_submitted(r->owner, stage, set);
}

static bool sched_recorder_simple(const struct task_launch *t)
{
        return t->attempt == 0 && t->partition == t->index && t->output == t->index;
}

static void sched_recorder_put_resources(struct sched_recorder *r, const struct task_resource *resources, int n)
{
        for (int i = 0; i < n; i++) {
                struct buf *b = &r->lines;

                trace_put(b, "= resource %s %" PRId64 " %d", resources[i].name, resources[i].amount, resources[i].n);
                for (int k = 0; k < resources[i].n; k++)
                        trace_put_text(b, resources[i].addresses[k]);
                sched_recorder_end(r);
        }
}

static void sched_recorder_launch(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n)
{
        struct sched_recorder *r = owner;
        struct buf *b = &r->lines;

        trace_put(b, "= launch %d %d.%d %" PRId64 " %d %d", executor, set->stage_id, set->attempt, run[0].task_id,
                  run[0].locality, (run[0].speculative ? 1 : 0) | (run[0].crash_suspect ? 2 : 0));
        for (int i = 0, end_of; i < n; i = end_of) {
                for (end_of = i + 1; end_of < n && sched_recorder_simple(&run[end_of]) &&
                                     run[end_of].index == run[end_of - 1].index + 1 && sched_recorder_simple(&run[i]);)
                        end_of++;
                trace_put_number(b, run[i].index);
                if (sched_recorder_simple(&run[i]))
                        buf_printf(b, "+%d", end_of - i);
                else
                        buf_printf(b, ",%d,%d,%d", run[i].partition, run[i].output, run[i].attempt);
        }
        sched_recorder_end(r);
        if (run[0].resources)
                sched_recorder_put_resources(r, run[0].resources, run[0].n_resources);
        r->ops->launch(r->owner, executor, set, run, n);
}

static void sched_recorder_kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= kill_task %d %" PRId64 " %d %s", executor, task_id, interrupt, reason);
        r->ops->kill_task(r->owner, executor, task_id, interrupt, reason);
}

static void sched_recorder_task_lost(void *owner, const struct task_attempt_info *info,
                                     const struct task_status *status)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= task_lost %d %" PRId64 " %d %s", info->executor, status->task_id, status->state,
                            status->message);
        r->ops->task_lost(r->owner, info, status);
}

static void sched_recorder_task_accepted(void *owner, const struct task_attempt_info *info,
                                         const struct task_status *status)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= task_accepted %" PRId64, status->task_id);
        if (r->ops->task_accepted)
                r->ops->task_accepted(r->owner, info, status);
}

static void sched_recorder_stage_completed(void *owner, struct stage *stage, const char *failure)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= stage_completed %d.%d %s", stage->id, stage->attempt, failure);
        r->ops->stage_completed(r->owner, stage, failure);
}

static void sched_recorder_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= job_ended %d %d %s", job->id, result, message);
        r->ops->job_ended(r->owner, job, result, message);
}

static void sched_recorder_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor,
                                              uint64_t handle)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= map_output_removed %d %d %d %" PRId64, shuffle_id, map_partition, executor,
                            (int64_t)handle);
        r->ops->map_output_removed(r->owner, shuffle_id, map_partition, executor, handle);
}

static void sched_recorder_task_set_removed(void *owner, struct task_set *set)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= task_set_removed %d.%d", set->stage_id, set->attempt);
        r->ops->task_set_removed(r->owner, set);
}

static void sched_recorder_stage_removed(void *owner, struct stage *stage)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= stage_removed %d", stage->id);
        r->ops->stage_removed(r->owner, stage);
}

static void sched_recorder_job_removed(void *owner, struct job *job)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= job_removed %d", job->id);
        r->ops->job_removed(r->owner, job);
}

static int sched_recorder_preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out,
                                    int max)
{
        struct sched_recorder *r = owner;
        int n = r->ops->preferred ? r->ops->preferred(r->owner, rdd, partition, out, max) : 0;

        if (n <= 0)
                return n;
        trace_put(&r->lines, "preferred %d %d %d", rdd->id, partition, n);
        for (int i = 0; i < n; i++)
                trace_put(&r->lines, " %d %s", out[i].executor, out[i].host);
        sched_recorder_end(r);
        return n;
}

static bool sched_recorder_may_prefer(void *owner, const struct lineage *rdd)
{
        struct sched_recorder *r = owner;
        bool may = r->ops->preferred && (!r->ops->may_prefer || r->ops->may_prefer(r->owner, rdd));

        if (may)
                sched_recorder_line(r, "may_prefer %d", rdd->id);
        return may;
}

static const char *sched_recorder_rack(void *owner, const char *host)
{
        struct sched_recorder *r = owner;
        const char *name = r->ops->rack ? r->ops->rack(r->owner, host) : NULL;

        if (name)
                sched_recorder_line(r, "rack %s %s", host, name);
        return name;
}

static void sched_recorder_speculative_submitted(void *owner, struct task_set *set, int index)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= speculative_submitted %d.%d %d", set->stage_id, set->attempt, index);
        if (r->ops->speculative_submitted)
                r->ops->speculative_submitted(r->owner, set, index);
}

static void sched_recorder_barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        struct sched_recorder *r = owner;

        trace_put(&r->lines, "= barrier_launching %d.%d", set->stage_id, set->attempt);
        for (int i = 0; i < n; i++)
                trace_put_number(&r->lines, executors[i]);
        sched_recorder_end(r);
        if (r->ops->barrier_launching)
                r->ops->barrier_launching(r->owner, set, executors, n);
}

static void sched_recorder_outputs_reset(void *owner, struct job *job)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= outputs_reset %d", job->id);
        if (r->ops->outputs_reset)
                r->ops->outputs_reset(r->owner, job);
}

static void sched_recorder_excluded(void *owner, const struct exclusion *what)
{
        struct sched_recorder *r = owner;

        if (what->set)
                trace_put(&r->lines, "= excluded %d.%d", what->set->stage_id, what->set->attempt);
        else
                trace_put(&r->lines, "= excluded -");
        sched_recorder_line(r, " %d %s %d %d", what->executor, what->host, what->failures, what->lifted);
        if (r->ops->excluded)
                r->ops->excluded(r->owner, what);
}

static void sched_recorder_unschedulable(void *owner, struct task_set *set, bool yes)
{
        struct sched_recorder *r = owner;

        sched_recorder_line(r, "= unschedulable %d.%d %d", set->stage_id, set->attempt, yes);
        if (r->ops->unschedulable)
                r->ops->unschedulable(r->owner, set, yes);
}

static const struct task_profile *sched_recorder_profile(void *owner, const int *ids, int n)
{
        struct sched_recorder *r = owner;
        const struct task_profile *p = r->ops->profile ? r->ops->profile(r->owner, ids, n) : NULL;

        if (!p)
                return NULL;
        trace_put(&r->lines, "profile %d %d %d", p->id, p->cpus, p->any_executor);
        for (int i = 0; i < p->n_requests; i++)
                trace_put(&r->lines, " %s %" PRId64, p->requests[i].name, p->requests[i].amount);
        sched_recorder_end(r);
        return p;
}

_Static_assert(
        sizeof(struct sched_ops) == 21 * sizeof(void (*)(void)),
        "a new operation must be recorded too: add it here, to the format in sched_recorder.h and to the replay");

static const struct sched_ops recorder_ops = {
        .job_started = sched_recorder_job_started,
        .stage_submitted = sched_recorder_stage_submitted,
        .launch = sched_recorder_launch,
        .kill_task = sched_recorder_kill_task,
        .task_lost = sched_recorder_task_lost,
        .task_accepted = sched_recorder_task_accepted,
        .stage_completed = sched_recorder_stage_completed,
        .job_ended = sched_recorder_job_ended,
        .map_output_removed = sched_recorder_map_output_removed,
        .task_set_removed = sched_recorder_task_set_removed,
        .stage_removed = sched_recorder_stage_removed,
        .job_removed = sched_recorder_job_removed,
        .preferred = sched_recorder_preferred,
        .may_prefer = sched_recorder_may_prefer,
        .rack = sched_recorder_rack,
        .speculative_submitted = sched_recorder_speculative_submitted,
        .barrier_launching = sched_recorder_barrier_launching,
        .outputs_reset = sched_recorder_outputs_reset,
        .excluded = sched_recorder_excluded,
        .unschedulable = sched_recorder_unschedulable,
        .profile = sched_recorder_profile,
};

/* -------------------------------------------------------------------------------------------------- life */

static const char *sched_recorder_mode_name(enum scheduling_mode mode)
{
        return mode == SCHEDULING_FAIR ? "FAIR" : "FIFO";
}

static void put_config(struct sched_recorder *r, const struct sched *s)
{
        const struct sched_config *config = &s->config;
        struct buf *b = sched_recorder_begin(r, "config");

        buf_printf(b, " mode %s", sched_recorder_mode_name(config->mode));
#define SETTING(name)                                                                                                  \
        buf_puts(b, " " #name);                                                                                        \
        trace_put_number(b, config->name);
        SCHED_TRACE_SETTINGS(SETTING)
#undef SETTING
#define FRACTION(name) buf_printf(b, " " #name " %a", config->name); /* exactly */
        SCHED_TRACE_FRACTIONS(FRACTION)
#undef FRACTION
        sched_recorder_end(r);
}

static void put_config_resources(struct sched_recorder *r, const struct executors *x)
{
        const struct sched_profile *p = x->profiles.data[0];

        for (int i = 0; i < p->n_needs; i++) {
                struct buf *b = sched_recorder_begin(r, "resource");

                trace_put_text(b, x->resource_names.names.data[p->needs[i].resource]);
                trace_put_number(b, p->needs[i].amount);
                sched_recorder_end(r);
        }
}

/* Children are linked newest first, and a rebuilt tree must have the same order. */
static void put_pools(struct sched_recorder *r, const struct pool *pool)
{
        struct buf *b;

        if (!pool)
                return;
        put_pools(r, pool->sibling);
        b = sched_recorder_begin(r, "pool");
        trace_put_text(b, pool->name);
        buf_printf(b, " %s", sched_recorder_mode_name(pool->mode));
        trace_put_number(b, pool->node.min_share);
        trace_put_number(b, pool->node.weight);
        sched_recorder_end(r);
}

void sched_record(struct sched *s, struct sched_trace_sink sink)
{
        struct sched_recorder *r = new0(struct sched_recorder);

        r->sink = sink;
        r->ops = s->ops;
        r->owner = s->owner;
        s->recorder = s->tasks.recorder = r;
        s->ops = s->tasks.ops = &recorder_ops;
        s->owner = s->tasks.ops_owner = r;
        sched_recorder_begin(r, SCHED_TRACE_FIRST_LINE);
        sched_recorder_end(r);
        put_config(r, s);
        put_config_resources(r, &s->tasks.executors);
        put_pools(r, s->tasks.root->children);
}

void sched_recorder_free(struct sched_recorder *r)
{
        if (!r)
                return;
        sched_recorder_flush(r);
        if (r->sink.close)
                r->sink.close(r->sink.owner);
        buf_deinit(&r->lines);
        vec_deinit(&r->known);
        free(r);
}
