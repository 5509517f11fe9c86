/* See am_launch.h. Follows Client.setupLaunchEnv, populateClasspath and createContainerLaunchContext of Spark 4.3. */
#include "submit/yarn/am_launch.h"

#include "submit/jvm/java_command.h"
#include "yarn/application/yarn_settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "io/fs/uri.h"
#include "launch/resolve_uri.h"
#include "launch/spark_home.h"
#include "pyspark_driver/python_package.h"
#include "text/shell_words.h"
#include "yarn/application/container_links.h"
#include "conf/conf_list.h"

#include <dirent.h>
#include <strings.h>

#define PWD "{{PWD}}"
#define SEPARATOR "<CPS>"
#define AM_CLASS "org.apache.spark.deploy.yarn.ApplicationMaster"
#define ENV_PREFIX "spark.yarn.appMasterEnv."

/* ------------------------------------------------------------------------------------------------------ arguments */

int am_arguments_parse(struct am_arguments *a, char *const *words, size_t n, struct fst_error *error)
{
        *a = (struct am_arguments){0};
        const struct {
                const char *option;
                const char **out;
        } options[] = {{"--jar", &a->jar},
                       {"--class", &a->class},
                       {"--primary-py-file", &a->python},
                       {"--primary-r-file", &a->r}};
        for (size_t i = 0; i < n; i += 2) {
                const char **out = NULL;
                for (size_t k = 0; k < ARRAY_SIZE(options); k++)
                        if (strcmp(words[i], options[k].option) == 0)
                                out = options[k].out;
                const bool own = strcmp(words[i], "--arg") == 0;
                if ((!out && !own) || i + 1 == n || !words[i + 1])
                        return error_set(error, -EINVAL, "Unknown/unsupported param List(%s)", words[i]);
                if (out)
                        *out = words[i + 1];
                else
                        string_list_add(&a->words, words[i + 1]);
        }
        return a->python && a->r
                       ? error_set(error, -EINVAL, "Cannot have primary-py-file and primary-r-file at the same time")
                       : 0;
}

void am_arguments_deinit(struct am_arguments *a)
{
        string_list_deinit(&a->words);
        *a = (struct am_arguments){0};
}

/* ---------------------------------------------------------------------------------------------------- environment */

static void am_launch_add_path(struct strmap *env, const char *key, const char *value)
{
        const char *before = strmap_get(env, key);
        _cleanup_free_ char *all = before ? mem_printf("%s" SEPARATOR "%s", before, value) : mem_strdup(value);
        strmap_set(env, key, all);
}

/* @path with spark.yarn.config.gatewayPath replaced. The caller owns it. */
static char *am_launch_cluster_path(const struct fst_conf *conf, const char *path)
{
        const char *gateway = conf_get_value(conf, "spark.yarn.config.gatewayPath");
        const char *replacement = conf_get_value(conf, "spark.yarn.config.replacementPath");
        struct buf out = BUF_INIT;
        if (!gateway || !*gateway || !replacement)
                return mem_strdup(path);
        for (const char *at; (at = strstr(path, gateway)); path = at + strlen(gateway)) {
                buf_append(&out, path, (size_t)(at - path));
                buf_puts(&out, replacement);
        }
        buf_puts(&out, path);
        return buf_steal(&out);
}

static void am_launch_add_class_path(const struct am_launch_request *q, struct strmap *env, const char *path)
{
        _cleanup_free_ char *there = am_launch_cluster_path(q->conf, path);
        am_launch_add_path(env, "CLASSPATH", there);
}

/* Whether @name has the scheme local; then *@path (owned) is its path. */
static bool am_launch_is_local(const char *name, char **path)
{
        struct uri parts;
        if (!uri_parse(name, &parts) || !uri_has_scheme(&parts, "local"))
                return false;
        *path = uri_decode(parts.path);
        return true;
}

/* The name of the link of @resource in the container: its fragment, or the last component of its path. */
static char *am_launch_link(const char *resource)
{
        struct uri parts;
        _cleanup_free_ char *path = uri_parse(resource, &parts) ? uri_decode(parts.path) : mem_strdup(resource);
        const char *slash = strrchr(path, '/');
        if (uri_parse(resource, &parts) && parts.fragment.text)
                return uri_decode(parts.fragment);
        return mem_strdup(slash ? slash + 1 : path);
}

