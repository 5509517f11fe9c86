/*
 * The state of submission_prepare, for the files of this directory and for the slots of cluster managers
 * (driver/backend/cluster_manager.h).
 */
#pragma once

#include "submit/options/arguments.h"
#include "driver/backend/cluster_manager.h"
#include "submit/options/application_kind.h"
#include "submit/options/hadoop_security.h"
#include "submit/prepare/submission.h"

struct fst_error;
struct remote_files;

struct preparation {
        struct submit_arguments *a;
        struct submission *s;
        enum submit_compat compat;
        enum submit_language language;
        bool use_rest;        /* spark.master.rest.enabled */
        bool local_connect;   /* 3.5: spark.local.connect is set */
        bool proxy_classpath; /* spark.submit.proxyUser.allowCustomClasspathInClusterMode */

        /* What cluster_manager_class.check says of this manager and mode. */
        bool driver_resolves_packages; /* --packages is the driver's task */
        bool packages_on_classpath;    /* jars of --packages go on this process's class path only */
        bool ships_application;        /* the manager ships the application's jar: spark.jars does not name it */
        bool inner_submit;             /* this process is the driver of a submission in cluster mode */
        bool own_python_list;          /* --py-files has a key of the manager's own */
        bool keeps_python_uris;        /* 2.4: spark.submit.pyFiles keeps URIs */
        bool no_login;                 /* --principal and --keytab are not for this manager */
        bool hadoop_tokens;            /* Hadoop's delegation tokens are fetched without a resource manager */
        bool runs_connect_server;      /* Spark Connect's server may run in cluster mode */

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

/* Pieces of that: the main class (NULL: none), one argument (NULL: Spark passes null), the application's own arguments,
 * each after @before_each unless that is NULL, and the names of a comma list (NULL: none) on the class path. */
void child_command_set_class(struct preparation *p, const char *class);
void child_command_add(struct preparation *p, const char *word);
void child_command_add_own(struct preparation *p, const char *before_each);
void child_command_add_classpath(struct preparation *p, const char *list);

/* The value of a boolean key; @otherwise if it is not set. *@r is 0, or -EINVAL with @error for an invalid value. */
bool preparation_flag(const struct preparation *p, const char *key, bool otherwise, int *r, struct fst_error *error);
