/*
 * The state of submission_prepare, shared by the files of this directory and the slots of cluster managers
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

        /* Set by cluster_manager_class.check for this manager and mode. */
        bool driver_resolves_packages; /* the driver resolves --packages */
        bool packages_on_classpath;    /* jars of --packages go only on this process's class path */
        bool ships_application;        /* the manager ships the application's jar, so spark.jars omits it */
        bool inner_submit;             /* this process is the driver of a cluster-mode submission */
        bool own_python_list;          /* the manager has its own key for --py-files */
        bool keeps_python_uris;        /* 2.4: spark.submit.pyFiles keeps URIs */
        bool no_login;                 /* --principal and --keytab do not apply to this manager */
        bool hadoop_tokens;            /* fetch Hadoop's delegation tokens without a resource manager */
        bool runs_connect_server;      /* Spark Connect's server may run in cluster mode */

        struct remote_files *files;
        struct hadoop_security security;
        char *local_primary; /* client mode: the application's path on this machine, else NULL */
        char *local_jars, *local_py_files;
};

/* Appends a warning. */
void preparation_warn(struct preparation *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces a field of the arguments. Steals @value, which may be NULL. */
void preparation_set(struct preparation *p, enum submit_field field, char *value);

/* Prepends to the application's own arguments. Steals both, and ignores the second unless @two. It may then be NULL. */
void preparation_prepend(struct preparation *p, char *first, bool two, char *second);

/*
 * Resolves packages, keytab, file patterns and downloads, and updates the lists of files. Returns negative with @error
 * on failure.
 */
int preparation_resolve_files(struct preparation *p, struct fst_error *error);

/* Sets a missing main class: from the jar's manifest, or `main` for a native application. */
int preparation_choose_class(struct preparation *p, struct fst_error *error);

/*
 * Python and R: sets the program that runs them, and the files that travel with them. Returns negative with @error on
 * failure.
 */
int preparation_put_language(struct preparation *p, struct fst_error *error);

/* Sets main class, arguments and class path as far as manager and mode determine them. Returns -EINVAL with @error. */
int child_command_put(struct preparation *p, struct fst_error *error);

/*
 * Parts of that. Set the main class (NULL: none), add one argument (NULL: Spark passes null), add the application's own
 * arguments, each after @before_each unless that is NULL, and add a comma list of names (NULL: none) to the class path.
 */
void child_command_set_class(struct preparation *p, const char *class);
void child_command_add(struct preparation *p, const char *word);
void child_command_add_own(struct preparation *p, const char *before_each);
void child_command_add_classpath(struct preparation *p, const char *list);

/*
 * The value of a boolean key, or @otherwise if it is unset. Sets *@r to 0, or to -EINVAL with @error for an invalid
 * value.
 */
bool preparation_flag(const struct preparation *p, const char *key, bool otherwise, int *r, struct fst_error *error);
