/* Reads and writes the status of SparkApplications. */
#include "operator/resources/application_status.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/pod_state.h"
#include "text/json.h"

#include <stdlib.h>
#include <time.h>

static const char *const state_names[N_APPLICATION_STATES] = {
        [APPLICATION_NEW] = "",
        [APPLICATION_SUBMITTED] = "SUBMITTED",
        [APPLICATION_RUNNING] = "RUNNING",
        [APPLICATION_COMPLETED] = "COMPLETED",
        [APPLICATION_FAILED] = "FAILED",
        [APPLICATION_SUBMISSION_FAILED] = "SUBMISSION_FAILED",
        [APPLICATION_PENDING_RERUN] = "PENDING_RERUN",
        [APPLICATION_INVALIDATING] = "INVALIDATING",
        [APPLICATION_SUCCEEDING] = "SUCCEEDING",
        [APPLICATION_FAILING] = "FAILING",
        [APPLICATION_SUSPENDING] = "SUSPENDING",
        [APPLICATION_SUSPENDED] = "SUSPENDED",
        [APPLICATION_RESUMING] = "RESUMING",
        [APPLICATION_UNKNOWN] = "UNKNOWN",
};

static const char *const spark_pod_names[] = {
        [SPARK_POD_PENDING] = "PENDING", [SPARK_POD_RUNNING] = "RUNNING", [SPARK_POD_COMPLETED] = "COMPLETED",
        [SPARK_POD_FAILED] = "FAILED",   [SPARK_POD_UNKNOWN] = "UNKNOWN",
};

const char *application_state_name(enum application_state state)
{
        return state_names[state];
}

const char *spark_pod_state_name(enum spark_pod_state state)
{
        return spark_pod_names[state];
}

enum application_state application_state_parse(const char *name)
{
        for (size_t i = 0; name && i < ARRAY_SIZE(state_names); i++)
                if (strcmp(state_names[i], name) == 0)
                        return (enum application_state)i;
        return name ? APPLICATION_UNKNOWN : APPLICATION_NEW;
}

