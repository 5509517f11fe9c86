/* Handles of submissions, the implementation of firesteel/submit.h. submitter.h says what guards each member. */
#include "conf/conf.h"
#include "submit/api/submitter.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "launch/environment.h"
#include "rpc/launcher_wire.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

_Static_assert((int)FST_SUBMIT_LOST == (int)LAUNCHER_LOST && (int)FST_SUBMIT_RUNNING == (int)LAUNCHER_RUNNING,
               "the states of submit.h have the numbers of launcher_wire.h");

FST_API const char *fst_submit_state_name(int state)
{
        return launcher_state_name((enum launcher_state)state);
}

FST_API int fst_submit_is_final(int state)
{
        return launcher_state_is_final((enum launcher_state)state);
}

/* ---------------------------------------------------------------------------------------------------------- parsing */

static int submit_handle_parse(fst_submission *app, struct fst_error *error)
{
        int r = submit_arguments_parse(&app->args, (int)app->words.len, app->words.data, error);
        if (r < 0)
                return r;
        if (app->args.action == SUBMIT_ACTION_VERSION || app->args.action == SUBMIT_ACTION_HELP || app->args.dry_run)
                return error_set(error, -EINVAL,
                                 "--version, --help and --dry-run only print: fst_submit_prepared has "
                                 "what --dry-run shows");
        return 0;
}

FST_API int fst_submit_parse(fst_submitter *s, size_t n, const char *const *words, fst_submission **out)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_submission *app = new0(struct fst_submission);
        app->submitter = s;
        app->refs = 1;
        app->watch_ms = -1;
        app->exit_status = -1;
        pthread_mutex_init(&app->preparing, NULL);
        submit_arguments_init(&app->args);
        for (size_t i = 0; i < n; i++)
                vec_push(&app->words, mem_strdup(words[i]));
        bool quiet = log_set_quiet(true);
        app->parsed = submit_handle_parse(app, &error);
        log_set_quiet(quiet);
        if (app->parsed < 0)
                app->error = mem_strdup(error_message(&error));
        error_deinit(&error);
        pthread_mutex_lock(&s->lock);
        vec_push(&s->apps, app);
        pthread_mutex_unlock(&s->lock);
        *out = app;
        return app->parsed;
}

FST_API void fst_submit_free(fst_submission *app)
{
        if (!app)
                return;
        fst_submitter *s = app->submitter;
        pthread_mutex_lock(&s->lock);
        app->freed = true;
        while (s->calling == app && !pthread_equal(s->caller, pthread_self()))
                pthread_cond_wait(&s->changed, &s->lock);
        if (app->class && app->class->forget && !fst_submit_is_final(app->state) && !s->stopping)
                app->class->forget(app);
        submission_unref(app);
        pthread_mutex_unlock(&s->lock);
}

/* ------------------------------------------------------------------------------------------------- before the start */

/* Takes the lock. Returns -EALREADY if the submission was started, so the handle must not change. */
static int submit_handle_lock_unstarted(fst_submission *app)
{
        pthread_mutex_lock(&app->submitter->lock);
        return app->started ? -EALREADY : 0;
}

static int submit_handle_unlock(fst_submission *app, int r)
{
        pthread_mutex_unlock(&app->submitter->lock);
        return r;
}

FST_API int fst_submit_on_change(fst_submission *app, fst_submit_callback callback, void *context)
{
        int r = submit_handle_lock_unstarted(app);
        if (r == 0) {
                app->callback = callback;
                app->context = context;
        }
        return submit_handle_unlock(app, r);
}

FST_API int fst_submit_set_env(fst_submission *app, const char *name, const char *value)
{
        if (!name || !*name || strchr(name, '='))
                return -EINVAL;
        int r = submit_handle_lock_unstarted(app);
        if (r == 0)
                vec_push(&app->env, (struct env_change){mem_strdup(name), value ? mem_strdup(value) : NULL});
        return submit_handle_unlock(app, r);
}

static int submit_handle_duplicate_fd(int fd, int *out)
{
        if (fd < 0) {
                *out = 0;
                return 0;
        }
        *out = fcntl(fd, F_DUPFD_CLOEXEC, 4);
        return *out < 0 ? -errno : 0;
}

FST_API int fst_submit_set_output(fst_submission *app, int out_fd, int err_fd)
{
        int out, errors, r = submit_handle_duplicate_fd(out_fd, &out);
        if (r < 0)
                return r;
        if ((r = submit_handle_duplicate_fd(err_fd, &errors)) < 0) {
                if (out)
                        close(out);
                return r;
        }
        r = submit_handle_lock_unstarted(app);
        int before[] = {r ? out : app->out_fd, r ? errors : app->err_fd};
        if (r == 0) {
                app->out_fd = out;
                app->err_fd = errors;
        }
        submit_handle_unlock(app, r);
        for (int i = 0; i < 2; i++) {
                if (before[i])
                        close(before[i]);
        }
        return r;
}

FST_API int fst_submit_set_watch(fst_submission *app, int interval_ms)
{
        if (interval_ms < 0)
                return -EINVAL;
        int r = submit_handle_lock_unstarted(app);
        if (r == 0)
                app->watch_ms = interval_ms;
        return submit_handle_unlock(app, r);
}

