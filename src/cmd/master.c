/*
 * firesteel master: the master of a standalone cluster; see standalone/master/master_server.h. It also ends, with exit
 * status 0, if another master leads now.
 */
#include "cmd/command.h"
#include "cmd/daemon.h"
#include "standalone/master/master_server.h"

const char command_master_help[] = "Usage: Master [options]\n"
                                   "\n"
                                   "Options:\n"
                                   "  -h HOST, --host HOST   Hostname to listen on\n"
                                   "  -p PORT, --port PORT   Port to listen on (default: 7077)\n"
                                   "  --webui-port PORT      Port for web UI (default: 8080)\n"
                                   "  --properties-file FILE Path to a custom Spark properties file.\n"
                                   "                         Default is conf/spark-defaults.conf.\n";

struct master_command {
        struct master_conf conf;
        struct master_server *server;
};

static int master_command_read(void *owner, int argc, char **argv, struct fst_error *error)
{
        struct master_command *c = owner;
        return master_conf_read(&c->conf, argc, argv, error);
}

static int master_command_start(void *owner, uv_loop_t *loop, void (*ended)(void *daemon, int status), void *daemon,
                                struct fst_error *error)
{
        struct master_command *c = owner;
        return master_server_new(loop, &c->conf, ended, daemon, &c->server, error);
}

static void master_command_close(void *owner)
{
        const struct master_command *c = owner;
        master_server_close(c->server);
}

static void master_command_deinit(void *owner)
{
        struct master_command *c = owner;
        master_conf_deinit(&c->conf);
}

static const struct daemon_class master_daemon = {
        .log_name = "Master",
        .help = command_master_help,
        .read = master_command_read,
        .start = master_command_start,
        .close = master_command_close,
        .deinit = master_command_deinit,
};

int command_master(int argc, char **argv)
{
        struct master_command c = {0};
        return daemon_run(&master_daemon, &c, argc, argv);
}
