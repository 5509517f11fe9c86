/*
 * What a submission comes to: which main class is started, with which arguments, configuration and class path.
 *
 *      struct submission s = SUBMISSION_INIT;
 *      int r = submission_prepare(&a, &s, &error);
 *      if (r == 0)
 *              … start s.main_class, or print it …
 *      submission_deinit(&s);
 *
 * It follows Spark's SparkSubmit.prepareSubmitEnvironment, version 4.3; spark.firesteel.compat=3.5 or 2.4 selects the
 * rules of those versions. A native application (.so, .c) is treated as a user jar whose class is `main`, so that
 * every manager ships it as it ships a jar.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdio.h>

struct cluster_manager_class;
struct fst_error;
struct submit_arguments;

/* Main classes that are wrappers: what they do for the application is ours to do. */
#define SUBMIT_CLASS_REST "org.apache.spark.deploy.rest.RestSubmissionClientApp"
#define SUBMIT_CLASS_GATEWAY "org.apache.spark.deploy.ClientApp"
#define SUBMIT_CLASS_YARN "org.apache.spark.deploy.yarn.YarnClusterApplication"
#define SUBMIT_CLASS_KUBERNETES "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication"
#define SUBMIT_CLASS_PYTHON_RUNNER "org.apache.spark.deploy.PythonRunner"
#define SUBMIT_CLASS_PYTHON_SHELL "org.apache.spark.api.python.PythonGatewayServer"
#define SUBMIT_CLASS_R_RUNNER "org.apache.spark.deploy.RRunner"
#define SUBMIT_CLASS_R_SHELL "org.apache.spark.api.r.RBackend"

struct submission {
        /* Said by the caller before submission_prepare: the master was no REST server, so take the gateway. */
        bool force_legacy;
        /* … it is going to be run: a manager that is not built yet is refused (-ENOTSUP) before anything is downloaded,
         * resolved or compiled. */
        bool native_only;
        /* Where what takes its time is told: what Ivy prints, what R prints. NULL: nobody is told. */
        FILE *progress;

        const struct cluster_manager_class *manager;
        bool cluster_mode;     /* the driver runs in the cluster */
        char *main_class;      /* NULL where Spark has none */
        VEC(char *) arguments; /* of the main class; an element is NULL where Spark passes null */
        struct strmap conf;
        VEC(char *) classpath; /* in order */
        VEC(char *) messages;  /* warnings, one line each, in order; also when preparing failed */
        char *temp_dir;        /* what was downloaded; NULL: nothing was */
        char *ticket_cache;    /* of --principal and --keytab (net/kerberos.h); NULL: nobody has logged in */
        char *r_library;       /* the R packages that were built from jars; NULL: none was */
};

#define SUBMISSION_INIT ((struct submission){0})

/* Free it, remove its two directories, forget its tickets; whoever still needs one takes it first (steal). */
void submission_deinit(struct submission *s);

/*
 * Prepare @a, which is complete and validated, into @s, which is SUBMISSION_INIT with what the caller says. Downloads
 * what a driver in this process needs, resolves packages, compiles a C file that goes into a cluster. As in Spark, @a
 * becomes what was resolved: its lists of files, main class, deploy mode. 0, or negative with Spark's sentence in
 * @error; @s is to be deinitialised either way. Reads the environment
 * and leaves it as it is; blocks.
 */
int submission_prepare(struct submit_arguments *a, struct submission *s, struct fst_error *error);

/* As --verbose prints it, secrets redacted: "Main class:", "Arguments:", "Spark config:", "Classpath elements:". */
void submission_print(const struct submission *s, FILE *out);

/*
 * One JSON object on one line: mainClass, arguments, conf, classpath. Nothing is redacted: it is for programs.
 * The caller owns it.
 */
char *submission_json(const struct submission *s);

/* {"error":"…"}, what is printed in its place. The caller owns it. */
char *submission_json_error(const char *message);
