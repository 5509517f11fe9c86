/* Tests how the configuration determines the parts of an executor. */
#include "exec/exec_env.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

static void test_reducer_keys_limit_fetches(void **state)
{
        struct fst_conf conf;
        struct exec_env env = {0};
        conf_init(&conf);
        conf_set(&conf, "spark.reducer.maxSizeInFlight", "3");
        conf_set(&conf, "spark.reducer.maxReqsInFlight", "7");
        conf_set(&conf, "spark.reducer.maxBlocksInFlightPerAddress", "9");
        assert_int_equal(exec_env_init(&env, &conf, 64 << 20, NULL), 0);
        assert_int_equal(env.fetch_limits.bytes, 3 << 20);
        assert_int_equal(env.fetch_limits.requests, 7);
        assert_int_equal(env.fetch_limits.per_address, 9);
        exec_env_deinit(&env);
        conf_deinit(&conf);
}

/* Returns whether @n slots are bound, with the given value of spark.firesteel.numa.enabled; negative: an error. */
static int slots_are_bound(int n, const char *enabled)
{
        struct fst_conf conf;
        struct exec_env env = {0};
        conf_init(&conf);
        if (enabled)
                conf_set(&conf, "spark.firesteel.numa.enabled", enabled);
        int r = exec_env_bind_slots(&env, &conf, n, NULL);
        bool bound = env.numa != NULL;
        exec_env_deinit(&env);
        conf_deinit(&conf);
        return r ? r : bound;
}

static void put_node(const char *node, const char *cpus)
{
        _cleanup_free_ char *dir = temp_dir_path(node);
        _cleanup_free_ char *name = mem_printf("%s/cpulist", node);
        assert_int_equal(mkdir(dir, 0700), 0);
        free(temp_dir_write(name, cpus));
}

static void test_slots_are_bound_if_each_cpu_has_one(void **state)
{
        cpu_set_t mine;
        if (sched_getaffinity(0, sizeof(mine), &mine) || !CPU_ISSET(0, &mine) || !CPU_ISSET(1, &mine))
                skip();
        put_node("node0", "0\n");
        put_node("node1", "1\n");
        setenv("FIRESTEEL_NUMA_NODES", temp_dir, 1);
        assert_int_equal(slots_are_bound(1, NULL), 0);
        assert_int_equal(slots_are_bound(2, NULL), 1);
        assert_int_equal(slots_are_bound(3, NULL), 1);
        assert_int_equal(slots_are_bound(1, "true"), 1);
        assert_int_equal(slots_are_bound(2, "false"), 0);
        assert_true(slots_are_bound(2, "perhaps") < 0);
        unsetenv("FIRESTEEL_NUMA_NODES");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_reducer_keys_limit_fetches),
                cmocka_unit_test(test_slots_are_bound_if_each_cpu_has_one),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
