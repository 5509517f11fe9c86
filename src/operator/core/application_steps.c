/*
 * The steps of applications, one state each.
 *
 * A step either emits one action that is answered, or changes the status, which is then written before the next step.
 * The id of a submission follows from the application's uid, its generation, its count of submissions and the id of the
 * submission before: a core that was restarted, or whose status was not written, chooses the same id again and finds
 * the pod of its first try.
 */
#include "operator/core/application_record.h"

#include "base/mem.h"
#include "base/string_prefix.h"

#include <stdlib.h>
#include <xxhash.h>

#define LOOK_AGAIN_MS 30000 /* for pods that are being deleted */
#define LOSS_PAUSE_MS 1000  /* times the number of restarts after a loss, at most: */
#define LONGEST_LOSS_PAUSE_MS 60000
#define MAX_CLEAN_UPS 8
#define REASON_INVALID "Invalid"
#define REASON_LOST "DriverLost" /* of the condition: the driver failed through no fault of its own */

/* ---------------------------------------------------------------------------------------------------------- helpers */

static struct application_action *step_act(struct application_core *core, struct application_record *a,
                                           enum application_action_kind kind)
{
        struct application_action *action = application_push(core, a, kind);
        action->ticket = a->object.ticket = ++core->last_ticket;
        a->under_way = kind;
        return action;
}

static void step_enter(struct application_record *a, enum application_state state)
{
        a->status.state = state;
        a->deleted = false;
        a->dirty = a->entered = true;
        a->missing_since_ms = a->ended_since_ms = 0;
        a->missing_confirmed = false;
        if (state == APPLICATION_SUBMITTED)
                a->cleaned = false;
}

static void step_explain(struct application_record *a, const char *reason, const char *text)
{
        if (text_equals(a->status.reason, reason) && text_equals(a->status.explanation, text))
                return;
        status_text_set(&a->status.reason, reason);
        status_text_set(&a->status.explanation, text);
        a->dirty = true;
}

static void step_fail(struct application_record *a, const char *message, int64_t now_ms)
{
        status_text_set(&a->status.message, message);
        a->status.termination_ms = now_ms;
        step_enter(a, APPLICATION_FAILING);
}

static int64_t step_write(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        struct application_action *action = step_act(core, a, APPLICATION_WRITE_STATUS);
        if (a->status.transition_ms == 0 ||
            strcmp(application_state_ready(a->stored), application_state_ready(a->status.state)) != 0)
                a->status.transition_ms = now_ms;
        a->status.observed_generation = a->generation;
        a->written_ms = now_ms;
        application_status_copy(&action->status, &a->status);
        return INT64_MAX;
}

/* Clears what belongs to one execution. */
static void step_reset(struct application_record *a, bool counts)
{
        struct application_status *s = &a->status;
        status_text_set(&s->application_id, NULL);
        status_text_set(&s->message, NULL);
        char **const driver[] = {&s->pod_name, &s->ui_service, &s->ui_address, &s->ui_ingress, &s->ui_ingress_address};
        for (size_t i = 0; i < ARRAY_SIZE(driver); i++)
                status_text_set(driver[i], NULL);
        s->ui_port = 0;
        for (size_t i = 0; i < s->n_executors; i++)
                free(s->executors[i].pod);
        s->n_executors = 0;
        s->termination_ms = 0;
        if (counts) {
                s->execution_attempts = s->submission_attempts = 0;
                s->last_submission_attempt_ms = 0;
                a->loss_restarts = 0;
        }
        a->expose_due = a->cleaned = false;
}

/* -------------------------------------------------------------------------------------------------------- executors */

static bool executor_state_is_final(enum spark_pod_state s)
{
        return s == SPARK_POD_COMPLETED || s == SPARK_POD_FAILED;
}

/* The state of an executor whose pod is gone. */
static enum spark_pod_state step_missing_executor(const struct application_record *a)
{
        if (a->status.state == APPLICATION_RUNNING)
                return SPARK_POD_UNKNOWN;
        bool well = a->status.state == APPLICATION_COMPLETED || a->status.state == APPLICATION_SUCCEEDING;
        return well ? SPARK_POD_COMPLETED : SPARK_POD_FAILED;
}

