/* Tests the descriptions of structs: what FST_FIELDS makes, their numbers, and invalid ones. */
#include "base/error.h"
#include "base/mem.h"
#include "structs/struct_type.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct runner {
        fst_bytes name;
        int64_t age;
        int unlisted;
        double weight;
        bool member;
        int32_t shoes;
};
FST_FIELDS(runner, name, age, weight, member, shoes);

static void macro_describes_fields_in_its_order(void **state)
{
        fst_type type = FST_STRUCT(runner);
        const struct struct_type *s = struct_type_of_column(type.key, type.key_size);
        assert_int_equal(type.key, FST_KIND_BYTES);
        assert_int_equal(type.value, FST_KIND_NONE);
        assert_non_null(s);
        assert_string_equal(s->text, "runner(name BYTES, age I64, weight F64, member BOOL, shoes I32)");
        assert_int_equal(s->size, sizeof(struct runner));
        assert_int_equal(s->fields[2].offset, offsetof(struct runner, weight));
        assert_int_equal(s->n_fields, 5);
        assert_int_equal(s->last_text, 5);
        assert_int_equal(s->least, 2 + 8 + 8 + 1 + 4);
        assert_null(struct_type_of(STRUCT_TYPE_INVALID));
        assert_null(struct_type_of_column(FST_KIND_BYTES, 0));
        assert_null(struct_type_of_column(FST_KIND_FIXED, type.key_size));
}

/* Object files contain the number: it must not change. */
static void number_depends_on_names_and_kinds_only(void **state)
{
        static const fst_field two[] = {{"id", 0, FST_FIELD_I64}, {"text", 8, FST_FIELD_BYTES}};
        static const fst_field other[] = {{"id", 0, FST_FIELD_F64}, {"text", 8, FST_FIELD_BYTES}};
        fst_type a = fst_struct_type(&(fst_struct){"golden", 24, 2, two});
        fst_type b = fst_struct_type(&(fst_struct){"golden", 24, 2, other});
        assert_int_equal(a.key_size, fst_struct_type(&(fst_struct){"golden", 24, 2, two}).key_size);
        assert_int_equal(a.key_size, 0x782be2b8);
        assert_int_not_equal(a.key_size, b.key_size);
        assert_string_equal(struct_type_of(b.key_size)->text, "golden(id F64, text BYTES)");
}

static void finds_a_description_by_its_text(void **state)
{
        const struct struct_type *namesake = NULL;
        uint32_t number = FST_STRUCT(runner).key_size;
        const struct struct_type *s = struct_type_of(number);
        assert_ptr_equal(struct_type_find_text(s->text, &namesake), s);
        assert_null(namesake);
        assert_null(struct_type_find_text("runner(name BYTES)", &namesake));
        assert_ptr_equal(namesake, s);
        assert_null(struct_type_find_text("run(name BYTES)", &namesake));
        assert_null(namesake);
        assert_null(struct_type_find_text("", NULL));
}

static void rejects_a_second_layout_of_the_same_fields(void **state)
{
        static const fst_field first[] = {{"a", 0, FST_FIELD_I64}, {"b", 8, FST_FIELD_I64}};
        static const fst_field second[] = {{"a", 8, FST_FIELD_I64}, {"b", 0, FST_FIELD_I64}};
        struct fst_error error = FST_ERROR_INIT;
        uint32_t number = 7;
        assert_int_equal(struct_type_add(&(fst_struct){"twice", 16, 2, first}, &number, &error), 0);
        uint32_t added = number;
        assert_int_equal(struct_type_add(&(fst_struct){"twice", 16, 2, second}, &number, &error), -EEXIST);
        assert_non_null(strstr(error_message(&error), "twice(a I64, b I64)"));
        assert_int_equal(number, added);
        error_deinit(&error);
}

static void rejects_invalid_descriptions(void **state)
{
        static const fst_field good = {"a", 0, FST_FIELD_I64}, bad_kind = {"a", 0, 9},
                               outside = {"a", 8, FST_FIELD_I64}, crooked = {"a", 4, FST_FIELD_I64},
                               nameless = {NULL, 0, FST_FIELD_I64}, empty = {"", 0, FST_FIELD_I64};
        static const fst_field same[] = {{"a", 0, FST_FIELD_I64}, {"a", 8, FST_FIELD_I64}};
        const struct {
                fst_struct description;
                const char *says;
        } cases[] = {
                {{"t", 8, 1, &bad_kind}, "unknown kind 9"},
                {{"t", 8, 1, &outside}, "is at 8"},
                {{"t", 16, 1, &crooked}, "is at 4, which is not a multiple of 8"},
                {{"t", 8, 1, &nameless}, "no valid name for a field"},
                {{"t", 8, 1, &empty}, "no valid name for a field"},
                {{NULL, 8, 1, &good}, "no valid name for itself"},
                {{"t", 8, 0, &good}, "has 0 fields"},
                {{"t", 8, 33, &good}, "has 33 fields"},
                {{"t", 8, 1, NULL}, "has 0 fields"},
                {{"t", FST_STRUCT_MAX + 8, 1, &good}, "4104 bytes"},
                {{"t", 16, 2, same}, "two fields a"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fst_error error = FST_ERROR_INIT;
                uint32_t number = 7;
                assert_int_equal(struct_type_add(&cases[i].description, &number, &error), -EINVAL);
                assert_int_equal(number, 7);
                if (!strstr(error_message(&error), cases[i].says))
                        fail_msg("\"%s\" lacks \"%s\"", error_message(&error), cases[i].says);
                error_deinit(&error);
        }
        assert_int_equal(fst_struct_type(NULL).key_size, STRUCT_TYPE_INVALID);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(macro_describes_fields_in_its_order),
                cmocka_unit_test(number_depends_on_names_and_kinds_only),
                cmocka_unit_test(finds_a_description_by_its_text),
                cmocka_unit_test(rejects_a_second_layout_of_the_same_fields),
                cmocka_unit_test(rejects_invalid_descriptions),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
