/*
 * Runs seeded simulations, replays their traces, and checks that violated invariants are detected.
 *
 *      simulator_test SEED [COUNT]
 *
 * runs other seeds than the first ten thousand.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "sched/commit_coordinator.h"
#include "sched/dag.h"
#include "sched/simulator/sched_replay.h"
#include "sched/simulator/simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static uint64_t first_seed = 1, seed_count = 10000;

static struct simulator_options world(uint64_t seed)
{
        struct simulator_options options = SIMULATOR_OPTIONS_DEFAULT;

        options.random = true;
        options.seed = seed;
        return options;
}

static void random_simulations_keep_invariants(void **state)
{
        struct simulator_report sum = {0};

        for (uint64_t i = 0; i < seed_count; i++) {
                struct simulator_options options = world(first_seed + i);
                struct simulator_report report;
                struct fst_error error = FST_ERROR_INIT;

                if (simulator_run(&options, &report, &error) != 0)
                        fail_msg("%s\nTo see it again: firesteel simulate --random --seed %llu", error_message(&error),
                                 (unsigned long long)options.seed);
                simulator_report_add(&sum, &report);
        }
        if (seed_count < 1000)
                return;
        /* without events of each kind the test covers nothing */
        for (int i = 0; i < 3; i++)
                assert_true(sum.jobs[i] > 200);
        assert_true(sum.exhausted > 50);
        assert_true(sum.late_accepted > 20);
        assert_true(sum.stages_again > 500);
        assert_true(sum.fetch_failures > 500);
        assert_true(sum.lost_tasks > 500);
        assert_true(sum.kills > 500);
        assert_true(sum.long_runs > 500);
        assert_true(sum.executors_lost > 500);
        assert_true(sum.executors_disabled > 100);
        assert_true(sum.retries > 500);
        assert_true(sum.speculative > 500);
        assert_true(sum.excluded > 500);
        assert_true(sum.unschedulable > 100);
        assert_true(sum.resets > 20);
        assert_true(sum.gangs > 500);
        assert_true(sum.commits > 500);
        assert_true(sum.commits_denied > 50);
        assert_true(sum.commits_void > 50);
        for (int i = 0; i < LOCALITY_LEVELS; i++)
                assert_true(i == LOCALITY_NO_PREF || sum.levels[i] > 500);
        assert_true(sum.messages_lost > 50);
        assert_true(sum.messages_late > 50);
        assert_true(sum.messages_twice > 50);
}

static void a_large_world_ends_with_faults_of_every_kind(void **state)
{
        struct simulator_options options = SIMULATOR_OPTIONS_DEFAULT;
        struct simulator_report report;
        struct fst_error error = FST_ERROR_INIT;

        options.executors = options.hosts = 500;
        options.cores = 4;
        options.tasks = 20000;
        options.jobs = 4;
        options.stages = 3;
        options.loss = 0.0002;
        options.deaths = 0.02;
        options.stragglers = 0.01;
        options.fetch_failures = 0.0001;
        options.task_failures = 0.01;
        assert_int_equal(simulator_run(&options, &report, &error), 0);
        assert_int_equal(report.jobs[JOB_SUCCEEDED] + report.jobs[JOB_FAILED], 4);
        assert_true(report.placements >= 20000 || report.jobs[JOB_FAILED] > 0);
        assert_true(report.executors_lost > 0);
        assert_true(report.failures > 0);
}

/* ------------------------------------------------------------------------------------------------ traces */

static void keep(void *owner, const char *lines, size_t len)
{
        buf_append(owner, lines, len);
}

static void trace_of(uint64_t seed, struct buf *trace)
{
        struct simulator_options options = world(seed);
        struct simulator_report report;

        options.trace = (struct sched_trace_sink){.write = keep, .owner = trace};
        assert_int_equal(simulator_run(&options, &report, NULL), 0);
}

static void dying_drivers_commit_once_and_repeat_nothing_journaled(void **state)
{
        struct simulator_report sum = {0};
        int64_t adopted = 0, revoked = 0, taken_over = 0;
        const uint64_t n = getenv("FIRESTEEL_FULL_NUMBER") ? 20000 : MIN(seed_count, (uint64_t)1000);

        for (uint64_t i = 0; i < n; i++) {
                struct simulator_options options = world(first_seed + i);
                struct simulator_journal journal = {0};
                struct simulator_report report;
                struct fst_error error = FST_ERROR_INIT;

                if (simulator_run_drivers(&options, 1 + (int)(i % 4), &journal, &report, &error) != 0)
                        fail_msg("%s\nThe seed is %llu", error_message(&error), (unsigned long long)(first_seed + i));
                simulator_report_add(&sum, &report);
                adopted += journal.adopted;
                revoked += journal.revoked;
                taken_over += journal.taken_over;
                simulator_journal_deinit(&journal);
        }
        print_message("adopted %lld, revoked %lld, tasks taken over %lld\n", (long long)adopted, (long long)revoked,
                      (long long)taken_over);
        if (n < 1000)
                return;
        assert_true(adopted > 20);
        assert_true(revoked > 20);
        assert_true(taken_over > 100);
        assert_true(sum.jobs[JOB_SUCCEEDED] > 1000);
}

