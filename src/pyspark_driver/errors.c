/* Exceptions; see errors.h. */
#include "pyspark_driver/errors.h"

#include "base/mem.h"
#include "base/string_prefix.h"

#include <firesteel/frames.h>

#include <stdio.h>

#define TRACEBACK "Traceback (most recent call last):"
#define PYTHON_EXCEPTION "org.apache.spark.api.python.PythonException"
#define SPARK_EXCEPTION "org.apache.spark.SparkException"

/* Messages of ours, and the classes of the exceptions in which Spark says the same. */
static const struct {
        const char *part, *class;
} exception_classes[] = {
        {"Input path does not exist", "org.apache.hadoop.mapred.InvalidInputException"},
        {"Input Pattern", "org.apache.hadoop.mapred.InvalidInputException"},
        {"already exists", "org.apache.hadoop.mapred.FileAlreadyExistsException"},
        {"Cannot change storage level", "org.apache.spark.SparkUnsupportedOperationException"},
        {"spark.driver.maxResultSize", SPARK_EXCEPTION},
        {"Multiple ResourceProfiles specified", "java.lang.IllegalArgumentException"},
        {"No space left on device", "java.io.IOException"},
        {"Permission denied", "java.io.IOException"},
};

static const char *exception_class(const char *message)
{
        if (!strstr(message, "Job aborted"))
                for (size_t i = 0; i < ARRAY_SIZE(exception_classes); i++)
                        if (strstr(message, exception_classes[i].part))
                                return exception_classes[i].class;
        return SPARK_EXCEPTION;
}

/* The traceback in a failure without what the engine put around it, or NULL. */
static char *exception_traceback(const char *message)
{
        const char *from = strstr(message, TRACEBACK);
        if (!from)
                return NULL;
        size_t n = strlen(from);
        while (n > 0 && (from[n - 1] == '\n' || from[n - 1] == ' '))
                n--;
        return mem_strndup(from, n);
}

struct spark_exception spark_exception_of(const char *message, int major, int minor)
{
        struct spark_exception e = {.class = exception_class(message)};
        _cleanup_free_ char *traceback = exception_traceback(message);
        bool is_alone = traceback && (major > 4 || (major == 4 && minor >= 1));
        if (is_alone) {
                e.class = PYTHON_EXCEPTION;
                e.message = mem_printf(
                        "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: %s\n SQLSTATE: 38000",
                        traceback);
        } else if (traceback && !strstr(message, PYTHON_EXCEPTION)) {
                size_t before = (size_t)(strstr(message, TRACEBACK) - message);
                e.message = mem_printf("%.*s%s: %s\n", (int)before, message, PYTHON_EXCEPTION, traceback);
        } else {
                e.message = mem_strdup(message);
        }
        e.trace = mem_printf("%s: %s\n\tat org.apache.spark.api.python.PythonRDD.collectAndServe(Firesteel)", e.class,
                             e.message);
        return e;
}

void throw_message(struct py4j_call *call, const char *message)
{
        const struct pyspark *p = pyspark_of(call);
        struct spark_exception e = spark_exception_of(message, p->package.major, p->package.minor);
        py4j_throw_text(call, e.class, e.message, e.trace);
        free(e.message);
        free(e.trace);
}

void throw_failure(struct py4j_call *call, const char *otherwise)
{
        const char *failure = fst_last_failure();
        throw_message(call, failure[0] ? failure : otherwise);
}
