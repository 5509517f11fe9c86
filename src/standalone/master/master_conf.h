/*
 * What a master process is told at its start: command line, environment and spark.… keys, as Spark's Master takes them.
 *
 * The command line is stronger than SPARK_MASTER_HOST, SPARK_MASTER_PORT and SPARK_MASTER_WEBUI_PORT, but
 * spark.master.ui.port is stronger than both.
 */
#pragma once

#include "conf/conf.h"
#include "standalone/wire/daemon_conf.h"
#include "standalone/core/master_core.h"

struct fst_error;

struct master_conf {
        struct fst_conf conf;
        char *host;        /* that it listens on and is known by */
        char *public_host; /* of its pages' address: SPARK_PUBLIC_DNS, else host */
        int port, web_ui_port;
        struct master_config core; /* its strings belong to this struct */
        char *app_id_pattern, *driver_id_pattern;
};

enum {
        MASTER_CONF_E_HELP = DAEMON_WORDS_E_HELP,   /* --help was asked for */
        MASTER_CONF_E_USAGE = DAEMON_WORDS_E_USAGE, /* a word of the command line is not understood */
};

/*
 * Read all of it; @argv[0] is passed over. 0; MASTER_CONF_E_HELP; MASTER_CONF_E_USAGE with @error: the usage is what
 * the user needs beside it; or negative with @error. The log is set up as well. Deinitialise it in every case. Before
 * any thread is started.
 */
int master_conf_read(struct master_conf *c, int argc, char *const *argv, struct fst_error *error);
void master_conf_deinit(struct master_conf *c);

/* The keys alone: spark.deploy.* and what else the core asks for. 0, or -EINVAL with @error. */
int master_conf_keys(struct master_conf *c, struct fst_error *error);
