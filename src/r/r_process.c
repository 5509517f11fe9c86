/*
 * See r_process.h.
 *
 * `daemons_lock` guards the list of daemons and is held while R starts, so that several tasks start one daemon. A
 * process' own lock guards its output. A thread of each process reads the output; a task that failed reads it as well,
 * so that the message of the failure has the last line.
 */
#include "r/r_process.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "numa/numa_nodes.h"
#include "process/piped_command.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAST_LINES 100
#define MAX_LINE 4096
#define MAX_STRANGERS 10

struct r_process {
        int refs; /* atomic */
        struct r_process *next;
        char *command, *library, *files;
        bool is_daemon;
        char secret[SECRET_TEXT];
        struct piped_command child;
        int channel;          /* to the daemon: ports of workers */
        pthread_mutex_t lock; /* guards the output and the fields below */
        struct buf line;      /* an incomplete line of the output */
        char *lines[LAST_LINES];
        size_t n_lines; /* ever written */
        bool silent;    /* the output has ended */
        bool reaped;
        pthread_t reader;
};

static pthread_mutex_t daemons_lock = PTHREAD_MUTEX_INITIALIZER;
static struct r_process *daemons;

/* ------------------------------------------------------------------------------------------------------ output */

static void r_process_end_line(struct r_process *p)
{
        char **place = &p->lines[p->n_lines++ % LAST_LINES];
        free(*place);
        *place = mem_strdup(buf_text(&p->line));
        log_info("RRunner", "%s", *place);
        buf_reset(&p->line);
}

/* Reads the output that is there. The lock is held. */
static void r_process_read_output(struct r_process *p)
{
        char data[4096];
        while (!p->silent) {
                ssize_t n = read(p->child.out, data, sizeof(data));
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return;
                p->silent = n <= 0;
                for (ssize_t i = 0; i < n; i++) {
                        if (data[i] == '\n' || p->line.len == MAX_LINE)
                                r_process_end_line(p);
                        if (data[i] != '\n' && data[i] != '\0')
                                buf_putc(&p->line, data[i]);
                }
        }
        if (p->line.len)
                r_process_end_line(p);
}

static void *r_process_reader(void *data)
{
        struct r_process *p = data;
        bool silent = false;
        while (!silent) {
                struct pollfd fd = {.fd = p->child.out, .events = POLLIN};
                poll(&fd, 1, -1);
                pthread_mutex_lock(&p->lock);
                r_process_read_output(p);
                silent = p->silent;
                pthread_mutex_unlock(&p->lock);
        }
        r_process_unref(p);
        return NULL;
}

void r_process_last_lines(struct r_process *p, struct buf *out)
{
        pthread_mutex_lock(&p->lock);
        r_process_read_output(p);
        size_t first = p->n_lines > LAST_LINES ? p->n_lines - LAST_LINES : 0;
        for (size_t i = first; i < p->n_lines; i++)
                buf_printf(out, "%s%s", i > first ? "\n" : "", p->lines[i % LAST_LINES]);
        pthread_mutex_unlock(&p->lock);
}

/* ----------------------------------------------------------------------------------------------- start and end */

/* Starts R with SparkR's script @script, whose standard error joins its output. */
static int r_process_spawn(struct r_process *p, const char *script, int port, int timeout, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/SparkR/worker/%s", p->library, script);
        _cleanup_free_ char *library = mem_printf("SPARKR_RLIBDIR=%s", p->library);
        _cleanup_free_ char *port_of = mem_printf("SPARKR_WORKER_PORT=%d", port);
        _cleanup_free_ char *limit = mem_printf("SPARKR_BACKEND_CONNECTION_TIMEOUT=%d", timeout);
        _cleanup_free_ char *files = mem_printf("SPARKR_SPARKFILES_ROOT_DIR=%s", p->files);
        _cleanup_free_ char *secret = mem_printf("SPARKR_WORKER_SECRET=%s", p->secret);
        /* R CMD check sets R_TESTS to a file that the worker cannot find. */
        char *environment[] = {"R_TESTS=", library, port_of, limit, files, secret, "SPARKR_IS_RUNNING_ON_WORKER=TRUE",
                               NULL};
        char *words[] = {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1", p->command, "--vanilla", path, NULL};
        if (access(path, R_OK) < 0)
                return error_errno(error,
                                   "%s, a part of SparkR. Install the R package SparkR, or name the directory that "
                                   "contains it in spark.firesteel.r.library",
                                   path);
        int r = piped_command_start(&p->child, words, environment);
        return r ? error_set(error, r, "Cannot run program \"%s\": %s", p->command, strerror(-r)) : 0;
}

static void r_process_free(struct r_process *p)
{
        piped_command_kill(&p->child);
        if (p->channel >= 0)
                close(p->channel);
        for (size_t i = 0; i < LAST_LINES; i++)
                free(p->lines[i]);
        buf_deinit(&p->line);
        pthread_mutex_destroy(&p->lock);
        free(p->command);
        free(p->library);
        free(p->files);
        free(p);
}

void r_process_unref(struct r_process *p)
{
        if (!p)
                return;
        int left = __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL);
        if (left == 1 && !p->is_daemon && p->child.started)
                kill(-p->child.pid, SIGKILL); /* the reader's reference is left, and ends with the output */
        if (left == 0)
                r_process_free(p);
}

