/* Tests the reader of pickles with what Python's pickle.dumps writes, and with damaged and foreign pickles. */
#include "io/pickle.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define BYTES(text) ((fst_bytes){text, sizeof(text) - 1})

/* Prints a value in Python's form and returns what follows it. */
static const struct pickle_value *print_value(FILE *out, const struct pickle_value *v)
{
        const struct pickle_value *next = v + 1, *end = v + v->size;
        switch (v->kind) {
        case PICKLE_NONE:
                fputs("None", out);
                break;
        case PICKLE_BOOL:
                fputs(v->number ? "True" : "False", out);
                break;
        case PICKLE_INT:
                fprintf(out, "%lld", (long long)v->number);
                break;
        case PICKLE_BIG:
        case PICKLE_FLOAT:
                fprintf(out, "%g", v->real);
                break;
        case PICKLE_TEXT:
        case PICKLE_BYTES:
                fprintf(out, "%s'%.*s'", v->kind == PICKLE_BYTES ? "b" : "", (int)v->bytes.len, v->bytes.data);
                break;
        default:
                fputc(v->kind == PICKLE_LIST ? '[' : '(', out);
                for (int64_t i = 0; i < v->number; i++) {
                        if (i)
                                fputs(", ", out);
                        next = print_value(out, next);
                }
                fputc(v->kind == PICKLE_LIST ? ']' : ')', out);
        }
        assert_ptr_equal(next, end);
        return next;
}

static void expect_pickle(fst_bytes pickle, const char *wanted)
{
        pickle_values values = {0};
        struct fst_error error = FST_ERROR_INIT;
        char *text = NULL;
        size_t size;
        if (pickle_read(pickle, &values, &error))
                fail_msg("%s", error_message(&error));
        FILE *out = open_memstream(&text, &size);
        print_value(out, values.data);
        fclose(out);
        assert_string_equal(text, wanted);
        assert_int_equal(values.data[0].size, values.len);
        free(text);
        vec_deinit(&values);
}

static void expect_refused(fst_bytes pickle, int status, const char *text)
{
        pickle_values values = {0};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(pickle_read(pickle, &values, &error), status);
        if (!strstr(error_message(&error), text))
                fail_msg("\"%s\" is not in: %s", text, error_message(&error));
        error_deinit(&error);
        vec_deinit(&values);
}

/* [1, -1, 300, 70000, 2**40, -2**63, 2**70, 1.5, True, None, "é", the same "é", [1, (2, "x")], ()] */
#define NUMBERS                                                                                                        \
        "K\1J\xff\xff\xff\xffM\x2c\1J\x70\x11\1\0\x8a\6\0\0\0\0\0\1\x8a\x8\0\0\0\0\0\0\0\x80\x8a\x9\0\0\0\0\0\0\0\0"    \
        "\x40G\x3f\xf8\0\0\0\0\0\0\x88N"
#define WANTED                                                                                                         \
        "[1, -1, 300, 70000, 1099511627776, -9223372036854775808, 1.18059e+21, 1.5, True, None, '\xc3\xa9', "          \
        "'\xc3\xa9', [1, (2, 'x')], ()]"

static void reads_protocols_2_to_5(void **state)
{
#define OLD NUMBERS "X\2\0\0\0\xc3\xa9q\1h\1]q\2(K\1K\2X\1\0\0\0xq\3\x86q\4e)e."
#define NEW NUMBERS "\x8c\2\xc3\xa9\x94h\1]\x94(K\1K\2\x8c\1x\x94\x86\x94" "e)e."
        expect_pickle(BYTES("\x80\2]q\0(" OLD), WANTED);
        expect_pickle(BYTES("\x80\3]q\0(" OLD), WANTED);
        expect_pickle(BYTES("\x80\4\x95\x52\0\0\0\0\0\0\0]\x94(" NEW), WANTED);
        expect_pickle(BYTES("\x80\5\x95\x52\0\0\0\0\0\0\0]\x94(" NEW), WANTED);
}

