/* See yarn_cluster.h. */
#include "yarn/conf/yarn_cluster.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "hadoop/rpc_client.h"
#include "io/fs/remote_fs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_AGE_MS 60000
#define MAX_SHARED 16
#define LOOK_INTERVAL_MS 1000 /* between two looks at the XML files */

struct yarn_cluster {
        char *key;
        int64_t born;
        struct yarn_conf conf;
        char *user;
        bool is_shared;
        int refs; /* guarded by `shared.lock` */
        pthread_mutex_t lock;
        struct yarn_connection *idle; /* these two are guarded by `lock` */
        struct remote_fs *remote;
};

static struct {
        pthread_mutex_t lock;
        VEC(struct yarn_cluster *) list; /* references */
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---------------------------------------------------------------------------------------------------------- the key */

static void cluster_key_add(struct buf *key, const char *text)
{
        buf_printf(key, "%zu:%s\n", text ? strlen(text) : 0, text ? text : "");
}

static void cluster_key_add_directory(struct buf *key, const char *directory)
{
        static const char *const files[] = {"core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml",
                                            "resource-types.xml"};
        for (size_t i = 0; directory && *directory && i < ARRAY_SIZE(files); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", directory, files[i]);
                struct stat st;
                if (stat(path, &st) == 0)
                        buf_printf(key, "%s %lld %llu %lld.%09ld\n", path, (long long)st.st_size,
                                   (unsigned long long)st.st_ino, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        }
}

/* The files that were looked at last: submissions that follow each other closely do not look again. */
static struct {
        pthread_mutex_t lock;
        char *directories, *files;
        int64_t seen_ns;
} looked_at = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The state of the XML files in @directories; those may be NULL. */
static void cluster_key_add_files(struct buf *key, const char *const *directories, size_t n)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        for (size_t i = 0; i < n; i++)
                cluster_key_add(&names, directories[i]);
        pthread_mutex_lock(&looked_at.lock);
        const int64_t now = now_ns();
        if (!looked_at.files || now - looked_at.seen_ns >= ms_to_ns(LOOK_INTERVAL_MS) ||
            strcmp(looked_at.directories, buf_text(&names)) != 0) {
                struct buf files = BUF_INIT;
                for (size_t i = 0; i < n; i++)
                        cluster_key_add_directory(&files, directories[i]);
                free(looked_at.directories);
                free(looked_at.files);
                looked_at.directories = buf_steal(&names);
                looked_at.files = buf_steal(&files);
                looked_at.seen_ns = now;
        }
        buf_puts(key, looked_at.files);
        pthread_mutex_unlock(&looked_at.lock);
}

/* All that the configuration, the user and the connections depend on. The caller owns it. */
static char *cluster_key(const struct yarn_cluster_identity *q)
{
        static const char *const variables[] = {"HADOOP_CONF_DIR",
                                                "YARN_CONF_DIR",
                                                "SPARK_CONF_DIR",
                                                "SPARK_HOME",
                                                "HADOOP_USER_NAME",
                                                "CONTAINER_ID",
                                                "SPARK_USER",
                                                "USER",
                                                "HOME",
                                                "AWS_ACCESS_KEY_ID",
                                                "AWS_SECRET_ACCESS_KEY",
                                                "AWS_SESSION_TOKEN",
                                                "AWS_ENDPOINT_URL"};
        struct buf key = BUF_INIT;
        const char *home = q->env("SPARK_HOME");
        _cleanup_free_ char *at_home = home ? mem_printf("%s/conf", home) : NULL;
        cluster_key_add(&key, q->proxy_user);
        cluster_key_add(&key, q->ticket_cache);
        for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
                cluster_key_add(&key, q->env(variables[i]));
        const char *const directories[] = {q->env("SPARK_CONF_DIR"), at_home, q->env("HADOOP_CONF_DIR"),
                                           q->env("YARN_CONF_DIR")};
        cluster_key_add_files(&key, directories, ARRAY_SIZE(directories));
        for (struct strmap_entry *e = NULL; q->spark && (e = strmap_next(q->spark, e));)
                if (strncmp(e->key, "spark.hadoop.", strlen("spark.hadoop.")) == 0) {
                        cluster_key_add(&key, e->key);
                        cluster_key_add(&key, e->value);
                }
        return buf_steal(&key);
}

/* --------------------------------------------------------------------------------------------------------- lifetime */

static void yarn_connection_free(struct yarn_connection *connection)
{
        hadoop_rpc_client_free(connection->rm);
        uv_run(&connection->loop, UV_RUN_DEFAULT);
        uv_loop_close(&connection->loop);
        free(connection);
}

static void yarn_cluster_free(struct yarn_cluster *c)
{
        for (struct yarn_connection *next; c->idle; c->idle = next) {
                next = c->idle->next;
                yarn_connection_free(c->idle);
        }
        remote_fs_free(c->remote);
        yarn_conf_deinit(&c->conf);
        pthread_mutex_destroy(&c->lock);
        free(c->key);
        free(c->user);
        free(c);
}

struct yarn_cluster *yarn_cluster_ref(struct yarn_cluster *cluster)
{
        pthread_mutex_lock(&shared.lock);
        cluster->refs++;
        pthread_mutex_unlock(&shared.lock);
        return cluster;
}

void yarn_cluster_unref(struct yarn_cluster *cluster)
{
        if (!cluster)
                return;
        pthread_mutex_lock(&shared.lock);
        const bool last = --cluster->refs == 0;
        pthread_mutex_unlock(&shared.lock);
        if (last)
                yarn_cluster_free(cluster);
}

/* Under the lock: takes the cluster at @i from the list, and returns the list's reference. */
static struct yarn_cluster *shared_clusters_take(size_t i)
{
        struct yarn_cluster *c = shared.list.data[i];
        shared.list.data[i] = shared.list.data[--shared.list.len];
        return c;
}

/* A reference to the cluster with this key, or NULL. Drops those that are too old. */
static struct yarn_cluster *shared_clusters_find(const char *key)
{
        struct yarn_cluster *found = NULL, *old[MAX_SHARED];
        size_t n_old = 0;
        pthread_mutex_lock(&shared.lock);
        for (size_t i = shared.list.len; i-- > 0;) {
                struct yarn_cluster *c = shared.list.data[i];
                if (now_ns() - c->born > ms_to_ns(MAX_AGE_MS))
                        old[n_old++] = shared_clusters_take(i);
                else if (strcmp(c->key, key) == 0)
                        found = c;
        }
        if (found)
                found->refs++;
        pthread_mutex_unlock(&shared.lock);
        for (size_t i = 0; i < n_old; i++)
                yarn_cluster_unref(old[i]);
        return found;
}

/* Shares @cluster, unless another thread has shared an equal one; then that one is the result. */
static struct yarn_cluster *shared_clusters_add(struct yarn_cluster *cluster)
{
        struct yarn_cluster *result = cluster, *removed = NULL;
        pthread_mutex_lock(&shared.lock);
        for (size_t i = 0; i < shared.list.len && result == cluster; i++)
                if (strcmp(shared.list.data[i]->key, cluster->key) == 0)
                        result = shared.list.data[i];
        if (result == cluster && shared.list.len >= MAX_SHARED)
                removed = shared_clusters_take(0);
        if (result == cluster)
                vec_push(&shared.list, cluster);
        result->refs++;
        pthread_mutex_unlock(&shared.lock);
        yarn_cluster_unref(removed);
        if (result != cluster)
                yarn_cluster_unref(cluster);
        return result;
}

void yarn_clusters_forget(void)
{
        for (;;) {
                pthread_mutex_lock(&shared.lock);
                struct yarn_cluster *c = shared.list.len ? shared_clusters_take(0) : NULL;
                if (!c)
                        vec_deinit(&shared.list);
                pthread_mutex_unlock(&shared.lock);
                if (!c)
                        return;
                yarn_cluster_unref(c);
        }
}

int yarn_cluster_get(const struct yarn_cluster_identity *identity, struct yarn_cluster **out, struct fst_error *error)
{
        _cleanup_free_ char *key = cluster_key(identity);
        if ((*out = shared_clusters_find(key)))
                return 0;
        struct yarn_cluster *c = new0(struct yarn_cluster);
        const int r = yarn_conf_load(&c->conf, identity->spark, identity->env, error);
        if (r < 0) {
                free(c);
                return r;
        }
        if (identity->proxy_user)
                hadoop_conf_set(&c->conf.hadoop, HADOOP_CONF_PROXY_USER, identity->proxy_user);
        c->user = hadoop_conf_user(&c->conf.hadoop);
        c->key = steal(key);
        c->born = now_ns();
        c->refs = 1;
        c->is_shared = !yarn_conf_is_secure(&c->conf);
        pthread_mutex_init(&c->lock, NULL);
        *out = c->is_shared ? shared_clusters_add(c) : c;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------- its use */

const struct yarn_conf *yarn_cluster_conf(const struct yarn_cluster *cluster)
{
        return &cluster->conf;
}

const char *yarn_cluster_user(const struct yarn_cluster *cluster)
{
        return cluster->user;
}

const char *yarn_cluster_owner(const struct yarn_cluster *cluster)
{
        return cluster->is_shared ? cluster->key : NULL;
}

int yarn_cluster_remote_fs(struct yarn_cluster *cluster, struct remote_fs **out, struct fst_error *error)
{
        pthread_mutex_lock(&cluster->lock);
        const int r = cluster->remote ? 0 : remote_fs_new(&cluster->conf.hadoop, &cluster->remote, error);
        if (r == 0)
                *out = cluster->remote;
        pthread_mutex_unlock(&cluster->lock);
        return r;
}

int yarn_cluster_connect(struct yarn_cluster *cluster, const struct hadoop_token *token, struct yarn_connection **out,
                         struct fst_error *error)
{
        pthread_mutex_lock(&cluster->lock);
        struct yarn_connection *connection = token ? NULL : cluster->idle;
        if (connection)
                cluster->idle = connection->next;
        pthread_mutex_unlock(&cluster->lock);
        if (!connection) {
                connection = new0(struct yarn_connection);
                uv_loop_init(&connection->loop);
                const int r = yarn_conf_client(&cluster->conf, YARN_RM_CLIENT, token, NULL, &connection->loop,
                                               &connection->rm, error);
                if (r < 0) {
                        yarn_connection_free(connection);
                        return r;
                }
        }
        *out = connection;
        return 0;
}

void yarn_cluster_release(struct yarn_cluster *cluster, struct yarn_connection *connection, bool keep)
{
        hadoop_rpc_client_set_stopped(connection->rm, NULL);
        if (!keep) {
                yarn_connection_free(connection);
                return;
        }
        pthread_mutex_lock(&cluster->lock);
        connection->next = cluster->idle;
        cluster->idle = connection;
        pthread_mutex_unlock(&cluster->lock);
}
