/* firesteel shuffle-service: an external shuffle service as a separate process; see shuffle/shuffle_service.h. */
#include "base/error.h"
#include "base/log.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "conf/conf.h"
#include "standalone/wire/daemon_conf.h"
#include "shuffle/shuffle_service.h"
#include "store/disk_dirs.h"

#include <signal.h>
#include <stdio.h>

#define LOG "ExternalShuffleService"

const char command_shuffle_service_help[] =
        "Usage: firesteel shuffle-service [options]\n"
        "\n"
        "Serve the map outputs of executors on this host, even after they have ended. Applications use it with\n"
        "spark.shuffle.service.enabled=true. The service stores registrations in the first directory of\n"
        "SPARK_LOCAL_DIRS or spark.local.dir and reads them after a restart.\n"
        "\n"
        "Options:\n"
        "  -h HOST, --host HOST   Address to listen on (default: all)\n"
        "  -p PORT, --port PORT   Port to listen on (default: spark.shuffle.service.port, 7337)\n"
        "  --properties-file FILE Path to a custom Spark properties file.\n"
        "                         Default is conf/spark-defaults.conf.\n"
        "\n"
        "The environment variable SPARK_SHUFFLE_OPTS may set properties: \"-Dspark.x=y\".\n";

struct service_arguments {
        const char *host, *port, *properties_file;
};

static int shuffle_service_parse(int argc, char **argv, struct service_arguments *a, struct fst_error *error)
{
        const struct daemon_option options[] = {{"--host", "-h", &a->host},
                                                {"--port", "-p", &a->port},
                                                {"--properties-file", NULL, &a->properties_file}};
        return daemon_words_read(options, ARRAY_SIZE(options), argc, argv, NULL, NULL, NULL, error);
}

static int shuffle_service_parse_port(const char *text, int *port, struct fst_error *error)
{
        char *end;
        long value = text ? strtol(text, &end, 10) : -1;
        if (text && (end == text || *end || value < 0 || value > 65535))
                return error_set(error, -EINVAL, "--port: \"%s\" is not a valid port (write a number from 0 to 65535)",
                                 text);
        *port = (int)value;
        return 0;
}

/* The first local directory, which is created if missing. Owned by the caller. */
static int shuffle_service_state_directory(const struct fst_conf *conf, char **out, struct fst_error *error)
{
        _cleanup_free_ char *local = NULL, *list = NULL;
        int r = conf_get_string(conf, "spark.local.dir", &local, error);
        if (r)
                return r;
        list = disk_dirs_configured(local);
        char *first = mem_strndup(list, strcspn(list, ","));
        r = make_dirs(first, 0755);
        if (r) {
                error_set(error, r, "spark.local.dir: %s: %s", first, strerror(-r));
                free(first);
                return r;
        }
        *out = first;
        return 0;
}

static int shuffle_service_run(const struct service_arguments *a, const sigset_t *signals, int *ended,
                               struct fst_error *error)
{
        struct fst_conf conf;
        struct shuffle_service *service = NULL;
        _cleanup_free_ char *state = NULL;
        int port = -1;
        conf_init(&conf);
        int r = shuffle_service_parse_port(a->port, &port, error);
        if (r == 0)
                r = daemon_conf_load(&conf, "SPARK_SHUFFLE_OPTS", a->properties_file, error);
        if (r == 0)
                r = shuffle_service_state_directory(&conf, &state, error);
        if (r == 0)
                r = shuffle_service_new(
                        &(struct shuffle_service_options){
                                .conf = &conf, .host = a->host, .port = port, .state_dir = state},
                        &service, error);
        if (r == 0) {
                sigwait(signals, ended);
                log_info(LOG, "Shutting down shuffle service: signal %d", *ended);
                shuffle_service_free(service);
        }
        conf_deinit(&conf);
        return r;
}

int command_shuffle_service(int argc, char **argv)
{
        struct service_arguments a = {0};
        struct fst_error error = FST_ERROR_INIT;
        sigset_t signals;
        int ended = 0;
        int r = shuffle_service_parse(argc, argv, &a, &error);
        if (r == DAEMON_WORDS_E_HELP) {
                fputs(command_shuffle_service_help, stdout);
                return 0;
        }
        if (r) {
                fprintf(stderr, "Error: %s\n\n%s", error_message(&error), command_shuffle_service_help);
                error_deinit(&error);
                return 1;
        }
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &signals,
                        NULL); /* block the signals in all threads; the main thread waits for them */
        signal(SIGPIPE, SIG_IGN);
        r = daemon_environment(&error);
        if (r == 0)
                r = shuffle_service_run(&a, &signals, &ended, &error);
        if (r)
                log_error(LOG, "%s", error_message(&error));
        error_deinit(&error);
        return r ? 1 : 128 + ended;
}
