/*
 * Dispatch; see submit_main.h. Decides whether a JVM is needed before it prepares anything, because SparkSubmit in that
 * JVM prepares again from the same words and would download files twice.
 */
#include "submit/submit_main.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "process/exit_cleanup.h"
#include "base/string_prefix.h"
#include "driver/backend/cluster_manager.h"
#include "exec/app/sanitizers.h"
#include "submit/options/arguments.h"
#include "submit/jvm/java_command.h"
#include "submit/jvm/java_launcher.h"
#include "submit/native_launcher.h"
#include "io/fs/hadoop_conf.h"
#include "launch/remote_files.h"
#include "launch/spark_home.h"
#include "submit/prepare/submission.h"

#include <stdio.h>
#include <stdlib.h>

bool runner_is_special(int n, char *const *words)
{
        return n > 0 && java_command_is_special(words[0]);
}

int runner_exec(const char *what, int n, char *const *words, int *status, struct fst_error *error)
{
        *status = 1;
        int r = java_launcher_check(what, error);
        if (r < 0)
                return r;
        setenv("PYTHONHASHSEED", "0", 1);
        return java_launch(JAVA_CLASS_SUBMIT, n, words, false, status, error);
}

/* Programs in Python and R run natively unless SPARK_HOME is a distribution of Spark. */
static bool submit_main_is_native(const char *resource)
{
        return submit_language_of(resource, COMPAT_4_3) != LANGUAGE_JVM && !spark_home_has_jvm(conf_environment);
}

/* The kind of application that another process must run, or NULL for a native application. */
static const char *submit_main_foreign_kind(const char *resource)
{
        const char *home = getenv("SPARK_HOME");
        if (submit_main_is_native(resource))
                return NULL;
        if (submit_is_shell(resource))
                return "a shell of Spark";
        if (submit_is_internal(resource))
                return "a class of Spark itself";
        if (submit_language_of(resource, COMPAT_4_3) == LANGUAGE_PYTHON)
                return "a Python program";
        if (submit_language_of(resource, COMPAT_4_3) == LANGUAGE_R)
                return "an R program";
        if (native_application_is_at(resource))
                return NULL;
        if (text_ends_with(resource, ".jar"))
                return "a Java archive";
        return submit_is_native(resource) || !home || !home[0] ? NULL : "no native application";
}

static int submit_main_prepare(struct submit_arguments *a, struct submission *s, struct fst_error *error)
{
        int r = submission_prepare(a, s, error);
        for (size_t i = 0; i < s->messages.len; i++)
                fprintf(stderr, "%s\n", s->messages.data[i]);
        if (r == 0 && a->verbose)
                submission_print(s, stderr);
        return r;
}

/* Submits in cluster mode. If a master has no REST server, prepares again for its legacy gateway. */
static int submit_main_run_in_cluster(struct submit_arguments *a, int *status, struct fst_error *error)
{
        bool force_legacy = false;
        for (;;) {
                _cleanup_(submission_deinit) struct submission s = {
                        .force_legacy = force_legacy, .native_only = true, .progress = stderr};
                int r = submit_main_prepare(a, &s, error);
                if (r == 0 && submit_is_native(a->primary_resource))
                        conf_warn_unused(&s.conf);
                if (r == 0)
                        conf_warn_misspelled(&s.conf);
                if (r == 0)
                        r = s.manager->submit(&s, status, error);
                if (r != CLUSTER_MANAGER_E_NO_REST)
                        return r;
                error_deinit(error);
                force_legacy = true;
        }
}

/* A native driver reads its files itself, and only from this machine's file system. */
static int submit_main_fetch_files(struct submission *s, struct remote_files *files, struct fst_error *error)
{
        static const char *const lists[] = {"spark.files", "spark.archives", "spark.yarn.dist.files",
                                            "spark.yarn.dist.archives"};
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const char *set = strmap_get(&s->conf, lists[i]);
                _cleanup_free_ char *list = set ? mem_strdup(set) : NULL;
                _cleanup_(buf_deinit) struct buf all = BUF_INIT;
                for (char *rest, *one = list ? strtok_r(list, ",", &rest) : NULL; one;
                     one = strtok_r(NULL, ",", &rest)) {
                        _cleanup_free_ char *here = NULL;
                        char *alias = strrchr(one, '#');
                        if (alias)
                                *alias++ = '\0';
                        int r = remote_files_download(files, one, &here, error);
                        if (r < 0)
                                return error_wrap(error, r, "%s", lists[i]);
                        buf_printf(&all, "%s%s%s%s", all.len ? "," : "", here, alias ? "#" : "", alias ? alias : "");
                }
                if (all.len)
                        strmap_set(&s->conf, lists[i], buf_text(&all));
        }
        return 0;
}

static int submit_main_run_native(struct submit_arguments *a, int *status, struct fst_error *error)
{
        _cleanup_(submission_deinit) struct submission s = {.native_only = true, .progress = stderr};
        struct remote_files *files = NULL;
        int r = sanitizers_enter(strmap_get(&a->properties, "spark.firesteel.cc.sanitize"), error);
        if (r == 0)
                r = submit_main_prepare(a, &s, error);
        if (r == 0 && s.proxy_user) /* the driver acts for this user */
                strmap_set(&s.conf, "spark.hadoop." HADOOP_CONF_PROXY_USER, s.proxy_user);
        if (r == 0)
                r = remote_files_new(&(struct remote_files_options){.conf = &s.conf, .env = conf_environment}, &files,
                                     error);
        if (r == 0)
                r = submit_main_fetch_files(&s, files, error);
        /* The application's libraries must find the tickets. No other thread runs yet. */
        if (r == 0 && s.ticket_cache)
                setenv("KRB5CCNAME", s.ticket_cache, 1);
        if (r == 0)
                r = submit_language_of(a->primary_resource, COMPAT_4_3) == LANGUAGE_PYTHON
                            ? submit_launch_python(a, &s, status, error)
                            : submit_launch(a, &s, status, error);
        _cleanup_free_ char *directory = files ? remote_files_take_directory(files) : NULL;
        exit_cleanup_remove(directory);
        remote_files_free(files);
        return r;
}

/* Runs --kill or --status. */
static int submit_main_operate(const struct submit_arguments *a, int *status, struct fst_error *error)
{
        const char *master = submit_arguments_master(a);
        const struct cluster_manager_class *manager = cluster_manager_for_request(master, error);
        if (!manager)
                return -ENOTSUP;
        return (a->action == SUBMIT_ACTION_KILL ? manager->kill : manager->status)(master, a->submission,
                                                                                   &a->properties, status, error);
}

bool runner_is_foreign(const struct submit_arguments *a)
{
        return a->action == SUBMIT_ACTION_SUBMIT && !a->dry_run && !submit_arguments_cluster_mode(a) &&
               submit_main_foreign_kind(a->primary_resource);
}

int runner_run(struct submit_arguments *a, int n, char *const *words, int *status, struct fst_error *error)
{
        *status = 1;
        if (a->action != SUBMIT_ACTION_SUBMIT)
                return submit_main_operate(a, status, error);
        if (submit_arguments_cluster_mode(a))
                return submit_main_run_in_cluster(a, status, error);
        const char *kind = submit_main_foreign_kind(a->primary_resource);
        if (!kind)
                return submit_main_run_native(a, status, error);
        conf_warn_misspelled(&a->properties);
        _cleanup_free_ char *what = mem_printf("application %s is %s, which", a->application, kind);
        return runner_exec(what, n, words, status, error);
}
