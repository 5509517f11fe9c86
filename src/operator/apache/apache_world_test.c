/*
 * Random worlds for the core of SparkApplications of spark.apache.org: drivers that end, users who delete, operators
 * that die, and an API server that fails requests, loses answers, and delays and repeats events, under a virtual clock.
 *
 * Checked at every step: a driver is requested only before the attempt has one, no attempt has two drivers, and no
 * application has more attempts than its policy allows. In the end, without faults: each application is gone or ended,
 * and has its resources if and only if they are retained.
 */
#include "operator/apache/apache_core_fixture.h"

#define WORLDS 80
#define APPLICATIONS 6
#define STEPS 400
#define CALM_STEPS 3000
#define STEP_MS 500
#define MAX_RESTARTS 2

struct apache_flight {
        struct apache_action action;
        int due;
};

struct apache_world {
        uint64_t random, version;
        struct apache_core *core;
        struct apache_server apps[APPLICATIONS];
        VEC(struct apache_flight) flights;
        int step;
        bool calm;
        unsigned long long seed;
};

static unsigned apache_world_random(struct apache_world *w, unsigned n)
{
        w->random = w->random * 6364136223846793005u + 1442695040888963407u;
        return (unsigned)(((w->random >> 32) * n) >> 32);
}

static bool apache_world_fault(struct apache_world *w, unsigned one_in)
{
        return !w->calm && apache_world_random(w, one_in) == 0;
}

static const char *apache_world_policy(struct apache_world *w)
{
        static const char *const policies[] = {
                "",
                ", 'applicationTolerations': {'ttlAfterStopMillis': 20000}",
                ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'Always', 'maxRestartAttempts': 2,"
                "'restartBackoffMillis': 3000}}",
                ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'OnFailure', 'maxRestartAttempts': 2,"
                "'restartBackoffMillis': 0}, 'resourceRetainPolicy': 'OnFailure'}",
                ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'OnInfrastructureFailure',"
                "'maxRestartAttempts': 2, 'restartBackoffMillis': 1000}, 'ttlAfterStopMillis': 0}",
                ", 'applicationTolerations': {'resourceRetainPolicy': 'Always', 'resourceRetainDurationMillis': 9000,"
                "'ttlAfterStopMillis': 30000}",
                ", 'applicationTolerations': {'resourceRetainPolicy': 'Always'}",
                ", 'applicationTolerations': {'instanceConfig': {'initExecutors': 2, 'minExecutors': 1, 'maxExecutors': 3},"
                "'restartConfig': {'restartPolicy': 'Always', 'maxRestartAttempts': 2, 'restartBackoffMillis': 500},"
                "'applicationTimeoutConfig': {'driverStartTimeoutMillis': 9000, 'driverReadyTimeoutMillis': 9000,"
                "'executorStartTimeoutMillis': 9000, 'forceTerminationGracePeriodMillis': 5000}}",
        };
        return policies[apache_world_random(w, ARRAY_SIZE(policies))];
}

static void apache_world_violate(const struct apache_world *w, const struct apache_server *s, const char *what)
{
        fail_msg("seed %llu, step %d, %s in state %s: %s", w->seed, w->step, s->object ? apache_server_name(s) : "gone",
                 apache_server_state(s), what);
}

static void apache_world_check(const struct apache_world *w, const struct apache_server *s)
{
        if (!s->object)
                return;
        json_int_t attempt = json_int_at(s->object, "status.currentAttemptSummary.attemptInfo.id");
        if (attempt > MAX_RESTARTS)
                apache_world_violate(w, s, "too many attempts");
        if (s->submissions > attempt + 1)
                apache_world_violate(w, s, "an attempt has two drivers");
}

/* ------------------------------------------------------------------------------------------------------------ pods */

static void apache_world_advance_driver(struct apache_world *w, struct apache_server *s)
{
        static const char *const statuses[] = {POD_STARTED, POD_READY, POD_READY, POD_READY};
        static const char *const ends[] = {POD_ENDED(0), POD_ENDED(0), POD_ENDED(1), "{'phase': 'Succeeded'}",
                                           POD_EVICTED};
        struct apache_pod pod;
        if (!s->driver || !apache_pod_read(s->driver, &pod))
                return;
        if (pod.leaving) {
                if (apache_world_random(w, 4) == 0)
                        apache_server_drop_driver(s, !apache_world_fault(w, 4));
                return;
        }
        if (pod.end != APACHE_POD_LIVES || apache_world_random(w, 8) > 0)
                return;
        bool known = !apache_state_is_initializing(apache_state_parse(apache_server_state(s)));
        if (known && apache_world_fault(w, 12))
                apache_server_drop_driver(s, !apache_world_fault(w, 4)); /* a user deletes its pod */
        else if (apache_world_random(w, 6) == 0)
                apache_server_set_status(s, s->driver, ends[apache_world_random(w, ARRAY_SIZE(ends))]);
        else
                apache_server_set_status(s, s->driver, statuses[apache_world_random(w, ARRAY_SIZE(statuses))]);
        if (s->driver)
                apache_server_set_executors(s, (int)apache_world_random(w, APACHE_EXECUTORS + 1));
}

/* -------------------------------------------------------------------------------------------------------- requests */