static void am_launch_add_jar(const struct am_launch_request *q, struct strmap *env, const char *jar, const char *alias)
{
        _cleanup_free_ char *local = NULL, *link = alias ? mem_strdup(alias) : am_launch_link(jar);
        _cleanup_free_ char *path = mem_printf(PWD "/%s", link);
        if (am_launch_is_local(jar, &local))
                am_launch_add_class_path(q, env, local);
        else
                am_launch_add_path(env, "CLASSPATH", path);
}

/* spark.yarn.user.classpath.first, which is deprecated, puts the application's jars in front of Spark's. */
static int am_launch_add_user_jars(const struct am_launch_request *q, struct strmap *env, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list jars = {0};
        const char *first = conf_get_raw(q->conf, "spark.yarn.user.classpath.first");
        if (!first || strcasecmp(first, "true") != 0)
                return 0;
        am_launch_add_jar(q, env, q->arguments->jar ? q->arguments->jar : YARN_APP_JAR, YARN_APP_JAR);
        const int r = conf_list_read(q->conf, "spark.yarn.dist.jars", &jars, error);
        for (size_t i = 0; r == 0 && i < jars.len; i++)
                am_launch_add_jar(q, env, jars.data[i], NULL);
        return r;
}

/* Adds the elements of the Hadoop key @key, or of @usual. */
static void am_launch_add_hadoop(const struct am_launch_request *q, struct strmap *env, const char *key,
                                 const char *usual)
{
        _cleanup_free_ char *set = hadoop_conf_get(q->hadoop, key);
        _cleanup_free_ char *list = mem_strdup(set && *set ? set : usual);
        for (char *rest, *one = strtok_r(list, ", \t\r\n", &rest); one; one = strtok_r(NULL, ", \t\r\n", &rest))
                am_launch_add_path(env, "CLASSPATH", one);
}

static int am_launch_populate_hadoop(const struct am_launch_request *q, struct strmap *env, struct fst_error *error)
{
        bool wanted = q->without_hadoop;
        if (conf_contains(q->conf, "spark.yarn.populateHadoopClasspath")) {
                const int r = conf_get_bool(q->conf, "spark.yarn.populateHadoopClasspath", &wanted, error);
                if (r < 0)
                        return r;
        }
        if (!wanted)
                return 0;
        am_launch_add_hadoop(q, env, "yarn.application.classpath",
                             "$HADOOP_CONF_DIR,$HADOOP_COMMON_HOME/share/hadoop/common/*,"
                             "$HADOOP_COMMON_HOME/share/hadoop/common/lib/*,$HADOOP_HDFS_HOME/share/hadoop/hdfs/*,"
                             "$HADOOP_HDFS_HOME/share/hadoop/hdfs/lib/*,$HADOOP_YARN_HOME/share/hadoop/yarn/*,"
                             "$HADOOP_YARN_HOME/share/hadoop/yarn/lib/*");
        am_launch_add_hadoop(
                q, env, "mapreduce.application.classpath",
                "$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/*,$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/lib/*");
        return 0;
}

static int am_launch_put_class_path(const struct am_launch_request *q, struct strmap *env, struct fst_error *error)
{
        const char *extra = conf_get_value(q->conf, "spark.driver.extraClassPath"),
                   *dist = q->env("SPARK_DIST_CLASSPATH");
        _cleanup_(string_list_deinit) struct string_list jars = {0};
        if (extra)
                am_launch_add_class_path(q, env, extra);
        am_launch_add_path(env, "CLASSPATH", PWD);
        am_launch_add_path(env, "CLASSPATH", PWD "/" YARN_CONF_LINK);
        int r = am_launch_add_user_jars(q, env, error);
        am_launch_add_path(env, "CLASSPATH", PWD "/" YARN_LIBS_LINK "/*");
        if (r == 0 && !conf_contains(q->conf, "spark.yarn.archive"))
                r = conf_list_read(q->conf, "spark.yarn.jars", &jars, error);
        for (size_t i = 0; r == 0 && i < jars.len; i++) {
                _cleanup_free_ char *local = NULL;
                if (am_launch_is_local(jars.data[i], &local))
                        am_launch_add_class_path(q, env, local);
        }
        if (r == 0)
                r = am_launch_populate_hadoop(q, env, error);
        if (dist)
                am_launch_add_class_path(q, env, dist);
        am_launch_add_path(env, "CLASSPATH", PWD "/" YARN_CONF_LINK "/" YARN_HADOOP_CONF);
        return r;
}

