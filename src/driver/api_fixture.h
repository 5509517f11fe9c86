/* What the tests of the public interface share: contexts in this process, quiet, with settings of the test. */
#pragma once

#include <firesteel/firesteel.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

/* A context on @master with keys and values in turn, NULL at the end. */
static inline fst_context *api_context(const char *master, ...)
{
        fst_conf *conf = fst_conf_new();
        va_list settings;
        fst_conf_set(conf, "spark.master", master);
        fst_conf_set(conf, "spark.app.name", "test");
        fst_conf_set(conf, "spark.log.level", getenv("API_TEST_LOG") ? getenv("API_TEST_LOG") : "OFF");
        va_start(settings, master);
        for (const char *key; (key = va_arg(settings, const char *));)
                fst_conf_set(conf, key, va_arg(settings, const char *));
        va_end(settings);
        return fst_context_new_conf(conf);
}

static inline int api_setup(void **state)
{
        *state = api_context("local[2,4]", NULL);
        return 0;
}

static inline int api_teardown(void **state)
{
        fst_context_stop(*state);
        return 0;
}
