/* The arguments of the legacy gateway's client. */
#include "submit/standalone/legacy_arguments.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#define PARSE(out, error, ...)                                                                                         \
        legacy_arguments_parse((int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), (char *[]){__VA_ARGS__}, out,  \
                               error)

static void parses_launch(void **state)
{
        struct legacy_arguments w;
        assert_int_equal(PARSE(&w, NULL, "--supervise", "--memory", "2g", "-c", "3", "launch", "spark://a:1,b:2",
                               "file:/x/app.so", "main", "--cores", "9"),
                         0);
        assert_int_equal(w.command, LEGACY_LAUNCH);
        assert_true(w.supervise);
        assert_int_equal(w.memory_mib, 2048);
        assert_int_equal(w.cores, 3);
        assert_string_equal(w.masters, "spark://a:1,b:2");
        assert_string_equal(w.url, "file:/x/app.so");
        assert_string_equal(w.main_class, "main");
        assert_int_equal(w.n_arguments, 2);
        assert_string_equal(w.arguments[0], "--cores");
        /* defaults, and a class that Spark passes as null */
        assert_int_equal(PARSE(&w, NULL, "launch", "spark://a:1", "hdfs://h/x.jar", NULL), 0);
        assert_int_equal(w.memory_mib, 1024);
        assert_int_equal(w.cores, 1);
        assert_string_equal(w.main_class, "");
        assert_int_equal(w.n_arguments, 0);
}

static void parses_kill(void **state)
{
        struct legacy_arguments w;
        assert_int_equal(PARSE(&w, NULL, "-v", "kill", "spark://a:1", "driver-1"), 0);
        assert_int_equal(w.command, LEGACY_KILL);
        assert_true(w.verbose);
        assert_string_equal(w.id, "driver-1");
        assert_int_equal(PARSE(&w, NULL, "--help"), 1);
}

static void refused(int r, struct fst_error *error, const char *message)
{
        assert_int_equal(r, -EINVAL);
        assert_non_null(strstr(error_message(error), message));
        if (!*message)
                assert_string_equal(error->message, "");
        error_deinit(error);
}

static void rejects_invalid_arguments(void **state)
{
        struct legacy_arguments w;
        struct fst_error e = FST_ERROR_INIT;
        refused(PARSE(&w, &e, "launch", "spark://a:1", "/x/app.so", "main"), &e, "is not in valid format");
        refused(PARSE(&w, &e, "launch", "spark://a:1", "file:/x/app.py", "main"), &e, "is not in valid format");
        refused(PARSE(&w, &e, "launch", "spark://a:1", "hdfs:///x.jar", "main"), &e, "is not in valid format");
        refused(PARSE(&w, &e, "launch", "spark://a:1", "hdfs://x.jar", "main"), &e, "is not in valid format");
        refused(PARSE(&w, &e, "launch", "spark://a:1", "file://jarFile.jar", "main"), &e, "is not in valid format");
        refused(PARSE(&w, &e, "--cores", "no", "launch"), &e, "--cores: \"no\" is not a number of at least 1");
        refused(PARSE(&w, &e, "--memory", "much", "launch"), &e, "much");
        refused(PARSE(&w, &e, "launch", "spark://a:1"), &e, "");
        refused(PARSE(&w, &e, "kill", "spark://a:1"), &e, "");
        refused(PARSE(&w, &e, "--cores"), &e, "");
        refused(PARSE(&w, &e, "status", "spark://a:1", "driver-1"), &e, "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parses_launch),
                cmocka_unit_test(parses_kill),
                cmocka_unit_test(rejects_invalid_arguments),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
