/*
 * See conf_archive.h. Hadoop's defaults come from the XML files in the jar of SPARK_HOME, as on a JVM's class path; an
 * installation without that jar sends only what was set.
 */
#include "yarn/application/conf_archive.h"

#include "yarn/application/container_links.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "conf/properties.h"
#include "io/codec/zip_file.h"
#include "io/fs/hadoop_conf.h"
#include "launch/spark_home.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HADOOP_FILE "__spark_hadoop_conf__.xml"
#define OWN_HADOOP_KEYS "firesteel.hadoop." /* HADOOP_CONF_USER and the like: of this process */
#define MAX_FILE ((size_t)64 << 20)
#define MAX_DEFAULTS ((size_t)8 << 20)

static int conf_archive_append(void *context, const void *data, size_t n, struct fst_error *error)
{
        buf_append(context, data, n);
        return 0;
}

/* Receives the files. */
struct conf_target {
        conf_archive_sink *add;
        void *context;
};

static int conf_target_add(const struct conf_target *to, const char *name, const void *data, size_t n,
                           struct fst_error *error)
{
        return to->add(to->context, name, data, n, error);
}

static int conf_archive_add_to_zip(void *context, const char *name, const void *data, size_t n, struct fst_error *error)
{
        return zip_writer_add(context, name, data, n, error);
}

