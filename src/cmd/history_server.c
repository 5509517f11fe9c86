/*
 * firesteel history-server: shows ended and running applications from their event logs; see history/history_server.h.
 *
 * Arguments, messages and exit statuses are those of Spark's HistoryServer: 0 after --help, 1 for an error, 128 plus
 * the number of the signal that ended it.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "conf/conf.h"
#include "history/history_pages.h"
#include "history/history_server.h"
#include "net/socket.h"
#include "standalone/wire/daemon_conf.h"
#include "ui/ui_site.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>

#define LOG "HistoryServer"

const char command_history_server_help[] =
        "Usage: HistoryServer [options]\n"
        "\n"
        "Shows applications from their event logs.\n"
        "\n"
        "Options:\n"
        "  --properties-file FILE  Path to a custom Spark properties file.\n"
        "                          Default is conf/spark-defaults.conf.\n"
        "  -h, --help              Print this.\n"
        "\n"
        "The environment variable SPARK_HISTORY_OPTS may set properties: \"-Dspark.history.ui.port=18081\".\n"
        "\n"
        "Properties, with their defaults (docs/history-server.md describes all):\n"
        "  spark.history.fs.logDirectory       directories of event logs (file:/tmp/spark-events)\n"
        "  spark.history.fs.update.interval    how often they are scanned (10s)\n"
        "  spark.history.ui.port               port of the pages (18080)\n"
        "  spark.history.ui.acls.enable        show applications only to their users (false)\n"
        "  spark.history.retainedApplications  applications kept in memory (50)\n"
        "  spark.history.fs.cleaner.enabled    delete old logs (false)\n";

struct history_command {
        struct fst_conf conf;
        uv_loop_t loop;
        uv_signal_t signals[3];
        struct history_server *server;
        struct ui_site *site;
        int status;
};

static void history_command_on_signal(uv_signal_t *handle, int number)
{
        struct history_command *c = handle->data;
        log_error(LOG, "RECEIVED SIGNAL %s", number == SIGTERM ? "TERM" : number == SIGHUP ? "HUP" : "INT");
        c->status = 128 + number;
        uv_stop(&c->loop);
}

/* Reads the configuration. The site's own ACLs are off: rights are those of each application, as in Spark. */
static int history_command_configure(struct history_command *c, const char *properties_file, struct fst_error *error)
{
        int r = daemon_environment(error);
        if (r == 0)
                r = daemon_conf_load(&c->conf, "SPARK_HISTORY_OPTS", properties_file, error);
        if (r == 0 && conf_contains(&c->conf, "spark.acls.enable")) {
                log_info(LOG,
                         "spark.acls.enable has no effect on the history server: spark.history.ui.acls.enable has");
                conf_set(&c->conf, "spark.acls.enable", "false");
        }
        return r;
}

/* Logs the address of the pages in Spark's words. */
static int history_command_log_address(const struct history_command *c, struct fst_error *error)
{
        const char *bound = daemon_variable("SPARK_LOCAL_IP");
        _cleanup_free_ char *host = NULL, *public_host = NULL;
        char text[300];
        int r = daemon_host(NULL, &host, &public_host, error);
        if (r == 0)
                log_info(LOG, "Bound HistoryServer to %s, and started at %s://%s", bound ? bound : "0.0.0.0",
                         ui_site_is_secure(c->site) ? "https" : "http",
                         host_port_text(public_host, ui_site_port(c->site), text, sizeof(text)));
        return r;
}

static int history_command_serve(struct history_command *c, struct fst_error *error)
{
        int64_t port = 0;
        int r = conf_get_int(&c->conf, "spark.history.ui.port", &port, error);
        if (r == 0 && (port < 0 || port > 65535))
                r = error_set(error, -EINVAL, "spark.history.ui.port is %lld: write a number from 0 to 65535",
                              (long long)port);
        if (r == 0)
                r = history_server_new(&c->conf, &c->server, error);
        if (r < 0)
                return r;
        struct ui_site_options options = {.loop = &c->loop,
                                          .conf = &c->conf,
                                          .name = "HistoryServerUI",
                                          .tls_space = "historyServer",
                                          .port = (int)port,
                                          .source = history_server_source(c->server),
                                          .serve_page = history_serve_page};
        r = ui_site_new(&options, &c->site, error);
        if (r == 0)
                r = history_command_log_address(c, error);
        if (r == 0)
                uv_run(&c->loop, UV_RUN_DEFAULT);
        return r;
}

static void history_command_close_handle(uv_handle_t *handle, void *unused)
{
        if (!uv_is_closing(handle))
                uv_close(handle, NULL);
}

/* Threads of the pool read durable logs and archives from remote file systems. Four, libuv's default, would be few. */
static void history_command_widen_pool(void)
{
        setenv("UV_THREADPOOL_SIZE", "16", 0);
}

/* Each thread of the pool would keep the memory of its largest answers in an arena of its own. */
static void history_command_share_arenas(void)
{
        mallopt(M_ARENA_MAX, 2);
}

static int history_command_run(struct history_command *c, const char *properties_file, struct fst_error *error)
{
        static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
        signal(SIGPIPE, SIG_IGN);
        conf_init(&c->conf);
        int r = history_command_configure(c, properties_file, error);
        if (r == 0) {
                history_command_widen_pool();
                history_command_share_arenas();
                uv_loop_init(&c->loop);
                for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                        uv_signal_init(&c->loop, &c->signals[i]);
                        c->signals[i].data = c;
                        uv_signal_start(&c->signals[i], history_command_on_signal, numbers[i]);
                }
                r = history_command_serve(c, error);
                if (c->server)
                        history_server_stop(c->server);
                ui_site_free(c->site);
                history_server_free(c->server);
                uv_walk(&c->loop, history_command_close_handle, NULL);
                uv_run(&c->loop, UV_RUN_DEFAULT);
                uv_loop_close(&c->loop);
        }
        conf_deinit(&c->conf);
        return r;
}

/* Returns false after it reported a usage error. */
static bool history_command_parse(int argc, char **argv, const char **properties_file, bool *help)
{
        for (int i = 1; i < argc && !*help; i++) {
                if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
                        *help = true;
                } else if (strcmp(argv[i], "--properties-file") == 0 && i + 1 < argc) {
                        *properties_file = argv[++i];
                } else {
                        fprintf(stderr, "Unrecognized options:");
                        for (; i < argc; i++)
                                fprintf(stderr, " %s", argv[i]);
                        fprintf(stderr, "\n%s", command_history_server_help);
                        return false;
                }
        }
        return true;
}

int command_history_server(int argc, char **argv)
{
        struct history_command c = {0};
        struct fst_error error = FST_ERROR_INIT;
        const char *properties_file = NULL;
        bool help = false;
        if (!history_command_parse(argc, argv, &properties_file, &help))
                return 1;
        if (help)
                return fputs(command_history_server_help, stderr) < 0;
        int r = history_command_run(&c, properties_file, &error);
        if (r < 0)
                log_error(LOG, "%s", error_message(&error));
        error_deinit(&error);
        return r < 0 ? 1 : c.status;
}
