/*
 * What a submission says; see arguments.h.
 *
 * The order of the steps is Spark's, because it shows: parse (an error in the command line is found before any file is
 * opened), files, keys that are not Spark's, environment, derived values, checks.
 */
#include "deploy/submit/arguments.h"

#include "base/buf.h"
#include "base/error.h"
#include "conf/conf.h"
#include "conf/properties.h"
#include "conf/redact.h"
#include "conf/units.h"

#include <ctype.h>
#include <limits.h>
#include <strings.h>

void submit_arguments_init(struct submit_arguments *a)
{
        *a = (struct submit_arguments){0};
}

static void free_all(char **data, size_t len)
{
        for (size_t i = 0; i < len; i++)
                free(data[i]);
}

void submit_arguments_deinit(struct submit_arguments *a)
{
        free_all(a->value, SUBMIT_FIELDS);
        free_all(a->application_arguments.data, a->application_arguments.len);
        free_all(a->extra_properties_files.data, a->extra_properties_files.len);
        free_all(a->messages.data, a->messages.len);
        vec_deinit(&a->application_arguments);
        vec_deinit(&a->extra_properties_files);
        vec_deinit(&a->messages);
        free(a->submission);
        free(a->application);
        free(a->primary_resource);
        strmap_deinit(&a->properties);
}

static void replace(char **field, char *value)
{
        free(*field);
        *field = value;
}

/* ------------------------------------------------------------------------------------------- the command line */

static int set_action(struct submit_arguments *a, enum submit_action action, const char *submission,
                      struct fst_error *error)
{
        if (a->action == SUBMIT_ACTION_KILL && action == SUBMIT_ACTION_STATUS)
                return error_set(error, -EINVAL, "Action cannot be both KILL and REQUEST_STATUS.");
        if (a->action == SUBMIT_ACTION_STATUS && action == SUBMIT_ACTION_KILL)
                return error_set(error, -EINVAL, "Action cannot be both REQUEST_STATUS and KILL.");
        a->action = action;
        replace(&a->submission, mem_strdup(submission));
        return 0;
}

static int add_property(struct submit_arguments *a, const char *pair, struct fst_error *error)
{
        const char *equals = strchr(pair, '=');
        if (!equals)
                return error_set(error, -EINVAL, "Spark config without '=': %s", pair);
        _cleanup_free_ char *key = mem_strndup(pair, (size_t)(equals - pair));
        strmap_set(&a->properties, key, equals + 1);
        return 0;
}

/* The JVM's heap is not ours, but whoever sets it here means --driver-memory; Spark's launcher refuses it too. */
static int check_java_options(const char *value, struct fst_error *error)
{
        if (!value || !strstr(value, "-Xmx"))
                return 0;
        return error_set(error, -EINVAL,
                         "Not allowed to specify max heap(Xmx) memory settings through java options (was %s). Use the "
                         "corresponding --driver-memory or spark.driver.memory configuration instead.",
                         value);
}

static int take_value(struct submit_arguments *a, enum submit_field field, const char *value, struct fst_error *error)
{
        if (field == SUBMIT_DEPLOY_MODE && strcmp(value, "client") != 0 && strcmp(value, "cluster") != 0) {
                a->usage_error = false;
                return error_set(error, -EINVAL, "--deploy-mode must be either \"client\" or \"cluster\"");
        }
        if (field == SUBMIT_DRIVER_JAVA_OPTIONS && check_java_options(value, error) < 0)
                return -EINVAL;
        replace(&a->value[field], submit_option_of(field)->is_uris ? submit_resolve_uris(value) : mem_strdup(value));
        return 0;
}

static int take_output(struct submit_arguments *a, const char *value, struct fst_error *error)
{
        if (strcmp(value, "json") != 0 && strcmp(value, "text") != 0)
                return error_set(error, -EINVAL, "--output must be either \"text\" or \"json\", but is '%s'", value);
        a->output = value[0] == 'j' ? SUBMIT_OUTPUT_JSON : SUBMIT_OUTPUT_TEXT;
        a->has_output = true;
        return 0;
}

