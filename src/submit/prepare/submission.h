/*
 * A prepared submission: the main class to start, its arguments, configuration and class path.
 *
 *      struct submission s = SUBMISSION_INIT;
 *      int r = submission_prepare(&a, &s, &error);
 *      if (r == 0)
 *              … start s.main_class, or print it …
 *      submission_deinit(&s);
 *
 * It follows SparkSubmit.prepareSubmitEnvironment of Spark 4.3. spark.firesteel.compat=3.5 or 2.4 selects the rules of
 * those versions. A native application (.so, .c) is treated as a user jar with the class `main`, so every manager ships
 * it like a jar.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdio.h>

struct cluster_manager_class;
struct fst_error;
struct submit_arguments;

/* Main classes that are wrappers. Firesteel does their work itself. */
#define SUBMIT_CLASS_REST "org.apache.spark.deploy.rest.RestSubmissionClientApp"
#define SUBMIT_CLASS_GATEWAY "org.apache.spark.deploy.ClientApp"
#define SUBMIT_CLASS_YARN "org.apache.spark.deploy.yarn.YarnClusterApplication"
#define SUBMIT_CLASS_KUBERNETES "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication"
#define SUBMIT_CLASS_PYTHON_RUNNER "org.apache.spark.deploy.PythonRunner"
#define SUBMIT_CLASS_PYTHON_SHELL "org.apache.spark.api.python.PythonGatewayServer"
#define SUBMIT_CLASS_R_RUNNER "org.apache.spark.deploy.RRunner"
#define SUBMIT_CLASS_R_SHELL "org.apache.spark.api.r.RBackend"

struct submission {
        /* Set by the caller before submission_prepare: the master has no REST server, so use the gateway. */
        bool force_legacy;
        /*
         * Set by the caller: the submission will run, so refuse an unsupported manager (-ENOTSUP) before any download,
         * resolution or compilation.
         */
        bool native_only;
        /* Set by the caller: the driver resolves packages, also where this process would need them only for uploads. */
        bool driver_resolves_packages;
        /* Set by the caller: classes that spark-submit refuses in cluster mode may run there. */
        bool any_class;
        /* Receives the output of slow steps (Ivy, R). NULL discards it. */
        FILE *progress;

        const struct cluster_manager_class *manager;
        bool cluster_mode;     /* the driver runs in the cluster */
        char *main_class;      /* NULL where Spark has none */
        VEC(char *) arguments; /* of the main class; NULL elements where Spark passes null */
        struct strmap conf;
        VEC(char *) classpath; /* in order */
        VEC(char *) messages;  /* warnings, in order, also if preparing failed */
        char *temp_dir;        /* the downloads, or NULL */
        char *ticket_cache;    /* of --principal and --keytab (net/kerberos.h), or NULL without a login */
        char *proxy_user;      /* of --proxy-user, or NULL */
        char *r_library;       /* the R packages built from jars, or NULL */
};

#define SUBMISSION_INIT ((struct submission){0})

/* Frees @s, removes its two directories and forgets its tickets. A caller that still needs one steals it first. */
void submission_deinit(struct submission *s);

/*
 * Prepares @a, which is complete and validated, into @s, which is SUBMISSION_INIT with the caller's settings. Downloads
 * the files that a driver in this process needs, resolves packages, and compiles a C file that goes into a cluster. As
 * in Spark, @a receives the resolved values: lists of files, main class, deploy mode. Returns 0, or negative with
 * Spark's message in @error. The caller must deinit @s in either case. Reads the environment but does not change it.
 * Blocks.
 */
int submission_prepare(struct submit_arguments *a, struct submission *s, struct fst_error *error);

/* Prints the --verbose form, secrets redacted: "Main class:", "Arguments:", "Spark config:", "Classpath elements:". */
void submission_print(const struct submission *s, FILE *out);

/*
 * One JSON object on one line: mainClass, arguments, conf, classpath. Redacts nothing, because it is for programs.
 * Owned by the caller.
 */
char *submission_json(const struct submission *s);

/* {"error":"…"}, printed in place of the JSON object. Owned by the caller. */
char *submission_json_error(const char *message);
