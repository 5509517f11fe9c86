/* Keys of Spark 2.1 and 2.2. */
#include "kubernetes/conf/deprecated_keys.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void maps_old_keys_to_new_ones(void **state)
{
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        strmap_set(&conf, "spark.kubernetes.driver.docker.image", "old-driver");
        strmap_set(&conf, "spark.kubernetes.executor.docker.image", "old-executor");
        strmap_set(&conf, "spark.kubernetes.executor.container.image", "new-executor");
        strmap_set(&conf, "spark.kubernetes.initcontainer.docker.image", "old-init");
        strmap_set(&conf, "spark.kubernetes.executor.memoryOverhead", "500");
        strmap_set(&conf, "spark.kubernetes.driver.labels", "a=b, c=d=e,f");
        strmap_set(&conf, "spark.kubernetes.driver.label.a", "mine");
        strmap_set(&conf, "spark.yarn.queue", "q");
        older_spellings_replace(&conf);
        static const char *const expected[][2] = {
                {"spark.kubernetes.driver.container.image", "old-driver"},
                {"spark.kubernetes.executor.container.image", "new-executor"},
                {"spark.kubernetes.initContainer.image", "old-init"},
                {"spark.executor.memoryOverhead", "500"},
                {"spark.kubernetes.driver.label.a", "mine"},
                {"spark.kubernetes.driver.label.c", "d=e"},
                {"spark.yarn.queue", "q"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
                assert_string_equal(strmap_get(&conf, expected[i][0]), expected[i][1]);
        assert_int_equal(conf.count, ARRAY_SIZE(expected));
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(maps_old_keys_to_new_ones)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