static bool step_executor_is_present(const struct application_record *a, const char *pod)
{
        bool found;
        object_record_executor_place(&a->object, pod, &found);
        return found;
}

static void step_set_executor(struct application_core *core, struct application_record *a, const char *pod,
                              enum spark_pod_state state)
{
        if (!application_status_set_executor(&a->status, pod, state))
                return;
        a->dirty = true;
        if (executor_state_is_final(state))
                application_emit_executor_ended(core, a, state == SPARK_POD_COMPLETED);
}

static void step_update_executors(struct application_core *core, struct application_record *a)
{
        struct application_status *s = &a->status;
        uint64_t submission = id_hash(s->submission_id);
        for (size_t i = 0; i < s->n_executors; i++) {
                if (executor_state_is_final(s->executors[i].state) || step_executor_is_present(a, s->executors[i].pod))
                        continue;
                step_set_executor(core, a, s->executors[i].pod, step_missing_executor(a));
        }
        for (size_t i = 0; i < a->object.executors.len; i++) {
                const struct executor_pod *e = &a->object.executors.data[i];
                if (e->attempt == submission && s->n_executors < (size_t)core->options.max_tracked_executors)
                        step_set_executor(core, a, e->name, (enum spark_pod_state)e->state);
        }
}

/* ------------------------------------------------------------------------------------------------------- submission */

/* Returns the id of the next submission, in the form of a UUID. The caller owns it. */
static char *step_candidate(const struct application_record *a)
{
        _cleanup_free_ char *seed =
                mem_printf("%s/%lld/%d/%s", a->object.uid, (long long)a->generation, (int)a->status.submission_attempts,
                           a->status.submission_id ? a->status.submission_id : "");
        XXH128_hash_t h = XXH3_128bits(seed, strlen(seed));
        unsigned long long high = h.high64, low = h.low64;
        return mem_printf("%08llx-%04llx-4%03llx-%04llx-%012llx", high >> 32, (high >> 16) & 0xffff, high & 0xfff,
                          ((low >> 48) & 0x3fff) | 0x8000, low & 0xffffffffffff);
}

static int64_t step_delete_resources(struct application_core *core, struct application_record *a)
{
        struct application_action *action = step_act(core, a, APPLICATION_DELETE_RESOURCES);
        bool ours = driver_is_ours(a);
        action->pod_name = mem_strdup_if(ours ? a->object.driver.name : NULL);
        action->pod_uid = mem_strdup_if(ours ? a->object.driver.uid : NULL);
        action->submission_id = mem_strdup_if(a->status.submission_id);
        return INT64_MAX;
}

static int64_t step_refuse(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        status_text_set(&a->status.message, a->invalid);
        a->status.termination_ms = now_ms;
        step_explain(a, REASON_INVALID, a->invalid);
        step_enter(a, APPLICATION_FAILED);
        return step_write(core, a, now_ms);
}

static int64_t step_submit(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        if (a->invalid)
                return step_refuse(core, a, now_ms);
        char *id = step_candidate(a);
        free(a->candidate);
        a->candidate = id;
        a->begun_ms = now_ms;
        bool done = driver_is_ours(a) && !a->object.driver.leaving && a->driver.submission_id == id_hash(id);
        if (!done && driver_is_ours(a)) {
                if (a->object.driver.leaving)
                        return now_ms + LOOK_AGAIN_MS;
                return step_delete_resources(core, a); /* of the submission before */
        }
        struct application_action *action = step_act(core, a, done ? APPLICATION_FINISH_SUBMIT : APPLICATION_SUBMIT);
        action->submission_id = mem_strdup(id);
        action->pod_name = mem_strdup_if(a->driver_pod);
        action->pod_uid = mem_strdup_if(done ? a->object.driver.uid : NULL);
        return INT64_MAX;
}

