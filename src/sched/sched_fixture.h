/* Fixture for tests of this room: a scheduler with a manual clock, a backend that lists launched tasks until the test
 * ends them, and a log of the scheduler's operations. Helpers build small lineages.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "sched/dag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct fix_task {
        struct task_launch launch;
        struct task_set *set;
        int executor, stage, stage_attempt, run;
        bool killed, ended;
};

struct fix {
        struct sched *s;
        struct sched_config config;
        int64_t now;
        int64_t run_ns;             /* reported duration of tasks */
        VEC(struct fix_task) tasks; /* all launched ones, by task id */
        int runs;
        int rdds, shuffles;
        VEC(struct lineage *) lineages;
        struct buf log;     /* "submit 0.0", "complete 0.0", "job 0 succeeded", … one a line */
        struct buf message; /* of the last job that ended */
        uint64_t stored; /* MAP_OUTPUT_STORED: map outputs are outside of executors */
        int jobs_started, jobs_ended, jobs_removed, stages_removed, sets_removed, outputs_removed, accepted, lost;
        enum job_result result;
};

static void fix_job_started(void *owner, struct job *job)
{
        struct fix *f = owner;

        f->jobs_started++;
        buf_printf(&f->log, "start %d\n", job->id);
}

static void fix_stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct fix *f = owner;

        assert_ptr_equal(set->stage, stage);
        buf_printf(&f->log, "submit %s", set->id);
        for (int i = 0; i < set->n && set->outputs; i++)
                buf_printf(&f->log, " %d", task_set_partition(set, i));
        buf_putc(&f->log, '\n');
}

static void fix_launch(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n)
{
        struct fix *f = owner;

        assert_in_range(n, 1, SCHED_MAX_RUN);
        for (int i = 0; i < n; i++) {
                const bool is_adopted = run[i].task_id < f->config.first_task_id;

                while (f->tasks.len < (size_t)f->config.first_task_id) /* of earlier drivers */
                        vec_push(&f->tasks, (struct fix_task){.ended = true});
                if (!is_adopted) {
                        assert_int_equal(run[i].task_id, f->tasks.len);
                        vec_push(&f->tasks, (struct fix_task){0});
                }
                f->tasks.data[run[i].task_id] = (struct fix_task){.launch = run[i],
                                                                  .set = set,
                                                                  .executor = executor,
                                                                  .stage = set->stage_id,
                                                                  .stage_attempt = set->attempt,
                                                                  .run = f->runs};
        }
        f->runs++;
}

static void fix_kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct fix *f = owner;

        assert_false(f->tasks.data[task_id].ended);
        assert_false(f->tasks.data[task_id].killed);
        assert_int_equal(f->tasks.data[task_id].executor, executor);
        f->tasks.data[task_id].killed = true;
}

static void fix_task_lost(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        struct fix *f = owner;

        assert_false(f->tasks.data[status->task_id].ended);
        f->tasks.data[status->task_id].ended = true;
        f->lost++;
}

static void fix_task_accepted(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        ((struct fix *)owner)->accepted++;
}

static void fix_stage_completed(void *owner, struct stage *stage, const char *failure)
{
        struct fix *f = owner;

        buf_printf(&f->log, "%s %d.%d\n", failure ? "failed" : "complete", stage->id, stage->attempt);
}

static void fix_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        static const char *const names[] = {"succeeded", "failed", "cancelled"};
        struct fix *f = owner;

        assert_int_equal(message == NULL, result == JOB_SUCCEEDED);
        f->jobs_ended++;
        f->result = result;
        buf_reset(&f->message);
        buf_puts(&f->message, message ? message : "");
        buf_printf(&f->log, "job %d %s\n", job->id, names[result]);
}

static void fix_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
        ((struct fix *)owner)->outputs_removed++;
}

static void fix_task_set_removed(void *owner, struct task_set *set)
{
        ((struct fix *)owner)->sets_removed++;
}

static void fix_stage_removed(void *owner, struct stage *stage)
{
        ((struct fix *)owner)->stages_removed++;
}

static void fix_job_removed(void *owner, struct job *job)
{
        ((struct fix *)owner)->jobs_removed++;
}

static const struct sched_ops fix_ops = {
        .job_started = fix_job_started,
        .stage_submitted = fix_stage_submitted,
        .launch = fix_launch,
        .kill_task = fix_kill_task,
        .task_lost = fix_task_lost,
        .task_accepted = fix_task_accepted,
        .stage_completed = fix_stage_completed,
        .job_ended = fix_job_ended,
        .map_output_removed = fix_map_output_removed,
        .task_set_removed = fix_task_set_removed,
        .stage_removed = fix_stage_removed,
        .job_removed = fix_job_removed,
};

/* Starts with executors of @cores each. */
static inline void fix_begin(struct fix *f, const struct sched_config *config, int executors, int cores)
{
        *f = (struct fix){.config = config ? *config : SCHED_CONFIG_DEFAULT, .run_ns = 1000000000};
        f->s = sched_new(&f->config, &fix_ops, f);
        for (int i = 0; i < executors; i++) {
                char id[16];

                snprintf(id, sizeof(id), "%d", i);
                assert_int_equal(sched_add_executor(f->s, id, "host", cores, f->now), i);
        }
}

/* Asserts that every created object was removed exactly once. */
static inline void fix_end(struct fix *f)
{
        int stages = f->s->next_stage_id;

        sched_free(f->s);
        assert_int_equal(f->jobs_removed, f->jobs_started);
        assert_int_equal(f->stages_removed, stages);
        for (size_t i = 0; i < f->lineages.len; i++) {
                free(f->lineages.data[i]->deps);
                free(f->lineages.data[i]);
        }
        vec_deinit(&f->lineages);
        vec_deinit(&f->tasks);
        buf_deinit(&f->log);
        buf_deinit(&f->message);
}

