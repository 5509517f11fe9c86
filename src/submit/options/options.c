/* The options of spark-submit; see options.h. Matches Spark 4's SparkSubmitOptionParser. */
#include "submit/options/options.h"

#include "base/error.h"
#include "base/mem.h"
#include "text/edit_distance.h"

/* clang-format off */
static const struct submit_option options[] = {
        [SUBMIT_MASTER] = {.name = "--master", .label = "master", .keys = {"spark.master"}, .env = "MASTER",
                .is_early = true},
        [SUBMIT_REMOTE] = {.name = "--remote", .label = "remote", .keys = {"spark.remote"}, .env = "SPARK_REMOTE",
                .is_early = true},
        [SUBMIT_DEPLOY_MODE] = {.name = "--deploy-mode", .label = "deployMode", .keys = {"spark.submit.deployMode"},
                .env = "DEPLOY_MODE", .is_early = true},
        [SUBMIT_EXECUTOR_MEMORY] = {.name = "--executor-memory", .label = "executorMemory",
                .keys = {"spark.executor.memory"}, .env = "SPARK_EXECUTOR_MEMORY"},
        [SUBMIT_EXECUTOR_CORES] = {.name = "--executor-cores", .label = "executorCores",
                .keys = {"spark.executor.cores"}, .env = "SPARK_EXECUTOR_CORES"},
        [SUBMIT_TOTAL_EXECUTOR_CORES] = {.name = "--total-executor-cores", .label = "totalExecutorCores",
                .keys = {"spark.cores.max"}},
        [SUBMIT_PROPERTIES_FILE] = {.name = "--properties-file", .label = "propertiesFile", .is_early = true},
        [SUBMIT_DRIVER_MEMORY] = {.name = "--driver-memory", .label = "driverMemory",
                .keys = {"spark.driver.memory"}, .env = "SPARK_DRIVER_MEMORY", .is_early = true, .is_conf = true},
        [SUBMIT_DRIVER_CORES] = {.name = "--driver-cores", .label = "driverCores", .keys = {"spark.driver.cores"}},
        [SUBMIT_DRIVER_CLASS_PATH] = {.name = "--driver-class-path", .label = "driverExtraClassPath",
                .keys = {"spark.driver.extraClassPath"}, .is_early = true, .is_conf = true},
        [SUBMIT_DRIVER_LIBRARY_PATH] = {.name = "--driver-library-path", .label = "driverExtraLibraryPath",
                .keys = {"spark.driver.extraLibraryPath"}, .is_early = true, .is_conf = true},
        [SUBMIT_DRIVER_JAVA_OPTIONS] = {.name = "--driver-java-options", .label = "driverExtraJavaOptions",
                .keys = {"spark.driver.extraJavaOptions"}, .is_early = true, .is_conf = true},
        [SUBMIT_QUEUE] = {.name = "--queue", .label = "queue", .keys = {"spark.yarn.queue"}},
        [SUBMIT_NUM_EXECUTORS] = {.name = "--num-executors", .label = "numExecutors",
                .keys = {"spark.executor.instances"}},
        [SUBMIT_FILES] = {.name = "--files", .label = "files", .keys = {"spark.files"}, .is_uris = true},
        [SUBMIT_PY_FILES] = {.name = "--py-files", .label = "pyFiles", .keys = {"spark.submit.pyFiles"},
                .is_uris = true},
        [SUBMIT_ARCHIVES] = {.name = "--archives", .label = "archives", .keys = {"spark.archives"}, .is_uris = true},
        [SUBMIT_CLASS] = {.name = "--class", .label = "mainClass", .is_early = true},
        [SUBMIT_NAME] = {.name = "--name", .label = "name", .keys = {"spark.app.name"}},
        [SUBMIT_JARS] = {.name = "--jars", .label = "jars", .keys = {"spark.jars"}, .is_uris = true},
        [SUBMIT_PACKAGES] = {.name = "--packages", .label = "packages", .keys = {"spark.jars.packages"}},
        [SUBMIT_EXCLUDE_PACKAGES] = {.name = "--exclude-packages", .label = "packagesExclusions",
                .keys = {"spark.jars.excludes"}},
        [SUBMIT_REPOSITORIES] = {.name = "--repositories", .label = "repositories",
                .keys = {"spark.jars.repositories"}},
        [SUBMIT_PRINCIPAL] = {.name = "--principal", .keys = {"spark.kerberos.principal", "spark.yarn.principal"}},
        [SUBMIT_KEYTAB] = {.name = "--keytab", .keys = {"spark.kerberos.keytab", "spark.yarn.keytab"}},
        [SUBMIT_PROXY_USER] = {.name = "--proxy-user"},
        [SUBMIT_DRIVER_DEFAULT_CLASS_PATH] = {.name = "--driver-default-class-path",
                .keys = {"spark.driver.defaultExtraClassPath"}, .is_early = true, .is_conf = true},
        [SUBMIT_CONF] = {.name = "--conf", .alias = "-c", .is_early = true},
        [SUBMIT_EXTRA_PROPERTIES_FILE] = {.name = "--extra-properties-file", .is_early = true},
        [SUBMIT_KILL] = {.name = "--kill"},
        [SUBMIT_STATUS] = {.name = "--status"},
        [SUBMIT_SUPERVISE] = {.name = "--supervise", .is_switch = true},
        [SUBMIT_VERBOSE] = {.name = "--verbose", .alias = "-v", .is_switch = true},
        [SUBMIT_LOAD_SPARK_DEFAULTS] = {.name = "--load-spark-defaults", .is_switch = true, .is_early = true},
        [SUBMIT_HELP] = {.name = "--help", .alias = "-h", .is_switch = true},
        [SUBMIT_VERSION] = {.name = "--version", .is_switch = true},
        [SUBMIT_USAGE_ERROR] = {.name = "--usage-error", .is_switch = true},
        [SUBMIT_DRY_RUN] = {.name = "--dry-run", .is_switch = true, .is_early = true},
        [SUBMIT_OUTPUT] = {.name = "--output", .is_early = true},
        [SUBMIT_KUBERNETES_NAMESPACE] = {.name = "--kubernetes-namespace"},
};
/* clang-format on */