/* SPARK_CONF_DIR, as Spark's scripts export it: conf in SPARK_HOME unless it is set. NULL: neither. Owned. */
static char *conf_archive_spark_dir(const struct conf_archive *a)
{
        const char *set = a->env("SPARK_CONF_DIR"), *home = a->env("SPARK_HOME");
        return set && *set ? mem_strdup(set) : home && *home ? mem_printf("%s/conf", home) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- files */

static int conf_archive_add_file(const struct conf_target *to, const char *name, const char *path,
                                 struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        const int r = file_text_read(path, MAX_FILE, &text, error);
        return r == 0 ? conf_target_add(to, name, buf_text(&text), text.len, error) : r;
}

/* The first of the directories that has the logging and metrics configuration, as on the class path. */
static int conf_archive_add_settings(const struct conf_archive *a, const struct conf_target *to,
                                     struct fst_error *error)
{
        static const char *const names[] = {"log4j2.yaml", "log4j2.yml",        "log4j2.json",       "log4j2.jsn",
                                            "log4j2.xml",  "log4j2.properties", "metrics.properties"};
        _cleanup_free_ char *spark = conf_archive_spark_dir(a);
        const char *const directories[] = {spark, a->env("HADOOP_CONF_DIR"), a->env("YARN_CONF_DIR")};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                for (size_t k = 0; k < ARRAY_SIZE(directories); k++) {
                        if (!directories[k] || !*directories[k])
                                continue;
                        _cleanup_free_ char *path = mem_printf("%s/%s", directories[k], names[i]);
                        if (!spark_home_is_file(path))
                                continue;
                        const int r = conf_archive_add_file(to, names[i], path, error);
                        if (r < 0)
                                return r;
                        break;
                }
        return 0;
}

static int conf_archive_visible(const struct dirent *entry)
{
        return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Adds the readable files of @directory below __hadoop_conf__/, unless their names are in @names, which it extends. */
static int conf_archive_add_directory(const struct conf_target *to, const char *directory, bool xml_only,
                                      struct strmap *names, struct fst_error *error)
{
        struct dirent **list;
        const int n = directory && *directory ? scandir(directory, &list, conf_archive_visible, alphasort) : 0;
        int r = 0;
        for (int i = 0; i < n; i++) {
                _cleanup_free_ struct dirent *entry = list[i];
                _cleanup_free_ char *path = mem_printf("%s/%s", directory, entry->d_name);
                _cleanup_free_ char *name = mem_printf(YARN_HADOOP_CONF "/%s", entry->d_name);
                const size_t length = strlen(entry->d_name);
                const bool wanted = !xml_only || (length >= 4 && strcmp(entry->d_name + length - 4, ".xml") == 0);
                if (r == 0 && wanted && spark_home_is_file(path) && strmap_set_if_missing(names, entry->d_name, "") &&
                    access(path, R_OK) == 0)
                        r = conf_archive_add_file(to, name, path, error);
        }
        if (n > 0)
                free(list);
        return r;
}

static int conf_archive_add_hadoop_files(const struct conf_archive *a, const struct conf_target *to,
                                         struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap names = STRMAP_INIT;
        _cleanup_free_ char *spark = conf_archive_spark_dir(a);
        int r = conf_target_add(to, YARN_HADOOP_CONF "/", NULL, 0, error);
        if (r == 0)
                r = conf_archive_add_directory(to, spark, true, &names, error);
        if (r == 0)
                r = conf_archive_add_directory(to, a->env("HADOOP_CONF_DIR"), false, &names, error);
        return r == 0 ? conf_archive_add_directory(to, a->env("YARN_CONF_DIR"), false, &names, error) : r;
}

/* --------------------------------------------------------------------------------------- Hadoop's configuration */

/* The jar of SPARK_HOME whose name begins with @prefix, or NULL. Owned. */
static char *spark_jar_find(const char *(*env)(const char *name), const char *prefix)
{
        struct spark_home home = {0};
        _cleanup_(option_words_deinit) struct option_words jars = {0};
        char *found = NULL;
        if (spark_home_find(&home, env, NULL) == 0 && home.jars && spark_home_list(home.jars, &jars) == 0)
                for (size_t i = 0; i < jars.len && !found; i++) {
                        const char *slash = strrchr(jars.data[i], '/'), *name = slash ? slash + 1 : jars.data[i];
                        if (strncmp(name, prefix, strlen(prefix)) == 0)
                                found = mem_strdup(jars.data[i]);
                }
        spark_home_deinit(&home);
        return found;
}

bool spark_is_without_hadoop(const char *(*env)(const char *name))
{
        _cleanup_(strmap_deinit) struct strmap values = STRMAP_INIT;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *jar = spark_jar_find(env, "spark-yarn_");
        const char *name = "org/apache/spark/deploy/yarn/config.properties";
        if (!jar || zip_file_read(jar, name, 1 << 16, &text, NULL) < 0 ||
            properties_parse(&values, name, buf_text(&text), text.len, NULL) < 0)
                return false;
        const char *provided = strmap_get(&values, "spark.yarn.isHadoopProvided");
        return provided && strcmp(provided, "true") == 0;
}

/* Loads Hadoop's defaults, of which each jar has some. */
static int conf_archive_load_defaults(const struct conf_archive *a, struct hadoop_conf *conf, struct fst_error *error)
{
        static const char *const files[] = {"core-default.xml", "mapred-default.xml", "yarn-default.xml",
                                            "hdfs-default.xml"};
        _cleanup_free_ char *jar = spark_jar_find(a->env, "hadoop-client-api-");
        int r = 0;
        for (size_t i = 0; jar && r == 0 && i < ARRAY_SIZE(files); i++) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                r = zip_file_read(jar, files[i], MAX_DEFAULTS, &text, error);
                if (r == -ENOENT)
                        r = 0;
                else if (r == 0)
                        r = hadoop_conf_parse(conf, buf_text(&text), text.len, files[i], error);
        }
        return r;
}

static void conf_archive_put_xml(struct buf *out, const char *text)
{
        for (;;) {
                const size_t plain = strcspn(text, "&<>\r");
                buf_append(out, text, plain);
                text += plain;
                if (!*text)
                        return;
                buf_puts(out, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&#13;");
                text++;
        }
}

/* Hadoop's configuration as an XML file, without the keys that begin with @without (NULL: with all). */
static void conf_archive_put_values(struct buf *text, const struct hadoop_conf *conf, const char *without)
{
        buf_puts(text, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n");
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->values, e));) {
                if (without && strncmp(e->key, without, strlen(without)) == 0)
                        continue;
                buf_puts(text, "<property><name>");
                conf_archive_put_xml(text, e->key);
                buf_puts(text, "</name><value>");
                conf_archive_put_xml(text, e->value);
                buf_puts(text, strmap_get(&conf->final, e->key) ? "</value><final>true</final></property>\n"
                                                                : "</value><final>false</final></property>\n");
        }
        buf_puts(text, "</configuration>\n");
}