static int take_option(void *context, enum submit_field field, const char *value, struct fst_error *error)
{
        struct submit_arguments *a = context;
        int r = 0;
        if (field < SUBMIT_FIELDS)
                return take_value(a, field, value, error);
        switch (field) {
        case SUBMIT_CONF:
                return add_property(a, value, error);
        case SUBMIT_EXTRA_PROPERTIES_FILE:
                vec_push(&a->extra_properties_files, mem_strdup(value));
                return 0;
        case SUBMIT_KILL:
        case SUBMIT_STATUS:
                r = set_action(a, field == SUBMIT_KILL ? SUBMIT_ACTION_KILL : SUBMIT_ACTION_STATUS, value, error);
                a->usage_error &= r == 0;
                return r;
        case SUBMIT_SUPERVISE:
                a->supervise = true;
                return 0;
        case SUBMIT_VERBOSE:
                a->verbose = true;
                return 0;
        case SUBMIT_LOAD_SPARK_DEFAULTS:
                a->load_spark_defaults = true;
                return 0;
        case SUBMIT_VERSION:
                a->action = SUBMIT_ACTION_VERSION;
                return 1;
        case SUBMIT_HELP:
                a->action = SUBMIT_ACTION_HELP;
                return 1;
        case SUBMIT_DRY_RUN:
                a->dry_run = true;
                return 0;
        case SUBMIT_OUTPUT:
                return take_output(a, value, error);
        case SUBMIT_USAGE_ERROR:
                return error_set(error, -EINVAL, "the command line could not be read");
        default: /* --driver-default-class-path: what a JVM is started with */
                return 0;
        }
}

static bool is_shell(const char *resource)
{
        static const char *const names[] = {"spark-shell", "pyspark-shell", "sparkr-shell", "spark-internal"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcmp(resource, names[i]) == 0)
                        return true;
        }
        return false;
}

static int take_application(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error)
{
        struct submit_arguments *a = context;
        if (word[0] == '-')
                return error_set(error, -EINVAL, "Unrecognized option: %s", word);
        a->application = mem_strdup(word);
        a->primary_resource = is_shell(word) ? mem_strdup(word) : submit_resolve_uri(word);
        for (int i = 0; i < n_rest; i++)
                vec_push(&a->application_arguments, mem_strdup(rest[i]));
        return 0;
}

int submit_arguments_parse(struct submit_arguments *a, int n, char *const *words, struct fst_error *error)
{
        static const struct submit_visitor visitor = {.option = take_option, .application = take_application};
        a->usage_error = true;
        int r = submit_options_read(n, words, &visitor, a, error);
        if (r == 0 && a->has_output && !a->dry_run)
                r = error_set(error, -EINVAL, "--output is for --dry-run: add --dry-run to see what would be run");
        if (r == 0)
                a->usage_error = false;
        return r;
}

/* --------------------------------------------------------------------------------------- files and environment */

/* The redactor of what is known so far; secrets stay hidden behind the default when the user's cannot be read. */
static void make_redactor(const struct submit_arguments *a, struct redactor *out)
{
        struct fst_conf conf;
        conf_init(&conf);
        const char *regex = strmap_get(&a->properties, "spark.redaction.regex");
        if (regex)
                conf_set(&conf, "spark.redaction.regex", regex);
        if (redactor_init(out, &conf, NULL) < 0) {
                conf_deinit(&conf);
                conf_init(&conf);
                redactor_init(out, &conf, NULL);
        }
        conf_deinit(&conf);
}

/* Spark tells what it takes from where under --verbose. */
static void tell_defaults(struct submit_arguments *a, const char *path, const struct strmap *file)
{
        _cleanup_(redactor_deinit) struct redactor redactor;
        make_redactor(a, &redactor);
        vec_push(&a->messages, mem_printf("Using properties file: %s", path));
        for (struct strmap_entry *e = NULL; (e = strmap_next(file, e));)
                vec_push(&a->messages, mem_printf("Adding default property: %s=%s", e->key,
                                                  redactor_value(&redactor, e->key, e->value)));
}

/* Take over what no stronger place has said. */
static int merge_file(struct submit_arguments *a, const char *path, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap file = STRMAP_INIT;
        int r = properties_load(&file, path, error);
        if (r < 0)
                return r;
        if (a->verbose)
                tell_defaults(a, path, &file);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&file, e));)
                strmap_set_if_missing(&a->properties, e->key, e->value);
        return 0;
}

static int merge_files(struct submit_arguments *a, const char *defaults, struct fst_error *error)
{
        const char *named = a->value[SUBMIT_PROPERTIES_FILE];
        int r = named ? merge_file(a, named, error) : 0;
        for (size_t i = 0; r == 0 && i < a->extra_properties_files.len; i++)
                r = merge_file(a, a->extra_properties_files.data[i], error);
        if (r < 0)
                return r;
        bool any = named || a->extra_properties_files.len > 0;
        if (!defaults || (any && !a->load_spark_defaults))
                return 0;
        if (!any)
                replace(&a->value[SUBMIT_PROPERTIES_FILE], mem_strdup(defaults));
        return merge_file(a, defaults, error);
}

static void drop_foreign_keys(struct submit_arguments *a)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&a->properties, e));) {
                if (strncmp(e->key, "spark.", 6) == 0)
                        continue;
                vec_push(&a->messages, mem_printf("Warning: Ignoring non-Spark config property: %s", e->key));
                _cleanup_free_ char *key = mem_strdup(e->key);
                strmap_remove(&a->properties, key);
        }
}

