/* The arguments of the Kubernetes client: ClientArguments. */
#include "submit/kubernetes/client_arguments.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define parse(a, error, ...)                                                                                           \
        client_arguments_parse((const char *const[]){__VA_ARGS__}, ARRAY_SIZE(((const char *const[]){__VA_ARGS__})),   \
                               (a), (error))

static void reads_all_arguments(void **state)
{
        struct client_arguments a;
        assert_int_equal(parse(&a, NULL, "--primary-py-file", "a.py", "--main-class", "c", "--arg", "1", "--arg",
                               "--arg", "--proxy-user", "you"),
                         0);
        assert_int_equal(a.language, KUBE_PYTHON);
        assert_string_equal(a.resource, "a.py");
        assert_string_equal(a.main_class, "c");
        assert_int_equal(a.n_arguments, 2);
        assert_string_equal(a.arguments[1], "--arg");
        assert_string_equal(a.proxy_user, "you");
        client_arguments_deinit(&a);
        assert_int_equal(parse(&a, NULL, "--main-class", "c"), 0);
        assert_int_equal(a.language, KUBE_JAVA);
        assert_null(a.resource);
        client_arguments_deinit(&a);
}

static void rejects_unknown_argument_and_missing_class(void **state)
{
        struct client_arguments a;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(parse(&a, &error, "--main-class", "c", "--name", "x"), -EINVAL);
        assert_string_equal(error_message(&error), "Unknown arguments: --name x");
        assert_int_equal(parse(&a, &error, "--main-class"), -EINVAL);
        assert_string_equal(error_message(&error), "Unknown arguments: --main-class");
        assert_int_equal(parse(&a, &error, "--arg", "1"), -EINVAL);
        assert_string_equal(error_message(&error), "requirement failed: Main class must be specified via --main-class");
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(reads_all_arguments),
                                           cmocka_unit_test(rejects_unknown_argument_and_missing_class)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
