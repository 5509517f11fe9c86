/*
 * The java command of spark-submit; see java_command.h. Matches SparkSubmitCommandBuilder of Spark's launcher: it
 * parses the command line only as far as the JVM's own options depend on it (driver memory, class path, java options,
 * and whether the driver runs here), and passes the words on in its own order, with settings in that of a HashMap.
 *
 * Unlike spark-submit itself, its shells, examples and servers allow application arguments among the options.
 */
#include "submit/jvm/java_builder.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "submit/options/arguments.h"
#include "submit/jvm/java_hash_order.h"
#include "submit/options/options.h"

#include <strings.h>

#define PYTHON_SHELL "pyspark-shell-main"
#define R_SHELL "sparkr-shell-main"
#define RUN_EXAMPLE "run-example"
#define EXAMPLE_PREFIX "org.apache.spark.examples."
#define INTERNAL "spark-internal"
#define THRIFT_SERVER "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
#define CONNECT_SERVER "org.apache.spark.sql.connect.service.SparkConnectServer"
#define CONNECT_REPL "org.apache.spark.sql.application.ConnectRepl"

/* Classes that allow mixed words, and the resource that Spark sets for them. */
static const struct {
        const char *class, *resource;
        bool only_4;
} special_classes[] = {
        {"org.apache.spark.repl.Main", "spark-shell", false},
        {CONNECT_REPL, "connect-shell", true},
        {"org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", INTERNAL, false},
        {THRIFT_SERVER, INTERNAL, false},
        {CONNECT_SERVER, INTERNAL, false},
};

struct borrowed_words {
        const char **data;
        size_t len, cap;
};

struct submit {
        struct java_builder *b;
        bool is_4;
        bool mixes;     /* application arguments may stand among the options */
        bool no_checks; /* --help and similar options need neither class nor resource */
        bool is_example;
        bool load_defaults;
        const char *master, *remote, *deploy_mode, *properties_file, *main_class, *resource;
        struct borrowed_words extra_files, parsed, application;
        struct strmap conf, effective; /* from the command line; with the files below it */
        size_t conf_before;            /* size of conf when effective was computed */

        /* The word at which parsing stopped because it is not an option. */
        const char *word;
        int n_rest;
        char *const *rest;
};

static void java_submit_deinit(struct submit *s)
{
        vec_deinit(&s->extra_files);
        vec_deinit(&s->parsed);
        vec_deinit(&s->application);
        strmap_deinit(&s->conf);
        strmap_deinit(&s->effective);
}

static bool java_submit_is_one(const struct submit *s, const char *name)
{
        const char *value = s->b->env(name);
        return value && strcmp(value, "1") == 0;
}

static const char *java_submit_non_empty(const char *value)
{
        return value && value[0] ? value : NULL;
}

static const char *java_submit_effective(const struct submit *s, const char *key)
{
        return java_submit_non_empty(strmap_get(&s->effective, key));
}

static bool java_submit_is_connect(const char *mode)
{
        return mode && strcasecmp(mode, "connect") == 0;
}

/* spark.api.mode if it has one of the two values, else the value of SPARK_CONNECT_MODE. */
static const char *java_submit_api_mode(const struct submit *s)
{
        const char *mode = strmap_get(&s->conf, "spark.api.mode");
        if (mode && (strcasecmp(mode, "classic") == 0 || java_submit_is_connect(mode)))
                return mode;
        return java_submit_is_one(s, "SPARK_CONNECT_MODE") ? "connect" : "classic";
}

/* ------------------------------------------------------------------------------------------------- Spark's examples */

/* Returns -ENOENT for Spark's "illegal state", which is not an error in the command line. */
static int java_submit_examples(struct submit *s, struct option_words *jars, struct fst_error *error)
{
        struct spark_home *home = &s->b->home;
        _cleanup_free_ char *release = spark_home_file(home->path, "RELEASE");
        _cleanup_free_ char *built = mem_printf("examples/target/scala-%s/jars", home->scala ? home->scala : "");
        _cleanup_free_ char *dir = spark_home_file(home->path, spark_home_is_file(release) ? "examples/jars" : built);
        if (spark_home_is_dir(dir))
                return spark_home_list(dir, jars) < 0 ? error_errno(error, "reading %s", dir) : 0;
        if (java_submit_is_one(s, "SPARK_TESTING"))
                return 0;
        return error_set(error, -ENOENT, "Examples jars directory '%s' does not exist.", dir);
}

