/*
 * What submission_prepare knows while it works; private to the files that prepare a submission.
 */
#pragma once

#include "submit/options/arguments.h"
#include "submit/options/cluster_manager.h"
#include "submit/options/hadoop_security.h"
#include "submit/prepare/submission.h"

struct fst_error;
struct remote_files;

struct preparation {
        struct submit_arguments *a;
        struct submission *s;
        enum submit_compat compat;
        enum submit_language language;
        bool use_rest;      /* spark.master.rest.enabled */
        bool local_connect; /* 3.5: spark.local.connect is set */
        bool standalone;    /* a spark:// master in cluster mode */
        bool yarn_cluster, mesos_cluster, kubernetes_cluster;
        bool kubernetes_driver; /* the inner submit, in the driver's pod of a cluster submission */
        bool proxy_classpath;   /* spark.submit.proxyUser.allowCustomClasspathInClusterMode */
        struct remote_files *files;
        struct hadoop_security security;
        char *local_primary; /* client mode: where the application is on this machine; NULL otherwise */
        char *local_jars, *local_py_files;
};

/* A warning, in order. */
void preparation_warn(struct preparation *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replace a field of the arguments; steals @value, which may be NULL. */
void preparation_set(struct preparation *p, enum submit_field field, char *value);

/* Put before the application's own arguments; steals both, the second only if @two, which may be NULL then. */
void preparation_prepend(struct preparation *p, char *first, bool two, char *second);

/* Packages, keytab, patterns of files, downloads: what the lists of files become. Negative with @error. */
int preparation_resolve_files(struct preparation *p, struct fst_error *error);

/* The main class of an application that named none: from the jar's manifest; `main` of a native one. */
int preparation_choose_class(struct preparation *p, struct fst_error *error);

/* Python and R: who runs them, and what travels with them. Negative with @error. */
int preparation_put_language(struct preparation *p, struct fst_error *error);

/* Main class, arguments and class path, as far as they follow from manager and mode. -EINVAL with @error. */
int child_command_put(struct preparation *p, struct fst_error *error);

/* Whether the value of a boolean key is true; @otherwise without one. -EINVAL with @error in *@r for what is none. */
bool preparation_flag(const struct preparation *p, const char *key, bool otherwise, int *r, struct fst_error *error);