/* -------------------------------------------------------------------------------------------------------- preparing */

static void submit_handle_add_warnings(fst_submission *app, char *const *lines, size_t n)
{
        pthread_mutex_lock(&app->submitter->lock);
        for (size_t i = 0; i < n; i++)
                buf_printf(&app->warnings, "%s\n", lines[i]);
        pthread_mutex_unlock(&app->submitter->lock);
}

/* Repeats the result of the first call. */
static int submit_handle_repeat_result(fst_submission *app, int r, struct fst_error *error)
{
        pthread_mutex_lock(&app->submitter->lock);
        if (r < 0)
                error_set(error, r, "%s", app->error ? app->error : "the submission could not be prepared");
        pthread_mutex_unlock(&app->submitter->lock);
        return r;
}

static void submit_handle_set_error(fst_submission *app, int r, const struct fst_error *error)
{
        pthread_mutex_lock(&app->submitter->lock);
        if (r < 0)
                submission_set_error(app, error_message(error));
        pthread_mutex_unlock(&app->submitter->lock);
}

int submission_complete(fst_submission *app, struct fst_error *error)
{
        if (app->is_complete)
                return submit_handle_repeat_result(app, app->complete_result, error);
        app->is_complete = true;
        _cleanup_free_ char *conf_dir = submit_conf_dir();
        _cleanup_free_ char *defaults = conf_dir ? mem_printf("%s/spark-defaults.conf", conf_dir) : NULL;
        int r = submit_arguments_complete(&app->args, defaults && access(defaults, F_OK) == 0 ? defaults : NULL,
                                          conf_environment, error);
        if (r == 0)
                r = submit_arguments_validate(&app->args, conf_environment, error);
        submit_handle_add_warnings(app, app->args.messages.data, app->args.messages.len);
        submit_handle_set_error(app, r, error);
        app->complete_result = r;
        return r;
}

/*
 * Opens the stream for spark-submit's output while it prepares: the application's standard error, if the caller set
 * one.
 */
static FILE *submit_handle_open_progress(const fst_submission *app)
{
        pthread_mutex_lock(&app->submitter->lock);
        int fd = app->err_fd ? fcntl(app->err_fd, F_DUPFD_CLOEXEC, 4) : -1;
        pthread_mutex_unlock(&app->submitter->lock);
        FILE *progress = fd >= 0 ? fdopen(fd, "we") : NULL;
        if (fd >= 0 && !progress)
                close(fd);
        return progress;
}

static void submit_handle_close_progress(FILE **progress)
{
        if (*progress)
                fclose(*progress);
        *progress = NULL;
}

int submission_prepare_all(fst_submission *app, struct fst_error *error)
{
        int r = submission_complete(app, error);
        if (r < 0)
                return r;
        if (app->is_prepared)
                return submit_handle_repeat_result(app, app->prepare_result, error);
        if (app->args.action != SUBMIT_ACTION_SUBMIT)
                return error_set(error, -EINVAL,
                                 "--kill and --status cannot be prepared: start them with fst_submit_start");
        app->is_prepared = true;
        app->prepared.progress = submit_handle_open_progress(app);
        r = submission_prepare(&app->args, &app->prepared, error);
        submit_handle_close_progress(&app->prepared.progress);
        submit_handle_add_warnings(app, app->prepared.messages.data, app->prepared.messages.len);
        submit_handle_set_error(app, r, error);
        app->prepare_result = r;
        if (r == 0) {
                char *json = submission_json(&app->prepared);
                pthread_mutex_lock(&app->submitter->lock);
                app->json = json;
                pthread_mutex_unlock(&app->submitter->lock);
        }
        return r;
}

FST_API int fst_submit_prepare(fst_submission *app)
{
        struct fst_error error = FST_ERROR_INIT;
        if (app->parsed < 0)
                return app->parsed;
        bool quiet = log_set_quiet(true);
        pthread_mutex_lock(&app->preparing);
        int r = submission_prepare_all(app, &error);
        pthread_mutex_unlock(&app->preparing);
        log_set_quiet(quiet);
        submit_handle_set_error(app, r, &error);
        error_deinit(&error);
        return r;
}

/* ---------------------------------------------------------------------------------------------------- start and end */

static bool submit_handle_changes_variable(const fst_submission *app, const char *variable)
{
        size_t n = strcspn(variable, "=");
        if (strncmp(variable, "_SPARK_LAUNCHER_", 16) == 0)
                return true; /* belongs to this process's own launcher */
        for (size_t i = 0; i < app->env.len; i++) {
                if (strncmp(app->env.data[i].name, variable, n) == 0 && app->env.data[i].name[n] == '\0')
                        return true;
        }
        return false;
}

