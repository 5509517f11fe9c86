/* Tests children: their initial state, the report of their end, and failures to start. */
#include "process/child.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct child_test_run {
        uv_loop_t loop;
        char folder[TEMP_DIR_SIZE], *out;
        char *groups[3];
        int status;
        bool ended;
        char words[CHILD_LAST_WORDS + 1];
};

static int set_up(void **state)
{
        struct child_test_run *run = new0(struct child_test_run);
        temp_dir_new(run->folder);
        if (uv_loop_init(&run->loop))
                return -1;
        run->out = mem_printf("%s/out", run->folder);
        *state = run;
        return 0;
}

static int tear_down(void **state)
{
        struct child_test_run *run = *state;
        int r = uv_loop_close(&run->loop);
        remove_tree(run->folder);
        for (size_t i = 0; i < ARRAY_SIZE(run->groups); i++)
                free(run->groups[i]);
        free(run->out);
        free(run);
        return r;
}

static void ended(void *owner, struct child *child, int wait_status, const char *last_words)
{
        struct child_test_run *run = owner;
        (void)child;
        run->ended = true;
        run->status = wait_status;
        snprintf(run->words, sizeof(run->words), "%s", last_words);
}

static int start(struct child_test_run *run, const char *script, const char *directory, struct fst_error *error)
{
        char *arguments[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
        struct child *child;
        int out = open(run->out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        assert_true(out > 0);
        struct child_options options = {.file = "/bin/sh",
                                        .arguments = arguments,
                                        .directory = directory,
                                        .groups = run->groups[0] ? run->groups : NULL,
                                        .output = out,
                                        .errors = out,
                                        .ended = ended,
                                        .owner = run};
        int r = child_start(&run->loop, &options, &child, error);
        close(out);
        return r;
}

static void run_to_end(struct child_test_run *run, const char *script)
{
        struct fst_error error = FST_ERROR_INIT;
        if (start(run, script, run->folder, &error))
                fail_msg("%s", error_message(&error));
        uv_run(&run->loop, UV_RUN_DEFAULT);
        assert_true(run->ended);
}

static void expect_text(const char *path, const char *wanted)
{
        char found[4096] = "";
        FILE *f = fopen(path, "re");
        if (!f)
                fail_msg("%s is not there", path);
        found[fread(found, 1, sizeof(found) - 1, f)] = '\0';
        fclose(f);
        assert_string_equal(found, wanted);
}

/* A file in place of a group's cgroup.procs. */
static char *make_group(struct child_test_run *run, const char *name)
{
        char *path = mem_printf("%s/%s", run->folder, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
        return path;
}

static void reports_status_and_last_words(void **state)
{
        struct child_test_run *run = *state;
        run_to_end(run, "pwd; echo oops >&2; printf 'last words' >&3; exit 7");
        _cleanup_free_ char *said = mem_printf("%s\noops\n", run->folder);
        expect_text(run->out, said);
        assert_string_equal(run->words, "last words");
        assert_true(WIFEXITED(run->status));
        assert_int_equal(WEXITSTATUS(run->status), 7);
        run_to_end(run, "kill -TERM $$");
        assert_true(WIFSIGNALED(run->status));
        assert_int_equal(WTERMSIG(run->status), SIGTERM);
}

/* The state that posix_spawn of a program with cancelled threads leaves to its children. */
static void ignore_one_of_the_c_library(bool ignore)
{
        const unsigned long action[4] = {ignore};
        assert_int_equal(syscall(SYS_rt_sigaction, 32, action, NULL, 8), 0);
}

/* A child inherits nothing but its options: no descriptors, no blocked or ignored signals, its own process group. */
static void starts_with_clean_state(void **state)
{
        struct child_test_run *run = *state;
        sigset_t blocked, before;
        int open_here = open("/dev/null", O_RDONLY); /* NOLINT(android-cloexec-open): that is the point */
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &blocked, &before);
        signal(SIGUSR2, SIG_IGN);
        ignore_one_of_the_c_library(true);
        /* The shell reads the status itself, because it blocks all signals while it starts a program. */
        run_to_end(
                run,
                "ls /proc/self/fd; "
                "while read -r line; do case $line in SigBlk*|SigIgn*) echo \"$line\"; esac; done < /proc/$$/status; "
                "cat; "
                "read -r _ _ _ _ group _ < /proc/$$/stat; [ $group = $$ ] && echo leader");
        signal(SIGUSR2, SIG_DFL);
        ignore_one_of_the_c_library(false);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        close(open_here);
        /* Descriptor 4 is the directory that ls reads. */
        expect_text(run->out, "0\n1\n2\n3\n4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nleader\n");
}

static void joins_groups_first(void **state)
{
        struct child_test_run *run = *state;
        run->groups[0] = make_group(run, "memory.procs");
        run->groups[1] = make_group(run, "cpu.procs");
        run_to_end(run, "cat memory.procs cpu.procs");
        assert_int_equal(run->status, 0);
        expect_text(run->out, "00");
}

static void rejects_unusable_group(void **state)
{
        struct child_test_run *run = *state;
        struct fst_error error = FST_ERROR_INIT;
        run->groups[0] = make_group(run, "memory.procs");
        run->groups[1] = mem_printf("%s/gone/cgroup.procs", run->folder);
        assert_int_equal(start(run, "echo it ran", NULL, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), run->groups[1]));
        assert_non_null(strstr(error_message(&error), "No such file or directory"));
        run->groups[1] = (free(run->groups[1]), mem_strdup("/dev/full"));
        assert_int_equal(start(run, "echo it ran", NULL, &error), -ENOSPC);
        assert_non_null(strstr(error_message(&error), "/dev/full"));
        expect_text(run->out, "");
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
        error_deinit(&error);
}

static void rejects_missing_program_or_directory(void **state)
{
        struct child_test_run *run = *state;
        struct fst_error error = FST_ERROR_INIT;
        struct child *child;
        assert_int_equal(start(run, "true", "/nowhere", &error), -ENOENT);
        assert_string_equal(error_message(&error), "cannot start /bin/sh in /nowhere: No such file or directory");
        struct child_options options = {
                .file = "/nowhere/program", .arguments = (char *[]){(char *)"program", NULL}, .ended = ended};
        assert_int_equal(child_start(&run->loop, &options, &child, &error), -ENOENT);
        assert_string_equal(error_message(&error), "cannot start /nowhere/program: No such file or directory");
        assert_false(run->ended);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(reports_status_and_last_words, set_up, tear_down),
                cmocka_unit_test_setup_teardown(starts_with_clean_state, set_up, tear_down),
                cmocka_unit_test_setup_teardown(joins_groups_first, set_up, tear_down),
                cmocka_unit_test_setup_teardown(rejects_unusable_group, set_up, tear_down),
                cmocka_unit_test_setup_teardown(rejects_missing_program_or_directory, set_up, tear_down),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
