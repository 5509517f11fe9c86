/* firesteel worker: a worker of a standalone cluster; see standalone/worker/worker_server.h. */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "standalone/pages/worker_pages.h"
#include "standalone/worker/worker_server.h"
#include "net/socket.h"

#include <signal.h>
#include <stdio.h>

const char command_worker_help[] =
        "Usage: Worker [options] <master>\n"
        "\n"
        "Master must be a URL of the form spark://hostname:port\n"
        "\n"
        "Options:\n"
        "  -c CORES, --cores CORES  Number of cores to use\n"
        "  -m MEM, --memory MEM     Amount of memory to use (e.g. 1000M, 2G)\n"
        "  -d DIR, --work-dir DIR   Directory to run apps in (default: SPARK_HOME/work, or ./work)\n"
        "  -i HOST, --ip IP         Hostname to listen on (deprecated, please use --host or -h)\n"
        "  -h HOST, --host HOST     Hostname to listen on\n"
        "  -p PORT, --port PORT     Port to listen on (default: random)\n"
        "  --webui-port PORT        Port for web UI (default: 8081)\n"
        "  --properties-file FILE   Path to a custom Spark properties file.\n"
        "                           Default is conf/spark-defaults.conf.\n";

struct worker {
        uv_loop_t loop;
        struct worker_conf conf;
        struct worker_server *server;
        struct worker_pages *pages;
        uv_signal_t signals[4];
        size_t n_signals;
        int status;
        bool ended;
};

static void worker_command_on_ended(void *owner, int status)
{
        struct worker *w = owner;
        w->status = status;
        w->ended = true;
        for (size_t i = 0; i < w->n_signals; i++)
                uv_close((uv_handle_t *)&w->signals[i], NULL);
        w->n_signals = 0;
        worker_pages_free(steal(w->pages));
}

static void worker_on_end(uv_signal_t *handle, int signal)
{
        struct worker *w = handle->data;
        log_error("Worker", "RECEIVED SIGNAL %s", sigabbrev_np(signal));
        worker_server_stop(w->server, 128 + signal);
}

static void worker_command_on_decommission(uv_signal_t *handle, int signal)
{
        struct worker *w = handle->data;
        (void)signal;
        worker_server_decommission(w->server);
}

static void worker_command_handle_signal(struct worker *w, uv_signal_cb callback, int signal)
{
        uv_signal_t *s = &w->signals[w->n_signals++];
        uv_signal_init(&w->loop, s);
        s->data = w;
        uv_signal_start(s, callback, signal);
}

static void worker_command_handle_signals(struct worker *w)
{
        static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                struct sigaction now;
                bool ignored =
                        sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN; /* nohup ignores SIGHUP */
                if (!ignored && (ends[i] != w->conf.decommission_signal || !w->conf.decommission))
                        worker_command_handle_signal(w, worker_on_end, ends[i]);
        }
        if (w->conf.decommission)
                log_info("Worker", "Registering SIG%s handler to trigger decommissioning.",
                         sigabbrev_np(w->conf.decommission_signal));
        else
                log_info("Worker", "Worker decommissioning not enabled.");
        if (w->conf.decommission || w->conf.decommission_signal == SIGPWR)
                worker_command_handle_signal(w, worker_command_on_decommission, w->conf.decommission_signal);
}

static const struct worker_view *worker_command_view(void *owner)
{
        struct worker *w = owner;
        return worker_server_view(w->server);
}

/* Starts the pages, and the server with their address. If the pages cannot be served, the worker does not start. */
static int worker_command_start(struct worker *w, struct fst_error *error)
{
        char where[300];
        struct worker_pages_options o = {.loop = &w->loop,
                                         .conf = &w->conf.conf,
                                         .port = w->conf.web_ui_port,
                                         .work_dir = w->conf.work_dir,
                                         .view = worker_command_view,
                                         .owner = w};
        int r = worker_pages_new(&o, &w->pages, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *url =
                mem_printf("http%s://%s", worker_pages_are_secure(w->pages) ? "s" : "",
                           host_port_text(w->conf.public_host, worker_pages_port(w->pages), where, sizeof(where)));
        log_info("WorkerWebUI", "Bound WorkerWebUI to 0.0.0.0, and started at %s", url);
        worker_server_start(w->server, url);
        return 0;
}

static int worker_command_run(struct worker *w, struct fst_error *error)
{
        uv_loop_init(&w->loop);
        int r = worker_server_new(&w->loop, &w->conf, worker_command_on_ended, w, &w->server, error);
        if (r == 0) {
                r = worker_command_start(w, error);
                if (r == 0) {
                        worker_command_handle_signals(w);
                        uv_run(&w->loop, UV_RUN_DEFAULT);
                }
                worker_pages_free(steal(w->pages));
                worker_server_free(w->server);
        }
        uv_run(&w->loop, UV_RUN_DEFAULT);
        uv_loop_close(&w->loop);
        return r;
}

int command_worker(int argc, char **argv)
{
        struct worker w = {.status = 1};
        struct fst_error error = FST_ERROR_INIT;
        signal(SIGPIPE, SIG_IGN);
        int r = worker_conf_read(&w.conf, argc, argv, &error);
        if (r == WORKER_CONF_E_HELP) {
                fputs(command_worker_help, stderr);
                w.status = 0;
        } else if (r == WORKER_CONF_E_USAGE) {
                fprintf(stderr, "Error: %s\n\n%s", error_message(&error), command_worker_help);
        } else if (r < 0 || (r = worker_command_run(&w, &error)) < 0) {
                log_error("Worker", "%s", error_message(&error));
        }
        error_deinit(&error);
        worker_conf_deinit(&w.conf);
        return w.status;
}
