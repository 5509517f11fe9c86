/* Restates Spark's SparkSubmitOptionParserSuite. */
#include "submit/options/options.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* What a visitor was told. */
struct told {
        int n_options, n_rest;
        enum submit_field field;
        const char *value, *word;
};

static int tell_option(void *context, enum submit_field field, const char *value, struct fst_error *error)
{
        struct told *told = context;
        told->n_options++;
        told->field = field;
        told->value = value;
        return field == SUBMIT_VERSION ? 1 : 0;
}

static int tell_application(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error)
{
        struct told *told = context;
        told->word = word;
        told->n_rest = n_rest;
        return 0;
}

static const struct submit_visitor visitor = {tell_option, tell_application};

static int visit(struct told *told, struct fst_error *error, const char *a, const char *b, const char *c)
{
        const char *words[] = {a, b, c};
        int n = 0;
        while (n < 3 && words[n])
                n++;
        *told = (struct told){0};
        return submit_options_read(n, (char *const *)words, &visitor, told, error);
}

static void every_option_is_read_in_every_spelling(void **state)
{
        struct told told;
        for (enum submit_field f = 0; f <= SUBMIT_OUTPUT; f++) {
                const struct submit_option *o = submit_option_of(f);
                assert_non_null(o->name);
                assert_ptr_equal(submit_option_find(o->name), o);
                assert_int_equal(visit(&told, NULL, o->name, o->is_switch ? NULL : "value", NULL), 0);
                assert_int_equal(told.field, f);
                assert_int_equal(told.n_options, 1);
                assert_null(told.word);
                if (!o->is_switch) {
                        assert_string_equal(told.value, "value");
                        _cleanup_free_ char *joined = mem_printf("%s=a=b", o->name);
                        assert_int_equal(visit(&told, NULL, joined, NULL, NULL), 0);
                        assert_int_equal(told.field, f);
                        assert_string_equal(told.value, "a=b");
                }
                if (o->alias) {
                        assert_int_equal(visit(&told, NULL, o->alias, o->is_switch ? NULL : "value", NULL), 0);
                        assert_int_equal(told.field, f);
                }
        }
}

static void a_value_may_look_like_an_option(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "--master", "--master", "app"), 0);
        assert_string_equal(told.value, "--master");
        assert_string_equal(told.word, "app");
}

static void a_missing_value_is_named(void **state)
{
        for (enum submit_field f = 0; f <= SUBMIT_OUTPUT; f++) {
                const struct submit_option *o = submit_option_of(f);
                struct fst_error error = FST_ERROR_INIT;
                struct told told;
                if (o->is_switch)
                        continue;
                assert_int_equal(visit(&told, &error, o->name, NULL, NULL), -EINVAL);
                _cleanup_free_ char *wanted = mem_printf("Missing argument for option '%s'.", o->name);
                assert_string_equal(error.message, wanted);
                error_deinit(&error);
        }
}

static void the_first_other_word_ends_the_options(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "foo", "--master", "bar"), 0);
        assert_int_equal(told.n_options, 0);
        assert_int_equal(told.n_rest, 2);
        assert_string_equal(told.word, "foo");
        /* None is an option: no value behind "=", one of two lines, "=" behind one dash. */
        assert_int_equal(visit(&told, NULL, "--master=", NULL, NULL), 0);
        assert_string_equal(told.word, "--master=");
        assert_int_equal(visit(&told, NULL, "--master=a\nb", NULL, NULL), 0);
        assert_string_equal(told.word, "--master=a\nb");
        assert_int_equal(visit(&told, NULL, "-v=1", NULL, NULL), 0);
        assert_string_equal(told.word, "-v=1");
}

static void a_switch_has_no_value(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "--verbose=true", "app", NULL), 0);
        assert_int_equal(told.field, SUBMIT_VERBOSE);
        assert_null(told.value);
        assert_string_equal(told.word, "app");
}

static void an_unknown_option_has_a_name(void **state)
{
        assert_int_equal(submit_option_name_length("--nope=1=2"), 6);
        assert_int_equal(submit_option_name_length("---=x"), 3);
        assert_int_equal(submit_option_name_length("--=x"), 4);
        assert_int_equal(submit_option_name_length("--nope="), 7);
        assert_int_equal(submit_option_name_length("-n=1"), 4);
        assert_int_equal(submit_option_name_length("a.so"), 4);
}

static void a_visitor_ends_the_reading(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "--version", "--nonsense", NULL), 0);
        assert_null(told.word);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_option_is_read_in_every_spelling),
                cmocka_unit_test(a_value_may_look_like_an_option),
                cmocka_unit_test(a_missing_value_is_named),
                cmocka_unit_test(the_first_other_word_ends_the_options),
                cmocka_unit_test(a_switch_has_no_value),
                cmocka_unit_test(an_unknown_option_has_a_name),
                cmocka_unit_test(a_visitor_ends_the_reading),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
