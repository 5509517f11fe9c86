/* Events and transitions of applications, with the genuine operator's reasons and sentences. */
#include "operator/core/application_record.h"

#include "base/mem.h"

struct application_action *application_push(struct application_core *core, const struct application_record *a,
                                            enum application_action_kind kind)
{
        queue_push(&core->actions, (struct application_action){.kind = kind,
                                                               .namespace = mem_strdup(a->object.namespace),
                                                               .name = mem_strdup(a->object.name),
                                                               .uid = mem_strdup_if(a->object.uid),
                                                               .version = a->object.version,
                                                               .generation = a->generation,
                                                               .spec_hash = a->policy.spec_hash});
        return &core->actions.data[core->actions.len - 1];
}

void application_emit_event(struct application_core *core, const struct application_record *a, const char *type,
                            const char *reason, char *message)
{
        struct application_action *event = application_push(core, a, APPLICATION_EVENT);
        event->event_type = type;
        event->event_reason = reason;
        event->message = message;
}

/* The sentence is `before`, the name, `after`, and the error. */
static const struct {
        const char *type, *reason, *before, *after;
        bool with_error;
} state_events[N_APPLICATION_STATES] = {
        [APPLICATION_SUBMITTED] = {"Normal", "SparkApplicationSubmitted", "SparkApplication ",
                                   " was submitted successfully", false},
        [APPLICATION_SUBMISSION_FAILED] = {"Warning", "SparkApplicationSubmissionFailed",
                                           "failed to submit SparkApplication ", ": ", true},
        [APPLICATION_COMPLETED] = {"Normal", "SparkApplicationCompleted", "SparkApplication ", " completed", false},
        [APPLICATION_FAILED] = {"Warning", "SparkApplicationFailed", "SparkApplication ", " failed: ", true},
        [APPLICATION_PENDING_RERUN] = {"Warning", "SparkApplicationPendingRerun", "SparkApplication ",
                                       " is pending rerun", false},
        [APPLICATION_INVALIDATING] = {"Normal", "SparkApplicationSpecUpdateProcessed",
                                      "Successfully processed spec update for SparkApplication ", "", false},
        [APPLICATION_SUSPENDING] = {"Normal", "SparkApplicationSuspending", "SparkApplication ", " is suspending",
                                    false},
        [APPLICATION_SUSPENDED] = {"Normal", "SparkApplicationSuspended", "SparkApplication ", " is suspended", false},
        [APPLICATION_RESUMING] = {"Normal", "SparkApplicationResuming", "SparkApplication ", " is resuming", false},
};

void application_emit_stored(struct application_core *core, struct application_record *a, int64_t now_ms)
{
        enum application_state from = a->stored, to = a->status.state;
        if (from == to)
                return;
        a->stored = to;
        if (state_events[to].reason)
                application_emit_event(
                        core, a, state_events[to].type, state_events[to].reason,
                        mem_printf("%s%s%s%s", state_events[to].before, a->object.name, state_events[to].after,
                                   state_events[to].with_error && a->status.message ? a->status.message : ""));
        if (to == APPLICATION_SUBMITTED && a->driver.untold && driver_is_current(a))
                application_emit_driver(core, a);
        a->driver.untold = false;
        struct application_action *transition = application_push(core, a, APPLICATION_TRANSITION);
        transition->from = from;
        transition->to = to;
        transition->labels = mem_strdup_if(a->labels);
        transition->since_created_ms = a->created_ms > 0 ? now_ms - a->created_ms : 0;
        transition->since_submitted_ms =
                a->status.last_submission_attempt_ms > 0 ? now_ms - a->status.last_submission_attempt_ms : 0;
}

static char *pod_event_message(const char *what, const char *pod, enum spark_pod_state state, int exit_code,
                               const char *reason, const char *message)
{
        static const char *const verbs[] = {[SPARK_POD_PENDING] = "is pending",
                                            [SPARK_POD_RUNNING] = "is running",
                                            [SPARK_POD_COMPLETED] = "completed",
                                            [SPARK_POD_FAILED] = "failed",
                                            [SPARK_POD_UNKNOWN] = "is in an unknown state"};
        if (state != SPARK_POD_FAILED)
                return mem_printf("%s %s %s", what, pod, verbs[state]);
        return mem_printf("%s %s failed with ExitCode: %d, Reason: %s%s%s", what, pod, exit_code,
                          reason ? reason : "unknown", message ? ": " : "", message ? message : "");
}

static const char *pod_event_type(enum spark_pod_state state)
{
        return state == SPARK_POD_FAILED || state == SPARK_POD_UNKNOWN ? "Warning" : "Normal";
}

void application_emit_driver(struct application_core *core, struct application_record *a)
{
        static const char *const reasons[] = {[SPARK_POD_PENDING] = "SparkDriverPending",
                                              [SPARK_POD_RUNNING] = "SparkDriverRunning",
                                              [SPARK_POD_COMPLETED] = "SparkDriverCompleted",
                                              [SPARK_POD_FAILED] = "SparkDriverFailed",
                                              [SPARK_POD_UNKNOWN] = "SparkDriverUnknown"};
        const struct driver_pod *d = &a->object.driver;
        enum spark_pod_state phase = a->driver.phase;
        application_emit_event(core, a, pod_event_type(phase), reasons[phase],
                               pod_event_message("Driver", d->name, phase, d->exit_code, d->reason, d->message));
}

void application_emit_executor(struct application_core *core, struct application_record *a, const char *pod,
                               const struct pod_observation *o)
{
        static const char *const reasons[] = {[SPARK_POD_PENDING] = "SparkExecutorPending",
                                              [SPARK_POD_RUNNING] = "SparkExecutorRunning",
                                              [SPARK_POD_COMPLETED] = "SparkExecutorCompleted",
                                              [SPARK_POD_FAILED] = "SparkExecutorFailed",
                                              [SPARK_POD_UNKNOWN] = "SparkExecutorUnknown"};
        application_emit_event(core, a, pod_event_type(o->phase), reasons[o->phase],
                               pod_event_message("Executor", pod, o->phase, o->exit_code, o->reason, o->message));
}

void application_emit_executor_ended(struct application_core *core, const struct application_record *a, bool succeeded)
{
        struct application_action *ended = application_push(core, a, APPLICATION_EXECUTOR_ENDED);
        ended->succeeded = succeeded;
        ended->labels = mem_strdup_if(a->labels);
}
