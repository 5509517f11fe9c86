/* Labels of table rows: a child process fails on purpose, and its output is read. */
#include "unit/cases.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char output[8192];

static void fails_in_second_row(void **state)
{
        for (int i = 0; i < 3; i++) {
                CASE_LABEL("row %d", i);
                assert_true(i < 1);
        }
}

static void fails_after_table(void **state)
{
        for (int i = 0; i < 3; i++) {
                CASE_LABEL("row %d, which passed", i);
        }
        assert_true(output[0]);
}

static int failing_child_main(int fd)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(fails_in_second_row), cmocka_unit_test(fails_after_table)};
        if (dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
                return 99;
        cmocka_set_test_filter(NULL); /* a filter chooses among the cases of the parent */
        return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Fills output and returns the status of the child, which has run before cmocka in this process. */
static int output_read(void)
{
        int status = -1;
        FILE *file = tmpfile();
        if (!file)
                return -1;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
                int failed = failing_child_main(fileno(file));
                fflush(NULL);
                _exit(failed);
        }
        if (child > 0)
                waitpid(child, &status, 0);
        rewind(file);
        output[fread(output, 1, sizeof(output) - 1, file)] = '\0';
        fclose(file);
        return status;
}

static int child_status;

static void failure_names_its_row(void **state)
{
        assert_true(WIFEXITED(child_status));
        assert_int_equal(WEXITSTATUS(child_status), 2);
        assert_non_null(strstr(output, "in case row 1\n"));
        assert_null(strstr(output, "row 0"));
}

static void label_ends_with_its_block(void **state)
{
        assert_non_null(strstr(output, "fails_after_table"));
        assert_null(strstr(output, "which passed"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(failure_names_its_row),
                cmocka_unit_test(label_ends_with_its_block),
        };
        child_status = output_read();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
