/* The list: order of elements after each way of inserting and removing. */
#include "base/list.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

struct item {
        struct item *prev, *next;
        char name;
};

struct items {
        struct item *first, *last;
};

/* Compares the names from head to tail and from tail to head. */
static void assert_items(const struct items *list, const char *names)
{
        char forward[8] = "", backward[8] = "";
        size_t n = 0;
        for (const struct item *x = list->first; x; x = x->next)
                forward[n++] = x->name;
        for (const struct item *x = list->last; x; x = x->prev)
                backward[--n] = x->name;
        assert_string_equal(forward, names);
        assert_string_equal(backward, names);
}

static void keeps_order_of_insertion(void **state)
{
        struct item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'}, d = {.name = 'd'};
        struct items list = {0};
        assert_items(&list, "");
        list_append(&list, &b);
        assert_items(&list, "b");
        list_append(&list, &d);
        list_prepend(&list, &a);
        assert_items(&list, "abd");
        list_insert_after(&list, &b, &c);
        assert_items(&list, "abcd");
}

static void removes_from_any_place(void **state)
{
        static const struct {
                const char *label, *left;
                int victim;
        } rows[] = {{"head", "bc", 0}, {"middle", "ac", 1}, {"tail", "ab", 2}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct item items[] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}};
                struct item *victim = &items[rows[i].victim];
                struct items list = {0};
                print_message("%s\n", rows[i].label);
                for (size_t k = 0; k < ARRAY_SIZE(items); k++)
                        list_append(&list, &items[k]);
                list_remove(&list, victim);
                assert_items(&list, rows[i].left);
                assert_null(victim->prev);
                assert_null(victim->next);
                list_append(&list, victim);
                assert_ptr_equal(list.last, victim);
        }
}

static void pops_until_empty(void **state)
{
        struct item a = {.name = 'a'}, b = {.name = 'b'};
        LIST(struct item) list = {0};
        assert_null(list_pop(&list));
        list_append(&list, &a);
        list_append(&list, &b);
        assert_ptr_equal(list_pop(&list), &a);
        assert_ptr_equal(list_pop(&list), &b);
        assert_null(list_pop(&list));
        assert_null(list.last);
        list_append(&list, &a);
        assert_ptr_equal(list.first, &a);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_order_of_insertion),
                cmocka_unit_test(removes_from_any_place),
                cmocka_unit_test(pops_until_empty),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
