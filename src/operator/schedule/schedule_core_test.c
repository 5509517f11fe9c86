/* Schedules: timelines of the genuine operator's tests, crashes, clocks, and random worlds. */
#include "operator/schedule/schedule_core.h"

#include "base/mem.h"
#include "operator/schedule/rfc3339.h"
#include "unit/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define START INT64_C(1774000000000) /* 2026-03-20T09:46:40Z */
#define MAX_RUNS 64

/* ---------------------------------------------------------------------------------------------- a small API server */

struct server_run {
        char name[80], uid[16];
        int64_t created_ms;
        enum application_state state;
        bool exists;
};

struct schedule_world {
        struct schedule_core *core;
        struct schedule_observation object; /* its status is the server's */
        struct server_run runs[MAX_RUNS];   /* of all times */
        size_t n_runs;
        int64_t now, deadline;
        unsigned seed;
        int fail_percent; /* of actions; half of these were carried out before the answer was lost */
        char calls[4096]; /* the actions since the last look: "create N;delete N;" */
};

static void schedule_world_observe(struct schedule_world *w)
{
        schedule_core_observe(w->core, &w->object);
}

static void schedule_world_observe_run(struct schedule_world *w, const struct server_run *run)
{
        struct run_observation o = {.namespace = "jobs",
                                    .name = run->name,
                                    .uid = run->uid,
                                    .schedule = "nightly",
                                    .owner_uid = "u1",
                                    .created_ms = run->created_ms,
                                    .state = run->state};
        if (run->exists)
                schedule_core_observe_run(w->core, &o);
        else
                schedule_core_run_removed(w->core, "jobs", run->name, run->uid);
}

static void schedule_world_restart(struct schedule_world *w)
{
        schedule_core_free(w->core);
        w->core = schedule_core_new(SCHEDULE_NANOS);
        for (size_t i = 0; i < w->n_runs; i++)
                if (w->runs[i].exists)
                        schedule_world_observe_run(w, &w->runs[i]);
        schedule_world_observe(w);
        schedule_core_synced(w->core);
}

static void schedule_world_make(struct schedule_world *w, const char *schedule, enum schedule_concurrency concurrency)
{
        *w = (struct schedule_world){.now = START, .seed = 1};
        w->object = (struct schedule_observation){.namespace = "jobs",
                                                  .name = "nightly",
                                                  .uid = "u1",
                                                  .version = 1,
                                                  .schedule = schedule,
                                                  .time_zone = "UTC",
                                                  .concurrency = concurrency,
                                                  .successful_limit = 1,
                                                  .failed_limit = 1};
        schedule_world_restart(w);
}

static void schedule_world_free(struct schedule_world *w)
{
        schedule_core_free(w->core);
        schedule_status_deinit(&w->object.status);
}

static struct server_run *schedule_world_find(struct schedule_world *w, const char *name)
{
        for (size_t i = 0; i < w->n_runs; i++)
                if (w->runs[i].exists && strcmp(w->runs[i].name, name) == 0)
                        return &w->runs[i];
        return NULL;
}

static size_t schedule_world_unfinished(const struct schedule_world *w)
{
        size_t n = 0;
        for (size_t i = 0; i < w->n_runs; i++)
                n += w->runs[i].exists && !application_state_is_final(w->runs[i].state);
        return n;
}

static void schedule_world_create_run(struct schedule_world *w, const char *name)
{
        if (schedule_world_find(w, name))
                return;
        for (size_t i = 0; i < w->n_runs; i++) /* never the same run twice, not even after its deletion */
                assert_string_not_equal(w->runs[i].name, name);
        if (w->object.concurrency != SCHEDULE_ALLOW)
                assert_int_equal(schedule_world_unfinished(w), 0);
        assert_true(w->n_runs < MAX_RUNS);
        struct server_run *run = &w->runs[w->n_runs++];
        *run = (struct server_run){.created_ms = w->now, .exists = true, .state = APPLICATION_NEW};
        snprintf(run->name, sizeof(run->name), "%s", name);
        snprintf(run->uid, sizeof(run->uid), "r%zu", w->n_runs);
}

