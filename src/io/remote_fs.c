/* See remote_fs.h: which of the two a path belongs to. */
#include "io/remote_fs.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/paths.h"
#include "io/remote_fs_internal.h"

#include <stddef.h>

static bool is_hdfs(const char *path)
{
        return strncmp(path, "hdfs:", 5) == 0 || strncmp(path, "webhdfs:", 8) == 0 ||
               strncmp(path, "swebhdfs:", 9) == 0;
}

static bool is_s3(const char *path)
{
        return strncmp(path, "s3a:", 4) == 0 || strncmp(path, "s3:", 3) == 0 || strncmp(path, "s3n:", 4) == 0;
}

static int hdfs_stat(const struct file_system *fs, const char *path, struct file_status *status,
                     struct fst_error *error)
{
        return webhdfs_stat((struct remote_fs *)container_of(fs, struct remote_fs, hdfs), path, status, error);
}

static int hdfs_list(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error)
{
        return webhdfs_list((struct remote_fs *)container_of(fs, struct remote_fs, hdfs), path, list, error);
}

static int s3_stat(const struct file_system *fs, const char *path, struct file_status *status, struct fst_error *error)
{
        return s3a_stat((struct remote_fs *)container_of(fs, struct remote_fs, s3a), path, status, error);
}

static int s3_list(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error)
{
        return s3a_list((struct remote_fs *)container_of(fs, struct remote_fs, s3a), path, list, error);
}

int remote_fs_new(const struct hadoop_conf *conf, struct remote_fs **out, struct fst_error *error)
{
        struct http_client *http;
        int r = http_client_new(&http, error);
        if (r < 0)
                return r;
        struct remote_fs *fs = new0(struct remote_fs);
        fs->conf = conf;
        fs->http = http;
        fs->hdfs = (struct file_system){.scheme = "hdfs", .stat = hdfs_stat, .list = hdfs_list};
        fs->s3a = (struct file_system){.scheme = "s3a", .stat = s3_stat, .list = s3_list};
        *out = fs;
        return 0;
}

void remote_fs_free(struct remote_fs *r)
{
        if (!r)
                return;
        http_client_free(r->http);
        http_answer_deinit(&r->answer);
        free(r);
}

struct http_client *remote_fs_client(struct remote_fs *r)
{
        return r->http;
}

void url_list_deinit(struct url_list *urls)
{
        for (size_t i = 0; i < urls->len; i++)
                free(urls->data[i]);
        vec_deinit(urls);
}

char *remote_authority(const char *path)
{
        const char *rest = path + path_scheme_len(path) + 1;
        return rest[0] == '/' && rest[1] == '/' ? mem_strndup(rest + 2, strcspn(rest + 2, "/")) : mem_strdup("");
}

int remote_fs_of(struct remote_fs *r, const char *path, const struct file_system **fs, struct fst_error *error)
{
        if (is_hdfs(path))
                *fs = &r->hdfs;
        else if (is_s3(path))
                *fs = &r->s3a;
        else
                return error_set(error, -EPROTONOSUPPORT, "No FileSystem for scheme \"%.*s\"",
                                 (int)path_scheme_len(path), path);
        return 0;
}

int remote_fs_fetch(struct remote_fs *r, const char *path, int (*sink)(void *context, const char *data, size_t n),
                    void *context, struct fst_error *error)
{
        const struct file_system *fs;
        int result = remote_fs_of(r, path, &fs, error);
        if (result < 0)
                return result;
        return fs == &r->hdfs ? webhdfs_fetch(r, path, sink, context, error) : s3a_fetch(r, path, sink, context, error);
}
