/* One application, its core, and a server that answers as the test wants. For the tests of this directory. */
#pragma once

#include "base/mem.h"
#include "operator/core/application_core.h"
#include "operator/resources/operator_fixture.h"

#include <stdio.h>

#define NOW INT64_C(1795852800000)
#define S INT64_C(1000)

struct core_fixture {
        struct application_core *core;
        struct application_policy policy;
        struct application_status stored; /* as the server has it */
        uint64_t version, driver_version;
        int64_t generation, now;
        int64_t deadline;
        bool leaving;
        const char *invalid;
        bool driver_exists; /* a request finds the driver's pod, although no watch has shown it */
        bool exposes;       /* submissions create the UI's service, too */
        const char *expose_error;
        bool counts;    /* the log has executions and submissions of each state, as "RUNNING(1,1)", and no actions */
        int performed;  /* actions with an answer */
        char log[2000]; /* what the core did */
        char events[2000];
};

static inline void core_fixture_init(struct core_fixture *b, const struct application_core_options *options)
{
        *b = (struct core_fixture){.core = application_core_new(options), .generation = 1, .now = NOW};
        b->policy = (struct application_policy){.failure_retries = -1,
                                                .submission_retries = -1,
                                                .failure_interval_s = -1,
                                                .submission_interval_s = -1,
                                                .spec_hash = 11,
                                                .partial_hash = 7};
        application_core_synced(b->core);
}

static inline void core_fixture_deinit(struct core_fixture *b)
{
        application_status_deinit(&b->stored);
        application_core_free(b->core);
}

static inline void core_fixture_log(struct core_fixture *b, const char *text)
{
        size_t n = strlen(b->log);
        snprintf(b->log + n, sizeof(b->log) - n, "%s%s", n ? " " : "", text);
}

/* The server has a new version of the object. */
static inline void core_fixture_observe(struct core_fixture *b)
{
        b->version++;
        const struct application_observation o = {.namespace = "jobs",
                                                  .name = "pi",
                                                  .uid = "u-1",
                                                  .generation = b->generation,
                                                  .created_ms = NOW,
                                                  .version = b->version,
                                                  .leaving = b->leaving,
                                                  .policy = b->policy,
                                                  .driver_pod = "pi-driver",
                                                  .invalid = b->invalid,
                                                  .status = b->stored};
        assert_true(application_core_observe(b->core, &o));
}

static inline struct pod_observation core_fixture_driver(struct core_fixture *b, enum spark_pod_state phase)
{
        return (struct pod_observation){.namespace = "jobs",
                                        .name = "pi-driver",
                                        .uid = "d-1",
                                        .application = "pi",
                                        .submission_id = b->stored.submission_id,
                                        .application_id = "spark-1",
                                        .owner_uid = "u-1",
                                        .is_driver = true,
                                        .has_status = true,
                                        .phase = phase,
                                        .spec_hash = b->policy.spec_hash,
                                        .created_ms = NOW,
                                        .version = ++b->driver_version};
}

static inline void core_fixture_pod(struct core_fixture *b, enum spark_pod_state phase)
{
        const struct pod_observation o = core_fixture_driver(b, phase);
        application_core_observe_pod(b->core, &o);
}

static inline void core_fixture_driver_ends(struct core_fixture *b, int exit_code, const char *reason)
{
        struct pod_observation o = core_fixture_driver(b, exit_code ? SPARK_POD_FAILED : SPARK_POD_COMPLETED);
        o.terminated = true;
        o.exit_code = exit_code;
        o.reason = reason;
        application_core_observe_pod(b->core, &o);
}

static inline void core_fixture_pod_removed(struct core_fixture *b)
{
        const struct pod_observation o = core_fixture_driver(b, SPARK_POD_FAILED);
        application_core_pod_removed(b->core, &o);
}

/* Performs @action as a server that succeeds, or with @result. */
static inline void core_fixture_perform(struct core_fixture *b, struct application_action *action,
                                        enum application_result result)
{
        static const char *const names[] = {
                [APPLICATION_SUBMIT] = "submit",    [APPLICATION_FINISH_SUBMIT] = "finish",
                [APPLICATION_EXPOSE] = "expose",    [APPLICATION_DELETE_RESOURCES] = "delete-pods",
                [APPLICATION_DELETE] = "delete",    [APPLICATION_CLEAN_UP] = "clean-up",
                [APPLICATION_FIND_DRIVER] = "find",
        };
        struct application_answer answer = {.result = result, .message = "reason"};
        if (action->kind == APPLICATION_WRITE_STATUS) {
                char state[60];
                snprintf(state, sizeof(state), b->counts ? "%s(%d,%d)" : "%s",
                         application_state_name(action->status.state), action->status.execution_attempts,
                         action->status.submission_attempts);
                core_fixture_log(b, state);
                assert_true(action->version == b->version);
                if (result == APPLICATION_RESULT_OK) {
                        application_status_copy(&b->stored, &action->status);
                        answer.version = ++b->version;
                }
        } else if (action->kind < APPLICATION_EVENT && !b->counts) {
                core_fixture_log(b, names[action->kind]);
        }
        if (action->kind == APPLICATION_FIND_DRIVER && result == APPLICATION_RESULT_OK && !b->driver_exists)
                answer.result = APPLICATION_RESULT_NOT_FOUND;
        if (action->kind == APPLICATION_FIND_DRIVER && result == APPLICATION_RESULT_OK && b->driver_exists)
                core_fixture_pod(b, SPARK_POD_RUNNING);
        if (action->kind == APPLICATION_EXPOSE)
                answer.ui_service = "pi-ui-svc", answer.ui_port = 4040, answer.ui_address = "10.0.0.2:4040";
        if (action->kind == APPLICATION_SUBMIT && b->exposes)
                answer.exposed = true, answer.expose_error = b->expose_error, answer.application_id = "spark-1",
                answer.ui_service = "pi-ui-svc", answer.ui_port = 4040;
        if (action->kind == APPLICATION_EVENT) {
                size_t n = strlen(b->events);
                snprintf(b->events + n, sizeof(b->events) - n, "%s: %s\n", action->event_reason, action->message);
        }
        b->performed += action->ticket != 0;
        if (action->ticket)
                application_core_done(b->core, "jobs", "pi", action->ticket, &answer, b->now);
}

/* One call of reconcile. The first answered action gets @result, others succeed. */
static inline void core_fixture_step_with(struct core_fixture *b, enum application_result result)
{
        struct application_action action;
        b->deadline = application_core_reconcile(b->core, "jobs", "pi", b->now);
        while (application_core_next_action(b->core, &action)) {
                bool answered = action.ticket;
                core_fixture_perform(b, &action, result);
                if (answered)
                        result = APPLICATION_RESULT_OK;
                application_action_deinit(&action);
        }
}

/* Reconciles until nothing more happens. */
static inline void core_fixture_run(struct core_fixture *b)
{
        for (int i = 0; i < 30; i++) {
                const int before = b->performed;
                core_fixture_step_with(b, APPLICATION_RESULT_OK);
                if (b->performed == before)
                        return;
        }
        fail_msg("it does not come to rest: %s", b->log);
}

static inline void assert_log(struct core_fixture *b, const char *expected)
{
        assert_string_equal(b->log, expected);
        b->log[0] = '\0';
}

static inline void core_fixture_on_failure(struct core_fixture *b, int failures, int submissions)
{
        b->policy.restart = RESTART_ON_FAILURE;
        b->policy.failure_retries = failures;
        b->policy.submission_retries = submissions;
        b->policy.failure_interval_s = b->policy.submission_interval_s = 100;
}
