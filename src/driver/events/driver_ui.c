/* See driver_ui.h. */
#include "driver/events/driver_ui.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/redact.h"
#include "driver/context.h"
#include "driver/driver_metrics.h"
#include "driver/events/app_status.h"
#include "driver/job_runner.h"
#include "events/event_json.h"
#include "exec/app/source_text.h"
#include "rpc/control.pb-c.h"
#include "ui/pages/pages.h"
#include "ui/ui_site.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct driver_ui {
        struct fst_context *sc;
        struct app_source source; /* the one application */
        struct app_view_class view_class;
        struct redactor redactor;
        char *address, *logs_dir;
        uv_loop_t loop;
        uv_async_t stop;
        struct ui_site *site;
        pthread_t thread;
        bool has_thread;
};

/* -------------------------------------------------------------------------------------------- the application */

static struct driver_ui *driver_ui_of_source(struct app_source *source)
{
        return container_of(source, struct driver_ui, source);
}

static void driver_ui_list(struct app_source *source, const char *id, struct app_list *out)
{
        const struct fst_context *sc = driver_ui_of_source(source)->sc;
        if (id && strcmp(id, sc->app_id) != 0)
                return;
        struct app_attempt *attempt = arena_alloc(&out->texts, sizeof(*attempt));
        *attempt = (struct app_attempt){.start_ms = sc->started_ms,
                                        .end_ms = -1,
                                        .updated_ms = sc->started_ms,
                                        .user = sc->user,
                                        .spark_version = EVENT_JSON_SPARK_VERSION,
                                        .exit_code = -1};
        vec_push(&out->apps, (struct app_summary){sc->app_id, sc->app_name, attempt, 1});
}

/* As in Spark, any attempt in the path stands for this one. */
static int driver_ui_open_view(struct app_source *source, const char *id, const char *attempt, struct app_view **out,
                               struct fst_error *error)
{
        const struct fst_context *sc = driver_ui_of_source(source)->sc;
        if (strcmp(id, sc->app_id) != 0)
                return -ENOENT;
        *out = app_status_view(sc->app_status);
        return 0;
}

static void driver_ui_release_view(struct app_source *source, struct app_view *view)
{
}

static void driver_ui_kill_job(struct app_view *view, int job)
{
        job_runner_cancel_job(view->owner, job);
}

static void driver_ui_kill_stage(struct app_view *view, int stage)
{
        job_runner_cancel_stage(view->owner, stage);
}

static const char *driver_ui_find_source(struct app_view *view, const char *file)
{
        return source_text_find(file);
}

/* --------------------------------------------------------------------------------------------------- threads */

/* Java's word for a state of Linux and what a thread waits for. */
static const char *driver_ui_thread_state(char state, const char *wait)
{
        switch (state) {
        case 'R':
                return "RUNNABLE";
        case 'D':
                return "BLOCKED";
        case 'Z':
        case 'X':
                return "TERMINATED";
        default:
                return strstr(wait, "sleep") ? "TIMED_WAITING" : "WAITING";
        }
}

static const char *driver_ui_copy_text(struct arena *arena, const char *text)
{
        return arena_copy(arena, text, strlen(text) + 1);
}

static void driver_ui_add_thread(struct app_threads *out, const Firesteel__Thread *t)
{
        const char **stack = arena_alloc(&out->texts, (t->n_stack + 1) * sizeof(*stack));
        for (size_t i = 0; i < t->n_stack; i++)
                stack[i] = driver_ui_copy_text(&out->texts, t->stack[i]);
        vec_push(&out->list, (struct app_thread){.id = t->id,
                                                 .name = driver_ui_copy_text(&out->texts, t->name),
                                                 .state = driver_ui_thread_state(t->state[0], t->wait),
                                                 .wait = driver_ui_copy_text(&out->texts, t->wait),
                                                 .function = driver_ui_copy_text(&out->texts, t->function),
                                                 .task_id = t->task_id,
                                                 .cpu_ms = t->cpu_ms,
                                                 .stack = stack,
                                                 .n_stack = t->n_stack});
}

static bool driver_ui_threads(struct app_view *view, const char *executor, struct app_threads *out)
{
        struct driver_ui *ui = container_of(view->class, struct driver_ui, view_class);
        struct buf packed = BUF_INIT;
        Firesteel__ThreadDump *dump = NULL;
        if (job_runner_dump_threads(ui->sc->runner, executor, &packed))
                dump = firesteel__thread_dump__unpack(NULL, packed.len, (const uint8_t *)buf_text(&packed));
        for (size_t i = 0; dump && i < dump->n_threads; i++)
                driver_ui_add_thread(out, dump->threads[i]);
        bool is_known = dump != NULL;
        firesteel__thread_dump__free_unpacked(dump, NULL);
        buf_deinit(&packed);
        return is_known;
}

/* ------------------------------------------------------------------------------------------------ the thread */

static void driver_ui_measure(void *owner, struct metrics_snapshot *out)
{
        struct driver_ui *ui = owner;
        driver_metrics_measure(ui->sc->metrics, out);
}

static void driver_ui_measure_view(struct app_view *view, struct metrics_snapshot *out)
{
        const struct driver_ui *ui = container_of(view->class, struct driver_ui, view_class);
        driver_metrics_measure(ui->sc->metrics, out);
}

