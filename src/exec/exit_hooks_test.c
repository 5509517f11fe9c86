/* Each test ends a child process in its own way and checks the output of its hook and its exit status. */
#include "exec/exit_hooks.h"

#include "base/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define STATUS 11

static int out;
static int64_t timeout_ms = EXIT_HOOKS_TIMEOUT_MS;

static void say(const char *letter)
{
        if (write(out, letter, 1) != 1)
                _exit(97);
}

static void just_hook(void *context)
{
        say("h");
}

static void begin(void)
{
        exit_hooks_exit(STATUS);
        pause();
}

/* The hook's thread blocks signals. A handler that ends the process does so while this thread sleeps. */
static void signalled_hook(void *context)
{
        static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                kill(getpid(), signals[i]);
                usleep(50 * 1000);
        }
        say("h");
}

static void terminated_late_hook(void *context)
{
        usleep((EXIT_HOOKS_INTERRUPT_MS + 50) * 1000);
        kill(getpid(), SIGTERM);
        usleep(50 * 1000);
        say("h");
}

static void interrupted_late_hook(void *context)
{
        usleep((EXIT_HOOKS_INTERRUPT_MS + 50) * 1000);
        kill(getpid(), SIGINT);
        pause();
}

static void hanging_hook(void *context)
{
        say("h");
        pause();
}

/* A hook may find another reason to end the process. */
static void begin_again_hook(void *context)
{
        exit_hooks_exit(STATUS + 1);
        say("h");
}

static void begin_and_take_back(void)
{
        exit_hooks_exit(STATUS);
        exit_hooks_remove(just_hook, NULL);
        say("r");
        pause();
}

static void get_signal(void)
{
        raise(SIGTERM);
        for (;;) /* a second signal interrupts it */
                pause();
}

/* Runs @deed in a child that has @hook. Returns the exit status. @said is the child's output. */
static int status_of(void (*hook)(void *), void (*deed)(void), char said[static 8])
{
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
                out = ends[1];
                exit_hooks_init(timeout_ms);
                if (hook && exit_hooks_add(hook, NULL, NULL) < 0)
                        _exit(99);
                deed();
                _exit(98);
        }
        close(ends[1]);
        size_t len = 0;
        for (ssize_t n; (n = read(ends[0], said + len, 7 - len)) > 0;)
                len += (size_t)n;
        said[len] = 0;
        close(ends[0]);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static void runs_hooks_before_the_exit(void **state)
{
        char said[8];
        assert_int_equal(status_of(just_hook, begin, said), STATUS);
        assert_string_equal(said, "h");
        assert_int_equal(status_of(just_hook, get_signal, said), 128 + SIGTERM);
        assert_string_equal(said, "h");
        assert_int_equal(status_of(NULL, begin, said), STATUS);
        assert_string_equal(said, "");
}

static void takes_the_first_reason(void **state)
{
        char said[8];
        assert_int_equal(status_of(begin_again_hook, begin, said), STATUS);
        assert_string_equal(said, "h");
        assert_int_equal(status_of(begin_again_hook, get_signal, said), 128 + SIGTERM);
        assert_string_equal(said, "h");
}

static void finishes_hooks_despite_further_signals(void **state)
{
        char said[8];
        assert_int_equal(status_of(signalled_hook, get_signal, said), 128 + SIGTERM);
        assert_string_equal(said, "h");
        assert_int_equal(status_of(terminated_late_hook, get_signal, said), 128 + SIGTERM);
        assert_string_equal(said, "h");
}

static void a_later_interrupt_exits_at_once(void **state)
{
        char said[8];
        assert_int_equal(status_of(interrupted_late_hook, get_signal, said), 128 + SIGINT);
}

/* The time begins before the hook, which a busy machine may start too late: longer times are tried, too. */
static void a_hanging_hook_is_cut_short(void **state)
{
        char said[8] = "";
        for (timeout_ms = 100; !said[0] && timeout_ms < EXIT_HOOKS_TIMEOUT_MS; timeout_ms *= 4)
                assert_int_equal(status_of(hanging_hook, get_signal, said), 128 + SIGTERM);
        assert_string_equal(said, "h");
        timeout_ms = EXIT_HOOKS_TIMEOUT_MS;
}

static void keeps_a_hook_during_the_exit(void **state)
{
        char said[8];
        assert_int_equal(status_of(just_hook, begin_and_take_back, said), STATUS);
        assert_string_equal(said, "h");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(runs_hooks_before_the_exit),
                cmocka_unit_test(takes_the_first_reason),
                cmocka_unit_test(finishes_hooks_despite_further_signals),
                cmocka_unit_test(a_later_interrupt_exits_at_once),
                cmocka_unit_test(a_hanging_hook_is_cut_short),
                cmocka_unit_test(keeps_a_hook_during_the_exit),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
