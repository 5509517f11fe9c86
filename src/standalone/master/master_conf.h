/* Configuration of a master process: command line, environment and spark.… keys, as for Spark's Master.
 *
 * The command line overrides SPARK_MASTER_HOST, SPARK_MASTER_PORT and SPARK_MASTER_WEBUI_PORT. Spark.master.ui.port
 * overrides both.
 */
#pragma once

#include "conf/conf.h"
#include "standalone/wire/daemon_conf.h"
#include "standalone/core/master_core.h"

struct fst_error;

struct master_conf {
        struct fst_conf conf;
        char *host;        /* listens on it, and its URL has it */
        char *public_host; /* in the URL of its pages: SPARK_PUBLIC_DNS, or host */
        int port, web_ui_port;
        struct master_config core; /* this struct owns its strings */
        char *app_id_pattern, *driver_id_pattern;
};

enum {
        MASTER_CONF_E_HELP = DAEMON_WORDS_E_HELP,   /* --help was given */
        MASTER_CONF_E_USAGE = DAEMON_WORDS_E_USAGE, /* the command line is invalid */
};

/* Reads the configuration and sets up the log; skips @argv[0]. Call it before any thread starts. Returns 0,
 * MASTER_CONF_E_HELP, MASTER_CONF_E_USAGE with @error (show the usage as well), or negative with @error. Deinitialise
 * @c in every case.
 */
int master_conf_read(struct master_conf *c, int argc, char *const *argv, struct fst_error *error);
void master_conf_deinit(struct master_conf *c);

/* Reads only the keys: spark.deploy.* and others that the core needs. Returns 0, or -EINVAL with @error. */
int master_conf_keys(struct master_conf *c, struct fst_error *error);
