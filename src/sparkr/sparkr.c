/* See sparkr.h. */
#include "sparkr/sparkr.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "exec/app/app_compiler.h"
#include "process/exit_cleanup.h"
#include "process/piped_command.h"
#include "rdd/operators/rdd_r.h"
#include "sparkr/r_backend.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The time that R has to connect to the backend that it started, in seconds. */
#define WATCH_TIMEOUT 60

struct sparkr {
        struct r_world world;
        struct r_backend *backend;
        fst_conf *conf;
};

static char *sparkr_setting(const fst_conf *conf, const char *key, const char *otherwise)
{
        const char *value = key ? conf_get_value(conf, key) : NULL;
        return mem_strdup(value && *value ? value : otherwise);
}

/* The version in SparkR's description, or ours. */
static char *sparkr_version(const char *library)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *path = mem_printf("%s/SparkR/DESCRIPTION", library);
        static const char field[] = "\nVersion:";
        if (file_text_read(path, (size_t)1 << 20, &text, NULL) != 0)
                return mem_strdup(fst_version());
        const char *at = strstr(buf_text(&text), field);
        if (!at)
                return mem_strdup(fst_version());
        at += strlen(field);
        at += strspn(at, " \t");
        return mem_strndup(at, strcspn(at, " \t\r\n"));
}

static int sparkr_read_conf(struct sparkr *s, int *heartbeat, struct fst_error *error)
{
        const fst_conf *conf = s->conf;
        _cleanup_free_ char *old = sparkr_setting(conf, "spark.sparkr.r.command", "Rscript");
        _cleanup_free_ char *library = sparkr_setting(conf, "spark.firesteel.r.library", "");
        s->world.command = sparkr_setting(conf, "spark.r.command", old);
        int r = conf_get_bool(conf, "spark.sparkr.use.daemon", &s->world.with_daemon, error);
        if (r == 0)
                r = conf_read_int(conf, "spark.r.backendConnectionTimeout", &s->world.timeout, error);
        if (r == 0)
                r = conf_read_int(conf, "spark.r.heartBeatInterval", heartbeat, error);
        if (r)
                return r;
        if (s->world.timeout < 1 || *heartbeat < 1)
                return error_set(error, -EINVAL,
                                 "spark.r.backendConnectionTimeout and spark.r.heartBeatInterval must be 1 or more");
        if (*heartbeat >= s->world.timeout) /* as Spark: less than R waits */
                *heartbeat = s->world.timeout > 1 ? s->world.timeout - 1 : 1;
        s->world.library = rdd_r_find_library(library, s->world.command);
        return s->world.library ? 0
                                : error_set(error, -ENOENT,
                                            "SparkR was not found: R (%s) has no package of that name. Install it, or "
                                            "name the directory that contains it in spark.firesteel.r.library",
                                            s->world.command);
}

static void sparkr_deinit(struct sparkr *s)
{
        r_backend_stop(s->backend);
        r_world_deinit(&s->world);
        fst_conf_free(s->conf);
}

static int sparkr_init(struct sparkr *s, struct fst_error *error)
{
        int heartbeat = 0;
        *s = (struct sparkr){.conf = fst_conf_new()};
        r_world_init(&s->world);
        int r = sparkr_read_conf(s, &heartbeat, error);
        if (r)
                return r;
        s->world.version = sparkr_version(s->world.library);
        return r_backend_start(&s->world, heartbeat, &s->backend, error);
}

/* ---------------------------------------------------------------------------------------------------- R as a child */

/* The directories that a variable of R names, with SparkR's before them. */
static char *sparkr_libraries(const char *variable, const char *library)
{
        const char *before = getenv(variable);
        return mem_printf("%s=%s%s%s", variable, library, before && *before ? ":" : "", before ? before : "");
}

/*
 * The variables by which SparkR finds the backend. SparkR wants a SPARK_HOME that exists, or would download Spark.
 * @variables has room for 8 and NULL. The caller frees them.
 */
static void sparkr_variables(const struct sparkr *s, const char *profile, char **variables)
{
        const char *home = getenv("SPARK_HOME"), *own = app_compiler_home();
        char **v = variables;
        *v++ = mem_printf("EXISTING_SPARKR_BACKEND_PORT=%d", r_backend_port(s->backend));
        *v++ = mem_printf("SPARKR_BACKEND_AUTH_SECRET=%s", r_backend_secret(s->backend));
        *v++ = mem_printf("SPARKR_BACKEND_CONNECTION_TIMEOUT=%d", s->world.timeout);
        *v++ = mem_printf("SPARKR_PACKAGE_DIR=%s", s->world.library);
        *v++ = mem_printf("R_PROFILE_USER=%s/SparkR/profile/%s", s->world.library, profile);
        *v++ = sparkr_libraries("R_LIBS", s->world.library);
        if (!home || access(home, F_OK) < 0)
                *v++ = mem_printf("SPARK_HOME=%s", own ? own : "/");
        *v = NULL;
}

static void sparkr_free_variables(char **variables)
{
        for (char **v = variables; *v; v++)
                free(*v);
}

