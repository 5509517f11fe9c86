/*
 * See container_init.h. The program gets its own process group, so a signal of the terminal reaches it once. This
 * process is the subreaper of its orphans even where it is not number 1. It waits for signals instead of handling them.
 */
#include "image/entry/container_init.h"

#include "base/clock.h"
#include "base/error.h"
#include "logs/log_shipper.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fault signals are this process's own, and stop and continue signals belong to its parent. */
static void container_init_signal_set(sigset_t *set)
{
        static const int own[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGABRT, SIGTRAP, SIGSYS, SIGTTIN, SIGTTOU};
        sigfillset(set);
        for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
                sigdelset(set, own[i]);
}

static int container_init_start(const char *file, char *const *argv, const sigset_t *mask, pid_t *pid)
{
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setsigmask(&attributes, mask);
        posix_spawnattr_setpgroup(&attributes, 0);
        int r = posix_spawnp(pid, file, NULL, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
        return -r;
}

/* Reaps all ended processes. Returns true if @pid is among them. */
static bool container_init_reap(pid_t pid, int *status)
{
        bool ended = false;
        int how;
        for (pid_t one; (one = waitpid(-1, &how, WNOHANG)) > 0;) {
                if (one != pid)
                        continue;
                ended = true;
                *status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
        }
        return ended;
}

/* Whether /proc/@pid/stat is that of a child of this process that stores output. */
static bool container_init_is_shipper(const char *pid)
{
        char path[64], text[256] = "", name[64] = "";
        int parent = 0;
        if (*pid < '0' || *pid > '9' || snprintf(path, sizeof(path), "/proc/%.16s/stat", pid) < 0)
                return false;
        FILE *file = fopen(path, "re");
        if (!file)
                return false;
        const bool read = fgets(text, sizeof(text), file) != NULL;
        fclose(file);
        return read && sscanf(text, "%*d (%63[^)]) %*c %d", name, &parent) == 2 && parent == getpid() &&
               strcmp(name, LOG_SHIPPER_NAME) == 0;
}

static bool container_init_has_shipper(void)
{
        bool found = false;
        DIR *processes = opendir("/proc");
        for (const struct dirent *e; processes && !found && (e = readdir(processes));)
                found = container_init_is_shipper(e->d_name);
        if (processes)
                closedir(processes);
        return found;
}

/*
 * The end of the first process ends all others of its container. So it waits, after the program, for the processes that
 * store the program's last output (logs/log_shipper.h). They end by themselves.
 */
static void container_init_wait_for_logs(const sigset_t *waited)
{
        const int64_t until = now_ns() + ms_to_ns(LOG_SHIPPER_END_TIMEOUT_MS + 1000);
        int unused;
        while (container_init_has_shipper()) {
                const int64_t left = until - now_ns();
                if (left <= 0)
                        return;
                const struct timespec time = timespec_of_ns(left);
                if (sigtimedwait(waited, NULL, &time) == SIGCHLD)
                        container_init_reap(0, &unused);
        }
}

int container_init_run(const char *file, char *const *argv, int *status, struct fst_error *error)
{
        sigset_t waited, before;
        pid_t pid;
        container_init_signal_set(&waited);
        sigprocmask(SIG_SETMASK, &waited, &before);
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        int r = container_init_start(file, argv, &before, &pid);
        if (r == 0 && isatty(STDIN_FILENO))
                tcsetpgrp(STDIN_FILENO, pid);
        while (r == 0) {
                int number = sigwaitinfo(&waited, NULL);
                if (number == SIGCHLD && container_init_reap(pid, status))
                        break;
                if (number > 0 && number != SIGCHLD)
                        kill(pid, number);
        }
        if (r == 0)
                container_init_wait_for_logs(&waited);
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return r ? error_set(error, r, "cannot start %s: %s", argv[0], strerror(-r)) : 0;
}

int container_init_leave(int first, int signal, int ms, struct fst_error *error)
{
        int fd = (int)syscall(SYS_pidfd_open, first, 0);
        if (kill(first, signal) < 0) {
                int r = error_errno(error, "cannot send process %d SIG%s", first, sigabbrev_np(signal));
                if (fd >= 0)
                        close(fd);
                return r;
        }
        struct pollfd end = {.fd = fd, .events = POLLIN}; /* without a pidfd, wait for the timeout */
        poll(&end, 1, ms);
        if (fd >= 0)
                close(fd);
        return 0;
}