static void a_permission_that_is_not_durable_is_noticed(void **state)
{
        int noticed = 0;

        for (uint64_t seed = 1; seed <= 300 && !noticed; seed++) {
                struct simulator_options options = world(seed);
                struct simulator_journal journal = {.lazy_commits = true};
                struct simulator_report report;
                struct fst_error error = FST_ERROR_INIT;

                if (simulator_run_drivers(&options, 3, &journal, &report, &error) != 0 &&
                    strstr(error_message(&error), "the journal may lack the permission"))
                        noticed++;
                error_deinit(&error);
                simulator_journal_deinit(&journal);
        }
        assert_int_equal(noticed, 1);
}

static void equal_seeds_give_equal_runs(void **state)
{
        _cleanup_(buf_deinit) struct buf one = BUF_INIT, two = BUF_INIT, other = BUF_INIT;

        trace_of(7, &one);
        trace_of(7, &two);
        trace_of(8, &other);
        assert_string_equal(buf_text(&one), buf_text(&two));
        assert_string_not_equal(buf_text(&one), buf_text(&other));
}

static void replays_recorded_trace(void **state)
{
        int64_t tasks = 0;

        for (uint64_t seed = 1; seed <= 300; seed++) {
                _cleanup_(buf_deinit) struct buf trace = BUF_INIT;
                struct sched_replay_report report;
                struct fst_error error = FST_ERROR_INIT;

                trace_of(seed, &trace);
                if (sched_replay(trace.data, trace.len, 1 << 20, &report, &error) != 0)
                        fail_msg("seed %d: %s", (int)seed, error_message(&error));
                tasks += report.tasks;
        }
        assert_true(tasks > 3000);
}

/* Returns the first line after @from that begins with @word. */
static char *find_line(char *from, const char *word)
{
        for (char *at = strchr(from, '\n'); at; at = strchr(at + 1, '\n'))
                if (strncmp(at + 1, word, strlen(word)) == 0)
                        return at + 1;
        return NULL;
}

static void reports_changed_decision(void **state)
{
        _cleanup_(buf_deinit) struct buf trace = BUF_INIT;
        struct sched_replay_report report;
        struct fst_error error = FST_ERROR_INIT;

        trace_of(3, &trace);
        char *launch = find_line(trace.data + trace.len / 2, "= launch ");

        assert_non_null(launch);
        launch[9] = launch[9] == '9' ? '8' : (char)(launch[9] + 1); /* on another executor */
        assert_int_equal(sched_replay(trace.data, trace.len, 1 << 20, &report, &error), FST_REPLAY_E_DIVERGED);
        assert_non_null(strstr(error_message(&error), "the replay \"= launch "));
        assert_non_null(strstr(error_message(&error), "after \"revive "));
        error_deinit(&error);
}

static void detects_missing_status(void **state)
{
        int diverged = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
                _cleanup_(buf_deinit) struct buf trace = BUF_INIT;
                struct sched_replay_report report;

                trace_of(seed, &trace);
                char *line = find_line(trace.data, "status ");
                char *next = line ? strchr(line, '\n') + 1 : NULL;

                if (!line)
                        continue;
                memmove(line, next, trace.len - (size_t)(next - trace.data));
                int e = sched_replay(trace.data, trace.len - (size_t)(next - line), 1 << 20, &report, NULL);

                assert_true(e != -EINVAL);
                diverged += e == FST_REPLAY_E_DIVERGED;
        }
        assert_true(diverged > 10);
}

