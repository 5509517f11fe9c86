/* The gateway's answers to commands, as a scripted program. */
#include "base/mem.h"
#include "py4j/collections.h"
#include "py4j/command.h"
#include "py4j/gateway.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static void counter_fail(struct py4j_call *call)
{
        py4j_throw(call, "java.lang.IllegalStateException", "broken\n%s", py4j_text_argument(call, 0));
}

static void counter_twice(struct py4j_call *call)
{
        call->result = py4j_long(call->args[0].number * 2 + *(int *)call->context);
}

static void counter_limit(struct py4j_call *call)
{
        call->result = py4j_int(7);
}

static const struct py4j_member counter_members[] = {
        {"fail", "s", counter_fail, PY4J_STATIC_METHOD},
        {"twice", "i", counter_twice, PY4J_STATIC_METHOD},
        {"LIMIT", "", counter_limit, PY4J_STATIC_FIELD},
};
static const struct py4j_class counter_class = {.name = "org.example.Counter", PY4J_MEMBERS(counter_members)};
static const struct py4j_class inner_class = {.name = "org.example.Counter$Inner"};

static int base = 100;

static int setup(void **state)
{
        static const struct py4j_class *const classes[] = {&counter_class, &inner_class};
        static const struct py4j_refusal refusals[] = {{"org.example.sql.", "no SQL here"}};
        *state = py4j_gateway_new(&(struct py4j_gateway_options){.classes = classes,
                                                                 .n_classes = ARRAY_SIZE(classes),
                                                                 .refusals = refusals,
                                                                 .n_refusals = ARRAY_SIZE(refusals),
                                                                 .context = &base});
        return 0;
}

static int teardown(void **state)
{
        py4j_gateway_free(*state);
        return 0;
}

/* Sends one command, and checks its answer. */
static void ask(struct py4j_gateway *gateway, const char *command, const char *expected)
{
        struct buf answer = BUF_INIT;
        struct py4j_command parsed;
        char *copy = mem_strdup(command);
        assert_int_equal(py4j_command_parse(copy, strlen(command), &parsed, NULL), 0);
        py4j_gateway_execute(gateway, &parsed, &answer);
        assert_string_equal(buf_text(&answer), expected);
        py4j_command_deinit(&parsed);
        buf_deinit(&answer);
        free(copy);
}

/* A list in a list, 100,000 deep, is freed without as deep a recursion, and one that contains itself prints. */
static void collections_nest_without_limit(void **state)
{
        struct py4j_object *outer = py4j_list_new(), *loop = py4j_list_new();
        struct buf text = BUF_INIT;
        for (int i = 0; i < 100000; i++) {
                struct py4j_object *list = py4j_list_new();
                py4j_add(list, py4j_object_value(outer));
                outer = list;
        }
        py4j_object_unref(outer);
        for (int i = 0; i < 30; i++)
                py4j_add(loop, py4j_object_value(py4j_object_ref(loop)));
        py4j_object_print(loop, &text);
        assert_in_range(text.len, 1000, 4 << 20);
        py4j_map_clear(loop); /* its references to itself */
        py4j_object_unref(loop);
        buf_deinit(&text);
        ask(*state, "i\njava.util.ArrayList\ne\n", "!ylo0\n");
}

static void copies_of_collections_are_their_own(void **state)
{
        struct py4j_object *map = py4j_map_new();
        py4j_map_put_text(map, "a", "b");
        struct py4j_object *copy = py4j_collection_copy(map);
        py4j_map_clear(map);
        assert_int_equal(py4j_length(map), 0);
        assert_int_equal(py4j_length(copy), 1);
        assert_string_equal(py4j_map_key(copy, 0)->text, "a");
        struct py4j_value value = py4j_element_copy(copy, 0), none = py4j_element_copy(map, 0);
        assert_string_equal(value.text, "b");
        assert_int_equal(none.type, PY4J_VOID);
        py4j_value_deinit(&value);
        py4j_object_unref(map);
        py4j_object_unref(copy);
}

static void resolves_packages_classes_and_members(void **state)
{
        ask(*state, "r\nu\norg\nrj\ne\n", "!yp\n");
        ask(*state, "r\nu\norg.example\nrj\ne\n", "!yp\n");
        ask(*state, "r\nu\norg.example.Counter\nrj\ne\n", "!ycorg.example.Counter\n");
        ask(*state, "r\nu\nCounter\nrj\ne\n", "!ycorg.example.Counter\n");
        ask(*state, "r\nu\nUnknown\nrj\ne\n", "!yp\n");
        ask(*state, "r\nm\norg.example.Counter\ntwice\ne\n", "!ym\n");
        ask(*state, "r\nm\norg.example.Counter\nLIMIT\ne\n", "!yi7\n");
        ask(*state, "r\nm\norg.example.Counter\nInner\ne\n", "!ycorg.example.Counter$Inner\n");
        ask(*state, "r\nm\norg.example.Counter\nthrice\ne\n", "!x\n");
}

