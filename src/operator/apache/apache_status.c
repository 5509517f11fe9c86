/* See apache_status.h. */
#include "operator/apache/apache_status.h"

#include "base/mem.h"
#include "operator/schedule/rfc3339.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY "stateTransitionHistory"
#define MAX_COUNTER (INT64_MAX / 2)

static const char *const apache_state_names[N_APACHE_STATES] = {
        [APACHE_NEW] = "",
        [APACHE_SUBMITTED] = "Submitted",
        [APACHE_SCHEDULED_TO_RESTART] = "ScheduledToRestart",
        [APACHE_DRIVER_REQUESTED] = "DriverRequested",
        [APACHE_DRIVER_STARTED] = "DriverStarted",
        [APACHE_DRIVER_READY] = "DriverReady",
        [APACHE_INITIALIZED_BELOW_THRESHOLD] = "InitializedBelowThresholdExecutors",
        [APACHE_RUNNING_HEALTHY] = "RunningHealthy",
        [APACHE_RUNNING_PARTIAL] = "RunningWithPartialCapacity",
        [APACHE_RUNNING_BELOW_THRESHOLD] = "RunningWithBelowThresholdExecutors",
        [APACHE_DRIVER_START_TIMED_OUT] = "DriverStartTimedOut",
        [APACHE_EXECUTORS_START_TIMED_OUT] = "ExecutorsStartTimedOut",
        [APACHE_DRIVER_READY_TIMED_OUT] = "DriverReadyTimedOut",
        [APACHE_SUCCEEDED] = "Succeeded",
        [APACHE_FAILED] = "Failed",
        [APACHE_SCHEDULING_FAILURE] = "SchedulingFailure",
        [APACHE_DRIVER_EVICTED] = "DriverEvicted",
        [APACHE_RESOURCE_RELEASED] = "ResourceReleased",
        [APACHE_TERMINATED_WITHOUT_RELEASE] = "TerminatedWithoutReleaseResources",
        [APACHE_UNKNOWN] = "Unknown",
};

const char *apache_state_name(enum apache_state state)
{
        return apache_state_names[state];
}

enum apache_state apache_state_parse(const char *name)
{
        for (size_t i = 0; name && i < APACHE_UNKNOWN; i++)
                if (strcmp(apache_state_names[i], name) == 0)
                        return (enum apache_state)i;
        return name ? APACHE_UNKNOWN : APACHE_NEW;
}

void apache_transition_deinit(struct apache_transition *t)
{
        free(t->message);
        *t = (struct apache_transition){0};
}

/* ------------------------------------------------------------------------------------------------------------- read */

static enum apache_state apache_state_of(const json_t *state)
{
        return apache_state_parse(json_text_at(state, "currentStateSummary"));
}

static int64_t apache_time_of(const json_t *state)
{
        return rfc3339_parse(json_text_at(state, "lastTransitionTime"));
}

/* Counters are limited, so that adding to them cannot overflow. */
static int64_t apache_counter_of(const json_t *info, const char *name)
{
        int64_t n = json_int_at(info, name);
        return n < 0 ? 0 : MIN(n, MAX_COUNTER);
}

/* Returns the entry of @history with the greatest number below @limit, and its number, or NULL. */
static const json_t *apache_history_last(const json_t *history, int64_t limit, int64_t *number)
{
        const json_t *found = NULL;
        const char *key;
        json_t *state;
        json_object_foreach((json_t *)history, key, state) {
                char *end;
                int64_t n = strtoll(key, &end, 10);
                if (*key && !*end && n >= 0 && n < limit && (!found || n > *number)) {
                        found = state;
                        *number = n;
                }
        }
        return found;
}

/* The time of the last state that begins an attempt, or of the first state. Linear in most histories. */
static int64_t apache_history_began(const json_t *history, int64_t last)
{
        const json_t *begin = NULL;
        int64_t best = -1, first = INT64_MAX, first_ms = 0;
        const char *key;
        json_t *state;
        json_object_foreach((json_t *)history, key, state) {
                int64_t n = strtoll(key, NULL, 10);
                if (n <= last && n > best && apache_state_is_initializing(apache_state_of(state))) {
                        best = n;
                        begin = state;
                }
                if (n < first) {
                        first = n;
                        first_ms = apache_time_of(state);
                }
        }
        return begin ? apache_time_of(begin) : first_ms;
}

void apache_status_read(const json_t *json, struct apache_status *out)
{
        const json_t *current = json_object_get(json, "currentState"), *history = json_object_get(json, HISTORY);
        const json_t *info = json_at(json, "currentAttemptSummary.attemptInfo");
        const json_t *previous = json_object_get(json, "previousAttemptSummary");
        int64_t before = 0;
        *out = (struct apache_status){.state = apache_state_of(current), .entry = -1};
        out->transition_ms = out->before_ms = out->attempt_began_ms = apache_time_of(current);
        out->attempt = (struct apache_attempt){.id = apache_counter_of(info, "id"),
                                               .restarts = apache_counter_of(info, "restartCounter"),
                                               .failures = apache_counter_of(info, "failureRestartCounter"),
                                               .scheduling_failures =
                                                       apache_counter_of(info, "schedulingFailureRestartCounter")};
        out->has_history = json_is_object(history);
        if (apache_history_last(history, MAX_COUNTER, &out->entry)) {
                const json_t *earlier = apache_history_last(history, out->entry, &before);
                out->before_ms = earlier ? apache_time_of(earlier) : out->transition_ms;
                out->attempt_began_ms = apache_history_began(history, out->entry);
        }
        out->restarted = json_is_object(previous);
        if (out->restarted) {
                const json_t *old = json_object_get(previous, HISTORY);
                const json_t *ended = apache_history_last(old ? old : history, old ? MAX_COUNTER : out->entry, &before);
                out->before = ended ? apache_state_of(ended) : APACHE_NEW;
        }
}

