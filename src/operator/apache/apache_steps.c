/* One step for each class of states: submit, watch, end, keep, delete. */
#include "operator/apache/apache_core.h"

#include "operator/apache/apache_record.h"

#include <stdlib.h>

#define CLUSTER_REQUESTED "Master and workers were requested."

/* ---------------------------------------------------------------------------------------------------------- actions */

static struct apache_action apache_action_begin(struct apache_core *core, struct apache_record *a,
                                                enum apache_action_kind kind)
{
        a->object.ticket = ++core->last_ticket;
        a->under_way = kind;
        return (struct apache_action){.kind = kind,
                                      .ticket = a->object.ticket,
                                      .namespace = mem_strdup(a->object.namespace),
                                      .name = mem_strdup(a->object.name),
                                      .uid = mem_strdup(a->object.uid),
                                      .version = a->object.version,
                                      .attempt = a->status.attempt.id,
                                      .finalizer = a->finalizer,
                                      .app_id = mem_strdup(a->app_id),
                                      .driver_pod = mem_strdup(a->driver_pod)};
}

static int64_t apache_request(struct apache_core *core, struct apache_record *a, enum apache_action_kind kind)
{
        queue_push(&core->actions, apache_action_begin(core, a, kind));
        return INT64_MAX;
}

/* Deletes the driver's pod, which is known. */
static void apache_release(struct apache_core *core, struct apache_record *a, bool force)
{
        struct apache_action action = apache_action_begin(core, a, APACHE_RELEASE);
        action.force = force;
        free(action.driver_pod);
        action.driver_pod = mem_strdup(a->object.driver.name);
        action.driver_uid = mem_strdup_if(a->object.driver.uid);
        queue_push(&core->actions, action);
}

/* Steals the content of @t. */
static int64_t apache_write(struct apache_core *core, struct apache_record *a, struct apache_transition *t)
{
        struct apache_action action = apache_action_begin(core, a, APACHE_WRITE_STATUS);
        apache_transition_deinit(&a->transition);
        a->transition = *t;
        a->transition.message = mem_strdup_if(t->message);
        action.transition = *t;
        action.from = a->status;
        a->before = a->status.state;
        if (a->object.driver.present) {
                free(action.driver_pod);
                action.driver_pod = mem_strdup(a->object.driver.name);
        }
        *t = (struct apache_transition){0};
        queue_push(&core->actions, action);
        return INT64_MAX;
}

/* Steals @message. */
static int64_t apache_enter(struct apache_core *core, struct apache_record *a, enum apache_state to, char *message,
                            int64_t now_ms)
{
        struct apache_transition t = {.to = to, .message = message, .at_ms = now_ms};
        t.wants_driver = apache_state_is_failure(to) && apache_record_has_driver(a);
        return apache_write(core, a, &t);
}

void apache_emit_stored(struct apache_core *core, const struct apache_record *a, const char *message, int64_t now_ms)
{
        queue_push(&core->actions, (struct apache_action){.kind = APACHE_EVENT,
                                                          .namespace = mem_strdup(a->object.namespace),
                                                          .name = mem_strdup(a->object.name),
                                                          .uid = mem_strdup(a->object.uid),
                                                          .warning = apache_state_is_failure(a->transition.to),
                                                          .reason = mem_strdup(apache_state_name(a->transition.to)),
                                                          .message = mem_strdup(message ? message : "")});
        queue_push(&core->actions,
                   (struct apache_action){.kind = APACHE_TRANSITION,
                                          .labels = mem_strdup_if(a->labels),
                                          .before = a->before,
                                          .to = a->transition.to,
                                          .since_created_ms = a->created_ms > 0 ? now_ms - a->created_ms : -1,
                                          .since_submitted_ms = a->status.attempt_began_ms > 0
                                                                        ? now_ms - a->status.attempt_began_ms
                                                                        : -1});
}

/* ------------------------------------------------------------------------------------------------------------ submit
 */

