/* For tests: SparkApplications of spark.apache.org. */
#pragma once

#include "operator/apache/apache_application.h"
#include "operator/resources/operator_fixture.h"

/* Returns the application "pi" of namespace "jobs" with uid "u-1" whose spec has @more, ", 'key': …", or "". */
static inline json_t *apache_fixture_object(const char *more)
{
        _cleanup_free_ char *text =
                mem_printf("{'apiVersion': 'spark.apache.org/v1', 'kind': 'SparkApplication',"
                           "'metadata': {'name': 'pi', 'namespace': 'jobs', 'uid': 'u-1'},"
                           "'spec': {'mainClass': 'Pi', 'runtimeVersions': {'sparkVersion': '4.2.0'} %s}}",
                           more);
        return fixture_json(text);
}

/* Reads that application. The caller must deinit @app. */
static inline void apache_fixture_read(const char *more, struct apache_application *app)
{
        struct fst_error error = FST_ERROR_INIT;
        json_t *object = apache_fixture_object(more);
        if (apache_application_read(object, app, NULL, &error) < 0)
                fail_msg("%s", error_message(&error));
        json_decref(object);
}
