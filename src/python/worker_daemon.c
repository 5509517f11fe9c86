/* See worker_daemon.h. */
#include "python/worker_daemon.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/secret.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "python/worker_answer.h"
#include "python/worker_pool.h"
#include "python/worker_task.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long Python may take to import pyspark and to fork a worker. */
#define START_TIMEOUT_MS 60000
#define CONNECT_TIMEOUT_MS 10000

#define MAX_TEXT 65536
#define FIRST_PART 65536 /* bytes of a text that are read at once; then as many as have arrived */
#define MAX_ERRNO 4095   /* Linux's */

/* The marks before the version, the reason why there is none, and the need of archives. */
#define VERSION_MARK 0x46535059
#define FAILED_MARK 0x46534552
#define ARCHIVES_MARK 0x46534152

/*
 * Arguments: the module to run, its argument, the directories of pyspark, the driver's version of it, archives with it,
 * and whether there are such archives that were not given. A Python without pyspark gets the directories that exist and
 * have this version, or else the archives. One with another version gets the archives. The worker's modules are
 * imported before the fork, unless packages that start threads would come with them, and frozen: otherwise the garbage
 * collection after each task visits all of them. Nothing is collected before: imports leave little garbage, and the
 * collections between them take a tenth of their time.
 */
static const char bootstrap[] =
        "import gc\n"
        "gc.disable()\n"
        "import importlib, importlib.util, os, runpy, sys\n"
        "def say(mark, text):\n"
        "    data = text.encode('utf-8', 'replace')[:60000]\n"
        "    os.write(1, mark.to_bytes(4, 'big') + len(data).to_bytes(4, 'big') + data)\n"
        "def version_in(read, folder):\n"
        "    try:\n"
        "        text = read(os.path.join(folder, 'version.py')).decode()\n"
        "        return text[text.index('__version__'):].split('=', 1)[1].strip().split()[0].strip('\"\\'')\n"
        "    except Exception:\n"
        "        return ''\n"
        "def read_file(path):\n"
        "    with open(path, 'rb') as file:\n"
        "        return file.read()\n"
        "def python_path(folders, first):\n"
        "    place = 0 if first else len(sys.path)\n"
        "    sys.path[place:place] = folders\n"
        "    before = [p for p in [os.environ.get('PYTHONPATH')] if p]\n"
        "    os.environ['PYTHONPATH'] = ':'.join(folders + before if first else before + folders)\n"
        "module, folders, wanted, archives = sys.argv[1], *(sys.argv[i].split(':') for i in (3, 4, 5))\n"
        "folders, wanted = [f for f in folders if f and os.path.exists(f)], wanted[0]\n"
        "archives, more = [f for f in archives if f], sys.argv[6]\n"
        "sys.argv = [sys.argv[0], sys.argv[2]]\n"
        "try:\n"
        "    own = importlib.util.find_spec('pyspark')\n"
        "    place = own and own.submodule_search_locations and own.submodule_search_locations[0]\n"
        "    version = version_in(own.loader.get_data, place) if place else None\n"
        "    if version is None and folders and (not (archives or more) or\n"
        "            wanted in ('', version_in(read_file, os.path.join(folders[0], 'pyspark')))):\n"
        "        python_path(folders, False)\n"
        "    elif version is None or version not in ('', wanted) and wanted:\n"
        "        if more:\n"
        "            say(0x46534152, '')\n"
        "            os._exit(0)\n"
        "        if archives:\n"
        "            python_path(archives, True)\n"
        "    from pyspark.version import __version__ as version\n"
        "    if module == 'pyspark.daemon' and sys.argv[1] == 'pyspark.worker' and not (\n"
        "            importlib.util.find_spec('pandas') or importlib.util.find_spec('pyarrow')):\n"
        "        importlib.import_module(sys.argv[1])\n"
        "        gc.freeze()\n"
        "except BaseException as e:\n"
        "    say(0x46534552, '%s: %s' % (type(e).__name__, e))\n"
        "    sys.exit(1)\n"
        "gc.enable()\n"
        "say(0x46535059, version)\n"
        "runpy.run_module(module, run_name='__main__', alter_sys=True)\n";

