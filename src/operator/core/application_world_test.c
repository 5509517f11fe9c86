/*
 * Random worlds: applications, drivers that end, users that change their minds, operators that die, and an API server
 * that fails, forgets answers, repeats and delays events. FIRESTEEL_TEST_SEED runs one world.
 *
 * Asserted: an application without changes by users never has more executions than its restart policy allows, and each
 * application comes to rest once the faults end.
 */
#include "operator/core/application_core.h"

#include "base/mem.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { APPS = 6, WORLDS = 300, STEPS = 1500, CALM_STEPS = 2000, STEP_MS = 400 };
#define START INT64_C(1795852800000)

struct world_app {
        char name[16];
        struct application_policy policy;
        struct application_status status;
        uint64_t version;
        int64_t generation;
        bool exists, quiet; /* no user changes it, and its driver is not lost */
        /* The driver's pod. */
        bool pod, leaving, ended, failed;
        enum pod_loss loss;
        uint64_t pod_version, pod_hash;
        int pod_number;
        char submission[40];
        int executions; /* submissions that got a pod */
        char last[40];
};

struct flight {
        struct application_action action;
        int due; /* the step in which it is performed */
};

struct application_world {
        unsigned seed;
        struct application_core *core;
        struct world_app apps[APPS];
        VEC(struct flight) flights;
        uint64_t version;
        int64_t now;
        int step;
        bool calm;
};

static unsigned application_world_random(struct application_world *w, unsigned n)
{
        w->seed = w->seed * 1664525u + 1013904223u;
        return (w->seed >> 10) % n;
}

/* True in one of @n cases while there are faults. */
static bool application_world_fault(struct application_world *w, unsigned n)
{
        return !w->calm && application_world_random(w, n) == 0;
}

/* -------------------------------------------------------------------------------------------------------- observing */

static void application_world_send_app(struct application_world *w, struct world_app *a)
{
        const struct application_observation o = {.namespace = "n",
                                                  .name = a->name,
                                                  .uid = a->name,
                                                  .generation = a->generation,
                                                  .created_ms = START,
                                                  .version = a->version,
                                                  .policy = a->policy,
                                                  .driver_pod = "driver",
                                                  .status = a->status};
        if (a->exists)
                application_core_observe(w->core, &o);
        else
                application_core_removed(w->core, "n", a->name, a->name);
}

static void application_world_send_pod(struct application_world *w, struct world_app *a)
{
        char uid[60];
        snprintf(uid, sizeof(uid), "%s-%d", a->name, a->pod_number);
        const struct pod_observation o = {.namespace = "n",
                                          .name = "driver",
                                          .uid = uid,
                                          .application = a->name,
                                          .submission_id = a->submission,
                                          .application_id = "spark-1",
                                          .owner_uid = a->name,
                                          .is_driver = true,
                                          .leaving = a->leaving,
                                          .terminated = a->ended,
                                          .has_status = true,
                                          .exit_code = a->failed,
                                          .phase = !a->ended   ? SPARK_POD_RUNNING
                                                   : a->failed ? SPARK_POD_FAILED
                                                               : SPARK_POD_COMPLETED,
                                          .loss = a->loss,
                                          .spec_hash = a->pod_hash,
                                          .created_ms = START,
                                          .version = a->pod_version};
        if (a->pod)
                application_core_observe_pod(w->core, &o);
        else if (a->pod_number > 0)
                application_core_pod_removed(w->core, &o);
}

/* The watch: sooner or later, sometimes twice. */
static void application_world_watch(struct application_world *w)
{
        for (int i = 0; i < APPS; i++) {
                if (application_world_fault(w, 3))
                        continue;
                int times = application_world_fault(w, 8) ? 2 : 1;
                for (int k = 0; k < times; k++) {
                        application_world_send_app(w, &w->apps[i]);
                        application_world_send_pod(w, &w->apps[i]);
                }
        }
}

/* --------------------------------------------------------------------------------------------------- the API server */

static struct world_app *application_world_find(struct application_world *w, const char *name)
{
        for (int i = 0; i < APPS; i++)
                if (strcmp(w->apps[i].name, name) == 0)
                        return &w->apps[i];
        return NULL;
}

