/* See remote_fs.h. Chooses WebHDFS or S3 for a path and provides a client for each operation. Idle clients are kept, so
 * there are as many connections as there were operations at the same time. */
#include "io/fs/remote_fs.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs_internal.h"

#include <pthread.h>
#include <stddef.h>

#define READ_AHEAD ((size_t)4 << 20)
#define READ_BEYOND ((size_t)64 << 10) /* bytes to read beyond `wanted` */

struct remote_fs {
        struct file_system hdfs, s3a; /* file_system pointers lead back to this struct */
        const struct hadoop_conf *conf;
        struct http_client *http; /* for remote_fs_client */
        pthread_mutex_t lock;
        struct remote_call *spare; /* guarded by `lock` */
};

static bool path_is_hdfs(const char *path)
{
        return strncmp(path, "hdfs:", 5) == 0 || strncmp(path, "webhdfs:", 8) == 0 ||
               strncmp(path, "swebhdfs:", 9) == 0;
}

static bool path_is_s3(const char *path)
{
        return strncmp(path, "s3a:", 4) == 0 || strncmp(path, "s3:", 3) == 0 || strncmp(path, "s3n:", 4) == 0;
}

bool remote_fs_knows(const char *path)
{
        return path_is_hdfs(path) || path_is_s3(path);
}

int remote_call_begin(struct remote_fs *fs, struct remote_call **out, struct fst_error *error)
{
        struct http_client *http = NULL;
        pthread_mutex_lock(&fs->lock);
        struct remote_call *call = fs->spare;
        if (call)
                fs->spare = call->next;
        pthread_mutex_unlock(&fs->lock);
        if (!call) {
                int r = http_client_new(&http, error);
                if (r < 0)
                        return r;
                call = new0(struct remote_call);
                *call = (struct remote_call){.fs = fs, .conf = fs->conf, .http = http};
        }
        *out = call;
        return 0;
}

void remote_call_end(struct remote_call **call)
{
        struct remote_call *c = *call;
        if (!c)
                return;
        http_answer_deinit(&c->answer);
        pthread_mutex_lock(&c->fs->lock);
        c->next = c->fs->spare;
        c->fs->spare = c;
        pthread_mutex_unlock(&c->fs->lock);
        *call = NULL;
}

/* ------------------------------------------------------------------------------------------- file_system operations */

static struct remote_fs *remote_fs_owner(const struct file_system *fs)
{
        return *fs->scheme == 'h' ? (struct remote_fs *)container_of(fs, struct remote_fs, hdfs)
                                  : (struct remote_fs *)container_of(fs, struct remote_fs, s3a);
}

#define WITH_CALL(r, fs, call)                                                                                         \
        _cleanup_(remote_call_end) struct remote_call *call = NULL;                                                    \
        int r = remote_call_begin(remote_fs_owner(fs), &call, error);                                                  \
        if (r != 0)                                                                                                    \
        return r

static bool remote_file_is_written(const struct open_file *file)
{
        const struct remote_file *state = file->state;
        return state && state->written;
}

/* Makes an open file for reading, which owns @call. */
static void remote_file_adopt(const struct file_system *fs, const char *path, uint64_t size, struct remote_call *call,
                              struct open_file *file)
{
        struct remote_file *state = new0(struct remote_file);
        state->call = call;
        *file = (struct open_file){.fs = fs, .path = (char *)path, .size = size, .fd = -1, .state = state};
}

static int remote_file_open_for_reading(const struct file_system *fs, const char *path,
                                        int (*stat)(struct remote_call *, const char *, struct file_status *,
                                                    struct fst_error *),
                                        struct open_file *file, struct fst_error *error)
{
        struct file_status status = {0};
        WITH_CALL(r, fs, call);
        r = stat(call, path, &status, error);
        if (r < 0)
                return r;
        bool directory = status.directory;
        uint64_t size = status.size;
        file_status_deinit(&status);
        if (directory)
                return error_set(error, -EISDIR, "%s is a directory", path);
        remote_file_adopt(fs, path, size, steal(call), file);
        return 0;
}

static int remote_fs_open_sized(const struct file_system *fs, const char *path, uint64_t size, struct open_file *file,
                                struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        remote_file_adopt(fs, path, size, steal(call), file);
        return 0;
}

typedef ssize_t range_fn(struct remote_call *call, const char *path, void *data, size_t size, uint64_t offset,
                         struct fst_error *error);

/* Requests the bytes at @offset and some more. A reader that seeks gets little more than it requested. */
static ssize_t remote_file_read_ahead(struct open_file *file, range_fn *read, size_t size, uint64_t offset,
                                      struct fst_error *error)
{
        struct remote_file *state = file->state;
        bool goes_on = !state->ahead || offset == state->offset + state->filled;
        uint64_t wanted = file->wanted > offset ? file->wanted - offset : READ_BEYOND;
        size_t most = goes_on ? (size_t)MIN(wanted, (uint64_t)READ_AHEAD) : READ_BEYOND;
        most = (size_t)MIN((uint64_t)MAX(most, size), file->size - offset);
        if (most > state->room) {
                char *grown = realloc(state->ahead, most);
                if (!grown)
                        return error_set(error, -ENOMEM, "%s: no memory to read %zu bytes at a time", file->path, most);
                state->ahead = grown;
                state->room = most;
        }
        state->filled = 0;
        ssize_t n = read(state->call, file->path, state->ahead, most, offset, error);
        if (n < 0)
                return n;
        state->offset = offset;
        state->filled = (size_t)n;
        return n;
}

