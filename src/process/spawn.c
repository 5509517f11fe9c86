/*
 * See spawn.h. Between vfork and exec the child shares this process's memory, and the starting thread waits. So the
 * child makes system calls only, and no signal may run a handler of this process in it. Errors come through a pipe that
 * exec closes. That also works where vfork is fork (under ThreadSanitizer).
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

enum spawn_step { STEP_FILES, STEP_DIRECTORY, STEP_GROUP, STEP_PROGRAM };

struct spawn_fault {
        int step, group, code;
};

/* Makes the system call, because the C library refuses its own two signals, which its posix_spawn leaves ignored. */
static int spawn_reset_signals(void)
{
        const unsigned long by_default[4] = {0}; /* the kernel's struct sigaction with SIG_DFL */
        sigset_t none;
        sigemptyset(&none);
        for (int i = 1; i < NSIG; i++)
                (void)syscall(SYS_rt_sigaction, i, by_default, NULL, _NSIG / 8); /* fails for SIGKILL and SIGSTOP */
        return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int spawn_move_descriptor(int from, int to)
{
        return from == to ? fcntl(to, F_SETFD, 0) : dup2(from, to);
}

/* The pipe stays open until exec, for errors. */
static int spawn_set_descriptors(const struct spawn *s, int faults)
{
        int nothing = open("/dev/null", O_RDONLY);
        if (nothing < 0 || spawn_move_descriptor(nothing, STDIN_FILENO) < 0 ||
            (s->output && spawn_move_descriptor(s->output, STDOUT_FILENO) < 0) ||
            (s->errors && spawn_move_descriptor(s->errors, STDERR_FILENO) < 0) ||
            spawn_move_descriptor(s->words, WORDS_FD) < 0 || dup3(faults, FAULT_FD, O_CLOEXEC) < 0)
                return -1;
        closefrom(FIRST_OTHER_FD);
        return 0;
}

/* "0" stands for the writing process. */
static int spawn_join_group(const char *procs)
{
        int fd = open(procs, O_WRONLY | O_CLOEXEC);
        int r = fd < 0 || write(fd, "0", 1) < 0 ? -1 : 0;
        int code = errno;
        if (fd >= 0)
                close(fd);
        errno = code;
        return r;
}

__attribute__((noreturn)) static void spawn_exec(const struct spawn *s, int faults)
{
        struct spawn_fault fault = {.step = STEP_FILES};
        int fd = faults;
        if (spawn_reset_signals() == 0 && setpgid(0, 0) == 0 && spawn_set_descriptors(s, faults) == 0) {
                fd = FAULT_FD;
                fault.step = STEP_GROUP;
                while (s->groups && s->groups[fault.group] && spawn_join_group(s->groups[fault.group]) == 0)
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

static int spawn_fail(const struct spawn *s, const struct spawn_fault *f, struct fst_error *error)
{
        const char *why = strerror(f->code);
        if (f->step == STEP_GROUP)
                return error_set(error, -f->code, "cannot start %s in its control group: writing 0 to %s: %s", s->file,
                                 s->groups[f->group], why);
        if (f->step == STEP_DIRECTORY)
                return error_set(error, -f->code, "cannot start %s in %s: %s", s->file, s->directory, why);
        return error_set(error, -f->code, "cannot start %s: %s", s->file, why);
}

/* A function of its own, so that no variable of the caller lives across vfork. */
__attribute__((noinline)) static pid_t spawn_vfork(const struct spawn *s, int faults)
{
        pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): see the top of this file */
        if (pid == 0)
                spawn_exec(s, faults); /* NOLINT(clang-analyzer-unix.Vfork) */
        return pid;
}

int spawn_process(const struct spawn *spawn, pid_t *pid, struct fst_error *error)
{
        int faults[2];
        sigset_t all, before;
        struct spawn_fault fault;
        if (pipe2(faults, O_CLOEXEC) < 0)
                return error_errno(error, "cannot make a pipe for %s", spawn->file);
        struct spawn s = *spawn;
        /* Moves both past the descriptors that the child assigns. */
        int end = fcntl(faults[1], F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
        s.words = fcntl(spawn->words, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
        close(faults[1]);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pid_t child = end < 0 || s.words < 0 ? -1 : spawn_vfork(&s, end);
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
                return spawn_fail(spawn, &fault, error);
        }
        *pid = child;
        return 0;
}
