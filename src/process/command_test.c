/* Tests programs that run to their end. */
#include "process/command.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "process/exit_cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

static char *shell(const char *script, char **words)
{
        words[0] = (char *)"sh";
        words[1] = (char *)"-c";
        words[2] = (char *)script;
        words[3] = NULL;
        return words[0];
}

static void captures_output(void **state)
{
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        char *words[4], *environment[] = {(char *)"WHERE=here", (char *)"PATH=/usr/bin:/bin", NULL};
        int status;
        shell("pwd; echo $WHERE >&2; cat; exit 7", words);
        struct command c = {
                .words = words, .environment = environment, .folder = "/", .captured = &said, .no_input = true};
        assert_int_equal(command_run(&c, &status), 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
        assert_string_equal(buf_text(&said), "/\nhere\n");
}

/* More output than a pipe holds. */
static void captures_more_than_a_pipe_holds(void **state)
{
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        char *words[4];
        int status;
        shell("head -c 300000 /dev/zero", words);
        assert_int_equal(command_run(&(struct command){.words = words, .captured = &said}, &status), 0);
        assert_int_equal(status, 0);
        assert_int_equal(said.len, 300000);
}

static void rejects_missing_program(void **state)
{
        char *words[] = {(char *)"no-such-program-at-all", NULL};
        int status;
        assert_int_equal(command_run(&(struct command){.words = words}, &status), -ENOENT);
}

static void program_has_no_blocked_signals(void **state)
{
        sigset_t term, before;
        char *words[4];
        int status;
        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &term, &before);
        shell("kill -TERM $$; exit 3", words);
        assert_int_equal(command_run(&(struct command){.words = words}, &status), 0);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* The program and its child both hold the pipe, which ends when both are gone. */
static void signal_kills_process_group(void **state)
{
        int ends[2];
        char byte;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        pid_t child = fork();
        if (child == 0) {
                char *words[4];
                int status;
                signal(SIGTERM, SIG_DFL);
                exit_cleanup_on_signals();
                shell("trap '' TERM HUP INT; cat <&3 & echo; cat <&3", words);
                int never[2];
                if (pipe(never) < 0 || dup2(never[0], 3) < 0)
                        _exit(1);
                command_run(&(struct command){.words = words, .output = ends[1], .own_group = true}, &status);
                _exit(2);
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_int_equal(kill(child, SIGTERM), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
        assert_int_equal(read(ends[0], &byte, 1), 0);
        close(ends[0]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(captures_output),
                cmocka_unit_test(captures_more_than_a_pipe_holds),
                cmocka_unit_test(rejects_missing_program),
                cmocka_unit_test(program_has_no_blocked_signals),
                cmocka_unit_test(signal_kills_process_group),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
