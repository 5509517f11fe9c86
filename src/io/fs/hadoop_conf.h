/*
 * Hadoop's configuration: XML files, variables, and Spark's additions.
 *
 *      _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
 *      hadoop_conf_init(&conf, env);
 *      r = hadoop_conf_load(&conf, spark_conf, error);
 *      _cleanup_free_ char *fs = hadoop_conf_get(&conf, "fs.defaultFS");
 *
 * The root of a file is <configuration> with <property><name/><value/><final/></property>, also as attributes of
 * property, and <include href="…"/>. Later values replace earlier ones unless these are final. Deprecated keys stand
 * for the newer ones. Keys without a value are missing. This file has no defaults.
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
 * Loads everything that Spark's newConfiguration loads: core-site.xml and hdfs-site.xml, each from the first of
 * SPARK_CONF_DIR (otherwise SPARK_HOME/conf), HADOOP_CONF_DIR and YARN_CONF_DIR that has it (Spark's class path order);
 * AWS_* of the environment; and spark.hadoop.* of @spark (may be NULL), which also replace final values. Returns
 * -EINVAL with @error for an invalid file, -errno for one that cannot be read.
 */
int hadoop_conf_load(struct hadoop_conf *conf, const struct strmap *spark, struct fst_error *error);

/* As hadoop_conf_load, with mapred-site.xml, yarn-site.xml and resource-types.xml after the other files. */
int hadoop_conf_load_yarn(struct hadoop_conf *conf, const struct strmap *spark, struct fst_error *error);

/* For tests: parses the text of a file. @name is used for messages and to find included files beside it (NULL: includes
 * are ignored). */
int hadoop_conf_parse(struct hadoop_conf *conf, const char *text, size_t len, const char *name,
                      struct fst_error *error);

/* Sets a value and replaces one from a file. */
void hadoop_conf_set(struct hadoop_conf *conf, const char *key, const char *value);

/*
 * Returns the value of @key, owned by the caller, or NULL. Replaces ${name} by the value of that key, user.name,
 * user.home or java.io.tmpdir, and ${env.X}, ${env.X:-text} and ${env.X-text} from the environment. Unknown variables
 * stay unchanged.
 */
char *hadoop_conf_get(const struct hadoop_conf *conf, const char *key);

/* True for "true" and false for "false", in any case and with blanks around; otherwise @otherwise. */
bool hadoop_conf_flag(const struct hadoop_conf *conf, const char *key, bool otherwise);

/* hadoop.security.authentication is "kerberos". */
bool hadoop_conf_is_secure(const struct hadoop_conf *conf);

/* The key with the user's name: the driver sends it to executors, which may run under another account. */
#define HADOOP_CONF_USER "firesteel.hadoop.user"
/* The key with the user to act for (--proxy-user). */
#define HADOOP_CONF_PROXY_USER "firesteel.hadoop.proxy.user"

/*
 * Hadoop's user: the one to act for, else hadoop_conf_real_user. The caller owns it.
 */
char *hadoop_conf_user(const struct hadoop_conf *conf);

/*
 * The user that is proved: HADOOP_CONF_USER; in a container of YARN SPARK_USER; with Kerberos the short name of the
 * ticket's principal; without it HADOOP_USER_NAME; else the account's name. The caller owns it.
 */
char *hadoop_conf_real_user(const struct hadoop_conf *conf);

/* HADOOP_CONF_PROXY_USER, or NULL. The caller owns it. */
char *hadoop_conf_proxy_user(const struct hadoop_conf *conf);