/* Returns the time of the last state from @first to @last, or NULL. */
static const char *apache_history_time(const json_t *json, enum apache_state first, enum apache_state last)
{
        const json_t *history = json_object_get(json, HISTORY), *state;
        for (int64_t n = MAX_COUNTER; (state = apache_history_last(history, n, &n));)
                if (apache_state_of(state) >= first && apache_state_of(state) <= last)
                        return json_text_at(state, "lastTransitionTime");
        return NULL;
}

const char *apache_status_submitted(const json_t *json)
{
        const char *driver = apache_history_time(json, APACHE_DRIVER_REQUESTED, APACHE_DRIVER_REQUESTED);
        return driver ? driver : apache_history_time(json, APACHE_RUNNING_HEALTHY, APACHE_RUNNING_HEALTHY);
}

const char *apache_status_ended(const json_t *json)
{
        return apache_history_time(json, APACHE_DRIVER_START_TIMED_OUT, APACHE_DRIVER_EVICTED);
}

/* ------------------------------------------------------------------------------------------------------------ write */

void apache_status_apply(struct apache_status *s, const struct apache_transition *t)
{
        if (t->restart) {
                s->restarted = true;
                s->before = s->state;
                s->attempt = t->attempt;
        }
        if (t->restart || s->state == APACHE_NEW)
                s->attempt_began_ms = t->at_ms;
        s->before_ms = t->restart || s->state == APACHE_NEW ? t->at_ms : s->transition_ms;
        s->state = t->to;
        s->transition_ms = t->at_ms;
        s->has_history = true;
        s->entry++;
}

static json_t *apache_state_json(const struct apache_transition *t, const json_t *driver)
{
        char seconds[RFC3339_TEXT], text[RFC3339_TEXT + 8];
        rfc3339_format(t->at_ms, seconds);
        snprintf(text, sizeof(text), "%.*s.%03dZ", (int)strlen(seconds) - 1, seconds, (int)(t->at_ms % 1000));
        return json_pack("{s:s,s:s,s:s*,s:O*}", "currentStateSummary", apache_state_name(t->to), "lastTransitionTime",
                         text, "message", t->message, "lastObservedDriverStatus", t->wants_driver ? driver : NULL);
}

static json_t *apache_attempt_json(const struct apache_attempt *a)
{
        return json_pack("{s:I,s:I,s:I,s:I}", "id", (json_int_t)a->id, "restartCounter", (json_int_t)a->restarts,
                         "failureRestartCounter", (json_int_t)a->failures, "schedulingFailureRestartCounter",
                         (json_int_t)a->scheduling_failures);
}

/* Steals @value. */
static void apache_patch_add(json_t *patch, const char *path, json_t *value)
{
        json_array_append_new(patch, json_pack("{s:s,s:s,s:o}", "op", "add", "path", path, "value", value));
}

/* Appends the operations that make the history so far the previous attempt's. */
static void apache_patch_restart(json_t *patch, const struct apache_status *s, const struct apache_transition *t)
{
        apache_patch_add(patch, "/status/previousAttemptSummary",
                         json_pack("{s:o}", "attemptInfo", apache_attempt_json(&s->attempt)));
        if (s->has_history)
                json_array_append_new(patch, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/status/" HISTORY,
                                                       "path", "/status/previousAttemptSummary/" HISTORY));
        apache_patch_add(patch, "/status/currentAttemptSummary",
                         json_pack("{s:o}", "attemptInfo", apache_attempt_json(&t->attempt)));
}

json_t *apache_status_patch(const struct apache_status *s, const struct apache_transition *t, uint64_t version,
                            const json_t *driver)
{
        char number[24], now[24];
        json_t *state = apache_state_json(t, driver);
        snprintf(now, sizeof(now), "%llu", (unsigned long long)version);
        snprintf(number, sizeof(number), "%lld", (long long)s->entry + 1);
        json_t *patch =
                json_pack("[{s:s,s:s,s:s}]", "op", "replace", "path", "/metadata/resourceVersion", "value", now);
        if (s->state == APACHE_NEW) {
                apache_patch_add(patch, "/status",
                                 json_pack("{s:O,s:{s:O},s:{s:o}}", "currentState", state, HISTORY, "0", state,
                                           "currentAttemptSummary", "attemptInfo", apache_attempt_json(&s->attempt)));
                json_decref(state);
                return patch;
        }
        if (t->restart)
                apache_patch_restart(patch, s, t);
        if (t->restart || !s->has_history) {
                apache_patch_add(patch, "/status/" HISTORY, json_pack("{s:O}", number, state));
        } else {
                _cleanup_free_ char *path = mem_printf("/status/" HISTORY "/%s", number);
                apache_patch_add(patch, path, json_incref(state));
        }
        apache_patch_add(patch, "/status/currentState", state);
        return patch;
}
