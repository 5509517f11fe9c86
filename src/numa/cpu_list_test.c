/* Tests the kernel's text for a set of cpus. */
#include "numa/cpu_list.h"

#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void reads_numbers_and_ranges(void **state)
{
        cpu_set_t cpus;
        assert_int_equal(cpu_list_parse("0-1,4\n", &cpus), 0);
        assert_int_equal(CPU_COUNT(&cpus), 3);
        assert_true(CPU_ISSET(0, &cpus) && CPU_ISSET(1, &cpus) && CPU_ISSET(4, &cpus));
        assert_int_equal(cpu_list_parse("1023", &cpus), 0);
        assert_int_equal(CPU_COUNT(&cpus), 1);
        assert_true(CPU_ISSET(1023, &cpus));
}

static void reads_the_set_without_cpus(void **state)
{
        cpu_set_t cpus;
        assert_int_equal(cpu_list_parse("", &cpus), 0);
        assert_int_equal(CPU_COUNT(&cpus), 0);
        assert_int_equal(cpu_list_parse("\n", &cpus), 0);
        assert_int_equal(CPU_COUNT(&cpus), 0);
}

static void rejects_other_texts_and_keeps_the_set(void **state)
{
        static const char *const texts[] = {"a",    "-",    "1-",  "-1",   "3-2",    "1,",
                                            ",1",   "1,,2", "1 2", "1024", "0-1024", "99999999999999999999",
                                            "1\n2", "1-2-3"};
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(7, &cpus);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                assert_int_equal(cpu_list_parse(texts[i], &cpus), -EINVAL);
                assert_int_equal(CPU_COUNT(&cpus), 1);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_numbers_and_ranges),
                cmocka_unit_test(reads_the_set_without_cpus),
                cmocka_unit_test(rejects_other_texts_and_keeps_the_set),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
