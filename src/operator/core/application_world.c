/* See application_world.h. Even applications are quiet: no user changes them, and their drivers are not lost. */
#include "operator/core/application_world.h"

#include "base/mem.h"
#include "base/vec.h"
#include "operator/core/application_core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CALM_STEPS 2000
#define STEP_MS 400
#define START INT64_C(1795852800000)
#define DAY_MS 86400000

const struct application_world_options application_world_faults = {.applications = 6,
                                                                   .steps = 1500,
                                                                   .failed_requests = 1.0 / 6,
                                                                   .lost_answers = 1.0 / 6,
                                                                   .refused_services = 1.0 / 8,
                                                                   .late_events = 1.0 / 3,
                                                                   .repeated_events = 1.0 / 8,
                                                                   .crashes = 1.0 / 150,
                                                                   .clock_jumps = 1.0 / 400,
                                                                   .wrong_clocks = 0.5,
                                                                   .changes = 1.0 / 30,
                                                                   .times_to_live = 1.0 / 3,
                                                                   .driver_ends = 1.0 / 40,
                                                                   .failed_drivers = 0.5,
                                                                   .lost_drivers = 1.0 / 3};

struct world_app {
        char name[16];
        struct application_policy policy;
        struct application_status status;
        uint64_t version;
        int64_t generation;
        bool exists, quiet;    /* no user changes it, and its driver is not lost */
        bool service, refused; /* the UI's service exists, or was refused */
        /* The driver's pod. */
        bool pod, leaving, ended, failed;
        enum pod_loss loss;
        uint64_t pod_version, pod_hash;
        int pod_number;
        char submission[40];
        int executions; /* submissions that got a pod */
        char last[40];
        bool stored[N_APPLICATION_STATES]; /* states that the server has stored */
};

struct flight {
        struct application_action action;
        int due; /* the step in which it is performed */
};

struct application_world {
        const struct application_world_options *o;
        uint64_t random;
        struct application_core *core;
        struct world_app *apps;
        struct application_world_result *result;
        VEC(struct flight) flights;
        uint64_t version;
        int64_t now;
        int step;
        bool calm;
};

static unsigned application_world_random(struct application_world *w, unsigned n)
{
        w->random = w->random * 6364136223846793005u + 1442695040888963407u;
        return (unsigned)(((w->random >> 32) * n) >> 32);
}

static bool application_world_happens(struct application_world *w, double probability)
{
        return application_world_random(w, 1u << 24) < (unsigned)(probability * (1u << 24));
}

static bool application_world_fault(struct application_world *w, double probability)
{
        return !w->calm && application_world_happens(w, probability);
}

/* Stores the first violation. */
static void __attribute__((format(printf, 2, 3)))
application_world_violate(struct application_world *w, const char *format, ...)
{
        char text[300];
        va_list args;
        if (w->result->violation)
                return;
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        w->result->violation = mem_printf("step %d: %s", w->step, text);
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
        for (int i = 0; i < w->o->applications; i++) {
                if (application_world_fault(w, w->o->late_events))
                        continue;
                int times = application_world_fault(w, w->o->repeated_events) ? 2 : 1;
                for (int k = 0; k < times; k++) {
                        application_world_send_app(w, &w->apps[i]);
                        application_world_send_pod(w, &w->apps[i]);
                }
        }
}

/* --------------------------------------------------------------------------------------------------- the API server */

/* Names are "app-N". */
static struct world_app *application_world_find(struct application_world *w, const char *name)
{
        return &w->apps[atoi(name + strlen("app-"))];
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
        w->result->submissions++;
        a->pod_version = ++w->version;
        a->pod_hash = a->policy.spec_hash;
        snprintf(a->submission, sizeof(a->submission), "%s", action->submission_id);
        if (strcmp(a->last, a->submission) != 0)
                a->executions++;
        snprintf(a->last, sizeof(a->last), "%s", a->submission);
        return APPLICATION_RESULT_OK;
}

/* Creates the UI's service. Returns whether that is decided. */
static bool server_expose(struct application_world *w, struct world_app *a, struct application_answer *answer)
{
        if (application_world_fault(w, w->o->failed_requests))
                return false;
        a->refused = a->refused || application_world_fault(w, w->o->refused_services);
        a->service = a->service || !a->refused;
        if (a->refused)
                answer->expose_error = answer->message = "services are forbidden";
        else
                answer->ui_service = "ui";
        return true;
}

