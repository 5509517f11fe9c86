/*
 * firesteel master: the master of a standalone cluster; see standalone/master/master_server.h.
 *
 * Exit statuses are those of Spark's Master: 0 after --help or if another master leads now, 1 for an error, 128 plus
 * the number of the signal that ended it.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "standalone/master/master_server.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

const char command_master_help[] = "Usage: Master [options]\n"
                                   "\n"
                                   "Options:\n"
                                   "  -h HOST, --host HOST   Hostname to listen on\n"
                                   "  -p PORT, --port PORT   Port to listen on (default: 7077)\n"
                                   "  --webui-port PORT      Port for web UI (default: 8080)\n"
                                   "  --properties-file FILE Path to a custom Spark properties file.\n"
                                   "                         Default is conf/spark-defaults.conf.\n";

struct daemon {
        uv_loop_t loop;
        uv_signal_t signals[3];
        struct master_server *server;
        bool ending;
        int status;
};

static void master_command_end(struct daemon *d, int status)
{
        if (d->ending)
                return;
        d->ending = true;
        d->status = status;
        for (size_t i = 0; i < ARRAY_SIZE(d->signals); i++)
                uv_close((uv_handle_t *)&d->signals[i], NULL);
        if (d->server)
                master_server_close(d->server);
}

static void master_command_on_signal(uv_signal_t *handle, int number)
{
        log_error("Master", "RECEIVED SIGNAL %s", number == SIGTERM ? "TERM" : number == SIGHUP ? "HUP" : "INT");
        master_command_end(handle->data, 128 + number);
}

static void master_command_on_ended(void *owner, int status)
{
        master_command_end(owner, status);
}

static int master_command_run(struct daemon *d, const struct master_conf *conf, struct fst_error *error)
{
        static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
        char host[256] = "";
        gethostname(host, sizeof(host) - 1);
        log_info("Master", "Started daemon with process name: %ld@%s", (long)getpid(), host);
        signal(SIGPIPE, SIG_IGN);
        uv_loop_init(&d->loop);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                uv_signal_init(&d->loop, &d->signals[i]);
                d->signals[i].data = d;
                uv_signal_start(&d->signals[i], master_command_on_signal, numbers[i]);
        }
        int r = master_server_new(&d->loop, conf, master_command_on_ended, d, &d->server, error);
        if (r < 0)
                master_command_end(d, 1);
        uv_run(&d->loop, UV_RUN_DEFAULT);
        uv_loop_close(&d->loop);
        return r;
}

int command_master(int argc, char **argv)
{
        struct master_conf conf;
        struct daemon d = {0};
        struct fst_error error = FST_ERROR_INIT;
        int r = master_conf_read(&conf, argc, argv, &error), status = 1;
        if (r == MASTER_CONF_E_USAGE)
                fprintf(stderr, "Error: %s\n\n", error_message(&error));
        if (r == MASTER_CONF_E_HELP || r == MASTER_CONF_E_USAGE)
                fputs(command_master_help, stderr);
        if (r == MASTER_CONF_E_HELP)
                status = 0;
        if (r == 0) {
                r = master_command_run(&d, &conf, &error);
                status = d.status;
        }
        if (r < 0)
                log_error("Master", "%s", error_message(&error));
        error_deinit(&error);
        master_conf_deinit(&conf);
        return status;
}
