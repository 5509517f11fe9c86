/*
 * Hadoop's configuration: XML files, variables, and what Spark adds to it.
 *
 *      _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
 *      hadoop_conf_init(&conf, env);
 *      r = hadoop_conf_load(&conf, spark_conf, error);
 *      _cleanup_free_ char *fs = hadoop_conf_get(&conf, "fs.defaultFS");
 *
 * A file is <configuration> with <property><name/><value/><final/></property>, also as attributes of property, and
 * <include href="…"/>. Later values replace earlier ones, unless those were final. Older names of keys mean the newer
 * ones. Keys without value are not there: no defaults are known here.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>

struct fst_error;

#define HADOOP_CONF_MAX_FILE (16 << 20)

struct hadoop_conf {
        struct strmap values;
        struct strmap final; /* keys that files may not change any more */
        const char *(*env)(const char *name);
};

void hadoop_conf_init(struct hadoop_conf *conf, const char *(*env)(const char *name));
void hadoop_conf_deinit(struct hadoop_conf *conf);

/*
 * All that Spark's newConfiguration gathers: core-site.xml and hdfs-site.xml, each from the first of SPARK_CONF_DIR
 * (else SPARK_HOME/conf), HADOOP_CONF_DIR and YARN_CONF_DIR that has it, the order of Spark's class path; AWS_* of the
 * environment; spark.hadoop.* of @spark (may be NULL), which also replace what is final. -EINVAL with @error for a file
 * that is damaged, -errno for one that cannot be read.
 */
int hadoop_conf_load(struct hadoop_conf *conf, const struct strmap *spark, struct fst_error *error);

/* The text of one file; @name is for messages, and includes are looked for beside it (NULL: none are). */
int hadoop_conf_parse(struct hadoop_conf *conf, const char *text, size_t len, const char *name,
                      struct fst_error *error);

/* Set, replacing whatever files said. */
void hadoop_conf_set(struct hadoop_conf *conf, const char *key, const char *value);

/*
 * The value of @key, owned by the caller, or NULL. ${name} in it is the value of that key, user.name, user.home or
 * java.io.tmpdir; ${env.X}, ${env.X:-text} and ${env.X-text} are of the environment. What is unknown stays as it is.
 */
char *hadoop_conf_get(const struct hadoop_conf *conf, const char *key);

/* "true" or "false", whatever case and blanks around; @otherwise for all else. */
bool hadoop_conf_flag(const struct hadoop_conf *conf, const char *key, bool otherwise);

/* The key that says who the user is: what a driver tells its executors, which may run under another account. */
#define HADOOP_CONF_USER "firesteel.hadoop.user"

/* Who the user is for Hadoop: HADOOP_CONF_USER, HADOOP_USER_NAME, else the account's name. The caller owns it. */
char *hadoop_conf_user(const struct hadoop_conf *conf);
