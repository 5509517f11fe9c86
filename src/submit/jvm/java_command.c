/*
 * The java command; see java_command.h. Matches AbstractCommandBuilder, SparkClassCommandBuilder and Main of Spark's
 * launcher. If several things are wrong, reports the error that Spark finds first.
 */
#include "submit/jvm/java_command.h"

#include "base/error.h"
#include "base/mem.h"
#include "submit/jvm/java_builder.h"
#include "submit/jvm/java_hash_order.h"

#include <limits.h>
#include <strings.h>
#include <unistd.h>

extern char **environ;

const char *java_builder_env(const struct java_builder *b, const char *name)
{
        const char *value = b->env(name);
        return value && value[0] ? value : NULL;
}

const char *java_builder_conf_dir(struct java_builder *b)
{
        const char *dir = java_builder_env(b, "SPARK_CONF_DIR");
        if (dir)
                return dir;
        _cleanup_free_ char *made = mem_printf("%s/conf", b->home.path);
        return arena_copy(&b->memory, made, strlen(made));
}

/* The java of PATH, with links resolved: its home is the one that the JVM calls java.home. */
static char *java_command_find_in_path(const struct java_builder *b)
{
        const char *path = b->env("PATH");
        for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *file = mem_printf("%.*s/java", (int)n, n ? p : ".");
                char *real = spark_home_is_file(file) && access(file, X_OK) == 0 ? realpath(file, NULL) : NULL;
                if (real)
                        return real;
                p += n + (p[n] == ':');
        }
        return NULL;
}

static int java_command_add_java(struct java_builder *b, struct fst_error *error)
{
        const char *home = java_builder_env(b, "JAVA_HOME");
        char *java = home ? mem_printf("%s/bin/java", home) : java_command_find_in_path(b);
        if (!java)
                return error_set(error, -ENOENT, "JAVA_HOME is not set, and PATH has no java");
        option_words_take(&b->command->words, java);
        return 0;
}

static int java_command_add_opts_file(struct java_builder *b, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/java-opts", java_builder_conf_dir(b));
        _cleanup_free_ char *line = NULL;
        size_t size = 0;
        if (!spark_home_is_file(path))
                return 0;
        FILE *file = fopen(path, "re");
        if (!file)
                return error_errno(error, "reading %s", path);
        int r = 0;
        while (r == 0 && getline(&line, &size, file) >= 0) {
                line[strcspn(line, "\n")] = 0;
                r = java_builder_options(b, line, error);
        }
        if (r == 0 && ferror(file))
                r = error_errno(error, "reading %s", path);
        fclose(file);
        return r;
}

int java_builder_options(struct java_builder *b, const char *text, struct fst_error *error)
{
        return option_string_split(text, &b->command->words, error);
}

int java_builder_start(struct java_builder *b, const char *extra, struct fst_error *error)
{
        int r = java_command_add_java(b, error);
        if (r == 0)
                r = java_command_add_opts_file(b, error);
        if (r < 0)
                return r;
        char *path = java_class_path(b, extra, error);
        if (!path)
                return -ENOENT;
        option_words_add(&b->command->words, "-cp");
        option_words_take(&b->command->words, path);
        return 0;
}

static void java_command_put_module_options(const struct spark_home *home, struct option_words *words)
{
        /* The options of 3.3 and later, and the last ones of 3.x and 4.x. 4.x inserts one after the first. */
        static const char *const opened[] = {
                "java.base/java.lang",
                "java.base/java.lang.invoke",
                "java.base/java.lang.reflect",
                "java.base/java.io",
                "java.base/java.net",
                "java.base/java.nio",
                "java.base/java.util",
                "java.base/java.util.concurrent",
                "java.base/java.util.concurrent.atomic",
                "java.base/jdk.internal.ref",
                "java.base/sun.nio.ch",
                "java.base/sun.nio.cs",
                "java.base/sun.security.action",
                "java.base/sun.util.calendar",
                "java.security.jgss/sun.security.krb5",
        };
        static const char *const last[] = {
                "-Dio.netty.tryReflectionSetAccessible=true",
                "-Dio.netty.allocator.type=pooled",
                "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
        };
        const bool is_4 = spark_home_since(home, 4, 0);
        if (!spark_home_since(home, 3, 3))
                return;
        option_words_add(words, "-XX:+IgnoreUnrecognizedVMOptions");
        if (is_4)
                option_words_add(words, "--add-modules=jdk.incubator.vector");
        for (size_t i = 0; i < ARRAY_SIZE(opened); i++)
                option_words_take(words, mem_printf("--add-opens=%s=ALL-UNNAMED", opened[i]));
        if (!is_4)
                option_words_add(words, "-Djdk.reflect.useDirectMethodHandle=false");
        for (size_t i = 0; is_4 && i < ARRAY_SIZE(last); i++)
                option_words_add(words, last[i]);
}