/* An RDD without parents. */
static inline struct lineage *fix_rdd(struct fix *f, int partitions)
{
        struct lineage *rdd = new0(struct lineage);

        rdd->id = f->rdds++;
        rdd->partitions = partitions;
        rdd->name = "TestRDD";
        rdd->call_site = "test at fixture.h:1";
        vec_push(&f->lineages, rdd);
        return rdd;
}

static inline void fix_depend(struct fix *f, struct lineage *rdd, enum lineage_dep_kind kind, struct lineage *parent)
{
        rdd->deps = mem_grow(rdd->deps, (size_t)(rdd->n_deps + 1) * sizeof(*rdd->deps));
        rdd->deps[rdd->n_deps++] = (struct lineage_dep){.kind = kind,
                                                        .parent = parent,
                                                        .shuffle_id = kind == LINEAGE_SHUFFLE ? f->shuffles++ : -1,
                                                        .reduce_partitions = rdd->partitions};
}

static inline struct lineage *fix_narrow(struct fix *f, struct lineage *parent)
{
        struct lineage *rdd = fix_rdd(f, parent->partitions);

        fix_depend(f, rdd, LINEAGE_NARROW, parent);
        return rdd;
}

static inline struct lineage *fix_shuffle(struct fix *f, struct lineage *parent, int partitions)
{
        struct lineage *rdd = fix_rdd(f, partitions);

        fix_depend(f, rdd, LINEAGE_SHUFFLE, parent);
        return rdd;
}

/* Submits with one property, and launches tasks. */
static inline int fix_submit_with(struct fix *f, struct lineage *rdd, const char *key, const char *value)
{
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;

        strmap_set(&properties, key, value);
        int id = sched_submit_job(f->s, &(struct job_spec){.final = rdd, .properties = &properties}, f->now, NULL);

        sched_revive(f->s, f->now);
        return id;
}

static inline int fix_submit(struct fix *f, struct lineage *rdd)
{
        int id = sched_submit_job(f->s, &(struct job_spec){.final = rdd, .call_site = "count at test.c:1"}, f->now,
                                  NULL);

        sched_revive(f->s, f->now);
        return id;
}

/* The newest running attempt of task @index of stage @stage. Fails the test if there is none. */
static inline int64_t fix_running(struct fix *f, int stage, int index)
{
        for (size_t i = f->tasks.len; i-- > 0;)
                if (f->tasks.data[i].stage == stage && f->tasks.data[i].launch.index == index &&
                    !f->tasks.data[i].ended)
                        return f->tasks.data[i].launch.task_id;
        fail_msg("no task %d of stage %d is running", index, stage);
        return -1;
}

/* Ends one attempt, without offering its core again. */
static inline void fix_status(struct fix *f, int64_t id, enum task_state state, const char *message,
                              const struct task_fetch *fetch)
{
        struct task_status status = {.task_id = id,
                                     .state = state,
                                     .run_ns = f->run_ns,
                                     .output = ((uint64_t)id + 1) | f->stored,
                                     .message = message,
                                     .fetch = fetch};

        assert_false(f->tasks.data[id].ended);
        f->tasks.data[id].ended = true;
        f->now += 1000;
        sched_update_status(f->s, &status, 1, f->now);
}

static inline void fix_succeed_id(struct fix *f, int64_t id)
{
        fix_status(f, id, TASK_SUCCEEDED, NULL, NULL);
        sched_revive(f->s, f->now);
}

static inline void fix_succeed(struct fix *f, int stage, int index)
{
        fix_succeed_id(f, fix_running(f, stage, index));
}

static inline void fix_fail(struct fix *f, int stage, int index, const char *message)
{
        fix_status(f, fix_running(f, stage, index), TASK_FAILED, message, NULL);
        sched_revive(f->s, f->now);
}

static inline void fix_fetch_failed(struct fix *f, int stage, int index, int shuffle, int map, int executor)
{
        struct task_fetch fetch = {.shuffle_id = shuffle, .map_partition = map, .executor = executor};

        fix_status(f, fix_running(f, stage, index), TASK_FETCH_FAILED, "FetchFailed", &fetch);
        sched_revive(f->s, f->now);
}

static inline int fix_count_running(const struct fix *f)
{
        int count = 0;

        for (size_t i = 0; i < f->tasks.len; i++)
                count += !f->tasks.data[i].ended;
        return count;
}

/* Lets running tasks succeed (or end as killed), and their successors, until none runs. */
static inline void fix_drain(struct fix *f)
{
        for (size_t i = 0; i < f->tasks.len; i++) {
                if (f->tasks.data[i].ended)
                        continue;
                fix_status(f, (int64_t)i, f->tasks.data[i].killed ? TASK_KILLED : TASK_SUCCEEDED, "killed", NULL);
                sched_revive(f->s, f->now);
        }
}

/* Advances to the deadline, if there is one. */
static inline void fix_tick(struct fix *f)
{
        int64_t deadline = sched_deadline(f->s);

        assert_true(deadline < INT64_MAX);
        f->now = MAX(f->now, deadline);
        sched_tick(f->s, f->now);
        sched_revive(f->s, f->now);
}

/* Asserts the operations since the last call. */
#define fix_expect(f, text)                                                                                            \
        do {                                                                                                           \
                assert_string_equal(buf_text(&(f)->log), (text));                                                      \
                buf_reset(&(f)->log);                                                                                  \
        } while (0)
