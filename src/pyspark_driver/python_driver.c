/*
 * The driver of a Python program; see python_driver.h.
 *
 * Python's end is ours: its child process ends, or the pipe on our standard input. The engine then stops at once, and
 * with it its executors. If a signal ends us first, a hook ends the child.
 */
#include "pyspark_driver/python_driver.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "driver/unstopped_context.h"
#include "exec/exit_hooks.h"
#include "exec/guard/crash.h"
#include "io/fs/uri.h"
#include "logs/log_capture.h"
#include "net/secret.h"
#include "process/exit_cleanup.h"
#include "process/library_path.h"
#include "py4j/gateway.h"
#include "py4j/server.h"
#include "pyspark_driver/classes.h"

#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTION_INFO "_PYSPARK_DRIVER_CONN_INFO_PATH"

/* How long a program that got SIGINT with us has to end by itself. */
#define CHILD_GRACE_MS 2000

extern char **environ;

/* ------------------------------------------------------------------------------------------------- settings */

/* Returns the interpreter of the driver, by Spark's rule. */
static const char *driver_interpreter(const struct fst_conf *conf)
{
        const char *const candidates[] = {conf_get_raw(conf, "spark.pyspark.driver.python"),
                                          conf_get_raw(conf, "spark.pyspark.python"), getenv("PYSPARK_DRIVER_PYTHON"),
                                          getenv("PYSPARK_PYTHON")};
        for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
                if (candidates[i] && candidates[i][0])
                        return candidates[i];
        return "python3";
}

/* The interpreter that started this process, if it is one; owned by the caller. */
static char *driver_parent_interpreter(void)
{
        _cleanup_(buf_deinit) struct buf words = BUF_INIT;
        _cleanup_free_ char *path = mem_printf("/proc/%d/cmdline", (int)getppid());
        if (file_text_read(path, 1 << 20, &words, NULL) < 0 || !words.len)
                return NULL;
        return strstr(text_base_name(words.data), "python") ? mem_strdup(words.data) : NULL;
}

/* The path of a local URI, as Spark's PythonRunner accepts it. */
static int driver_local_file(const char *uri, char **path, struct fst_error *error)
{
        struct uri parts;
        if (uri_parse(uri, &parts) && uri_has_scheme(&parts, "local") && !parts.opaque)
                *path = uri_decode(parts.path);
        else
                *path = uri_local_path(uri);
        if (*path)
                return 0;
        return error_set(error, -ENOTSUP,
                         "Launching Python applications through spark-submit is currently only supported for local "
                         "files: %s",
                         uri);
}