/* Sets the examples' jar as the resource. */
static int java_submit_find_examples_jar(struct submit *s, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words jars = {0};
        if (java_submit_is_one(s, "SPARK_TESTING")) {
                s->resource = INTERNAL;
                return 0;
        }
        int r = java_submit_examples(s, &jars, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < jars.len; i++) {
                if (strncmp(strrchr(jars.data[i], '/') + 1, "spark-examples", 14) != 0)
                        continue;
                s->resource = arena_copy(&s->b->memory, jars.data[i], strlen(jars.data[i]));
                return 0;
        }
        return error_set(error, -ENOENT, "Failed to find examples' main app jar.");
}

/* ------------------------------------------------------------------------------------------------- the command line */

static int java_submit_take_setting(struct submit *s, const char *pair, struct fst_error *error)
{
        const char *equals = strchr(pair, '=');
        if (!equals)
                return error_set(error, -EINVAL, "Invalid argument to --conf: %s", pair);
        _cleanup_free_ char *key = mem_strndup(pair, (size_t)(equals - pair));
        strmap_set(&s->conf, key, equals + 1);
        return 0;
}

static void java_submit_take_class(struct submit *s, const char *class)
{
        s->main_class = class;
        for (size_t i = 0; i < ARRAY_SIZE(special_classes); i++) {
                if (strcmp(special_classes[i].class, class) != 0 || (special_classes[i].only_4 && !s->is_4))
                        continue;
                s->mixes = true;
                s->resource = special_classes[i].resource;
        }
}

/* Options that only Firesteel has, and those that 4.0 added. */
static bool java_submit_is_unknown(const struct submit *s, enum submit_field field)
{
        switch (field) {
        case SUBMIT_DRY_RUN:
        case SUBMIT_OUTPUT:
                return true;
        case SUBMIT_EXTRA_PROPERTIES_FILE:
        case SUBMIT_LOAD_SPARK_DEFAULTS:
        case SUBMIT_DRIVER_DEFAULT_CLASS_PATH:
                return !s->is_4;
        default:
                return false;
        }
}

static int java_submit_take_unknown(struct submit *s, const char *name, const char *value, struct fst_error *error)
{
        if (!s->mixes)
                return error_set(error, -EINVAL, "Unrecognized option: %s", name);
        vec_push(&s->application, name);
        if (value)
                vec_push(&s->application, value);
        return 0;
}

static int java_submit_take_option(void *context, enum submit_field field, const char *value, struct fst_error *error)
{
        struct submit *s = context;
        const char *name = submit_option_of(field)->name;
        if (java_submit_is_unknown(s, field))
                return java_submit_take_unknown(s, name, value, error);
        switch (field) {
        case SUBMIT_MASTER:
                s->master = value;
                return 0;
        case SUBMIT_REMOTE:
                s->b->is_remote = true;
                s->remote = value;
                return 0;
        case SUBMIT_DEPLOY_MODE:
                s->deploy_mode = value;
                return 0;
        case SUBMIT_PROPERTIES_FILE:
                s->properties_file = value;
                return 0;
        case SUBMIT_EXTRA_PROPERTIES_FILE:
                vec_push(&s->extra_files, value);
                return 0;
        case SUBMIT_LOAD_SPARK_DEFAULTS:
                s->load_defaults = true;
                return 0;
        case SUBMIT_DRIVER_MEMORY:
                strmap_set(&s->conf, "spark.driver.memory", value);
                return 0;
        case SUBMIT_DRIVER_JAVA_OPTIONS:
                strmap_set(&s->conf, "spark.driver.extraJavaOptions", value);
                return 0;
        case SUBMIT_DRIVER_LIBRARY_PATH:
                strmap_set(&s->conf, "spark.driver.extraLibraryPath", value);
                return 0;
        case SUBMIT_DRIVER_DEFAULT_CLASS_PATH:
                strmap_set(&s->conf, "spark.driver.defaultExtraClassPath", value);
                return 0;
        case SUBMIT_DRIVER_CLASS_PATH:
                strmap_set(&s->conf, "spark.driver.extraClassPath", value);
                return 0;
        case SUBMIT_CONF:
                return java_submit_take_setting(s, value, error);
        case SUBMIT_CLASS:
                java_submit_take_class(s, value);
                return 0;
        case SUBMIT_KILL:
        case SUBMIT_STATUS:
        case SUBMIT_HELP:
        case SUBMIT_USAGE_ERROR:
        case SUBMIT_VERSION:
                s->no_checks = true;
                break;
        default:
                break;
        }
        vec_push(&s->parsed, name);
        if (value)
                vec_push(&s->parsed, value);
        return 0;
}

