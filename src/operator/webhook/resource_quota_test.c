/* What an application requests of the quotas of its namespace, and which quotas it exceeds. */
#include "operator/resources/operator_fixture.h"
#include "operator/webhook/resource_quota.h"

#include "operator/render/application_demand.h"
#include "text/json.h"

#include <stdio.h>

static struct application_demand demand_of(const char *more)
{
        struct fst_error error = FST_ERROR_INIT;
        struct spark_application app;
        struct application_demand demand;
        json_t *object = fixture_application(more);
        if (spark_application_read(object, &app, NULL, &error) < 0 ||
            application_demand_read(&app, &demand, &error) < 0)
                fail_msg("%s: %s", more, error_message(&error));
        spark_application_deinit(&app);
        json_decref(object);
        return demand;
}

#define MIB (INT64_C(1) << 20)

static void demand_follows_fields_then_keys_then_defaults(void **state)
{
        static const struct {
                const char *more;
                struct application_demand demand;
        } cases[] = {
                /* the defaults: 1 core, 1g + 384m, one executor */
                {"", {2000, 2000, 2 * 1408 * MIB, 2}},
                {", 'executor': {'instances': 3, 'cores': 2, 'memory': '2g', 'memoryOverhead': '1g'}",
                 {7000, 7000, (1408 + 3 * 3072) * MIB, 4}},
                {", 'driver': {'coreRequest': '250m', 'coreLimit': '1500m', 'memory': '10g'}",
                 {1250, 2500, (11264 + 1408) * MIB, 2}},
                {", 'type': 'Python', 'driver': {'memory': '10g'}, 'executor': {'memory': '10g'}",
                 {2000, 2000, 2 * 14336 * MIB, 2}},
                {", 'memoryOverheadFactor': '0.5', 'driver': {'memory': '2g'}", {2000, 2000, (3072 + 1536) * MIB, 2}},
                {", 'sparkConf': {'spark.executor.instances': '4', 'spark.executor.cores': '2', 'spark.driver.memory': '2048'}",
                 {9000, 9000, (2432 + 4 * 1408) * MIB, 5}},
                {", 'dynamicAllocation': {'enabled': true, 'minExecutors': 5}", {6000, 6000, 6 * 1408 * MIB, 6}},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct application_demand d = demand_of(cases[i].more), e = cases[i].demand;
                if (d.milli_cores != e.milli_cores || d.milli_core_limit != e.milli_core_limit || d.bytes != e.bytes ||
                    d.pods != e.pods)
                        fail_msg("%s: %lld cores, limit %lld, %lld MiB, %lld pods", cases[i].more,
                                 (long long)d.milli_cores, (long long)d.milli_core_limit, (long long)(d.bytes / MIB),
                                 (long long)d.pods);
        }
}

static void wrong_amounts_name_their_field(void **state)
{
        static const struct {
                const char *more, *said;
        } cases[] = {
                {", 'driver': {'coreLimit': 'two'}", "driver.coreLimit: \"two\" is not a number of cores"},
                {", 'executor': {'memory': 'lots'}", "executor.memory: \"lots\" is not an amount of memory"},
                {", 'executor': {'instances': 2000000000, 'memory': '8000t'}", "exceed 64 bits"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fst_error error = FST_ERROR_INIT;
                struct spark_application app;
                struct application_demand demand;
                json_t *object = fixture_application(cases[i].more);
                assert_int_equal(spark_application_read(object, &app, NULL, &error), 0);
                assert_int_equal(application_demand_read(&app, &demand, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), cases[i].said));
                error_deinit(&error);
                spark_application_deinit(&app);
                json_decref(object);
        }
}

/* Returns the request of an AdmissionReview. Steals @object and @old, which may be NULL. The caller owns it. */
static json_t *request_of(const char *operation, json_t *object, json_t *old)
{
        return json_pack("{s:s, s:{s:s}, s:o, s:o*}", "operation", operation, "kind", "group", "sparkoperator.k8s.io",
                         "object", object, "oldObject", old);
}