char *python_secret_new(void)
{
        char secret[SECRET_TEXT];
        if (secret_draw(secret, sizeof(secret)))
                abort(); /* cannot fail once the system has started */
        return mem_strdup(secret);
}

/* ------------------------------------------------------------------------------------------- reading and writing */

int python_read_bytes(int fd, void *data, size_t len, int64_t timeout_ms, const int *stopped)
{
        return socket_read_exactly(fd, data, len, now_ns() + ms_to_ns(timeout_ms), stopped);
}

int python_read_int(int fd, int64_t timeout_ms, const int *stopped, int32_t *x)
{
        char bytes[4];
        int r = socket_read_exactly(fd, bytes, sizeof(bytes), now_ns() + ms_to_ns(timeout_ms), stopped);
        if (r == 0)
                *x = python_get_int(bytes);
        return r;
}

int python_read_text(int fd, size_t most, int64_t timeout_ms, const int *stopped, struct buf *text)
{
        int64_t deadline = now_ns() + ms_to_ns(timeout_ms);
        char bytes[4];
        int r = socket_read_exactly(fd, bytes, sizeof(bytes), deadline, stopped);
        if (r)
                return r;
        int32_t len = python_get_int(bytes);
        if (len < 0 || (size_t)len > most)
                return -EBADMSG;
        buf_reserve(text, 0);
        for (size_t left = (size_t)len, got = 0; r == 0 && left > 0;) {
                size_t part = got < FIRST_PART ? FIRST_PART : got;
                part = MIN(left, part);
                if (!buf_try_reserve(text, part))
                        return -ENOMEM;
                r = socket_read_exactly(fd, text->data + text->len, part, deadline, stopped);
                if (r == 0) {
                        text->len += part;
                        got += part;
                        left -= part;
                }
                text->data[text->len] = 0;
        }
        return r;
}

int python_write(int fd, const void *data, size_t len, int64_t timeout_ms, const int *stopped)
{
        return socket_write_exactly(fd, data, len, now_ns() + ms_to_ns(timeout_ms), stopped);
}

/* ---------------------------------------------------------------------------------------------------- environment */

typedef VEC(char *) string_vec;

static void environment_free(string_vec *v)
{
        for (size_t i = 0; i < v->len; i++)
                free(v->data[i]);
        vec_deinit(v);
}

#define environment_put(v, ...) vec_push((v), mem_printf(__VA_ARGS__))

/* Returns the value of @name in the list @environment or in this process's environment, or NULL. */
static const char *environment_get(const char *const *environment, const char *name)
{
        size_t n = strlen(name);
        const char *found = getenv(name);
        for (const char *const *e = environment; e && *e; e++)
                if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
                        found = *e + n + 1;
        return found;
}

/* The PYTHONPATH of the function comes before this process's. */
static void environment_put_path(string_vec *v, const char *const *environment)
{
        const char *own = getenv("PYTHONPATH"), *given = environment_get(environment, "PYTHONPATH");
        if (given && own && given != own)
                environment_put(v, "PYTHONPATH=%s:%s", given, own);
}

