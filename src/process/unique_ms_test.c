/* Tests that a time identifies: within a process, among processes, and after other processes bound many times. */
#include "process/unique_ms.h"

#include "base/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILDREN 16
#define BOUND 500

static int64_t clock_ms(void)
{
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void is_the_current_time(void **state)
{
        int64_t before = clock_ms(), ms = unique_ms_new("unit-");
        assert_in_range(ms, before, clock_ms() + 1000);
}

static void differs_within_a_process(void **state)
{
        int64_t last = unique_ms_new("unit-");
        for (int i = 0; i < 20; i++) {
                int64_t ms = unique_ms_new("unit-");
                assert_true(ms > last);
                last = ms;
        }
}

/* All children begin at once, when the parent closes the pipe, and hold their times until the parent closes the next.
 */
static void differs_among_processes(void **state)
{
        int begin[2], end[2], times[2];
        int64_t got[CHILDREN];
        pid_t children[CHILDREN];
        char none;
        assert_int_equal(pipe(begin) | pipe(end) | pipe(times), 0);
        for (int i = 0; i < CHILDREN; i++) {
                if ((children[i] = fork()))
                        continue;
                close(begin[1]);
                close(end[1]);
                ssize_t n = read(begin[0], &none, 1);
                int64_t ms = unique_ms_new("unit-");
                if (n != 0 || write(times[1], &ms, sizeof(ms)) != sizeof(ms) || read(end[0], &none, 1) != 0)
                        _exit(1);
                _exit(0);
        }
        close(begin[1]);
        for (int i = 0; i < CHILDREN; i++) {
                assert_int_equal(read(times[0], &got[i], sizeof(got[i])), sizeof(got[i]));
                for (int k = 0; k < i; k++)
                        assert_int_not_equal(got[i], got[k]);
        }
        close(end[1]);
        for (int i = 0; i < CHILDREN; i++) {
                int status;
                assert_int_equal(waitpid(children[i], &status, 0), children[i]);
                assert_int_equal(status, 0);
        }
        close(begin[0]), close(end[0]), close(times[0]), close(times[1]);
}

static void skips_times_of_others(void **state)
{
        int fds[BOUND];
        int64_t first = clock_ms();
        for (int i = 0; i < BOUND; i++) {
                struct sockaddr_un address = {.sun_family = AF_UNIX};
                int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "firesteel/unit-%lld",
                                 (long long)first + i);
                fds[i] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                assert_int_equal(bind(fds[i], (struct sockaddr *)&address,
                                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
                                 0);
        }
        assert_true(unique_ms_new("unit-") >= first + BOUND);
        for (int i = 0; i < BOUND; i++)
                close(fds[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(is_the_current_time),
                cmocka_unit_test(differs_within_a_process),
                cmocka_unit_test(differs_among_processes),
                cmocka_unit_test(skips_times_of_others),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