/* Stores where parsing stopped, for read_words. Spark's parser has removed "=value" by then. */
static int java_submit_stop_at(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error)
{
        struct submit *s = context;
        (void)error;
        s->word = arena_copy(&s->b->memory, word, submit_option_name_length(word));
        s->n_rest = n_rest;
        s->rest = rest;
        return 0;
}

/* Handles the first word that is not an option: an example's class, the resource, or an error. */
static int java_submit_take_resource(struct submit *s, const char *word, struct fst_error *error)
{
        if (s->is_example) {
                bool whole = strncmp(word, EXAMPLE_PREFIX, strlen(EXAMPLE_PREFIX)) == 0;
                _cleanup_free_ char *class = mem_printf("%s%s", whole ? "" : EXAMPLE_PREFIX, word);
                s->main_class = arena_copy(&s->b->memory, class, strlen(class));
                return java_submit_find_examples_jar(s, error);
        }
        if (word[0] == '-')
                return error_set(error, -EINVAL, "Unrecognized option: %s", word);
        if (s->resource)
                return error_set(error, -ENOENT, "Found unrecognized argument but resource is already set.");
        s->resource = word;
        return 0;
}

static int java_submit_read_words(struct submit *s, int n, char *const *words, struct fst_error *error)
{
        static const struct submit_visitor visitor = {.option = java_submit_take_option,
                                                      .application = java_submit_stop_at};
        int r = 0;
        while (r == 0 && n > 0) {
                s->rest = NULL;
                r = submit_options_read(n, words, &visitor, s, error);
                if (r < 0 || !s->rest)
                        break;
                words = s->rest;
                n = s->n_rest;
                if (s->mixes) {
                        vec_push(&s->application, s->word);
                        continue;
                }
                r = java_submit_take_resource(s, s->word, error);
                for (int i = 0; r == 0 && i < n; i++)
                        vec_push(&s->application, words[i]);
                break;
        }
        return r;
}

static int java_submit_parse(struct submit *s, int n, char *const *words, struct fst_error *error)
{
        if (n == 0) {
                s->no_checks = true;
                return 0;
        }
        bool java_submit_is_shell = strcmp(words[0], PYTHON_SHELL) == 0 || strcmp(words[0], R_SHELL) == 0;
        s->is_example = strcmp(words[0], RUN_EXAMPLE) == 0;
        s->mixes = java_submit_is_shell;
        if (java_submit_is_shell)
                s->resource = words[0];
        int r = s->is_example ? java_submit_find_examples_jar(s, error) : 0;
        if (r < 0)
                return r;
        int skip = java_submit_is_shell || s->is_example;
        return java_submit_read_words(s, n - skip, words + skip, error);
}

/* --------------------------------------------------------------------------------------------------------- settings */

/* Adds the settings of the file at @path that are not set yet. With @must, the file must exist. */
static int java_submit_merge_file(struct submit *s, struct strmap *into, const char *path, bool must, bool replace,
                                  struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap file = STRMAP_INIT;
        if (!must && !spark_home_is_file(path))
                return 0;
        int r = submit_read_properties(path, &file, error);
        if (r < 0)
                return r;
        for (struct strmap_entry *e = NULL; (e = strmap_next(&file, e));) {
                if (replace)
                        strmap_set(into, e->key, e->value);
                else
                        strmap_set_if_missing(into, e->key, e->value);
        }
        (void)s;
        return 0;
}

/* The effective settings: the command line, the named file, further files (the last one wins), spark-defaults.conf. */
static int java_submit_make_effective(struct submit *s, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap files = STRMAP_INIT;
        int r = s->properties_file ? java_submit_merge_file(s, &files, s->properties_file, true, true, error) : 0;
        for (size_t i = 0; r == 0 && i < s->extra_files.len; i++)
                r = java_submit_merge_file(s, &files, s->extra_files.data[i], true, true, error);
        if (r == 0 && (!s->properties_file || s->load_defaults)) {
                _cleanup_free_ char *defaults = mem_printf("%s/spark-defaults.conf", java_builder_conf_dir(s->b));
                r = java_submit_merge_file(s, &files, defaults, false, false, error);
        }
        if (r < 0)
                return r;
        s->conf_before = s->conf.count;
        strmap_merge(&s->effective, &s->conf);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&files, e));)
                strmap_set_if_missing(&s->effective, e->key, e->value);
        if (s->is_4)
                strmap_set_if_missing(&s->effective, "spark.driver.defaultExtraClassPath", "");
        return 0;
}