/* Variables that pyspark's daemon and workers read, after those of the function. Ends with NULL. */
static void python_environment(const struct python_settings *s, const struct python_spec *spec, string_vec *v)
{
        for (const char *const *e = spec->environment; e && *e; e++)
                if (strncmp(*e, "PYTHONPATH=", 11) != 0 || !getenv("PYTHONPATH"))
                        vec_push(v, mem_strdup(*e));
        environment_put_path(v, spec->environment);
        environment_put(v, "PYTHONUNBUFFERED=YES");
        environment_put(v, "SPARK_LOCAL_DIRS=%s", s->local_dirs);
        environment_put(v, "SPARK_BUFFER_SIZE=%lld", (long long)s->buffer_size);
        environment_put(v, "SPARK_AUTH_SOCKET_TIMEOUT=%lld", (long long)(s->socket_timeout_ms / 1000));
        environment_put(v, "SPARK_PYTHON_RUNTIME=PYTHON_WORKER");
        environment_put(v, "SPARK_JOB_ARTIFACT_UUID=default");
        environment_put(v, "PYTHON_UDF_BATCH_SIZE=100");
        if (s->reuse)
                environment_put(v, "SPARK_REUSE_WORKER=1");
        if (s->worker_memory_mb > 0)
                environment_put(v, "PYSPARK_EXECUTOR_MEMORY_MB=%lld", (long long)s->worker_memory_mb);
        if (s->kill_on_flush_failure)
                environment_put(v, "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE=1");
        if (s->faulthandler_dir)
                environment_put(v, "PYTHON_FAULTHANDLER_DIR=%s", s->faulthandler_dir);
        if (s->idle_dump_s > 0)
                environment_put(v, "PYTHON_TRACEBACK_DUMP_INTERVAL_SECONDS=%lld", (long long)s->idle_dump_s);
        if (!environment_get(spec->environment, "OMP_NUM_THREADS"))
                environment_put(v, "OMP_NUM_THREADS=%lld", (long long)s->task_cpus);
}

/* -------------------------------------------------------------------------------------------------------- starting */

static int python_start(const struct python_spec *spec, const char *module, const char *argument,
                        string_vec *environment, struct python_process *p, struct fst_error *error)
{
        char *words[] = {(char *)spec->program,
                         "-c",
                         (char *)bootstrap,
                         (char *)module,
                         (char *)argument,
                         (char *)(spec->package_path ? spec->package_path : ""),
                         (char *)(spec->package_version ? spec->package_version : ""),
                         (char *)(spec->package_archives ? spec->package_archives : ""),
                         spec->has_archives && !spec->package_archives ? (char *)"more" : (char *)"",
                         NULL};
        vec_push(environment, NULL);
        int r = piped_command_start(&p->command, words, environment->data);
        if (r)
                return error_set(
                        error, r,
                        "Cannot run program \"%s\": %s. Set spark.pyspark.python or PYSPARK_PYTHON to a Python "
                        "that executors have, or send one: --archives env.tar.gz#env and ./env/bin/python",
                        spec->program, strerror(-r));
        return 0;
}

static int python_bad_output(const struct python_spec *spec, const char *module, int32_t found, struct fst_error *error)
{
        return error_set(
                error, -EBADMSG,
                "Bad data in %s's standard output. Invalid port number: %d (0x%08x). Python command to execute "
                "the daemon was: %s -m %s. Check that you don't have any unexpected modules or libraries in "
                "your PYTHONPATH, and that no sitecustomize.py module in your python path or installation "
                "prints to standard output",
                module, found, (unsigned)found, spec->program, module);
}

static int python_no_start(const struct python_spec *spec, const char *module, int r, struct fst_error *error)
{
        if (r == -EPIPE)
                return error_set(error, r, "%s -m %s ended before it listened: see its output in the executor's log",
                                 spec->program, module);
        return error_set(error, r, "%s -m %s did not start: %s", spec->program, module, strerror(-r));
}

/* Reads the version of pyspark that the bootstrap writes. */
static int python_read_version(const struct python_spec *spec, const char *module, const int *stopped,
                               struct python_process *p, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int32_t mark;
        int r = python_read_int(p->command.out, START_TIMEOUT_MS, stopped, &mark);
        if (r == 0 && mark != VERSION_MARK && mark != FAILED_MARK && mark != ARCHIVES_MARK)
                return python_bad_output(spec, module, mark, error);
        if (r == 0)
                r = python_read_text(p->command.out, MAX_TEXT, START_TIMEOUT_MS, stopped, &text);
        if (r)
                return python_no_start(spec, module, r, error);
        if (mark == ARCHIVES_MARK)
                return PYTHON_POOL_E_PACKAGE;
        if (mark == FAILED_MARK)
                return error_set(
                        error, -ENOENT,
                        "%s cannot import pyspark (%s). Install the driver's version of pyspark where executors "
                        "run, or send it with --archives and set spark.pyspark.python",
                        spec->program, buf_text(&text));
        p->version = python_version_parse(buf_text(&text));
        return p->version ? 0
                          : error_set(error, -EINVAL, "%s has pyspark of the unknown version \"%s\"", spec->program,
                                      buf_text(&text));
}

