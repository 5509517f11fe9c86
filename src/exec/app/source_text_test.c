/* Tests that only the file that was compiled is found, as it was then. */
#include "exec/app/source_text.h"

#include "base/mem.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char *source_write(const char *name, const char *text, size_t n)
{
        char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, n, file), n);
        assert_int_equal(fclose(file), 0);
        return path;
}

static void keeps_the_text_of_the_first_readable_file(void **state)
{
        static char large[(1 << 20) + 1];
        memset(large, 'x', sizeof(large));
        _cleanup_free_ char *binary = source_write("binary.c", "a\0b", 3),
                            *big = source_write("big.c", large, sizeof(large));
        source_text_keep("/nothing/none.c");
        source_text_keep(binary);
        source_text_keep(big);
        assert_null(source_text_find("none.c"));
        assert_null(source_text_find("binary.c"));
        assert_null(source_text_find("big.c"));

        _cleanup_free_ char *path = source_write("words.c", "int a;\n", 7);
        source_text_keep(path);
        free(source_write("words.c", "int b;\n", 7));
        source_text_keep(path);
        assert_string_equal(source_text_find("words.c"), "int a;\n");
        assert_string_equal(source_text_find("./words.c"), "int a;\n");
        assert_null(source_text_find("words.h"));
        assert_null(source_text_find(""));
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_text_of_the_first_readable_file)};
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