static void calls_and_throws(void **state)
{
        ask(*state, "c\nz:org.example.Counter\ntwice\ni21\ne\n", "!yL142\n");
        ask(*state, "c\nz:org.example.Counter\nfail\nsat once\ne\n", "!xro0\n");
        ask(*state, "p\nro0\ne\n", "!ysjava.lang.IllegalStateException: broken\\nat once\n");
        ask(*state, "c\no0\ngetMessage\ne\n", "!ysbroken\\nat once\n");
        ask(*state, "c\no0\ngetClass\ne\n", "!yro1\n");
        ask(*state, "c\no1\ngetName\ne\n", "!ysjava.lang.IllegalStateException\n");
        ask(*state, "c\nz:org.example.Counter\ntwice\nsx\ne\n",
            "!xspy4j.Py4JException: Method twice([class java.lang.String]) does not exist. Firesteel's class "
            "org.example.Counter has no such method\n");
        ask(*state, "c\no99\nsize\ne\n",
            "!xspy4j.Py4JException: Target Object ID does not exist for this gateway :o99\n");
}

static void refuses_packages_at_their_first_use(void **state)
{
        ask(*state, "r\nu\norg.example.sql\nrj\ne\n", "!yp\n");
        ask(*state, "r\nu\norg.example.sql.Session\nrj\ne\n", "!ycorg.example.sql.Session\n");
        ask(*state, "r\nm\norg.example.sql.Session\nbuilder\ne\n", "!ym\n");
        ask(*state, "i\norg.example.sql.Session\ne\n", "!xro0\n");
        ask(*state, "p\nro0\ne\n",
            "!ysjava.lang.UnsupportedOperationException: no SQL here: org.example.sql.Session\n");
        ask(*state, "j\ni\nrj\norg.example.sql.*\ne\n", "!yv\n");
        ask(*state, "r\nu\nSession\nrj\ne\n", "!ycorg.example.sql.Session\n");
}

static void list_holds_values_and_slices(void **state)
{
        ask(*state, "i\njava.util.ArrayList\ne\n", "!ylo0\n");
        ask(*state, "c\no0\nadd\nsone\ne\n", "!ybtrue\n");
        ask(*state, "c\no0\nadd\ni2\ne\n", "!ybtrue\n");
        ask(*state, "c\no0\nsize\ne\n", "!yi2\n");
        ask(*state, "c\no0\nget\ni1\ne\n", "!yi2\n");
        ask(*state, "c\no0\nget\ni2\ne\n", "!xro1\n");
        ask(*state, "p\nro1\ne\n", "!ysjava.lang.IndexOutOfBoundsException: Index 2 out of bounds for length 2\n");
        ask(*state, "l\nl\no0\ni0\ni1\ne\n", "!ylo2\n");
        ask(*state, "c\no2\ntoString\ne\n", "!ys[one, 2]\n");
        ask(*state, "c\no2\nadd\nro0\ne\n", "!ybtrue\n");
        ask(*state, "c\no0\nadd\nro2\ne\n", "!xro3\n"); /* it would contain itself */
}

static void map_set_and_iterator(void **state)
{
        ask(*state, "i\njava.util.HashMap\ne\n", "!yao0\n");
        ask(*state, "c\no0\nput\nsk\nsv\ne\n", "!yn\n");
        ask(*state, "c\no0\nput\nsk\nsw\ne\n", "!ysv\n");
        ask(*state, "c\no0\nkeySet\ne\n", "!yho1\n");
        ask(*state, "c\no1\niterator\ne\n", "!ygo2\n");
        ask(*state, "c\no2\nhasNext\ne\n", "!ybtrue\n");
        ask(*state, "c\no2\nnext\ne\n", "!ysk\n");
        ask(*state, "c\no2\nnext\ne\n", "!xro3\n");
        ask(*state, "c\no0\ntoString\ne\n", "!ys{k=w}\n");
}

static void array_is_created_and_set(void **state)
{
        ask(*state, "a\nc\norg.example.Counter\ni2\ne\n", "!yto0\n");
        ask(*state, "a\ne\no0\ne\n", "!yi2\n");
        ask(*state, "a\ns\no0\ni1\nsx\ne\n", "!yv\n");
        ask(*state, "a\ng\no0\ni1\ne\n", "!ysx\n");
        ask(*state, "a\ng\no0\ni2\ne\n", "!xro1\n");
        ask(*state, "a\nc\nX\ni-1\ne\n", "!xspy4j.Py4JException: an array has one length, of at most 65536\n");
}

static void ids_hold_one_reference_each(void **state)
{
        ask(*state, "i\njava.util.ArrayList\ne\n", "!ylo0\n");
        ask(*state, "i\njava.util.ArrayList\ne\n", "!ylo1\n");
        ask(*state, "c\no1\nadd\nro0\ne\n", "!ybtrue\n");
        assert_int_equal(py4j_gateway_objects(*state), 2);
        ask(*state, "m\nd\no0\ne\n", "!yv\n");
        ask(*state, "m\nd\no0\ne\n", "!yv\n");
        assert_int_equal(py4j_gateway_objects(*state), 1);
        ask(*state, "c\no1\nget\ni0\ne\n", "!ylo2\n"); /* the list still has it */
        ask(*state, "c\no2\nsize\ne\n", "!yi0\n");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(resolves_packages_classes_and_members, setup, teardown),
                cmocka_unit_test_setup_teardown(collections_nest_without_limit, setup, teardown),
                cmocka_unit_test_setup_teardown(copies_of_collections_are_their_own, setup, teardown),
                cmocka_unit_test_setup_teardown(calls_and_throws, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_packages_at_their_first_use, setup, teardown),
                cmocka_unit_test_setup_teardown(list_holds_values_and_slices, setup, teardown),
                cmocka_unit_test_setup_teardown(map_set_and_iterator, setup, teardown),
                cmocka_unit_test_setup_teardown(array_is_created_and_set, setup, teardown),
                cmocka_unit_test_setup_teardown(ids_hold_one_reference_each, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
