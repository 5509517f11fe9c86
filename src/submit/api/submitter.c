/* The threads, queues and callbacks of a submitter; see submitter.h. */
#include "submit/api/submitter.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/backend/cluster_manager.h"
#include "exec/app/program_path.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------ handles, under the lock */

static void submitter_release(fst_submission *app)
{
        submit_arguments_deinit(&app->args);
        submission_deinit(&app->prepared);
        for (size_t i = 0; i < app->words.len; i++)
                free(app->words.data[i]);
        vec_deinit(&app->words);
        for (size_t i = 0; i < app->env.len; i++) {
                free(app->env.data[i].name);
                free(app->env.data[i].value);
        }
        vec_deinit(&app->env);
        for (size_t i = 0; app->environment && app->environment[i]; i++)
                free(app->environment[i]);
        free(app->environment);
        if (app->out_fd)
                close(app->out_fd);
        if (app->err_fd)
                close(app->err_fd);
        if (app->class && app->class->release)
                app->class->release(app);
        buf_deinit(&app->warnings);
        pthread_mutex_destroy(&app->preparing);
        free(app->id);
        free(app->error);
        free(app->answer);
        free(app->json);
        free(app->master);
        free(app);
}

void submission_ref(fst_submission *app)
{
        app->refs++;
}

void submission_unref(fst_submission *app)
{
        fst_submitter *s = app->submitter;
        if (--app->refs > 0)
                return;
        for (size_t i = 0; i < s->apps.len; i++) {
                if (s->apps.data[i] == app) {
                        s->apps.data[i] = s->apps.data[--s->apps.len];
                        break;
                }
        }
        submitter_release(app);
}

void submitter_queue_job(fst_submission *app, enum submit_job kind, int64_t due_ms)
{
        submission_ref(app);
        job_queue_add(&app->submitter->jobs, app, kind, due_ms);
        pthread_cond_signal(&app->submitter->work);
}

void submitter_queue_command(fst_submission *app, enum submit_command kind)
{
        submission_ref(app);
        vec_push(&app->submitter->commands, (struct queued_command){app, kind});
        uv_async_send(&app->submitter->wake);
}

static void submitter_queue_event(fst_submission *app, int event)
{
        uint64_t one = 1;
        fst_submitter *s = app->submitter;
        if (!app->callback || app->freed)
                return;
        submission_ref(app);
        vec_push(&s->events, (struct queued_event){app, event});
        (void)!write(s->ready, &one, sizeof(one)); /* fails only if the descriptor is readable already */
}

void submission_set_state(fst_submission *app, int state)
{
        if (app->state == state || fst_submit_is_final(app->state))
                return;
        app->state = state;
        submitter_queue_event(app, FST_SUBMIT_STATE_CHANGED);
        pthread_cond_broadcast(&app->submitter->changed);
}

void submission_set_id(fst_submission *app, const char *id)
{
        free(app->id);
        app->id = mem_strdup(id);
        submitter_queue_event(app, FST_SUBMIT_INFO_CHANGED);
}

void submission_set_error(fst_submission *app, const char *error)
{
        free(app->error);
        app->error = mem_strdup(error);
}

void submission_fail(fst_submission *app, struct fst_error *error)
{
        pthread_mutex_lock(&app->submitter->lock);
        submission_set_error(app, error_message(error));
        submission_set_state(app, FST_SUBMIT_FAILED);
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(error);
}

/* ---------------------------------------------------------------------------------------------------------- workers */

/*
 * Takes the job that is due first. If none is due, returns false and stores the due time of the next one in *@next, or
 * -1.
 */
static bool submitter_take_job(fst_submitter *s, struct queued_job *job, int64_t *next)
{
        const struct queued_job *first = job_queue_first(&s->jobs);
        *next = first ? first->due_ms : -1;
        if (!first || *next > now_ms())
                return false;
        *job = job_queue_take(&s->jobs);
        return true;
}

static void submitter_wait_for_work(fst_submitter *s, int64_t next)
{
        struct timespec until = timespec_of_ns(ms_to_ns(MAX(next, 0)));
        if (next < 0)
                pthread_cond_wait(&s->work, &s->lock);
        else
                pthread_cond_clockwait(&s->work, &s->lock, CLOCK_MONOTONIC, &until);
}

