/* The class of YARN. */
#include "base/string_prefix.h"
#include "submit/options/option_table.h"
#include "submit/packages/r_packages.h"
#include "submit/prepare/preparation.h"
#include "submit/yarn/yarn_requests.h"
#include "submit/yarn/yarn_submission.h"
#include "submit/yarn/yarn_submit.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "launch/remote_files.h"
#include "launch/resolve_uri.h"
#include "launch/spark_home.h"
#include "process/exit_cleanup.h"
#include "rdd/operators/rdd_r.h"
#include "yarn/backend/yarn_cluster_manager.h"

#include <unistd.h>

/* "yarn-cluster" and "yarn-client" belong to Spark 2. */
static bool yarn_accepts(const char *master, enum submit_compat compat)
{
        return strcmp(master, "yarn") == 0 ||
               (compat == COMPAT_2_4 && (strcmp(master, "yarn-client") == 0 || strcmp(master, "yarn-cluster") == 0));
}

static const char *yarn_deploy_mode(const char *master)
{
        return strcmp(master, "yarn-cluster") == 0 ? "cluster" : strcmp(master, "yarn-client") == 0 ? "client" : NULL;
}

static int yarn_executor_cores(const struct master_url *url)
{
        return 1;
}

static int yarn_resolve(struct preparation *p, struct fst_error *error)
{
        const char *master = submit_arguments_master(p->a), *mode = p->a->value[SUBMIT_DEPLOY_MODE];
        const char *implied = yarn_deploy_mode(master);
        if (!implied)
                return 0;
        if (mode && strcmp(mode, implied) != 0 && (strcmp(mode, "client") == 0 || strcmp(mode, "cluster") == 0))
                return error_set(error, -EINVAL, "%s deploy mode is not compatible with master \"%s\"",
                                 strcmp(mode, "client") == 0 ? "Client" : "Cluster", master);
        preparation_warn(p,
                         "Master %s is deprecated since 2.0. Please use master \"yarn\" with specified deploy mode "
                         "instead.",
                         master);
        preparation_set(p, SUBMIT_DEPLOY_MODE, mem_strdup(implied));
        preparation_set(p, SUBMIT_MASTER, mem_strdup("yarn"));
        return 0;
}

static int yarn_check(struct preparation *p, struct fst_error *error)
{
        p->own_python_list = true;
        p->runs_connect_server = true;
        p->ships_application = p->s->cluster_mode;
        p->keeps_python_uris = p->s->cluster_mode;
        return 0;
}

static int yarn_localize(struct preparation *p, struct fst_error *error)
{
        static const enum submit_field lists[] = {SUBMIT_FILES, SUBMIT_PY_FILES, SUBMIT_JARS, SUBMIT_ARCHIVES};
        char *primary = NULL;
        int r = remote_files_localize_for_yarn(p->files, p->a->primary_resource, &primary, error);
        if (r < 0)
                return r;
        free(p->a->primary_resource);
        p->a->primary_resource = primary;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(lists); i++) {
                const char *list = p->a->value[lists[i]];
                char *local = NULL;
                r = list ? remote_files_localize_for_yarn(p->files, list, &local, error) : 0;
                if (r == 0 && list)
                        preparation_set(p, lists[i], local);
        }
        return r;
}

/* -------------------------------------------------------------------------------------------------------- languages */

/* @name is the directory into which executors unpack the archive. */
static void yarn_add_archive(struct preparation *p, const char *path, const char *name)
{
        _cleanup_free_ char *uri = submit_resolve_uri(path, p->compat);
        _cleanup_free_ char *named = mem_printf("%s#%s", uri, name);
        preparation_set(p, SUBMIT_ARCHIVES, file_list_merge(p->a->value[SUBMIT_ARCHIVES], named));
}

#define YARN_E_NO_SPARKR 1

/*
 * Makes an archive of the SparkR that this machine has, for a program that runs without Spark's own directory. Returns
 * YARN_E_NO_SPARKR if there is none.
 */