static void step_submitted(struct application_record *a, const struct application_answer *answer)
{
        struct application_status *s = &a->status;
        bool ours = driver_is_ours(a) && a->driver.submission_id == id_hash(a->candidate);
        bool failed = answer->result != APPLICATION_RESULT_OK && !ours;
        if (answer->result == APPLICATION_RESULT_RETRY)
                return;
        status_text_set(&s->submission_id, a->candidate);
        status_text_set(&s->pod_name, a->driver_pod);
        status_text_set(&s->message, NULL);
        s->last_submission_attempt_ms = a->begun_ms;
        s->submission_attempts++;
        a->driver.loss = a->object.driver.present ? a->driver.loss : POD_LOSS_NONE;
        if (!failed) {
                s->execution_attempts++;
                status_text_set(&s->application_id, answer->application_id);
                step_explain(a, NULL, NULL);
                step_enter(a, APPLICATION_SUBMITTED);
                a->expose_due = true;
                a->expose_at_ms = 0;
                a->expose_failures = 0;
                return;
        }
        _cleanup_free_ char *message =
                mem_printf("failed to submit spark application: failed to run spark-submit: %s",
                           answer->result == APPLICATION_RESULT_CONFLICT ? "driver pod already exist"
                           : answer->message                             ? answer->message
                                                                         : "unknown error");
        status_text_set(&s->message, message);
        step_explain(a, "SubmissionFailed", answer->message);
        step_enter(a, APPLICATION_SUBMISSION_FAILED);
}

/* --------------------------------------------------------------------------------------------------- running states */

/*
 * Enters COMPLETED or FAILED, after the batch scheduler's group is deleted: an operator that starts later need not ask
 * for it.
 */
static int64_t step_end(struct application_core *core, struct application_record *a, enum application_state state)
{
        const struct application_core_options *o = &core->options;
        if (!a->cleaned && o->batch_schedulers && (a->policy.batch_scheduler || o->default_batch_scheduler)) {
                step_act(core, a, APPLICATION_CLEAN_UP);
                return INT64_MAX;
        }
        step_enter(a, state);
        return INT64_MAX;
}

static void step_cleaned(struct application_core *core, struct application_record *a,
                         const struct application_answer *answer)
{
        bool gone = answer->result == APPLICATION_RESULT_OK || answer->result == APPLICATION_RESULT_NOT_FOUND;
        a->cleaned = gone || answer->result == APPLICATION_RESULT_FAILED || a->object.failures >= MAX_CLEAN_UPS;
        if (a->cleaned && !gone)
                application_emit_event(core, a, "Warning", "SparkApplicationCleanUpFailed",
                                       mem_printf("failed to delete the batch scheduler's group of SparkApplication "
                                                  "%s, which goes with the application: %s",
                                                  a->object.name, answer->message ? answer->message : "no answer"));
}

/* The restart of a lost driver uses up no retry. */
static const char *step_loss_text(enum pod_loss loss)
{
        return loss == POD_LOSS_EVICTED     ? "the driver's pod was evicted"
               : loss == POD_LOSS_PREEMPTED ? "the driver's pod was preempted by one of higher priority"
                                            : "the driver's node was lost";
}

static void step_explain_failure(struct application_record *a)
{
        const struct driver_pod *d = &a->object.driver;
        if (a->driver.loss != POD_LOSS_NONE) {
                _cleanup_free_ char *text = mem_printf("%s: %s", step_loss_text(a->driver.loss),
                                                       a->driver.loss_message ? a->driver.loss_message : "no details");
                step_explain(a, REASON_LOST, text);
        } else if (text_equals(d->reason, "OOMKilled")) {
                step_explain(
                        a, "OutOfMemory",
                        "the driver used more memory than its limit: raise driver.memoryOverhead or driver.memory");
        } else {
                step_explain(a, "DriverFailed", a->status.message);
        }
}

static void step_driver_failed(struct application_record *a, int64_t now_ms)
{
        const struct driver_pod *d = &a->object.driver;
        _cleanup_free_ char *message = a->driver.terminated
                                               ? mem_printf("driver container failed with ExitCode: %d, Reason: %s",
                                                            d->exit_code, d->reason ? d->reason : "")
                                               : mem_strdup("driver container status missing");
        step_fail(a, message, now_ms);
        step_explain_failure(a);
}

