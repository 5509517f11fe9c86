/* firesteel mesos-dispatcher: runs drivers on Mesos; see mesos/dispatcher/dispatcher_server.h. */
#include "base/buf.h"
#include "cmd/command.h"
#include "cmd/daemon.h"
#include "mesos/dispatcher/dispatcher_server.h"

#include <stdio.h>

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

struct dispatcher_command {
        struct dispatcher_conf conf;
        struct dispatcher_server *server;
};

static int dispatcher_command_read(void *owner, int argc, char **argv, struct fst_error *error)
{
        struct dispatcher_command *c = owner;
        return dispatcher_conf_read(&c->conf, argc, argv, error);
}

static void dispatcher_command_show(const struct dispatcher_conf *conf)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        dispatcher_conf_put(conf, &text);
        fputs(buf_text(&text), stderr);
}

static int dispatcher_command_start(void *owner, uv_loop_t *loop, void (*ended)(void *daemon, int status), void *daemon,
                                    struct fst_error *error)
{
        struct dispatcher_command *c = owner;
        if (c->conf.verbose)
                dispatcher_command_show(&c->conf);
        return dispatcher_server_new(loop, &c->conf, ended, daemon, &c->server, error);
}

static void dispatcher_command_close(void *owner)
{
        const struct dispatcher_command *c = owner;
        dispatcher_server_close(c->server);
}

static void dispatcher_command_deinit(void *owner)
{
        struct dispatcher_command *c = owner;
        dispatcher_conf_deinit(&c->conf);
}

static const struct daemon_class dispatcher_daemon = {
        .log_name = "MesosClusterDispatcher",
        .help = command_mesos_dispatcher_help,
        .read = dispatcher_command_read,
        .start = dispatcher_command_start,
        .close = dispatcher_command_close,
        .deinit = dispatcher_command_deinit,
};

int command_mesos_dispatcher(int argc, char **argv)
{
        struct dispatcher_command c = {0};
        return daemon_run(&dispatcher_daemon, &c, argc, argv);
}