/* Copies a .py file into a directory of its own, because a path for modules must be a directory. */
static int driver_add_module(const char *file, struct buf *path, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *directory = NULL;
        int r = file_text_read(file, (size_t)1 << 30, &text, error);
        if (r == 0)
                r = exit_cleanup_make_directory("/tmp/localPyFiles", &directory, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *copy = mem_printf("%s/%s", directory, text_base_name(file));
        FILE *out = fopen(copy, "we");
        if (!out || fwrite(text.data ? text.data : "", 1, text.len, out) != text.len)
                r = error_errno(error, "%s", copy);
        if (out)
                fclose(out);
        buf_printf(path, "%s%s", path->len ? ":" : "", directory);
        return r;
}

/* PYTHONPATH of the program: its files, then what was there. */
static int driver_python_path(const char *py_files, struct buf *path, struct fst_error *error)
{
        _cleanup_free_ char *list = mem_strdup(py_files ? py_files : "");
        for (char *rest, *uri = strtok_r(list, ",", &rest); uri; uri = strtok_r(NULL, ",", &rest)) {
                _cleanup_free_ char *file = NULL;
                int r = driver_local_file(uri, &file, error);
                if (r == 0 && text_ends_with(file, ".py"))
                        r = driver_add_module(file, path, error);
                else if (r == 0)
                        buf_printf(path, "%s%s", path->len ? ":" : "", file);
                if (r < 0)
                        return r;
        }
        const char *inherited = getenv("PYTHONPATH");
        if (inherited && inherited[0])
                buf_printf(path, "%s%s", path->len ? ":" : "", inherited);
        return 0;
}

static void driver_set_if(struct string_list *environment, const char *name, const char *value)
{
        if (value && value[0])
                string_list_set_variable(environment, name, value);
}

static int driver_environment(const struct python_driver *d, int port, const char *secret, struct string_list *out,
                              struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf path = BUF_INIT;
        _cleanup_free_ char *number = mem_printf("%d", port);
        int r = driver_python_path(d->py_files, &path, error);
        if (r < 0)
                return r;
        for (char **variable = environ; *variable; variable++)
                string_list_add(out, *variable);
        _cleanup_free_ char *libraries = library_path_of_programs();
        if (libraries)
                string_list_set_variable(out, "LD_LIBRARY_PATH", libraries);
        string_list_set_variable(out, "PYSPARK_GATEWAY_PORT", number);
        string_list_set_variable(out, "PYSPARK_GATEWAY_SECRET", secret);
        string_list_set_variable(out, "PYTHONUNBUFFERED", "YES");
        if (!string_list_variable(out, "PYTHONHASHSEED"))
                string_list_set_variable(out, "PYTHONHASHSEED", "0");
        driver_set_if(out, "PYTHONPATH", buf_text(&path));
        driver_set_if(out, "PYSPARK_PYTHON", conf_get_raw(d->conf, "spark.pyspark.python"));
        driver_set_if(out, "MASTER", conf_get_raw(d->conf, "spark.master"));
        if (!getenv("OMP_NUM_THREADS"))
                driver_set_if(out, "OMP_NUM_THREADS", conf_get_raw(d->conf, "spark.driver.cores"));
        return 0;
}

/* -------------------------------------------------------------------------------------------------- the child */

static int driver_child; /* the process id of Python; 0: none. Atomic */

/* The process ends by a signal, which Python may have got as well. */
static void driver_end_child(void *context)
{
        (void)context;
        for (int waited = 0; waited < CHILD_GRACE_MS; waited += 10) {
                int pid = __atomic_load_n(&driver_child, __ATOMIC_ACQUIRE);
                if (!pid)
                        return;
                if (waited == 0 && exit_hooks_status() != 128 + SIGINT)
                        kill(pid, SIGTERM);
                usleep(10000);
        }
        int pid = __atomic_load_n(&driver_child, __ATOMIC_ACQUIRE);
        if (pid)
                kill(pid, SIGKILL);
}

/* Starts Python in our process group, so that Ctrl-C reaches both; what it prints goes to one stream, as with Spark. */
static int driver_spawn(const char *interpreter, char **words, char **environment, pid_t *pid, struct fst_error *error)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, all;
        sigemptyset(&none);
        sigemptyset(&all);
        sigaddset(&all, SIGINT);
        sigaddset(&all, SIGTERM);
        sigaddset(&all, SIGHUP);
        sigaddset(&all, SIGPIPE);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        int r = posix_spawnp(pid, interpreter, &actions, &attributes, words, environment);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        return r ? error_set(error, -r,
                             "Cannot run program \"%s\": %s. Set spark.pyspark.python or PYSPARK_PYTHON to a Python "
                             "interpreter",
                             interpreter, strerror(r))
                 : 0;
}

static int driver_run_child(const struct python_driver *d, const char *interpreter, int port, const char *secret,
                            int *status, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list words = {0}, environment = {0};
        _cleanup_free_ char *file = NULL;
        int r = driver_local_file(d->file, &file, error), ended = 0;
        pid_t pid;
        if (r == 0)
                r = driver_environment(d, port, secret, &environment, error);
        if (r < 0)
                return r;
        string_list_add(&words, interpreter);
        string_list_add(&words, file);
        for (size_t i = 0; i < d->n; i++)
                string_list_add(&words, d->arguments[i]);
        if ((r = exit_hooks_add(driver_end_child, NULL, error)) < 0 ||
            (r = driver_spawn(interpreter, string_list_argv(&words), string_list_argv(&environment), &pid, error)) < 0)
                return r;
        __atomic_store_n(&driver_child, pid, __ATOMIC_RELEASE);
        while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
                ;
        __atomic_store_n(&driver_child, 0, __ATOMIC_RELEASE);
        *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
        return 0;
}

/* --------------------------------------------------------------------------------------- started by Python */

/* Writes port and secret to the file that Python waits for, which appears complete. */
static int driver_write_connection(const char *path, int port, const char *secret, struct fst_error *error)
{
        _cleanup_free_ char *unfinished = mem_printf("%s.part", path);
        unsigned char head[8];
        size_t n = strlen(secret);
        for (size_t i = 0; i < 4; i++) {
                head[i] = (unsigned char)((unsigned)port >> (24 - 8 * i));
                head[4 + i] = (unsigned char)(n >> (24 - 8 * i));
        }
        int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(error, "%s", unfinished);
        int r = write_all(fd, head, sizeof(head));
        if (r == 0)
                r = write_all(fd, secret, n);
        close(fd);
        if (r == 0 && rename(unfinished, path) < 0)
                r = -errno;
        return r < 0 ? error_set(error, r, "%s: %s", path, strerror(-r)) : 0;
}

/* Interactive programs log warnings only, unless they choose a level. */
static void driver_quieten(const struct fst_conf *conf)
{
        if (log4j2_is_configured(conf, getenv("SPARK_CONF_DIR")))
                return;
        log4j2_set_default(LOG_WARN);
        log_set_level(LOG_WARN);
        fputs("Setting default log level to \"WARN\".\n"
              "To adjust logging level use sc.setLogLevel(newLevel).\n",
              stderr);
}