static int64_t step_driver_missing(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        int64_t grace_ms = core->options.driver_creation_grace_ms;
        /* The core's own count serves if the clock was set back after the submission. */
        if (a->missing_since_ms == 0 || a->missing_since_ms > now_ms)
                a->missing_since_ms = now_ms;
        int64_t since_ms = MAX(now_ms - a->status.last_submission_attempt_ms, now_ms - a->missing_since_ms);
        if (a->status.state == APPLICATION_SUBMITTED && since_ms < grace_ms)
                return now_ms + grace_ms - since_ms;
        if (!a->missing_confirmed && a->status.pod_name) {
                struct application_action *action = step_act(core, a, APPLICATION_FIND_DRIVER);
                action->pod_name = mem_strdup(a->status.pod_name);
                return INT64_MAX;
        }
        if (a->status.state == APPLICATION_SUBMITTED)
                application_emit_event(core, a, "Warning", "SparkDriverNotFound",
                                       mem_printf("Driver pod %s not found after grace period %llds, marking "
                                                  "application as Failing",
                                                  a->status.pod_name ? a->status.pod_name : "",
                                                  (long long)(grace_ms / 1000)));
        step_fail(a, "driver pod not found", now_ms);
        step_explain_failure(a);
        return INT64_MAX;
}

static void step_explain_wait(struct application_record *a)
{
        const struct driver_pod *d = &a->object.driver;
        _cleanup_free_ char *text =
                d->waiting ? mem_printf("the driver's pod waits: %s%s%s", d->waiting, d->waiting_message ? ": " : "",
                                        d->waiting_message ? d->waiting_message : "")
                           : NULL;
        step_explain(a, d->waiting, text);
}

/* Creates UI service and ingresses. They are no reason to look at the driver later. */
static int64_t step_expose(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        if (a->expose_at_ms > now_ms && a->expose_at_ms - now_ms <= object_pause_ms(a->expose_failures))
                return a->expose_at_ms;
        struct application_action *action = step_act(core, a, APPLICATION_EXPOSE);
        action->submission_id = mem_strdup_if(a->status.submission_id);
        return INT64_MAX;
}

/* The driver is exposed, or the API server refuses that for good: the application runs without. */
static void step_exposed(struct application_core *core, struct application_record *a,
                         const struct application_answer *answer, const char *why)
{
        struct application_status *s = &a->status;
        a->expose_due = false;
        a->expose_failures = 0;
        if (why) {
                application_emit_event(
                        core, a, "Warning", "SparkApplicationExposeFailed",
                        mem_printf("failed to expose the driver of SparkApplication %s: %s", a->object.name, why));
                return;
        }
        status_text_set(&s->ui_service, answer->ui_service);
        status_text_set(&s->ui_address, answer->ui_address);
        status_text_set(&s->ui_ingress, answer->ui_ingress);
        status_text_set(&s->ui_ingress_address, answer->ui_ingress_address);
        s->ui_port = answer->ui_port;
        a->dirty = a->dirty || answer->ui_service;
}

static int64_t step_running(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        const struct driver_pod *d = &a->object.driver;
        if (!driver_is_current(a))
                return step_driver_missing(core, a, now_ms);
        a->missing_since_ms = 0;
        a->missing_confirmed = false;
        if (a->driver.application_id && !text_equals(a->status.application_id, a->driver.application_id)) {
                status_text_set(&a->status.application_id, a->driver.application_id);
                a->dirty = true;
        }
        if (a->driver.terminated ? d->exit_code == 0 : a->driver.phase == SPARK_POD_COMPLETED) {
                a->status.termination_ms = now_ms;
                step_explain(a, NULL, NULL);
                step_enter(a, APPLICATION_SUCCEEDING);
        } else if (a->driver.terminated || a->driver.phase == SPARK_POD_FAILED) {
                step_driver_failed(a, now_ms);
        } else {
                enum application_state next = a->driver.phase == SPARK_POD_RUNNING   ? APPLICATION_RUNNING
                                              : a->driver.phase == SPARK_POD_UNKNOWN ? APPLICATION_UNKNOWN
                                                                                     : a->status.state;
                if (next != a->status.state)
                        step_enter(a, next);
                step_explain_wait(a);
        }
        step_update_executors(core, a);
        return a->entered || !a->expose_due ? INT64_MAX : step_expose(core, a, now_ms);
}

/* --------------------------------------------------------------------------------------------------------- restarts */

/* Deletes the pods of this execution and enters @next. */
static int64_t step_delete_then(struct application_core *core, struct application_record *a, bool counts,
                                enum application_state next)
{
        if (!a->deleted)
                return step_delete_resources(core, a);
        step_reset(a, counts);
        step_enter(a, next);
        return INT64_MAX;
}

