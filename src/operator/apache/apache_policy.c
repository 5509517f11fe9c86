/*
 * See apache_policy.h.
 *
 * Differs from Apache's operator, which deletes the resources of an attempt before it knows whether another follows:
 * with a restart policy and a retain policy, an application whose last attempt ends keeps the resources of that
 * attempt.
 */
#include "operator/apache/apache_policy.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "text/json.h"

#include <string.h>
#include <strings.h>

#define DEFAULT_RESTARTS 3
#define DEFAULT_BACKOFF_MS 30000
#define DEFAULT_TIMEOUT_MS 300000

static int64_t apache_policy_int(const struct field_int *f, int64_t otherwise)
{
        return f->set ? f->value : otherwise;
}

static int apache_policy_word(const char *word, const char *const *words, int n)
{
        for (int i = 0; word && i < n; i++)
                if (strcmp(words[i], word) == 0)
                        return i;
        return 0;
}

void apache_policy_read(const struct apache_application_spec *spec, struct apache_policy *out)
{
        static const char *const restarts[] = {"Never", "Always", "OnFailure", "OnInfrastructureFailure"};
        static const char *const retains[] = {"Never", "Always", "OnFailure"};
        const struct apache_toleration_fields *t = &spec->tolerations;
        const struct apache_restart_fields *r = &t->restart;
        const struct apache_timeout_fields *o = &t->timeouts;
        const char *dynamic = json_string_value(json_object_get(spec->spark_conf, "spark.dynamicAllocation.enabled"));
        *out = (struct apache_policy){
                .restart = (enum apache_restart)apache_policy_word(r->policy, restarts, ARRAY_SIZE(restarts)),
                .max_restarts = apache_policy_int(&r->max_attempts, DEFAULT_RESTARTS),
                .backoff_ms = apache_policy_int(&r->backoff_ms, DEFAULT_BACKOFF_MS),
                .counter_reset_ms = apache_policy_int(&r->counter_reset_ms, -1),
                .max_failures = apache_policy_int(&r->max_on_failure, -1),
                .failure_backoff_ms = apache_policy_int(&r->failure_backoff_ms, -1),
                .max_scheduling_failures = apache_policy_int(&r->max_on_scheduling_failure, -1),
                .scheduling_backoff_ms = apache_policy_int(&r->scheduling_failure_backoff_ms, -1),
                .driver_start_ms = apache_policy_int(&o->driver_start_ms, DEFAULT_TIMEOUT_MS),
                .driver_ready_ms = apache_policy_int(&o->driver_ready_ms, DEFAULT_TIMEOUT_MS),
                .executor_start_ms = apache_policy_int(&o->executor_start_ms, DEFAULT_TIMEOUT_MS),
                .force_ms = apache_policy_int(&o->force_termination_ms, DEFAULT_TIMEOUT_MS),
                .init_executors = apache_policy_int(&t->instances.init, 0),
                .min_executors = apache_policy_int(&t->instances.min, 0),
                .max_executors = apache_policy_int(&t->instances.max, 0),
                .dynamic_allocation = dynamic && strcasecmp(dynamic, "true") == 0,
                .retain = (enum apache_retain)apache_policy_word(t->retain_policy, retains, ARRAY_SIZE(retains)),
                .retain_ms = apache_policy_int(&t->retain_ms, -1),
                .ttl_ms = apache_policy_int(&t->ttl_ms, -1),
        };
}

int64_t apache_time_after(int64_t at, int64_t ms)
{
        return ms <= 0 ? at : ms > INT64_MAX - at ? INT64_MAX : at + ms;
}

int64_t apache_policy_backoff_ms(const struct apache_policy *p, enum apache_state state)
{
        if (state == APACHE_SCHEDULING_FAILURE && p->scheduling_backoff_ms >= 0)
                return p->scheduling_backoff_ms;
        return apache_state_is_failure(state) && p->failure_backoff_ms >= 0 ? p->failure_backoff_ms : p->backoff_ms;
}

bool apache_policy_retains(const struct apache_policy *p, enum apache_state state)
{
        return p->retain == APACHE_RETAIN_ALWAYS ||
               (p->retain == APACHE_RETAIN_ON_FAILURE && apache_state_is_failure(state));
}

