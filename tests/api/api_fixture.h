/* Helpers for tests of the public interface: quiet contexts in this process with the test's settings. */
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

/* A context on @master with alternating keys and values, ended by NULL. */
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

/* The same with errors in the log, for assert_refused. */
static inline int api_setup_loud(void **state)
{
        *state = api_context("local[2,4]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* The same with tasks in task processes, which must be started before the first thread. */
static inline int api_setup_workers(void **state)
{
        *state = api_context("local[2,4]", "spark.log.level", "ERROR", "spark.firesteel.task.isolation", "process",
                             NULL);
        return 0;
}

static inline int api_teardown(void **state)
{
        fst_context_stop(*state);
        return 0;
}

/* Captures standard error from here on. api_heard ends the capture and returns the text, which the caller frees. */
static inline int api_listen(void)
{
        char path[] = "/tmp/firesteel-test-XXXXXX";
        int was = dup(STDERR_FILENO), file = mkstemp(path);
        unlink(path);
        dup2(file, STDERR_FILENO);
        close(file);
        return was;
}

static inline char *api_heard(int was)
{
        off_t size = lseek(STDERR_FILENO, 0, SEEK_END);
        char *text = calloc((size_t)size + 1, 1);
        ssize_t n = text ? pread(STDERR_FILENO, text, (size_t)size, 0) : -1;
        dup2(was, STDERR_FILENO);
        close(was);
        assert_int_equal(n, size);
        return text;
}

/* Checks that @call returns @status and reports a message that contains @text. */
#define assert_refused(call, status, text)                                                                             \
        do {                                                                                                           \
                int was_ = api_listen();                                                                               \
                int status_ = (call);                                                                                  \
                char *heard_ = api_heard(was_);                                                                        \
                if (!strstr(heard_, (text)))                                                                           \
                        fail_msg("\"%s\" is not in: %s", (text), heard_);                                              \
                assert_int_equal(status_, (status));                                                                   \
                free(heard_);                                                                                          \
        } while (0)