static ssize_t remote_fs_read_range(struct open_file *file, range_fn *read, void *data, size_t size, uint64_t offset,
                                    struct fst_error *error)
{
        struct remote_file *state = file->state;
        if (size == 0 || offset >= file->size)
                return 0;
        const bool buffered = offset >= state->offset && offset < state->offset + state->filled;
        const bool whole = offset + size == file->wanted; /* nothing to read ahead */
        if (size >= READ_AHEAD || (whole && !buffered))
                return read(state->call, file->path, data, (size_t)MIN((uint64_t)size, file->size - offset), offset,
                            error);
        if (!buffered) {
                ssize_t n = remote_file_read_ahead(file, read, size, offset, error);
                if (n <= 0)
                        return n;
        }
        size_t from = (size_t)(offset - state->offset), n = MIN(size, state->filled - from);
        memcpy(data, state->ahead + from, n);
        return (ssize_t)n;
}

static int remote_file_close_reader(struct open_file *file)
{
        struct remote_file *state = file->state;
        *file = OPEN_FILE_INIT;
        if (state) {
                remote_call_end(&state->call);
                free(state->ahead);
        }
        free(state);
        return 0;
}

int remote_range_put(void *context, const char *data, size_t n)
{
        struct remote_range *range = context;
        if (n > range->size - range->filled)
                return -EPROTO;
        memcpy(range->data + range->filled, data, n);
        range->filled += n;
        return 0;
}

static int hdfs_stat(const struct file_system *fs, const char *path, struct file_status *status,
                     struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_stat(call, path, status, error);
}

static int hdfs_list(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_list(call, path, list, error);
}

static int hdfs_mkdirs(const struct file_system *fs, const char *path, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_mkdirs(call, path, error);
}

static int hdfs_set_permission(const struct file_system *fs, const char *path, unsigned permission,
                               struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_set_permission(call, path, permission, error);
}

static int hdfs_set_replication(const struct file_system *fs, const char *path, int copies, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_set_replication(call, path, copies, error);
}

static int hdfs_rename(const struct file_system *fs, const char *from, const char *to, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_rename(call, from, to, error);
}

static int hdfs_remove(const struct file_system *fs, const char *path, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_remove(call, path, error);
}

static int hdfs_open_for_writing(const struct file_system *fs, const char *path, bool overwrite, struct open_file *file,
                                 struct fst_error *error)
{
        struct open_file made = {.fs = fs, .path = (char *)path, .fd = -1};
        WITH_CALL(r, fs, call);
        r = webhdfs_create(call, path, overwrite, &made, error);
        if (r == 0) {
                call = NULL; /* the file owns it now */
                *file = made;
        }
        return r;
}

static int hdfs_create(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        return hdfs_open_for_writing(fs, path, true, file, error);
}

static int hdfs_put_new(const struct file_system *fs, const char *path, const void *data, size_t size,
                        struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = hdfs_open_for_writing(fs, path, false, &file, error);
        if (r == 0)
                webhdfs_write(&file, data, size, NULL); /* close reports a failure */
        return r == 0 ? webhdfs_close(&file, true, error) : r;
}

static int hdfs_hosts(const struct file_system *fs, const char *path, struct block_list *list, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return webhdfs_hosts(call, path, list, error);
}

static int hdfs_open(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        return remote_file_open_for_reading(fs, path, webhdfs_stat, file, error);
}

static ssize_t hdfs_read_at(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error)
{
        return remote_fs_read_range(file, webhdfs_read, data, size, offset, error);
}

static int hdfs_close(struct open_file *file, struct fst_error *error)
{
        return remote_file_is_written(file) ? webhdfs_close(file, true, error) : remote_file_close_reader(file);
}

static void hdfs_discard(struct open_file *file)
{
        if (remote_file_is_written(file))
                webhdfs_close(file, false, NULL);
        else
                remote_file_close_reader(file);
}

/* Objects have no permissions; Hadoop shows these. */
#define S3_PERMISSION(status) ((status)->directory ? 0777u : 0666u)

static int s3_stat(const struct file_system *fs, const char *path, struct file_status *status, struct fst_error *error)
{
        uint64_t block;
        WITH_CALL(r, fs, call);
        r = s3a_block_size(call->conf, path, &block, error);
        r = r < 0 ? r : s3a_stat(call, path, status, error);
        if (r < 0)
                return r;
        status->block_size = block;
        status->permission = S3_PERMISSION(status);
        return 0;
}

static int s3_list(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error)
{
        uint64_t block;
        size_t first = list->len;
        WITH_CALL(r, fs, call);
        r = s3a_block_size(call->conf, path, &block, error);
        r = r < 0 ? r : s3a_list(call, path, list, error);
        for (size_t i = first; i < list->len; i++) {
                list->data[i].block_size = block;
                list->data[i].permission = S3_PERMISSION(&list->data[i]);
        }
        return r;
}

