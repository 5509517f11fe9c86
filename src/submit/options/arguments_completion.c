/*
 * Completes a command line from files and the environment; see arguments.h.
 *
 * Spark reads the files twice: first its launcher, for the JVM's options, then SparkSubmit. The launcher's errors (a
 * missing file, a heap size among the java options, no application) come first and print the usage. Stored errors of
 * the command line come between the two.
 */
#include "submit/options/arguments.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/properties.h"
#include "conf/redact.h"
#include "driver/backend/cluster_manager.h"
#include "submit/options/application_kind.h"
#include "launch/jar_manifest.h"
#include "text/shell_words.h"
#include "launch/resolve_uri.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* For --verbose: reports which file a setting comes from. */
static void arguments_report_file(struct submit_arguments *a, const char *path, const struct strmap *file)
{
        _cleanup_(redactor_deinit) struct redactor redactor;
        redactor_init_lenient(&redactor, strmap_get(file, "spark.redaction.regex"));
        vec_push(&a->messages, mem_printf("Using properties file: %s", path));
        for (struct strmap_entry *e = NULL; (e = strmap_next(file, e));)
                vec_push(&a->messages, mem_printf("Adding default property: %s=%s", e->key,
                                                  redactor_value(&redactor, e->key, e->value)));
}

int submit_read_properties(const char *path, struct strmap *out, struct fst_error *error)
{
        struct fst_error why = FST_ERROR_INIT;
        struct stat st;
        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(error, -EINVAL, "Invalid properties file '%s'.", path);
        int r = properties_load(out, path, &why);
        if (r < 0) {
                bool malformed = strstr(error_message(&why), "malformed \\u") != NULL;
                error_set(error, r, "%s", malformed ? "Malformed \\uxxxx encoding." : error_message(&why));
        }
        error_deinit(&why);
        return r;
}

static int arguments_completion_read_file(struct submit_arguments *a, const char *path, struct strmap *out,
                                          struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap file = STRMAP_INIT;
        a->usage_error = true;
        int r = submit_read_properties(path, &file, error);
        if (r < 0)
                return r;
        a->usage_error = false;
        if (a->verbose)
                arguments_report_file(a, path, &file);
        strmap_merge(out, &file);
        return 0;
}

static void arguments_add_missing(struct strmap *to, const struct strmap *from)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(from, e));)
                strmap_set_if_missing(to, e->key, e->value);
}

static int arguments_merge_files(struct submit_arguments *a, const char *defaults, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap named = STRMAP_INIT, below = STRMAP_INIT;
        const char *path = a->value[SUBMIT_PROPERTIES_FILE];
        int r = path ? arguments_completion_read_file(a, path, &named, error) : 0;
        for (size_t i = 0; r == 0 && i < a->extra_properties_files.len; i++)
                r = arguments_completion_read_file(a, a->extra_properties_files.data[i], &named, error);
        if (r == 0 && defaults && (!path || a->load_spark_defaults))
                r = arguments_completion_read_file(a, defaults, &below, error);
        if (r < 0)
                return r;
        arguments_add_missing(&a->properties, &named);
        arguments_add_missing(&a->properties, &below);
        return 0;
}

/* Firesteel has no JVM heap, but a user who sets it here means --driver-memory. */
static int arguments_completion_check_java_options(const struct submit_arguments *a, const char *key,
                                                   struct fst_error *error)
{
        const char *value = strmap_get(&a->properties, key);
        if (!value)
                return 0;
        _cleanup_(option_words_deinit) struct option_words words = {0};
        int r = option_string_split(value, &words, error);
        bool whole = a->compat < COMPAT_4_3, has_heap = whole && strstr(value, "Xmx");
        for (size_t i = 0; i < words.len && !whole; i++)
                has_heap |= strncmp(words.data[i], "-Xmx", 4) == 0;
        if (r < 0 || !has_heap)
                return r;
        return error_set(error, -EINVAL,
                         "Not allowed to specify max heap(Xmx) memory settings through java options (was %s). Use the "
                         "corresponding --driver-memory or spark.driver.memory configuration instead.",
                         value);
}

