/* Tests allocations that a full control group refuses, with a group made of files. */
#include "exec/guard/memory_guard.h"

#include "base/mem.h"
#include "base/fs.h"
#include "exec/guard/memory_limit.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static void put(const char *file, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, file);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
}

static void put_used(size_t mib)
{
        _cleanup_free_ char *text = mem_printf("%zu\n", mib * MIB);
        put("job/memory.current", text);
}

static bool can_allocate(size_t size)
{
        void *p = mem_try(size);
        free(p);
        return p != NULL;
}

static bool malloc_can(size_t size)
{
        void *volatile p = malloc(size);
        free(p);
        return p != NULL;
}

static void refuses_allocations_beyond_the_group(void **state)
{
        put_used(200);
        struct memory_limit *l = memory_limit_new(&(struct memory_limit_options){0});
        assert_int_equal(memory_limit_room(l, 0) / (int64_t)MIB, 340); /* 600 minus a tenth, minus 200 used */
        memory_guard_start(l, 0);
        assert_true(can_allocate(300 * MIB));
        assert_false(can_allocate(360 * MIB)); /* 340 and a quarter of the reserve */
        assert_false(malloc_can(420 * MIB));   /* also by the application's functions */
        put_used(550);
        assert_false(can_allocate(30 * MIB));
        memory_guard_update();
        assert_false(malloc_can(100 * MIB));
        free(mem_alloc(100)); /* small, vital allocations still succeed */
        free(mem_alloc(300 * 1000));
        put_used(100); /* freed memory counts at once, without a tick */
        assert_true(can_allocate(400 * MIB));
        void *untouched = mmap(NULL, 300 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(untouched != MAP_FAILED);
        assert_true(memory_guard_pending() >= (int64_t)(290 * MIB));
        assert_false(
                can_allocate(250 * MIB)); /* 440; the pool may write to 300 at any time, of which 32 are tolerated */
        munmap(untouched, 300 * MIB);
        memory_guard_stop(l);
        assert_true(malloc_can(900 * MIB));
        assert_true(can_allocate(900 * MIB));
        memory_limit_free(l);
}

static void shares_the_group_with_other_processes(void **state)
{
        put_used(240);
        struct memory_limit *l = memory_limit_new(&(struct memory_limit_options){.processes = 3});
        assert_int_equal(memory_limit_room(l, 0) / (int64_t)MIB, 100);
        memory_limit_free(l);
}

static void does_nothing_without_a_group(void **state)
{
        put("job/memory.max", "max\n");
        struct memory_limit *l = memory_limit_new(&(struct memory_limit_options){0});
        memory_guard_start(l, 0);
        assert_true(memory_guard_update() == INT64_MAX);
        assert_true(malloc_can(900 * MIB));
        memory_guard_stop(l);
        memory_limit_free(l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(refuses_allocations_beyond_the_group),
                cmocka_unit_test(shares_the_group_with_other_processes),
                cmocka_unit_test(does_nothing_without_a_group),
        };
        if (temp_dir_make(NULL))
                return 1;
        setenv("FIRESTEEL_CGROUP_ROOT", temp_dir, 1);
        _cleanup_free_ char *job = mem_printf("%s/job", temp_dir);
        mkdir(job, 0700);
        put("self", "0::/job\n");
        put("job/memory.max", "629145600\n");
        int r = cmocka_run_group_tests(tests, NULL, NULL);
        temp_dir_remove(NULL);
        return r;
}