static enum application_result server_submit(struct application_world *w, struct world_app *a,
                                             const struct application_action *action)
{
        if (!a->exists)
                return APPLICATION_RESULT_NOT_FOUND;
        if (a->pod)
                return strcmp(a->submission, action->submission_id) == 0 ? APPLICATION_RESULT_OK
                                                                         : APPLICATION_RESULT_CONFLICT;
        a->pod = true;
        a->leaving = a->ended = a->failed = false;
        a->loss = POD_LOSS_NONE;
        a->pod_number++;
        a->pod_version = ++w->version;
        a->pod_hash = a->policy.spec_hash;
        snprintf(a->submission, sizeof(a->submission), "%s", action->submission_id);
        if (strcmp(a->last, a->submission) != 0)
                a->executions++;
        snprintf(a->last, sizeof(a->last), "%s", a->submission);
        return APPLICATION_RESULT_OK;
}

static enum application_result server_perform(struct application_world *w, struct application_action *action,
                                              uint64_t *version)
{
        struct world_app *a = application_world_find(w, action->name);
        switch (action->kind) {
        case APPLICATION_SUBMIT:
        case APPLICATION_FINISH_SUBMIT:
                return server_submit(w, a, action);
        case APPLICATION_DELETE_RESOURCES:
                if (a->pod && action->pod_uid) {
                        a->leaving = true;
                        a->pod_version = ++w->version;
                }
                return APPLICATION_RESULT_OK;
        case APPLICATION_WRITE_STATUS:
                if (!a->exists)
                        return APPLICATION_RESULT_NOT_FOUND;
                if (action->version != a->version)
                        return APPLICATION_RESULT_CONFLICT;
                application_status_copy(&a->status, &action->status);
                *version = a->version = ++w->version;
                return APPLICATION_RESULT_OK;
        case APPLICATION_DELETE:
                a->exists = false;
                return APPLICATION_RESULT_OK;
        default:
                return APPLICATION_RESULT_OK;
        }
}

/* Performs an action: it may fail before or after it had its effect. */
static void application_world_perform(struct application_world *w, struct application_action *action)
{
        struct application_answer answer = {.message = "no answer"};
        bool lost = application_world_fault(w, 6);
        if (application_world_fault(w, 6))
                answer.result = APPLICATION_RESULT_RETRY;
        else
                answer.result = server_perform(w, action, &answer.version);
        if (lost)
                answer.result = APPLICATION_RESULT_RETRY;
        application_core_done(w->core, "n", action->name, action->ticket, &answer, w->now);
}

/* ---------------------------------------------------------------------------------------------------- things happen */

static void application_world_drivers(struct application_world *w)
{
        for (int i = 0; i < APPS; i++) {
                struct world_app *a = &w->apps[i];
                if (!a->pod)
                        continue;
                if (a->leaving || !a->exists) {
                        if (application_world_random(w, 4) == 0)
                                a->pod = false;
                } else if (!a->ended && application_world_random(w, 40) == 0) {
                        a->ended = true;
                        a->failed = application_world_random(w, 2);
                        a->loss = a->failed && !a->quiet && application_world_random(w, 3) == 0 ? POD_LOSS_EVICTED
                                                                                                : POD_LOSS_NONE;
                } else {
                        continue;
                }
                a->pod_version = ++w->version;
        }
}

static void application_world_users(struct application_world *w)
{
        struct world_app *a = &w->apps[application_world_random(w, APPS)];
        if (w->calm || a->quiet || !a->exists || application_world_random(w, 30))
                return;
        switch (application_world_random(w, 4)) {
        case 0:
                a->policy.spec_hash++;
                break;
        case 1:
                a->policy.suspend = !a->policy.suspend;
                break;
        case 2:
                if (application_world_random(w, 10) == 0)
                        a->exists = false;
                break;
        default: /* metadata alone */
                a->generation--;
                break;
        }
        a->generation++;
        a->version = ++w->version;
}

static void application_world_new_core(struct application_world *w)
{
        application_core_free(w->core);
        w->core = application_core_new(&(struct application_core_options){.max_loss_restarts = 3});
        for (int i = 0; i < APPS; i++) {
                application_world_send_pod(w, &w->apps[i]);
                application_world_send_app(w, &w->apps[i]);
        }
        application_core_synced(w->core);
}

/* Kills the operator. A request under way has its effect or not. */
static void application_world_crash(struct application_world *w)
{
        uint64_t version;
        for (size_t i = 0; i < w->flights.len; i++) {
                if (application_world_random(w, 2))
                        server_perform(w, &w->flights.data[i].action, &version);
                application_action_deinit(&w->flights.data[i].action);
        }
        w->flights.len = 0;
        application_world_new_core(w);
}