static void *submitter_worker_main(void *context)
{
        fst_submitter *s = context;
        struct submit_worker worker = {.stopped = &s->stopping};
        log_set_quiet(true);
        pthread_mutex_lock(&s->lock);
        while (!s->stopping) {
                struct queued_job job;
                int64_t next;
                if (!submitter_take_job(s, &job, &next)) {
                        submitter_wait_for_work(s, next);
                        continue;
                }
                bool wanted = !job.app->freed || (job.kind != JOB_POLL && job.kind != JOB_REFRESH);
                pthread_mutex_unlock(&s->lock);
                if (wanted)
                        submit_job_run(job.app, job.kind, &worker);
                pthread_mutex_lock(&s->lock);
                submission_unref(job.app);
        }
        pthread_mutex_unlock(&s->lock);
        if (worker.client)
                worker.free_client(worker.client);
        return NULL;
}

/* --------------------------------------------------------------------------------------------------------- the loop */

static bool submitter_take_command(fst_submitter *s, struct queued_command *command)
{
        pthread_mutex_lock(&s->lock);
        bool is = s->commands.len > 0 && !s->stopping;
        if (is) {
                *command = s->commands.data[0];
                memmove(&s->commands.data[0], &s->commands.data[1], --s->commands.len * sizeof(*command));
        }
        pthread_mutex_unlock(&s->lock);
        return is;
}

static void submitter_on_wake(uv_async_t *wake)
{
        fst_submitter *s = wake->data;
        struct queued_command command;
        while (submitter_take_command(s, &command)) {
                if (command.kind < COMMAND_LAUNCH)
                        submit_child_command(command.app, command.kind);
                else
                        command.app->class->command(command.app, command.kind);
                pthread_mutex_lock(&s->lock);
                submission_unref(command.app);
                pthread_mutex_unlock(&s->lock);
        }
        pthread_mutex_lock(&s->lock);
        bool stopping = s->stopping;
        pthread_mutex_unlock(&s->lock);
        if (!stopping || uv_is_closing((uv_handle_t *)wake))
                return;
        for (size_t i = s->apps.len; i-- > 0;) /* the workers ended, and the API forbids further calls */
                submit_child_forget(s->apps.data[i]);
        for (const struct cluster_manager_class *const *m = cluster_managers; *m; m++)
                if ((*m)->submission && (*m)->submission->close)
                        (*m)->submission->close(s);
        launcher_server_close(s->launcher);
        uv_close((uv_handle_t *)wake, NULL);
}

static void *submitter_loop_main(void *context)
{
        fst_submitter *s = context;
        log_set_quiet(true);
        uv_run(&s->loop, UV_RUN_DEFAULT);
        return NULL;
}

/* --------------------------------------------------------------------------------------------------- open and close */

static void submitter_stop_workers(fst_submitter *s)
{
        pthread_mutex_lock(&s->lock);
        __atomic_store_n(&s->stopping, 1, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&s->work);
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        for (int i = 0; i < s->n_workers; i++)
                pthread_join(s->workers[i], NULL);
}

static void submitter_dispose(fst_submitter *s)
{
        while (s->apps.len > 0)
                submitter_release(s->apps.data[--s->apps.len]);
        vec_deinit(&s->apps);
        job_queue_deinit(&s->jobs);
        vec_deinit(&s->commands);
        vec_deinit(&s->events);
        if (s->ready >= 0)
                close(s->ready);
        free(s->program);
        pthread_mutex_destroy(&s->lock);
        pthread_cond_destroy(&s->work);
        pthread_cond_destroy(&s->changed);
        free(s);
}

