/*
 * firesteel logs: the durable logs of an application (spark.firesteel.logs.dir), or those that YARN has, as `yarn logs`
 * prints them.
 */
#include "cmd/command.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "logs/log_printer.h"
#include "yarn/application/application_logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char command_logs_help[] =
        "Usage: firesteel logs [OPTIONS] APPLICATION\n"
        "\n"
        "Prints the logs of an application. With --dir, or spark.firesteel.logs.dir, they are the durable logs of any cluster\n"
        "manager. Otherwise the application runs on YARN (application_1700000000000_0001): logs of running containers come from\n"
        "the NodeManagers, those of an ended application from the files of YARN's log aggregation. HADOOP_CONF_DIR names the\n"
        "cluster's configuration.\n"
        "\n"
        "  --dir DIRECTORY   durable logs: spark.firesteel.logs.dir of the application\n"
        "  --container ID    only the logs of this container\n"
        "  --executor N      only the logs of executor N, or with driver in place of N those of the driver (on YARN the\n"
        "                    ApplicationMaster's, which runs the driver in cluster mode)\n"
        "  --file NAME       only logs of this name, such as stderr; may be repeated\n"
        "  --list            print containers, nodes, names and sizes, separated by tabs\n"
        "  --follow          go on printing what is new until the application has ended\n"
        "  --wait            with --dir and --follow: wait for an application that has no logs yet, as long as it takes\n"
        "  --user NAME       the application's owner, if the ResourceManager does not know the application any more\n"
        "  --conf KEY=VALUE  a setting, such as spark.hadoop.yarn.resourcemanager.webapp.address\n"
        "  --help            print this\n";

static int logs_set(struct fst_conf *conf, const char *setting)
{
        const char *equals = strchr(setting, '=');
        if (!equals)
                return command_usage(command_logs_help, "--conf needs KEY=VALUE, not", setting);
        _cleanup_free_ char *key = mem_strndup(setting, (size_t)(equals - setting));
        conf_set(conf, key, equals + 1);
        return 0;
}

static int logs_set_dir(struct fst_conf *conf, const char *dir)
{
        conf_set(conf, "spark.firesteel.logs.dir", dir);
        return 0;
}

static int logs_set_executor(struct application_logs_options *o, const char *text)
{
        char *end;
        o->driver = strcmp(text, "driver") == 0;
        o->executor = -1;
        if (o->driver)
                return 0;
        const long n = strtol(text, &end, 10);
        if (!*text || *end || n < 0 || n > INT32_MAX)
                return command_usage(command_logs_help, "--executor needs a number or driver, not", text);
        o->executor = (int)n;
        return 0;
}

/* An option with a value. Returns 0, or the exit status. */
static int logs_set_value(struct application_logs_options *o, struct fst_conf *conf, const char *name,
                          const char *value)
{
        if (!value)
                return command_usage(command_logs_help, "a value is missing for", name);
        if (strcmp(name, "--container") == 0)
                o->container = value;
        else if (strcmp(name, "--user") == 0)
                o->user = value;
        else if (strcmp(name, "--file") == 0)
                string_list_add(&o->names, value);
        else if (strcmp(name, "--executor") == 0)
                return logs_set_executor(o, value);
        else if (strcmp(name, "--dir") == 0)
                return logs_set_dir(conf, value);
        else
                return logs_set(conf, value);
        return 0;
}

static int logs_parse(struct application_logs_options *o, struct fst_conf *conf, bool *wait, int argc, char **argv)
{
        static const char *const with_value[] = {"--container", "--user", "--file", "--executor", "--conf", "--dir"};
        for (int i = 1; i < argc; i++) {
                size_t k = 0;
                while (k < ARRAY_SIZE(with_value) && strcmp(with_value[k], argv[i]) != 0)
                        k++;
                if (k < ARRAY_SIZE(with_value)) {
                        const int r = logs_set_value(o, conf, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
                        if (r)
                                return r;
                        i++;
                } else if (strcmp(argv[i], "--list") == 0) {
                        o->list = true;
                } else if (strcmp(argv[i], "--follow") == 0) {
                        o->follow = true;
                } else if (strcmp(argv[i], "--wait") == 0) {
                        *wait = true;
                } else if (*argv[i] == '-') {
                        return command_usage(command_logs_help, "unknown option", argv[i]);
                } else if (o->application) {
                        return command_usage(command_logs_help, "more than one application:", argv[i]);
                } else {
                        o->application = argv[i];
                }
        }
        if (!o->application)
                return command_usage(command_logs_help, "the application's id is missing", NULL);
        if (conf_get_value(conf, "spark.firesteel.logs.dir") && (o->container || o->user))
                return command_usage(command_logs_help, "durable logs have no",
                                     o->container ? "--container" : "--user");
        if (*wait && (!o->follow || !conf_get_value(conf, "spark.firesteel.logs.dir")))
                return command_usage(command_logs_help, "--wait needs --dir and --follow", NULL);
        return o->list && o->follow ? command_usage(command_logs_help, "--list and --follow exclude each other", NULL)
                                    : 0;
}

static int logs_run(const struct application_logs_options *o, bool wait)
{
        struct fst_error error = FST_ERROR_INIT;
        int r;
        if (conf_get_value(o->conf, "spark.firesteel.logs.dir"))
                r = log_printer_print(&(struct log_printer_options){.conf = o->conf,
                                                                    .application = o->application,
                                                                    .executor = o->executor,
                                                                    .driver = o->driver,
                                                                    .names = o->names,
                                                                    .list = o->list,
                                                                    .follow = o->follow,
                                                                    .wait = wait,
                                                                    .out = o->out},
                                      &error);
        else if (!getenv("HADOOP_CONF_DIR") && !getenv("YARN_CONF_DIR"))
                r = error_set(&error, -EINVAL,
                              "the logs of %s: name the directory of durable logs with --dir (the application's "
                              "spark.firesteel.logs.dir), or, for an application on YARN, set HADOOP_CONF_DIR or "
                              "YARN_CONF_DIR in the environment",
                              o->application);
        else
                r = application_logs_print(o, &error);
        if (r == 0 && fflush(stdout) != 0)
                r = error_errno(&error, "standard output");
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error.message ? error_message(&error) : strerror(-r));
        error_deinit(&error);
        return r < 0;
}

int command_logs(int argc, char **argv)
{
        struct application_logs_options o = {.executor = -1, .out = stdout};
        struct fst_conf conf;
        bool wait = false;
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_logs_help, stdout) < 0 || fflush(stdout) != 0;
        conf_init(&conf);
        o.conf = &conf;
        int r = logs_parse(&o, &conf, &wait, argc, argv);
        if (r == 0)
                r = logs_run(&o, wait);
        string_list_deinit(&o.names);
        conf_deinit(&conf);
        return r;
}
