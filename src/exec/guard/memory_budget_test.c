/* Tests memory budgets with control groups made of files. */
#include "exec/guard/memory_budget.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define MIB ((int64_t)1 << 20)

static void put(const char *file, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, file);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
}

static void put_limit(int64_t mib)
{
        _cleanup_free_ char *text = mem_printf("%lld\n", (long long)(mib * MIB));
        put("job/memory.max", text);
}

static void leaves_room_beside_the_rows(void **state)
{
        static const struct {
                int64_t limit;
                int processes;
                int64_t heap;
        } cases[] = {
                {64, 1, 32},     {300, 1, 236}, {600, 1, 525}, {1408, 1, 1232},
                {8192, 1, 7808}, {400, 3, 69},  {400, 0, 336},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_int_equal(memory_budget_of_group(cases[i].limit * MIB, cases[i].processes) / MIB, cases[i].heap);
}

static struct memory_budget budget_of(const char *memory, int processes)
{
        struct fst_conf conf;
        struct memory_budget budget = {-1};
        conf_init(&conf);
        if (memory)
                conf_set(&conf, "spark.driver.memory", memory);
        assert_int_equal(memory_budget_read(&conf, "spark.driver.memory", processes, &budget, NULL), 0);
        conf_deinit(&conf);
        return budget;
}

static int64_t heap_of(const char *memory, int processes)
{
        return budget_of(memory, processes).heap / MIB;
}

static void uses_the_lower_of_configured_and_group(void **state)
{
        put_limit(300);
        assert_int_equal(heap_of(NULL, 1), 236);
        assert_int_equal(heap_of("2g", 1), 236);
        assert_int_equal(heap_of("100m", 1), 100);
        assert_int_equal(heap_of(NULL, 3), 50);
        put_limit(1408); /* an executor's default with its overhead: no reduction */
        assert_int_equal(heap_of(NULL, 1), 1024);
        assert_true(budget_of("100m", 1).in_group);
        put("job/memory.max", "max\n");
        assert_int_equal(heap_of("2g", 1), 2048);
        assert_false(budget_of("2g", 1).in_group);
}

static void overhead_stays_within_the_group(void **state)
{
        put_limit(300);
        assert_int_equal(memory_budget_overhead(236 * MIB, 384 * MIB, 1), 64 * MIB);
        assert_int_equal(memory_budget_overhead(400 * MIB, 384 * MIB, 1), 0);
        put("job/memory.max", "max\n");
        assert_int_equal(memory_budget_overhead(236 * MIB, 384 * MIB, 1), 384 * MIB);
}

static void rejects_a_wrong_value(void **state)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        struct memory_budget budget;
        conf_init(&conf);
        conf_set(&conf, "spark.driver.memory", "much");
        assert_true(memory_budget_read(&conf, "spark.driver.memory", 1, &budget, &error) < 0);
        error_deinit(&error);
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(leaves_room_beside_the_rows),
                cmocka_unit_test(uses_the_lower_of_configured_and_group),
                cmocka_unit_test(overhead_stays_within_the_group),
                cmocka_unit_test(rejects_a_wrong_value),
        };
        if (temp_dir_make(NULL))
                return 1;
        setenv("FIRESTEEL_CGROUP_ROOT", temp_dir, 1);
        _cleanup_free_ char *job = mem_printf("%s/job", temp_dir);
        mkdir(job, 0700);
        put("self", "0::/job\n");
        put("job/memory.current", "1000000\n");
        int r = cmocka_run_group_tests(tests, NULL, NULL);
        temp_dir_remove(NULL);
        return r;
}