/* This process's environment with the handle's changes. The last change of a name wins. */
static char **submit_handle_make_environment(const fst_submission *app)
{
        VEC(char *) all = {0};
        for (size_t i = 0; environ[i]; i++) {
                if (!submit_handle_changes_variable(app, environ[i]))
                        vec_push(&all, mem_strdup(environ[i]));
        }
        for (size_t i = 0; i < app->env.len; i++) {
                const struct env_change *e = &app->env.data[i];
                bool last = true;
                for (size_t j = i + 1; j < app->env.len; j++)
                        last = last && strcmp(app->env.data[j].name, e->name) != 0;
                if (last && e->value)
                        vec_push(&all, mem_printf("%s=%s", e->name, e->value));
        }
        vec_push(&all, NULL);
        return all.data;
}

FST_API int fst_submit_start(fst_submission *app)
{
        if (app->parsed < 0)
                return app->parsed;
        int r = submit_handle_lock_unstarted(app);
        if (r == 0) {
                app->started = true;
                app->environment = submit_handle_make_environment(app);
                submitter_queue_job(app, JOB_START, now_ms());
        }
        return submit_handle_unlock(app, r);
}

FST_API int fst_submit_wait(fst_submission *app, int timeout_ms)
{
        fst_submitter *s = app->submitter;
        int64_t end = now_ms() + timeout_ms;
        struct timespec until = timespec_of_ns(ms_to_ns(MAX(end, 0)));
        int r = 0;
        pthread_mutex_lock(&s->lock);
        while (!fst_submit_is_final(app->state) && r == 0 && !s->stopping)
                r = timeout_ms < 0 ? pthread_cond_wait(&s->changed, &s->lock)
                                   : pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &until);
        return submit_handle_unlock(app, fst_submit_is_final(app->state));
}

/* Under the lock. */
static int submit_handle_check_active(const fst_submission *app)
{
        return app->started && !fst_submit_is_final(app->state) ? 0 : -ESRCH;
}

/* Under the lock: kills the driver. A submission in progress is killed as soon as it is complete. */
static void submit_handle_kill_driver(fst_submission *app)
{
        app->cancelled = true;
        if (app->class)
                app->class->end(app);
}

FST_API int fst_submit_stop(fst_submission *app)
{
        pthread_mutex_lock(&app->submitter->lock);
        int r = submit_handle_check_active(app);
        if (r == 0 && app->is_child && !app->connected)
                r = -ENOTCONN;
        else if (r == 0 && app->is_child)
                submitter_queue_command(app, COMMAND_STOP);
        else if (r == 0)
                submit_handle_kill_driver(app);
        return submit_handle_unlock(app, r);
}

FST_API int fst_submit_kill(fst_submission *app)
{
        pthread_mutex_lock(&app->submitter->lock);
        int r = submit_handle_check_active(app);
        if (r == 0 && app->is_child) {
                app->cancelled = true;
                submitter_queue_command(app, COMMAND_KILL);
        } else if (r == 0) {
                submit_handle_kill_driver(app);
        }
        return submit_handle_unlock(app, r);
}

FST_API int fst_submit_refresh(fst_submission *app)
{
        pthread_mutex_lock(&app->submitter->lock);
        int r = submit_handle_check_active(app);
        if (r == 0 && app->is_child)
                r = -ENOTSUP;
        else if (r == 0)
                r = app->class ? app->class->refresh(app) : -ESRCH;
        return submit_handle_unlock(app, r);
}

/* ---------------------------------------------------------------------------------------------------------- queries */

static int submit_handle_read_int(fst_submission *app, const int *field)
{
        pthread_mutex_lock(&app->submitter->lock);
        return submit_handle_unlock(app, *field);
}

static size_t submit_handle_read_text(fst_submission *app, char *const *field, char *buffer, size_t size)
{
        pthread_mutex_lock(&app->submitter->lock);
        const char *text = *field ? *field : "";
        size_t n = strlen(text);
        if (size > 0) {
                size_t part = MIN(n, size - 1);
                memcpy(buffer, text, part);
                buffer[part] = '\0';
        }
        pthread_mutex_unlock(&app->submitter->lock);
        return n;
}

FST_API int fst_submit_state(fst_submission *app)
{
        return submit_handle_read_int(app, &app->state);
}

FST_API int fst_submit_pid(fst_submission *app)
{
        return submit_handle_read_int(app, &app->pid);
}

FST_API int fst_submit_exit_status(fst_submission *app)
{
        return submit_handle_read_int(app, &app->exit_status);
}

FST_API size_t fst_submit_id(fst_submission *app, char *buffer, size_t size)
{
        return submit_handle_read_text(app, &app->id, buffer, size);
}

FST_API size_t fst_submit_error(fst_submission *app, char *buffer, size_t size)
{
        return submit_handle_read_text(app, &app->error, buffer, size);
}

FST_API size_t fst_submit_answer(fst_submission *app, char *buffer, size_t size)
{
        return submit_handle_read_text(app, &app->answer, buffer, size);
}

FST_API size_t fst_submit_prepared(fst_submission *app, char *buffer, size_t size)
{
        return submit_handle_read_text(app, &app->json, buffer, size);
}

FST_API size_t fst_submit_warnings(fst_submission *app, char *buffer, size_t size)
{
        return submit_handle_read_text(app, &app->warnings.data, buffer, size);
}
