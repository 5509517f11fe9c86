/*
 * See worker_pool.h.
 *
 * A daemon is started by the first task that needs it while others wait. It is never freed before the pool: tasks may
 * still hold its workers. One that has ended is started again in place, once for each task that finds it so. Its
 * workers finish their tasks and take no others, because only their daemon kills workers.
 *
 * Lock: `lock` guards all but the settings. Nothing blocks under it.
 */
#include "python/worker_pool.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/list.h"
#include "base/log.h"
#include "conf/conf.h"
#include "numa/numa_nodes.h"
#include "process/interruptible_wait.h"
#include "python/worker_daemon.h"
#include "store/disk_dirs.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPONENT "PythonWorkerFactory"
#define IDLE_TIMEOUT_MS 60000
#define IDLE_CHECK_MS 10000
#define MAX_FAULT_TEXT ((size_t)1 << 20)

enum daemon_state { DAEMON_NONE, DAEMON_STARTING, DAEMON_RUNNING };

struct python_daemon {
        struct python_pool *pool;
        char *key; /* program, directories and environment */
        enum daemon_state state;
        bool needs_archives;           /* the program lacks the driver's pyspark */
        struct python_process process; /* without spark.python.use.daemon: none, but the version */
        int generation;                /* number of starts */
        LIST(struct python_worker) idle;
        int64_t n_idle;
        int64_t released_ms; /* when the last worker was given back */
};

/* A worker without daemon. */
struct python_single {
        struct python_worker worker; /* first member */
        struct python_process process;
};

struct broadcast_file {
        int64_t id;
        char *path;
};

struct python_pool {
        struct python_settings settings;
        struct disk_dirs *dirs;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        VEC(struct python_daemon *) daemons;
        VEC(struct broadcast_file) broadcasts;
        VEC(int) outputs; /* standard outputs of Python that the thread forwards */
        bool has_thread, stopping;
        pthread_t thread;
        int wake; /* eventfd */
        int64_t idle_timeout_ms, idle_check_ms;
};

/* ------------------------------------------------------------------------------------------------------- settings */

static int python_settings_read(struct python_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        int64_t memory = 0, cores = 1;
        int r = 0;
        s->max_idle = -1;
        if ((r = conf_get_bool(conf, "spark.python.worker.reuse", &s->reuse, error)) ||
            (r = conf_get_bool(conf, "spark.python.use.daemon", &s->use_daemon, error)) ||
            (r = conf_get_bool(conf, "spark.python.worker.faulthandler.enabled", &s->faulthandler, error)) ||
            (r = conf_get_bool(conf, "spark.python.unix.domain.socket.enabled", &s->unix_sockets, error)) ||
            (r = conf_get_bool(conf, "spark.python.daemon.killWorkerOnFlushFailure", &s->kill_on_flush_failure,
                               error)) ||
            (r = conf_get_bool(conf, "spark.io.encryption.enabled", &s->encrypts, error)) ||
            (r = conf_get_bool(conf, "spark.python.worker.killOnIdleTimeout", &s->kill_idle, error)) ||
            (r = conf_get_ms(conf, "spark.python.worker.idleTimeoutSeconds", &s->idle_timeout_ms, error)) ||
            (r = conf_get_string(conf, "spark.python.daemon.module", &s->daemon_module, error)) ||
            (r = conf_get_string(conf, "spark.python.worker.module", &s->worker_module, error)) ||
            (conf_contains(conf, "spark.python.unix.domain.socket.dir") &&
             (r = conf_get_string(conf, "spark.python.unix.domain.socket.dir", &s->socket_dir, error))) ||
            (conf_contains(conf, "spark.python.factory.idleWorkerMaxPoolSize") &&
             (r = conf_get_int(conf, "spark.python.factory.idleWorkerMaxPoolSize", &s->max_idle, error))) ||
            (r = conf_get_ms(conf, "spark.python.task.killTimeout", &s->kill_timeout_ms, error)) ||
            (r = conf_get_ms(conf, "spark.python.authenticate.socketTimeout", &s->socket_timeout_ms, error)) ||
            (r = conf_get_ms(conf, "spark.python.worker.tracebackDumpIntervalSeconds", &s->idle_dump_s, error)) ||
            (r = conf_get_int(conf, "spark.buffer.size", &s->buffer_size, error)) ||
            (conf_contains(conf, "spark.executor.pyspark.memory") &&
             (r = conf_get_bytes(conf, "spark.executor.pyspark.memory", &memory, error))) ||
            (conf_contains(conf, "spark.executor.cores") &&
             (r = conf_get_int(conf, "spark.executor.cores", &cores, error))) ||
            (r = conf_get_int(conf, "spark.task.cpus", &s->task_cpus, error)))
                return r;
        if (s->buffer_size < 1 || s->buffer_size > INT32_MAX)
                return error_set(error, -EINVAL, "spark.buffer.size is %" PRId64 " bytes: it must be 1 to 2147483647",
                                 s->buffer_size);
        if (!s->socket_dir)
                s->socket_dir = mem_strdup("/tmp");
        s->idle_dump_s /= 1000;
        s->worker_memory_mb = memory / MAX(cores, 1) >> 20;
        return 0;
}