/* Starts R and the thread that reads its output. The caller and that thread have a reference each. */
static int r_process_new(const struct r_settings *s, const char *script, int port, struct r_process **process,
                         struct fst_error *error)
{
        struct r_process *p = new0(struct r_process);
        p->refs = 2;
        p->command = mem_strdup(s->command);
        p->library = mem_strdup(s->library);
        p->files = mem_strdup(s->files);
        p->is_daemon = s->with_daemon;
        p->channel = -1;
        p->child = (struct piped_command){.in = -1, .out = -1};
        pthread_mutex_init(&p->lock, NULL);
        int r = secret_draw(p->secret, sizeof(p->secret));
        if (r == 0)
                r = r_process_spawn(p, script, port, s->timeout, error);
        if (r == 0)
                r = -numa_create_thread(&p->reader, NULL, r_process_reader, p);
        if (r) {
                r_process_free(p);
                return r;
        }
        pthread_detach(p->reader);
        *process = p;
        return 0;
}

bool r_process_has_ended(struct r_process *p)
{
        siginfo_t info = {0};
        return waitid(P_PID, (id_t)p->child.pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 || info.si_pid != 0;
}

/* -------------------------------------------------------------------------------------------------- connections */

static int r_process_ended_early(struct r_process *p, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf lines = BUF_INIT;
        r_process_last_lines(p, &lines);
        return error_set(error, -EPIPE, "R computation failed with\n %s", buf_text(&lines));
}

int r_process_accept(struct r_process *p, int listener, const int *stopped, struct fst_error *error)
{
        int64_t until = now_ns() + R_START_TIMEOUT * NS_PER_SECOND;
        for (int strangers = 0; strangers < MAX_STRANGERS;) {
                bool ended = r_process_has_ended(p);
                int r = socket_wait(listener, POLLIN, NS_PER_SECOND / 10, stopped);
                if (r < 0)
                        return error_set(error, r, "waiting for an R worker: %s", strerror(-r));
                if (r == 0 && ended)
                        return r_process_ended_early(p, error);
                if (r == 0 && now_ns() > until)
                        break;
                int fd = r ? socket_accept(listener) : -EAGAIN;
                if (fd == -EAGAIN)
                        continue;
                if (fd < 0)
                        return error_set(error, fd, "accepting an R worker: %s", strerror(-fd));
                r = socket_accept_secret(fd, p->secret, SECRET_END_NUL, now_ns() + R_HANDSHAKE_TIMEOUT * NS_PER_SECOND,
                                         stopped);
                if (r == 0)
                        return fd;
                close(fd);
                if (r == -ECANCELED)
                        return error_set(error, r, "waiting for an R worker: %s", strerror(-r));
                strangers++;
        }
        return error_set(error, -ETIMEDOUT, "%s has not connected within %d s", p->command, R_START_TIMEOUT);
}

/* ------------------------------------------------------------------------------------------------------ daemons */

static int r_daemon_start(const struct r_settings *s, const int *stopped, struct r_process **process,
                          struct fst_error *error)
{
        struct r_process *p;
        struct listen_options options = {.service = "R daemon", .host = "127.0.0.1"};
        int port = 0, listener = socket_listen(&options, &port, error);
        if (listener < 0)
                return listener;
        int r = r_process_new(s, "daemon.R", port, &p, error);
        if (r == 0) {
                p->channel = r_process_accept(p, listener, stopped, error);
                r = p->channel < 0 ? p->channel : 0;
                if (r) {
                        kill(-p->child.pid, SIGKILL);
                        r_process_unref(p);
                }
        }
        close(listener);
        if (r)
                return r;
        p->next = daemons; /* the list has the caller's reference */
        daemons = p;
        *process = p;
        return 0;
}

static void r_daemon_drop(struct r_process *p)
{
        struct r_process **at = &daemons;
        while (*at != p)
                at = &(*at)->next;
        *at = p->next;
        r_process_unref(p);
}

static struct r_process *r_daemon_find(const struct r_settings *s)
{
        struct r_process *p = daemons;
        while (p && (strcmp(p->command, s->command) != 0 || strcmp(p->library, s->library) != 0 ||
                     strcmp(p->files, s->files) != 0))
                p = p->next;
        return p;
}

static bool r_daemon_send_port(struct r_process *p, int port)
{
        uint32_t big = htobe32((uint32_t)port);
        return !r_process_has_ended(p) && send(p->channel, &big, sizeof(big), MSG_NOSIGNAL) == (ssize_t)sizeof(big);
}

static int r_daemon_fork(const struct r_settings *s, int port, const int *stopped, struct r_process **process,
                         struct fst_error *error)
{
        int r = 0;
        pthread_mutex_lock(&daemons_lock);
        struct r_process *p = r_daemon_find(s);
        if (p && !r_daemon_send_port(p, port)) {
                log_warn("RRunner", "the R daemon %d has ended: starting another", (int)p->child.pid);
                r_daemon_drop(p);
                p = NULL;
        } else if (p) {
                goto out;
        }
        r = r_daemon_start(s, stopped, &p, error);
        if (r == 0 && !r_daemon_send_port(p, port)) {
                r = r_process_ended_early(p, error);
                r_daemon_drop(p);
        }
out:
        if (r == 0) {
                __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
                *process = p;
        }
        pthread_mutex_unlock(&daemons_lock);
        return r;
}

int r_process_fork_worker(const struct r_settings *s, int port, const int *stopped, struct r_process **process,
                          struct fst_error *error)
{
        return s->with_daemon ? r_daemon_fork(s, port, stopped, process, error)
                              : r_process_new(s, "worker.R", port, process, error);
}

/* --------------------------------------------------------------------------------------------- killing a worker */

/* The inode of the socket on port @local that is connected to @remote, both on the loopback interface; 0: none. */
static unsigned long r_process_find_inode(int local, int remote)
{
        unsigned long inode = 0;
        char line[512];
        FILE *table = fopen("/proc/net/tcp", "re");
        while (table && !inode && fgets(line, sizeof(line), table)) {
                unsigned int local_port, remote_port;
                unsigned long found;
                if (sscanf(line, "%*d: %*8x:%x %*8x:%x %*x %*x:%*x %*x:%*x %*x %*d %*d %lu", &local_port, &remote_port,
                           &found) == 3 &&
                    local_port == (unsigned int)local && remote_port == (unsigned int)remote)
                        inode = found;
        }
        if (table)
                fclose(table);
        return inode;
}

static bool r_process_has_socket(pid_t pid, unsigned long inode)
{
        bool has = false;
        char path[64], wanted[64], target[64];
        snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
        int wanted_len = snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
        DIR *dir = opendir(path);
        for (struct dirent *e; dir && !has && (e = readdir(dir));) {
                ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target));
                has = n == wanted_len && memcmp(target, wanted, (size_t)n) == 0;
        }
        if (dir)
                closedir(dir);
        return has;
}

void r_process_kill_worker(struct r_process *p, int peer, int port)
{
        if (!p->is_daemon) {
                kill(-p->child.pid, SIGKILL);
                return;
        }
        unsigned long inode = r_process_find_inode(peer, port);
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)p->child.pid, (int)p->child.pid);
        FILE *children = inode ? fopen(path, "re") : NULL;
        for (int child; children && fscanf(children, "%d", &child) == 1;)
                if (r_process_has_socket(child, inode)) {
                        kill(child, SIGKILL);
                        break;
                }
        if (children)
                fclose(children);
}
