/* See piped_command.h. */
#include "process/piped_command.h"

#include "base/buf.h"
#include "base/mem.h"
#include "numa/numa_nodes.h"
#include "process/data_limit.h"
#include "process/exit_cleanup.h"
#include "process/library_path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_POLL_MS 100
#define READ_SIZE ((size_t)64 << 10)

extern char **environ;

static void piped_command_close_end(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static size_t piped_command_count(char *const *list)
{
        size_t n = 0;
        while (list && list[n])
                n++;
        return n;
}

static bool piped_command_same_name(const char *a, const char *b)
{
        size_t n = strcspn(a, "=");
        return strncmp(a, b, n) == 0 && b[n] == '=';
}

/*
 * This process's environment with the variables of @more replaced or added, and with @library_path ("NAME=value" or
 * NULL). Borrows the strings.
 */
static char **piped_command_environment(char *const *more, char *library_path)
{
        size_t n_more = piped_command_count(more), n = 0;
        char **all = new_array(char *, piped_command_count(environ) + n_more + 1);
        for (char **e = environ; *e; e++) {
                bool replaced = false;
                for (size_t i = 0; i < n_more; i++)
                        replaced |= piped_command_same_name(more[i], *e);
                if (!replaced)
                        all[n++] = library_path && piped_command_same_name(library_path, *e) ? library_path : *e;
        }
        for (size_t i = 0; i < n_more; i++)
                all[n++] = more[i];
        return all;
}

static int piped_command_spawn(pid_t *pid, char *const *words, char *const *environment, int in, int out)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults, every, before;
        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before); /* signals are blocked until the group is registered */
        numa_unbind_thread();
        int r = -posix_spawnp(pid, words[0], &actions, &attributes, words, environment);
        numa_rebind_thread();
        if (r == 0) {
                data_limit_reset_pid(*pid);
                exit_cleanup_add_group(*pid);
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return r;
}

int piped_command_start(struct piped_command *p, char *const *words, char *const *more)
{
        int in[2], out[2];
        *p = (struct piped_command){.in = -1, .out = -1};
        if (pipe2(in, O_CLOEXEC) < 0)
                return -errno;
        if (pipe2(out, O_CLOEXEC) < 0) {
                int r = -errno;
                close(in[0]);
                close(in[1]);
                return r;
        }
        _cleanup_free_ char *libraries = library_path_of_programs();
        _cleanup_free_ char *variable = libraries ? mem_printf("LD_LIBRARY_PATH=%s", libraries) : NULL;
        char **environment = piped_command_environment(more, variable);
        int r = piped_command_spawn(&p->pid, words, environment, in[0], out[1]);
        free(environment);
        close(in[0]);
        close(out[1]);
        p->in = in[1];
        p->out = out[0];
        p->started = r == 0;
        if (r) {
                piped_command_close_end(&p->in);
                piped_command_close_end(&p->out);
                return r;
        }
        fcntl(p->in, F_SETFL, O_NONBLOCK);
        fcntl(p->out, F_SETFL, O_NONBLOCK);
        return 0;
}

/* Reads available output until @output has @most bytes. Closes the descriptor at the end. */
static int piped_command_read(struct piped_command *p, struct buf *output, size_t most)
{
        while (output->len < most) {
                buf_reserve(output, READ_SIZE);
                ssize_t n = read(p->out, output->data + output->len, READ_SIZE);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EAGAIN ? 0 : -errno;
                output->len += (size_t)n;
                output->data[output->len] = '\0';
                if (n == 0)
                        piped_command_close_end(&p->out);
                if ((size_t)n < READ_SIZE)
                        return 0;
        }
        return PIPED_COMMAND_E_OUTPUT;
}

static int piped_command_is_stopped(const int *stop)
{
        return stop && __atomic_load_n(stop, __ATOMIC_RELAXED) ? -ECANCELED : 0;
}

/* Waits until the program accepts input (if @feeding) or has output. */
static int piped_command_wait_ready(const struct piped_command *p, bool feeding, const int *stop)
{
        struct pollfd fds[2] = {{.fd = p->out, .events = POLLIN}, {.fd = feeding ? p->in : -1, .events = POLLOUT}};
        int n = poll(fds, 2, STOP_POLL_MS);
        if (n < 0 && errno != EINTR)
                return -errno;
        return piped_command_is_stopped(stop);
}

ssize_t piped_command_write(int fd, const char *data, size_t len)
{
        sigset_t pipe_signal, before, pending;
        sigemptyset(&pipe_signal);
        sigaddset(&pipe_signal, SIGPIPE);
        sigpending(&pending);
        pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
        ssize_t n = write(fd, data, len);
        int r = n < 0 ? -errno : 0;
        if (r == -EPIPE && !sigismember(&pending, SIGPIPE))
                sigtimedwait(&pipe_signal, NULL, &(struct timespec){0});
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return r ? r : n;
}

int piped_command_feed(struct piped_command *p, const char **data, size_t *len, struct buf *output, const int *stop)
{
        size_t most = output->len + PIPED_COMMAND_OUTPUT_SIZE;
        int r = piped_command_is_stopped(stop);
        while (r == 0 && *len > 0 && p->in >= 0) {
                ssize_t n = piped_command_write(p->in, *data, *len);
                if (n > 0) {
                        *data += n;
                        *len -= (size_t)n;
                } else if (n == -EPIPE) {
                        piped_command_close_end(&p->in); /* it reads no more */
                } else if (n < 0 && n != -EAGAIN && n != -EINTR) {
                        return (int)n;
                } else {
                        r = piped_command_wait_ready(p, true, stop);
                        if (r == 0 && p->out >= 0)
                                r = piped_command_read(p, output, most);
                }
        }
        return r == 0 && p->out >= 0 ? piped_command_read(p, output, most) : r;
}

/* Its output has ended, so it will end too. The group is unregistered before its number can be reused. */
static int piped_command_wait_for(struct piped_command *p, const int *stop, int *wait_status)
{
        siginfo_t info;
        for (int r = 0;;) {
                info.si_pid = 0;
                if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 && errno != EINTR)
                        return -errno;
                if (info.si_pid)
                        break;
                r = piped_command_is_stopped(stop);
                if (r)
                        return r;
                poll(NULL, 0, 1);
        }
        exit_cleanup_forget_group(p->pid);
        p->started = false;
        while (waitpid(p->pid, wait_status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

int piped_command_end(struct piped_command *p, struct buf *output, const int *stop, int *wait_status)
{
        size_t most = output->len + PIPED_COMMAND_OUTPUT_SIZE;
        int r = 0;
        piped_command_close_end(&p->in);
        while (r == 0 && p->out >= 0) {
                r = piped_command_wait_ready(p, false, stop);
                if (r == 0)
                        r = piped_command_read(p, output, most);
        }
        return r ? r : piped_command_wait_for(p, stop, wait_status);
}

void piped_command_kill(struct piped_command *p)
{
        int wait_status;
        piped_command_close_end(&p->in);
        piped_command_close_end(&p->out);
        if (!p->started)
                return;
        kill(-p->pid, SIGKILL);
        piped_command_wait_for(p, NULL, &wait_status);
}
