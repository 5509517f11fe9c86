/*
 * The class path of Spark's own classes; see java_builder.h. Matches AbstractCommandBuilder.buildClassPath: a duplicate
 * entry keeps its first position, directories end in a slash, and one starred entry stands for all jars. 4.x puts
 * slf4j's jars before them. Clients of Spark Connect get every jar by name, except those of Spark's own SQL.
 */
#include "submit/jvm/java_builder.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"

static const char *java_class_path_base_name(const char *path)
{
        return strrchr(path, '/') + 1;
}

static bool java_class_path_is_one(const struct java_builder *b, const char *name)
{
        const char *value = b->env(name);
        return value && strcmp(value, "1") == 0;
}

static void java_class_path_add_entry(struct option_words *path, const char *start, size_t length)
{
        _cleanup_free_ char *name = mem_strndup(start, length);
        _cleanup_free_ char *entry =
                mem_printf("%s%s", name, name[length - 1] != '/' && spark_home_is_dir(name) ? "/" : "");
        for (size_t i = 0; i < path->len; i++) {
                if (strcmp(path->data[i], entry) == 0)
                        return;
        }
        option_words_take(path, steal(entry));
}

/* @entries may be NULL. */
static void java_class_path_add(struct option_words *path, const char *entries)
{
        for (const char *p = entries ? entries : ""; *p;) {
                size_t n = strcspn(p, ":");
                if (n > 0)
                        java_class_path_add_entry(path, p, n);
                p += n + (p[n] == ':');
        }
}

__attribute__((format(printf, 2, 3))) static void add_printf(struct option_words *path, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf entry = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&entry, format, args);
        va_end(args);
        java_class_path_add(path, buf_text(&entry));
}

static bool java_class_path_has_jar(const struct option_words *jars, const char *start)
{
        for (size_t i = 0; i < jars->len; i++) {
                if (text_starts_with(java_class_path_base_name(jars->data[i]), start))
                        return true;
        }
        return false;
}

/* The directories of compiled classes in a checkout of Spark. 4.x has Connect and no Mesos. */
static const struct {
        const char *name;
        bool only_4, only_3;
} projects[] = {
        {"common/kvstore", false, false},
        {"common/network-common", false, false},
        {"common/network-shuffle", false, false},
        {"common/network-yarn", false, false},
        {"common/sketch", false, false},
        {"common/tags", false, false},
        {"common/unsafe", false, false},
        {"sql/connect/common", true, false},
        {"sql/connect/server", true, false},
        {"core", false, false},
        {"examples", false, false},
        {"graphx", false, false},
        {"launcher", false, false},
        {"mllib", false, false},
        {"repl", false, false},
        {"resource-managers/mesos", false, true},
        {"resource-managers/yarn", false, false},
        {"sql/catalyst", false, false},
        {"sql/core", false, false},
        {"sql/hive", false, false},
        {"sql/hive-thriftserver", false, false},
        {"streaming", false, false},
};

static bool java_class_path_in_version(const struct java_builder *b, size_t project)
{
        bool is_4 = spark_home_since(&b->home, 4, 0);
        return is_4 ? !projects[project].only_3 : !projects[project].only_4;
}

/* Whether compiled classes of @name precede the jars. */
static bool java_class_path_is_prepended(const struct java_builder *b, const char *name,
                                         const struct option_words *jars, bool testing)
{
        if (!spark_home_since(&b->home, 4, 0))
                return true;
        if (text_starts_with(name, "sql/connect/"))
                return false;
        if (strcmp(name, "sql/core") == 0)
                return !(b->is_remote && java_class_path_is_one(b, "SPARK_SCALA_SHELL")) &&
                       !(b->is_beeline && java_class_path_is_one(b, "SPARK_CONNECT_BEELINE"));
        bool hive = testing || java_class_path_has_jar(jars, "spark-hive_");
        if (strcmp(name, "sql/hive") == 0)
                return hive;
        if (strcmp(name, "sql/hive-thriftserver") == 0)
                return testing || (hive && java_class_path_has_jar(jars, "spark-hive-thriftserver_"));
        return true;
}

