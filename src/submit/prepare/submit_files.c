/*
 * Resolves the files of a submission and downloads those that the driver needs at its start.
 *
 * A driver in this process needs the application, its jars and its Python files on this machine. A cluster manager may
 * need more (its `localize` slot). Packages become jars first, so later steps treat all jars alike. A C file that goes
 * into a cluster is compiled first.
 */
#include "conf/conf.h"
#include "submit/prepare/preparation.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "launch/jar_manifest.h"
#include "submit/options/option_table.h"
#include "submit/packages/maven_packages.h"
#include "submit/packages/r_packages.h"
#include "launch/remote_files.h"
#include "exec/app/app_compiler.h"
#include "exec/app/instruction_sets.h"
#include "io/fs/uri.h"
#include "launch/resolve_uri.h"

#include <stdio.h>
#include <unistd.h>

static const char *submit_files_property(const struct preparation *p, const char *key)
{
        return strmap_get(&p->a->properties, key);
}

/* --------------------------------------------------------------------------------------------------------- packages */

static void submit_files_add_package_jars(struct preparation *p, const struct package_jars *jars)
{
        if (p->packages_on_classpath) {
                /* This process uploads local files, and may need the package jars for that itself. */
                for (size_t i = 0; i < jars->len; i++)
                        vec_push(&p->s->classpath, mem_strdup(jars->data[i]));
                return;
        }
        bool python = p->language == LANGUAGE_PYTHON || submit_is_internal(p->a->primary_resource);
        for (size_t i = 0; i < jars->len; i++) {
                preparation_set(p, SUBMIT_JARS, file_list_merge(p->a->value[SUBMIT_JARS], jars->data[i]));
                if (python)
                        preparation_set(p, SUBMIT_PY_FILES,
                                        file_list_merge(p->a->value[SUBMIT_PY_FILES], jars->data[i]));
        }
}

static bool submit_files_is_blank(const char *text)
{
        return !text || text[strspn(text, " \t\r\n\f\v")] == 0;
}

/* An R application's jars, including package jars, may contain R packages. */
static int submit_files_build_r_packages(struct preparation *p, struct fst_error *error)
{
        const char *home = getenv("SPARK_HOME");
        _cleanup_free_ char *sparkr = home ? mem_printf("%s/R/lib", home) : NULL;
        if (p->language != LANGUAGE_R || submit_files_is_blank(p->a->value[SUBMIT_JARS]))
                return 0;
        return r_packages_build(p->a->value[SUBMIT_JARS], sparkr, p->a->verbose, p->s->progress, &p->s->r_library,
                                error);
}

/* A driver that resolves packages also builds the R packages in them. */
static int submit_files_resolve_packages(struct preparation *p, struct fst_error *error)
{
        _cleanup_(package_jars_deinit) struct package_jars jars = {0};
        struct packages_request request = {
                .packages = p->a->value[SUBMIT_PACKAGES],
                .exclusions = p->a->value[SUBMIT_EXCLUDE_PACKAGES],
                .repositories = p->a->value[SUBMIT_REPOSITORIES],
                .ivy_path = submit_files_property(p, "spark.jars.ivy"),
                .ivy_settings = submit_files_property(p, "spark.jars.ivySettings"),
                .compat = submit_files_property(p, "spark.firesteel.compat"),
                .out = p->s->progress,
        };
        if (p->driver_resolves_packages || p->s->driver_resolves_packages)
                return 0;
        int r = packages_resolve(&request, &jars, error);
        if (r < 0)
                return r;
        submit_files_add_package_jars(p, &jars);
        return submit_files_build_r_packages(p, error);
}

/* ----------------------------------------------------------------------------------------------------------- keytab */

static bool submit_files_is_kerberos_key(const struct preparation *p)
{
        return p->hadoop_tokens || (p->a->value[SUBMIT_PRINCIPAL] && p->a->value[SUBMIT_KEYTAB]);
}

