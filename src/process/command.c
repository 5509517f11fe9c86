/* See command.h. */
#include "process/command.h"

#include "base/buf.h"
#include "process/exit_cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int command_read_all(int fd, struct buf *out)
{
        for (;;) {
                buf_reserve(out, 4096);
                ssize_t n = read(fd, out->data + out->len, 4096);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : 0;
                out->len += (size_t)n;
                out->data[out->len] = '\0';
        }
}

static void command_describe(const struct command *c, int output, posix_spawn_file_actions_t *actions,
                             posix_spawnattr_t *attributes)
{
        sigset_t none;
        short flags = POSIX_SPAWN_SETSIGMASK;
        sigemptyset(&none);
        posix_spawnattr_init(attributes);
        posix_spawnattr_setsigmask(attributes, &none);
        if (c->own_group) {
                posix_spawnattr_setpgroup(attributes, 0);
                flags |= POSIX_SPAWN_SETPGROUP;
        }
        posix_spawnattr_setflags(attributes, flags);
        posix_spawn_file_actions_init(actions);
        if (c->folder)
                posix_spawn_file_actions_addchdir_np(actions, c->folder);
        if (c->no_input)
                posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (output) {
                posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
                posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
        }
}

/* Signals are blocked until the group is registered. */
static int command_start(const struct command *c, int output, pid_t *child)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t every, before;
        command_describe(c, output, &actions, &attributes);
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before);
        int r = -posix_spawnp(child, c->words[0], &actions, &attributes, c->words,
                              c->environment ? c->environment : environ);
        if (r == 0 && c->own_group)
                exit_cleanup_add_group(*child);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return r;
}

/* The group is unregistered before its number can be reused. */
static int command_wait_for(const struct command *c, pid_t child, int *wait_status)
{
        siginfo_t info;
        while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0)
                if (errno != EINTR)
                        break;
        if (c->own_group)
                exit_cleanup_forget_group(child);
        while (waitpid(child, wait_status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

int command_run(const struct command *c, int *wait_status)
{
        int ends[2] = {-1, -1};
        pid_t child;
        if (c->captured && pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        int r = command_start(c, c->captured ? ends[1] : c->output, &child);
        if (c->captured)
                close(ends[1]);
        if (r == 0) {
                int heard = c->captured ? command_read_all(ends[0], c->captured) : 0;
                r = command_wait_for(c, child, wait_status);
                r = r < 0 ? r : heard;
        }
        if (c->captured)
                close(ends[0]);
        return r;
}
