/*
 * The native launcher; see native_launcher.h.
 *
 * Order: first everything that can be wrong without touching the application (its master, its kind), then the
 * configuration, then the application. Crash reports and signals are set up right before foreign code can run:
 * loading a module runs its constructors.
 */
#include "deploy/submit/native_launcher.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/conf.h"
#include "conf/master_url.h"
#include "deploy/submit/arguments.h"
#include "deploy/submit/submission.h"
#include "exec/app_loader.h"
#include "exec/crash.h"
#include "exec/module.h"
#include "exec/shutdown.h"
#include "io/uri.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int check_master(const struct submit_arguments *a, struct fst_error *error)
{
        const char *master = submit_arguments_master(a);
        struct master_url url;
        if (a->value[SUBMIT_REMOTE])
                return error_set(error, -ENOTSUP,
                                 "--remote '%s' is not supported by this version of Firesteel: it has no "
                                 "Spark Connect client",
                                 a->value[SUBMIT_REMOTE]);
        int r = master_url_parse(master, (int)sysconf(_SC_NPROCESSORS_ONLN), &url, error);
        if (r < 0)
                return r;
        bool local = url.kind == MASTER_LOCAL || url.kind == MASTER_LOCAL_CLUSTER;
        if (!local && url.kind != MASTER_SPARK)
                return error_set(error, -ENOTSUP,
                                 "master '%s': this version of Firesteel runs applications on local masters (local, "
                                 "local[N], local[*], local[N,maxFailures], local-cluster[N,cores,MiB]) and on "
                                 "standalone ones (spark://host:port[,host:port...])",
                                 master);
        if (local && a->value[SUBMIT_DEPLOY_MODE] && strcmp(a->value[SUBMIT_DEPLOY_MODE], "cluster") == 0)
                return error_set(error, -EINVAL, "Cluster deploy mode is not compatible with master \"local\"");
        return 0;
}

/* Where the application lies: as it was given, or where preparing has put it; NULL: elsewhere. The caller owns it. */
static char *application_path(const struct submit_arguments *a, const struct submission *s)
{
        const char *prepared = s->classpath.len ? s->classpath.data[0] : a->application;
        char *given = uri_local_path(a->application);
        if (given)
                return given;
        if (text_starts_with(prepared, "local:/")) /* it is on all machines: on this one too */
                return mem_strdup(prepared + strlen("local:"));
        return uri_local_path(prepared);
}

static int load(const struct submission *s, const struct fst_conf *conf, const char *path, struct app *app,
                struct fst_error *error)
{
        const char *local = getenv("SPARK_LOCAL_DIRS");
        _cleanup_free_ char *dirs = NULL;
        int r = local && local[0] ? 0 : conf_get_string(conf, "spark.local.dir", &dirs, error);
        if (r < 0)
                return r;
        if (local && local[0])
                dirs = mem_strdup(local);
        if (dirs)
                dirs[strcspn(dirs, ",")] = 0;
        struct app_options options = {.path = path,
                                      .entry = s->main_class,
                                      .cc_flags = conf_get_raw(conf, "spark.firesteel.cc.flags"),
                                      .local_dir = dirs};
        return app_load(&options, app, error);
}

static int call_main(const char *name, const struct submission *s, const struct app *app)
{
        size_t n = s->arguments.len;
        _cleanup_free_ char **argv = new_array(char *, n + 2);
        argv[0] = (char *)name;
        for (size_t i = 0; i < n; i++)
                argv[i + 1] = s->arguments.data[i];
        _cleanup_free_ char *what = mem_printf("%s in %s", s->main_class ? s->main_class : "main", app->module->name);
        const char *before = crash_enter(what);
        int status = app->main((int)n + 1, argv);
        crash_leave(before);
        return status;
}

int submit_launch(const struct submit_arguments *a, const struct submission *s, int *status, struct fst_error *error)
{
        static struct fst_conf conf; /* for the whole life of the process */
        _cleanup_free_ char *path = application_path(a, s);
        int r = check_master(a, error);
        if (r < 0)
                return r;
        if (!path)
                return error_set(error, -ENOTSUP, "application %s names no file on this machine", a->application);
        conf_init(&conf);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&s->conf, e));)
                conf_set(&conf, e->key, e->value);
        conf_set_prepared(&conf);
        shutdown_init();
        int report = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        r = crash_init(report < 0 ? STDERR_FILENO : report,
                       "With a local master this ends the application, unless spark.firesteel.task.isolation=process",
                       error);
        if (r < 0)
                return r;
        struct app app;
        r = load(s, &conf, path, &app, error);
        if (r < 0)
                return r;
        if (r == FST_APP_E_NO_ENTRY) {
                *status = SUBMIT_EXIT_NO_CLASS;
                return 0;
        }
        int answer = call_main(a->application, s, &app);
        if (fflush(stdout) != 0 && answer == 0) {
                error_errno(error, "standard output");
                answer = 1;
        }
        *status = answer < 0 ? 1 : answer; /* a status of fst_context_stop: not what a signal's end looks like */
        return 0;
}
