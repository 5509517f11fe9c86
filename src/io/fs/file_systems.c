/* See file_systems.h. Applications form a stack: a process has one at a time, but a test may start a second before the
 * first has stopped. */
#include "io/fs/file_systems.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "conf/conf.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/local_fs.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SPARK_PREFIX "spark.hadoop."
#define DEFAULT_FS_KEY "fs.defaultFS"

struct hadoop_application {
        struct hadoop_application *older;
        const void *owner;
        struct strmap spark; /* spark.hadoop.* */
        bool loaded;         /* conf has been read */
        struct hadoop_conf conf;
        struct remote_fs *remote; /* created for the first path that needs it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hadoop_application *current; /* guarded by `lock` */

void file_systems_use(const void *owner, const struct strmap *spark)
{
        struct hadoop_application *a = new0(struct hadoop_application);
        a->owner = owner;
        for (struct strmap_entry *e = NULL; (e = strmap_next(spark, e));)
                if (strncmp(e->key, SPARK_PREFIX, strlen(SPARK_PREFIX)) == 0)
                        strmap_set(&a->spark, e->key, e->value);
        pthread_mutex_lock(&lock);
        a->older = current;
        current = a;
        pthread_mutex_unlock(&lock);
}

void file_systems_leave(const void *owner)
{
        pthread_mutex_lock(&lock);
        struct hadoop_application **at = &current;
        while (*at && (*at)->owner != owner)
                at = &(*at)->older;
        struct hadoop_application *a = *at;
        if (a)
                *at = a->older;
        pthread_mutex_unlock(&lock);
        if (!a)
                return;
        remote_fs_free(a->remote);
        if (a->loaded)
                hadoop_conf_deinit(&a->conf);
        strmap_deinit(&a->spark);
        free(a);
}

/* Loads the application's configuration if it is not loaded. The caller holds the lock. */
static int application_load_conf(struct hadoop_application *a, struct fst_error *error)
{
        struct hadoop_conf conf = {0};
        if (a->loaded)
                return 0;
        hadoop_conf_init(&conf, conf_environment);
        int r = hadoop_conf_load(&conf, &a->spark, error);
        if (r < 0) {
                hadoop_conf_deinit(&conf);
                return r;
        }
        a->conf = conf;
        a->loaded = true;
        return 0;
}

/* The caller holds the lock. */
static int application_remote_fs(struct hadoop_application *a, const char *path, const struct file_system **fs,
                                 struct fst_error *error)
{
        int r = application_load_conf(a, error);
        if (r == 0 && !a->remote)
                r = remote_fs_new(&a->conf, &a->remote, error);
        return r < 0 ? r : remote_fs_of(a->remote, path, fs, error);
}

int file_system_of(const char *path, const struct file_system **fs, struct fst_error *error)
{
        size_t n = path_scheme_len(path);
        if (n == strlen(local_fs.scheme) && memcmp(path, local_fs.scheme, n) == 0) {
                *fs = &local_fs;
                return 0;
        }
        pthread_mutex_lock(&lock);
        bool known = current && remote_fs_knows(path);
        int r = known ? application_remote_fs(current, path, fs, error) : 0;
        const char *schemes = current ? "file, hdfs, webhdfs, swebhdfs, s3a, s3, s3n" : "file";
        pthread_mutex_unlock(&lock);
        if (!known)
                return error_set(error, -EPROTONOSUPPORT,
                                 "No FileSystem for scheme \"%.*s\" (of %s); known schemes: %s", (int)n, path, path,
                                 schemes);
        return r < 0 ? error_wrap(error, r, "%s", path) : 0;
}

/* The root "hdfs://depot" of fs.defaultFS, owned by the caller, or NULL if it is local. *@home is the user's home
 * there. */
static int file_systems_default(char **root, char **home, struct fst_error *error)
{
        *root = *home = NULL;
        pthread_mutex_lock(&lock);
        int r = current ? application_load_conf(current, error) : 0;
        char *default_uri = r == 0 && current ? hadoop_conf_get(&current->conf, DEFAULT_FS_KEY) : NULL;
        _cleanup_free_ char *user = default_uri ? hadoop_conf_user(&current->conf) : NULL;
        pthread_mutex_unlock(&lock);
        size_t n = default_uri ? path_scheme_len(default_uri) : 0;
        if (n == 0 || (n == 4 && memcmp(default_uri, "file", 4) == 0)) {
                free(default_uri);
                return r;
        }
        const char *authority = default_uri[n + 1] == '/' && default_uri[n + 2] == '/' ? default_uri + n + 3 : "";
        *root = mem_printf("%.*s://%.*s", (int)n, default_uri, (int)strcspn(authority, "/"), authority);
        *home = mem_printf("/user/%s", user);
        free(default_uri);
        return 0;
}

int file_system_resolve(const char *text, char **path, const struct file_system **fs, struct fst_error *error)
{
        _cleanup_free_ char *full = NULL, *root = NULL, *home = NULL, *named = NULL;
        const struct file_system *found = NULL;
        size_t n = path_scheme_len(text);
        bool no_host = n > 0 && text[n + 1] == '/' && (text[n + 2] != '/' || text[n + 3] == '/');
        int r = 0;
        if (*text && *text != ':' && (n == 0 || (no_host && remote_fs_knows(text))))
                r = file_systems_default(&root, &home, error);
        if (root && n == 0)
                named = *text == '/' ? mem_printf("%s%s", root, text) : mem_printf("%s%s/%s", root, home, text);
        else if (root && strncmp(root, text, n + 1) == 0)
                named = mem_printf("%s%s", root, text + n + 1 + strspn(text + n + 1, "/") - 1);
        if (r == 0)
                r = path_resolve(named ? named : text, &full, error);
        if (r == 0)
                r = file_system_of(full, &found, error);
        if (r < 0)
                return r;
        *path = steal(full);
        *fs = found;
        return 0;
}

int file_systems_describe(struct strmap *out, struct fst_error *error)
{
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
        hadoop_conf_init(&conf, conf_environment);
        int r = hadoop_conf_load(&conf, NULL, error);
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&conf.values, e));) {
                _cleanup_free_ char *key = mem_printf(SPARK_PREFIX "%s", e->key);
                _cleanup_free_ char *value = hadoop_conf_get(&conf, e->key);
                if (value)
                        strmap_set_if_missing(out, key, value);
        }
        _cleanup_free_ char *user = hadoop_conf_user(&conf);
        if (r == 0)
                strmap_set_if_missing(out, SPARK_PREFIX HADOOP_CONF_USER, user);
        return r;
}
