/* The cases of Spark's SparkSubmitOptionParserSuite. */
#include "submit/options/options.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* The calls that a visitor received. */
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

static void parses_every_option_in_every_spelling(void **state)
{
        struct told told;
        for (enum submit_field f = 0; f <= SUBMIT_OUTPUT; f++) {
                const struct submit_option *o = submit_option_of(f);
                assert_non_null(o->name);
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

static void accepts_value_that_looks_like_option(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "--master", "--master", "app"), 0);
        assert_string_equal(told.value, "--master");
        assert_string_equal(told.word, "app");
}

static void rejects_missing_value(void **state)
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

static void stops_at_first_other_word(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "foo", "--master", "bar"), 0);
        assert_int_equal(told.n_options, 0);
        assert_int_equal(told.n_rest, 2);
        assert_string_equal(told.word, "foo");
        /* Not an option: no value after "=", one of two lines, "=" after one dash. */
        assert_int_equal(visit(&told, NULL, "--master=", NULL, NULL), 0);
        assert_string_equal(told.word, "--master=");
        assert_int_equal(visit(&told, NULL, "--master=a\nb", NULL, NULL), 0);
        assert_string_equal(told.word, "--master=a\nb");
        assert_int_equal(visit(&told, NULL, "-v=1", NULL, NULL), 0);
        assert_string_equal(told.word, "-v=1");
}

static void ignores_value_of_switch(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "--verbose=true", "app", NULL), 0);
        assert_int_equal(told.field, SUBMIT_VERBOSE);
        assert_null(told.value);
        assert_string_equal(told.word, "app");
}

static void names_unknown_option(void **state)
{
        assert_int_equal(submit_option_name_length("--nope=1=2"), 6);
        assert_int_equal(submit_option_name_length("---=x"), 3);
        assert_int_equal(submit_option_name_length("--=x"), 4);
        assert_int_equal(submit_option_name_length("--nope="), 7);
        assert_int_equal(submit_option_name_length("-n=1"), 4);
        assert_int_equal(submit_option_name_length("a.so"), 4);
}

static void visitor_stops_parsing(void **state)
{
        struct told told;
        assert_int_equal(visit(&told, NULL, "--version", "--nonsense", NULL), 0);
        assert_null(told.word);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parses_every_option_in_every_spelling),
                cmocka_unit_test(accepts_value_that_looks_like_option),
                cmocka_unit_test(rejects_missing_value),
                cmocka_unit_test(stops_at_first_other_word),
                cmocka_unit_test(ignores_value_of_switch),
                cmocka_unit_test(names_unknown_option),
                cmocka_unit_test(visitor_stops_parsing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