static void application_world_flights(struct application_world *w)
{
        for (size_t i = 0; i < w->flights.len;) {
                if (w->flights.data[i].due > w->step) {
                        i++;
                        continue;
                }
                struct application_action action = w->flights.data[i].action;
                w->flights.data[i] = w->flights.data[--w->flights.len];
                application_world_perform(w, &action);
                application_action_deinit(&action);
        }
}

static void application_world_step(struct application_world *w)
{
        w->step++;
        w->now += STEP_MS;
        if (application_world_fault(w, 400))
                w->now -= 3600000;
        application_world_users(w);
        application_world_drivers(w);
        application_world_watch(w);
        for (int i = 0; i < APPS; i++)
                application_core_reconcile(w->core, "n", w->apps[i].name, w->now);
        for (struct application_action action; application_core_next_action(w->core, &action);) {
                if (action.ticket)
                        vec_push(
                                &w->flights,
                                (struct flight){action, w->step + (w->calm ? 0 : (int)application_world_random(w, 4))});
                else
                        application_action_deinit(&action);
        }
        application_world_flights(w);
        if (application_world_fault(w, 150))
                application_world_crash(w);
}

static void application_world_init(struct application_world *w, unsigned seed)
{
        *w = (struct application_world){.seed = seed * 2654435761u + 1, .now = START};
        for (int i = 0; i < APPS; i++) {
                struct world_app *a = &w->apps[i];
                snprintf(a->name, sizeof(a->name), "app-%d", i);
                a->exists = true;
                a->quiet = i % 2 == 0;
                a->generation = 1;
                a->version = ++w->version;
                a->policy = (struct application_policy){.restart = application_world_random(w, 2) ? RESTART_ON_FAILURE
                                                                                                  : RESTART_NEVER,
                                                        .failure_retries = (int)application_world_random(w, 3),
                                                        .submission_retries = 5,
                                                        .failure_interval_s = 1,
                                                        .submission_interval_s = 1,
                                                        .spec_hash = 100,
                                                        .partial_hash = 100};
        }
        application_world_new_core(w);
}

static void application_world_deinit(struct application_world *w)
{
        for (size_t i = 0; i < w->flights.len; i++)
                application_action_deinit(&w->flights.data[i].action);
        vec_deinit(&w->flights);
        application_core_free(w->core);
        for (int i = 0; i < APPS; i++)
                application_status_deinit(&w->apps[i].status);
}

static void application_world_check_executions(const struct application_world *w, unsigned seed)
{
        for (int i = 0; i < APPS; i++) {
                const struct world_app *a = &w->apps[i];
                int most = a->policy.restart == RESTART_NEVER ? 1 : a->policy.failure_retries + 1;
                if (a->quiet && a->executions > most)
                        fail_msg("seed %u, step %d: %s has %d executions, %d are allowed", seed, w->step, a->name,
                                 a->executions, most);
        }
}

static bool application_world_is_at_rest(const struct application_world *w)
{
        for (int i = 0; i < APPS; i++) {
                const struct world_app *a = &w->apps[i];
                enum application_state s = a->status.state;
                if (a->exists && s != APPLICATION_COMPLETED && s != APPLICATION_FAILED &&
                    !(s == APPLICATION_SUSPENDED && a->policy.suspend && !a->pod))
                        return false;
        }
        return w->flights.len == 0;
}

static void application_world_run(unsigned seed)
{
        struct application_world w;
        application_world_init(&w, seed);
        for (int i = 0; i < STEPS; i++) {
                application_world_step(&w);
                application_world_check_executions(&w, seed);
        }
        w.calm = true;
        for (int i = 0; i < CALM_STEPS && !application_world_is_at_rest(&w); i++)
                application_world_step(&w);
        for (int i = 0; i < APPS && !application_world_is_at_rest(&w); i++)
                print_message("%s: %s, pod %d, suspend %d\n", w.apps[i].name,
                              application_state_name(w.apps[i].status.state), w.apps[i].pod, w.apps[i].policy.suspend);
        if (!application_world_is_at_rest(&w))
                fail_msg("seed %u does not come to rest", seed);
        application_world_check_executions(&w, seed);
        for (int i = 0; i < APPS; i++)
                if (w.apps[i].quiet && w.apps[i].executions == 0)
                        fail_msg("seed %u: %s was forgotten", seed, w.apps[i].name);
        application_world_deinit(&w);
}

static void worlds_come_to_rest(void **state)
{
        const char *seed = getenv("FIRESTEEL_TEST_SEED");
        for (unsigned i = 0; !seed && i < WORLDS; i++)
                application_world_run(i);
        if (seed)
                application_world_run((unsigned)strtoul(seed, NULL, 10));
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(worlds_come_to_rest)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