size_t submit_option_name_length(const char *word)
{
        const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word + 2, '=') : NULL;
        if (!equals || equals == word + 2 || !equals[1])
                return strlen(word);
        /* A value with a line end does not match, because Java's "." matches none of its five line ends. */
        for (const char *p = equals + 1; *p; p++) {
                if (*p == '\n' || *p == '\r' || strncmp(p, "\xc2\x85", 2) == 0 || strncmp(p, "\xe2\x80\xa8", 3) == 0 ||
                    strncmp(p, "\xe2\x80\xa9", 3) == 0)
                        return strlen(word);
        }
        return (size_t)(equals - word);
}

static const struct submit_option *options_find(const char *word, size_t len)
{
        for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
                const struct submit_option *o = &options[i];
                if ((strlen(o->name) == len && memcmp(o->name, word, len) == 0) ||
                    (o->alias && strlen(o->alias) == len && memcmp(o->alias, word, len) == 0))
                        return o;
        }
        return NULL;
}

const char *submit_option_suggestion(const char *word, size_t len)
{
        const char *nearest = NULL;
        int limit = edit_distance_limit(len);
        for (size_t i = 0; i < ARRAY_SIZE(options) && limit > 0; i++) {
                int distance = edit_distance(word, len, options[i].name, strlen(options[i].name), limit);
                if (distance <= limit) {
                        nearest = options[i].name;
                        limit = distance - 1;
                }
        }
        return nearest;
}

const struct submit_option *submit_option_of(enum submit_field field)
{
        return &options[field];
}

int submit_options_read(int n, char *const *words, const struct submit_visitor *visitor, void *context,
                        struct fst_error *error)
{
        for (int i = 0; i < n; i++) {
                const char *word = words[i], *value = NULL;
                size_t length = submit_option_name_length(word);
                const struct submit_option *option = options_find(word, length);
                if (word[length])
                        value = word + length + 1;
                if (!option)
                        return visitor->application(context, word, n - i - 1, words + i + 1, error);
                if (!option->is_switch && !value) {
                        if (i + 1 == n)
                                return error_set(error, -EINVAL, "Missing argument for option '%s'.", word);
                        value = words[++i];
                }
                if (option->is_switch)
                        value = NULL;
                int r = visitor->option(context, (enum submit_field)(option - options), value, error);
                if (r != 0)
                        return r < 0 ? r : 0;
        }
        return 0;
}