void java_builder_module_options(struct java_builder *b)
{
        java_command_put_module_options(&b->home, &b->command->words);
}

int java_command_module_options(const char *(*env)(const char *name), struct option_words *out, struct fst_error *error)
{
        struct spark_home home = {.major = 4, .minor = INT_MAX};
        const int r = env("SPARK_HOME") ? spark_home_find(&home, env, error) : 0;
        if (r == 0)
                java_command_put_module_options(&home, out);
        spark_home_deinit(&home);
        return r;
}

/* ---------------------------------------------------------------------------------------------------- plain classes */

static const struct {
        const char *name;
        const char *options[2]; /* variables that hold options */
        const char *class_path, *memory;
        bool only_3; /* Mesos classes, which 4.x dropped */
} daemons[] = {
        {"org.apache.spark.deploy.master.Master",
         {"SPARK_DAEMON_JAVA_OPTS", "SPARK_MASTER_OPTS"},
         "SPARK_DAEMON_CLASSPATH",
         "SPARK_DAEMON_MEMORY",
         false},
        {"org.apache.spark.deploy.worker.Worker",
         {"SPARK_DAEMON_JAVA_OPTS", "SPARK_WORKER_OPTS"},
         "SPARK_DAEMON_CLASSPATH",
         "SPARK_DAEMON_MEMORY",
         false},
        {"org.apache.spark.deploy.history.HistoryServer",
         {"SPARK_DAEMON_JAVA_OPTS", "SPARK_HISTORY_OPTS"},
         "SPARK_DAEMON_CLASSPATH",
         "SPARK_DAEMON_MEMORY",
         false},
        {"org.apache.spark.executor.CoarseGrainedExecutorBackend",
         {"SPARK_EXECUTOR_OPTS", NULL},
         "SPARK_EXECUTOR_CLASSPATH",
         "SPARK_EXECUTOR_MEMORY",
         false},
        {"org.apache.spark.deploy.ExternalShuffleService",
         {"SPARK_DAEMON_JAVA_OPTS", "SPARK_SHUFFLE_OPTS"},
         "SPARK_DAEMON_CLASSPATH",
         "SPARK_DAEMON_MEMORY",
         false},
        {"org.apache.hive.beeline.BeeLine", {"SPARK_BEELINE_OPTS", NULL}, NULL, "SPARK_BEELINE_MEMORY", false},
        {"org.apache.spark.executor.MesosExecutorBackend",
         {"SPARK_EXECUTOR_OPTS", NULL},
         "SPARK_EXECUTOR_CLASSPATH",
         "SPARK_EXECUTOR_MEMORY",
         true},
        {"org.apache.spark.deploy.mesos.MesosClusterDispatcher",
         {"SPARK_DAEMON_JAVA_OPTS", NULL},
         "SPARK_DAEMON_CLASSPATH",
         "SPARK_DAEMON_MEMORY",
         true},
        {"org.apache.spark.deploy.mesos.MesosExternalShuffleService",
         {"SPARK_DAEMON_JAVA_OPTS", "SPARK_SHUFFLE_OPTS"},
         "SPARK_DAEMON_CLASSPATH",
         "SPARK_DAEMON_MEMORY",
         true},
        {NULL, {NULL, NULL}, NULL, "SPARK_DRIVER_MEMORY", false}, /* any other class */
};

static size_t java_command_find_daemon(const struct java_builder *b, const char *class)
{
        size_t i = 0;
        for (; daemons[i].name; i++) {
                if (strcmp(daemons[i].name, class) == 0 && !(daemons[i].only_3 && spark_home_since(&b->home, 4, 0)))
                        break;
        }
        return i;
}

