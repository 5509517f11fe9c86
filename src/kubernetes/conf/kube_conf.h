/*
 * What a pod is made from: the configuration of an application, and which of its pods is wanted. Spark's
 * KubernetesDriverConf and KubernetesExecutorConf.
 *
 *      struct kube_conf c = {.role = KUBE_DRIVER, .conf = conf, .env = getenv, .app_id = "spark-…", .unique = "…", …};
 *      r = kube_conf_complete(&c, &error);
 *      if (r == 0)
 *              r = driver_spec_build(&c, &spec, &error);
 *      kube_conf_deinit(&c);
 *
 * Nothing here or in what builds pods (deploy/kubernetes/features/) asks a clock, chance or the network: who calls says
 * what is new at each submission. Files are read: templates, Hadoop's and Spark's configuration, credentials.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;

enum kube_role { KUBE_DRIVER, KUBE_EXECUTOR };
enum kube_language { KUBE_JAVA, KUBE_PYTHON, KUBE_R }; /* a native application counts as a jar */

/* What a resource profile asks for, for each executor: "cores", "memory" (MiB), … or a resource's name. */
struct kube_amount {
        const char *name;
        int64_t amount;
        const char *vendor; /* "" if none was given */
};

struct kube_profile {
        int id; /* 0 is the default profile: then the configuration says everything */
        const struct kube_amount *amounts;
        size_t n;
};

/* How files get to and from elsewhere. A function that is missing: no such file can be used. */
struct kube_files {
        void *owner;
        /* Make the file at @uri one of this machine: *@path becomes the caller's. Negative with @error. */
        int (*fetch)(void *owner, const char *uri, char **path, struct fst_error *error);
        /* Send the file that @uri names to @target, a URI. Negative with @error. */
        int (*upload)(void *owner, const char *uri, const char *target, struct fst_error *error);
};

struct kube_conf {
        /* Said by the caller; borrowed. */
        enum kube_role role;
        const struct fst_conf *conf;
        const char *(*env)(const char *name);
        const char *app_id;
        const char
                *unique; /* what makes names new: Spark takes six random hexadecimal digits and the time, as 10 or 11 */
        const char *uuid; /* likewise, "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx" */
        const char *user; /* who submits; SPARK_USER of the pod */
        struct kube_files files;

        /* A driver's. */
        enum kube_language language;
        const char *resource;   /* the application, a URI; NULL: a class of Spark's own */
        const char *main_class; /* NULL is passed on as "null", as in Spark */
        const char *const *arguments;
        size_t n_arguments;
        const char *proxy_user; /* or NULL */

        /* An executor's. */
        const char *executor_id;
        const json_t *driver_pod;           /* NULL: the driver runs outside */
        const struct kube_profile *profile; /* NULL: the default */
        const char *secret;                 /* of spark.authenticate; NULL: none */

        /* By kube_conf_complete; what names of objects begin with, and the driver's service. */
        char *prefix, *service_name;
};

/* -EINVAL with Spark's sentence in @error: volumes or names that cannot be. Deinit in either case. */
int kube_conf_complete(struct kube_conf *c, struct fst_error *error);
void kube_conf_deinit(struct kube_conf *c);

/* "spark-pi-1a2b…": @app_name and @unique as the beginning of a name. The caller owns it. */
char *kube_name_prefix(const char *app_name, const char *unique);

/* @app_name as the value of a label. The caller owns it. */
char *kube_name_label(const char *app_name);

/* spark.app.name, or "spark". Borrowed. */
const char *kube_app_name(const struct kube_conf *c);

/* Add what is set below @prefix ("spark.kubernetes.driverEnv."), without it, sorted by name. */
void kube_pairs(const struct kube_conf *c, const char *prefix, struct strmap *out);

/*
 * Add the pod's labels: the user's and Spark's own, which the user may not set (-EINVAL). Annotations, with {{APP_ID}}
 * and {{EXECUTOR_ID}} replaced as in labels. Node selectors: for all pods, and for those of this role. Environment: of
 * the user's; names that cannot be variables of an executor are left out with a warning.
 */
int kube_labels(const struct kube_conf *c, struct strmap *out, struct fst_error *error);
void kube_annotations(const struct kube_conf *c, struct strmap *out);
void kube_node_selectors(const struct kube_conf *c, struct strmap *out);
void kube_environment(const struct kube_conf *c, struct strmap *out);

/* "driver" or "executor". */
const char *kube_role_name(const struct kube_conf *c);

/* {{APP_ID}} and {{EXECUTOR_ID}} in @text replaced. The caller owns it. */
char *kube_substitute_ids(const struct kube_conf *c, const char *text);

/* The image; -EINVAL with @error if there is none. The caller owns it. */
int kube_image(const struct kube_conf *c, char **out, struct fst_error *error);

/* The scheduler's name in *@out, NULL for Kubernetes' own. The caller owns it. */
int kube_scheduler_name(const struct kube_conf *c, char **out, struct fst_error *error);

/* "spark-drv-UNIQUE-conf-map", or spark-exec-…: of the configuration files. The caller owns it. */
char *kube_config_map_name(const struct kube_conf *c);

/* The driver pod's name. The caller owns it. */
int kube_driver_pod_name(const struct kube_conf *c, char **out, struct fst_error *error);