static int s3_mkdirs(const struct file_system *fs, const char *path, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return s3a_mkdirs(call, path, error);
}

static int s3_rename(const struct file_system *fs, const char *from, const char *to, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return s3a_rename(call, from, to, error);
}

static int s3_remove(const struct file_system *fs, const char *path, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return s3a_remove(call, path, error);
}

static int s3_put_new(const struct file_system *fs, const char *path, const void *data, size_t size,
                      struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return s3a_put_new(call, path, data, size, error);
}

static int s3_abort_uploads(const struct file_system *fs, const char *path, struct fst_error *error)
{
        WITH_CALL(r, fs, call);
        return s3a_abort_uploads(call, path, error);
}

static int s3_create_sized(const struct file_system *fs, const char *path, bool bulk, struct open_file *file,
                           struct fst_error *error)
{
        struct open_file made = {.fs = fs, .path = (char *)path, .fd = -1};
        WITH_CALL(r, fs, call);
        r = s3a_create(call, path, bulk, &made, error);
        if (r == 0) {
                call = NULL; /* the file owns it now */
                *file = made;
        }
        return r;
}

static int s3_create(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        return s3_create_sized(fs, path, false, file, error);
}

static int s3_create_bulk(const struct file_system *fs, const char *path, struct open_file *file,
                          struct fst_error *error)
{
        return s3_create_sized(fs, path, true, file, error);
}

static int s3_open(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        return remote_file_open_for_reading(fs, path, s3a_stat, file, error);
}

static ssize_t s3_read_at(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error)
{
        return remote_fs_read_range(file, s3a_read, data, size, offset, error);
}

static int s3_close(struct open_file *file, struct fst_error *error)
{
        return remote_file_is_written(file) ? s3a_close(file, true, error) : remote_file_close_reader(file);
}

static void s3_discard(struct open_file *file)
{
        if (remote_file_is_written(file))
                s3a_close(file, false, NULL);
        else
                remote_file_close_reader(file);
}

/* ----------------------------------------------------------------------------------------------------- construction */

int remote_fs_new(const struct hadoop_conf *conf, struct remote_fs **out, struct fst_error *error)
{
        struct http_client *http;
        int r = http_client_new(&http, error);
        if (r < 0)
                return r;
        struct remote_fs *fs = new0(struct remote_fs);
        fs->conf = conf;
        fs->http = http;
        pthread_mutex_init(&fs->lock, NULL);
        fs->hdfs = (struct file_system){
                .scheme = "hdfs",
                .stat = hdfs_stat,
                .list = hdfs_list,
                .open = hdfs_open,
                .open_sized = remote_fs_open_sized,
                .read_at = hdfs_read_at,
                .create = hdfs_create,
                .put_new = hdfs_put_new,
                .write = webhdfs_write,
                .close = hdfs_close,
                .discard = hdfs_discard,
                .mkdirs = hdfs_mkdirs,
                .rename = hdfs_rename,
                .remove = hdfs_remove,
                .hosts = hdfs_hosts,
                .set_permission = hdfs_set_permission,
                .set_replication = hdfs_set_replication,
        };
        fs->s3a = (struct file_system){
                .scheme = "s3a",
                .stat = s3_stat,
                .list = s3_list,
                .open = s3_open,
                .open_sized = remote_fs_open_sized,
                .read_at = s3_read_at,
                .create = s3_create,
                .create_bulk = s3_create_bulk,
                .put_new = s3_put_new,
                .write = s3a_write,
                .write_kept = s3a_write_kept,
                .close = s3_close,
                .discard = s3_discard,
                .mkdirs = s3_mkdirs,
                .rename = s3_rename,
                .remove = s3_remove,
                .abort_uploads = s3_abort_uploads,
        };
        *out = fs;
        return 0;
}

void remote_fs_free(struct remote_fs *r)
{
        if (!r)
                return;
        for (struct remote_call *call; (call = r->spare);) {
                r->spare = call->next;
                http_client_free(call->http);
                free(call);
        }
        http_client_free(r->http);
        pthread_mutex_destroy(&r->lock);
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
        if (path_is_hdfs(path))
                *fs = &r->hdfs;
        else if (path_is_s3(path))
                *fs = &r->s3a;
        else
                return error_set(error, -EPROTONOSUPPORT, "No FileSystem for scheme \"%.*s\"",
                                 (int)path_scheme_len(path), path);
        return 0;
}

int remote_fs_fetch(struct remote_fs *r, const char *path, int (*sink)(void *context, const char *data, size_t n),
                    void *context, struct fst_error *error)
{
        const struct file_system *fs = NULL;
        int result = remote_fs_of(r, path, &fs, error);
        if (!fs)
                return result;
        WITH_CALL(begun, fs, call);
        return *fs->scheme == 'h' ? webhdfs_fetch(call, path, sink, context, error)
                                  : s3a_fetch(call, path, sink, context, error);
}