static int64_t step_lost(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        int64_t pause = MIN((int64_t)LOSS_PAUSE_MS * a->loss_restarts, (int64_t)LONGEST_LOSS_PAUSE_MS);
        int64_t since = now_ms - a->status.termination_ms;
        if (since >= 0 && since < pause)
                return now_ms + pause - since;
        if (a->deleted) {
                a->loss_restarts++;
                a->status.execution_attempts = MAX(a->status.execution_attempts - 1, 0);
        }
        return step_delete_then(core, a, false, APPLICATION_PENDING_RERUN);
}

static int64_t step_failing(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        bool lost = text_equals(a->status.reason, REASON_LOST) || a->driver.loss != POD_LOSS_NONE;
        if (lost && a->policy.restart != RESTART_NEVER && a->loss_restarts < core->options.max_loss_restarts)
                return step_lost(core, a, now_ms);
        if (!application_may_retry(&a->policy, &a->status))
                return step_end(core, a, APPLICATION_FAILED);
        int64_t wait = application_retry_wait_ms(&a->policy, &a->status, now_ms);
        if (wait > 0)
                return wait == INT64_MAX ? INT64_MAX : now_ms + wait;
        return step_delete_then(core, a, false, APPLICATION_PENDING_RERUN);
}

static int64_t step_submission_failed(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        if (!application_may_retry(&a->policy, &a->status)) {
                a->status.termination_ms = now_ms;
                return step_end(core, a, APPLICATION_FAILED);
        }
        int64_t wait = application_retry_wait_ms(&a->policy, &a->status, now_ms);
        if (wait > 0)
                return wait == INT64_MAX ? INT64_MAX : now_ms + wait;
        return step_submit(core, a, now_ms);
}

static int64_t step_suspended(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        if (driver_is_ours(a))
                return a->object.driver.leaving ? now_ms + LOOK_AGAIN_MS : step_delete_resources(core, a);
        if (!a->policy.suspend)
                step_enter(a, APPLICATION_RESUMING);
        return INT64_MAX;
}

/* ------------------------------------------------------------------------------------------------------------ ended */