static void java_class_path_add_compiled(struct java_builder *b, struct option_words *path,
                                         const struct option_words *jars)
{
        bool prepend = java_builder_env(b, "SPARK_PREPEND_CLASSES"),
             testing = java_class_path_is_one(b, "SPARK_TESTING");
        const char *home = b->home.path, *scala = b->home.scala;
        if (!prepend && !testing)
                return;
        if (prepend && !testing)
                option_words_add(&b->command->messages,
                                 "NOTE: SPARK_PREPEND_CLASSES is set, placing locally compiled Spark classes ahead of "
                                 "assembly.");
        for (size_t i = 0; prepend && i < ARRAY_SIZE(projects); i++) {
                if (java_class_path_in_version(b, i) &&
                    java_class_path_is_prepended(b, projects[i].name, jars,
                                                 testing || java_class_path_is_one(b, "SPARK_SQL_TESTING")))
                        add_printf(path, "%s/%s/target/scala-%s/classes", home, projects[i].name, scala);
        }
        for (size_t i = 0; testing && i < ARRAY_SIZE(projects); i++) {
                if (java_class_path_in_version(b, i))
                        add_printf(path, "%s/%s/target/scala-%s/test-classes", home, projects[i].name, scala);
        }
        add_printf(path, "%s/core/target/jars/*", home);
        add_printf(path, "%s/mllib/target/jars/*", home);
}

static void java_class_path_add_connect_jar(struct option_words *path, const char *jar)
{
        static const char *const left_out[] = {"spark-sql_", "spark-connect_", "spark-sql-api_",
                                               "spark-connect-common_"};
        const char *name = java_class_path_base_name(jar);
        if (strcmp(name, "connect-repl") == 0 && spark_home_is_dir(jar)) {
                add_printf(path, "%s/*", jar);
                return;
        }
        for (size_t i = 0; i < ARRAY_SIZE(left_out); i++) {
                if (text_starts_with(name, left_out[i]))
                        return;
        }
        java_class_path_add(path, jar);
}

static void java_class_path_add_jars(struct java_builder *b, struct option_words *path, const struct option_words *jars)
{
        bool is_4 = spark_home_since(&b->home, 4, 0);
        for (size_t i = 0; is_4 && i < jars->len; i++) {
                if (text_starts_with(java_class_path_base_name(jars->data[i]), "slf4j-api-"))
                        java_class_path_add(path, jars->data[i]);
        }
        if (!is_4 || !(b->is_remote || (b->is_beeline && java_class_path_is_one(b, "SPARK_CONNECT_BEELINE")))) {
                add_printf(path, "%s/*", b->home.jars);
                return;
        }
        for (size_t i = 0; i < jars->len; i++)
                java_class_path_add_connect_jar(path, jars->data[i]);
}

char *java_class_path(struct java_builder *b, const char *extra, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words path = {0}, jars = {0};
        if (!b->home.scala) {
                error_set(error, -ENOENT, "Cannot find any build directories.");
                return NULL;
        }
        if (!b->home.jars && !java_class_path_is_one(b, "SPARK_TESTING") &&
            !java_class_path_is_one(b, "SPARK_SQL_TESTING")) {
                error_set(error, -ENOENT, "Library directory '%s' does not exist; make sure Spark is built.",
                          b->home.jars_wanted);
                return NULL;
        }
        if (b->home.jars && spark_home_list(b->home.jars, &jars) < 0) {
                error_errno(error, "reading %s", b->home.jars);
                return NULL;
        }
        java_class_path_add(&path, extra);
        java_class_path_add(&path, java_builder_conf_dir(b));
        java_class_path_add_compiled(b, &path, &jars);
        if (b->home.jars)
                java_class_path_add_jars(b, &path, &jars);
        java_class_path_add(&path, java_builder_env(b, "HADOOP_CONF_DIR"));
        java_class_path_add(&path, java_builder_env(b, "YARN_CONF_DIR"));
        java_class_path_add(&path, java_builder_env(b, "SPARK_DIST_CLASSPATH"));
        struct buf out = BUF_INIT;
        for (size_t i = 0; i < path.len; i++)
                buf_printf(&out, "%s%s", i ? ":" : "", path.data[i]);
        return buf_steal(&out);
}
