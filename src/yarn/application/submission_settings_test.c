/* The fields of a submission (Spark's ClientSuite: configuration and app type, tags, labels, logs). */
#include "yarn/application/submission_settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct yarn_application_id some_id = {.cluster_timestamp = 1700000000000, .id = 3};

static void has_sparks_defaults(void **state)
{
        struct submission_settings s = {0};
        struct fst_conf conf;
        conf_init(&conf);
        conf_set(&conf, "spark.app.name", "an app");
        assert_int_equal(submission_settings_read(&conf, some_id, &s, NULL), 0);
        assert_string_equal(s.context.application_name, "an app");
        assert_string_equal(s.context.application_type, "SPARK");
        assert_string_equal(s.context.queue, "default");
        assert_int_equal(s.context.application_id->id, 3);
        assert_int_equal(s.context.resource->memory, 512 + 384);
        assert_int_equal(s.context.resource->virtual_cores, 1);
        assert_false(s.context.has_max_app_attempts);
        assert_null(s.context.priority);
        assert_int_equal(s.context.n_application_tags, 0);
        assert_int_equal(s.context.n_am_resource_requests, 0);
        assert_null(s.context.log_aggregation_context);
        submission_settings_deinit(&s);
        conf_deinit(&conf);
}

static void takes_settings(void **state)
{
        static const char *const settings[][2] = {{"spark.yarn.queue", "q"},
                                                  {"spark.yarn.tags", ",tag1, dup,tag2 , ,multi word , dup"},
                                                  {"spark.yarn.priority", "1"},
                                                  {"spark.yarn.maxAppAttempts", "42"},
                                                  {"spark.yarn.am.attemptFailuresValidityInterval", "2s"},
                                                  {"spark.yarn.am.nodeLabelExpression", "label"},
                                                  {"spark.yarn.am.memory", "6g"},
                                                  {"spark.yarn.am.cores", "3"},
                                                  {"spark.yarn.am.resource.x.amount", "2"},
                                                  {"spark.yarn.rolledLog.includePattern", "in"},
                                                  {"spark.yarn.rolledLog.excludePattern", "out"},
                                                  {"spark.yarn.applicationType", "SPARK-SQL"}};
        struct submission_settings s = {0};
        struct fst_conf conf;
        conf_init(&conf);
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
                conf_set(&conf, settings[i][0], settings[i][1]);
        assert_int_equal(submission_settings_read(&conf, some_id, &s, NULL), 0);
        assert_string_equal(s.context.queue, "q");
        assert_string_equal(s.context.application_type, "SPARK-SQL");
        assert_int_equal(s.context.n_application_tags, 4); /* each once */
        assert_string_equal(s.context.application_tags[3], "multi word");
        assert_int_equal(s.context.priority->priority, 1);
        assert_int_equal(s.context.max_app_attempts, 42);
        assert_int_equal(s.context.attempt_failures_validity_interval, 2000);
        assert_null(s.context.resource);
        assert_int_equal(s.context.n_am_resource_requests, 1);
        const Firesteel__Yarn__ResourceRequest *request = s.context.am_resource_requests[0];
        assert_string_equal(request->node_label_expression, "label");
        assert_string_equal(request->resource_name, "*");
        assert_int_equal(request->num_containers, 1);
        assert_int_equal(request->capability->memory, 6144 + 614);
        assert_int_equal(request->capability->virtual_cores, 3);
        assert_string_equal(request->capability->values[0]->key, "x");
        assert_string_equal(s.context.log_aggregation_context->rolled_include_pattern, "in");
        assert_string_equal(s.context.log_aggregation_context->rolled_exclude_pattern, "out");
        submission_settings_deinit(&s);
        conf_deinit(&conf);
}

static void refuses_what_the_cluster_cannot_run(void **state)
{
        struct submission_settings s = {0}, wrong = {0};
        struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        conf_init(&conf);
        conf_set(&conf, "spark.yarn.am.memory", "5000m");
        assert_int_equal(submission_settings_read(&conf, some_id, &s, NULL), 0);
        assert_int_equal(submission_settings_check(&s, 4096, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "Required AM memory (5000+500 MB) is above the max threshold (4096 MB) of this cluster! "
                            "Please check the values of 'yarn.scheduler.maximum-allocation-mb' and/or "
                            "'yarn.nodemanager.resource.memory-mb'.");
        assert_int_equal(submission_settings_check(&s, 5500, &error), 0);
        conf_set(&conf, "spark.yarn.maxAppAttempts", "0");
        assert_int_equal(submission_settings_read(&conf, some_id, &wrong, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.yarn.maxAppAttempts is 0"));
        submission_settings_deinit(&wrong);
        submission_settings_deinit(&s);
        error_deinit(&error);
        conf_deinit(&conf);
}

static const struct CMUnitTest cases[] = {
        cmocka_unit_test(has_sparks_defaults),
        cmocka_unit_test(takes_settings),
        cmocka_unit_test(refuses_what_the_cluster_cannot_run),
};

int main(void)
{
        return cmocka_run_group_tests(cases, NULL, NULL);
}
