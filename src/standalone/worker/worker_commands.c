/* Carries out the master's commands (LaunchExecutor, KillExecutor, LaunchDriver, KillDriver, ApplicationFinished) and
 * reports ends to it. States and log lines are those of Spark's Worker.
 */
#include "standalone/worker/worker_server_internal.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/worker/driver_runner.h"
#include "standalone/worker/executor_runner.h"
#include "standalone/worker/worker_master_client.h"
#include "rpc/rpc.h"
#include "shuffle/shuffle_service.h"
#include "store/disk_dirs.h"

#include <stdio.h>

#define TYPE WORKER_TYPE

/* ----------------------------------------------------------------------------------------------- applications */

static struct worker_app *find_app(struct worker_server *s, const char *id)
{
        for (size_t i = 0; i < s->apps.len; i++)
                if (strcmp(s->apps.data[i].id, id) == 0)
                        return &s->apps.data[i];
        return NULL;
}

/* Returns the application, with its directories created when its first executor starts. */
static int app_of(struct worker_server *s, const char *id, struct worker_app **out, struct fst_error *error)
{
        struct disk_dirs *dirs;
        *out = find_app(s, id);
        if (*out)
                return 0;
        int r = disk_dirs_for_executors(s->conf->local_dirs, &dirs, error);
        if (r)
                return r;
        struct buf list = BUF_INIT;
        for (size_t i = 0; i < disk_dirs_count(dirs); i++)
                buf_printf(&list, "%s%s", i ? ":" : "", disk_dirs_root(dirs, i));
        vec_push(&s->apps, (struct worker_app){.id = mem_strdup(id), .dirs = dirs, .list = buf_steal(&list)});
        *out = &s->apps.data[s->apps.len - 1];
        return 0;
}

struct removal {
        uv_work_t work;
        struct disk_dirs *dirs;
};

static void remove_dirs(uv_work_t *work)
{
        disk_dirs_free(((struct removal *)work->data)->dirs);
}

static void on_files_removed(uv_work_t *work, int status)
{
        (void)status;
        free(work->data);
}

/* Deletes local directories on a pool thread, because there may be many files. */
static void forget_app(struct worker_server *s, struct worker_app *app)
{
        struct removal *removal = new0(struct removal);
        const struct worker_app gone = *app;
        *app = s->apps.data[--s->apps.len];
        log_info("Worker", "Cleaning up local directories for application %s", gone.id);
        if (s->shuffle)
                shuffle_service_end_application(s->shuffle, gone.id, false);
        removal->work.data = removal;
        removal->dirs = gone.dirs;
        uv_queue_work(s->context.loop, &removal->work, remove_dirs, on_files_removed);
        free(gone.id);
        free(gone.list);
}

static void cleanup_app_if_finished(struct worker_server *s, const char *id)
{
        struct worker_app *app = find_app(s, id);
        if (!app || (!app->finished && !s->stopping))
                return;
        for (size_t i = 0; i < s->view.executors.len; i++)
                if (strcmp(s->view.executors.data[i]->app_id, id) == 0)
                        return;
        forget_app(s, app);
}

void worker_orders_forget_apps(struct worker_server *s)
{
        while (s->apps.len > 0)
                forget_app(s, &s->apps.data[s->apps.len - 1]);
}

static void worker_commands_app_finished(struct worker_server *s, const void *message)
{
        const Firesteel__Standalone__ApplicationId *m = message;
        struct worker_app *app = find_app(s, m->id);
        if (!app)
                return;
        app->finished = true;
        cleanup_app_if_finished(s, m->id);
}

/* -------------------------------------------------------------------------------------------------- executors */

/* Appends to a list of ended items. Above @most, frees the oldest tenth, as Spark does. */
#define retain(list, ended, most, free_oldest)                                                                         \
        do {                                                                                                           \
                vec_push(list, ended);                                                                                 \
                size_t drop_ = (list)->len > (size_t)(most) ? MIN((size_t)MAX((most) / 10, 1), (list)->len) : 0;       \
                for (size_t i_ = 0; i_ < drop_; i_++)                                                                  \
                        free_oldest((list)->data[i_]);                                                                 \
                vec_drop(list, drop_);                                                                                 \
        } while (0)

static void report_executor(struct worker_server *s, const struct worker_executor_state *x, const char *message,
                            const int *status)
{
        Firesteel__Standalone__ExecutorStateChanged m = FIRESTEEL__STANDALONE__EXECUTOR_STATE_CHANGED__INIT;
        m.app_id = x->app_id;
        m.executor = x->id;
        m.state = (char *)executor_state_name(x->state);
        m.message = (char *)(message ? message : "");
        m.has_exit_status = status != NULL;
        m.exit_status = status ? *status : 0;
        if (executor_state_is_finished(x->state))
                worker_masters_send_reliable(s->masters, TYPE(EXECUTOR_STATE_CHANGED), &m.base);
        else
                worker_masters_send(s->masters, TYPE(EXECUTOR_STATE_CHANGED), &m.base);
}