/* Carries out an action. Returns false if the object has another version. */
static bool schedule_world_perform(struct schedule_world *w, const struct schedule_action *a)
{
        struct server_run *run = a->run ? schedule_world_find(w, a->run) : NULL;
        switch (a->kind) {
        case SCHEDULE_CREATE_RUN:
                schedule_world_create_run(w, a->run);
                return true;
        case SCHEDULE_DELETE_RUN:
                if (run && strcmp(run->uid, a->run_uid) == 0)
                        run->exists = false;
                return true;
        case SCHEDULE_WRITE_STATUS:
                if (a->version != w->object.version)
                        return false;
                schedule_status_deinit(&w->object.status);
                json_t *json = schedule_status_json(&a->status);
                schedule_status_read(json, &w->object.status);
                json_decref(json);
                w->object.version++;
                return true;
        }
        return false;
}

/* Lets the core act until it has nothing to do. */
static void schedule_world_settle(struct schedule_world *w)
{
        static const char *const words[] = {"create", "delete", "status"};
        w->calls[0] = 0;
        for (int turns = 0; turns < 1000; turns++) {
                struct schedule_action a;
                w->deadline = schedule_core_reconcile(w->core, "jobs", "nightly", w->now);
                if (!schedule_core_next_action(w->core, &a))
                        return;
                bool fails = (int)(rand_r(&w->seed) % 100) < w->fail_percent;
                bool done = (!fails || rand_r(&w->seed) % 2) && schedule_world_perform(w, &a);
                if (strlen(w->calls) < sizeof(w->calls) - 100)
                        sprintf(w->calls + strlen(w->calls), "%s%s%s;", words[a.kind], a.run ? " " : "",
                                a.run ? a.run : "");
                struct server_run *run = a.run ? schedule_world_find(w, a.run) : NULL;
                if (run)
                        schedule_world_observe_run(w, run);
                else if (a.kind == SCHEDULE_DELETE_RUN)
                        schedule_core_run_removed(w->core, "jobs", a.run, a.run_uid);
                schedule_core_done(w->core, "jobs", "nightly", a.ticket,
                                   done && !fails ? SCHEDULE_RESULT_OK : SCHEDULE_RESULT_RETRY, "lost",
                                   a.kind == SCHEDULE_WRITE_STATUS && done ? w->object.version : 0, w->now);
                if (fails)
                        schedule_world_observe(w);
                schedule_action_deinit(&a);
                /* An operator that dies after an action and before the next one. */
                if (w->fail_percent && rand_r(&w->seed) % 10 == 0)
                        schedule_world_restart(w);
        }
        fail_msg("the core does not settle: %s", w->calls);
}

static void schedule_world_set_state(struct schedule_world *w, size_t run, enum application_state state)
{
        w->runs[run].state = state;
        schedule_world_observe_run(w, &w->runs[run]);
        schedule_world_settle(w);
}

static size_t schedule_world_count(const struct schedule_world *w)
{
        size_t n = 0;
        for (size_t i = 0; i < w->n_runs; i++)
                n += w->runs[i].exists;
        return n;
}

/* -------------------------------------------------------------------------------------------------------- timelines */