/* Spark 2.4 accepts "local:" literally, and sets the login keys for every manager. */
static int submit_files_log_in_2_4(struct preparation *p, const char *keytab, struct fst_error *error)
{
        if (access(keytab, F_OK) < 0)
                return error_set(error, -ENOENT, "requirement failed: Keytab file: %s does not exist", keytab);
        strmap_set(&p->s->conf, "spark.yarn.keytab", keytab);
        strmap_set(&p->s->conf, "spark.yarn.principal", p->a->value[SUBMIT_PRINCIPAL]);
        return hadoop_security_login(&p->security, p->a->value[SUBMIT_PRINCIPAL], keytab, error);
}

/* "local:" is a path on the cluster's machines. */
static int submit_files_log_in(struct preparation *p, struct fst_error *error)
{
        const char *keytab = p->a->value[SUBMIT_KEYTAB];
        struct uri uri;
        if (p->no_login || !p->a->value[SUBMIT_PRINCIPAL] || !keytab)
                return 0;
        if (p->compat == COMPAT_2_4)
                return submit_files_log_in_2_4(p, keytab, error);
        bool local = strncmp(keytab, "local:", 6) == 0;
        if (local && !p->s->cluster_mode && uri_parse(keytab, &uri) && !uri.opaque) {
                preparation_set(p, SUBMIT_KEYTAB, uri_decode(uri.path));
                keytab = p->a->value[SUBMIT_KEYTAB];
                local = false;
        }
        if (local)
                return 0;
        if (access(keytab, F_OK) < 0)
                return error_set(error, -ENOENT, "requirement failed: Keytab file: %s does not exist", keytab);
        return hadoop_security_login(&p->security, p->a->value[SUBMIT_PRINCIPAL], keytab, error);
}

/* ----------------------------------------------------------------------------------------------- locations of files */

typedef int (*list_function)(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/* Replaces a list of the arguments by the result of @function. */
static int submit_files_replace(struct preparation *p, enum submit_field field, list_function function,
                                struct fst_error *error)
{
        char *out = NULL;
        int r = p->a->value[field] ? function(p->files, p->a->value[field], &out, error) : 0;
        if (r == 0 && p->a->value[field])
                preparation_set(p, field, out);
        return r;
}

static int submit_files_resolve_globs(struct preparation *p, struct fst_error *error)
{
        static const enum submit_field lists[] = {SUBMIT_JARS, SUBMIT_FILES, SUBMIT_PY_FILES, SUBMIT_ARCHIVES};
        int r = 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(lists); i++)
                r = submit_files_replace(p, lists[i], remote_files_resolve_globs, error);
        return r;
}

static int submit_files_download(struct preparation *p, struct fst_error *error)
{
        char *const *value = p->a->value;
        int r = remote_files_download(p->files, p->a->primary_resource, &p->local_primary, error);
        if (r == 0 && value[SUBMIT_JARS])
                r = remote_files_download_list(p->files, value[SUBMIT_JARS], &p->local_jars, error);
        if (r == 0 && value[SUBMIT_PY_FILES])
                r = remote_files_download_list(p->files, value[SUBMIT_PY_FILES], &p->local_py_files, error);
        return r;
}

/* ------------------------------------------------------------------------------------------------ C for the cluster */

static bool submit_files_is_c_file(const char *resource)
{
        size_t n = strcspn(resource, "#");
        return n > 2 && memcmp(resource + n - 2, ".c", 2) == 0;
}

