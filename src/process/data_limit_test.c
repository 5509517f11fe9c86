/* Tests RLIMIT_DATA: large allocations fail beyond it, and children have the original limit. */
#include "process/data_limit.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static bool can_map(size_t size)
{
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
                return false;
        munmap(p, size);
        return true;
}

static void refuses_more_than_the_limit(void **state)
{
        data_limit_set(64 * (int64_t)MIB);
        assert_true(can_map(32 * MIB));
        assert_false(can_map(128 * MIB));
        data_limit_set(256 * (int64_t)MIB);
        assert_true(can_map(128 * MIB));
        data_limit_set(-1);
        assert_false(can_map(32 * MIB));
        data_limit_reset();
        assert_true(can_map(512 * MIB));
}

static void never_exceeds_the_limit_at_start(void **state)
{
        struct rlimit before, now;
        getrlimit(RLIMIT_DATA, &before);
        data_limit_set(INT64_MAX / 2);
        getrlimit(RLIMIT_DATA, &now);
        assert_true(now.rlim_cur <= before.rlim_cur);
        assert_true(now.rlim_max == before.rlim_max);
        data_limit_reset();
}

static void children_have_original_limit(void **state)
{
        int status;
        data_limit_set(32 * (int64_t)MIB);
        pid_t pid = fork();
        if (pid == 0) {
                data_limit_reset_child();
                _exit(can_map(256 * MIB) ? 0 : 1);
        }
        waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
        int go[2];
        assert_int_equal(pipe(go), 0);
        pid = fork();
        if (pid == 0) {
                char byte;
                _exit(read(go[0], &byte, 1) == 1 && can_map(256 * MIB) ? 0 : 1);
        }
        data_limit_reset_pid(pid);
        assert_int_equal(write(go[1], "", 1), 1);
        waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
        close(go[0]);
        close(go[1]);
        data_limit_reset();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(refuses_more_than_the_limit),
                cmocka_unit_test(never_exceeds_the_limit_at_start),
                cmocka_unit_test(children_have_original_limit),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