static void python_settings_deinit(struct python_settings *s)
{
        if (s->faulthandler_dir)
                remove_tree(s->faulthandler_dir);
        free(s->daemon_module);
        free(s->worker_module);
        free(s->socket_dir);
        free(s->local_dirs);
        free(s->faulthandler_dir);
}

int python_pool_new(const struct fst_conf *conf, struct disk_dirs *dirs, struct python_pool **pool,
                    struct fst_error *error)
{
        struct python_pool *p = new0(struct python_pool);
        struct buf list = BUF_INIT;
        cond_init_monotonic(&p->changed);
        pthread_mutex_init(&p->lock, NULL);
        p->dirs = dirs;
        p->wake = -1;
        p->idle_timeout_ms = IDLE_TIMEOUT_MS;
        p->idle_check_ms = IDLE_CHECK_MS;
        for (size_t i = 0; i < disk_dirs_count(dirs); i++)
                buf_printf(&list, "%s%s", i ? "," : "", disk_dirs_root(dirs, i));
        int r = python_settings_read(&p->settings, conf, error);
        p->settings.local_dirs = buf_steal(&list);
        if (r) {
                python_pool_free(p);
                return r;
        }
        *pool = p;
        return 0;
}

void python_pool_set_idle_times(struct python_pool *pool, int64_t timeout_ms, int64_t check_ms)
{
        pool->idle_timeout_ms = timeout_ms;
        pool->idle_check_ms = check_ms;
}

int64_t python_pool_kill_timeout_ms(const struct python_pool *pool)
{
        return pool->settings.kill_timeout_ms;
}

int64_t python_pool_socket_timeout_ms(const struct python_pool *pool)
{
        return pool->settings.socket_timeout_ms;
}

int64_t python_pool_idle_timeout_ms(const struct python_pool *pool, bool *kills)
{
        *kills = pool->settings.kill_idle;
        return pool->settings.idle_timeout_ms;
}

bool python_pool_encrypts(const struct python_pool *pool)
{
        return pool->settings.encrypts;
}

/* --------------------------------------------------------------------------------------------- the pool's own thread
 */

/* Takes all idle workers of a daemon out of the pool. Under the lock. */
static void python_daemon_take_idle(struct python_daemon *d, struct python_worker **chain)
{
        struct python_worker *w;
        while ((w = list_pop(&d->idle))) {
                w->next = *chain;
                *chain = w;
        }
        d->n_idle = 0;
}

static void python_worker_free(struct python_worker *w)
{
        vec_deinit(&w->has);
        free(w);
}

/* A worker whose connection closes ends by itself. */
static void python_workers_close(struct python_worker *chain)
{
        while (chain) {
                struct python_worker *w = chain;
                chain = w->next;
                close(w->fd);
                python_worker_free(w);
        }
}

static void python_pool_close_idle(struct python_pool *p)
{
        struct python_worker *chain = NULL;
        int64_t now = now_ms();
        pthread_mutex_lock(&p->lock);
        for (size_t i = 0; i < p->daemons.len; i++)
                if (now - p->daemons.data[i]->released_ms >= p->idle_timeout_ms)
                        python_daemon_take_idle(p->daemons.data[i], &chain);
        pthread_mutex_unlock(&p->lock);
        python_workers_close(chain);
}

