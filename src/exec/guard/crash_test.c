/* Each test crashes a child in its own way and checks its report and its exit status. */
#include "exec/guard/crash.h"

#include "base/mem.h"

#include <firesteel/task.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const struct fst_task_info task = {.id = 7, .stage = 2, .stage_attempt = 1, .partition = 5, .attempt = 3};
#define TASK "ERROR Executor: task 7 in stage 2.1 (partition 5, attempt 3) crashed in split in app.so: "

/*
 * Runs @crash in a child, within a task if @in_task. Returns the wait status and fills @report. Skips the test under a
 * sanitizer, whose own handlers and stacks interfere.
 */
static int report_of(void (*crash)(void), bool in_task, char report[static 1024])
{
        int ends[2];
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        skip();
#endif
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
                struct rlimit none = {0, 0};
                setrlimit(RLIMIT_CORE, &none);
                signal(SIGABRT, SIG_DFL);
                if (crash_init(ends[1], "This is the hint", NULL) < 0)
                        _exit(99);
                if (in_task) {
                        crash_set_task(&task);
                        crash_enter("split in app.so");
                }
                crash();
                _exit(98);
        }
        close(ends[1]);
        size_t len = 0;
        for (ssize_t n; (n = read(ends[0], report + len, 1023 - len)) > 0;)
                len += (size_t)n;
        report[len] = 0;
        close(ends[0]);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        return status;
}

static void assert_begins(const char *text, const char *begin)
{
        if (strncmp(text, begin, strlen(begin)) != 0)
                fail_msg("\"%s\" does not begin with \"%s\"", text, begin);
}

static volatile int zero;
static volatile int endless = 1; /* volatile, so that the compiler does not see it */
static int *volatile nowhere;

static void touch_null(void)
{
        *nowhere = 1;
}

static void divide(void)
{
        zero = 100 / zero;
}

static __attribute__((noinline)) int recurse(volatile char *above)
{
        volatile char here[4096];
        here[0] = above ? above[0] : 0;
        return endless ? recurse(here) + here[0] : 0;
}

static void fill_stack(void)
{
        recurse(NULL);
}

static void *fill_stack_of_thread(void *unused)
{
        crash_thread_init();
        crash_set_task(&task);
        crash_enter("split in app.so");
        recurse(NULL);
        return NULL;
}

static void fill_stack_elsewhere(void)
{
        pthread_t thread;
        pthread_create(&thread, NULL, fill_stack_of_thread, NULL);
        pthread_join(thread, NULL);
}

static void exit_well(void)
{
        exit(0);
}

static void exit_badly(void)
{
        exit(3);
}

static void send_segv(void)
{
        kill(getpid(), SIGSEGV);
}

static void an_access_names_task_function_and_address(void **state)
{
        char report[1024];
        int status = report_of(touch_null, true, report);
        assert_begins(report, TASK "SIGSEGV, invalid memory access at address 0x0");
        assert_non_null(strstr(report, ". This is the hint\n"));
        assert_true(WIFSIGNALED(status));
        assert_true(WTERMSIG(status) == SIGSEGV);
}

static void every_deadly_signal_is_reported(void **state)
{
        char report[1024];
        int status = report_of(abort, true, report);
        assert_begins(report, TASK "SIGABRT, abort() was called");
        assert_true(WIFSIGNALED(status));
        assert_true(WTERMSIG(status) == SIGABRT);
        status = report_of(send_segv, true, report);
        assert_begins(report, TASK "SIGSEGV, sent by process ");
        assert_true(WIFSIGNALED(status));
        assert_true(WTERMSIG(status) == SIGSEGV);
#ifdef __x86_64__
        status = report_of(divide, true, report);
        assert_begins(report, TASK "SIGFPE, division by zero");
        assert_true(WIFSIGNALED(status));
        assert_true(WTERMSIG(status) == SIGFPE);
#endif
}

static void reports_a_stack_overflow_on_every_thread(void **state)
{
        char report[1024];
        int status = report_of(fill_stack, true, report);
        assert_begins(report, TASK "SIGSEGV, the stack is full");
        assert_true(WIFSIGNALED(status));
        assert_true(WTERMSIG(status) == SIGSEGV);
        status = report_of(fill_stack_elsewhere, false, report);
        assert_begins(report, TASK "SIGSEGV, the stack is full");
        assert_true(WIFSIGNALED(status));
        assert_true(WTERMSIG(status) == SIGSEGV);
}

static void reports_exit_in_a_task_as_a_crash(void **state)
{
        char report[1024];
        int status = report_of(exit_well, true, report);
        assert_begins(report, TASK "it called exit(0). This is the hint\n");
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == CRASH_EXIT_CODE);
        status = report_of(exit_badly, true, report);
        assert_begins(report, TASK "it called exit(3)");
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 3);
}