/* Appends one element of PYTHONPATH: a link in the container, or the path of a "local:" URI. */
static void am_launch_add_python(struct string_list *path, const char *file)
{
        _cleanup_free_ char *uri = submit_resolve_uri(file, COMPAT_4_3), *local = NULL;
        struct uri parts;
        if (am_launch_is_local(uri, &local)) {
                string_list_take(path, steal(local));
                return;
        }
        local = uri_parse(uri, &parts) ? uri_decode(parts.path) : mem_strdup(uri);
        const char *slash = strrchr(local, '/');
        string_list_take(path, mem_printf(PWD "/%s", slash ? slash + 1 : local));
}

static bool am_launch_is_python_source(const char *file)
{
        const size_t n = strlen(file);
        return n >= 3 && strcmp(file + n - 3, ".py") == 0;
}

static void am_launch_join(struct buf *out, const char *before, const char *own, const struct string_list *path)
{
        const char *const first[] = {before, own};
        for (size_t i = 0; i < ARRAY_SIZE(first); i++)
                if (first[i])
                        buf_printf(out, "%s%s", out->len ? SEPARATOR : "", first[i]);
        for (size_t i = 0; i < path->len; i++)
                buf_printf(out, "%s%s", out->len ? SEPARATOR : "", path->data[i]);
}

static int am_launch_put_python_path(const struct am_launch_request *q, struct strmap *env, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list files = {0}, path = {0};
        _cleanup_(buf_deinit) struct buf driver = BUF_INIT, executor = BUF_INIT;
        const int r = conf_list_read(q->conf, "spark.yarn.dist.pyFiles", &files, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < files.len && !path.len; i++)
                if (am_launch_is_python_source(files.data[i]))
                        string_list_add(&path, PWD "/" YARN_PYTHON_LINK);
        for (size_t i = 0; q->python_archives && i < q->python_archives->len; i++)
                am_launch_add_python(&path, q->python_archives->data[i]);
        for (size_t i = 0; i < files.len; i++)
                if (!am_launch_is_python_source(files.data[i]))
                        am_launch_add_python(&path, files.data[i]);
        if (!path.len)
                return 0;
        am_launch_join(&driver, strmap_get(env, "PYTHONPATH"), q->env("PYTHONPATH"), &path);
        am_launch_join(&executor, conf_get_raw(q->conf, "spark.executorEnv.PYTHONPATH"), q->env("PYTHONPATH"), &path);
        strmap_set(env, "PYTHONPATH", buf_text(&driver));
        conf_set(q->conf, "spark.executorEnv.PYTHONPATH", buf_text(&executor));
        return 0;
}

/* The bytes that Python reads. */
static int am_launch_put_python(const struct am_launch_request *q, struct strmap *env, struct fst_error *error)
{
        static const char *const interpreters[] = {"PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"};
        const int r = am_launch_put_python_path(q, env, error);
        for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
                if (q->env(interpreters[i]))
                        strmap_set_if_missing(env, interpreters[i], q->env(interpreters[i]));
        /* Spark's script spark-submit exports it, so that Python hashes strings alike everywhere. */
        strmap_set(env, "PYTHONHASHSEED", "0");
        return r;
}

static bool am_launch_prefers_ipv6(const struct am_launch_request *q)
{
        const char *set = q->env("SPARK_PREFER_IPV6");
        return set && strcasecmp(set, "true") == 0;
}

static int am_launch_put_environment(struct am_launch *launch, const struct am_launch_request *q,
                                     struct fst_error *error)
{
        static const char *const copied[] = {"SPARK_DIST_CLASSPATH", "SPARK_TESTING"};
        struct strmap *env = &launch->container.environment;
        int r = am_launch_put_class_path(q, env, error);
        if (r < 0)
                return r;
        strmap_set(env, "SPARK_YARN_STAGING_DIR", q->staging);
        strmap_set(env, "SPARK_PREFER_IPV6", am_launch_prefers_ipv6(q) ? "true" : "false");
        for (struct strmap_entry *e = NULL; (e = strmap_next(&q->conf->set, e));)
                if (strncmp(e->key, ENV_PREFIX, strlen(ENV_PREFIX)) == 0)
                        am_launch_add_path(env, e->key + strlen(ENV_PREFIX), e->value);
        strmap_set_if_missing(env, "SPARK_USER", q->user);
        r = am_launch_put_python(q, env, error);
        for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
                if (q->env(copied[i]))
                        strmap_set(env, copied[i], q->env(copied[i]));
        return r;
}