/* The threads block all signals, which belong to the program. */
static int submitter_start_threads(fst_submitter *s)
{
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = -pthread_create(&s->loop_thread, NULL, submitter_loop_main, s);
        bool has_loop = r == 0;
        while (r == 0 && s->n_workers < SUBMITTER_WORKERS) {
                r = -pthread_create(&s->workers[s->n_workers], NULL, submitter_worker_main, s);
                s->n_workers += r == 0;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r == 0)
                return 0;
        submitter_stop_workers(s);
        if (has_loop) {
                uv_async_send(&s->wake);
                pthread_join(s->loop_thread, NULL);
        } else {
                submitter_on_wake(&s->wake);
                uv_run(&s->loop, UV_RUN_DEFAULT);
        }
        uv_loop_close(&s->loop);
        return r;
}

FST_API int fst_submit_open(fst_submitter **out)
{
        fst_submitter *s = new0(struct fst_submitter);
        *out = NULL;
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->work, NULL);
        pthread_cond_init(&s->changed, NULL);
        s->program = program_find();
        s->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        int r = s->ready < 0 ? -errno : uv_loop_init(&s->loop);
        if (r == 0) {
                bool quiet = log_set_quiet(true);
                uv_async_init(&s->loop, &s->wake, submitter_on_wake);
                s->wake.data = s;
                r = launcher_server_new(&s->loop, &submit_child_ops, &s->launcher, NULL);
                if (r) {
                        uv_close((uv_handle_t *)&s->wake, NULL);
                        uv_run(&s->loop, UV_RUN_DEFAULT);
                        uv_loop_close(&s->loop);
                } else {
                        r = submitter_start_threads(s);
                }
                log_set_quiet(quiet);
        }
        if (r) {
                submitter_dispose(s);
                return r;
        }
        *out = s;
        return 0;
}

FST_API void fst_submit_close(fst_submitter *s)
{
        if (!s)
                return;
        submitter_stop_workers(s);
        uv_async_send(&s->wake);
        pthread_join(s->loop_thread, NULL);
        uv_loop_close(&s->loop);
        submitter_dispose(s);
}

FST_API int fst_submit_set_program(fst_submitter *s, const char *path)
{
        if (!path || path[0] != '/' || access(path, X_OK) != 0)
                return -ENOENT;
        pthread_mutex_lock(&s->lock);
        free(s->program);
        s->program = mem_strdup(path);
        pthread_mutex_unlock(&s->lock);
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- callbacks */

FST_API int fst_submit_fd(fst_submitter *s)
{
        return s->ready;
}

/* Under the lock: takes the next event whose handle was not freed. Without events, makes the descriptor unreadable. */
static bool submitter_take_event(fst_submitter *s, struct queued_event *event)
{
        uint64_t count;
        while (s->events.len > 0) {
                *event = s->events.data[0];
                memmove(&s->events.data[0], &s->events.data[1], --s->events.len * sizeof(*event));
                if (!event->app->freed)
                        return true;
                submission_unref(event->app);
        }
        (void)!read(s->ready, &count, sizeof(count));
        return false;
}

/* Calls one callback without the lock. fst_submit_free waits for it. */
static void submitter_call(fst_submitter *s, struct queued_event event)
{
        s->calling = event.app;
        s->caller = pthread_self();
        pthread_mutex_unlock(&s->lock);
        event.app->callback(event.app->context, event.app, event.event);
        pthread_mutex_lock(&s->lock);
        s->calling = NULL;
        submission_unref(event.app);
        pthread_cond_broadcast(&s->changed);
}

static int submitter_call_all(fst_submitter *s)
{
        struct queued_event event;
        int n = 0;
        pthread_mutex_lock(&s->lock);
        while (s->dispatching)
                pthread_cond_wait(&s->changed, &s->lock);
        s->dispatching = true;
        while (submitter_take_event(s, &event)) {
                submitter_call(s, event);
                n++;
        }
        s->dispatching = false;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        return n;
}

FST_API int fst_submit_dispatch(fst_submitter *s, int timeout_ms)
{
        int64_t until = now_ms() + timeout_ms;
        for (;;) {
                int n = submitter_call_all(s);
                int64_t left = timeout_ms < 0 ? -1 : MAX(until - now_ms(), (int64_t)0);
                if (n > 0 || left == 0)
                        return n;
                struct pollfd ready = {.fd = s->ready, .events = POLLIN};
                if (poll(&ready, 1, (int)left) < 0 && errno != EINTR)
                        return 0;
        }
}