/* Serves until Python closes our standard input, which it does at the latest by its end. */
static int driver_serve_parent(int port, const char *secret, struct fst_error *error)
{
        const char *path = getenv(CONNECTION_INFO);
        char ignored[256];
        if (!path || !path[0])
                return error_set(error, -EINVAL,
                                 "pyspark-shell is started by Python: " CONNECTION_INFO
                                 " is not set. Run bin/pyspark for a shell, or python3 with SPARK_HOME set to this "
                                 "directory");
        int r = driver_write_connection(path, port, secret, error);
        while (r == 0) {
                ssize_t n = read(STDIN_FILENO, ignored, sizeof(ignored));
                if (n == 0 || (n < 0 && errno != EINTR))
                        break;
        }
        return r;
}

/* --------------------------------------------------------------------------------------------------- running */

/*
 * On YARN the submission puts --py-files into a list of their own, which Spark's executors get on PYTHONPATH. Ours get
 * them as with other masters: as files of the application. In cluster mode, containers have them on PYTHONPATH.
 */
static void driver_send_python_files(struct fst_conf *conf)
{
        const char *own = conf_get_raw(conf, "spark.yarn.dist.pyFiles"), *files = conf_get_raw(conf, "spark.files");
        const char *mode = conf_get_raw(conf, "spark.submit.deployMode");
        if (!own || !*own || (mode && strcmp(mode, "cluster") == 0))
                return;
        _cleanup_free_ char *all = mem_printf("%s%s%s", files ? files : "", files && *files ? "," : "", own);
        conf_set(conf, "spark.files", all);
}

/* Puts the zip files on PYTHONPATH if @interpreter has no pyspark. */
static int driver_add_pyspark(const struct python_driver *d, const char *interpreter, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf path = BUF_INIT;
        const char *inherited = getenv("PYTHONPATH");
        struct python_package package;
        if (!d->pyspark || !d->pyspark[0])
                return 0;
        python_package_find(interpreter, &package);
        const bool has = package.folder;
        python_package_deinit(&package);
        if (has)
                return 0;
        if (inherited && inherited[0])
                buf_puts(&path, inherited);
        for (char *const *file = d->pyspark; *file; file++) {
                char *absolute = realpath(*file, NULL);
                if (!absolute)
                        return error_errno(error, "%s", *file);
                buf_printf(&path, "%s%s", path.len ? ":" : "", absolute);
                free(absolute);
        }
        setenv("PYTHONPATH", buf_text(&path), 1);
        return 0;
}

static int driver_prepare(const struct python_driver *d, struct fst_error *error)
{
        driver_send_python_files(d->conf);
        conf_set_prepared(d->conf);
        exit_hooks_init(EXIT_HOOKS_TIMEOUT_MS);
        log_capture_start_driver(d->conf);
        int report = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        return crash_init(report < 0 ? STDERR_FILENO : report, "This ends the driver of the Python program", error);
}

/* Ends a context that the program did not stop. Failed actions are the program's business, which got exceptions. */
static void driver_end_context(int status)
{
        struct fst_context *sc = context_claim_end();
        unstopped_context_forget(NULL);
        if (sc) {
                log_info("SparkContext", "Invoking stop() from shutdown hook");
                context_end(sc, status);
        }
}

int python_driver_run(const struct python_driver *d, int *status, struct fst_error *error)
{
        struct py4j_server *server;
        char secret[SECRET_TEXT];
        int port, ended = 0, r = driver_prepare(d, error);
        if (r < 0)
                return r;
        if ((r = secret_draw(secret, sizeof(secret))) < 0)
                return error_set(error, r, "random bytes for a secret: %s", strerror(-r));
        if (!d->file)
                driver_quieten(d->conf);
        _cleanup_free_ char *parent = d->file ? NULL : driver_parent_interpreter();
        const char *interpreter = parent ? parent : driver_interpreter(d->conf);
        if ((r = driver_add_pyspark(d, interpreter, error)) < 0)
                return r;
        struct pyspark *p = pyspark_new(interpreter);
        struct py4j_gateway_options options = pyspark_gateway_options(p);
        struct py4j_gateway *gateway = py4j_gateway_new(&options);
        r = py4j_server_start(gateway, secret, &server, &port, error);
        if (r == 0)
                r = d->file ? driver_run_child(d, interpreter, port, secret, &ended, error)
                            : driver_serve_parent(port, secret, error);
        if (r < 0)
                return r;
        if (d->file && ended == 1 && !p->package.folder)
                log_warn(
                        "PythonDriver",
                        "%s has no package pyspark, which the program probably needs: run %s -m pip install pyspark, or "
                        "set spark.pyspark.python to an interpreter that has it",
                        interpreter, interpreter);
        /* The server's threads may still call a context that Python did not stop: it ends, and with it this process. */
        driver_end_context(ended);
        exit_cleanup_remove(p->local_dir);
        *status = ended;
        return 0;
}