static int python_read_address(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                               struct python_process *p, struct fst_error *error)
{
        int32_t port;
        p->is_unix = s->unix_sockets && p->version >= PYTHON_VERSION(4, 1); /* older ones have none */
        if (!p->is_unix) {
                int r = python_read_int(p->command.out, START_TIMEOUT_MS, stopped, &port);
                if (r)
                        return python_no_start(spec, s->daemon_module, r, error);
                p->port = port;
                return port >= 1 && port <= 65535 ? 0 : python_bad_output(spec, s->daemon_module, port, error);
        }
        _cleanup_(buf_deinit) struct buf path = BUF_INIT;
        int r = python_read_text(p->command.out, sizeof(((struct sockaddr_un *)0)->sun_path) - 1, START_TIMEOUT_MS,
                                 stopped, &path);
        if (r)
                return python_no_start(spec, s->daemon_module, r, error);
        p->path = buf_steal(&path);
        return 0;
}

int python_daemon_read_greeting(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                                struct python_process *process, struct fst_error *error)
{
        int r = python_read_version(spec, s->daemon_module, stopped, process, error);
        return r ? r : python_read_address(s, spec, stopped, process, error);
}

int python_daemon_start(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                        struct python_process *process, struct fst_error *error)
{
        string_vec environment = {0};
        *process = (struct python_process){.command = {.in = -1, .out = -1}};
        process->secret = python_secret_new();
        python_environment(s, spec, &environment);
        if (s->unix_sockets) {
                environment_put(&environment, "PYTHON_UNIX_DOMAIN_ENABLED=True");
                environment_put(&environment, "PYTHON_WORKER_FACTORY_SOCK_DIR=%s", s->socket_dir);
        }
        environment_put(&environment, "PYTHON_WORKER_FACTORY_SECRET=%s", process->secret);
        int r = python_start(spec, s->daemon_module, s->worker_module, &environment, process, error);
        environment_free(&environment);
        if (r == 0)
                r = python_daemon_read_greeting(s, spec, stopped, process, error);
        if (r)
                python_process_end(process);
        return r;
}

/* ------------------------------------------------------------------------------------------------------ connecting */

static int python_connect_unix(const char *path, struct fst_error *error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
                int r = error_errno(error, "cannot connect to Python's daemon at %s", path);
                if (fd >= 0)
                        close(fd);
                return r;
        }
        fcntl(fd, F_SETFL, O_NONBLOCK);
        return fd;
}

static int python_authenticate(const struct python_settings *s, const struct python_process *daemon, int fd,
                               const int *stopped)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int one = 1;
        if (daemon->is_unix)
                return 0;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        python_put_text(&text, daemon->secret);
        int r = python_write(fd, text.data, text.len, s->socket_timeout_ms, stopped);
        buf_reset(&text);
        if (r == 0)
                r = python_read_text(fd, MAX_TEXT, s->socket_timeout_ms, stopped, &text);
        return r ? r : strcmp(buf_text(&text), "ok") == 0 ? 0 : -EACCES;
}

int python_worker_read_greeting(const struct python_settings *s, const struct python_process *daemon, int fd,
                                const int *stopped, int32_t *pid, struct fst_error *error)
{
        int r = python_read_int(fd, START_TIMEOUT_MS, stopped, pid);
        if (r)
                return error_set(error, r, "Python's daemon forked no worker: %s", strerror(-r));
        if (*pid <= 0)
                return error_set(error, *pid < 0 && *pid >= -MAX_ERRNO ? *pid : -EAGAIN,
                                 "Python's daemon cannot fork a worker: %s",
                                 *pid < 0 && *pid >= -MAX_ERRNO ? strerror(-*pid) : "it gave no process id");
        if ((r = python_authenticate(s, daemon, fd, stopped)))
                error_set(error, r, "a new Python worker did not accept its secret: %s", strerror(-r));
        return r;
}

