/* Restart policies (application_core.h), with the genuine operator's rules. */
#include "operator/core/application_core.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/resources/spark_application.h"

static int32_t policy_count(const struct field_int *f)
{
        return f->set ? (int32_t)f->value : -1;
}

static int64_t policy_interval(const struct field_int *f)
{
        return f->set ? f->value : -1;
}

/* The executor fields that the gate PartialRestart excepts. */
static uint64_t policy_partial_hash(const json_t *spec, uint64_t hash)
{
        static const char *const excepted[] = {"priorityClassName", "nodeSelector", "tolerations", "affinity",
                                               "schedulerName"};
        json_t *copy = json_copy((json_t *)spec), *executor = json_copy(json_object_get(spec, "executor"));
        if (!executor) {
                json_decref(copy);
                return hash;
        }
        for (size_t i = 0; i < ARRAY_SIZE(excepted); i++)
                json_object_del(executor, excepted[i]);
        json_object_set_new(copy, "executor", executor);
        uint64_t partial = spark_spec_hash(copy);
        json_decref(copy);
        return partial;
}

void application_policy_read(const struct spark_application_spec *spec, uint64_t hash, struct application_policy *out)
{
        const struct restart_policy_fields *r = &spec->restart_policy;
        *out = (struct application_policy){
                .restart = text_equals(r->type, "Always")      ? RESTART_ALWAYS
                           : text_equals(r->type, "OnFailure") ? RESTART_ON_FAILURE
                                                               : RESTART_NEVER,
                .failure_retries = policy_count(&r->on_failure_retries),
                .submission_retries = policy_count(&r->on_submission_failure_retries),
                .failure_interval_s = policy_interval(&r->on_failure_retry_interval),
                .submission_interval_s = policy_interval(&r->on_submission_failure_retry_interval),
                .has_time_to_live = spec->time_to_live_seconds.set,
                .time_to_live_s = spec->time_to_live_seconds.value,
                .suspend = spec->suspend == FIELD_TRUE,
                .batch_scheduler = spec->batch_scheduler && *spec->batch_scheduler,
                .exposes_driver = json_array_size(spec->driver_ingress_options) > 0 ||
                                  spec->driver_pod_disruption_budget == FIELD_TRUE,
                .spec_hash = hash,
                .partial_hash = policy_partial_hash(spec->json, hash),
        };
}

bool application_may_retry(const struct application_policy *p, const struct application_status *s)
{
        if (s->state == APPLICATION_SUCCEEDING)
                return p->restart == RESTART_ALWAYS;
        if (p->restart == RESTART_ALWAYS)
                return s->state == APPLICATION_FAILING || s->state == APPLICATION_SUBMISSION_FAILED;
        if (p->restart != RESTART_ON_FAILURE)
                return false;
        if (s->state == APPLICATION_FAILING)
                return p->failure_retries >= 0 && s->execution_attempts <= p->failure_retries;
        return s->state == APPLICATION_SUBMISSION_FAILED && p->submission_retries >= 0 &&
               s->submission_attempts <= p->submission_retries;
}

int64_t application_retry_wait_ms(const struct application_policy *p, const struct application_status *s,
                                  int64_t now_ms)
{
        int64_t interval_s =
                s->state == APPLICATION_SUBMISSION_FAILED ? p->submission_interval_s : p->failure_interval_s;
        int64_t wait_ms, limit = INT64_MAX / 4;
        if (interval_s < 0 || s->submission_attempts <= 0 || s->last_submission_attempt_ms <= 0)
                return INT64_MAX;
        if (__builtin_mul_overflow(interval_s, (int64_t)1000 * s->submission_attempts, &wait_ms) || wait_ms > limit)
                wait_ms = limit;
        int64_t since = now_ms - s->last_submission_attempt_ms;
        return since < 0 ? 0 : wait_ms - since; /* a clock that was set back does not prolong the wait */
}