static void reads_single_values(void **state)
{
        expect_pickle(BYTES("\x80\5K\5."), "5");
        expect_pickle(BYTES("\x80\5]\x94K\5a."), "[5]");
        expect_pickle(BYTES("\x80\5]\x94(K\5K\6eK\7a."), "[5, 6, 7]");
        expect_pickle(BYTES("\x80\5]\x94(]\x94(K\1e]\x94K\2a]\x94" "e."), "[[1], [2], []]");
        expect_pickle(BYTES("\x80\3C\2ab."), "b'ab'");
        expect_pickle(BYTES("\x80\5\x8a\1\x85."), "-123");
        expect_pickle(BYTES("\x80\5\x8a\0."), "0");
        expect_pickle(BYTES("\x80\5\x8a\x9\xff\xff\xff\xff\xff\xff\xff\xff\xfe."), "-1.84467e+19");
        expect_pickle(BYTES("\x80\5K\1\x85\x94h\0\x86."), "((1), (1))");
}

static void refuses_other_objects(void **state)
{
        expect_refused(BYTES("\x80\5}\x94."), -ENOTSUP, "a pickle holds a dict");
        expect_refused(BYTES("\x80\5\x8f."), -ENOTSUP, "a pickle holds a set");
        expect_refused(BYTES("\x80\2cnumpy\nfloat64\n."), -ENOTSUP, "an object of module numpy");
        expect_refused(BYTES("\x80\4\x8c\5numpy\x8c\7" "float64\x93."), -ENOTSUP, "an object of class float64");
        expect_refused(BYTES("\x80\6K\1."), -ENOTSUP, "a pickle of protocol 6");
        expect_refused(BYTES("\x80\5]\x94(]\x94" "h\1e."), -ENOTSUP, "refers to one list twice");
}

static void rejects_damaged_pickles(void **state)
{
        const fst_bytes whole = BYTES("\x80\4\x95\x52\0\0\0\0\0\0\0]\x94(" NEW);
        for (size_t len = 0; len < whole.len; len++) {
                pickle_values values = {0};
                assert_int_equal(pickle_read((fst_bytes){whole.data, len}, &values, NULL), -EBADMSG);
                vec_deinit(&values);
        }
        expect_refused(BYTES("I1\n."), -EBADMSG, "does not begin with its protocol");
        expect_refused(BYTES("\x80\5K\1K\2."), -EBADMSG, "does not end with one object");
        expect_refused(BYTES("\x80\5(K\1."), -EBADMSG, "does not end with one object");
        expect_refused(BYTES("\x80\5."), -EBADMSG, "does not end with one object");
        expect_refused(BYTES("\x80\5K\1K\2" "a."), -EBADMSG, "a value that is not a list");
        expect_refused(BYTES("\x80\5" "a."), -EBADMSG, "no list to append to");
        expect_refused(BYTES("\x80\5K\1" "e."), -EBADMSG, "a mark is missing");
        expect_refused(BYTES("\x80\5(K\1" "e."), -EBADMSG, "no list to append to");
        expect_refused(BYTES("\x80\5](K\1\x86."), -EBADMSG, "a tuple has too few elements");
        expect_refused(BYTES("\x80\5](K\1(a."), -EBADMSG, "below a mark");
        expect_refused(BYTES("\x80\5\x94."), -EBADMSG, "nothing to remember");
        expect_refused(BYTES("\x80\5h\7."), -EBADMSG, "a reference leads nowhere");
        expect_refused(BYTES("\x80\5\xff."), -EBADMSG, "at byte 2: the operation 0xff is unknown");
        expect_refused(BYTES("\x80\5X\xff\xff\xff\xff."), -EBADMSG, "is truncated");
}

/* Tuples of the tuple before, twice each: little data for many values; and tuples of one tuple, deeply nested. */
static void limits_values_and_depth(void **state)
{
        char doubled[200] = "\x80\5)\x94", nested[200000] = "\x80\5)";
        size_t at = 4;
        for (int i = 0; i < 40; i++) {
                memcpy(doubled + at, "h\0\x86\x94", 4);
                doubled[at + 1] = (char)i;
                at += 4;
        }
        doubled[at++] = '.';
        expect_refused((fst_bytes){doubled, at}, -E2BIG, "more than");
        memset(nested + 3, 0x85, sizeof(nested) - 4);
        nested[sizeof(nested) - 1] = '.';
        expect_refused((fst_bytes){nested, sizeof(nested)}, -E2BIG, "nested too deeply");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_protocols_2_to_5),
                cmocka_unit_test(reads_single_values),
                cmocka_unit_test(refuses_other_objects),
                cmocka_unit_test(rejects_damaged_pickles),
                cmocka_unit_test(limits_values_and_depth),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
