/*
 * See child.h. A pidfd becomes readable when the process has ended. Its last words are read then: the pipe holds more
 * than they may be.
 */
#include "ev/child.h"

#include "base/error.h"
#include "base/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
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

static void closed(uv_handle_t *handle)
{
        struct child *c = handle->data;
        close(c->pidfd);
        close(c->words);
        free(c);
}

static void ended(uv_poll_t *watch, int status, int events)
{
        struct child *c = watch->data;
        char words[CHILD_LAST_WORDS + 1];
        int wait_status = 0;
        /* As long as nobody has waited for it, no other process has its number. */
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
        uv_close((uv_handle_t *)watch, closed);
}

/* Descriptors above 3 are closed by O_CLOEXEC of whoever opened them, and by this for those who did not. */
static int spawn(const struct child_options *o, int words, pid_t *pid)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (o->output)
                posix_spawn_file_actions_adddup2(&actions, o->output, STDOUT_FILENO);
        if (o->errors)
                posix_spawn_file_actions_adddup2(&actions, o->errors, STDERR_FILENO);
        posix_spawn_file_actions_adddup2(&actions, words, CHILD_WORDS_FD);
        posix_spawn_file_actions_addclosefrom_np(&actions, CHILD_WORDS_FD + 1);
        if (o->directory)
                posix_spawn_file_actions_addchdir_np(&actions, o->directory);
        posix_spawnattr_init(&attributes);
        sigemptyset(&none);
        sigfillset(&defaults);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        int r = posix_spawn(pid, o->file, &actions, &attributes, o->arguments,
                            o->environment ? o->environment : environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        return -r;
}

int child_start(uv_loop_t *loop, const struct child_options *options, struct child **child, struct fst_error *error)
{
        int words[2];
        pid_t pid;
        if (pipe2(words, O_CLOEXEC) < 0)
                return error_errno(error, "cannot make a pipe for %s", options->file);
        /* adddup2 of a descriptor to itself would leave it close-on-exec. */
        int end = fcntl(words[1], F_DUPFD_CLOEXEC, CHILD_WORDS_FD + 1);
        int r = end < 0 ? -errno : spawn(options, end, &pid);
        close(words[1]);
        if (end >= 0)
                close(end);
        if (r) {
                close(words[0]);
                return error_set(error, r, "cannot start %s: %s", options->file, strerror(-r));
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
        uv_poll_start(&c->watch, UV_READABLE, ended);
        *child = c;
        return 0;
}

void child_forget(struct child *child)
{
        uv_poll_stop(&child->watch);
        uv_close((uv_handle_t *)&child->watch, closed);
}

pid_t child_pid(const struct child *child)
{
        return child->pid;
}

int child_kill(struct child *child, int signal)
{
        return kill(child->pid, signal) ? -errno : 0;
}