static void driver_ui_on_stop(uv_async_t *stop)
{
        struct driver_ui *ui = stop->loop->data;
        ui_site_free(steal(ui->site));
        uv_close((uv_handle_t *)stop, NULL);
}

static void *driver_ui_run(void *context)
{
        struct driver_ui *ui = context;
        uv_run(&ui->loop, UV_RUN_DEFAULT);
        return NULL;
}

/* ---------------------------------------------------------------------------------------------- start and end */

/* Spark's address has SPARK_PUBLIC_DNS, or the driver's host. */
static char *driver_ui_make_address(const struct driver_ui *ui)
{
        const char *public = getenv("SPARK_PUBLIC_DNS");
        return mem_printf("%s://%s:%d", ui_site_is_secure(ui->site) ? "https" : "http",
                          public && *public ? public : ui->sc->host, ui_site_port(ui->site));
}

int driver_ui_open(struct fst_context *sc, struct driver_ui **out, struct fst_error *error)
{
        static const struct app_source_class source_class = {
                .list = driver_ui_list, .open = driver_ui_open_view, .release = driver_ui_release_view};
        bool enabled, kill, source, threads;
        int64_t port;
        int r = conf_get_bool(sc->conf, "spark.ui.enabled", &enabled, error);
        if (r == 0)
                r = conf_get_bool(sc->conf, "spark.ui.killEnabled", &kill, error);
        if (r == 0)
                r = conf_get_bool(sc->conf, "spark.firesteel.ui.source", &source, error);
        if (r == 0)
                r = conf_get_bool(sc->conf, "spark.ui.threadDumpsEnabled", &threads, error);
        if (r == 0)
                r = conf_get_int(sc->conf, "spark.ui.port", &port, error);
        if (r < 0 || !enabled)
                return r;
        struct driver_ui *ui = new0(struct driver_ui);
        conf_get_string(sc->conf, "spark.firesteel.logs.dir", &ui->logs_dir, NULL);
        ui->sc = sc;
        ui->source.class = &source_class;
        ui->view_class = (struct app_view_class){.kill_job = kill ? driver_ui_kill_job : NULL,
                                                 .kill_stage = kill ? driver_ui_kill_stage : NULL,
                                                 .threads = threads ? driver_ui_threads : NULL,
                                                 .source = source ? driver_ui_find_source : NULL,
                                                 .measure = driver_ui_measure_view};
        uv_loop_init(&ui->loop);
        ui->loop.data = ui;
        uv_async_init(&ui->loop, &ui->stop, driver_ui_on_stop);
        const struct ui_site_options options = {.loop = &ui->loop,
                                                .conf = sc->conf,
                                                .name = "SparkUI",
                                                .tls_space = "ui",
                                                .port = (int)port,
                                                .any_port = !conf_contains(sc->conf, "spark.ui.port"),
                                                .source = &ui->source,
                                                .serve_page = pages_serve,
                                                .measure = driver_ui_measure,
                                                .owner = ui};
        r = ui_site_new(&options, &ui->site, error);
        if (r < 0) {
                driver_ui_free(ui);
                return r;
        }
        ui->address = driver_ui_make_address(ui);
        log_info("SparkUI", "Bound SparkUI to %s, and started at %s", "0.0.0.0", ui->address);
        if (port > 0 && !ui_site_is_secure(ui->site) && ui_site_port(ui->site) != port)
                log_at(options.any_port ? LOG_INFO : LOG_WARN, "SparkUI",
                       "Port %d is in use: the pages of this application are at %s", (int)port, ui->address);
        *out = ui;
        return 0;
}

void driver_ui_start(struct driver_ui *ui)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!ui)
                return;
        if (ui_site_read_proxy(ui->site, &error) < 0) { /* the cluster manager may have changed it */
                log_error("SparkUI", "This application has no pages: %s", error_message(&error));
                return;
        }
        ui->source.app_id = ui->sc->app_id;
        redactor_init_lenient(&ui->redactor, conf_get_raw(ui->sc->conf, "spark.redaction.regex"));
        struct app_view *view = app_status_view(ui->sc->app_status);
        view->class = &ui->view_class;
        view->owner = ui->sc->runner;
        view->redactor = &ui->redactor;
        view->logs_dir = ui->logs_dir;
        ui->has_thread = pthread_create(&ui->thread, NULL, driver_ui_run, ui) == 0;
        if (!ui->has_thread)
                log_warn("SparkUI", "The system has no thread for the pages of this application");
        else
                pthread_setname_np(ui->thread, "ui");
}

int driver_ui_port(const struct driver_ui *ui)
{
        return ui ? ui_site_port(ui->site) : 0;
}

const char *driver_ui_address(const struct driver_ui *ui)
{
        return ui ? ui->address : NULL;
}

void driver_ui_free(struct driver_ui *ui)
{
        if (!ui)
                return;
        uv_async_send(&ui->stop);
        if (ui->has_thread)
                pthread_join(ui->thread, NULL);
        else
                uv_run(&ui->loop, UV_RUN_DEFAULT);
        redactor_deinit(&ui->redactor);
        uv_loop_close(&ui->loop);
        if (ui->address)
                log_info("SparkUI", "Stopped Spark web UI at %s", ui->address);
        free(ui->address);
        free(ui->logs_dir);
        free(ui);
}
