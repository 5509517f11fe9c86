/*
 * YARN's configuration (core-site.xml, hdfs-site.xml, yarn-site.xml, spark.hadoop.*): where the ResourceManagers are,
 * and how to prove the user to them.
 *
 *      _cleanup_(yarn_conf_deinit) struct yarn_conf conf = {0};
 *      r = yarn_conf_load(&conf, spark_conf, env, error);
 *      r = yarn_conf_client(&conf, YARN_RM_CLIENT, NULL, loop, &client, error);
 *
 * Defaults are those of Hadoop's yarn-default.xml and core-default.xml.
 */
#pragma once

#include "base/string_list.h"
#include "io/fs/hadoop_conf.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct fst_error;
struct hadoop_rpc_client;
struct hadoop_token;

/* The protocols of a ResourceManager. */
enum yarn_service {
        YARN_RM_CLIENT,    /* ApplicationClientProtocol: yarn.resourcemanager.address, port 8032 */
        YARN_RM_SCHEDULER, /* ApplicationMasterProtocol: yarn.resourcemanager.scheduler.address, port 8030 */
        YARN_RM_WEB,       /* yarn.resourcemanager.webapp.address, port 8088; with yarn.http.policy=HTTPS_ONLY
                            * …webapp.https.address, port 8090; for URLs, not for RPC */
};

struct yarn_conf {
        struct hadoop_conf hadoop;
};

/* @env reads environment variables (getenv). Returns 0, or negative with @error for a file that is damaged or
 * unreadable. */
int yarn_conf_load(struct yarn_conf *conf, const struct strmap *spark, const char *(*env)(const char *name),
                   struct fst_error *error);
void yarn_conf_deinit(struct yarn_conf *conf);

/* The value of @key, or a copy of @otherwise. Owned by the caller. */
char *yarn_conf_get(const struct yarn_conf *conf, const char *key, const char *otherwise);

/* A whole number, or @otherwise if it is not set. -EINVAL with @error naming key and value if it is not a number. */
int yarn_conf_get_int(const struct yarn_conf *conf, const char *key, int64_t otherwise, int64_t *out,
                      struct fst_error *error);

/*
 * Appends "host:port" of each ResourceManager to @out: one, or those of yarn.resourcemanager.ha.rm-ids in their order
 * when yarn.resourcemanager.ha.enabled. Returns 0, or -EINVAL with @error naming the key.
 */
int yarn_conf_addresses(const struct yarn_conf *conf, enum yarn_service service, struct string_list *out,
                        struct fst_error *error);

/* "https://" if yarn.http.policy is HTTPS_ONLY, else "http://": of the pages of ResourceManager and NodeManagers. */
const char *yarn_conf_http_scheme(const struct yarn_conf *conf);

/* hadoop.security.authentication is "kerberos". */
bool yarn_conf_is_secure(const struct yarn_conf *conf);

/*
 * Makes a client of @service. With @token it proves the token; else the Kerberos ticket of the calling thread on a
 * secure cluster, else the user's name (hadoop_conf_real_user). @proxy_user: the user to act for, or NULL for
 * hadoop_conf_proxy_user. With Kerberos the server must have the principal yarn.resourcemanager.principal. Calls wait
 * as long for a ResourceManager as yarn.resourcemanager.connect.max-wait.ms says. Returns 0, or negative with @error.
 */
int yarn_conf_client(const struct yarn_conf *conf, enum yarn_service service, const struct hadoop_token *token,
                     const char *proxy_user, uv_loop_t *loop, struct hadoop_rpc_client **out, struct fst_error *error);
