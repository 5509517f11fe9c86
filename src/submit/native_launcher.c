/*
 * The native launcher; see native_launcher.h.
 *
 * Order: first the checks that need no application (master, kind), then the configuration, then the application. Crash
 * reports and signal handlers are installed right before foreign code can run, because loading a module runs its
 * constructors.
 */
#include "submit/native_launcher.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/master_url.h"
#include "submit/options/arguments.h"
#include "launch/native_program.h"
#include "pyspark_driver/python_driver.h"
#include "submit/options/application_kind.h"
#include "submit/prepare/submission.h"
#include "driver/backend/cluster_manager.h"
#include "io/fs/uri.h"
#include "sparkr/sparkr.h"

#include <stdio.h>
#include <unistd.h>

static int native_launcher_check_master(const struct submit_arguments *a, struct fst_error *error)
{
        const struct cluster_manager_class *manager;
        struct master_url url;
        if (a->value[SUBMIT_REMOTE])
                return error_set(error, -ENOTSUP,
                                 "--remote '%s' is not supported by this version of Firesteel: it has no "
                                 "Spark Connect client",
                                 a->value[SUBMIT_REMOTE]);
        return cluster_manager_read(submit_arguments_master(a), a->compat, (int)sysconf(_SC_NPROCESSORS_ONLN), &manager,
                                    &url, error);
}

/*
 * The path of @uri on this machine ("local:" names a file on every machine), or NULL for a remote URI. Owned by the
 * caller.
 */
static char *native_launcher_local_path(const char *uri)
{
        struct uri parts;
        if (uri_parse(uri, &parts) && uri_has_scheme(&parts, "local") && !parts.opaque)
                return uri_decode(parts.path);
        return uri_local_path(uri);
}

/*
 * The path of the application: as given, or where preparing put it, which is the first class path entry except for the
 * working directory of a driver's pod. NULL for a remote application. Owned by the caller.
 */
static char *native_launcher_application_path(const struct submit_arguments *a, const struct submission *s)
{
        char *given = native_launcher_local_path(a->application);
        size_t i = s->classpath.len > 0 && strcmp(s->classpath.data[0], ".") == 0;
        return given || i >= s->classpath.len ? given : native_launcher_local_path(s->classpath.data[i]);
}

bool native_application_is_at(const char *resource)
{
        static const char elf[4] = {0x7f, 'E', 'L', 'F'};
        char start[sizeof(elf)];
        _cleanup_free_ char *path = native_launcher_local_path(resource);
        FILE *file = path ? fopen(path, "re") : NULL;
        bool is = file && fread(start, 1, sizeof(start), file) == sizeof(start) && memcmp(start, elf, sizeof(elf)) == 0;
        if (file)
                fclose(file);
        return is;
}

/* Runs a program in R, R's shell (without arguments), or the session of an R that waits for the file in @s. */
static int native_launcher_run_r(const struct submit_arguments *a, const struct submission *s,
                                 const struct fst_conf *conf, int *status, struct fst_error *error)
{
        struct native_program program = {.shown = a->application, .conf = conf};
        char *const *words = s->arguments.data;
        size_t n = s->arguments.len;
        int r = native_program_prepare(&program, error);
        if (r < 0)
                return r;
        if (strcmp(s->main_class, SUBMIT_CLASS_R_SHELL) != 0) {
                _cleanup_free_ char *path = native_launcher_local_path(words[0]);
                if (!path)
                        return error_set(error, -ENOTSUP, "R program %s is not a file on this machine: name a local path",
                                         words[0]);
                return sparkr_run(path, words + 1, n - 1, status, error);
        }
        if (n == 0)
                return sparkr_run(NULL, NULL, 0, status, error);
        r = sparkr_serve(words[0], error);
        *status = r ? 1 : 0;
        return r;
}

/* The settings of @s, which live as long as the process. */
static struct fst_conf *native_launcher_conf(const struct submission *s)
{
        static struct fst_conf conf;
        conf_init(&conf);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&s->conf, e));)
                conf_set(&conf, e->key, e->value);
        return &conf;
}

int submit_launch_python(const struct submit_arguments *a, const struct submission *s, int *status,
                         struct fst_error *error)
{
        int r = native_launcher_check_master(a, error);
        if (r < 0)
                return r;
        struct python_driver driver = {.conf = native_launcher_conf(s)};
        if (!submit_is_shell(a->primary_resource)) { /* arguments of Spark's PythonRunner: file, files, arguments */
                driver.file = s->arguments.data[0];
                driver.py_files = s->arguments.data[1];
                driver.arguments = s->arguments.data + 2;
                driver.n = s->arguments.len - 2;
        }
        return python_driver_run(&driver, status, error);
}

int submit_launch(const struct submit_arguments *a, const struct submission *s, int *status, struct fst_error *error)
{
        _cleanup_free_ char *path = native_launcher_application_path(a, s);
        int r = native_launcher_check_master(a, error);
        if (r < 0)
                return r;
        bool is_r = s->main_class && (strcmp(s->main_class, SUBMIT_CLASS_R_RUNNER) == 0 ||
                                      strcmp(s->main_class, SUBMIT_CLASS_R_SHELL) == 0);
        if (!path && !is_r)
                return error_set(error, -ENOTSUP, "application %s is not a file on this machine: name a local path",
                                 a->application);
        const struct fst_conf *conf = native_launcher_conf(s);
        if (is_r)
                return native_launcher_run_r(a, s, conf, status, error);
        struct native_program program = {.path = path,
                                         .shown = a->application,
                                         .entry = s->main_class,
                                         .arguments = s->arguments.data,
                                         .n = s->arguments.len,
                                         .conf = conf};
        r = native_program_prepare(&program, error);
        return r < 0 ? r : native_program_run(&program, status, error);
}
