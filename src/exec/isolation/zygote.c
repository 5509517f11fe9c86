/*
 * See zygote.h.
 *
 * Its only state is the list of its task processes. It sleeps in poll on its socket and a signalfd for SIGCHLD. Each
 * task process leads a process group, so that processes started by user code end with it: the group is killed before
 * its leader is reaped, while the number cannot belong to another process.
 *
 * Signals that a terminal or a cluster manager sends to a whole group (SIGINT, SIGTERM, SIGHUP) are ignored here and in
 * task processes: the executor decides what ends, and they end with it.
 *
 * A child of fork in a single-threaded program may call any function. It keeps a copy-on-write copy of the parent's
 * memory and leaves by _exit, so that the parent's atexit handlers do not run.
 */
#include "exec/isolation/zygote.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/guard/crash.h"
#include "exec/isolation/task_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum zygote_request_kind { REQUEST_FORK = 1, REQUEST_KILL };

struct zygote_request {
        int32_t kind;
        int32_t pid; /* REQUEST_KILL */
};

/* ---------------------------------------------------------------------------------------------- in the zygote */

struct zygote_child {
        pid_t pid;
        int status; /* socket */
};

struct zygote_process {
        int socket, signals;
        const struct task_process_class *class;
        struct zygote_child *children;
        size_t n, cap;
};

static void close_from(int first)
{
        if (syscall(SYS_close_range, first, ~0u, 0) == 0)
                return;
        DIR *d = opendir("/proc/self/fd");
        for (struct dirent *e; d && (e = readdir(d));) {
                int fd = atoi(e->d_name);
                if (fd >= first && fd != dirfd(d))
                        close(fd);
        }
        if (d)
                closedir(d);
}

/* Closes all descriptors except the standard ones and @fd, which becomes descriptor 3. */
static int keep_descriptor(int fd)
{
        if (fd != 3)
                dup3(fd, 3, O_CLOEXEC);
        close_from(4);
        return 3;
}

static void ignore_group_signals(void)
{
        static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTTOU, SIGTTIN, SIGTSTP};
        for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
                signal(ignored[i], SIG_IGN);
}

static void zygote_report_end(int status, struct zygote_report r)
{
        while (send(status, &r, sizeof(r), MSG_NOSIGNAL) < 0 && errno == EINTR)
                ;
}

/* Runs in the new task process. */
static void run_task_process(struct zygote_process *z, int work, pid_t zygote)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != zygote)
                _exit(0);
        setpgid(0, 0);
        prctl(PR_SET_NAME, "firesteel-worker");
        int socket = keep_descriptor(work);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGCHLD, SIG_DFL);
        free(z->children);
        _exit(task_process_main(socket, z->class));
}

static void fork_child(struct zygote_process *z, int work, int status)
{
        pid_t self = getpid(), pid = fork();
        if (pid == 0)
                run_task_process(z, work, self);
        if (pid < 0) {
                zygote_report_end(status, (struct zygote_report){.kind = ZYGOTE_FAILED, .status = -errno});
                close(status);
                return;
        }
        setpgid(pid, pid);
        if (z->n == z->cap) {
                z->cap = z->cap ? z->cap * 2 : 16;
                z->children = mem_grow(z->children, z->cap * sizeof(*z->children));
        }
        z->children[z->n++] = (struct zygote_child){.pid = pid, .status = status};
        zygote_report_end(status, (struct zygote_report){.kind = ZYGOTE_FORKED, .pid = pid});
}

static struct zygote_child *find_child(struct zygote_process *z, pid_t pid)
{
        for (size_t i = 0; i < z->n; i++)
                if (z->children[i].pid == pid)
                        return &z->children[i];
        return NULL;
}

/* Reports task processes that have ended. */
static void zygote_reap(struct zygote_process *z)
{
        for (;;) {
                siginfo_t info = {0};
                if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
                        return;
                struct zygote_child *c = find_child(z, info.si_pid);
                if (c)
                        kill(-c->pid, SIGKILL); /* the processes that it started */
                int status = 0;
                struct rusage usage = {0};
                if (wait4(info.si_pid, &status, 0, &usage) < 0 || !c)
                        continue;
                zygote_report_end(c->status,
                                  (struct zygote_report){.kind = ZYGOTE_ENDED,
                                                         .pid = c->pid,
                                                         .status = status,
                                                         .core_dumped = WIFSIGNALED(status) && WCOREDUMP(status),
                                                         .max_resident = (int64_t)usage.ru_maxrss * 1024});
                close(c->status);
                *c = z->children[--z->n];
        }
}

