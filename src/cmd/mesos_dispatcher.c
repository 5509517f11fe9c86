/*
 * firesteel mesos-dispatcher: runs drivers on Mesos; see mesos/dispatcher/dispatcher_server.h.
 *
 * Exit statuses are those of Spark's MesosClusterDispatcher: 0 after --help, 1 for an error, 128 plus the number of the
 * signal that ended it.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "mesos/dispatcher/dispatcher_server.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define LOG_NAME "MesosClusterDispatcher"

const char command_mesos_dispatcher_help[] =
        "Usage: MesosClusterDispatcher [options]\n"
        "\n"
        "Options:\n"
        "  -h HOST, --host HOST     Host to listen on for submissions (default: this host's name)\n"
        "  -p PORT, --port PORT     Port of the REST server (default: 7077)\n"
        "  --webui-port PORT        Port of the page (default: 8081)\n"
        "  --name NAME              Name of the framework in Mesos (default: Spark Cluster)\n"
        "  -m URL, --master URL     The Mesos master: mesos://HOST:PORT or mesos://zk://H1:P,H2:P/PATH\n"
        "  -z HOSTS, --zk HOSTS     ZooKeeper servers, host:port separated by commas, that keep the drivers' records\n"
        "  --properties-file FILE   Properties file; by default conf/spark-defaults.conf\n"
        "  --conf KEY=VALUE         A setting, before those of the file\n"
        "  --verbose                Print the settings\n"
        "  --help                   Print this\n";

struct dispatcher_daemon {
        uv_loop_t loop;
        uv_signal_t signals[3];
        struct dispatcher_server *server;
        bool ending;
        int status;
};

static void mesos_dispatcher_command_end(struct dispatcher_daemon *d, int status)
{
        if (d->ending)
                return;
        d->ending = true;
        d->status = status;
        for (size_t i = 0; i < ARRAY_SIZE(d->signals); i++)
                uv_close((uv_handle_t *)&d->signals[i], NULL);
        if (d->server)
                dispatcher_server_close(d->server);
}

static void mesos_dispatcher_command_on_signal(uv_signal_t *handle, int number)
{
        log_error(LOG_NAME, "RECEIVED SIGNAL %s", number == SIGTERM ? "TERM" : number == SIGHUP ? "HUP" : "INT");
        mesos_dispatcher_command_end(handle->data, 128 + number);
}

static void mesos_dispatcher_command_on_ended(void *owner, int status)
{
        mesos_dispatcher_command_end(owner, status);
}

static int mesos_dispatcher_command_run(struct dispatcher_daemon *d, const struct dispatcher_conf *conf,
                                        struct fst_error *error)
{
        static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
        char host[256] = "";
        gethostname(host, sizeof(host) - 1);
        log_info(LOG_NAME, "Started daemon with process name: %ld@%s", (long)getpid(), host);
        signal(SIGPIPE, SIG_IGN);
        uv_loop_init(&d->loop);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                uv_signal_init(&d->loop, &d->signals[i]);
                d->signals[i].data = d;
                uv_signal_start(&d->signals[i], mesos_dispatcher_command_on_signal, numbers[i]);
        }
        int r = dispatcher_server_new(&d->loop, conf, mesos_dispatcher_command_on_ended, d, &d->server, error);
        if (r < 0)
                mesos_dispatcher_command_end(d, 1);
        uv_run(&d->loop, UV_RUN_DEFAULT);
        uv_loop_close(&d->loop);
        return r;
}

static void mesos_dispatcher_command_show(const struct dispatcher_conf *conf)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        dispatcher_conf_put(conf, &text);
        fputs(buf_text(&text), stderr);
}

int command_mesos_dispatcher(int argc, char **argv)
{
        struct dispatcher_conf conf;
        struct dispatcher_daemon d = {0};
        struct fst_error error = FST_ERROR_INIT;
        int r = dispatcher_conf_read(&conf, argc, argv, &error), status = 1;
        if (r == DISPATCHER_CONF_E_USAGE)
                fprintf(stderr, "Error: %s\n\n", error_message(&error));
        if (r == DISPATCHER_CONF_E_HELP || r == DISPATCHER_CONF_E_USAGE)
                fputs(command_mesos_dispatcher_help, stderr);
        if (r == DISPATCHER_CONF_E_HELP)
                status = 0;
        if (r == 0 && conf.verbose)
                mesos_dispatcher_command_show(&conf);
        if (r == 0) {
                r = mesos_dispatcher_command_run(&d, &conf, &error);
                status = d.status;
        }
        if (r < 0)
                log_error(LOG_NAME, "%s", error_message(&error));
        error_deinit(&error);
        dispatcher_conf_deinit(&conf);
        return status;
}