enum spark_pod_state spark_pod_state_parse(const char *name)
{
        for (size_t i = 0; name && i < ARRAY_SIZE(spark_pod_names); i++)
                if (strcmp(spark_pod_names[i], name) == 0)
                        return (enum spark_pod_state)i;
        return SPARK_POD_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------------------ texts */

/* Every owned text, so that copies, comparisons and releases agree. */
#define STATUS_TEXTS(X)                                                                                                \
        X(message)                                                                                                     \
        X(application_id)                                                                                              \
        X(submission_id)                                                                                               \
        X(pod_name)                                                                                                    \
        X(ui_service)                                                                                                  \
        X(ui_address)                                                                                                  \
        X(ui_ingress)                                                                                                  \
        X(ui_ingress_address)                                                                                          \
        X(reason)                                                                                                      \
        X(explanation)

void status_text_set(char **text, const char *value)
{
        char *copy = mem_strdup_if(value);
        free(*text);
        *text = copy;
}

void application_status_deinit(struct application_status *s)
{
#define X(member) free(s->member);
        STATUS_TEXTS(X)
#undef X
        for (size_t i = 0; i < s->n_executors; i++)
                free(s->executors[i].pod);
        free(s->executors);
        *s = (struct application_status){0};
}

void application_status_copy(struct application_status *to, const struct application_status *from)
{
        struct application_status copy = *from;
#define X(member) copy.member = mem_strdup_if(from->member);
        STATUS_TEXTS(X)
#undef X
        copy.executors = from->n_executors ? new_array(struct executor_entry, from->n_executors) : NULL;
        for (size_t i = 0; i < from->n_executors; i++)
                copy.executors[i] =
                        (struct executor_entry){mem_strdup(from->executors[i].pod), from->executors[i].state};
        application_status_deinit(to);
        *to = copy;
}

static bool status_executors_equal(const struct application_status *a, const struct application_status *b)
{
        if (a->n_executors != b->n_executors)
                return false;
        for (size_t i = 0; i < a->n_executors; i++)
                if (a->executors[i].state != b->executors[i].state ||
                    strcmp(a->executors[i].pod, b->executors[i].pod) != 0)
                        return false;
        return true;
}

bool application_status_equal(const struct application_status *a, const struct application_status *b)
{
#define X(member)                                                                                                      \
        if (!text_equals(a->member, b->member))                                                                        \
                return false;
        STATUS_TEXTS(X)
#undef X
        /* A time is written in seconds. */
        return a->state == b->state && a->last_submission_attempt_ms / 1000 == b->last_submission_attempt_ms / 1000 &&
               a->termination_ms / 1000 == b->termination_ms / 1000 && a->execution_attempts == b->execution_attempts &&
               a->submission_attempts == b->submission_attempts && a->ui_port == b->ui_port &&
               status_executors_equal(a, b);
}

/* -------------------------------------------------------------------------------------------------------- executors */

/* Returns the index of @pod, or of the place where it belongs. */
static size_t status_executor_place(const struct application_status *s, const char *pod, bool *found)
{
        size_t low = 0, high = s->n_executors;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (strcmp(s->executors[middle].pod, pod) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *found = low < s->n_executors && strcmp(s->executors[low].pod, pod) == 0;
        return low;
}

bool application_status_set_executor(struct application_status *s, const char *pod, enum spark_pod_state state)
{
        bool found;
        size_t at = status_executor_place(s, pod, &found);
        if (found) {
                bool changed = s->executors[at].state != state;
                s->executors[at].state = state;
                return changed;
        }
        s->executors = mem_grow(s->executors, (s->n_executors + 1) * sizeof(*s->executors));
        memmove(&s->executors[at + 1], &s->executors[at], (s->n_executors - at) * sizeof(*s->executors));
        s->executors[at] = (struct executor_entry){mem_strdup(pod), state};
        s->n_executors++;
        return true;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static int32_t status_read_count(const json_t *json, const char *path)
{
        json_int_t n = json_int_at(json, path);
        return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

/* An empty text is absent: the genuine operator writes no empty members. */
static char *status_read_text(const json_t *json, const char *path)
{
        const char *text = json_text_at(json, path);
        return text && *text ? mem_strdup(text) : NULL;
}

static void status_read_condition(const json_t *json, struct application_status *out)
{
        const json_t *ready = json_find(json_object_get(json, "conditions"), "type", "Ready");
        out->reason = status_read_text(ready, "reason");
        out->explanation = status_read_text(ready, "message");
        out->transition_ms = pod_time_read(json_text_at(ready, "lastTransitionTime"));
}

void application_status_read(const json_t *json, struct application_status *out)
{
        const char *pod;
        json_t *state;
        *out = (struct application_status){
                .state = application_state_parse(json_text_at(json, "applicationState.state")),
                .message = status_read_text(json, "applicationState.errorMessage"),
                .application_id = status_read_text(json, "sparkApplicationId"),
                .submission_id = status_read_text(json, "submissionID"),
                .last_submission_attempt_ms = pod_time_read(json_text_at(json, "lastSubmissionAttemptTime")),
                .termination_ms = pod_time_read(json_text_at(json, "terminationTime")),
                .execution_attempts = status_read_count(json, "executionAttempts"),
                .submission_attempts = status_read_count(json, "submissionAttempts"),
                .pod_name = status_read_text(json, "driverInfo.podName"),
                .ui_service = status_read_text(json, "driverInfo.webUIServiceName"),
                .ui_address = status_read_text(json, "driverInfo.webUIAddress"),
                .ui_ingress = status_read_text(json, "driverInfo.webUIIngressName"),
                .ui_ingress_address = status_read_text(json, "driverInfo.webUIIngressAddress"),
                .ui_port = status_read_count(json, "driverInfo.webUIPort"),
                .observed_generation = json_int_at(json, "observedGeneration"),
        };
        status_read_condition(json, out);
        json_object_foreach(json_object_get(json, "executorState"), pod, state) {
                if (json_is_string(state))
                        application_status_set_executor(out, pod, spark_pod_state_parse(json_string_value(state)));
        }
}

/* Returns the time as the API server writes it, or null. */
static json_t *status_time_json(int64_t ms)
{
        char text[40];
        struct tm parts;
        time_t seconds = (time_t)(ms / 1000);
        if (ms <= 0 || !gmtime_r(&seconds, &parts) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
                return json_null();
        return json_string(text);
}

static void status_put_text(json_t *object, const char *name, const char *value)
{
        if (value && *value)
                json_object_set_new(object, name, json_string(value));
}

static void status_put_count(json_t *object, const char *name, int32_t count)
{
        if (count)
                json_object_set_new(object, name, json_integer(count));
}

static json_t *status_driver_json(const struct application_status *s)
{
        json_t *driver = json_object();
        status_put_text(driver, "podName", s->pod_name);
        status_put_text(driver, "webUIServiceName", s->ui_service);
        status_put_count(driver, "webUIPort", s->ui_port);
        status_put_text(driver, "webUIAddress", s->ui_address);
        status_put_text(driver, "webUIIngressName", s->ui_ingress);
        status_put_text(driver, "webUIIngressAddress", s->ui_ingress_address);
        return driver;
}

const char *application_state_ready(enum application_state s)
{
        bool ready = s == APPLICATION_RUNNING || s == APPLICATION_SUCCEEDING || s == APPLICATION_COMPLETED;
        return ready ? "True" : s == APPLICATION_UNKNOWN ? "Unknown" : "False";
}

static json_t *status_conditions_json(const struct application_status *s, int64_t generation)
{
        const char *reason = s->reason ? s->reason : application_state_name(s->state);
        json_t *condition =
                json_pack("{s:s,s:s,s:s,s:s,s:o,s:I}", "type", "Ready", "status",
                          application_state_ready(s->state),
                          "reason", *reason ? reason : "New", "message", s->explanation ? s->explanation : "",
                          "lastTransitionTime", status_time_json(s->transition_ms > 0 ? s->transition_ms : 1000),
                          "observedGeneration", (json_int_t)generation);
        return json_pack("[o]", condition);
}

json_t *application_status_json(const struct application_status *s, int64_t generation)
{
        json_t *out = json_object(), *state = json_pack("{s:s}", "state", application_state_name(s->state));
        status_put_text(state, "errorMessage", s->message);
        status_put_text(out, "sparkApplicationId", s->application_id);
        status_put_text(out, "submissionID", s->submission_id);
        json_object_set_new(out, "lastSubmissionAttemptTime", status_time_json(s->last_submission_attempt_ms));
        json_object_set_new(out, "terminationTime", status_time_json(s->termination_ms));
        json_object_set_new(out, "driverInfo", status_driver_json(s));
        json_object_set_new(out, "applicationState", state);
        if (s->n_executors > 0) {
                json_t *executors = json_object();
                for (size_t i = 0; i < s->n_executors; i++)
                        json_object_set_new(executors, s->executors[i].pod,
                                            json_string(spark_pod_state_name(s->executors[i].state)));
                json_object_set_new(out, "executorState", executors);
        }
        status_put_count(out, "executionAttempts", s->execution_attempts);
        status_put_count(out, "submissionAttempts", s->submission_attempts);
        json_object_set_new(out, "conditions", status_conditions_json(s, generation));
        json_object_set_new(out, "observedGeneration", json_integer((json_int_t)generation));
        return out;
}