static void fill_fields(struct submit_arguments *a, const char *(*env)(const char *name))
{
        for (enum submit_field f = 0; f < SUBMIT_FIELDS; f++) {
                const struct submit_option *o = submit_option_of(f);
                for (size_t k = 0; k < ARRAY_SIZE(o->keys) && o->keys[k] && !a->value[f]; k++) {
                        const char *value = strmap_get(&a->properties, o->keys[k]);
                        if (value)
                                a->value[f] = mem_strdup(value);
                }
                const char *value = o->env && !a->value[f] ? env(o->env) : NULL;
                if (value)
                        a->value[f] = mem_strdup(value);
        }
}

const char *submit_arguments_master(const struct submit_arguments *a)
{
        return a->value[SUBMIT_MASTER] ? a->value[SUBMIT_MASTER] : "local[*]";
}

static void derive_name(struct submit_arguments *a, const char *(*env)(const char *name))
{
        char **name = &a->value[SUBMIT_NAME];
        const char *found = NULL;
        if (*name)
                return;
        if (strncmp(submit_arguments_master(a), "yarn", 4) == 0)
                found = env("SPARK_YARN_APP_NAME");
        if (!found)
                found = a->value[SUBMIT_CLASS];
        if (!found && a->application) {
                const char *slash = strrchr(a->application, '/');
                found = slash ? slash + 1 : a->application;
        }
        *name = found ? mem_strdup(found) : NULL;
}

int submit_arguments_complete(struct submit_arguments *a, const char *defaults, const char *(*env)(const char *name),
                              struct fst_error *error)
{
        int r = merge_files(a, defaults, error);
        if (r < 0)
                return r;
        drop_foreign_keys(a);
        fill_fields(a, env);
        derive_name(a, env);
        return 0;
}

/* -------------------------------------------------------------------------------------------------- validation */

/* Java's Integer.parseInt, for numbers above 0. */
static bool is_positive(const char *text)
{
        text += text[0] == '+';
        size_t n = strspn(text, "0123456789");
        long long value = 0;
        for (size_t i = 0; i < n && value <= INT_MAX; i++)
                value = value * 10 + text[i] - '0';
        return n > 0 && !text[n] && value > 0 && value <= INT_MAX;
}

static bool is_memory(const char *text)
{
        int64_t bytes;
        return units_parse_bytes(text, UNIT_B, UNIT_B, &bytes, NULL) == 0 && bytes > 0;
}

static bool dynamic_allocation(const struct submit_arguments *a)
{
        const char *value = strmap_get(&a->properties, "spark.dynamicAllocation.enabled");
        return value && strcasecmp(value, "true") == 0;
}

static int validate_numbers(const struct submit_arguments *a, struct fst_error *error)
{
        static const struct {
                enum submit_field field;
                bool (*good)(const char *text);
                const char *what, *example;
        } checks[] = {
                {SUBMIT_DRIVER_MEMORY, is_memory, "Driver memory", "spark.driver.memory=512m"},
                {SUBMIT_EXECUTOR_MEMORY, is_memory, "Executor memory", "spark.executor.memory=2g"},
                {SUBMIT_DRIVER_CORES, is_positive, "Driver cores", "spark.driver.cores=1"},
                {SUBMIT_EXECUTOR_CORES, is_positive, "Executor cores", "spark.executor.cores=1"},
                {SUBMIT_TOTAL_EXECUTOR_CORES, is_positive, "Total executor cores", "spark.cores.max=4"},
                {SUBMIT_NUM_EXECUTORS, is_positive, "Number of executors", "spark.executor.instances=2"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
                const char *value = a->value[checks[i].field];
                if (!value || checks[i].good(value))
                        continue;
                if (checks[i].field == SUBMIT_NUM_EXECUTORS && dynamic_allocation(a))
                        continue;
                return error_set(error, -EINVAL, "%s must be a positive number, but is '%s' (as in %s)", checks[i].what,
                                 value, checks[i].example);
        }
        return 0;
}

int submit_arguments_validate(struct submit_arguments *a, const char *(*env)(const char *name), struct fst_error *error)
{
        if (a->action == SUBMIT_ACTION_KILL || a->action == SUBMIT_ACTION_STATUS) {
                if (a->submission[0])
                        return 0;
                return error_set(error, -EINVAL,
                                 a->action == SUBMIT_ACTION_KILL
                                         ? "Please specify a submission to kill."
                                         : "Please specify a submission to request status for.");
        }
        if (a->value[SUBMIT_REMOTE] && (a->value[SUBMIT_MASTER] || a->value[SUBMIT_DEPLOY_MODE]))
                return error_set(error, -EINVAL, "Remote cannot be specified with master and/or deploy mode.");
        if (!a->application)
                return error_set(error, -EINVAL, "Must specify a primary resource (JAR or Python or R file)");
        int r = validate_numbers(a, error);
        if (r < 0)
                return r;
        const char *master = submit_arguments_master(a);
        if (strncmp(master, "yarn", 4) == 0 && !env("HADOOP_CONF_DIR") && !env("YARN_CONF_DIR"))
                return error_set(error, -EINVAL,
                                 "When running with master '%s' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in "
                                 "the environment.",
                                 master);
        if (a->value[SUBMIT_PROXY_USER] && a->value[SUBMIT_PRINCIPAL])
                return error_set(error, -EINVAL, "Only one of --proxy-user or --principal can be provided.");
        return check_java_options(a->value[SUBMIT_DRIVER_JAVA_OPTIONS], error);
}

/* --------------------------------------------------------------------------------------------------- --verbose */

static void put_line(struct buf *out, const char *label, const char *value)
{
        buf_printf(out, "  %-23s %s\n", label, value ? value : "null");
}

/* A list as Scala prints one: [a b]. */
static void put_list(struct buf *out, const char *label, char *const *words, size_t n, const char *separator)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < n; i++)
                buf_printf(&text, "%s%s", i ? separator : "", words[i]);
        buf_printf(out, "  %-23s [%s]\n", label, buf_text(&text));
}