/* -------------------------------------------------------------------------------------------------------- command */

char *am_launch_quote(const char *word)
{
        struct buf out = BUF_INIT;
        buf_putc(&out, '\'');
        for (; *word; word++) {
                if (*word == '\'') {
                        buf_puts(&out, "'\\''");
                        continue;
                }
                if (*word == '$' || *word == '"')
                        buf_putc(&out, '\\');
                buf_putc(&out, *word);
        }
        buf_putc(&out, '\'');
        return buf_steal(&out);
}

/* Replaces {{APP_ID}}. The caller owns the result. */
static char *am_launch_put_id(const char *option, const char *id)
{
        struct buf out = BUF_INIT;
        for (const char *at; (at = strstr(option, "{{APP_ID}}")); option = at + strlen("{{APP_ID}}"))
                buf_printf(&out, "%.*s%s", (int)(at - option), option, id);
        buf_puts(&out, option);
        return buf_steal(&out);
}

/* The library path of the driver, as a prefix of the command, or NULL. */
static char *am_launch_library_path(const struct am_launch_request *q)
{
        const char *path = conf_get_value(q->conf, "spark.driver.extraLibraryPath");
        if (!path)
                return NULL;
        _cleanup_(buf_deinit) struct buf quoted = BUF_INIT;
        for (; *path; path++)
                buf_printf(&quoted, *path == '"' ? "\\\\\\%c" : "%c", *path);
        _cleanup_free_ char *prefix = mem_printf("LD_LIBRARY_PATH=\\\"%s:$LD_LIBRARY_PATH\\\"", buf_text(&quoted));
        return am_launch_cluster_path(q->conf, prefix);
}

static int am_launch_put_java_options(struct am_launch *launch, const struct am_launch_request *q,
                                      struct fst_error *error)
{
        static const char *const keys[] = {"spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"};
        _cleanup_(string_list_deinit) struct string_list words = {0};
        _cleanup_(buf_deinit) struct buf options = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                _cleanup_free_ char *set = NULL;
                const int r = conf_get_string(q->conf, keys[i], &set, error);
                if (r < 0)
                        return r;
                if (set)
                        buf_printf(&options, "%s%s", options.len ? " " : "", set);
        }
        command_string_split(buf_text(&options), &words);
        for (size_t i = 0; i < words.len; i++) {
                _cleanup_free_ char *word = am_launch_put_id(words.data[i], q->application_id);
                string_list_take(&launch->container.command, am_launch_quote(word));
        }
        if (conf_get_raw(q->conf, "spark.yarn.am.extraJavaOptions"))
                string_list_add(&launch->warnings,
                                "spark.yarn.am.extraJavaOptions will not take effect in cluster mode");
        return 0;
}

/* Java's module options, as one word like Spark's. */
static int am_launch_module_options(const struct am_launch_request *q, char **out, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words words = {0};
        struct buf text = BUF_INIT;
        const int r = java_command_module_options(q->env, &words, error);
        for (size_t i = 0; i < words.len; i++)
                buf_printf(&text, "%s%s", i ? " " : "", words.data[i]);
        *out = buf_steal(&text);
        return r;
}

