/* See native_program.h. Loading a module runs its constructors, so all setup precedes it. */
#include "launch/native_program.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/unstopped_context.h"
#include "exec/app/app_loader.h"
#include "exec/app/changed_globals.h"
#include "exec/app/sanitizers.h"
#include "exec/guard/crash.h"
#include "exec/app/module.h"
#include "exec/exit_hooks.h"
#include "logs/log_capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int native_program_prepare(const struct native_program *p, struct fst_error *error)
{
        conf_set_prepared(p->conf);
        exit_hooks_init(EXIT_HOOKS_TIMEOUT_MS);
        sanitizers_start();
        log_capture_start_driver(p->conf); /* before the descriptor for crash reports is copied */
        int report = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        return crash_init(
                report < 0 ? STDERR_FILENO : report,
                "With a local master this ends the application, unless spark.firesteel.task.isolation=process", error);
}

static int native_program_load(const struct native_program *p, struct app *app, struct fst_error *error)
{
        const char *local = getenv("SPARK_LOCAL_DIRS");
        _cleanup_free_ char *dirs = NULL;
        int r = local && local[0] ? 0 : conf_get_string(p->conf, "spark.local.dir", &dirs, error);
        if (r < 0)
                return r;
        if (local && local[0])
                dirs = mem_strdup(local);
        if (dirs)
                dirs[strcspn(dirs, ",")] = 0;
        struct app_options options = {.path = p->path,
                                      .entry = p->entry,
                                      .cc_flags = conf_get_raw(p->conf, "spark.firesteel.cc.flags"),
                                      .cc_march = conf_get_raw(p->conf, "spark.firesteel.cc.march"),
                                      .master = conf_get_raw(p->conf, "spark.master"),
                                      .cc_sanitize = conf_get_raw(p->conf, "spark.firesteel.cc.sanitize"),
                                      .local_dir = dirs};
        bool check;
        if ((r = conf_get_bool(p->conf, "spark.firesteel.check", &check, error)) < 0 ||
            (r = app_load(&options, app, error)) != 0)
                return r;
        if (check)
                changed_globals_watch(app->module);
        return 0;
}

static int native_program_call_main(const struct native_program *p, const struct app *app)
{
        _cleanup_free_ char **argv = new_array(char *, p->n + 2);
        argv[0] = (char *)p->shown;
        for (size_t i = 0; i < p->n; i++)
                argv[i + 1] = p->arguments[i];
        _cleanup_free_ char *name = mem_printf("%s in %s", p->entry ? p->entry : "main", app->module->name);
        const char *before = crash_enter(name);
        int status = app->main((int)p->n + 1, argv);
        crash_leave(before);
        return status;
}

int native_program_run(const struct native_program *p, int *status, struct fst_error *error)
{
        struct app app;
        int r = native_program_load(p, &app, error);
        if (r < 0)
                return r;
        if (r == FST_APP_E_NO_ENTRY) {
                *status = NATIVE_PROGRAM_NO_CLASS;
                return 0;
        }
        int answer = native_program_call_main(p, &app);
        log_capture_recover();
        if (fflush(stdout) != 0 && !log_capture_recover() && answer == 0) {
                error_errno(error, "standard output");
                answer = 1;
        }
        answer = answer < 0 ? 1 : answer; /* a status of fst_context_stop, which must not look like a signal's */
        *status = unstopped_context_end(answer);
        return 0;
}