/* The launcher's remaining checks. */
static int arguments_check_as_launcher(struct submit_arguments *a, struct fst_error *error)
{
        int r = a->compat > COMPAT_2_4
                        ? arguments_completion_check_java_options(a, "spark.driver.defaultJavaOptions", error)
                        : 0;
        if (r == 0)
                r = arguments_completion_check_java_options(a, "spark.driver.extraJavaOptions", error);
        if (r == 0 && !a->application && !a->is_special)
                r = error_set(error, -EINVAL, "Missing application resource.");
        a->usage_error = r < 0;
        return r;
}

/* Reports an error of the command line that the launcher does not check. */
static int arguments_check_conflicts(const struct submit_arguments *a, struct fst_error *error)
{
        const char *mode = a->value[SUBMIT_DEPLOY_MODE];
        if (mode && strcmp(mode, "client") != 0 && strcmp(mode, "cluster") != 0)
                return error_set(error, -EINVAL, "--deploy-mode must be either \"client\" or \"cluster\"");
        return a->conflict ? error_set(error, -EINVAL, "%s", a->conflict) : 0;
}

static void arguments_drop_messages(struct submit_arguments *a)
{
        for (size_t i = 0; i < a->messages.len; i++)
                free(a->messages.data[i]);
        a->messages.len = 0;
}

static void arguments_drop_foreign_keys(struct submit_arguments *a)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&a->properties, e));) {
                if (strncmp(e->key, "spark.", 6) == 0)
                        continue;
                vec_push(&a->messages,
                         a->compat == COMPAT_2_4
                                 ? mem_printf("Warning: Ignoring non-spark config property: %s=%s", e->key, e->value)
                                 : mem_printf("Warning: Ignoring non-Spark config property: %s", e->key));
                _cleanup_free_ char *key = mem_strdup(e->key);
                strmap_remove(&a->properties, key);
        }
}

/* In Spark 2.4 some options have no key yet, or only YARN's key. */
static bool arguments_version_has_key(enum submit_compat compat, const char *key)
{
        static const char *const later[] = {"spark.archives", "spark.kerberos.principal", "spark.kerberos.keytab",
                                            "spark.remote"};
        for (size_t i = 0; compat == COMPAT_2_4 && i < ARRAY_SIZE(later); i++) {
                if (strcmp(later[i], key) == 0)
                        return false;
        }
        return true;
}

/* Reads the files that the command line names. Properties that are already set win. */
static void arguments_resolve_files(struct submit_arguments *a)
{
        char *resource = a->primary_resource;
        for (enum submit_field f = 0; f < SUBMIT_FIELDS; f++) {
                char *list = a->value[f];
                if (!list || !submit_option_of(f)->is_uris)
                        continue;
                a->value[f] = submit_resolve_uris(list, a->compat);
                free(list);
        }
        bool is_later = a->compat < COMPAT_4_3 && resource && strcmp(resource, "connect-shell") == 0;
        if (!resource || (submit_is_shell(resource) && !is_later) || submit_is_internal(resource))
                return;
        a->primary_resource = submit_resolve_uri(resource, a->compat);
        free(resource);
}

static void arguments_fill_fields(struct submit_arguments *a, const char *(*env)(const char *name))
{
        for (enum submit_field f = 0; f < SUBMIT_FIELDS; f++) {
                const struct submit_option *o = submit_option_of(f);
                for (size_t k = 0; k < ARRAY_SIZE(o->keys) && o->keys[k] && !a->value[f]; k++) {
                        const char *value = strmap_get(&a->properties, o->keys[k]);
                        if (value && arguments_version_has_key(a->compat, o->keys[k]))
                                a->value[f] = mem_strdup(value);
                }
                const char *value = o->env && !a->value[f] ? env(o->env) : NULL;
                if (value && !(a->compat == COMPAT_2_4 && f == SUBMIT_REMOTE))
                        a->value[f] = mem_strdup(value);
        }
}

