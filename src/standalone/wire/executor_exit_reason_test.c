/* Descriptions of executors' exit statuses. */
#include "standalone/wire/executor_exit_reason.h"

#include "base/mem.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

static void check(const char *message, int status, const char *expected)
{
        _cleanup_free_ char *reason = executor_exit_reason(message, &status);
        assert_string_equal(reason, expected);
}

static void statuses_are_explained(void **state)
{
        check("Command exited with code 52", 52,
              "Command exited with code 52: OutOfMemory: spark.executor.memory was exceeded, and no task could be ended "
              "for it");
        check("Command exited with code 137", 137,
              "Command exited with code 137 (died from signal SIGKILL, possibly killed by the kernel for using too much memory)");
        check("Command exited with code 139 (SIGSEGV)", 139, "Command exited with code 139 (SIGSEGV)");
        check("", 143, "Command exited with code 143 (died from signal SIGTERM)");
        check("Command exited with code 0", 0, "Command exited with code 0");
        check("Command exited with code 7", 7, "Command exited with code 7");
}

static void without_a_status_the_message_stands(void **state)
{
        _cleanup_free_ char *lost = executor_exit_reason("worker lost: heartbeat", NULL);
        _cleanup_free_ char *nothing = executor_exit_reason("", NULL);
        assert_string_equal(lost, "worker lost: heartbeat");
        assert_string_equal(nothing, "the executor has ended");
}

static void who_is_charged(void **state)
{
        const int killed = 137, heartbeat = 56, disk = 53, clean = 0;
        assert_true(executor_exit_by_app(&killed, false));
        assert_true(executor_exit_by_app(&clean, false));
        assert_false(executor_exit_by_app(&heartbeat, false));
        assert_false(executor_exit_by_app(&disk, false));
        assert_false(executor_exit_by_app(NULL, true));
        assert_true(executor_exit_by_app(NULL, false));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(statuses_are_explained),
                cmocka_unit_test(without_a_status_the_message_stands),
                cmocka_unit_test(who_is_charged),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