static int64_t apache_step_submit(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        const struct apache_status *s = &a->status;
        if (a->invalid)
                return apache_enter(core, a, APACHE_FAILED, mem_strdup(a->invalid), now_ms);
        if (s->restarted && s->state == APACHE_SCHEDULED_TO_RESTART) {
                int64_t due = apache_time_after(MIN(s->transition_ms, a->since_ms),
                                                apache_policy_backoff_ms(&a->policy, s->before));
                if (now_ms < due)
                        return due;
        }
        if (a->refusal)
                return apache_enter(core, a, APACHE_SCHEDULING_FAILURE,
                                    mem_printf("Its pods could not be requested: %s", a->refusal), now_ms);
        if (!a->submitted)
                return apache_request(core, a, APACHE_SUBMIT);
        if (core->options.clusters)
                return apache_enter(core, a, APACHE_RUNNING_HEALTHY, mem_strdup(CLUSTER_REQUESTED), now_ms);
        return apache_enter(core, a, APACHE_DRIVER_REQUESTED, mem_strdup("The driver's pod was requested."), now_ms);
}

/* ------------------------------------------------------------------------------------------------------------- watch
 */

/* Why a driver ended, in words. The caller owns it. */
static char *apache_end_message(const struct apache_record *a)
{
        const struct driver_pod *d = &a->object.driver;
        switch (a->driver_end) {
        case APACHE_POD_SUCCEEDED:
                return mem_strdup("The driver ended with exit code 0.");
        case APACHE_POD_EVICTED:
                return mem_printf("The driver's pod was evicted%s%s", d->message ? ": " : "",
                                  d->message ? d->message : ".");
        case APACHE_POD_INIT_FAILED:
                return mem_strdup("An init container of the driver's pod failed.");
        case APACHE_POD_RESTARTED:
                return mem_strdup("The driver's container was restarted, and the application in it is lost.");
        default:
                if (d->reason && strcmp(d->reason, "OOMKilled") == 0)
                        return mem_strdup("The driver exceeded the memory of its container (OOMKilled): raise "
                                          "spark.driver.memory or spark.driver.memoryOverhead.");
                return mem_printf("The driver failed with exit code %d%s%s%s%s.", d->exit_code, d->reason ? ", " : "",
                                  d->reason ? d->reason : "", d->message ? ": " : "", d->message ? d->message : "");
        }
}

static int64_t apache_step_ended(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        enum apache_pod_end end = a->driver_end;
        return apache_enter(core, a,
                            end == APACHE_POD_SUCCEEDED ? APACHE_SUCCEEDED
                            : end == APACHE_POD_EVICTED ? APACHE_DRIVER_EVICTED
                                                        : APACHE_FAILED,
                            apache_end_message(a), now_ms);
}

/* The driver's pod is not known: it may be new, or gone. */
static int64_t apache_step_missing(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        int64_t due = apache_time_after(MIN(a->status.transition_ms, a->since_ms), core->options.driver_grace_ms);
        if (a->missing_confirmed)
                return apache_enter(
                        core, a, APACHE_FAILED,
                        mem_printf("The driver's pod %s was deleted before its driver ended.", a->driver_pod), now_ms);
        if (!a->driver_removed && now_ms < due)
                return due;
        return apache_request(core, a, APACHE_FIND_DRIVER);
}

int64_t apache_ready_executors(const struct apache_record *a)
{
        uint64_t app_id = object_hash_text(a->app_id);
        int64_t n = 0;
        for (size_t i = 0; i < a->object.executors.len; i++)
                n += a->object.executors.data[i].state && a->object.executors.data[i].attempt == app_id;
        return n;
}