static int am_launch_put_java(struct am_launch *launch, const struct am_launch_request *q, struct fst_error *error)
{
        struct string_list *words = &launch->container.command;
        char *modules = NULL, *library_path = am_launch_library_path(q);
        bool limit;
        int r = am_launch_module_options(q, &modules, error);
        if (r == 0)
                r = conf_get_bool(q->conf, "spark.driver.limitActiveProcessorCount.enabled", &limit, error);
        if (r < 0) {
                free(modules);
                free(library_path);
                return r;
        }
        if (library_path)
                string_list_take(words, library_path);
        string_list_add(words, "{{JAVA_HOME}}/bin/java");
        string_list_add(words, "-server");
        if (limit)
                string_list_take(words, mem_printf("-XX:ActiveProcessorCount=%lld", (long long)q->settings->cores));
        string_list_take(words,
                         mem_printf("-Djava.net.preferIPv6Addresses=%s", am_launch_prefers_ipv6(q) ? "true" : "false"));
        string_list_take(words, modules);
        string_list_take(words, mem_printf("-Xmx%lldm", (long long)q->settings->memory));
        string_list_add(words, "-Djava.io.tmpdir=" PWD "/tmp");
        r = am_launch_put_java_options(launch, q, error);
        string_list_add(words, "-Dspark.yarn.app.container.log.dir=<LOG_DIR>");
        return r;
}

static void am_launch_put_quoted(struct string_list *words, const char *option, const char *value)
{
        string_list_add(words, option);
        string_list_take(words, am_launch_quote(value));
}

static bool am_launch_is_r_source(const char *file)
{
        const size_t n = strlen(file);
        return n >= 2 && strcasecmp(file + n - 2, ".r") == 0;
}

static void am_launch_put_arguments(struct am_launch *launch, const struct am_launch_request *q)
{
        const struct am_arguments *a = q->arguments;
        struct string_list *words = &launch->container.command;
        string_list_add(words, AM_CLASS);
        string_list_add(words, "--class");
        if (a->class)
                string_list_take(words, am_launch_quote(a->class));
        else
                string_list_add(words, "null");
        if (a->jar) {
                string_list_add(words, "--jar");
                string_list_add(words, a->jar);
        }
        if (a->python) {
                const char *slash = strrchr(a->python, '/');
                string_list_add(words, "--primary-py-file");
                string_list_add(words, slash ? slash + 1 : a->python);
        }
        if (a->r) {
                string_list_add(words, "--primary-r-file");
                string_list_add(words, a->r);
                if (am_launch_is_r_source(a->r))
                        am_launch_put_quoted(words, "--arg", a->r);
        }
        for (size_t i = 0; i < a->words.len; i++)
                am_launch_put_quoted(words, "--arg", a->words.data[i]);
}

/* ---------------------------------------------------------------------------------------------- native applications */

/* The driver runs in `firesteel yarn-am` (yarn/backend/cluster_driver.h). */
static int am_launch_put_native(struct am_launch *launch, const struct am_launch_request *q, struct fst_error *error)
{
        const struct am_arguments *a = q->arguments;
        struct container_launch *c = &launch->container;
        struct strmap *env = &c->environment;
        strmap_set(env, "SPARK_YARN_STAGING_DIR", q->staging);
        strmap_set(env, "HADOOP_CONF_DIR", PWD "/" YARN_CONF_LINK "/" YARN_HADOOP_CONF);
        /* Where Cyrus SASL looks for the mechanisms of the archive's library. */
        strmap_set(env, "SASL_PATH", PWD "/" YARN_PROGRAM_LINK "/lib/sasl2");
        for (struct strmap_entry *e = NULL; (e = strmap_next(&q->conf->set, e));)
                if (strncmp(e->key, ENV_PREFIX, strlen(ENV_PREFIX)) == 0)
                        strmap_set(env, e->key + strlen(ENV_PREFIX), e->value);
        strmap_set_if_missing(env, "SPARK_USER", q->user);
        const int r = a->python ? am_launch_put_python(q, env, error) : 0;
        container_launch_begin_firesteel(c, conf_get_value(q->conf, "spark.driver.extraLibraryPath"), "yarn-am");
        container_launch_add_option(c, "--class", a->class ? a->class : "main");
        if (a->python)
                container_launch_add_option(c, "--primary-py-file", text_base_name(a->python));
        else if (a->r)
                container_launch_add_option(c, "--primary-r-file", text_base_name(a->r));
        else
                container_launch_add_option(c, "--jar", text_base_name(a->jar));
        for (size_t i = 0; q->fallback_archives && i < q->fallback_archives->len; i++)
                container_launch_add_option(c, "--pyspark", text_base_name(q->fallback_archives->data[i]));
        for (size_t i = 0; i < a->words.len; i++)
                container_launch_add_option(c, "--arg", a->words.data[i]);
        return r;
}