static void executor_free(struct worker_executor_state *x)
{
        executor_runner_free(executor_runner_of(x));
}

static void worker_commands_executor_ended(struct worker_server *s, struct worker_executor_state *x,
                                           const char *message, const int *status)
{
        char code[32] = "";
        if (status)
                snprintf(code, sizeof(code), " exitStatus %d", *status);
        log_info("Worker", "Executor %s/%d finished with state %s%s%s%s", x->app_id, x->id,
                 executor_state_name(x->state), message ? " message " : "", message ? message : "", code);
        report_executor(s, x, message, status);
        for (size_t i = 0; i < s->view.executors.len; i++)
                if (s->view.executors.data[i] == x) {
                        s->view.executors.data[i] = s->view.executors.data[--s->view.executors.len];
                        s->view.cores_used -= x->cores;
                        s->view.memory_used -= x->memory;
                }
        retain(&s->view.finished_executors, x, s->conf->retained_executors, executor_free);
        cleanup_app_if_finished(s, x->app_id);
        worker_server_check_stopped(s);
}

static void executor_has_ended(void *owner, struct executor_runner *runner, int status, const char *message)
{
        worker_commands_executor_ended(owner, executor_runner_state(runner), message, &status);
}

static int start_executor(struct worker_server *s, struct executor_runner *runner,
                          const Firesteel__Standalone__LaunchExecutor *m, struct fst_error *error)
{
        struct worker_app *app;
        int r = app_of(s, m->app_id, &app, error);
        if (r)
                executor_runner_state(runner)->state = EXECUTOR_FAILED;
        return r ? r : executor_runner_start(runner, m, app->list, executor_has_ended, s, error);
}

static void worker_commands_launch_executor(struct worker_server *s, const void *message)
{
        const Firesteel__Standalone__LaunchExecutor *m = message;
        struct fst_error error = FST_ERROR_INIT;
        if (strcmp(m->master_url, worker_masters_url(s->masters)) != 0) {
                log_warn("Worker", "Invalid Master (%s) attempted to launch executor.", m->master_url);
                return;
        }
        if (s->view.decommissioned || s->stopping) {
                log_warn("Worker", "Asked to launch an executor while decommissioned. Not launching executor.");
                return;
        }
        log_info("Worker", "Asked to launch executor %s/%d for %s", m->app_id, m->executor, m->app_name);
        struct executor_runner *runner = executor_runner_new(&s->context, m);
        struct worker_executor_state *x = executor_runner_state(runner);
        vec_push(&s->view.executors, x);
        s->view.cores_used += x->cores;
        s->view.memory_used += x->memory;
        if (start_executor(s, runner, m, &error) == 0) {
                report_executor(s, x, NULL, NULL);
                return;
        }
        log_error("Worker", "Failed to launch executor %s/%d for %s: %s", m->app_id, m->executor, m->app_name,
                  error_message(&error));
        worker_commands_executor_ended(s, x, error_message(&error), NULL);
        error_deinit(&error);
}

static void worker_commands_kill_executor(struct worker_server *s, const void *message)
{
        const Firesteel__Standalone__ExecutorName *m = message;
        for (size_t i = 0; i < s->view.executors.len; i++) {
                struct worker_executor_state *x = s->view.executors.data[i];
                if (x->id == m->executor && strcmp(x->app_id, m->app_id) == 0) {
                        log_info("Worker", "Asked to kill executor %s/%d", m->app_id, m->executor);
                        executor_runner_kill(executor_runner_of(x));
                        return;
                }
        }
        log_info("Worker", "Asked to kill unknown executor %s/%d", m->app_id, m->executor);
}

/* ---------------------------------------------------------------------------------------------------- drivers */

static void report_driver(struct worker_server *s, const struct worker_driver_state *d)
{
        Firesteel__Standalone__DriverStateChanged m = FIRESTEEL__STANDALONE__DRIVER_STATE_CHANGED__INIT;
        m.driver_id = d->id;
        m.state = (char *)driver_state_name(d->state);
        m.exception = d->exception ? d->exception : (char *)"";
        worker_masters_send_reliable(s->masters, TYPE(DRIVER_STATE_CHANGED), &m.base);
}