static int yarn_add_own_sparkr(struct preparation *p, struct fst_error *error)
{
        const char *named = strmap_get(&p->s->conf, "spark.firesteel.r.library");
        const char *command = strmap_get(&p->s->conf, "spark.r.command"), *folder = getenv("TMPDIR");
        _cleanup_free_ char *library = rdd_r_find_library(named ? named : "", command ? command : "Rscript");
        _cleanup_free_ char *prefix = mem_printf("%s/firesteel-sparkr", folder && *folder ? folder : "/tmp");
        _cleanup_free_ char *directory = NULL, *path = NULL;
        if (!library)
                return YARN_E_NO_SPARKR;
        int r = exit_cleanup_make_directory(prefix, &directory, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *package = mem_printf("%s/SparkR", library), *link = mem_printf("%s/SparkR", directory);
        if (symlink(package, link) < 0)
                return error_errno(error, "%s", link);
        r = r_packages_zip(directory, R_SPARKR_ARCHIVE, false, &path, error);
        if (r == 0)
                yarn_add_archive(p, path, "sparkr");
        return r;
}

/* SparkR and the packages built from jars travel as archives that YARN unpacks. */
static int yarn_add_r_archives(struct preparation *p, struct fst_error *error)
{
        const char *home = getenv("SPARK_HOME");
        _cleanup_free_ char *path = mem_printf("%s/R/lib/" R_SPARKR_ARCHIVE, home ? home : "");
        int r = YARN_E_NO_SPARKR;
        if (home && access(path, F_OK) == 0) {
                yarn_add_archive(p, path, "sparkr");
                r = 0;
        } else if (!spark_home_has_jvm(conf_environment)) {
                r = yarn_add_own_sparkr(p, error);
        }
        if (r == YARN_E_NO_SPARKR && !home)
                return error_set(error, -EINVAL, "SPARK_HOME does not exist for R application in YARN mode.");
        if (r == YARN_E_NO_SPARKR)
                return error_set(error, -ENOENT, R_SPARKR_ARCHIVE " does not exist for R application in YARN mode.");
        if (r)
                return r;
        if (!p->s->r_library)
                return 0;
        _cleanup_free_ char *packages = NULL;
        r = r_packages_zip(p->s->r_library, R_PACKAGES_ARCHIVE, spark_home_has_jvm(conf_environment), &packages, error);
        if (r < 0)
                return error_wrap(error, r, "Failed to zip all the built R packages");
        yarn_add_archive(p, packages, "rpkg");
        return 0;
}

static int yarn_add_language(struct preparation *p, struct fst_error *error)
{
        if (p->language == LANGUAGE_PYTHON)
                strmap_set(&p->s->conf, "spark.yarn.isPython", "true");
        if (p->language != LANGUAGE_R)
                return 0;
        int r = yarn_add_r_archives(p, error);
        if (r == 0 && p->s->cluster_mode)
                preparation_set(p, SUBMIT_FILES, file_list_merge(p->a->value[SUBMIT_FILES], p->a->primary_resource));
        return r;
}

/* ----------------------------------------------------------------------------------------------------- cluster mode */

static void yarn_add_client_arguments(struct preparation *p)
{
        const char *resource = p->a->primary_resource;
        if (p->language == LANGUAGE_PYTHON) {
                child_command_add(p, "--primary-py-file");
                child_command_add(p, resource);
                child_command_add(p, "--class");
                child_command_add(p, SUBMIT_CLASS_PYTHON_RUNNER);
        } else if (p->language == LANGUAGE_R) {
                child_command_add(p, "--primary-r-file");
                child_command_add(p, text_base_name(resource));
                child_command_add(p, "--class");
                child_command_add(p, SUBMIT_CLASS_R_RUNNER);
        } else {
                if (!submit_is_internal(resource)) {
                        child_command_add(p, "--jar");
                        child_command_add(p, resource);
                }
                child_command_add(p, "--class");
                child_command_add(p, p->a->value[SUBMIT_CLASS]);
        }
        child_command_add_own(p, "--arg");
}

static int yarn_prepare(struct preparation *p, struct fst_error *error)
{
        if (p->compat == COMPAT_4_3 && submit_is_connect_server(p->a->value[SUBMIT_CLASS]))
                vec_push(&p->s->messages,
                         mem_strdup("SparkConnectServer is starting in cluster deploy mode. Use `yarn "
                                    "application -kill` command or YARN client API to stop the server."));
        /* YARN's client runs in this process and may need the application's jars. */
        if (submit_is_user_jar(p->a->primary_resource, p->compat))
                vec_push(&p->s->classpath, mem_strdup(p->a->primary_resource));
        child_command_add_classpath(p, p->a->value[SUBMIT_JARS]);
        child_command_set_class(p, SUBMIT_CLASS_YARN);
        yarn_add_client_arguments(p);
        return 0;
}

const struct cluster_manager_class yarn_manager_class = {
        .name = "yarn",
        .title = "YARN",
        .example = "yarn",
        .prefix = "yarn",
        .accepts = yarn_accepts,
        .deploy_mode = yarn_deploy_mode,
        .executor_cores = yarn_executor_cores,
        .files_key = "spark.yarn.dist.files",
        .archives_key = "spark.yarn.dist.archives",
        .executor_manager_new = yarn_manager_new,
        .option_bit = OPTIONS_YARN,
        .requests_since = COMPAT_3_5,
        .needs_hadoop_conf = true,
        .name_variable = "SPARK_YARN_APP_NAME",
        .resolve = yarn_resolve,
        .check = yarn_check,
        .localize = yarn_localize,
        .add_language = yarn_add_language,
        .prepare = yarn_prepare,
        .submit = yarn_submit,
        .kill = yarn_kill,
        .status = yarn_status,
        .submission = &yarn_submission_class,
};
