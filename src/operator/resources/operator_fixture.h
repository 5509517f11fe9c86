/* For tests: SparkApplications from JSON with apostrophes for quotes. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "operator/resources/spark_application.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Returns the tree of @text, in which every ' stands for ". The caller owns it. */
static inline json_t *fixture_json(const char *text)
{
        _cleanup_free_ char *copy = mem_strdup(text);
        json_error_t problem;
        for (char *c = copy; *c; c++)
                if (*c == '\'')
                        *c = '"';
        json_t *json = json_loads(copy, 0, &problem);
        if (!json)
                fail_msg("%s: %s", problem.text, copy);
        return json;
}

/* Returns the SparkApplication "pi" of namespace "jobs" with uid "u-1" whose spec has @more, ", 'key': …", or "". */
static inline json_t *fixture_application(const char *more)
{
        _cleanup_free_ char *text = mem_printf(
                "{'apiVersion': 'sparkoperator.k8s.io/v1beta2', 'kind': 'SparkApplication',"
                "'metadata': {'name': 'pi', 'namespace': 'jobs', 'uid': 'u-1'}, 'spec': {'type': 'Scala',"
                "'sparkVersion': '4.0.0', 'mainApplicationFile': 'local:///app.jar', 'mainClass': 'Pi', 'image': 'spark:4',"
                "'driver': {}, 'executor': {} %s}}",
                more);
        return fixture_json(text);
}