/* Copies what Python wrote to @fd to standard error. Returns false at the end. */
static bool python_output_forward(int fd)
{
        char text[4096];
        ssize_t n = read(fd, text, sizeof(text));
        if (n > 0)
                return write_all(STDERR_FILENO, text, (size_t)n) == 0;
        return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void python_output_forget(struct python_pool *p, int fd)
{
        for (size_t i = 0; i < p->outputs.len; i++)
                if (p->outputs.data[i] == fd) {
                        p->outputs.data[i] = p->outputs.data[--p->outputs.len];
                        close(fd);
                        return;
                }
}

static void *python_pool_thread(void *owner)
{
        struct python_pool *p = owner;
        int64_t next_check = now_ms() + p->idle_check_ms;
        VEC(struct pollfd) polls = {0};
        for (;;) {
                polls.len = 0;
                vec_push(&polls, (struct pollfd){.fd = p->wake, .events = POLLIN});
                pthread_mutex_lock(&p->lock);
                bool stopping = p->stopping;
                for (size_t i = 0; i < p->outputs.len; i++)
                        vec_push(&polls, (struct pollfd){.fd = p->outputs.data[i], .events = POLLIN});
                pthread_mutex_unlock(&p->lock);
                if (stopping)
                        break;
                int64_t left = next_check - now_ms();
                poll(polls.data, polls.len, left > 0 ? (int)left : 0);
                uint64_t count;
                if (polls.data[0].revents && read(p->wake, &count, sizeof(count)) < 0)
                        continue;
                for (size_t i = 1; i < polls.len; i++)
                        if (polls.data[i].revents && !python_output_forward(polls.data[i].fd)) {
                                pthread_mutex_lock(&p->lock);
                                python_output_forget(p, polls.data[i].fd);
                                pthread_mutex_unlock(&p->lock);
                        }
                if (now_ms() >= next_check) {
                        python_pool_close_idle(p);
                        next_check = now_ms() + p->idle_check_ms;
                }
        }
        vec_deinit(&polls);
        return NULL;
}

static void python_pool_wake(struct python_pool *p)
{
        uint64_t one = 1;
        if (p->wake >= 0 && write(p->wake, &one, sizeof(one)) < 0)
                return; /* the counter is full: the thread wakes up anyway */
}

/* Forwards the output @fd from now on and closes it at its end. Under the lock. */
static void python_pool_forward(struct python_pool *p, int fd)
{
        vec_push(&p->outputs, fd);
        if (!p->has_thread) {
                sigset_t all, before;
                sigfillset(&all);
                p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
                pthread_sigmask(SIG_SETMASK, &all, &before);
                p->has_thread = p->wake >= 0 && numa_create_thread(&p->thread, NULL, python_pool_thread, p) == 0;
                pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        python_pool_wake(p);
}

void python_pool_free(struct python_pool *p)
{
        if (!p)
                return;
        pthread_mutex_lock(&p->lock);
        p->stopping = true;
        pthread_mutex_unlock(&p->lock);
        python_pool_wake(p);
        if (p->has_thread)
                pthread_join(p->thread, NULL);
        for (size_t i = 0; i < p->daemons.len; i++) {
                struct python_daemon *d = p->daemons.data[i];
                struct python_worker *chain = NULL;
                python_daemon_take_idle(d, &chain);
                python_workers_close(chain);
                python_process_end(&d->process);
                free(d->key);
                free(d);
        }
        for (size_t i = 0; i < p->outputs.len; i++) {
                (void)python_output_forward(p->outputs.data[i]);
                close(p->outputs.data[i]);
        }
        for (size_t i = 0; i < p->broadcasts.len; i++) {
                unlink(p->broadcasts.data[i].path);
                free(p->broadcasts.data[i].path);
        }
        vec_deinit(&p->daemons);
        vec_deinit(&p->outputs);
        vec_deinit(&p->broadcasts);
        if (p->wake >= 0)
                close(p->wake);
        python_settings_deinit(&p->settings);
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        free(p);
}

/* -------------------------------------------------------------------------------------------------------- acquiring */

static char *python_spec_key(const struct python_spec *spec)
{
        struct buf key = BUF_INIT;
        buf_printf(&key, "%s\n%s\n", spec->program, spec->package_path ? spec->package_path : "");
        for (const char *const *e = spec->environment; e && *e; e++)
                buf_printf(&key, "%s\n", *e);
        return buf_steal(&key);
}

/* Under the lock. */
static struct python_daemon *python_pool_daemon(struct python_pool *p, const struct python_spec *spec)
{
        char *key = python_spec_key(spec);
        for (size_t i = 0; i < p->daemons.len; i++)
                if (strcmp(p->daemons.data[i]->key, key) == 0) {
                        free(key);
                        return p->daemons.data[i];
                }
        struct python_daemon *d = new0(struct python_daemon);
        d->pool = p;
        d->key = key;
        d->process.command = (struct piped_command){.in = -1, .out = -1};
        vec_push(&p->daemons, d);
        return d;
}

static void python_pool_make_fault_dir(struct python_pool *p)
{
        if (!p->settings.faulthandler || p->settings.faulthandler_dir)
                return;
        char *dir = mem_printf("%s/faulthandler", disk_dirs_root(p->dirs, 0));
        if (mkdir(dir, 0700) == 0 || errno == EEXIST)
                p->settings.faulthandler_dir = dir;
        else
                free(dir);
}

/* Starts the daemon, for which the caller has set DAEMON_STARTING. Without the lock. */
static int python_pool_start_daemon(struct python_pool *p, struct python_daemon *d, const struct python_spec *spec,
                                    const int *stopped, struct fst_error *error)
{
        struct python_process process;
        int64_t start = now_ms();
        int r = python_daemon_start(&p->settings, spec, stopped, &process, error);
        pthread_mutex_lock(&p->lock);
        d->state = r ? DAEMON_NONE : DAEMON_RUNNING;
        d->needs_archives |= r == PYTHON_POOL_E_PACKAGE;
        if (r == 0) {
                d->process = process;
                d->generation++;
                python_pool_forward(p, d->process.command.out);
                d->process.command.out = -1; /* the thread's */
        }
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (r == 0)
                log_info(COMPONENT, "%s started as Python's daemon with pyspark %d.%d in %lld ms", spec->program,
                         process.version / 100, process.version % 100, (long long)(now_ms() - start));
        return r;
}

/* Returns true if the start of Python would end with PYTHON_POOL_E_PACKAGE again. Under the lock. */
static bool python_daemon_lacks_archives(const struct python_daemon *d, const struct python_spec *spec)
{
        return d->needs_archives && spec->has_archives && !spec->package_archives;
}

/*
 * If the daemon has ended by itself: gives its process, which the caller reaps, and its idle workers, which no daemon
 * could kill any more. Its other workers finish their tasks. Under the lock.
 */
static bool python_daemon_take_ended(struct python_daemon *d, struct python_process *ended,
                                     struct python_worker **orphans)
{
        if (d->state != DAEMON_RUNNING || !python_process_has_ended(&d->process))
                return false;
        d->state = DAEMON_NONE;
        *ended = d->process;
        d->process = (struct python_process){.command = {.in = -1, .out = -1}};
        python_daemon_take_idle(d, orphans);
        return true;
}

/* Waits until the daemon runs; starts it if need be. Returns 0 with an idle worker or the daemon's process
 * (whose texts the caller owns) and generation; or an error of python_pool_acquire. */
static int python_pool_take(struct python_pool *p, struct python_daemon *d, const struct python_spec *spec,
                            const int *stopped, struct python_worker **idle, struct python_process *process,
                            int *generation, struct fst_error *error)
{
        for (;;) {
                pthread_mutex_lock(&p->lock);
                while (d->state == DAEMON_STARTING)
                        if (!stop_wait(&p->changed, &p->lock, stopped)) {
                                pthread_mutex_unlock(&p->lock);
                                return error_set(error, -ECANCELED, "waiting for Python's daemon");
                        }
                struct python_worker *orphans = NULL;
                struct python_process ended;
                const bool has_ended = python_daemon_take_ended(d, &ended, &orphans);
                *idle = list_pop(&d->idle);
                d->n_idle -= *idle != NULL;
                *process = d->process;
                *generation = d->generation;
                bool running = d->state == DAEMON_RUNNING;
                process->path = running && !*idle ? mem_strdup_if(process->path) : NULL; /* another task may end it */
                process->secret = running && !*idle ? mem_strdup_if(process->secret) : NULL;
                const bool lacks = !running && !*idle && python_daemon_lacks_archives(d, spec);
                if (!running && !*idle && !lacks)
                        d->state = DAEMON_STARTING;
                pthread_mutex_unlock(&p->lock);
                python_workers_close(orphans);
                if (has_ended) {
                        log_warn(COMPONENT, "Python's daemon has ended and is started again");
                        python_process_reap(&ended);
                }
                if (lacks)
                        return PYTHON_POOL_E_PACKAGE;
                if (running || *idle)
                        return 0;
                int r = python_pool_start_daemon(p, d, spec, stopped, error);
                if (r)
                        return r;
        }
}

/* The daemon of @generation does not answer: ends it, so that the next one to need it starts it again. */
static void python_pool_drop_daemon(struct python_pool *p, struct python_daemon *d, int generation)
{
        struct python_worker *chain = NULL;
        struct python_process process = {.command = {.in = -1, .out = -1}};
        pthread_mutex_lock(&p->lock);
        if (d->generation == generation && d->state == DAEMON_RUNNING) {
                d->state = DAEMON_NONE;
                process = d->process;
                d->process = (struct python_process){.command = {.in = -1, .out = -1}};
                python_daemon_take_idle(d, &chain);
        }
        pthread_mutex_unlock(&p->lock);
        python_workers_close(chain);
        python_process_end(&process);
}

static void python_worker_init(struct python_worker *w, struct python_daemon *d, int generation, int fd, pid_t pid,
                               int version)
{
        w->pool = d->pool;
        w->daemon = d;
        w->generation = generation;
        w->fd = fd;
        w->pid = pid;
        w->version = version;
}

static int python_pool_start_single(struct python_pool *p, struct python_daemon *d, const struct python_spec *spec,
                                    const int *stopped, struct python_worker **worker, struct fst_error *error)
{
        struct python_single *single = new0(struct python_single);
        int fd;
        pid_t pid;
        pthread_mutex_lock(&p->lock);
        int r = python_daemon_lacks_archives(d, spec) ? PYTHON_POOL_E_PACKAGE : 0;
        pthread_mutex_unlock(&p->lock);
        if (r == 0)
                r = python_worker_start(&p->settings, spec, stopped, &single->process, &fd, &pid, error);
        if (r) {
                pthread_mutex_lock(&p->lock);
                d->needs_archives |= r == PYTHON_POOL_E_PACKAGE;
                pthread_mutex_unlock(&p->lock);
                free(single);
                return r;
        }
        python_worker_init(&single->worker, d, 0, fd, pid, single->process.version);
        pthread_mutex_lock(&p->lock);
        python_pool_forward(p, single->process.command.out);
        single->process.command.out = -1;
        pthread_mutex_unlock(&p->lock);
        *worker = &single->worker;
        return 0;
}

/* An idle worker may have ended, or written something unasked. */
static bool python_worker_is_quiet(const struct python_worker *w)
{
        struct pollfd poll_fd = {.fd = w->fd, .events = POLLIN | POLLRDHUP};
        return poll(&poll_fd, 1, 0) == 0;
}

int python_pool_acquire(struct python_pool *p, const struct python_spec *spec, const int *stopped,
                        struct python_worker **worker, struct fst_error *error)
{
        struct python_process process;
        int fd, generation = 0, r = 0;
        pid_t pid;
        pthread_mutex_lock(&p->lock);
        struct python_daemon *d = python_pool_daemon(p, spec);
        python_pool_make_fault_dir(p);
        pthread_mutex_unlock(&p->lock);
        if (!p->settings.use_daemon)
                return python_pool_start_single(p, d, spec, stopped, worker, error);
        for (int attempt = 0; attempt < 2;) {
                struct python_worker *idle;
                if ((r = python_pool_take(p, d, spec, stopped, &idle, &process, &generation, error)))
                        return r;
                if (idle && python_worker_is_quiet(idle)) {
                        *worker = idle;
                        return 0;
                }
                if (idle) {
                        python_workers_close(idle);
                        continue;
                }
                r = python_daemon_fork(&p->settings, &process, stopped, &fd, &pid, error);
                free(process.path);
                free(process.secret);
                if (r == 0) {
                        *worker = new0(struct python_worker);
                        python_worker_init(*worker, d, generation, fd, pid, process.version);
                        return 0;
                }
                if (r == -ECANCELED)
                        return r;
                log_warn(COMPONENT, "Python's daemon is started again: %s", error_message(error));
                python_pool_drop_daemon(p, d, generation);
                attempt++;
        }
        return r;
}

/* -------------------------------------------------------------------------------------------------------- releasing */

/* Whether the daemon that has forked it can kill it. Under the lock. */
static bool python_worker_has_daemon(const struct python_worker *w)
{
        const struct python_daemon *d = w->daemon;
        return d->generation == w->generation && d->state == DAEMON_RUNNING && !python_process_has_ended(&d->process);
}

/* Its process has not ended, so that the process id is its own. */
static bool python_worker_is_connected(const struct python_worker *w)
{
        struct pollfd poll_fd = {.fd = w->fd, .events = POLLRDHUP};
        return poll(&poll_fd, 1, 0) == 0 || !(poll_fd.revents & (POLLRDHUP | POLLHUP));
}

static void python_worker_end(struct python_worker *w)
{
        struct python_pool *p = w->pool;
        const bool connected = python_worker_is_connected(w);
        close(w->fd);
        if (!p->settings.use_daemon) {
                struct python_single *single = (struct python_single *)w;
                python_process_end(&single->process);
                python_worker_free(w);
                return;
        }
        pthread_mutex_lock(&p->lock);
        if (python_worker_has_daemon(w))
                python_daemon_kill(&w->daemon->process, w->pid);
        else if (connected)
                kill(w->pid, SIGKILL);
        pthread_mutex_unlock(&p->lock);
        python_worker_free(w);
}

void python_pool_release(struct python_worker *w, bool reusable)
{
        struct python_pool *p = w->pool;
        struct python_daemon *d = w->daemon;
        struct python_worker *evicted = NULL;
        if (!reusable || !p->settings.reuse || !p->settings.use_daemon) {
                python_worker_end(w);
                return;
        }
        pthread_mutex_lock(&p->lock);
        if (!python_worker_has_daemon(w)) {
                pthread_mutex_unlock(&p->lock);
                python_worker_end(w);
                return;
        }
        list_append(&d->idle, w);
        d->n_idle++;
        d->released_ms = now_ms();
        if (p->settings.max_idle >= 0 && d->n_idle > p->settings.max_idle) {
                evicted = list_pop(&d->idle);
                d->n_idle--;
        }
        pthread_mutex_unlock(&p->lock);
        if (evicted)
                python_worker_end(evicted);
}

void python_pool_crash_text(const struct python_worker *w, struct buf *text)
{
        const struct python_settings *s = &w->pool->settings;
        buf_puts(text, "Python worker exited unexpectedly (crashed)");
        if (!s->faulthandler) {
                buf_puts(text,
                         ". Consider setting 'spark.python.worker.faulthandler.enabled' configuration to 'true' for "
                         "the better Python traceback.");
                return;
        }
        _cleanup_(buf_deinit) struct buf trace = BUF_INIT;
        _cleanup_free_ char *path = mem_printf("%s/%d", s->faulthandler_dir ? s->faulthandler_dir : "", w->pid);
        if (file_text_read(path, MAX_FAULT_TEXT, &trace, NULL) == 0 && trace.len)
                buf_printf(text, ": %s", buf_text(&trace));
        unlink(path);
}

/* ------------------------------------------------------------------------------------------------ broadcast variables
 */

static struct broadcast_file *python_pool_find_broadcast(struct python_pool *p, int64_t id)
{
        for (size_t i = 0; i < p->broadcasts.len; i++)
                if (p->broadcasts.data[i].id == id)
                        return &p->broadcasts.data[i];
        return NULL;
}

int python_pool_broadcast_file(struct python_pool *p, int64_t id, const void *data, size_t size, char **path,
                               struct fst_error *error)
{
        char *made = NULL;
        int fd, r = 0;
        pthread_mutex_lock(&p->lock);
        struct broadcast_file *found = python_pool_find_broadcast(p, id);
        *path = found ? mem_strdup(found->path) : NULL;
        pthread_mutex_unlock(&p->lock);
        if (*path)
                return 0;
        if ((r = disk_dirs_create_unique(p->dirs, "python_broadcast_", &fd, &made, error)))
                return r;
        if ((r = write_all(fd, data, size)))
                r = disk_dirs_failed(p->dirs, "writing", made, r, error);
        close(fd);
        if (r) {
                unlink(made);
                free(made);
                return r;
        }
        pthread_mutex_lock(&p->lock);
        found = python_pool_find_broadcast(p, id);
        if (found) { /* another task was faster */
                unlink(made);
                free(made);
        } else {
                vec_push(&p->broadcasts, (struct broadcast_file){id, made});
                found = &p->broadcasts.data[p->broadcasts.len - 1];
        }
        *path = mem_strdup(found->path);
        pthread_mutex_unlock(&p->lock);
        return 0;
}

void python_pool_forget_broadcast(struct python_pool *p, int64_t id)
{
        pthread_mutex_lock(&p->lock);
        struct broadcast_file *found = python_pool_find_broadcast(p, id);
        if (found) {
                unlink(found->path);
                free(found->path);
                *found = p->broadcasts.data[--p->broadcasts.len];
        }
        pthread_mutex_unlock(&p->lock);
}