char *submit_arguments_report(const struct submit_arguments *a)
{
        struct buf out = BUF_INIT;
        _cleanup_(redactor_deinit) struct redactor redactor;
        make_redactor(a, &redactor);
        buf_puts(&out, "Parsed arguments:\n");
        for (enum submit_field f = 0; f < SUBMIT_FIELDS; f++) {
                const struct submit_option *o = submit_option_of(f);
                if (f == SUBMIT_QUEUE)
                        put_line(&out, "supervise", a->supervise ? "true" : "false");
                if (f == SUBMIT_NAME)
                        put_line(&out, "primaryResource", a->primary_resource);
                if (f == SUBMIT_JARS)
                        put_list(&out, "childArgs", a->application_arguments.data, a->application_arguments.len, " ");
                if (!o->label)
                        continue;
                const char *value = f == SUBMIT_MASTER ? submit_arguments_master(a) : a->value[f];
                put_line(&out, o->label, value ? redactor_value(&redactor, o->name, value) : NULL);
                if (f == SUBMIT_PROPERTIES_FILE)
                        put_list(&out, "extraPropertiesFiles", a->extra_properties_files.data,
                                 a->extra_properties_files.len, ", ");
        }
        put_line(&out, "verbose", a->verbose ? "true" : "false");
        buf_puts(&out, "\nSpark properties used, including those specified through\n"
                       " --conf and those from the properties files:\n");
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&a->properties);
        for (size_t i = 0; i < a->properties.count; i++)
                buf_printf(&out, "  (%s,%s)\n", sorted[i]->key,
                           redactor_value(&redactor, sorted[i]->key, sorted[i]->value));
        buf_puts(&out, "\n");
        return buf_steal(&out);
}

/* ----------------------------------------------------------------------------------------------- configuration */

void submit_arguments_configure(const struct submit_arguments *a, struct fst_conf *conf)
{
        static const struct {
                enum submit_field field;
                const char *key;
        } assigned[] = {
                {SUBMIT_NAME, "spark.app.name"},
                {SUBMIT_DRIVER_MEMORY, "spark.driver.memory"},
                {SUBMIT_DRIVER_CLASS_PATH, "spark.driver.extraClassPath"},
                {SUBMIT_DRIVER_JAVA_OPTIONS, "spark.driver.extraJavaOptions"},
                {SUBMIT_DRIVER_LIBRARY_PATH, "spark.driver.extraLibraryPath"},
                {SUBMIT_PRINCIPAL, "spark.kerberos.principal"},
                {SUBMIT_KEYTAB, "spark.kerberos.keytab"},
                {SUBMIT_JARS, "spark.jars"},
                {SUBMIT_FILES, "spark.files"},
                {SUBMIT_ARCHIVES, "spark.archives"},
                {SUBMIT_PY_FILES, "spark.submit.pyFiles"},
        };
        conf_set(conf, "spark.master", submit_arguments_master(a));
        conf_set(conf, "spark.submit.deployMode",
                 a->value[SUBMIT_DEPLOY_MODE] ? a->value[SUBMIT_DEPLOY_MODE] : "client");
        for (size_t i = 0; i < ARRAY_SIZE(assigned); i++) {
                if (a->value[assigned[i].field])
                        conf_set(conf, assigned[i].key, a->value[assigned[i].field]);
        }
        for (struct strmap_entry *e = NULL; (e = strmap_next(&a->properties, e));)
                conf_set_if_missing(conf, e->key, e->value);
}