static void log_driver_end(const struct worker_server *s, const struct worker_driver_state *d)
{
        if (d->state == DRIVER_ERROR)
                log_warn("Worker", "Driver %s failed with unrecoverable exception: %s", d->id, d->exception);
        else if (d->state == DRIVER_FAILED)
                log_warn("Worker", "Driver %s exited with failure%s%s", d->id, d->exception ? ": " : "",
                         d->exception ? d->exception : "");
        else if (d->state == DRIVER_KILLED)
                log_info("Worker", "Driver %s was killed by user", d->id);
        else if (worker_masters_connected(s->masters))
                log_info("Worker", "Driver %s exited successfully", d->id);
        else
                log_warn("Worker", "Driver %s exited successfully while master is disconnected.", d->id);
}

static void driver_free(struct worker_driver_state *d)
{
        driver_runner_free(driver_runner_of(d));
}

/* A driver that ends with the worker is not reported, because the master loses the worker and restarts supervised
 * drivers elsewhere.
 */
static void driver_has_ended(void *owner, struct driver_runner *runner)
{
        struct worker_server *s = owner;
        struct worker_driver_state *d = driver_runner_state(runner);
        log_driver_end(s, d);
        if (!s->stopping || d->state == DRIVER_FINISHED)
                report_driver(s, d);
        for (size_t i = 0; i < s->view.drivers.len; i++)
                if (s->view.drivers.data[i] == d) {
                        s->view.drivers.data[i] = s->view.drivers.data[--s->view.drivers.len];
                        s->view.cores_used -= d->cores;
                        s->view.memory_used -= d->memory;
                }
        retain(&s->view.finished_drivers, d, s->conf->retained_drivers, driver_free);
        worker_server_check_stopped(s);
}

static void worker_commands_launch_driver(struct worker_server *s, const void *message)
{
        const Firesteel__Standalone__LaunchDriver *m = message;
        if (strcmp(m->master_url, worker_masters_url(s->masters)) != 0) {
                log_warn("Worker", "Invalid Master (%s) attempted to launch driver.", m->master_url);
                return;
        }
        if (s->view.decommissioned || s->stopping) {
                log_warn("Worker", "Asked to launch driver %s while decommissioned. Not launching driver.",
                         m->driver_id);
                return;
        }
        log_info("Worker", "Asked to launch driver %s", m->driver_id);
        struct driver_runner *runner = driver_runner_new(&s->context, m);
        struct worker_driver_state *d = driver_runner_state(runner);
        vec_push(&s->view.drivers, d);
        s->view.cores_used += d->cores;
        s->view.memory_used += d->memory;
        driver_runner_start(runner, driver_has_ended, s);
}

static void worker_commands_kill_driver(struct worker_server *s, const void *message)
{
        const Firesteel__Standalone__DriverId *m = message;
        log_info("Worker", "Asked to kill driver %s", m->id);
        for (size_t i = 0; i < s->view.drivers.len; i++)
                if (strcmp(s->view.drivers.data[i]->id, m->id) == 0) {
                        driver_runner_kill(driver_runner_of(s->view.drivers.data[i]));
                        return;
                }
        log_error("Worker", "Asked to kill unknown driver %s", m->id);
}

/* ----------------------------------------------------------------------------------------------------- orders */

/* Messages that only the leading master may send. */
static const struct {
        const ProtobufCMessageDescriptor *descriptor;
        void (*take)(struct worker_server *s, const void *message);
} orders[] = {
        [TYPE(LAUNCH_EXECUTOR)] = {&firesteel__standalone__launch_executor__descriptor,
                                   worker_commands_launch_executor},
        [TYPE(KILL_EXECUTOR)] = {&firesteel__standalone__executor_name__descriptor, worker_commands_kill_executor},
        [TYPE(LAUNCH_DRIVER)] = {&firesteel__standalone__launch_driver__descriptor, worker_commands_launch_driver},
        [TYPE(KILL_DRIVER)] = {&firesteel__standalone__driver_id__descriptor, worker_commands_kill_driver},
        [TYPE(APPLICATION_FINISHED)] = {&firesteel__standalone__application_id__descriptor,
                                        worker_commands_app_finished},
};

void worker_orders_take(struct worker_server *s, const struct rpc_message *m)
{
        struct fst_error error = FST_ERROR_INIT;
        if (m->type >= ARRAY_SIZE(orders) || !orders[m->type].take)
                return;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->len);
        const void *message = standalone_decode(m->body, m->len, orders[m->type].descriptor, &memory, &error);
        if (message)
                orders[m->type].take(s, message);
        else
                log_warn("Worker", "The master says %s", error_message(&error));
        error_deinit(&error);
}
