/*
 * Configuration of a dispatcher: command line, environment and spark.… keys, as for Spark's MesosClusterDispatcher.
 */
#pragma once

#include "base/vec.h"
#include "conf/conf.h"
#include "mesos/dispatcher/dispatcher_core.h"
#include "standalone/wire/daemon_conf.h"

struct buf;
struct fst_error;

struct dispatcher_conf {
        struct fst_conf conf;
        char *host;        /* of the REST server */
        char *public_host; /* in the URL of the page: SPARK_PUBLIC_DNS, or host */
        int port, web_ui_port;
        char *name;   /* of the framework */
        char *master; /* the URL of Mesos without its first mesos:// */
        bool verbose;
        struct dispatcher_config core;
        VEC(struct dispatcher_queue) queues; /* owns the names */
};

enum {
        DISPATCHER_CONF_E_HELP = DAEMON_WORDS_E_HELP,   /* --help was given */
        DISPATCHER_CONF_E_USAGE = DAEMON_WORDS_E_USAGE, /* the command line is invalid */
};

/*
 * Reads the configuration and sets up the log; skips @argv[0]. Call it before any thread starts. Returns 0,
 * DISPATCHER_CONF_E_HELP, DISPATCHER_CONF_E_USAGE with @error (show the usage as well), or negative with @error.
 * Deinitialise @c in every case.
 */
int dispatcher_conf_read(struct dispatcher_conf *c, int argc, char *const *argv, struct fst_error *error);
void dispatcher_conf_deinit(struct dispatcher_conf *c);

/* Reads only the keys, as dispatcher_conf_read does. Returns 0, or -EINVAL with @error. */
int dispatcher_conf_keys(struct dispatcher_conf *c, struct fst_error *error);

/* Appends what --verbose shows: host, ports, name and the redacted settings. */
void dispatcher_conf_put(const struct dispatcher_conf *c, struct buf *out);
