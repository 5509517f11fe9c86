/* Tests that each block has one spelling of its name. */
#include "store/block_name.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void names_survive_parsing(void **state)
{
        static const char *const names[] = {"rdd_0_0",
                                            "rdd_2147483647_2147483647",
                                            "broadcast_1_piece0",
                                            "broadcast_9223372036854775807_piece2147483647",
                                            "taskresult_81",
                                            "parallel_4_10"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct block_name name;
                char text[BLOCK_NAME_SIZE];
                assert_true(block_name_parse(names[i], &name));
                assert_string_equal(block_name_format(name, text), names[i]);
        }
}

static void rejects_other_spellings(void **state)
{
        static const char *const names[] = {
                "",
                "rdd",
                "rdd_",
                "rdd_1",
                "rdd_1_",
                "rdd_1_2x",
                "rdd_-1_2",
                "rdd_01_2",
                "rdd_+1_2",
                "rdd_2147483648_0",
                "rdd_0_2147483648",
                "rdd_ 1_2",
                "RDD_1_2",
                "broadcast_1",
                "broadcast_1_piece",
                "broadcast_9223372036854775808_piece0",
                "taskresult_",
                "taskresult_1_1",
                "../rdd_1_2",
                "parallel_1",
        };
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct block_name name = {.id = 77};
                assert_false(block_name_parse(names[i], &name));
                assert_int_equal(name.id, 77);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(names_survive_parsing),
                                           cmocka_unit_test(rejects_other_spellings)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
