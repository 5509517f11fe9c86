/*
 * A cluster as the submissions of this process use it: Hadoop's configuration, read once, with the connections to the
 * ResourceManager and the file systems that follow from it. Submissions with the same configuration and user share one.
 *
 *      r = yarn_cluster_get(&identity, &cluster, error);
 *      r = yarn_cluster_connect(cluster, NULL, &connection, error);
 *      … connection->rm …                                               one thread at a time
 *      yarn_cluster_release(cluster, connection, true);                 kept for the next caller
 *      yarn_cluster_unref(cluster);
 *
 * A cluster is shared for MAX_AGE_MS, and no longer than its XML files keep their time and size, which are read at most
 * once a second. Clusters with Kerberos
 * are not shared, because tickets belong to threads. Any thread may call these functions.
 */
#pragma once

#include "yarn/conf/yarn_conf.h"

struct remote_fs;
struct yarn_cluster;

struct yarn_cluster_identity {
        const struct strmap *spark; /* spark.hadoop.* count */
        const char *(*env)(const char *name);
        const char *proxy_user;   /* NULL: none */
        const char *ticket_cache; /* of the calling thread; NULL: the user's own */
};

/* *@out is a reference. Returns 0, or the error of yarn_conf_load. */
int yarn_cluster_get(const struct yarn_cluster_identity *identity, struct yarn_cluster **out, struct fst_error *error);
struct yarn_cluster *yarn_cluster_ref(struct yarn_cluster *cluster);
void yarn_cluster_unref(struct yarn_cluster *cluster); /* NULL is allowed */

/* Borrowed; they live as long as the reference. */
const struct yarn_conf *yarn_cluster_conf(const struct yarn_cluster *cluster);
const char *yarn_cluster_user(const struct yarn_cluster *cluster);

/* A name for what may be remembered of this cluster's files; NULL if it is not shared. */
const char *yarn_cluster_owner(const struct yarn_cluster *cluster);

/* The remote file systems (io/fs/remote_fs.h), borrowed. Returns 0, or the error of remote_fs_new. */
int yarn_cluster_remote_fs(struct yarn_cluster *cluster, struct remote_fs **out, struct fst_error *error);

/* A client of the ResourceManager on a loop of its own. */
struct yarn_connection {
        struct hadoop_rpc_client *rm;
        uv_loop_t loop;
        struct yarn_connection *next;
};

/* An idle connection or a new one. @token: as for yarn_conf_client. Returns 0, or negative with @error. */
int yarn_cluster_connect(struct yarn_cluster *cluster, const struct hadoop_token *token, struct yarn_connection **out,
                         struct fst_error *error);

/* @keep: no call is pending and it was made without a token, so others may use it; else it is closed. */
void yarn_cluster_release(struct yarn_cluster *cluster, struct yarn_connection *connection, bool keep);

/* Stops sharing the clusters in use, and frees the others. */
void yarn_clusters_forget(void);