static int submit_files_compile_for_cluster(struct preparation *p, struct fst_error *error)
{
        _cleanup_free_ char *here = NULL, *object = NULL;
        if (!p->s->cluster_mode || !submit_files_is_c_file(p->a->primary_resource))
                return 0;
        int r = remote_files_download(p->files, p->a->primary_resource, &here, error);
        _cleanup_free_ char *source = r == 0 ? uri_local_path(here) : NULL;
        if (r < 0)
                return r;
        if (!source)
                return error_set(
                        error, -ENOTSUP,
                        "%s cannot be compiled here, because it names a file on the cluster's machines: compile it with "
                        "firesteel compile",
                        here);
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        const char *march; /* tasks run on other machines */
        r = instruction_sets_march(strmap_get(&p->s->conf, "spark.firesteel.cc.march"), NULL, &march, error);
        if (r < 0)
                return r;
        struct app_compiler compiler = {.source = source,
                                        .flags = strmap_get(&p->s->conf, "spark.firesteel.cc.flags"),
                                        .march = march,
                                        .sanitizers = strmap_get(&p->s->conf, "spark.firesteel.cc.sanitize"),
                                        .messages = p->s->progress == stderr ? NULL : &said};
        r = app_compiler_run(&compiler, &object, error);
        if (p->s->progress && said.len > 0)
                fputs(buf_text(&said), p->s->progress);
        if (r < 0)
                return r;
        free(p->a->primary_resource);
        p->a->primary_resource = submit_resolve_uri(object, p->compat);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ entry point */

static void submit_files_report_download(void *context, const char *url, const char *from, const char *to)
{
        struct preparation *p = context;
        vec_push(&p->s->messages, mem_printf("Files %s from %s to %s", url, from, to));
}

int preparation_resolve_files(struct preparation *p, struct fst_error *error)
{
        struct remote_files_options options = {.conf = &p->a->properties,
                                               .env = conf_environment,
                                               .moved = submit_files_report_download,
                                               .context = p};
        int r = remote_files_new(&options, &p->files, error);
        if (r == 0 && submit_files_is_kerberos_key(p))
                r = hadoop_security_init(&p->security, conf_environment, error);
        if (r == 0)
                r = submit_files_resolve_packages(p, error);
        if (r == 0)
                r = submit_files_log_in(p, error);
        if (r == 0)
                r = submit_files_resolve_globs(p, error);
        if (r == 0 && !p->s->cluster_mode)
                r = submit_files_download(p, error);
        if (r == 0)
                r = submit_files_compile_for_cluster(p, error);
        if (r == 0 && p->s->manager->localize)
                r = p->s->manager->localize(p, error);
        return r;
}

/* ------------------------------------------------------------------------------------------------------- main class */

/* Reads Main-Class of the jar at @name, and downloads a remote jar first. */
static int submit_files_read_main_class(struct preparation *p, const char *name, char **class, struct fst_error *error)
{
        _cleanup_free_ char *here = NULL;
        struct uri uri;
        if (!uri_parse(name, &uri))
                return error_set(error, -EINVAL, "Illegal character in %s", name);
        if (uri_has_scheme(&uri, "local"))
                return error_set(error, -EPROTONOSUPPORT, "No FileSystem for scheme \"local\"");
        if (!uri.scheme.text && access(name, F_OK) < 0)
                return error_set(error, -ENOENT, "File %s does not exist", name);
        int r = uri.scheme.text ? remote_files_download(p->files, name, &here, error) : 0;
        _cleanup_free_ char *path = r == 0 ? uri_local_path(here ? here : name) : NULL;
        return r == 0 && path ? jar_manifest_attribute(path, "Main-Class", true, class, error) : r;
}

int preparation_choose_class(struct preparation *p, struct fst_error *error)
{
        const char *where = p->local_primary ? p->local_primary : p->a->primary_resource;
        _cleanup_(error_deinit) struct fst_error why = FST_ERROR_INIT;
        char *class = NULL;
        if (p->a->value[SUBMIT_CLASS] || p->language != LANGUAGE_JVM)
                return 0;
        if (submit_is_native(where)) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup("main"));
                return 0;
        }
        if (p->compat == COMPAT_2_4) /* which already searched the arguments */
                return 0;
        int r = submit_files_read_main_class(p, where, &class, &why);
        /* Spark treats any name as a jar's. The file runs here, where it may be a native application. */
        if (r < 0 && r != -ENOENT && p->s->native_only && !text_ends_with(where, ".jar"))
                return error_set(error, -EINVAL,
                                 "application %s is not a jar, and its name does not end in .so, .c, .jar, .py or .R: "
                                 "rename it, or name a jar's main class with --class",
                                 p->a->application);
        if (r < 0)
                return error_set(error, -EINVAL,
                                 "Failed to get main class in JAR with error '%s'.  Please specify one with --class.",
                                 error_message(&why));
        preparation_set(p, SUBMIT_CLASS, class);
        return class ? 0 : error_set(error, -EINVAL, "No main class set in JAR; please specify one with --class.");
}
