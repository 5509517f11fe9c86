/*
 * What a worker process is told at its start: command line, environment and spark.… keys, as Spark's Worker takes them.
 *
 * The command line is stronger than SPARK_WORKER_CORES, _MEMORY, _PORT, _WEBUI_PORT and _DIR, but spark.worker.ui.port
 * is stronger than both.
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
        char *host;                 /* that it listens on and is known by */
        char *public_host;          /* of its pages' address: SPARK_PUBLIC_DNS, else host */
        int port, web_ui_port;      /* 0: any */
        struct string_list masters; /* "host:port" */
        int cores;
        int64_t memory;    /* MiB */
        char *work_dir;    /* absolute */
        char *id_pattern;  /* spark.worker.idPattern */
        char *local_dirs;  /* where executors keep blocks: a comma list */
        int64_t heartbeat; /* ms between two */
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
        WORKER_CONF_E_HELP = DAEMON_WORDS_E_HELP,   /* --help was asked for */
        WORKER_CONF_E_USAGE = DAEMON_WORDS_E_USAGE, /* a word of the command line is not understood */
};

/*
 * Read all of it; @argv[0] is passed over. 0; WORKER_CONF_E_HELP; WORKER_CONF_E_USAGE with @error: the usage is what
 * the user needs beside it; or negative with @error. The log is set up as well. Deinitialise it in every case. Before
 * any thread is started.
 */
int worker_conf_read(struct worker_conf *c, int argc, char *const *argv, struct fst_error *error);
void worker_conf_deinit(struct worker_conf *c);

/* The number of a signal that can be handled: "PWR", "SIGPWR", "term". -EINVAL with @error, which names @key. */
int worker_conf_signal(const char *key, const char *name, int *out, struct fst_error *error);