/* As Java's File.getName: the part after the last "/", without trailing slashes. */
static char *arguments_last_name(const char *uri)
{
        size_t end = strlen(uri);
        while (end > 0 && uri[end - 1] == '/')
                end--;
        size_t start = end;
        while (start > 0 && uri[start - 1] != '/')
                start--;
        return mem_strndup(uri + start, end - start);
}

/* Spark 2.4 already reads the jar's manifest here, so the main class names the application. */
static int arguments_find_main_class(struct submit_arguments *a, struct fst_error *error)
{
        const char *resource = a->primary_resource;
        if (a->compat > COMPAT_2_4 || a->value[SUBMIT_CLASS] || !resource || submit_is_native(resource) ||
            submit_language_of(resource, a->compat) != LANGUAGE_JVM)
                return 0;
        return jar_main_class_2_4(resource, &a->value[SUBMIT_CLASS], error);
}

static void arguments_derive_name(struct submit_arguments *a, const char *(*env)(const char *name))
{
        char **name = &a->value[SUBMIT_NAME];
        const char *found = NULL;
        if (*name)
                return;
        const struct cluster_manager_class *manager = cluster_manager_by_prefix(submit_arguments_master(a));
        if (manager && manager->name_variable)
                found = env(manager->name_variable);
        if (!found)
                found = a->value[SUBMIT_CLASS];
        if (found)
                *name = mem_strdup(found);
        else if (a->primary_resource)
                *name = arguments_last_name(a->primary_resource);
}

/* As Scala's toBoolean. */
static int arguments_check_boolean(const char *value, struct fst_error *error)
{
        if (!value || strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0)
                return 0;
        return error_set(error, -EINVAL, "For input string: \"%s\"", value);
}

/* An option of Spark 2.1 and 2.2 on Kubernetes. */
static void arguments_take_namespace(struct submit_arguments *a)
{
        if (!a->kubernetes_namespace)
                return;
        vec_push(
                &a->messages,
                mem_printf("Warning: --kubernetes-namespace is an option of Spark 2.2 on Kubernetes. Please use --conf "
                           "spark.kubernetes.namespace=%s instead.",
                           a->kubernetes_namespace));
        strmap_set(&a->properties, "spark.kubernetes.namespace", a->kubernetes_namespace);
}

int submit_arguments_complete(struct submit_arguments *a, const char *defaults, const char *(*env)(const char *name),
                              struct fst_error *error)
{
        int r = arguments_merge_files(a, defaults, error);
        if (r == 0)
                r = submit_compat_parse(strmap_get(&a->properties, "spark.firesteel.compat"), &a->compat, error);
        if (r == 0)
                r = arguments_check_as_launcher(a, error);
        if (r == 0)
                r = arguments_check_conflicts(a, error);
        if (r < 0) {
                arguments_drop_messages(a);
                return r;
        }
        if (a->compat < COMPAT_4_3 && defaults && !a->value[SUBMIT_PROPERTIES_FILE])
                a->value[SUBMIT_PROPERTIES_FILE] = mem_strdup(defaults);
        if (a->compat < COMPAT_4_3 && a->verbose && !a->value[SUBMIT_PROPERTIES_FILE])
                vec_push(&a->messages, mem_strdup("Using properties file: null"));
        arguments_drop_foreign_keys(a);
        arguments_take_namespace(a);
        arguments_resolve_files(a);
        arguments_fill_fields(a, env);
        r = arguments_find_main_class(a, error);
        if (r < 0)
                return r;
        arguments_derive_name(a, env);
        return arguments_check_boolean(strmap_get(&a->properties, "spark.master.rest.enabled"), error);
}