/* The end of both commands. */
static void am_launch_put_conf_files(struct am_launch *launch)
{
        static const char *const words[] = {"--properties-file", PWD "/" YARN_CONF_LINK "/" YARN_CONF_FILE,
                                            "--dist-cache-conf", PWD "/" YARN_CONF_LINK "/" YARN_CACHE_FILE};
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                string_list_add(&launch->container.command, words[i]);
        container_launch_add_logs(&launch->container);
}

int am_launch_build(struct am_launch *launch, const struct am_launch_request *q, struct fst_error *error)
{
        *launch = (struct am_launch){0};
        int r = 0;
        if (q->native) {
                r = am_launch_put_native(launch, q, error);
        } else {
                r = am_launch_put_environment(launch, q, error);
                r = r < 0 ? r : am_launch_put_java(launch, q, error);
                if (r == 0)
                        am_launch_put_arguments(launch, q);
        }
        am_launch_put_conf_files(launch);
        return r;
}

void am_launch_deinit(struct am_launch *launch)
{
        container_launch_deinit(&launch->container);
        string_list_deinit(&launch->warnings);
}

/* ------------------------------------------------------------------------------------------------- Python archives */

/* The file of SPARK_HOME's python/lib that begins with @prefix and ends with @suffix; else "@prefix…@suffix". */
static char *am_launch_find_archive(const char *directory, const char *prefix, const char *suffix)
{
        _cleanup_(option_words_deinit) struct option_words files = {0};
        spark_home_list(directory, &files);
        for (size_t i = 0; i < files.len; i++) {
                const char *slash = strrchr(files.data[i], '/'), *name = slash ? slash + 1 : files.data[i];
                const size_t n = strlen(name), m = strlen(suffix);
                if (strncmp(name, prefix, strlen(prefix)) == 0 && n >= m && strcmp(name + n - m, suffix) == 0)
                        return spark_home_file(NULL, files.data[i]);
        }
        return mem_printf("%s/%s%s", directory, prefix, suffix);
}

/* Those of PYSPARK_ARCHIVES_PATH. Returns false if it is not set. */
static bool am_launch_read_archives_path(const char *(*env)(const char *name), struct string_list *out)
{
        const char *set = env("PYSPARK_ARCHIVES_PATH");
        _cleanup_free_ char *list = mem_strdup(set ? set : "");
        for (char *rest, *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
                string_list_add(out, one);
        return set;
}

int am_launch_python_archives(const char *(*env)(const char *name), struct string_list *out, struct fst_error *error)
{
        const char *home = env("SPARK_HOME");
        if (am_launch_read_archives_path(env, out))
                return 0;
        if (!home)
                return error_set(error, -ENOENT,
                                 "SPARK_HOME is not set: set it to Spark's directory, whose python/lib has "
                                 "pyspark.zip");
        _cleanup_free_ char *directory = mem_printf("%s/python/lib", home);
        string_list_take(out, am_launch_find_archive(directory, "pyspark.zip", ""));
        string_list_take(out, am_launch_find_archive(directory, "py4j-", "-src.zip"));
        for (size_t i = 0; i < out->len; i++)
                if (!spark_home_is_file(out->data[i]))
                        return error_set(
                                error, -ENOENT,
                                "requirement failed: %s not found; cannot run pyspark application in YARN mode.",
                                out->data[i]);
        return 0;
}

/* @python may be a path on the cluster, which this machine lacks. */
static bool am_launch_add_package_of(const char *python, struct string_list *out)
{
        struct python_package package;
        if (!python || !*python)
                return false;
        python_package_find(python, &package);
        const bool has = python_package_archives(&package, out);
        python_package_deinit(&package);
        return has;
}

void am_launch_native_python_archives(const struct fst_conf *conf, const char *(*env)(const char *name),
                                      struct string_list *archives, struct string_list *fallback)
{
        if (am_launch_read_archives_path(env, archives))
                return;
        const char *const pythons[] = {conf_get_raw(conf, "spark.pyspark.driver.python"),
                                       conf_get_raw(conf, "spark.pyspark.python"), env("PYSPARK_DRIVER_PYTHON"),
                                       env("PYSPARK_PYTHON"), "python3"};
        for (size_t i = 0; i < ARRAY_SIZE(pythons); i++)
                if (am_launch_add_package_of(pythons[i], fallback))
                        return;
}