static enum application_result server_perform(struct application_world *w, struct application_action *action,
                                              struct application_answer *answer)
{
        struct world_app *a = application_world_find(w, action->name);
        enum application_result result;
        w->result->requests++;
        switch (action->kind) {
        case APPLICATION_SUBMIT:
        case APPLICATION_FINISH_SUBMIT:
                result = server_submit(w, a, action);
                answer->exposed = result == APPLICATION_RESULT_OK && server_expose(w, a, answer);
                return result;
        case APPLICATION_EXPOSE:
                return !server_expose(w, a, answer) ? APPLICATION_RESULT_RETRY
                       : a->refused                 ? APPLICATION_RESULT_FAILED
                                                    : APPLICATION_RESULT_OK;
        case APPLICATION_DELETE_RESOURCES:
                a->service = a->refused = false;
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
                a->stored[a->status.state] = true;
                answer->version = a->version = ++w->version;
                w->result->status_writes++;
                return APPLICATION_RESULT_OK;
        case APPLICATION_FIND_DRIVER:
                if (!a->pod)
                        return APPLICATION_RESULT_NOT_FOUND;
                application_world_send_pod(w, a);
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
        bool lost = application_world_fault(w, w->o->lost_answers);
        if (application_world_fault(w, w->o->failed_requests))
                answer.result = APPLICATION_RESULT_RETRY;
        else
                answer.result = server_perform(w, action, &answer);
        if (lost)
                answer.result = APPLICATION_RESULT_RETRY;
        application_core_done(w->core, "n", action->name, action->ticket, &answer, w->now);
}

/* ---------------------------------------------------------------------------------------------------- things happen */

static void application_world_drivers(struct application_world *w)
{
        for (int i = 0; i < w->o->applications; i++) {
                struct world_app *a = &w->apps[i];
                if (!a->pod)
                        continue;
                if (a->leaving || !a->exists) {
                        if (application_world_random(w, 4) == 0)
                                a->pod = false;
                } else if (!a->ended &&
                           application_world_happens(w, w->calm ? MAX(w->o->driver_ends, 0.025) : w->o->driver_ends)) {
                        a->ended = true;
                        a->failed = application_world_happens(w, w->o->failed_drivers);
                        a->loss = a->failed && !a->quiet && application_world_happens(w, w->o->lost_drivers)
                                          ? POD_LOSS_EVICTED
                                          : POD_LOSS_NONE;
                } else {
                        continue;
                }
                a->pod_version = ++w->version;
        }
}

static void application_world_users(struct application_world *w)
{
        struct world_app *a = &w->apps[application_world_random(w, (unsigned)w->o->applications)];
        if (a->quiet || !a->exists || !application_world_fault(w, w->o->changes))
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
        w->core = application_core_new(&(struct application_core_options){.max_loss_restarts = 3, .ui_service = true});
        for (int i = 0; i < w->o->applications; i++) {
                application_world_send_pod(w, &w->apps[i]);
                application_world_send_app(w, &w->apps[i]);
        }
        application_core_synced(w->core);
}

/* Kills the operator. A request under way has its effect or not. */
static void application_world_crash(struct application_world *w)
{
        struct application_answer unread = {0};
        w->result->crashes++;
        for (size_t i = 0; i < w->flights.len; i++) {
                if (application_world_random(w, 2))
                        server_perform(w, &w->flights.data[i].action, &unread);
                application_action_deinit(&w->flights.data[i].action);
        }
        w->flights.len = 0;
        if (application_world_happens(w, w->o->wrong_clocks))
                w->now = START + w->step * STEP_MS + (int64_t)application_world_random(w, 4 * DAY_MS) - 2 * DAY_MS;
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

/* The core tells of a state after the server has stored it. */
static void application_world_check_transition(struct application_world *w, const struct application_action *action)
{
        if (action->from == action->to)
                application_world_violate(w, "%s goes from %s to itself", action->name,
                                          application_state_name(action->to));
        if (!application_world_find(w, action->name)->stored[action->to])
                application_world_violate(w, "%s is told to be %s, which the server never stored", action->name,
                                          application_state_name(action->to));
}

static void application_world_step(struct application_world *w)
{
        w->step++;
        w->now += STEP_MS;
        if (application_world_fault(w, w->o->clock_jumps))
                w->now += application_world_random(w, 2) ? 3600000 : -3600000;
        application_world_users(w);
        application_world_drivers(w);
        application_world_watch(w);
        for (int i = 0; i < w->o->applications; i++)
                application_core_reconcile(w->core, "n", w->apps[i].name, w->now);
        for (struct application_action action; application_core_next_action(w->core, &action);) {
                if (action.ticket) {
                        const int delay = w->calm ? 0 : (int)application_world_random(w, 4);
                        vec_push(&w->flights, (struct flight){action, w->step + delay});
                        continue;
                }
                if (action.kind == APPLICATION_TRANSITION)
                        application_world_check_transition(w, &action);
                application_action_deinit(&action);
        }
        application_world_flights(w);
        if (application_world_fault(w, w->o->crashes))
                application_world_crash(w);
}

static void application_world_init(struct application_world *w)
{
        w->apps = new_array(struct world_app, (size_t)w->o->applications);
        for (int i = 0; i < w->o->applications; i++) {
                struct world_app *a = &w->apps[i];
                snprintf(a->name, sizeof(a->name), "app-%d", i);
                a->exists = true;
                a->quiet = i % 2 == 0;
                a->generation = 1;
                a->version = ++w->version;
                a->policy = (struct application_policy){
                        .restart = application_world_random(w, 2) ? RESTART_ON_FAILURE : RESTART_NEVER,
                        .failure_retries = (int)application_world_random(w, 3),
                        .submission_retries = 5,
                        .failure_interval_s = 1,
                        .submission_interval_s = 1,
                        .has_time_to_live = application_world_happens(w, w->o->times_to_live),
                        .time_to_live_s = application_world_random(w, 30),
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
        for (int i = 0; i < w->o->applications; i++)
                application_status_deinit(&w->apps[i].status);
        free(w->apps);
}

/* ----------------------------------------------------------------------------------------------------------- checks */

static void application_world_check_executions(struct application_world *w)
{
        for (int i = 0; i < w->o->applications; i++) {
                const struct world_app *a = &w->apps[i];
                int most = a->policy.restart == RESTART_NEVER ? 1 : a->policy.failure_retries + 1;
                if (a->quiet && a->executions > most)
                        application_world_violate(w, "%s has %d executions, %d are allowed", a->name, a->executions,
                                                  most);
        }
}

/* Returns the first application that has not come to rest, or NULL. */
static const struct world_app *application_world_restless(const struct application_world *w)
{
        for (int i = 0; i < w->o->applications; i++) {
                const struct world_app *a = &w->apps[i];
                enum application_state s = a->status.state;
                bool ended = s == APPLICATION_COMPLETED || s == APPLICATION_FAILED;
                if (a->exists && !(ended && !a->policy.has_time_to_live) &&
                    !(s == APPLICATION_SUSPENDED && a->policy.suspend && !a->pod))
                        return a;
        }
        return NULL;
}

static void application_world_check_end(struct application_world *w)
{
        const struct world_app *restless = application_world_restless(w);
        if (restless)
                application_world_violate(w, "%s does not come to rest: it is %s", restless->name,
                                          application_state_name(restless->status.state));
        for (int i = 0; i < w->o->applications; i++) {
                const struct world_app *a = &w->apps[i];
                if (a->quiet && a->executions == 0)
                        application_world_violate(w, "%s was forgotten", a->name);
        }
}

void application_world_run(const struct application_world_options *o, struct application_world_result *result)
{
        struct application_world w = {.o = o, .random = o->seed * 2654435761u + 1, .now = START, .result = result};
        *result = (struct application_world_result){0};
        application_world_init(&w);
        for (int i = 0; i < o->steps && !result->violation; i++) {
                application_world_step(&w);
                application_world_check_executions(&w);
        }
        w.calm = true;
        for (int i = 0; i < CALM_STEPS && !result->violation; i++) {
                if (w.flights.len == 0 && !application_world_restless(&w))
                        break;
                application_world_step(&w);
        }
        application_world_check_executions(&w);
        application_world_check_end(&w);
        result->virtual_ms = (int64_t)w.step * STEP_MS;
        application_world_deinit(&w);
}