/* The last of spark.remote and spark.api.mode decides, in the HashMap's order. */
static void java_submit_find_remote(struct submit *s)
{
        _cleanup_free_ struct strmap_entry **order = java_map_order(&s->effective, s->conf_before);
        for (size_t i = 0; i < s->effective.count; i++) {
                if (strcmp(order[i]->key, "spark.remote") == 0)
                        s->b->is_remote = true;
                else if (strcmp(order[i]->key, "spark.api.mode") == 0)
                        s->b->is_remote = java_submit_is_connect(order[i]->value);
        }
}

static bool java_submit_is_client_mode(const struct submit *s)
{
        const char *master = java_submit_non_empty(s->master), *mode = java_submit_non_empty(s->deploy_mode);
        if (!master)
                master = java_submit_effective(s, "spark.master");
        if (!mode)
                mode = java_submit_effective(s, "spark.submit.deployMode");
        return !master || !mode || strcmp(mode, "client") == 0;
}

/* ---------------------------------------------------------------------------------------------- SparkSubmit's words */

static void java_submit_put(struct option_words *out, const char *name, const char *value)
{
        if (!value)
                return;
        option_words_add(out, name);
        option_words_add(out, value);
}

static void java_submit_put_settings(const struct submit *s, struct option_words *out, bool with_remote)
{
        _cleanup_free_ struct strmap_entry **order = java_map_order(&s->conf, 0);
        for (size_t i = 0; i < s->conf.count; i++) {
                const char *key = order[i]->key;
                if (!with_remote && (strcasecmp(key, "spark.api.mode") == 0 || strcasecmp(key, "spark.remote") == 0))
                        continue;
                option_words_add(out, "--conf");
                option_words_take(out, mem_printf("%s=%s", key, order[i]->value));
        }
}

static int java_submit_put_examples(struct submit *s, struct option_words *out, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words jars = {0};
        int r = java_submit_examples(s, &jars, error);
        if (r < 0)
                return r;
        struct buf list = BUF_INIT;
        for (size_t i = 0; i < jars.len; i++)
                buf_printf(&list, "%s%s", i ? "," : "", jars.data[i]);
        if (jars.len > 0) {
                option_words_add(out, "--jars");
                option_words_take(out, buf_steal(&list));
        }
        buf_deinit(&list);
        if (!s->no_checks && !s->main_class)
                return error_set(error, -EINVAL, "Missing example class name.");
        return 0;
}

/* A Connect client runs another program for spark-shell. */
static const char *java_submit_shell_or(const struct submit *s, const char *connect, const char *otherwise)
{
        return s->is_4 && s->b->is_remote && java_submit_is_one(s, "SPARK_SCALA_SHELL") ? connect : otherwise;
}