/* Values that Spark sets unless they are in its own configuration. */
static void conf_archive_set_spark_values(const struct conf_archive *a, struct hadoop_conf *conf)
{
        const char *buffer = strmap_get(a->spark, "spark.buffer.size");
        _cleanup_free_ char *fs = hadoop_conf_get(conf, "fs.defaultFS");
        if (!strmap_get(a->spark, "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version"))
                hadoop_conf_set(conf, "mapreduce.fileoutputcommitter.algorithm.version", "1");
        if (!strmap_get(a->spark, "spark.hadoop.fs.s3a.downgrade.syncable.exceptions"))
                hadoop_conf_set(conf, "fs.s3a.downgrade.syncable.exceptions", "true");
        hadoop_conf_set(conf, "io.file.buffer.size", buffer ? buffer : "65536");
        /* Hadoop's own client of HDFS leaves this behind. */
        if (fs && strncmp(fs, "hdfs:", 5) == 0)
                hadoop_conf_set(conf, "rpc.engine.org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB",
                                "org.apache.hadoop.ipc.ProtobufRpcEngine2");
}

static int conf_archive_add_hadoop_conf(const struct conf_archive *a, const struct conf_target *to,
                                        struct fst_error *error)
{
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        hadoop_conf_init(&conf, a->env);
        int r = conf_archive_load_defaults(a, &conf, error);
        if (r == 0)
                r = hadoop_conf_load_yarn(&conf, a->spark, error);
        if (r < 0)
                return r;
        conf_archive_set_spark_values(a, &conf);
        conf_archive_put_values(&text, &conf, NULL);
        return conf_target_add(to, HADOOP_FILE, text.data, text.len, error);
}

/* ----------------------------------------------------------------------------------------------------- properties */

static int conf_archive_add_properties(const struct conf_target *to, const char *name, const struct strmap *values,
                                       const struct strmap *overrides, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap all = STRMAP_INIT;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        char date[64];
        struct tm now;
        const time_t seconds = time(NULL);
        strmap_merge(&all, values);
        if (overrides)
                strmap_merge(&all, overrides);
        strftime(date, sizeof(date), "%a %b %d %H:%M:%S %Z %Y", localtime_r(&seconds, &now));
        buf_printf(&text, "#Spark configuration.\n#%s\n", date);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&all, e));)
                properties_store(&text, e->key, e->value);
        return conf_target_add(to, name, text.data, text.len, error);
}

int conf_archive_write(const struct conf_archive *a, struct buf *out, struct fst_error *error)
{
        _cleanup_(zip_writer_deinit) struct zip_writer zip;
        const struct conf_target to = {conf_archive_add_to_zip, &zip};
        zip_writer_init(&zip, conf_archive_append, out);
        int r = conf_archive_add_settings(a, &to, error);
        if (r == 0)
                r = conf_archive_add_hadoop_files(a, &to, error);
        if (r == 0)
                r = conf_archive_add_hadoop_conf(a, &to, error);
        if (r == 0)
                r = conf_archive_add_properties(&to, YARN_CONF_FILE, a->spark, a->overrides, error);
        if (r == 0)
                r = conf_archive_add_properties(&to, YARN_CACHE_FILE, a->cache, NULL, error);
        return r == 0 ? zip_writer_finish(&zip, error) : r;
}

int conf_archive_list(const struct conf_archive *a, const struct hadoop_conf *hadoop, conf_archive_sink *add,
                      void *context, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        const struct conf_target to = {add, context};
        conf_archive_put_values(&text, hadoop, OWN_HADOOP_KEYS);
        int r = conf_archive_add_settings(a, &to, error);
        if (r == 0)
                r = conf_target_add(&to, YARN_HADOOP_CONF "/core-site.xml", text.data, text.len, error);
        if (r == 0)
                r = conf_archive_add_properties(&to, YARN_CONF_FILE, a->spark, a->overrides, error);
        return r == 0 ? conf_archive_add_properties(&to, YARN_CACHE_FILE, a->cache, NULL, error) : r;
}