static void apache_world_perform(struct apache_world *w, struct apache_action *a)
{
        struct apache_server *s = &w->apps[atoi(a->name + strlen("app-"))];
        enum apache_result r = APACHE_RESULT_RETRY;
        uint64_t version = 0;
        if (a->kind == APACHE_SUBMIT && s->object &&
            !apache_state_is_initializing(apache_state_parse(apache_server_state(s))))
                apache_world_violate(w, s, "a driver is requested");
        if (!apache_world_fault(w, 6))
                r = apache_server_perform(s, a, &version);
        if (apache_world_fault(w, 6))
                r = APACHE_RESULT_RETRY; /* the answer is lost */
        apache_world_check(w, s);
        apache_core_done(w->core, a->namespace, a->name, a->ticket, r, "refused", version, s->now);
        apache_action_deinit(a);
}

static void apache_world_fly(struct apache_world *w)
{
        for (size_t i = 0; i < w->flights.len;) {
                if (w->flights.data[i].due > w->step) {
                        i++;
                        continue;
                }
                struct apache_action a = w->flights.data[i].action;
                w->flights.data[i] = w->flights.data[--w->flights.len];
                apache_world_perform(w, &a);
        }
}

static void apache_world_collect(struct apache_world *w)
{
        for (struct apache_action a; apache_core_next_action(w->core, &a);) {
                if (!a.ticket)
                        apache_action_deinit(&a);
                else
                        vec_push(&w->flights, (struct apache_flight){a, w->step + (int)apache_world_random(w, 3)});
        }
}

/* The operator dies, with the requests that it has not sent, and another begins. */
static void apache_world_crash(struct apache_world *w)
{
        for (size_t i = 0; i < w->flights.len; i++)
                apache_action_deinit(&w->flights.data[i].action);
        w->flights.len = 0;
        apache_core_free(w->core);
        w->core = apache_core_new(NULL);
        for (int i = 0; i < APPLICATIONS; i++) {
                w->apps[i].core = w->core;
                apache_server_show(&w->apps[i]);
        }
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

static void apache_world_step(struct apache_world *w)
{
        w->step++;
        if (apache_world_fault(w, 150))
                apache_world_crash(w);
        for (int i = 0; i < APPLICATIONS; i++) {
                struct apache_server *s = &w->apps[i];
                s->now += STEP_MS;
                apache_world_advance_driver(w, s);
                s->refuses = apache_world_fault(w, 20);
                for (int k = apache_world_fault(w, 3) ? 0 : apache_world_fault(w, 8) ? 2 : 1; k > 0; k--)
                        apache_server_show(s);
        }
        apache_world_fly(w);
        for (int i = 0; i < APPLICATIONS; i++) {
                _cleanup_free_ char *name = mem_printf("app-%d", i);
                apache_core_reconcile(w->core, "jobs", name, w->apps[i].now);
        }
        apache_world_collect(w);
}

/* Returns what is wrong with an application at the end, or NULL. */
static const char *apache_world_unrest(const struct apache_server *s)
{
        const char *state = apache_server_state(s);
        if (!s->object)
                return NULL;
        const json_t *t = json_at(s->object, "spec.applicationTolerations");
        if (strcmp(state, "ResourceReleased") == 0)
                return s->driver                                  ? "it has a driver"
                       : json_object_get(t, "ttlAfterStopMillis") ? "it is still there"
                                                                  : NULL;
        if (strcmp(state, "TerminatedWithoutReleaseResources") != 0)
                return "it has not ended";
        return json_object_get(t, "resourceRetainDurationMillis") || !json_object_get(t, "resourceRetainPolicy")
                       ? "its resources are still there"
                       : NULL;
}

static bool apache_world_rests(const struct apache_world *w)
{
        int i = 0;
        while (i < APPLICATIONS && !apache_world_unrest(&w->apps[i]))
                i++;
        return i == APPLICATIONS;
}

static void apache_world_run(uint64_t seed)
{
        struct apache_world w = {.random = seed * 2 + 1, .core = apache_core_new(NULL), .seed = seed};
        for (int i = 0; i < APPLICATIONS; i++) {
                _cleanup_free_ char *name = mem_printf("app-%d", i);
                apache_server_init(&w.apps[i], w.core, name, apache_world_policy(&w));
                w.apps[i].version = &w.version;
                apache_server_touch(&w.apps[i], w.apps[i].object);
        }
        for (int i = 0; i < STEPS; i++)
                apache_world_step(&w);
        w.calm = true;
        for (int i = 0; i < CALM_STEPS && !apache_world_rests(&w); i++)
                apache_world_step(&w);
        for (int i = 0; i < APPLICATIONS; i++) {
                const char *unrest = apache_world_unrest(&w.apps[i]);
                if (unrest)
                        apache_world_violate(&w, &w.apps[i], unrest);
                apache_server_deinit(&w.apps[i]);
        }
        for (size_t i = 0; i < w.flights.len; i++)
                apache_action_deinit(&w.flights.data[i].action);
        vec_deinit(&w.flights);
        apache_core_free(w.core);
}

static void worlds_come_to_rest(void **state)
{
        const char *seed = getenv("FIRESTEEL_TEST_SEED");
        for (uint64_t i = 0; !seed && i < WORLDS; i++)
                apache_world_run(i);
        if (seed)
                apache_world_run(strtoull(seed, NULL, 10));
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(worlds_come_to_rest)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