static int64_t step_ended(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        const struct application_policy *p = &a->policy;
        int64_t fallback_s = core->options.default_time_to_live_s;
        step_update_executors(core, a);
        if (a->status.termination_ms <= 0 || (!p->has_time_to_live && fallback_s <= 0))
                return INT64_MAX;
        int64_t ttl_s = p->has_time_to_live ? MAX(p->time_to_live_s, (int64_t)0) : fallback_s;
        int64_t ttl_ms = ttl_s > INT64_MAX / 4000 ? INT64_MAX / 4 : ttl_s * 1000;
        /* An operator whose clock was ahead may have written the time of the end. */
        if (a->ended_since_ms == 0 || a->ended_since_ms > now_ms)
                a->ended_since_ms = now_ms;
        int64_t over_ms = MIN(a->status.termination_ms, a->ended_since_ms) + ttl_ms;
        if (now_ms < over_ms)
                return over_ms;
        if (!a->dirty)
                step_act(core, a, APPLICATION_DELETE);
        return INT64_MAX;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

/* After a restart of the operator the driver's pod tells what spec it was made from. */
static bool step_pod_is_outdated(const struct application_core *core, const struct application_record *a)
{
        static const bool has_pod[N_APPLICATION_STATES] = {
                [APPLICATION_SUBMITTED] = true, [APPLICATION_RUNNING] = true,    [APPLICATION_UNKNOWN] = true,
                [APPLICATION_FAILING] = true,   [APPLICATION_SUCCEEDING] = true, [APPLICATION_COMPLETED] = true,
                [APPLICATION_FAILED] = true,
        };
        return has_pod[a->status.state] && driver_is_current(a) && !a->object.driver.leaving && a->driver.spec_hash &&
               !core->options.partial_restart && a->driver.spec_hash != a->policy.spec_hash;
}

/* An invalid object was corrected while no operator ran. */
static bool step_was_corrected(const struct application_record *a)
{
        const struct application_status *s = &a->status;
        return s->state == APPLICATION_FAILED && text_equals(s->reason, REASON_INVALID) && !a->invalid &&
               s->observed_generation > 0 && s->observed_generation < a->generation;
}

static bool step_must_invalidate(const struct application_core *core, const struct application_record *a)
{
        return a->status.state != APPLICATION_NEW && a->status.state != APPLICATION_INVALIDATING &&
               (a->spec_changed || step_pod_is_outdated(core, a) || step_was_corrected(a));
}

static bool step_may_suspend(enum application_state s)
{
        return !application_state_is_final(s) && s != APPLICATION_SUSPENDING && s != APPLICATION_SUSPENDED &&
               s != APPLICATION_INVALIDATING;
}

static int64_t step_state(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        switch (a->status.state) {
        case APPLICATION_NEW:
        case APPLICATION_PENDING_RERUN:
        case APPLICATION_RESUMING:
                return step_submit(core, a, now_ms);
        case APPLICATION_SUBMITTED:
        case APPLICATION_RUNNING:
        case APPLICATION_UNKNOWN:
                return step_running(core, a, now_ms);
        case APPLICATION_SUBMISSION_FAILED:
                return step_submission_failed(core, a, now_ms);
        case APPLICATION_INVALIDATING:
                return step_delete_then(core, a, true, APPLICATION_PENDING_RERUN);
        case APPLICATION_SUCCEEDING:
                if (application_may_retry(&a->policy, &a->status))
                        return step_delete_then(core, a, false, APPLICATION_PENDING_RERUN);
                step_update_executors(core, a);
                return step_end(core, a, APPLICATION_COMPLETED);
        case APPLICATION_FAILING:
                return step_failing(core, a, now_ms);
        case APPLICATION_SUSPENDING:
                return step_delete_then(core, a, false, APPLICATION_SUSPENDED);
        case APPLICATION_SUSPENDED:
                return step_suspended(core, a, now_ms);
        default:
                return step_ended(core, a, now_ms);
        }
}

int64_t application_step(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        if (a->object.leaving) {
                if (driver_is_ours(a) && !a->object.driver.leaving)
                        return step_delete_resources(core, a);
                return INT64_MAX;
        }
        if (a->entered)
                return step_write(core, a, now_ms);
        int64_t deadline = INT64_MAX;
        if (step_must_invalidate(core, a)) {
                a->spec_changed = false;
                step_enter(a, APPLICATION_INVALIDATING);
        } else if (a->policy.suspend && step_may_suspend(a->status.state)) {
                step_enter(a, APPLICATION_SUSPENDING);
        } else {
                a->spec_changed = false;
                deadline = step_state(core, a, now_ms);
        }
        if (a->dirty && !a->object.ticket)
                return step_write(core, a, now_ms);
        return deadline;
}

void application_step_done(struct application_core *core, struct application_record *a,
                           enum application_action_kind kind, const struct application_answer *answer, int64_t now_ms)
{
        bool ok = answer->result == APPLICATION_RESULT_OK || answer->result == APPLICATION_RESULT_NOT_FOUND;
        switch (kind) {
        case APPLICATION_SUBMIT:
        case APPLICATION_FINISH_SUBMIT:
                step_submitted(a, answer);
                if (answer->exposed && a->status.state == APPLICATION_SUBMITTED)
                        step_exposed(core, a, answer, answer->expose_error);
                break;
        case APPLICATION_DELETE_RESOURCES:
                a->deleted = a->deleted || ok;
                if (ok && a->object.driver.present)
                        a->object.driver.leaving = true;
                break;
        case APPLICATION_EXPOSE:
                if (answer->result == APPLICATION_RESULT_OK)
                        step_exposed(core, a, answer, NULL);
                else if (answer->result == APPLICATION_RESULT_FAILED)
                        step_exposed(core, a, answer, answer->message ? answer->message : "unknown error");
                else
                        a->expose_at_ms = now_ms + object_pause_ms(a->expose_failures++);
                break;
        case APPLICATION_CLEAN_UP:
                step_cleaned(core, a, answer);
                break;
        case APPLICATION_FIND_DRIVER:
                a->missing_confirmed = ok && !driver_is_current(a);
                break;
        case APPLICATION_DELETE:
                a->object.retry_at_ms =
                        MAX(a->object.retry_at_ms, now_ms + LOOK_AGAIN_MS); /* for the object to be gone */
                break;
        default:
                break;
        }
}
