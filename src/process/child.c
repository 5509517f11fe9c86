/*
 * See child.h. A pidfd becomes readable when the process has ended. The last words are read then: the pipe's buffer
 * holds more than their limit.
 */
#include "process/child.h"

#include "base/error.h"
#include "base/mem.h"
#include "process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct child {
        struct child_options options;
        pid_t pid;
        int pidfd, words;
        uv_poll_t watch;
};

static void child_closed(uv_handle_t *handle)
{
        struct child *c = handle->data;
        close(c->pidfd);
        close(c->words);
        free(c);
}

static void child_on_end(uv_poll_t *watch, int status, int events)
{
        struct child *c = watch->data;
        char words[CHILD_LAST_WORDS + 1];
        int wait_status = 0;
        /* Until the child is reaped, no other process gets its number. */
        siginfo_t info = {0};
        if (c->options.whole_group && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid)
                kill(-c->pid, SIGKILL);
        if (waitpid(c->pid, &wait_status, WNOHANG) == 0)
                return;
        ssize_t n = read(c->words, words, CHILD_LAST_WORDS);
        words[n > 0 ? n : 0] = '\0';
        uv_poll_stop(watch);
        c->options.ended(c->options.owner, c, wait_status, words);
        uv_close((uv_handle_t *)watch, child_closed);
}

int child_start(uv_loop_t *loop, const struct child_options *options, struct child **child, struct fst_error *error)
{
        int words[2];
        pid_t pid;
        if (pipe2(words, O_CLOEXEC) < 0)
                return error_errno(error, "cannot make a pipe for %s", options->file);
        const struct spawn spawn = {.file = options->file,
                                    .arguments = options->arguments,
                                    .environment = options->environment ? options->environment : environ,
                                    .directory = options->directory,
                                    .groups = options->groups,
                                    .output = options->output,
                                    .errors = options->errors,
                                    .words = words[1]};
        int r = spawn_process(&spawn, &pid, error);
        close(words[1]);
        if (r) {
                close(words[0]);
                return r;
        }
        fcntl(words[0], F_SETFL, O_NONBLOCK);
        struct child *c = new0(struct child);
        c->options = *options;
        c->pid = pid;
        c->words = words[0];
        c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        c->watch.data = c;
        r = c->pidfd < 0 ? -errno : uv_poll_init(loop, &c->watch, c->pidfd);
        if (r) {
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                close(c->words);
                if (c->pidfd >= 0)
                        close(c->pidfd);
                free(c);
                return error_set(error, r, "cannot watch %s: %s", options->file, strerror(-r));
        }
        uv_poll_start(&c->watch, UV_READABLE, child_on_end);
        *child = c;
        return 0;
}

void child_forget(struct child *child)
{
        uv_poll_stop(&child->watch);
        uv_close((uv_handle_t *)&child->watch, child_closed);
}

pid_t child_pid(const struct child *child)
{
        return child->pid;
}

int child_kill(struct child *child, int signal)
{
        return kill(child->pid, signal) ? -errno : 0;
}
