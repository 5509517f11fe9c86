/* Tests how the configuration determines the parts of an executor. */
#include "exec/exec_env.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
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

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_reducer_keys_limit_fetches)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