/* Why a driver or its executors are not there in time, in words. The caller owns it. */
static char *apache_timeout_message(const struct apache_record *a, enum apache_state to, int64_t limit)
{
        const struct driver_pod *d = &a->object.driver;
        if (to == APACHE_EXECUTORS_START_TIMED_OUT)
                return mem_printf("%lld of %lld initial executors were ready within %lld ms "
                                  "(executorStartTimeoutMillis).",
                                  (long long)apache_ready_executors(a), (long long)a->policy.init_executors,
                                  (long long)limit);
        return mem_printf("The driver was not %s within %lld ms (%s)%s%s%s%s.",
                          to == APACHE_DRIVER_START_TIMED_OUT ? "started" : "ready", (long long)limit,
                          to == APACHE_DRIVER_START_TIMED_OUT ? "driverStartTimeoutMillis" : "driverReadyTimeoutMillis",
                          d->waiting ? ": " : "", d->waiting ? d->waiting : "", d->waiting_message ? ", " : "",
                          d->waiting_message ? d->waiting_message : "");
}

static int64_t apache_step_timeout(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        const struct apache_policy *p = &a->policy;
        enum apache_state state = a->status.state, to = APACHE_EXECUTORS_START_TIMED_OUT;
        int64_t limit = p->executor_start_ms;
        if (state == APACHE_DRIVER_REQUESTED || state == APACHE_DRIVER_STARTED) {
                bool started = state == APACHE_DRIVER_STARTED;
                limit = started ? p->driver_ready_ms : p->driver_start_ms;
                to = started ? APACHE_DRIVER_READY_TIMED_OUT : APACHE_DRIVER_START_TIMED_OUT;
        } else if (!apache_state_is_starting(state)) {
                return INT64_MAX;
        }
        int64_t due = apache_time_after(MIN(a->status.transition_ms, a->since_ms), limit);
        if (limit <= 0 || due == INT64_MAX)
                return INT64_MAX;
        return now_ms <= due ? due + 1 : apache_enter(core, a, to, apache_timeout_message(a, to, limit), now_ms);
}

static const char *apache_running_message(enum apache_state state)
{
        switch (state) {
        case APACHE_DRIVER_STARTED:
                return "The driver's container has started.";
        case APACHE_DRIVER_READY:
                return "The driver's pod is ready.";
        case APACHE_INITIALIZED_BELOW_THRESHOLD:
                return "Fewer executors than initExecutors are ready.";
        case APACHE_RUNNING_PARTIAL:
                return "Fewer executors than maxExecutors are ready.";
        case APACHE_RUNNING_BELOW_THRESHOLD:
                return "Fewer executors than minExecutors are ready.";
        default:
                return "The application runs.";
        }
}

static int64_t apache_step_watch(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        enum apache_state state = a->status.state, next = state;
        if (!apache_record_has_driver(a))
                return apache_step_missing(core, a, now_ms);
        if (a->driver_end != APACHE_POD_LIVES)
                return apache_step_ended(core, a, now_ms);
        if (state == APACHE_DRIVER_REQUESTED)
                next = a->driver_started || a->driver_ready ? APACHE_DRIVER_STARTED : state;
        else if (state == APACHE_DRIVER_STARTED)
                next = a->driver_ready ? APACHE_DRIVER_READY : state;
        else
                next = apache_policy_running(&a->policy, state, apache_ready_executors(a));
        if (next != state)
                return apache_enter(core, a, next, mem_strdup(apache_running_message(next)), now_ms);
        return apache_step_timeout(core, a, now_ms);
}

/* --------------------------------------------------------------------------------------------------------------- end
 */

/* Deletes the driver's pod, unless that is done. Returns true if there is nothing left to delete. */
static bool apache_step_release(struct apache_core *core, struct apache_record *a)
{
        if (a->released || !a->object.driver.present)
                return true;
        apache_release(core, a, false);
        return false;
}

static int64_t apache_step_end(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        struct apache_transition t;
        apache_policy_end(&a->policy, &a->status, !a->invalid, now_ms, &t);
        if (t.to == APACHE_TERMINATED_WITHOUT_RELEASE || apache_step_release(core, a))
                return apache_write(core, a, &t);
        apache_transition_deinit(&t);
        return INT64_MAX;
}