static void rejects_invalid_traces(void **state)
{
        static const struct {
                const char *lines, *expected;
        } cases[] = {
                {"", "first line"},
                {"firesteel-scheduler-trace 2\n", "first line"},
                {"firesteel-scheduler-trace 1\nconfig mode LIFO\n", "line 2: invalid record: \"config mode LIFO\""},
                {"firesteel-scheduler-trace 1\nconfig max_failure 1\n", "line 2: invalid record"},
                {"firesteel-scheduler-trace 1\nconfig task_cpus 1", "the last line is incomplete"},
                {"firesteel-scheduler-trace 1\nhello 1\n", "line 2: unknown record: \"hello 1\""},
                {"firesteel-scheduler-trace 1\nrdd 0 2 - - s 0 0\n", "invalid record"},  /* its own parent */
                {"firesteel-scheduler-trace 1\nrdd 0 9999999 - -\n", "invalid record"},  /* too many partitions */
                {"firesteel-scheduler-trace 1\nsubmit 5 0 - -1\n", "invalid record"},    /* unknown RDD */
                {"firesteel-scheduler-trace 1\nstatus 5 0 8 0 0 -\n", "invalid record"}, /* unknown state */
                {"firesteel-scheduler-trace 1\nadd_executor 1 a h\n", "invalid record"}, /* no cores */
                {"firesteel-scheduler-trace 1\nadd_executor 1 a%0 h 1\n", "invalid record"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct sched_replay_report report;
                struct fst_error error = FST_ERROR_INIT;

                assert_int_equal(sched_replay(cases[i].lines, strlen(cases[i].lines), 1 << 20, &report, &error),
                                 -EINVAL);
                if (!strstr(error_message(&error), cases[i].expected))
                        fail_msg("case %zu: %s", i, error_message(&error));
                error_deinit(&error);
        }
}

/* ------------------------------------------------------------------- schedulers with a fault of their own */

static bool disturbed; /* the fault was injected in this simulation */

/* Fault: forget an accepted output, and run its task again. */
static void run_again(struct sched *s, int64_t turn, uint32_t dice)
{
        for (struct task_set *set = s->tasks.first; set && !disturbed; set = set->next)
                for (int i = 0; i < set->n && !set->zombie; i++)
                        if (set->slots[i].done && stage_is_result(set->stage)) {
                                set->slots[i].done = false;
                                set->n_succeeded--;
                                pending_tasks_retry(&set->pending, i);
                                schedulable_activate(&set->node, set->pool);
                                disturbed = true;
                                return;
                        }
}

/* Fault: lose a pending task. */
static void lose_task(struct sched *s, int64_t turn, uint32_t dice)
{
        for (struct task_set *set = s->tasks.first; set && !disturbed; set = set->next)
                if (!set->zombie && !set->locality && !set->barrier && set->pending.next + 1 < set->pending.n) {
                        set->pending.next++;
                        disturbed = true;
                        return;
                }
}

/* Fault: report a map output on another executor. */
static void misplace_output(struct sched *s, int64_t turn, uint32_t dice)
{
        for (size_t i = 0; i < s->shuffles.len && !disturbed; i++) {
                struct map_outputs *outputs = s->shuffles.data[i].outputs;

                if (!outputs || outputs->available == 0 || map_outputs_complete(outputs) || !s->shuffles.data[i].stage)
                        continue;
                for (int m = 0; m < outputs->n; m++)
                        if (map_outputs_has(outputs, m)) {
                                outputs->at[m].executor = outputs->at[m].executor > 0 ? 0 : 1;
                                disturbed = true;
                                return;
                        }
        }
}

/* Fault: forget a map output without a report. */
static void leak_output(struct sched *s, int64_t turn, uint32_t dice)
{
        for (size_t i = 0; i < s->shuffles.len && !disturbed; i++) {
                struct map_outputs *outputs = s->shuffles.data[i].outputs;

                if (!outputs || !map_outputs_complete(outputs) || s->shuffles.data[i].stage)
                        continue;
                outputs->at[0] = (struct map_output){.executor = -1};
                outputs->available--;
                disturbed = true;
        }
}

/* Fault: treat a stage's inputs as available. */
static void begin_early(struct sched *s, int64_t turn, uint32_t dice)
{
        for (size_t i = 0; i < s->shuffles.len && !disturbed; i++) {
                struct map_outputs *outputs = s->shuffles.data[i].outputs;

                const struct stage *stage = s->shuffles.data[i].stage;

                /* Skips stages whose attempts begin without outputs, because they count them again. */
                if (!outputs || outputs->available + 1 != outputs->n || outputs->n < 2 || !stage || stage->barrier ||
                    stage->indeterminate)
                        continue;
                outputs->available++;
                disturbed = true;
        }
}

/* Fault: forget a stage that waits for its parents. */
static void forget_stage(struct sched *s, int64_t turn, uint32_t dice)
{
        if (disturbed || s->waiting.len == 0)
                return;
        s->waiting.len--;
        disturbed = true;
}

/* Fault: take no cores for a set's tasks. */
static void overbook(struct sched *s, int64_t turn, uint32_t dice)
{
        static const struct sched_profile nothing = {.any_executor = true};

        if (disturbed || !s->tasks.first || s->tasks.first->zombie || s->tasks.first->runs || s->tasks.first->barrier)
                return;
        s->tasks.first->profile = &nothing;
        disturbed = true;
}

/* Fault: forget a set's failures and exclusions. */
static void forget_failures(struct sched *s, int64_t turn, uint32_t dice)
{
        for (struct task_set *set = s->tasks.first; set; set = set->next)
                if (set->exclusion && set->exclusion->failures.len > 0 && !set->zombie) {
                        set->exclusion->failures.len = set->exclusion->executors.len = set->exclusion->hosts.len = 0;
                        disturbed = true;
                }
}

/* Fault: include excluded executors of the application again without a report. */
static void let_in(struct sched *s, int64_t turn, uint32_t dice)
{
        struct executors *x = &s->tasks.executors;

        for (size_t e = 0; e < x->at.len; e++)
                if (x->at.data[e].alive && (x->at.data[e].excluded || x->hosts.data[x->at.data[e].host].excluded)) {
                        executors_set_host_excluded(x, x->at.data[e].host, false);
                        executors_set_excluded(x, (int)e, false);
                        disturbed = true;
                }
}

/* Fault: launch the tasks of a barrier stage one by one. */
static void break_gang(struct sched *s, int64_t turn, uint32_t dice)
{
        for (struct task_set *set = s->tasks.first; set; set = set->next)
                if (set->barrier && !set->runs && !set->zombie) {
                        set->barrier = false;
                        disturbed = true;
                }
}

/* Fault: skip one task of a barrier stage. */
static void shrink_gang(struct sched *s, int64_t turn, uint32_t dice)
{
        for (struct task_set *set = s->tasks.first; set; set = set->next)
                if (set->barrier && !set->runs && !set->zombie && set->n > 1) {
                        set->n--;
                        disturbed = true;
                }
}

/* Fault: never wait for locality. */
static void hurry(struct sched *s, int64_t turn, uint32_t dice)
{
        for (struct task_set *set = s->tasks.first; set; set = set->next)
                if (set->locality && !set->zombie && set->n_waiting > 0 &&
                    set->locality->current < set->locality->n_levels - 1) {
                        set->locality->current = set->locality->n_levels - 1;
                        disturbed = true;
                }
}

/* Fault: authorize every attempt to commit. */
static bool let_all_commit(struct commit_coordinator *c, int stage, int stage_attempt, int partition, int attempt)
{
        disturbed |= !commit_coordinator_may_commit(c, stage, stage_attempt, partition, attempt);
        return true;
}

static const struct {
        const char *name;
        void (*disturb)(struct sched *, int64_t, uint32_t);
        may_commit_fn *may_commit;
        int one_in; /* at least one in so many injected faults must be detected, 0 means 2 */
} faults[] = {
        {"run_again", run_again},
        {"lose_task", lose_task},
        {"misplace_output", misplace_output},
        {"leak_output", leak_output},
        {"begin_early", begin_early},
        {"forget_stage", forget_stage},
        {"overbook", overbook},
        {"let_in", let_in},
        {"forget_failures", forget_failures, .one_in = 8},
        {"break_gang", break_gang},
        {"hurry", hurry, .one_in = 8},
        {"shrink_gang", shrink_gang},
        {"let_all_commit", NULL, let_all_commit},
};

/* A fault may come too late to matter, so a share of the injected faults must be detected. */
static void detects_injected_faults(void **state)
{
        for (size_t f = 0; f < ARRAY_SIZE(faults); f++) {
                int done = 0, found = 0;

                for (uint64_t seed = 1; seed <= 40 || (done < 20 && seed <= 4000); seed++) {
                        struct simulator_options options = world(seed);
                        struct simulator_report report;

                        options.disturb = faults[f].disturb;
                        options.may_commit = faults[f].may_commit;
                        disturbed = false;
                        int e = simulator_run(&options, &report, NULL);

                        done += disturbed;
                        found += e == FST_SIMULATOR_E_BROKEN;
                        assert_true(e == 0 || disturbed);
                }
                if (done < 5 || found * MAX(faults[f].one_in, 2) < done)
                        fail_msg("%s: done in %d worlds, noticed in %d", faults[f].name, done, found);
        }
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(random_simulations_keep_invariants),
                cmocka_unit_test(a_large_world_ends_with_faults_of_every_kind),
                cmocka_unit_test(dying_drivers_commit_once_and_repeat_nothing_journaled),
                cmocka_unit_test(a_permission_that_is_not_durable_is_noticed),
                cmocka_unit_test(equal_seeds_give_equal_runs),
                cmocka_unit_test(replays_recorded_trace),
                cmocka_unit_test(reports_changed_decision),
                cmocka_unit_test(detects_missing_status),
                cmocka_unit_test(rejects_invalid_traces),
                cmocka_unit_test(detects_injected_faults),
        };

        if (argc > 1)
                first_seed = strtoull(argv[1], NULL, 10);
        if (argc > 1)
                seed_count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/simulator/simulator", tests, NULL, NULL);
}