/* Without @with_remote: for Python's shell, which learns of Connect from variables. */
static int java_submit_put_words(struct submit *s, struct option_words *out, bool with_remote, struct fst_error *error)
{
        if (!s->mixes && !s->no_checks && !s->resource)
                return error_set(error, -EINVAL, "Missing application resource.");
        java_submit_put(out, "--master", s->master);
        if (with_remote)
                java_submit_put(out, "--remote", s->remote);
        java_submit_put(out, "--deploy-mode", s->deploy_mode);
        java_submit_put_settings(s, out, with_remote);
        java_submit_put(out, "--properties-file", s->properties_file);
        for (size_t i = 0; i < s->extra_files.len; i++)
                java_submit_put(out, "--extra-properties-file", s->extra_files.data[i]);
        if (s->load_defaults)
                option_words_add(out, "--load-spark-defaults");
        int r = s->is_example ? java_submit_put_examples(s, out, error) : 0;
        if (r < 0)
                return r;
        if (s->main_class)
                java_submit_put(out, "--class", java_submit_shell_or(s, CONNECT_REPL, s->main_class));
        for (size_t i = 0; i < s->parsed.len; i++)
                option_words_add(out, s->parsed.data[i]);
        if (s->resource)
                option_words_add(out, java_submit_shell_or(s, "connect-shell", s->resource));
        for (size_t i = 0; i < s->application.len; i++)
                option_words_add(out, s->application.data[i]);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- the commands */

static int java_submit_check_java_options(const struct submit *s, const char *text, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words words = {0};
        if (!text)
                return 0;
        int r = option_string_split(text, &words, s->is_4 ? error : NULL);
        bool found = !s->is_4 && strstr(text, "Xmx");
        for (size_t i = 0; s->is_4 && r == 0 && i < words.len; i++)
                found |= strncmp(words.data[i], "-Xmx", 4) == 0;
        if (found)
                return error_set(error, -EINVAL,
                                 "Not allowed to specify max heap(Xmx) memory settings through java options (was %s). "
                                 "Use the corresponding --driver-memory or spark.driver.memory configuration instead.",
                                 text);
        return s->is_4 ? r : 0;
}

/* Appends the driver's library path to LD_LIBRARY_PATH. */
static void java_submit_add_library_path(struct submit *s)
{
        const char *more = java_submit_effective(s, "spark.driver.extraLibraryPath");
        const char *now = strmap_get(&s->b->command->environment, "LD_LIBRARY_PATH");
        if (!now)
                now = java_builder_env(s->b, "LD_LIBRARY_PATH");
        if (!more)
                return;
        _cleanup_free_ char *value = mem_printf("%s%s%s", now ? now : "", now ? ":" : "", more);
        strmap_set(&s->b->command->environment, "LD_LIBRARY_PATH", value);
}

/* Adds the options of a JVM that runs the driver. */
static int java_submit_add_driver_options(struct submit *s, bool is_server, const char *defaults, const char *extra,
                                          struct fst_error *error)
{
        const char *memory = is_server ? java_builder_env(s->b, "SPARK_DAEMON_MEMORY") : NULL;
        if (!memory)
                memory = java_submit_effective(s, "spark.driver.memory");
        if (!memory)
                memory = java_builder_env(s->b, "SPARK_DRIVER_MEMORY");
        if (!memory)
                memory = java_builder_env(s->b, "SPARK_MEM");
        option_words_take(&s->b->command->words, mem_printf("-Xmx%s", memory ? memory : "1g"));
        int r = java_builder_options(s->b, defaults, error);
        if (r == 0)
                r = java_builder_options(s->b, extra, error);
        if (r == 0)
                java_submit_add_library_path(s);
        return r;
}

static bool java_submit_is_blank(const char *text)
{
        while (*text && (unsigned char)*text <= ' ')
                text++;
        return !*text;
}

/* The class path entries that come first: the user's, and in 4.x the default ones after them. NULL for none. */
static char *java_submit_first_class_path(const struct submit *s, bool is_client)
{
        const char *extra = is_client ? strmap_get(&s->effective, "spark.driver.extraClassPath") : NULL;
        const char *defaults = strmap_get(&s->effective, "spark.driver.defaultExtraClassPath");
        if (!s->is_4)
                return extra ? mem_strdup(extra) : NULL;
        return !extra || java_submit_is_blank(extra) ? mem_strdup(defaults) : mem_printf("%s:%s", extra, defaults);
}

static int java_submit_build_jvm(struct submit *s, struct fst_error *error)
{
        struct java_builder *b = s->b;
        bool is_client = java_submit_is_client_mode(s);
        bool is_server = s->main_class &&
                         (strcmp(s->main_class, THRIFT_SERVER) == 0 || strcmp(s->main_class, CONNECT_SERVER) == 0);
        _cleanup_free_ char *first = java_submit_first_class_path(s, is_client);
        int r = java_builder_start(b, first, error);
        if (r == 0 && is_server)
                r = java_builder_options(b, b->env("SPARK_DAEMON_JAVA_OPTS"), error);
        if (r == 0)
                r = java_builder_options(b, b->env("SPARK_SUBMIT_OPTS"), error);
        const char *defaults = java_submit_effective(s, "spark.driver.defaultJavaOptions");
        const char *extra = java_submit_effective(s, "spark.driver.extraJavaOptions");
        if (r == 0)
                r = java_submit_check_java_options(s, defaults, error);
        if (r == 0)
                r = java_submit_check_java_options(s, extra, error);
        if (r == 0 && is_client)
                r = java_submit_add_driver_options(s, is_server, defaults, extra, error);
        if (r < 0)
                return r;
        java_builder_module_options(b);
        if (s->is_4)
                option_words_add(&b->command->words, "-Dderby.connection.requireAuthentication=false");
        option_words_add(&b->command->words, JAVA_CLASS_SUBMIT);
        return java_submit_put_words(s, &b->command->words, true, error);
}

/* Shells are separate programs, which start a JVM with the words in @variable. */
static int java_submit_pass_words(struct submit *s, const char *variable, bool with_remote, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words words = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        java_submit_add_library_path(s);
        int r = java_submit_put_words(s, &words, with_remote, error);
        for (size_t i = 0; r == 0 && i < words.len; i++) {
                _cleanup_free_ char *quoted = option_string_quote(words.data[i]);
                buf_printf(&text, "%s%s", i ? " " : "", quoted);
        }
        if (r == 0)
                strmap_set(&s->b->command->environment, variable, buf_text(&text));
        return r;
}

/* "pyspark x.py" worked in older versions. */
static int java_submit_refuse_script(struct submit *s, const char *language, const char *shell, const char *file,
                                     struct fst_error *error)
{
        s->b->command->status = 255;
        return error_set(error, -EPERM,
                         "Running %s applications through '%s' is not supported as of Spark 2.0.\n"
                         "Use ./bin/spark-submit <%s file>",
                         language, shell, file);
}

static const char *java_submit_first_of(const char *a, const char *b)
{
        return java_submit_non_empty(a) ? a : b;
}

static int java_submit_set_connect_variables(struct submit *s, struct fst_error *error)
{
        struct strmap *environment = &s->b->command->environment;
        const char *remote =
                java_submit_non_empty(java_submit_first_of(s->remote, strmap_get(&s->conf, "spark.remote")));
        const char *master =
                java_submit_non_empty(java_submit_first_of(s->master, strmap_get(&s->conf, "spark.master")));
        const char *mode = java_submit_non_empty(
                java_submit_first_of(s->deploy_mode, strmap_get(&s->conf, "spark.submit.deployMode")));
        bool is_local = !s->is_4 && strmap_get(&s->conf, "spark.local.connect");
        if (remote && (master || mode) && !is_local)
                return error_set(error, -ENOENT, "Remote cannot be specified with master and/or deploy mode.");
        if (s->is_4)
                strmap_set(environment, "SPARK_API_MODE", java_submit_api_mode(s));
        if (remote) {
                strmap_set(environment, "SPARK_REMOTE", remote);
                strmap_set(environment, "SPARK_CONNECT_MODE_ENABLED", "1");
        } else if (s->is_4 && java_submit_is_connect(java_submit_api_mode(s))) {
                strmap_set(environment, "MASTER", master ? master : "local");
                strmap_set(environment, "SPARK_CONNECT_MODE_ENABLED", "1");
        }
        return 0;
}

static bool java_submit_is_shell(const struct submit *s, const char *name)
{
        return s->resource && !s->no_checks && strcmp(s->resource, name) == 0;
}

/* Rejects words that a shell does not accept. */
static int java_submit_check_shell(struct submit *s, struct fst_error *error)
{
        const char *word = s->application.len > 0 ? s->application.data[0] : NULL;
        if (java_submit_is_shell(s, PYTHON_SHELL) && word)
                return text_ends_with(word, ".py")
                               ? java_submit_refuse_script(s, "python", "pyspark", "python", error)
                               : error_set(error, -EINVAL, "pyspark does not support any application options.");
        if (java_submit_is_shell(s, R_SHELL) && word && (text_ends_with(word, ".R") || text_ends_with(word, ".r")))
                return java_submit_refuse_script(s, "R", "sparkR", "R", error);
        return 0;
}

static int java_submit_build_python_shell(struct submit *s, struct fst_error *error)
{
        struct java_builder *b = s->b;
        s->resource = "pyspark-shell";
        int r = java_submit_pass_words(s, "PYSPARK_SUBMIT_ARGS", !s->is_4, error);
        if (r < 0)
                return r;
        const char *python = strmap_get(&s->conf, "spark.pyspark.python");
        const char *program = java_submit_first_of(strmap_get(&s->conf, "spark.pyspark.driver.python"), python);
        program = java_submit_first_of(program, java_builder_env(b, "PYSPARK_DRIVER_PYTHON"));
        program = java_submit_first_of(program, java_builder_env(b, "PYSPARK_PYTHON"));
        option_words_add(&b->command->words, java_submit_first_of(program, "python3"));
        if (python)
                strmap_set(&b->command->environment, "PYSPARK_PYTHON", python);
        r = java_submit_set_connect_variables(s, error);
        return r < 0 ? r : java_builder_options(b, b->env("PYSPARK_DRIVER_PYTHON_OPTS"), error);
}

static int java_submit_build_r_shell(struct submit *s, struct fst_error *error)
{
        struct java_builder *b = s->b;
        s->resource = "sparkr-shell";
        int r = java_submit_pass_words(s, "SPARKR_SUBMIT_ARGS", true, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *profile = mem_printf("%s/R/lib/SparkR/profile/shell.R", b->home.path);
        strmap_set(&b->command->environment, "R_PROFILE_USER", profile);
        const char *program = java_submit_first_of(strmap_get(&s->conf, "spark.r.shell.command"),
                                                   java_builder_env(b, "SPARKR_DRIVER_R"));
        option_words_add(&b->command->words, java_submit_first_of(program, "R"));
        return 0;
}

static int java_submit_build_words(struct java_builder *b, int n, char *const *words, struct fst_error *error)
{
        _cleanup_(java_submit_deinit) struct submit s = {.b = b, .is_4 = spark_home_since(&b->home, 4, 0)};
        if (s.is_4)
                b->is_remote |= java_submit_is_one(&s, "SPARK_CONNECT_MODE");
        int r = java_submit_parse(&s, n, words, error);
        if (r == 0 && !s.is_4) /* since 4.0 the files are read first, for spark.remote */
                r = java_submit_check_shell(&s, error);
        if (r == 0)
                r = java_submit_make_effective(&s, error);
        if (r == 0 && s.is_4)
                r = java_submit_check_shell(&s, error);
        if (r < 0)
                return r;
        if (s.is_4)
                java_submit_find_remote(&s);
        if (java_submit_is_shell(&s, PYTHON_SHELL))
                return java_submit_build_python_shell(&s, error);
        if (java_submit_is_shell(&s, R_SHELL))
                return java_submit_build_r_shell(&s, error);
        return java_submit_build_jvm(&s, error);
}

/* The value of --class, if it is the first option. */
struct class_found {
        const char *class;
};

static int java_submit_find_class_option(void *context, enum submit_field field, const char *value,
                                         struct fst_error *error)
{
        struct class_found *found = context;
        (void)error;
        if (field == SUBMIT_CLASS)
                found->class = value;
        return 1;
}

static int java_submit_stop_reading(void *context, const char *word, int n_rest, char *const *rest,
                                    struct fst_error *error)
{
        (void)context;
        (void)word;
        (void)n_rest;
        (void)rest;
        (void)error;
        return 0;
}

/*
 * Spark prints the error, then has SparkSubmit print the usage: that of the class if the first option names one.
 * Changes of the first attempt to the environment remain.
 */
static int java_submit_build_usage(struct java_builder *b, int n, char *const *words, struct fst_error *error)
{
        static const struct submit_visitor visitor = {.option = java_submit_find_class_option,
                                                      .application = java_submit_stop_reading};
        struct class_found found = {NULL};
        struct java_command *c = b->command;
        char class_word[] = "--class", usage_word[] = "--usage-error";
        submit_options_read(n, words, &visitor, &found, NULL);
        _cleanup_free_ char *class = found.class ? mem_strdup(found.class) : NULL;
        char *with_class[] = {class_word, class, usage_word};
        option_words_take(&c->messages, mem_printf("Error: %s\n", error_message(error)));
        option_words_deinit(&c->words);
        b->is_remote = b->env("SPARK_REMOTE") != NULL;
        int r = java_submit_build_words(b, class ? 3 : 1, class ? with_class : with_class + 2, error);
        return r < 0 ? r : JAVA_COMMAND_E_USAGE;
}

int java_submit_build(struct java_builder *b, int n, char *const *words, struct fst_error *error)
{
        struct fst_error first = FST_ERROR_INIT;
        int r = java_submit_build_words(b, n, words, &first);
        if (r == -EINVAL)
                r = java_submit_build_usage(b, n, words, &first);
        if (r < 0)
                error_set(error, r, "%s", error_message(&first));
        error_deinit(&first);
        return r;
}

bool java_command_is_special(const char *word)
{
        return strcmp(word, PYTHON_SHELL) == 0 || strcmp(word, R_SHELL) == 0 || strcmp(word, RUN_EXAMPLE) == 0;
}
