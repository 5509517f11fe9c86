/*
 * The contract of a cluster manager: everything that the driver and spark-submit need from one.
 *
 * A manager is one `const struct cluster_manager_class` and one row of the table in cmd/cluster_managers.c. No other
 * code names a manager. docs/adding-a-cluster-manager.md explains how to add one. The class is declared here because
 * the driver is the lowest room that uses it. The slots of spark-submit take types of the room submit, which the driver
 * never sees.
 *
 * Order of the calls. spark-submit: find the class, `resolve`, `check`, `localize`, `add_language`, then `prepare` and
 * `submit` in cluster mode. --kill and --status need the class alone. The driver: find the class, `parse`, then
 * `executor_manager_new`.
 *
 * The comment of a slot says what NULL means. Unsupported requests fail with a message that names the manager. Slots
 * keep no state: several submissions may call one at once, on different threads. A slot that needs a library which the
 * core does not link (libcurl, SASL) loads it on demand (base/module_loader.h).
 */
#pragma once

#include "conf/compat.h"

#include <stdbool.h>
#include <stdio.h>

struct executor_manager;
struct fst_context;
struct fst_error;
struct master_url;
struct preparation;
struct strmap;
struct submission;
struct submission_class;

/* `submit` found no REST server: the caller prepares the submission again with submission.force_legacy. */
#define CLUSTER_MANAGER_E_NO_REST 1

struct cluster_manager_class {
        /* ------------------------------------------------------------------------------------------------ names */

        const char *name;    /* "standalone": for logs, tests and code */
        const char *title;   /* "a standalone master": completes "submitting to …" */
        const char *example; /* "spark://host:port[,host:port...]": a master URL, for messages */

        /* ------------------------------------------------------------------------------------------ master URLs */

        /* The prefix that SparkSubmit compares: "spark". If two classes match, the first row wins. */
        const char *prefix;

        /*
         * The prefix with its separator: "spark://". --kill and --status require it. NULL: the manager has no scheme.
         */
        const char *scheme;

        /* The message for an unknown master URL leaves out this manager, because another class has the same prefix. */
        bool unlisted;

        /* Whether this version of Spark accepts @master, which has the prefix. Pure. NULL: always. */
        bool (*accepts)(const char *master, enum submit_compat compat);

        /*
         * Applications that Firesteel itself runs may use the manager whatever version of Spark `accepts` is asked
         * about: Spark has dropped it, Firesteel has not.
         */
        bool native_in_all_versions;

        /*
         * The deploy mode that @master implies ("cluster" for Spark 2's yarn-cluster), or NULL. Static text. Pure.
         * NULL: always NULL.
         */
        const char *(*deploy_mode)(const char *master);

        /* --------------------------------------------------------------------------------------------- the driver */

        /*
         * Parse the numbers of @text into *@out; "*" stands for @processors. Pure. Returns 0, or -EINVAL with @error
         * and *@out unchanged. NULL: the URL has no numbers, and executor_manager_new reads what follows the scheme.
         */
        int (*parse)(const char *text, int processors, struct master_url *out, struct fst_error *error);

        /* Tasks run in the driver's process, without executors and executor manager. */
        bool in_process;

        /*
         * Cores of one executor (with in_process, of the driver) if spark.executor.cores is not set. Pure. NULL: the
         * cluster decides.
         */
        int (*executor_cores)(const struct master_url *url);

        /* Cores of all executors together, from the master URL. Pure. NULL: the registered cores. */
        int (*total_cores)(const struct master_url *url);

        /* If this key has a local master URL, a driver that the manager started runs its tasks itself. NULL: never. */
        const char *driver_master_key;

        /*
         * The keys of further files and archives of the application, beside spark.files and spark.archives. In cluster
         * mode the manager has put them into the driver's working directory. NULL: none.
         */
        const char *files_key, *archives_key;

        /*
         * Create the driver's half of the contract (driver/backend/executor_manager.h) from the configuration of @sc.
         * On the thread that starts the context, before the scheduler's thread runs. Opens no connection:
         * executor_manager_class .announce and .start do. Returns 0 and *@out, which the caller owns, or a negative
         * status with @error, usually -EINVAL for contradicting settings. NULL without in_process: Firesteel cannot run
         * applications on this manager.
         */
        int (*executor_manager_new)(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);

        /* ------------------------------------------------------------------------------- preparing a submission */

        /* This manager's bit in Spark's table of options (submit/options/option_table.h). */
        unsigned option_bit;

        /* --driver-cores may be a whole number with a fraction of 0, "2.0". */
        bool decimal_driver_cores;

        /* The first version of Spark with --kill and --status. */
        enum submit_compat requests_since;

