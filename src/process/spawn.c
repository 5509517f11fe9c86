/*
 * See spawn.h. Between vfork and exec the child has this process's memory, and the thread that started it waits: so it
 * calls nothing but system calls, and no signal may reach a handler of this process in it. What went wrong there comes
 * through a pipe that exec closes; where vfork is fork (under ThreadSanitizer) that is as good.
 */
#include "process/spawn.h"

#include "base/error.h"
#include "process/data_limit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum descriptor { WORDS_FD = 3, FAULT_FD, FIRST_OTHER_FD };

enum step { STEP_FILES, STEP_DIRECTORY, STEP_GROUP, STEP_PROGRAM };

struct fault {
        int step, group, code;
};

/* The C library refuses two signals of its own, which its posix_spawn leaves ignored: so past it. */
static int reset_signals(void)
{
        const unsigned long by_default[4] = {0}; /* a struct sigaction as the kernel has it, SIG_DFL and nothing else */
        sigset_t none;
        sigemptyset(&none);
        for (int i = 1; i < NSIG; i++)
                (void)syscall(SYS_rt_sigaction, i, by_default, NULL, _NSIG / 8); /* refused for SIGKILL and SIGSTOP */
        return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int place(int from, int to)
{
        return from == to ? fcntl(to, F_SETFD, 0) : dup2(from, to);
}

/* The pipe stays open until exec, as long as nothing went wrong. */
static int put_files(const struct spawn *s, int faults)
{
        int nothing = open("/dev/null", O_RDONLY);
        if (nothing < 0 || place(nothing, STDIN_FILENO) < 0 || (s->output && place(s->output, STDOUT_FILENO) < 0) ||
            (s->errors && place(s->errors, STDERR_FILENO) < 0) || place(s->words, WORDS_FD) < 0 ||
            dup3(faults, FAULT_FD, O_CLOEXEC) < 0)
                return -1;
        closefrom(FIRST_OTHER_FD);
        return 0;
}

/* "0" is whoever writes it. */
static int join(const char *procs)
{
        int fd = open(procs, O_WRONLY | O_CLOEXEC);
        int r = fd < 0 || write(fd, "0", 1) < 0 ? -1 : 0;
        int code = errno;
        if (fd >= 0)
                close(fd);
        errno = code;
        return r;
}

__attribute__((noreturn)) static void become(const struct spawn *s, int faults)
{
        struct fault fault = {.step = STEP_FILES};
        int fd = faults;
        if (reset_signals() == 0 && setpgid(0, 0) == 0 && put_files(s, faults) == 0) {
                fd = FAULT_FD;
                fault.step = STEP_GROUP;
                while (s->groups && s->groups[fault.group] && join(s->groups[fault.group]) == 0)
                        fault.group++;
                if (!s->groups || !s->groups[fault.group]) {
                        fault.step = STEP_DIRECTORY;
                        if (!s->directory || chdir(s->directory) == 0) {
                                data_limit_reset_child();
                                fault.step = STEP_PROGRAM;
                                execve(s->file, s->arguments, s->environment);
                        }
                }
        }
        fault.code = errno;
        (void)!write(fd, &fault, sizeof(fault));
        _exit(127);
}

static int fail(const struct spawn *s, const struct fault *f, struct fst_error *error)
{
        const char *why = strerror(f->code);
        if (f->step == STEP_GROUP)
                return error_set(error, -f->code, "cannot start %s in its control group: writing 0 to %s: %s", s->file,
                                 s->groups[f->group], why);
        if (f->step == STEP_DIRECTORY)
                return error_set(error, -f->code, "cannot start %s in %s: %s", s->file, s->directory, why);
        return error_set(error, -f->code, "cannot start %s: %s", s->file, why);
}

/* Apart, so that no variable of the caller's lives across vfork. */
__attribute__((noinline)) static pid_t start(const struct spawn *s, int faults)
{
        pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): see the top of this file */
        if (pid == 0)
                become(s, faults); /* NOLINT(clang-analyzer-unix.Vfork) */
        return pid;
}

int spawn_process(const struct spawn *spawn, pid_t *pid, struct fst_error *error)
{
        int faults[2];
        sigset_t all, before;
        struct fault fault;
        if (pipe2(faults, O_CLOEXEC) < 0)
                return error_errno(error, "cannot make a pipe for %s", spawn->file);
        struct spawn s = *spawn;
        /* What the child puts in its place must not be overwritten before. */
        int end = fcntl(faults[1], F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
        s.words = fcntl(spawn->words, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
        close(faults[1]);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pid_t child = end < 0 || s.words < 0 ? -1 : start(&s, end);
        int code = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (end >= 0)
                close(end);
        if (s.words >= 0)
                close(s.words);
        ssize_t n;
        while (child > 0 && (n = read(faults[0], &fault, sizeof(fault))) < 0 && errno == EINTR)
                ;
        close(faults[0]);
        if (child < 0)
                return error_set(error, -code, "cannot start %s: %s", spawn->file, strerror(code));
        if (n == sizeof(fault)) {
                waitpid(child, NULL, 0);
                return fail(spawn, &fault, error);
        }
        *pid = child;
        return 0;
}
