/* Configuration of a worker process: command line, environment and spark.… keys, as for Spark's Worker.
 *
 * The command line overrides SPARK_WORKER_CORES, _MEMORY, _PORT, _WEBUI_PORT and _DIR. Spark.worker.ui.port overrides
 * both.
 */
#pragma once

#include "base/string_list.h"
#include "conf/conf.h"
#include "standalone/wire/daemon_conf.h"
#include "standalone/worker/log_roller.h"
#include "standalone/wire/master_registration.h"

struct fst_error;

struct worker_conf {
        struct fst_conf conf;
        char *host;                 /* listens on it, and its URL has it */
        char *public_host;          /* in the URL of its pages: SPARK_PUBLIC_DNS, or host */
        int port, web_ui_port;      /* 0: any free port */
        struct string_list masters; /* "host:port" */
        int cores;
        int64_t memory;    /* MiB */
        char *work_dir;    /* absolute */
        char *id_pattern;  /* spark.worker.idPattern */
        char *local_dirs;  /* comma-separated directories for executors' blocks */
        int64_t heartbeat; /* interval in ms */
        struct registration_config registration;
        struct log_rolling rolling; /* of executors */
        char *cgroup;               /* spark.firesteel.worker.cgroup; NULL: none */
        int64_t driver_timeout;     /* spark.worker.driverTerminateTimeout, ms */
        int retained_executors, retained_drivers;
        bool cleanup;                            /* spark.worker.cleanup.enabled, … */
        int64_t cleanup_interval, cleanup_after; /* ms */
        bool decommission;                       /* spark.decommission.enabled */
        bool prefer_configured_master;           /* spark.worker.preferConfiguredMasterAddress */
        int decommission_signal;
};

enum {
        WORKER_CONF_E_HELP = DAEMON_WORDS_E_HELP,   /* --help was given */
        WORKER_CONF_E_USAGE = DAEMON_WORDS_E_USAGE, /* the command line is invalid */
};

/* Reads the configuration and sets up the log; skips @argv[0]. Call it before any thread starts. Returns 0,
 * WORKER_CONF_E_HELP, WORKER_CONF_E_USAGE with @error (show the usage as well), or negative with @error. Deinitialise
 * @c in every case.
 */
int worker_conf_read(struct worker_conf *c, int argc, char *const *argv, struct fst_error *error);
void worker_conf_deinit(struct worker_conf *c);

/* Sets *@out to the number of a signal that can be handled: "PWR", "SIGPWR", "term". -EINVAL with @error, which names
 * @key.
 */
int worker_conf_signal(const char *key, const char *name, int *out, struct fst_error *error);