/* Checks @request, which it steals, against a quota. @said: "" if it fits. */
static void assert_quota(json_t *request, const char *hard, const char *used, const char *more, const char *said)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *text = mem_printf(
                "[{'metadata': {'name': 'q', 'namespace': 'jobs'}, 'spec': {'hard': {%s}%s}, 'status': {'hard': {%s}, "
                "'used': {%s}}}]",
                hard, more, hard, used);
        json_t *quotas = fixture_json(text);
        int r = resource_quota_check(request, quotas, &error);
        assert_int_equal(r, *said ? -EDQUOT : 0);
        if (*said && !strstr(error_message(&error), said))
                fail_msg("'%s' does not say '%s'", error_message(&error), said);
        error_deinit(&error);
        json_decref(quotas);
        json_decref(request);
}

static void applications_that_exceed_a_quota_are_refused(void **state)
{
        static const struct {
                const char *hard, *used, *said;
        } cases[] = {
                {"'requests.cpu': '4'", "'requests.cpu': '2'", ""},
                {"'requests.cpu': '4'", "'requests.cpu': '2001m'",
                 "failed to validate resource quota \"jobs/q\": requests.cpu is limited to 4, of which 2001m are used, "
                 "and the application requests 2:"},
                {"'cpu': '1'", "", "cpu is limited to 1, of which 0 are used"},
                {"'limits.cpu': '1'", "", "limits.cpu"},
                {"'memory': '2816Mi'", "'memory': '0'", ""},
                {"'requests.memory': '2815Mi'", "'requests.memory': '0'", "requests 2816Mi:"},
                {"'limits.memory': '1Gi'", "", "limits.memory"},
                {"'pods': '2'", "'pods': '1'",
                 "pods is limited to 2, of which 1 are used, and the application requests 2:"},
                {"'configmaps': '0', 'requests.nvidia.com/gpu': '0'", "", ""},
                {"'cpu': '?'", "", ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_quota(request_of("CREATE", fixture_application(""), NULL), cases[i].hard, cases[i].used, "",
                             cases[i].said);
        assert_quota(request_of("CREATE", fixture_application(""), NULL), "'cpu': '0'", "",
                     ", 'scopes': ['BestEffort']", "");
        assert_quota(request_of("CREATE", fixture_application(""), NULL), "'cpu': '0'", "",
                     ", 'scopeSelector': {'matchExpressions': []}", "");
}

static void an_update_counts_what_it_adds(void **state)
{
        json_t *old = fixture_application("");
        json_object_set_new(old, "status", fixture_json("{'applicationState': {'state': 'RUNNING'}}"));
        assert_quota(request_of("UPDATE", fixture_application(", 'arguments': ['1']"), json_incref(old)), "'cpu': '2'",
                     "'cpu': '2'", "", "");
        assert_quota(request_of("UPDATE", fixture_application(", 'executor': {'instances': 2}"), json_incref(old)),
                     "'cpu': '2'", "'cpu': '2'", "", "the application requests 1:");
        json_object_set_new(old, "status", fixture_json("{'applicationState': {'state': 'COMPLETED'}}"));
        assert_quota(request_of("UPDATE", fixture_application(", 'arguments': ['1']"), old), "'cpu': '2'", "'cpu': '1'",
                     "", "the application requests 2:");
}

static void quotas_concern_applications_that_start(void **state)
{
        const struct {
                json_t *request;
                bool concerns;
        } cases[] = {
                {request_of("CREATE", fixture_application(""), NULL), true},
                {request_of("CREATE", fixture_application(", 'suspend': true"), NULL), false},
                {request_of("UPDATE", fixture_application(""), fixture_application(", 'suspend': true")), true},
                {request_of("UPDATE", fixture_application(""), fixture_application("")), false},
                {request_of("DELETE", fixture_application(""), NULL), false},
                {request_of("CREATE", fixture_json("{'kind': 'ScheduledSparkApplication', 'spec': {}}"), NULL), false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                if (resource_quota_concerns(cases[i].request) != cases[i].concerns)
                        fail_msg("case %zu", i);
                json_decref(cases[i].request);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(demand_follows_fields_then_keys_then_defaults),
                cmocka_unit_test(wrong_amounts_name_their_field),
                cmocka_unit_test(applications_that_exceed_a_quota_are_refused),
                cmocka_unit_test(an_update_counts_what_it_adds),
                cmocka_unit_test(quotas_concern_applications_that_start),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