int64_t apache_policy_retain_ms(const struct apache_policy *p)
{
        return p->retain_ms < 0 ? p->ttl_ms : p->ttl_ms < 0 ? p->retain_ms : MIN(p->retain_ms, p->ttl_ms);
}

static bool apache_policy_restarts(const struct apache_policy *p, enum apache_state state)
{
        switch (p->restart) {
        case APACHE_RESTART_ALWAYS:
                return true;
        case APACHE_RESTART_ON_FAILURE:
                return apache_state_is_failure(state);
        case APACHE_RESTART_ON_INFRASTRUCTURE_FAILURE:
                return apache_state_is_infrastructure_failure(state);
        case APACHE_RESTART_NEVER:
                break;
        }
        return false;
}

/* The counters of the attempt after @s. A long attempt begins the count anew. */
static struct apache_attempt apache_policy_next(const struct apache_policy *p, const struct apache_status *s)
{
        bool reset = p->counter_reset_ms >= 0 &&
                     s->transition_ms >= apache_time_after(s->attempt_began_ms, p->counter_reset_ms);
        struct apache_attempt next = {.id = s->attempt.id + 1, .restarts = reset ? 1 : s->attempt.restarts + 1};
        if (!reset && apache_state_is_failure(s->state))
                next.failures = s->attempt.failures + 1;
        if (!reset && s->state == APACHE_SCHEDULING_FAILURE)
                next.scheduling_failures = s->attempt.scheduling_failures + 1;
        return next;
}

/* Returns why no attempt with the counters @next follows the state @state, or NULL if it does. The caller owns it. */
static char *apache_policy_limit(const struct apache_policy *p, enum apache_state state,
                                 const struct apache_attempt *next)
{
        if (next->restarts > p->max_restarts)
                return mem_printf("All %lld restarts are used up (maxRestartAttempts).", (long long)p->max_restarts);
        if (state == APACHE_SCHEDULING_FAILURE && p->max_scheduling_failures >= 0)
                return next->scheduling_failures > p->max_scheduling_failures
                               ? mem_printf("All %lld restarts after scheduling failures in succession are used up "
                                            "(maxRestartOnSchedulingFailure).",
                                            (long long)p->max_scheduling_failures)
                               : NULL;
        if (apache_state_is_failure(state) && p->max_failures >= 0 && next->failures > p->max_failures)
                return mem_printf("All %lld restarts after failures in succession are used up (maxRestartOnFailure).",
                                  (long long)p->max_failures);
        return NULL;
}

void apache_policy_end(const struct apache_policy *p, const struct apache_status *s, bool may_restart, int64_t now_ms,
                       struct apache_transition *t)
{
        const struct apache_attempt next = apache_policy_next(p, s);
        bool restarts = may_restart && apache_policy_restarts(p, s->state);
        char *limit = restarts ? apache_policy_limit(p, s->state, &next) : NULL;
        *t = (struct apache_transition){.at_ms = now_ms, .message = limit};
        if (restarts && !limit) {
                t->to = APACHE_SCHEDULED_TO_RESTART;
                t->restart = true;
                t->attempt = next;
                t->message = mem_printf("Restart %lld follows.", (long long)next.restarts);
        } else if (apache_policy_retains(p, s->state)) {
                t->to = APACHE_TERMINATED_WITHOUT_RELEASE;
                t->message = mem_printf("%s%sThe application has ended; resourceRetainPolicy keeps its resources.",
                                        limit ? limit : "", limit ? " " : "");
                free(limit);
        } else {
                t->to = APACHE_RESOURCE_RELEASED;
        }
}

enum apache_state apache_policy_running(const struct apache_policy *p, enum apache_state state, int64_t ready)
{
        bool starting = apache_state_is_starting(state);
        if (p->init_executors <= 0 || (!starting && p->min_executors <= 0))
                return APACHE_RUNNING_HEALTHY;
        if (ready >= (starting ? p->init_executors : p->min_executors))
                return !p->dynamic_allocation && p->max_executors > 0 && ready < p->max_executors
                               ? APACHE_RUNNING_PARTIAL
                               : APACHE_RUNNING_HEALTHY;
        if (!starting)
                return APACHE_RUNNING_BELOW_THRESHOLD;
        return ready > 0 ? APACHE_INITIALIZED_BELOW_THRESHOLD : state;
}
