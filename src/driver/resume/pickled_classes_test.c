/* Numbers of classes in pickles. */
#include "driver/resume/pickled_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define UUID "0f3c9a7e12bc4d5e8f90123456789abc"
#define ZEROS "00000000000000000000000000000000"

/* Asserts what becomes of @from, whose size is that of @to. The bytes lie at the end of a block. */
static void masks(const char *from, const char *to, size_t size)
{
        char *block = malloc(size ? size : 1);
        assert_non_null(block);
        memcpy(block, from, size);
        pickled_classes_mask(block, size);
        assert_memory_equal(block, to, size);
        free(block);
}

#define MASKS(from, to) masks(from, to, sizeof(from) - 1)

static void masks_numbers_of_classes(void **state)
{
        MASKS("x\x8c\x20" UUID "\x94Nt\x94R.", "x\x8c\x20" ZEROS "\x94Nt\x94R.");
        MASKS("\x8c\x20" UUID "\x94t\x94R", "\x8c\x20" ZEROS "\x94t\x94R");
        MASKS("\x8c\x20" UUID "\x94Nt\x94R\x8c\x20" UUID "\x94Nt\x94R",
              "\x8c\x20" ZEROS "\x94Nt\x94R\x8c\x20" ZEROS "\x94Nt\x94R");
        MASKS("\x8c\x20\x8c\x20" UUID "\x94t\x94R", "\x8c\x20\x8c\x20" ZEROS "\x94t\x94R");
}

static void keeps_other_bytes(void **state)
{
        MASKS("", "");
        MASKS("\x8c\x20", "\x8c\x20");
        MASKS("\x8c\x20" UUID, "\x8c\x20" UUID); /* truncated */
        MASKS("\x8c\x20" UUID "\x94Nt\x94", "\x8c\x20" UUID "\x94Nt\x94");
        MASKS("\x8c\x20" UUID "\x94\x8c\x01x", "\x8c\x20" UUID "\x94\x8c\x01x"); /* a captured text */
        MASKS("\x8c\x20" ZEROS "\x94Nt\x94R", "\x8c\x20" ZEROS "\x94Nt\x94R");
        MASKS("\x8c\x20"
              "0f3c9a7e12bc1d5e8f90123456789abc"
              "\x94Nt\x94R", /* another version */
              "\x8c\x20"
              "0f3c9a7e12bc1d5e8f90123456789abc"
              "\x94Nt\x94R");
        MASKS("\x8c\x20"
              "0F3C9A7E12BC4D5E8F90123456789ABC"
              "\x94Nt\x94R",
              "\x8c\x20"
              "0F3C9A7E12BC4D5E8F90123456789ABC"
              "\x94Nt\x94R");
        MASKS("\x8c\x21" UUID "0\x94Nt\x94R", "\x8c\x21" UUID "0\x94Nt\x94R");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(masks_numbers_of_classes),
                cmocka_unit_test(keeps_other_bytes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
