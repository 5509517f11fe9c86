#include "process/exit_cleanup.h"

#include "base/error.h"
#include "base/mem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char *room(void)
{
        char *folder = NULL;
        const char *tmp = getenv("TMPDIR");
        _cleanup_free_ char *prefix = mem_printf("%s/scratch-test", tmp && *tmp ? tmp : "/tmp");
        assert_int_equal(exit_cleanup_make_directory(prefix, &folder, NULL), 0);
        return folder;
}

static void put_file(const char *folder, const char *name)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
}

/* Fills a directory with files, nested directories, and a link to a file that must stay. */
static void fill(const char *folder, const char *kept)
{
        char name[64];
        _cleanup_free_ char *at = mem_strdup(folder);
        for (int depth = 0; depth < 5; depth++) {
                for (int i = 0; i < 100; i++) {
                        snprintf(name, sizeof(name), "a-file-with-a-name-%d", i);
                        put_file(at, name);
                }
                char *below = mem_printf("%s/below", at);
                assert_int_equal(mkdir(below, 0700), 0);
                free(at);
                at = below;
        }
        _cleanup_free_ char *link = mem_printf("%s/link", at);
        assert_int_equal(symlink(kept, link), 0);
}

static bool exists(const char *path)
{
        return access(path, F_OK) == 0;
}

static void signal_removes_paths_and_sets_status(void **state)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        _cleanup_free_ char *kept = room();
        put_file(kept, "stays");
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                _cleanup_free_ char *one = room(), *file = mem_printf("%s.part", one);
                fill(one, kept);
                put_file("/", file + 1);
                pid_t child = fork();
                if (child == 0) {
                        exit_cleanup_forget(kept);
                        exit_cleanup_add(one);
                        exit_cleanup_add(file);
                        signal(signals[i], SIG_DFL); /* tests may run with the signal ignored (nohup) */
                        exit_cleanup_on_signals();
                        raise(signals[i]);
                        _exit(0);
                }
                int status;
                assert_int_equal(waitpid(child, &status, 0), child);
                assert_true(WIFEXITED(status));
                assert_int_equal(WEXITSTATUS(status), 128 + signals[i]);
                assert_false(exists(one));
                assert_false(exists(file));
                exit_cleanup_forget(one);
        }
        _cleanup_free_ char *inside = mem_printf("%s/stays", kept);
        assert_true(exists(inside));
        exit_cleanup_remove(kept);
        assert_false(exists(kept));
}

static void forked_child_removes_nothing(void **state)
{
        _cleanup_free_ char *one = room();
        signal(SIGTERM, SIG_DFL);
        exit_cleanup_on_signals();
        pid_t child = fork();
        if (child == 0) {
                raise(SIGTERM);
                _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
        assert_true(exists(one));
        exit_cleanup_remove(one);
        signal(SIGTERM, SIG_DFL);
}

static void ignored_signals_stay_ignored(void **state)
{
        signal(SIGHUP, SIG_IGN);
        exit_cleanup_on_signals();
        raise(SIGHUP);
        signal(SIGHUP, SIG_DFL);
}

static void registers_dozens_of_paths(void **state)
{
        char name[64];
        for (int i = 0; i < 100; i++) {
                snprintf(name, sizeof(name), "/nowhere/%d", i);
                exit_cleanup_add(name);
        }
        for (int i = 0; i < 100; i++) {
                snprintf(name, sizeof(name), "/nowhere/%d", i);
                exit_cleanup_forget(name);
        }
        pid_t child = fork(); /* the path's memory is left to the end of the process, as in a handler */
        if (child == 0) {
                const char *one = room();
                exit_cleanup_run();
                _exit(exists(one));
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(signal_removes_paths_and_sets_status),
                cmocka_unit_test(forked_child_removes_nothing),
                cmocka_unit_test(ignored_signals_stay_ignored),
                cmocka_unit_test(registers_dozens_of_paths),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