static int java_command_build_class(struct java_builder *b, const char *class, int n, char *const *arguments,
                                    struct fst_error *error)
{
        struct option_words *words = &b->command->words;
        size_t row = java_command_find_daemon(b, class);
        b->is_beeline = strcmp(class, "org.apache.hive.beeline.BeeLine") == 0;
        int r = java_builder_start(b, daemons[row].class_path ? java_builder_env(b, daemons[row].class_path) : NULL,
                                   error);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(daemons[row].options) && daemons[row].options[i]; i++) {
                const char *value = java_builder_env(b, daemons[row].options[i]);
                if (value && strstr(value, "Xmx"))
                        return error_set(error, -EINVAL,
                                         "%s is not allowed to specify max heap(Xmx) memory settings (was %s). Use "
                                         "the corresponding configuration instead.",
                                         daemons[row].options[i], value);
                r = java_builder_options(b, value, error);
        }
        if (r < 0)
                return r;
        const char *memory = java_builder_env(b, daemons[row].memory);
        option_words_take(words, mem_printf("-Xmx%s", memory ? memory : "1g"));
        if (spark_home_since(&b->home, 4, 0))
                java_builder_module_options(b);
        option_words_add(words, class);
        for (int i = 0; i < n; i++)
                option_words_add(words, arguments[i]);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- entry points */

int java_command_build(struct java_command *c, const char *class, int n, char *const *arguments,
                       const char *(*env)(const char *name), struct fst_error *error)
{
        struct java_builder b = {.env = env, .command = c, .is_remote = env("SPARK_REMOTE") != NULL};
        int r = spark_home_find(&b.home, env, error);
        if (r < 0)
                return r;
        if (strcmp(class, JAVA_CLASS_SUBMIT) == 0)
                r = java_submit_build(&b, n, arguments, error);
        else
                r = java_command_build_class(&b, class, n, arguments, error);
        spark_home_deinit(&b.home);
        arena_deinit(&b.memory);
        return r;
}

void java_command_deinit(struct java_command *c)
{
        option_words_deinit(&c->words);
        option_words_deinit(&c->messages);
        strmap_deinit(&c->environment);
}

void java_command_write(const struct java_command *c, FILE *out)
{
        _cleanup_free_ struct strmap_entry **order = java_map_order(&c->environment, 0);
        fwrite("\0\n", 1, 2, out);
        if (c->environment.count > 0)
                fwrite("env", 1, 4, out);
        for (size_t i = 0; i < c->environment.count; i++)
                fprintf(out, "%s=%s%c", order[i]->key, order[i]->value, 0);
        for (size_t i = 0; i < c->words.len; i++) {
                const char *word = c->words.data[i];
                size_t length = strlen(word);
                fwrite(word, 1, length - (length > 0 && word[length - 1] == '\r'), out);
                putc(0, out);
        }
}

static bool java_command_is_secret(const char *key, size_t length)
{
        static const char *const parts[] = {"secret", "password", "token", "accesskey", "access.key", "credential"};
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                size_t n = strlen(parts[i]);
                for (size_t at = 0; at + n <= length; at++) {
                        if (strncasecmp(key + at, parts[i], n) == 0)
                                return true;
                }
        }
        return false;
}

static void java_command_print_word(const char *word, FILE *out)
{
        for (const char *p = word; (p = strstr(p, "-D")); p++) {
                const char *key = p + 2, *equals = key[0] ? strchr(key + 1, '=') : NULL;
                if (!equals || !equals[1])
                        continue;
                if (!java_command_is_secret(key, (size_t)(equals - key)))
                        break;
                fprintf(out, "-D%.*s=*********(redacted)", (int)(equals - key), key);
                return;
        }
        fputs(word, out);
}

void java_command_tell(const struct java_command *c, FILE *out)
{
        fputs("Spark Command: ", out);
        for (size_t i = 0; i < c->words.len; i++) {
                if (i > 0)
                        putc(' ', out);
                java_command_print_word(c->words.data[i], out);
        }
        fputs("\n========================================\n", out);
}

int java_command_exec(const struct java_command *c, struct fst_error *error)
{
        _cleanup_free_ char **argv = new_array(char *, c->words.len + 1);
        for (size_t i = 0; i < c->words.len; i++)
                argv[i] = c->words.data[i];
        for (struct strmap_entry *e = NULL; (e = strmap_next(&c->environment, e));)
                setenv(e->key, e->value, 1);
        fflush(NULL);
        execvp(argv[0], argv);
        return error_errno(error, "cannot start %s", argv[0]);
}
