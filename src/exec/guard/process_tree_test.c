/* Lines of /proc/PID/stat, and the memory of this process and its child. */
#include "exec/guard/process_tree.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NUMBERS " 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"

static void parses_lines_of_stat(void **state)
{
        static const struct {
                const char *label, *text;
                bool valid;
                int pid, parent;
                const char *name;
                int64_t virtual_bytes, pages;
        } cases[] = {
                {"plain", "12 (java) S 3" NUMBERS " 4096 7 99", true, 12, 3, "java", 4096, 7},
                {"parentheses in the name", "12 (a) R 9 (b)) S 3" NUMBERS " 4096 7", true, 12, 3, "a) R 9 (b)", 4096,
                 7},
                {"empty name", "12 () S 3" NUMBERS " 1 2", true, 12, 3, "", 1, 2},
                {"empty", "", false, 0, 0, NULL, 0, 0},
                {"cut off", "12 (java) S 3" NUMBERS " 4096", false, 0, 0, NULL, 0, 0},
                {"no name", "12 S 3" NUMBERS " 4096 7", false, 0, 0, NULL, 0, 0},
                {"closed before it opens", "12 )( S 3" NUMBERS " 4096 7", false, 0, 0, NULL, 0, 0},
                {"no pid", "x (java) S 3" NUMBERS " 4096 7", false, 0, 0, NULL, 0, 0},
                {"words for numbers", "12 (java) S x" NUMBERS " 4096 7", false, 0, 0, NULL, 0, 0},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct process_stat s;
                CASE_LABEL("%s", cases[i].label);
                assert_int_equal(process_stat_parse(cases[i].text, &s), cases[i].valid);
                if (!cases[i].valid)
                        continue;
                assert_int_equal(s.pid, cases[i].pid);
                assert_int_equal(s.parent, cases[i].parent);
                assert_string_equal(s.name, cases[i].name);
                assert_int_equal(s.virtual_bytes, cases[i].virtual_bytes);
                assert_int_equal(s.resident_pages, cases[i].pages);
        }
}

static void counts_a_child_unless_alone(void **state)
{
        struct process_tree alone, both;
        int pipe_fds[2];
        char byte;
        assert_int_equal(pipe(pipe_fds), 0);
        pid_t child = fork();
        if (child == 0) {
                close(pipe_fds[1]);
                _exit(read(pipe_fds[0], &byte, 1) == 1);
        }
        assert_true(process_tree_read(getpid(), true, &alone));
        assert_true(process_tree_read(getpid(), false, &both));
        close(pipe_fds[1]);
        waitpid(child, NULL, 0);
        close(pipe_fds[0]);
        assert_true(alone.other_resident > 0);
        assert_true(both.other_virtual > alone.other_virtual);
        assert_int_equal(both.jvm_resident, 0);
        assert_false(process_tree_read(-1, false, &both));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parses_lines_of_stat),
                cmocka_unit_test(counts_a_child_unless_alone),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