/* Registers the code around here as app.so. Called in the child only. */
static void crash_in_module_at(const char *path)
{
        uintptr_t code = (uintptr_t)touch_null;
        crash_add_module("app.so", path, code - 0x10000, code + 0x10000);
        touch_null();
}

static void crash_in_module(void)
{
        crash_in_module_at("/jobs/my app.so");
}

static void crash_in_module_of_long_path(void)
{
        static char path[900];
        memset(path, 'p', sizeof(path) - 1);
        crash_in_module_at(path);
}

static void prints_the_command_for_the_line_of_a_module(void **state)
{
        char report[1024], wanted[128];
        report_of(crash_in_module, true, report);
        const char *at = strstr(report, ", code at app.so+0x");
        assert_non_null(at);
        unsigned long offset = strtoul(at + strlen(", code at app.so+"), NULL, 16);
        snprintf(wanted, sizeof(wanted), "+0x%lx (addr2line -e /jobs/my app.so 0x%lx). This is the hint\n", offset,
                 offset);
        assert_non_null(strstr(at, wanted));
        report_of(crash_in_module_of_long_path, true, report);
        assert_non_null(strstr(report, ", code at app.so+0x"));
        assert_null(strstr(report, "addr2line"));
        assert_non_null(strstr(report, ". This is the hint\n"));
}

static void exit_outside_of_tasks_is_not_a_crash(void **state)
{
        char report[1024];
        int status = report_of(exit_badly, false, report);
        assert_string_equal(report, "");
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 3);
        report_of(touch_null, false, report);
        assert_begins(report, "ERROR Executor: this process, outside of all tasks, crashed: SIGSEGV");
}

static void calls_nest(void **state)
{
        const char *outer = crash_enter("a");
        const char *inner = crash_enter("b");
        assert_string_equal(inner, "a");
        assert_string_equal(crash_call.function, "b");
        crash_leave(inner);
        assert_string_equal(crash_call.function, "a");
        crash_leave(outer);
        assert_null(crash_call.function);
}

static void a_report_names_its_task(void **state)
{
        assert_int_equal(
                crash_report_task("Command exited with code 139 (SIGSEGV): ERROR Executor: task 12 in stage 1.0 "
                                  "(partition 3, attempt 0) crashed in f in a.so: SIGSEGV"),
                12);
        static const char *const none[] = {
                "",
                "ERROR Executor: ",
                "ERROR Executor: task ",
                "ERROR Executor: task x in stage 1.0",
                "ERROR Executor: task -1 in stage 1.0",
                "ERROR Executor: task 7 of stage 1.0",
                "ERROR Executor: task 99999999999999999999 in stage 1.0",
                "ERROR Executor: the application crashed",
                "Killing executor because killed task 5 could not be stopped within 500 ms",
        };
        for (size_t i = 0; i < ARRAY_SIZE(none); i++)
                assert_int_equal(crash_report_task(none[i]), -1);
}

static void a_report_tells_invalid_accesses_of_the_application(void **state)
{
        char report[1024];
        report_of(touch_null, true, report);
        assert_true(crash_report_is_invalid_access(report));
        report_of(abort, true, report);
        assert_false(crash_report_is_invalid_access(report));
        static const struct {
                const char *text;
                bool expected;
        } cases[] = {
                {"task 3 in stage 1.0 (partition 3, attempt 0) crashed in f in a.so: SIGBUS, invalid memory access at address "
                 "0x8",
                 true},
                {"task 3 in stage 1.0 (partition 3, attempt 0) crashed in the engine: SIGSEGV, invalid memory access at "
                 "address 0x8",
                 false},
                {"task 3 in stage 1.0 (partition 3, attempt 0) crashed in f in a.so: SIGFPE, division by zero", false},
                {"task 3 crashed in f", false},
                {": SIGSEGV, invalid memory access at address 0x8", false},
                {"", false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                if (crash_report_is_invalid_access(cases[i].text) != cases[i].expected)
                        fail_msg("%s", cases[i].text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_access_names_task_function_and_address),
                cmocka_unit_test(every_deadly_signal_is_reported),
                cmocka_unit_test(reports_a_stack_overflow_on_every_thread),
                cmocka_unit_test(reports_exit_in_a_task_as_a_crash),
                cmocka_unit_test(prints_the_command_for_the_line_of_a_module),
                cmocka_unit_test(exit_outside_of_tasks_is_not_a_crash),
                cmocka_unit_test(calls_nest),
                cmocka_unit_test(a_report_names_its_task),
                cmocka_unit_test(a_report_tells_invalid_accesses_of_the_application),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
