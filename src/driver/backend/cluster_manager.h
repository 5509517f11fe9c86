/*
 * The contract of a cluster manager: everything that Firesteel asks of one, for the driver and for spark-submit.
 *
 * A manager is one `const struct cluster_manager_class` and one row of the table in cmd/cluster_managers.c. No other
 * code names a manager. docs/adding-a-cluster-manager.md says how to add one. The class stands here because the driver
 * is the lowest room that uses it; the slots of spark-submit take types of the room submit, which the driver never
 * sees.
 *
 * Order of the calls. spark-submit: find the class, `resolve`, `check`, `localize`, `add_language`, then `prepare` and
 * `submit` in cluster mode; --kill and --status need the class alone. The driver: find the class, `parse`, then
 * `executor_manager_new`.
 *
 * A slot that is NULL means what its comment says; "not built" is refused with a sentence that names the manager.
 * Nothing here keeps state: every slot may be called for several submissions at once, on different threads.
 * A slot that needs a library which the core does not link (libcurl, SASL) loads it on demand (base/module_loader.h).
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

/* `submit` found no REST server: the submission is prepared again with submission.force_legacy. */
#define CLUSTER_MANAGER_E_NO_REST 1

struct cluster_manager_class {
        /* ------------------------------------------------------------------------------------------------ names */

        const char *name;    /* "standalone": for logs, tests and code */
        const char *title;   /* "a standalone master": completes "submitting to …" */
        const char *example; /* "spark://host:port[,host:port...]": a master URL, for messages */

        /* ------------------------------------------------------------------------------------------ master URLs */

        /* How a master URL begins, as SparkSubmit looks at it: "spark". Of two classes that fit, the first row wins. */
        const char *prefix;

        /* With what follows it: "spark://". --kill and --status need it in full. NULL: the manager has no scheme. */
        const char *scheme;

        /* The sentence for an unknown master URL does not name the manager: another class has its prefix as well. */
        bool unlisted;

        /* Whether @master, which has the prefix, is valid for this version of Spark. Pure. NULL: it is. */
        bool (*accepts)(const char *master, enum submit_compat compat);

        /* The deploy mode that @master implies ("cluster" for Spark 2's yarn-cluster), or NULL. Static text. Pure.
         * NULL: it never implies one. */
        const char *(*deploy_mode)(const char *master);

        /* --------------------------------------------------------------------------------------------- the driver */

        /*
         * Read the numbers of @text into *@out; @processors is what "*" stands for. Pure. 0, or -EINVAL with @error and
         * *@out untouched. NULL: the URL has no numbers; whatever follows the scheme is for executor_manager_new.
         */
        int (*parse)(const char *text, int processors, struct master_url *out, struct fst_error *error);

        /* Tasks run in the driver's process: there are no executors, and no executor manager. */
        bool in_process;

        /* Cores of one executor (of the driver, with in_process) if spark.executor.cores is not set. Pure. NULL: the
         * cluster decides. */
        int (*executor_cores)(const struct master_url *url);

        /* Cores of all executors together, as far as the master URL says. Pure. NULL: those that have registered. */
        int (*total_cores)(const struct master_url *url);

        /* If this key holds a local master URL, a driver that the manager started runs its tasks itself. NULL: never.
         */
        const char *driver_master_key;

        /*
         * The driver's half of the contract (driver/backend/executor_manager.h), for @sc with its configuration. On the
         * thread that starts the context, before the scheduler's thread runs. Opens no connection:
         * executor_manager_class .announce and .start do. 0 and *@out, which the caller owns; or negative with @error,
         * mostly -EINVAL for settings that contradict. NULL without in_process: applications on this manager are not
         * built.
         */
        int (*executor_manager_new)(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);

        /* ------------------------------------------------------------------------------- preparing a submission */

        /* The bit of this manager in Spark's table of options (submit/options/option_table.h). */
        unsigned option_bit;

        /* --kill and --status exist since this version of Spark. */
        enum submit_compat requests_since;

        /* Spark reads the Hadoop configuration of this manager from HADOOP_CONF_DIR or YARN_CONF_DIR: one must be set.
         */
        bool needs_hadoop_conf;