static int64_t apache_step_retained(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        int64_t keep = apache_policy_retain_ms(&a->policy);
        int64_t due = keep < 0 ? INT64_MAX : apache_time_after(MIN(a->status.transition_ms, a->since_ms), keep);
        if (due == INT64_MAX || now_ms <= due)
                return due == INT64_MAX ? due : due + 1;
        if (!apache_step_release(core, a))
                return INT64_MAX;
        return apache_enter(core, a, APACHE_RESOURCE_RELEASED,
                            mem_strdup("The time to keep the resources of the ended application is over."), now_ms);
}

static int64_t apache_step_released(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        int64_t ended_ms = MIN(a->status.before_ms, a->since_ms);
        int64_t due = a->policy.ttl_ms < 0 ? INT64_MAX : apache_time_after(ended_ms, a->policy.ttl_ms);
        if (due == INT64_MAX || now_ms <= due)
                return due == INT64_MAX ? due : due + 1;
        return apache_request(core, a, APACHE_DELETE);
}

/* A driver's pod that was deleted and does not go is deleted without grace. Returns when, or INT64_MAX. */
static int64_t apache_step_force(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        enum apache_state state = a->status.state;
        if (!a->object.driver.present || !a->object.driver.leaving || a->forced || a->policy.force_ms < 0 ||
            (state != APACHE_SCHEDULED_TO_RESTART && state != APACHE_RESOURCE_RELEASED))
                return INT64_MAX;
        int64_t due = apache_time_after(MIN(a->status.transition_ms, a->since_ms), a->policy.force_ms);
        if (now_ms <= due)
                return due == INT64_MAX ? due : due + 1;
        a->forced = true;
        apache_release(core, a, true);
        return 0;
}

/*
 * A cluster after its first submission. A refused submission is repeated without a change of the state, so that the
 * history does not grow. Only an invalid object enters FAILED.
 */
static int64_t apache_step_cluster(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        enum apache_state state = a->status.state;
        if (state == APACHE_FAILED && !a->invalid)
                return apache_enter(core, a, APACHE_SUBMITTED, mem_strdup("The spec was corrected."), now_ms);
        if (state != APACHE_SCHEDULING_FAILURE)
                return INT64_MAX;
        if (a->invalid)
                return apache_enter(core, a, APACHE_FAILED, mem_strdup(a->invalid), now_ms);
        if (!a->submitted)
                return apache_request(core, a, APACHE_SUBMIT);
        return apache_enter(core, a, APACHE_RUNNING_HEALTHY, mem_strdup(CLUSTER_REQUESTED), now_ms);
}

static int64_t apache_step_state(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        enum apache_state state = a->status.state;
        if (state == APACHE_NEW)
                return apache_enter(core, a, APACHE_SUBMITTED, mem_strdup("The operator has seen the object."), now_ms);
        if (state == APACHE_UNKNOWN)
                return apache_enter(core, a, APACHE_FAILED, mem_strdup("The state in the status is unknown."), now_ms);
        if (apache_state_is_initializing(state))
                return apache_step_submit(core, a, now_ms);
        if (core->options.clusters)
                return apache_step_cluster(core, a, now_ms);
        if (apache_state_has_driver(state))
                return apache_step_watch(core, a, now_ms);
        if (apache_state_is_stopping(state))
                return apache_step_end(core, a, now_ms);
        return state == APACHE_TERMINATED_WITHOUT_RELEASE ? apache_step_retained(core, a, now_ms)
                                                          : apache_step_released(core, a, now_ms);
}

int64_t apache_step(struct apache_core *core, struct apache_record *a, int64_t now_ms)
{
        if (a->object.leaving) /* Kubernetes deletes what belongs to the object */
                return a->finalizer > 0 ? apache_request(core, a, APACHE_LET_GO) : INT64_MAX;
        if (a->since_ms == 0 || a->since_ms > now_ms)
                a->since_ms = now_ms;
        int64_t force = apache_step_force(core, a, now_ms);
        if (force == 0)
                return INT64_MAX;
        return MIN(force, apache_step_state(core, a, now_ms));
}
