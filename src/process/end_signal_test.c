/* The first signal counts; only a late SIGINT ends the process at once. */
#include "process/end_signal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The exit status of a child that notes @first, waits @ms and notes @second; 0: it goes on after both. */
static int status_after(int first, int ms, int second)
{
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
                struct end_signal e = {0};
                if (!end_signal_note(&e, first))
                        _exit(1);
                usleep((useconds_t)ms * 1000);
                _exit(end_signal_note(&e, second) ? 2 : e.number != first ? 3 : 0);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static void further_signals_change_nothing(void **state)
{
        assert_int_equal(status_after(SIGTERM, 0, SIGTERM), 0);
        assert_int_equal(status_after(SIGINT, 0, SIGINT), 0);
        assert_int_equal(status_after(SIGHUP, 0, SIGINT), 0);
        assert_int_equal(status_after(SIGTERM, END_SIGNAL_INTERRUPT_MS + 50, SIGTERM), 0);
        assert_int_equal(status_after(SIGINT, END_SIGNAL_INTERRUPT_MS + 50, SIGHUP), 0);
}

static void a_late_interrupt_ends_the_process(void **state)
{
        assert_int_equal(status_after(SIGINT, END_SIGNAL_INTERRUPT_MS + 50, SIGINT), 128 + SIGINT);
        assert_int_equal(status_after(SIGTERM, END_SIGNAL_INTERRUPT_MS + 50, SIGINT), 128 + SIGINT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(further_signals_change_nothing),
                cmocka_unit_test(a_late_interrupt_ends_the_process),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