static void allow_starts_runs_and_keeps_history(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "@every 10m", SCHEDULE_ALLOW);
        schedule_world_settle(&w);
        assert_string_equal(w.calls, "status;");
        assert_int_equal(w.object.status.next_run_ms, START + 10 * MINUTE);
        assert_int_equal(w.deadline, START + 10 * MINUTE);
        w.now += 10 * MINUTE;
        schedule_world_settle(&w);
        assert_string_equal(w.calls, "create nightly-1774000600000000000;status;");
        assert_string_equal(w.object.status.last_run_name, "nightly-1774000600000000000");
        assert_int_equal(w.object.status.last_run_ms, START + 10 * MINUTE);
        w.now += 5 * SECOND;
        schedule_world_settle(&w);
        assert_string_equal(w.calls, "");
        schedule_world_set_state(&w, 0, APPLICATION_COMPLETED);
        assert_int_equal(w.object.status.successful.len, 1);
        assert_string_equal(w.object.status.successful.data[0], w.runs[0].name);
        w.now = w.object.status.next_run_ms + 5 * SECOND;
        schedule_world_settle(&w);
        assert_int_equal(schedule_world_count(&w), 2);
        schedule_world_set_state(&w, 1, APPLICATION_COMPLETED);
        assert_string_equal(w.object.status.successful.data[0], w.runs[1].name);
        assert_int_equal(w.object.status.successful.len, 1);
        assert_false(w.runs[0].exists);
        schedule_world_free(&w);
}

static void forbid_waits_for_previous_run(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "@every 1m", SCHEDULE_FORBID);
        schedule_world_settle(&w);
        w.now += MINUTE;
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        schedule_world_set_state(&w, 0, APPLICATION_RUNNING);
        w.now += MINUTE;
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        assert_int_equal(w.deadline, INT64_MAX);
        w.now += 5 * SECOND;
        schedule_world_set_state(&w, 0, APPLICATION_FAILED);
        assert_int_equal(w.n_runs, 2);
        assert_string_equal(w.object.status.failed.data[0], w.runs[0].name);
        schedule_world_free(&w);
}

static void replace_deletes_unfinished_run(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "@every 1m", SCHEDULE_REPLACE);
        schedule_world_settle(&w);
        w.now += MINUTE;
        schedule_world_settle(&w);
        schedule_world_set_state(&w, 0, APPLICATION_RUNNING);
        w.now += MINUTE;
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 2);
        assert_false(w.runs[0].exists);
        assert_true(w.runs[1].exists);
        schedule_world_free(&w);
}

static void missed_occurrences_start_one_run(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "*/5 * * * *", SCHEDULE_ALLOW);
        schedule_world_settle(&w);
        w.now += 24 * 60 * MINUTE; /* the operator was away for a day */
        schedule_world_restart(&w);
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        assert_int_equal(w.object.status.next_run_ms, START + 24 * 60 * MINUTE + 200 * SECOND);
        schedule_world_free(&w);
}

static void suspended_schedule_starts_nothing(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "@hourly", SCHEDULE_ALLOW);
        w.object.suspend = true;
        schedule_world_observe(&w);
        schedule_world_settle(&w);
        w.now += 5 * 60 * MINUTE;
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 0);
        assert_int_equal(w.deadline, INT64_MAX);
        w.object.suspend = false;
        schedule_world_observe(&w);
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        schedule_world_free(&w);
}

static void invalid_schedule_is_told_and_recovers(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "61 * * * *", SCHEDULE_ALLOW);
        schedule_world_settle(&w);
        assert_int_equal(w.object.status.state, SCHEDULE_FAILED_VALIDATION);
        assert_string_equal(w.object.status.reason, "end of range (61) above maximum (59): 61");
        w.object.schedule = "@hourly";
        w.object.time_zone = "Mars/Base";
        schedule_world_observe(&w);
        schedule_world_settle(&w);
        assert_ptr_equal(strstr(w.object.status.reason, "Invalid timezone: "), w.object.status.reason);
        w.object.time_zone = NULL;
        schedule_world_observe(&w);
        schedule_world_settle(&w);
        assert_int_equal(w.object.status.state, SCHEDULE_SCHEDULED);
        assert_null(w.object.status.reason);
        schedule_world_free(&w);
}

