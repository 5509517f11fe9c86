/* A process that is watched without being a child of the watcher: its end, its signals, another one of its number. */
#include "process/foreign_process.h"

#include "process/loop_wait.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t start_sleeper(void)
{
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                pause();
                _exit(0);
        }
        return pid;
}

static void on_end(void *owner)
{
        ++*(int *)owner;
}

static bool has_ended(void *owner)
{
        return *(int *)owner > 0;
}

static void reports_the_end_once(void **state)
{
        struct foreign_process *p;
        uv_loop_t loop;
        int ended = 0;
        pid_t pid = start_sleeper();
        uv_loop_init(&loop);
        assert_int_equal(foreign_process_new(&loop, pid, process_start_ticks(pid), on_end, &ended, &p), 0);
        uv_run(&loop, UV_RUN_NOWAIT);
        assert_int_equal(ended, 0);
        assert_int_equal(foreign_process_kill(p, SIGTERM), 0);
        loop_wait(&loop, has_ended, &ended, LOOP_WAIT_FOREVER);
        waitpid(pid, NULL, 0);
        assert_int_equal(foreign_process_kill(p, SIGTERM), -ESRCH);
        foreign_process_free(p);
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(ended, 1);
        assert_int_equal(uv_loop_close(&loop), 0);
}

static void refuses_another_process_of_that_number(void **state)
{
        struct foreign_process *p;
        uv_loop_t loop;
        uv_loop_init(&loop);
        const uint64_t started = process_start_ticks(getpid());
        assert_true(started > 0);
        assert_int_equal(foreign_process_new(&loop, getpid(), started + 1, on_end, NULL, &p), -ESRCH);
        assert_int_equal(foreign_process_new(&loop, getpid(), 0, on_end, NULL, &p), -ESRCH);
        assert_int_equal(foreign_process_new(&loop, -1, started, on_end, NULL, &p), -ESRCH);
        pid_t pid = start_sleeper();
        const uint64_t of_sleeper = process_start_ticks(pid);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_int_equal(process_start_ticks(pid), 0);
        assert_int_equal(foreign_process_new(&loop, pid, of_sleeper, on_end, NULL, &p), -ESRCH);
        foreign_process_free(NULL);
        assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reports_the_end_once),
                cmocka_unit_test(refuses_another_process_of_that_number),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
