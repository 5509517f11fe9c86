/*
 * The input for building a pod: the application's configuration and the role of the pod. Spark's KubernetesDriverConf
 * and KubernetesExecutorConf.
 *
 *      struct kube_conf c = {.role = KUBE_DRIVER, .conf = conf, .env = getenv, .app_id = "spark-…", .unique = "…", …};
 *      r = kube_conf_complete(&c, &error);
 *      if (r == 0)
 *              r = driver_spec_build(&c, &spec, &error);
 *      kube_conf_deinit(&c);
 *
 * Nothing here or in kubernetes/pods uses a clock, random numbers or the network: the caller supplies the values that
 * are new at each submission. Templates, credentials and the configuration of Hadoop and Spark are read from files.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;

enum kube_role { KUBE_DRIVER, KUBE_EXECUTOR };
enum kube_language { KUBE_JAVA, KUBE_PYTHON, KUBE_R }; /* also for native applications */

/* One amount of a resource profile, per executor: "cores", "memory" (MiB), … or a resource's name. */
struct kube_amount {
        const char *name;
        int64_t amount;
        const char *vendor; /* "" without a vendor */
};

struct kube_profile {
        int id; /* 0 is the default profile, whose amounts come from the configuration */
        const struct kube_amount *amounts;
        size_t n;
};

/* Functions that transfer files. Without a function, files that need it are rejected. */
struct kube_files {
        void *owner;
        /* Copies the file at @uri to this machine. The caller owns *@path. Negative with @error. */
        int (*fetch)(void *owner, const char *uri, char **path, struct fst_error *error);
        /* Sends the file at @uri to the URI @target. Negative with @error. */
        int (*upload)(void *owner, const char *uri, const char *target, struct fst_error *error);
};

struct kube_conf {
        /* Set by the caller, borrowed. */
        enum kube_role role;
        const struct fst_conf *conf;
        const char *(*env)(const char *name);
        const char *app_id;
        const char
                *unique; /* unique part of names: Spark uses six random hexadecimal digits and the time, as 10 or 11 */
        const char *name_prefix; /* of the names of a driver's objects; NULL: made from application name and @unique */
        const char *uuid;        /* unique as well, "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx" */
        const char *user;        /* the submitting user, SPARK_USER of the pod */
        struct kube_files files;
        /* Pod templates in place of the files of spark.kubernetes.*.podTemplateFile. NULL: the files. */
        const json_t *driver_template, *executor_template;

        /* For a driver. */
        enum kube_language language;
        const char *resource;   /* the application's URI; NULL: a class of Spark */
        const char *main_class; /* NULL becomes "null", as in Spark */
        const char *const *arguments;
        size_t n_arguments;
        const char *proxy_user; /* or NULL */

        /* For an executor. */
        const char *executor_id;
        const char *resumed_app_id;         /* the driver's, if not app_id, which is the pods' label; or NULL */
        const json_t *driver_pod;           /* NULL: the driver runs outside the cluster */
        const json_t *lasting_owner;        /* a reference to what outlives the driver's pod; NULL: nothing may */
        const struct kube_profile *profile; /* NULL: the default profile */
        const char *secret;                 /* secret of spark.authenticate; NULL: none */

        /* Set by kube_conf_complete: the prefix of object names, and the driver's service. */
        char *prefix, *service_name;
};

/*
 * Checks the settings and completes @c. Returns 0, or -EINVAL with Spark's message for invalid volumes or names. Deinit
 * @c in either case.
 */
int kube_conf_complete(struct kube_conf *c, struct fst_error *error);
void kube_conf_deinit(struct kube_conf *c);

/* Returns "spark-pi-1a2b…", a name prefix from @app_name and @unique. The caller owns it. */
char *kube_name_prefix(const char *app_name, const char *unique);

/* Returns @app_name as a valid label value. The caller owns it. */
char *kube_name_label(const char *app_name);

/* Returns spark.app.name, or "spark". Borrowed. */
const char *kube_app_name(const struct kube_conf *c);

/* Adds the settings below @prefix ("spark.kubernetes.driverEnv."), without the prefix, sorted by name. */
void kube_pairs(const struct kube_conf *c, const char *prefix, struct strmap *out);

/*
 * Add to @out: the pod's labels (the user's and Spark's own; -EINVAL if the user sets one of Spark's); annotations,
 * with {{APP_ID}} and {{EXECUTOR_ID}} replaced as in labels; node selectors for all pods and for this role; the user's
 * environment, without names that an executor's variables may not have, which are logged.
 */
int kube_labels(const struct kube_conf *c, struct strmap *out, struct fst_error *error);
void kube_annotations(const struct kube_conf *c, struct strmap *out);
void kube_node_selectors(const struct kube_conf *c, struct strmap *out);
void kube_environment(const struct kube_conf *c, struct strmap *out);

/* Returns "driver" or "executor". */
const char *kube_role_name(const struct kube_conf *c);

/* Replaces {{APP_ID}} and {{EXECUTOR_ID}} in @text. The caller owns the result. */
char *kube_substitute_ids(const struct kube_conf *c, const char *text);

/* Sets *@out to the image, or returns -EINVAL with @error if none is set. The caller owns it. */
int kube_image(const struct kube_conf *c, char **out, struct fst_error *error);

/* Sets *@out to the scheduler's name, NULL for Kubernetes' default. The caller owns it. */
int kube_scheduler_name(const struct kube_conf *c, char **out, struct fst_error *error);

/*
 * Returns the name of the config map of configuration files, "spark-drv-UNIQUE-conf-map" or "spark-exec-…". The caller
 * owns it.
 */
char *kube_config_map_name(const struct kube_conf *c);

/* Returns the driver pod's name. The caller owns it. */
int kube_driver_pod_name(const struct kube_conf *c, char **out, struct fst_error *error);