static void changed_schedule_moves_next_run(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "0 12 * * *", SCHEDULE_ALLOW);
        schedule_world_settle(&w);
        w.object.schedule = "0 11 * * *"; /* earlier */
        schedule_world_observe(&w);
        schedule_world_settle(&w);
        assert_int_equal(w.object.status.next_run_ms, START + 4400 * SECOND);
        w.object.schedule = "0 14 * * *"; /* later */
        schedule_world_observe(&w);
        schedule_world_settle(&w);
        assert_int_equal(w.object.status.next_run_ms, START + (4400 + 3 * 3600) * SECOND);
        schedule_world_free(&w);
}

static void clock_set_back_repeats_no_run(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "*/10 * * * *", SCHEDULE_ALLOW);
        schedule_world_settle(&w);
        w.now += 10 * MINUTE;
        schedule_world_settle(&w);
        int64_t next = w.object.status.next_run_ms;
        w.now -= 60 * MINUTE;
        schedule_world_restart(&w);
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        assert_int_equal(w.object.status.next_run_ms, next);
        schedule_world_free(&w);
}

static void refused_run_is_given_up(void **state)
{
        struct schedule_world w;
        struct schedule_action a;
        schedule_world_make(&w, "@every 10m", SCHEDULE_ALLOW);
        schedule_world_settle(&w);
        w.now += 10 * MINUTE;
        schedule_core_reconcile(w.core, "jobs", "nightly", w.now);
        assert_true(schedule_core_next_action(w.core, &a));
        assert_int_equal(a.kind, SCHEDULE_CREATE_RUN);
        assert_true(
                schedule_core_done(w.core, "jobs", "nightly", a.ticket, SCHEDULE_RESULT_REFUSED, "too long", 0, w.now));
        schedule_action_deinit(&a);
        schedule_world_settle(&w);
        assert_string_equal(w.object.status.reason, "the run nightly-1774000600000000000 was not created: too long");
        assert_null(w.object.status.last_run_name);
        assert_int_equal(w.object.status.next_run_ms, w.now + 10 * MINUTE);
        w.now += 10 * MINUTE;
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        assert_null(w.object.status.reason);
        schedule_world_free(&w);
}

static void other_schedules_of_the_name_do_not_count(void **state)
{
        struct schedule_world w;
        schedule_world_make(&w, "@every 1m", SCHEDULE_FORBID);
        schedule_core_observe_run(w.core, &(struct run_observation){.namespace = "jobs",
                                                                    .name = "nightly-7",
                                                                    .uid = "old",
                                                                    .schedule = "nightly",
                                                                    .owner_uid = "u0",
                                                                    .state = APPLICATION_RUNNING});
        schedule_world_settle(&w);
        w.now += MINUTE;
        schedule_world_settle(&w);
        assert_int_equal(w.n_runs, 1);
        schedule_world_free(&w);
}

/*
 * Actions fail, answers are lost, the operator dies, runs end at random. schedule_world_create_run asserts that no run
 * starts twice and that Forbid and Replace have one at a time. In the end a quiet hour must bring a run for each
 * occurrence, and a history within its limits.
 */