        /* Spark requires HADOOP_CONF_DIR or YARN_CONF_DIR for this manager. */
        bool needs_hadoop_conf;

        /* The environment variable that names an application without --name and --class. NULL: none. */
        const char *name_variable;

        /*
         * The slots below change @p (submit/prepare/preparation.h) on the thread that prepares the submission. They may
         * block for files and downloads. They return 0, or a negative status with @error, in Spark's words where Spark
         * has some. The caller then drops @p. They set values of p->a with preparation_set and warn with
         * preparation_warn.
         */

        /* First: rewrite the master URL and the deploy mode to the form passed to the application. NULL: unchanged. */
        int (*resolve)(struct preparation *p, struct fst_error *error);

        /*
         * Once the mode is known: refuse (-EINVAL) what the manager cannot run, and decide in @p how files are handled.
         * Reads no file. NULL: no checks.
         */
        int (*check)(struct preparation *p, struct fst_error *error);

        /* After the downloads: copy or rename files for the driver. NULL: unchanged. */
        int (*localize)(struct preparation *p, struct fst_error *error);

        /* Add the settings of a Python or R program. NULL: none. */
        int (*add_language)(struct preparation *p, struct fst_error *error);

        /* Cluster mode: set the main class and arguments that Spark would start. NULL: no cluster mode. */
        int (*prepare)(struct preparation *p, struct fst_error *error);

        /* ------------------------------------------------------------------------- submitting in cluster mode */

        /* Without a REST server, the driver can be submitted with the legacy gateway (submission.force_legacy). */
        bool has_legacy_gateway;

        /*
         * Submit @s, prepared in cluster mode, and wait for its end if the configuration says so. Blocks spark-submit's
         * main thread, and handles SIGINT, SIGTERM and SIGHUP meanwhile. Writes what Spark's client writes to standard
         * error and the log. Returns 0 with the exit status in *@status, CLUSTER_MANAGER_E_NO_REST (only with
         * has_legacy_gateway), or a negative status with @error. NULL: Firesteel has no cluster mode for this manager.
         */
        int (*submit)(const struct submission *s, int *status, struct fst_error *error);

        /*
         * --kill and --status of the driver @id at @master, which begins with the scheme if there is one. @conf has the properties.
         * Thread and output as `submit`. Returns 0 with *@status, also after reporting an unknown driver, or a negative
         * status with @error. NULL: Spark has no such request for this manager, or Firesteel does not support it.
         */
        int (*kill)(const char *master, const char *id, const struct strmap *conf, int *status,
                    struct fst_error *error);
        int (*status)(const char *master, const char *id, const struct strmap *conf, int *status,
                      struct fst_error *error);

        /*
         * The library's (firesteel/submit.h) implementation of cluster mode, --kill and --status
         * (submit/api/submitter.h). Not NULL if `submit` or `kill` is not.
         */
        const struct submission_class *submission;

        /*
         * --dry-run --output objects: write the objects that a submission of @s would create in the cluster to @out. @s
         * was prepared in cluster mode. Creates nothing; may read files. Returns 0, or a negative status with @error.
         * NULL: there are no objects.
         */
        int (*show_objects)(const struct submission *s, FILE *out, struct fst_error *error);
};

/* All managers, in the order in which master URLs are compared, ending with NULL: cmd/cluster_managers.c. */
extern const struct cluster_manager_class *const cluster_managers[];

/*
 * Find the class that this version of Spark uses for @master. Returns 0, or -EINVAL with Spark's message, which names
 * all of them.
 */
int cluster_manager_find(const char *master, enum submit_compat compat, const struct cluster_manager_class **out,
                         struct fst_error *error);

/* The same for an application that Firesteel itself runs: see native_in_all_versions. */
int cluster_manager_find_native(const char *master, enum submit_compat compat, const struct cluster_manager_class **out,
                                struct fst_error *error);

/* Find the class by prefix alone, where Spark has not yet validated @master; or NULL. */
const struct cluster_manager_class *cluster_manager_by_prefix(const char *master);

/*
 * Find the class for --kill and --status at @master, which has both slots. Returns NULL with Spark's message in @error
 * if there is none.
 */
const struct cluster_manager_class *cluster_manager_for_request(const char *master, struct fst_error *error);

/*
 * Parse the driver's master URL @text: its class (as cluster_manager_find_native), and its numbers into *@url. Returns 0, -EINVAL with @error for an
 * invalid URL, or -ENOTSUP with @error, which lists the supported managers. Outputs are unchanged on errors.
 */
int cluster_manager_read(const char *text, enum submit_compat compat, int processors,
                         const struct cluster_manager_class **out, struct master_url *url, struct fst_error *error);