/* Handles one request. Returns false at the end of the stream. */
static bool zygote_serve(struct zygote_process *z)
{
        struct zygote_request request;
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(2 * sizeof(int))];
        } control;
        struct iovec part = {&request, sizeof(request)};
        struct msghdr m = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(z->socket, &m, MSG_CMSG_CLOEXEC);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return true;
        if (n != (ssize_t)sizeof(request))
                return false;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        if (request.kind == REQUEST_FORK && c && c->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
                int fds[2];
                memcpy(fds, CMSG_DATA(c), sizeof(fds));
                fork_child(z, fds[0], fds[1]);
                close(fds[0]);
        } else if (request.kind == REQUEST_KILL && find_child(z, request.pid)) {
                kill(request.pid, SIGKILL);
        }
        return true;
}

/* Kills all task processes. Other members of their groups were killed when these were reaped. */
static void kill_children(struct zygote_process *z)
{
        for (size_t i = 0; i < z->n; i++)
                kill(-z->children[i].pid, SIGKILL);
        while (wait(NULL) > 0 || errno == EINTR)
                ;
}

static void zygote_main(int socket, const struct task_process_class *class, pid_t executor, bool main_thread)
{
        prctl(PR_SET_NAME, "firesteel-zygote");
        /* PR_SET_PDEATHSIG also acts when a thread ends. The end of the socket is noticed in any case. */
        if (main_thread)
                prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != executor)
                _exit(0);
        int null = open("/dev/null", O_RDONLY);
        if (null > 0)
                dup2(null, STDIN_FILENO);
        struct zygote_process z = {.socket = keep_descriptor(socket), .class = class};
        ignore_group_signals();
        crash_init(STDERR_FILENO, NULL, NULL);
        sigset_t chld;
        sigemptyset(&chld);
        sigaddset(&chld, SIGCHLD);
        sigprocmask(SIG_SETMASK, &chld, NULL);
        signal(SIGCHLD, SIG_DFL);
        z.signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
        for (bool open = true; open;) {
                struct pollfd fds[] = {{.fd = z.socket, .events = POLLIN}, {.fd = z.signals, .events = POLLIN}};
                if (poll(fds, 2, -1) < 0)
                        continue;
                if (fds[1].revents) {
                        struct signalfd_siginfo info[8];
                        while (read(z.signals, info, sizeof(info)) > 0)
                                ;
                        zygote_reap(&z);
                }
                if (fds[0].revents)
                        open = zygote_serve(&z);
        }
        kill_children(&z);
        _exit(0);
}

/* -------------------------------------------------------------------------------------------- in the executor */

struct zygote {
        int socket;
        pid_t pid;
};

static int count_threads(void)
{
        DIR *d = opendir("/proc/self/task");
        int n = 0;
        for (struct dirent *e; d && (e = readdir(d));)
                n += e->d_name[0] != '.';
        if (d)
                closedir(d);
        return n;
}

int zygote_new(const struct task_process_class *class, struct zygote **zygote, struct fst_error *error)
{
        int threads = count_threads(), ends[2];
        if (threads > 1)
                return error_set(error, -EBUSY,
                                 "tasks cannot run in processes of their own: this process has %d threads already, and "
                                 "a copy of it could wait forever for their locks; start no thread before the "
                                 "context, or set spark.firesteel.task.isolation=none",
                                 threads);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
                return error_errno(error, "creating the zygote's socket");
        fflush(NULL); /* or the copy would write it as well */
        pid_t self = getpid(), pid = fork();
        if (pid == 0) {
                close(ends[0]);
                zygote_main(ends[1], class, self, syscall(SYS_gettid) == self);
        }
        close(ends[1]);
        if (pid < 0) {
                int r = error_errno(error, "forking the zygote");
                close(ends[0]);
                return r;
        }
        struct zygote *z = new0(struct zygote);
        *z = (struct zygote){.socket = ends[0], .pid = pid};
        *zygote = z;
        return 0;
}

int zygote_fork(struct zygote *z, int work, int status, struct fst_error *error)
{
        struct zygote_request request = {.kind = REQUEST_FORK};
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(2 * sizeof(int))];
        } control = {0};
        int fds[2] = {work, status};
        struct iovec part = {&request, sizeof(request)};
        struct msghdr m = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(fds));
        memcpy(CMSG_DATA(c), fds, sizeof(fds));
        ssize_t n;
        do
                n = sendmsg(z->socket, &m, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? error_errno(error, "asking the zygote (process %d) for a task process", (int)z->pid) : 0;
}

void zygote_kill(struct zygote *z, pid_t pid)
{
        struct zygote_request request = {.kind = REQUEST_KILL, .pid = pid};
        while (send(z->socket, &request, sizeof(request), MSG_NOSIGNAL) < 0 && errno == EINTR)
                ;
}

int zygote_fd(const struct zygote *z)
{
        return z->socket;
}

pid_t zygote_pid(const struct zygote *z)
{
        return z->pid;
}

void zygote_free(struct zygote *z)
{
        if (!z)
                return;
        int saved = errno;
        close(z->socket);
        while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        free(z);
        errno = saved;
}
