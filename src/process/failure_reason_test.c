/* Tests the remembered reason of a failure: the first one counts until it is cleared. */
#include "process/failure_reason.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_reason(const char *expected)
{
        char *text = failure_reason_text();
        if (expected)
                assert_string_equal(text, expected);
        else
                assert_null(text);
        free(text);
}

static void keeps_first_reason_until_cleared(void **state)
{
        assert_reason(NULL);
        failure_reason_add("the disk is full");
        failure_reason_add("the job was cancelled");
        assert_reason("the disk is full");
        failure_reason_clear();
        assert_reason(NULL);
        failure_reason_clear();
        failure_reason_add("the job was cancelled");
        assert_reason("the job was cancelled");
        failure_reason_clear();
}

static void *thread_without_failure(void *argument)
{
        (void)argument;
        return failure_reason_of_thread()[0] ? "has one" : NULL;
}

static void keeps_last_failure_of_each_thread(void **state)
{
        pthread_t thread;
        void *other;
        failure_reason_set_thread("first");
        failure_reason_set_thread("second");
        assert_string_equal(failure_reason_of_thread(), "second");
        assert_int_equal(pthread_create(&thread, NULL, thread_without_failure, NULL), 0);
        assert_int_equal(pthread_join(thread, &other), 0);
        assert_null(other);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_first_reason_until_cleared),
                cmocka_unit_test(keeps_last_failure_of_each_thread),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