int python_daemon_fork(const struct python_settings *s, const struct python_process *daemon, const int *stopped,
                       int *fd, pid_t *pid, struct fst_error *error)
{
        int32_t answer = 0;
        int connection = daemon->is_unix ? python_connect_unix(daemon->path, error)
                                         : socket_connect("127.0.0.1", daemon->port, ms_to_ns(CONNECT_TIMEOUT_MS),
                                                          stopped, error);
        if (connection < 0)
                return connection;
        int r = python_worker_read_greeting(s, daemon, connection, stopped, &answer, error);
        if (r) {
                close(connection);
                return r;
        }
        *fd = connection;
        *pid = answer;
        return 0;
}

void python_daemon_kill(const struct python_process *daemon, pid_t pid)
{
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        python_put_int(&message, pid);
        if (daemon->command.in >= 0) /* a failure: the daemon has ended */
                (void)piped_command_write(daemon->command.in, message.data, message.len);
}

bool python_process_has_ended(const struct python_process *process)
{
        siginfo_t info = {0};
        return process->command.started &&
               waitid(P_PID, (id_t)process->command.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static void python_process_forget(struct python_process *process)
{
        if (process->path)
                unlink(process->path);
        free(steal(process->path));
        free(steal(process->secret));
}

void python_process_reap(struct python_process *process)
{
        _cleanup_(buf_deinit) struct buf output = BUF_INIT;
        int wait_status;
        piped_command_end(&process->command, &output, NULL, &wait_status);
        python_process_forget(process);
}

void python_process_end(struct python_process *process)
{
        piped_command_kill(&process->command);
        python_process_forget(process);
}

/* ------------------------------------------------------------------------------------------------ without a daemon */

/* Waits for the worker's connection and checks its secret. */
static int python_worker_accept(const struct python_settings *s, struct python_process *p, int listener,
                                const int *stopped, int *fd, pid_t *pid)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int32_t number;
        int r = socket_wait(listener, POLLIN, ms_to_ns(CONNECT_TIMEOUT_MS), stopped);
        if (r <= 0)
                return r ? r : -ETIMEDOUT;
        int connection = socket_accept(listener);
        if (connection < 0)
                return connection;
        r = python_read_text(connection, MAX_TEXT, s->socket_timeout_ms, stopped, &text);
        if (r == 0 && !secret_equals(text.data, text.len, p->secret))
                r = -EACCES;
        buf_reset(&text);
        python_put_text(&text, "ok");
        if (r == 0)
                r = python_write(connection, text.data, text.len, s->socket_timeout_ms, stopped);
        if (r == 0)
                r = python_read_int(connection, CONNECT_TIMEOUT_MS, stopped, &number);
        if (r) {
                close(connection);
                return r;
        }
        *fd = connection;
        *pid = number;
        return 0;
}

int python_worker_start(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                        struct python_process *process, int *fd, pid_t *pid, struct fst_error *error)
{
        string_vec environment = {0};
        int port = 0;
        int listener = socket_listen(&(struct listen_options){.service = "PythonWorkerFactory", .host = "127.0.0.1"},
                                     &port, error);
        if (listener < 0)
                return listener;
        *process = (struct python_process){.command = {.in = -1, .out = -1}};
        process->secret = python_secret_new();
        python_environment(s, spec, &environment);
        environment_put(&environment, "PYTHON_WORKER_FACTORY_PORT=%d", port);
        environment_put(&environment, "PYTHON_WORKER_FACTORY_SECRET=%s", process->secret);
        int r = python_start(spec, s->worker_module, s->worker_module, &environment, process, error);
        environment_free(&environment);
        if (r == 0)
                r = python_read_version(spec, s->worker_module, stopped, process, error);
        if (r == 0 && (r = python_worker_accept(s, process, listener, stopped, fd, pid)))
                error_set(error, r, "Python worker failed to connect back: %s", strerror(-r));
        close(listener);
        if (r)
                python_process_end(process);
        return r;
}