static int sparkr_exit_status(int wait_status)
{
        return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Runs @words with output and errors as our output, like Spark. */
static int sparkr_run_batch(struct sparkr *s, char *const *words, int *status, struct fst_error *error)
{
        char *variables[9];
        struct piped_command p;
        _cleanup_(buf_deinit) struct buf output = BUF_INIT;
        int wait_status = 0;
        sparkr_variables(s, "general.R", variables);
        int r = piped_command_start(&p, words, variables);
        sparkr_free_variables(variables);
        if (r)
                return error_set(error, r,
                                 "Cannot run program \"%s\": %s. Install R and a shell on this machine or in this "
                                 "container's image, or name the program in spark.r.command",
                                 s->world.command, strerror(-r));
        close(p.in); /* a program that reads its input sees its end */
        p.in = -1;
        fcntl(p.out, F_SETFL, 0);
        for (ssize_t n = 1; n > 0;) {
                buf_reserve(&output, (size_t)64 << 10);
                n = read(p.out, output.data, (size_t)64 << 10);
                if (n < 0 && errno == EINTR)
                        n = 1;
                else if (n > 0)
                        write_all(STDOUT_FILENO, output.data, (size_t)n);
        }
        r = piped_command_end(&p, &output, NULL, &wait_status);
        *status = r ? 1 : sparkr_exit_status(wait_status);
        return r ? error_set(error, r, "waiting for %s: %s", s->world.command, strerror(-r)) : 0;
}

/* Runs R on the terminal. It gets the signals of the keyboard; this process ignores its interrupts meanwhile. */
static int sparkr_run_shell(struct sparkr *s, int *status, struct fst_error *error)
{
        char *variables[9];
        const char *set = conf_get_value(s->conf, "spark.r.shell.command"), *from = getenv("SPARKR_DRIVER_R");
        const char *program = set && *set ? set : from && *from ? from : "R";
        int wait_status = 0;
        sparkr_variables(s, "shell.R", variables);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
                for (char **v = variables; *v; v++)
                        putenv(*v);
                signal(SIGINT, SIG_DFL);
                signal(SIGPIPE, SIG_DFL);
                execlp(program, program, "--no-save", "--quiet", (char *)NULL);
                fprintf(stderr, "Cannot run program \"%s\": %s\n", program, strerror(errno));
                _exit(127);
        }
        sparkr_free_variables(variables);
        if (child < 0)
                return error_errno(error, "starting %s", program);
        signal(SIGINT, SIG_IGN);
        while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
                ;
        *status = sparkr_exit_status(wait_status);
        return 0;
}

int sparkr_run(const char *path, char *const *arguments, size_t n, int *status, struct fst_error *error)
{
        struct sparkr s;
        int r = sparkr_init(&s, error);
        if (r == 0 && !path) {
                r = sparkr_run_shell(&s, status, error);
        } else if (r == 0) {
                const char *mode = conf_get_value(s.conf, "spark.submit.deployMode");
                const char *driver =
                        mode && strcmp(mode, "client") != 0 ? NULL : conf_get_value(s.conf, "spark.r.driver.command");
                _cleanup_free_ char **words = new_array(char *, n + 6);
                words[0] = "/bin/sh";
                words[1] = "-c";
                words[2] = "exec \"$0\" \"$@\" 2>&1";
                words[3] = driver && *driver ? (char *)driver : s.world.command;
                words[4] = (char *)path;
                for (size_t i = 0; i < n; i++)
                        words[5 + i] = arguments[i];
                r = sparkr_run_batch(&s, words, status, error);
        }
        sparkr_deinit(&s);
        return r;
}

/* --------------------------------------------------------------------------------------------- R as the parent */

/* Writes what R reads, under another name first, so that R never sees a part. */
static int sparkr_tell(const struct sparkr *s, int monitor, const char *path, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        _cleanup_free_ char *temporary = mem_printf("%s.tmp", path);
        const char *secret = r_backend_secret(s->backend);
        r_value_put_int(&out, r_backend_port(s->backend));
        r_value_put_int(&out, monitor);
        r_value_put_string(&out, (fst_bytes){"", 0}); /* no library of packages built from jars */
        r_value_put_int(&out, s->world.timeout);
        r_value_put_string(&out, (fst_bytes){secret, strlen(secret)});
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(error, "%s", temporary);
        int r = write_all(fd, out.data, out.len);
        close(fd);
        if (r == 0 && rename(temporary, path) < 0)
                r = -errno;
        if (r)
                unlink(temporary);
        return r ? error_set(error, r, "%s: %s", path, strerror(-r)) : 0;
}

int sparkr_serve(const char *path, struct fst_error *error)
{
        struct sparkr s;
        int monitor = 0;
        int r = sparkr_init(&s, error);
        if (r == 0)
                r = r_backend_watch_r(s.backend, WATCH_TIMEOUT, &monitor, error);
        if (r == 0)
                r = sparkr_tell(&s, monitor, path, error);
        if (r == 0)
                r_backend_wait(s.backend);
        sparkr_deinit(&s);
        return r;
}