        /* The environment variable that names an application without --name and --class. NULL: there is none. */
        const char *name_variable;

        /*
         * The slots below work on @p (submit/prepare/preparation.h) on the thread that prepares the submission. They
         * may block, for files and downloads. 0, or negative with @error in Spark's words where Spark has some; @p is
         * then thrown away. They set values of p->a with preparation_set and warn with preparation_warn.
         */

        /* First: rewrite master URL and deploy mode to the form that is passed on. NULL: they stay. */
        int (*resolve)(struct preparation *p, struct fst_error *error);

        /* Once the mode is known: refuse (-EINVAL) what the manager cannot run, and say in @p how files are treated.
         * Reads no file. NULL: there is nothing special. */
        int (*check)(struct preparation *p, struct fst_error *error);

        /* After downloads: bring or rename files as the driver of this manager needs them. NULL: they stay. */
        int (*localize)(struct preparation *p, struct fst_error *error);

        /* What a Python or R program needs with this manager. NULL: nothing. */
        int (*add_language)(struct preparation *p, struct fst_error *error);

        /* Cluster mode: main class and arguments of what Spark would start. NULL: there is no cluster mode. */
        int (*prepare)(struct preparation *p, struct fst_error *error);

        /* ------------------------------------------------------------------------- submitting in cluster mode */

        /* Without a REST server the driver can be submitted in another way (submission.force_legacy). */
        bool has_legacy_gateway;

        /*
         * Submit @s, which was prepared in cluster mode, and wait for its end if the configuration says so.
         * spark-submit's main thread; blocks; handles SIGINT, SIGTERM and SIGHUP while it runs. Writes to standard
         * error and to the log what Spark's client writes. 0 with *@status, the exit status; CLUSTER_MANAGER_E_NO_REST,
         * only with has_legacy_gateway; or negative with @error. NULL: cluster mode is not built.
         */
        int (*submit)(const struct submission *s, int *status, struct fst_error *error);

        /*
         * --kill and --status of the driver @id at @master, which begins with the scheme; @conf has the properties.
         * Thread and output as `submit`. 0 with *@status, also for a driver that is not known, which is reported; or
         * negative with @error. NULL: Spark has no such request for this manager, or it is not built.
         */
        int (*kill)(const char *master, const char *id, const struct strmap *conf, int *status,
                    struct fst_error *error);
        int (*status)(const char *master, const char *id, const struct strmap *conf, int *status,
                      struct fst_error *error);

        /* What the library (firesteel/submit.h) does in cluster mode and for --kill and --status
         * (submit/api/submitter.h). Not NULL where `submit` or `kill` is not. */
        const struct submission_class *submission;

        /* --dry-run --output objects: write to @out what would be created in the cluster for @s, which was prepared in
         * cluster mode. Creates nothing; may read files. 0, or negative with @error. NULL: there are no objects. */
        int (*show_objects)(const struct submission *s, FILE *out, struct fst_error *error);
};

/* All managers, NULL at the end, in the order in which master URLs are compared: cmd/cluster_managers.c. */
extern const struct cluster_manager_class *const cluster_managers[];

/* The class that Spark of this version finds for @master; or -EINVAL with Spark's sentence, which names all of them. */
int cluster_manager_find(const char *master, enum submit_compat compat, const struct cluster_manager_class **out,
                         struct fst_error *error);

/* The class by prefix alone, for what Spark decides before it validates @master; or NULL. */
const struct cluster_manager_class *cluster_manager_by_prefix(const char *master);

/* The class that --kill and --status at @master ask, which has both slots; or NULL with Spark's sentence in @error. */
const struct cluster_manager_class *cluster_manager_for_request(const char *master, struct fst_error *error);

/*
 * Read @text for a driver: its class, and its numbers into *@url. 0; -EINVAL with @error for what is not a master URL;
 * -ENOTSUP with a sentence that lists the managers on which applications run. Outputs are untouched on errors.
 */
int cluster_manager_read(const char *text, enum submit_compat compat, int processors,
                         const struct cluster_manager_class **out, struct master_url *url, struct fst_error *error);