static void random_worlds_start_each_run_once(void **state)
{
        for (unsigned seed = 1; seed <= 600; seed++) {
                CASE_LABEL("seed %u", seed);
                struct schedule_world w;
                schedule_world_make(&w, "*/10 * * * *", (enum schedule_concurrency)(seed % 3));
                w.seed = seed;
                w.object.successful_limit = (int32_t)(seed % 4);
                schedule_world_observe(&w);
                for (int step = 0; step < 60; step++) {
                        w.fail_percent = 30;
                        w.now += rand_r(&w.seed) % (4 * MINUTE);
                        if (w.n_runs > 0 && rand_r(&w.seed) % 2) {
                                struct server_run *run = &w.runs[rand_r(&w.seed) % w.n_runs];
                                if (run->exists && !application_state_is_final(run->state)) {
                                        run->state = rand_r(&w.seed) % 2 ? APPLICATION_COMPLETED : APPLICATION_FAILED;
                                        schedule_world_observe_run(&w, run);
                                }
                        }
                        schedule_world_settle(&w);
                }
                w.fail_percent = 0;
                schedule_world_observe(&w);
                schedule_world_settle(&w);
                for (size_t i = 0; i < w.n_runs; i++)
                        if (w.runs[i].exists && !application_state_is_final(w.runs[i].state))
                                schedule_world_set_state(&w, i, APPLICATION_COMPLETED);
                size_t before = w.n_runs;
                for (int occurrence = 0; occurrence < 6; occurrence++) {
                        w.now = w.deadline;
                        schedule_world_settle(&w);
                        schedule_world_set_state(&w, w.n_runs - 1, APPLICATION_COMPLETED);
                }
                assert_true(w.n_runs - before >= 6);
                assert_true(w.object.status.successful.len <= (size_t)w.object.successful_limit);
                assert_true(schedule_world_count(&w) <= (size_t)w.object.successful_limit + 1);
                schedule_world_free(&w);
        }
}

static void reads_objects_and_status(void **state)
{
        static const char text[] =
                "{'metadata':{'namespace':'jobs','name':'nightly','uid':'u1','resourceVersion':'77'},"
                "'spec':{'schedule':'@daily','timeZone':'Asia/Tokyo','concurrencyPolicy':'Forbid','suspend':true,"
                "'successfulRunHistoryLimit':3},'status':{'lastRun':'2026-11-28T07:44:13Z','nextRun':"
                "'2026-11-29T07:44:13+01:00','lastRunName':'nightly-1','pastFailedRunNames':['nightly-0'],"
                "'scheduleState':'Scheduled'}}";
        _cleanup_free_ char *json = mem_strdup(text);
        for (char *p = json; *p; p++)
                *p = *p == '\'' ? '"' : *p;
        json_t *object = json_loads(json, 0, NULL);
        struct schedule_observation o;
        char time[RFC3339_TEXT];
        schedule_observation_read(object, &o);
        assert_int_equal(o.version, 77);
        assert_int_equal(o.concurrency, SCHEDULE_FORBID);
        assert_int_equal(o.successful_limit, 3);
        assert_int_equal(o.failed_limit, 1);
        assert_true(o.suspend);
        rfc3339_format(o.status.next_run_ms, time);
        assert_string_equal(time, "2026-11-29T06:44:13Z");
        json_t *written = schedule_status_json(&o.status);
        struct schedule_status again;
        schedule_status_read(written, &again);
        assert_true(schedule_status_equal(&o.status, &again));
        assert_string_equal(json_string_value(json_object_get(written, "lastRun")), "2026-11-28T07:44:13Z");
        assert_int_equal(rfc3339_parse("2026-02-29T00:00:00Z"), 0);
        assert_int_equal(rfc3339_parse("tomorrow"), 0);
        assert_int_equal(rfc3339_parse("1970-01-01T00:00:01.5Z"), 1500);
        schedule_status_deinit(&again);
        schedule_status_deinit(&o.status);
        json_decref(written);
        json_decref(object);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(allow_starts_runs_and_keeps_history),
                cmocka_unit_test(forbid_waits_for_previous_run),
                cmocka_unit_test(replace_deletes_unfinished_run),
                cmocka_unit_test(missed_occurrences_start_one_run),
                cmocka_unit_test(suspended_schedule_starts_nothing),
                cmocka_unit_test(invalid_schedule_is_told_and_recovers),
                cmocka_unit_test(changed_schedule_moves_next_run),
                cmocka_unit_test(clock_set_back_repeats_no_run),
                cmocka_unit_test(refused_run_is_given_up),
                cmocka_unit_test(other_schedules_of_the_name_do_not_count),
                cmocka_unit_test(random_worlds_start_each_run_once),
                cmocka_unit_test(reads_objects_and_status),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
