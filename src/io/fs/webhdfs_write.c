/* Writes HDFS over WebHDFS: CREATE, MKDIRS, RENAME and DELETE. The namenode names a datanode for a new file, which
 * receives the bytes. The delegation token for it is part of the URL that the namenode sends. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs_internal.h"
#include "io/fs/uri.h"
#include "net/http/http_upload.h"
#include "text/percent.h"

#include <jansson.h>

struct hdfs_file {
        struct remote_file file; /* first member */
        char *url;               /* URL at the datanode */
        struct http_upload *upload;
        int failed; /* first error of a write */
};

/* Quotes the redirect URL, because namenodes do not quote all of it. */
static char *webhdfs_write_quoted(const char *location)
{
        struct buf url = BUF_INIT;
        for (const char *p = location; *p; p++)
                if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
                        buf_printf(&url, "%%%02X", (unsigned char)*p);
                else
                        buf_putc(&url, *p);
        return buf_steal(&url);
}

/* True if the URL needs credentials: HttpFS redirects to itself and authenticates again, while a datanode's token is in
 * the query. */
static bool webhdfs_needs_credentials(const struct remote_call *c, const char *url)
{
        return hadoop_conf_is_secure(c->conf) && !strstr(url, "delegation=");
}

static int webhdfs_not_sent(const struct hdfs_file *f, const char *path, int r, struct fst_error *error)
{
        _cleanup_free_ char *where = http_printable_url(f->url);
        return error_wrap(error, r,
                          "%s: cannot send data to the datanode %.*s, which must be reachable from this machine", path,
                          (int)strcspn(strstr(where, "://") + 3, "/"), strstr(where, "://") + 3);
}

static void webhdfs_write_file_free(struct hdfs_file *f)
{
        remote_call_end(&f->file.call);
        free(f->url);
        free(f);
}

int webhdfs_create(struct remote_call *c, const char *path, bool overwrite, struct open_file *file,
                   struct fst_error *error)
{
        const char *operation = overwrite ? "CREATE&overwrite=true" : "CREATE&overwrite=false";
        int r = webhdfs_send(
                c, path, &(struct webhdfs_request){.method = "PUT", .operation = operation, .expected = 307}, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *location = http_answer_header(&c->answer, "Location");
        if (!location || !strstr(location, "://"))
                return error_set(error, -EPROTO, "%s: the namenode's answer has no datanode to write to", path);
        struct hdfs_file *f = new0(struct hdfs_file);
        f->url = webhdfs_write_quoted(location);
        struct http_request request = {.url = f->url, .negotiate = webhdfs_needs_credentials(c, f->url)};
        r = http_upload_begin(c->http, &request, &f->upload, error);
        if (r < 0) {
                r = webhdfs_not_sent(f, path, r, error);
                webhdfs_write_file_free(f);
                return r;
        }
        f->file = (struct remote_file){.written = true, .call = c};
        file->state = f;
        return 0;
}

int webhdfs_write(struct open_file *file, const void *data, size_t size, struct fst_error *error)
{
        struct hdfs_file *f = file->state;
        int r = http_upload_write(f->upload, data, size, error);
        if (r < 0)
                f->failed = r = webhdfs_not_sent(f, file->path, r, error);
        return r;
}

int webhdfs_close(struct open_file *file, bool keep, struct fst_error *error)
{
        struct hdfs_file *f = file->state;
        const char *path = file->path;
        struct remote_call *c = f->file.call;
        bool whole = keep && f->failed == 0;
        *file = OPEN_FILE_INIT;
        int r = http_upload_end(f->upload, whole ? 0 : -ECANCELED, &c->answer, error);
        if (!whole && keep)
                r = error_set(error, f->failed, "%s: an earlier write failed", path);
        else if (keep && r < 0)
                r = webhdfs_not_sent(f, path, r, error);
        else if (keep && c->answer.status != 201)
                r = webhdfs_error(&c->answer, path, "the datanode", error);
        webhdfs_write_file_free(f);
        return keep ? r : 0;
}

/*
 * Sends a request that is answered with {"boolean": …}. Returns 0 or 1, or negative.
 *
 */
static int webhdfs_send_boolean(struct remote_call *c, const char *path, const char *method, const char *operation,
                                struct fst_error *error)
{
        int r = webhdfs_send(c, path, &(struct webhdfs_request){.method = method, .operation = operation}, error);
        if (r < 0)
                return r;
        json_t *root = json_loadb(buf_text(&c->answer.body), c->answer.body.len, 0, NULL);
        json_t *value = json_object_get(root, "boolean");
        r = json_is_boolean(value) ? json_is_true(value)
                                   : error_set(error, -EPROTO, "%s: cannot parse the namenode's answer", path);
        json_decref(root);
        return r;
}

int webhdfs_mkdirs(struct remote_call *c, const char *path, struct fst_error *error)
{
        int r = webhdfs_send_boolean(c, path, "PUT", "MKDIRS", error);
        if (r == -EEXIST || r == -ENOTDIR)
                return error_set(error, -ENOTDIR, "Parent path is not a directory: %s", path);
        return r == 0 ? error_set(error, -EIO, "%s: the namenode did not create this directory", path) : MIN(r, 0);
}

int webhdfs_set_permission(struct remote_call *c, const char *path, unsigned permission, struct fst_error *error)
{
        _cleanup_free_ char *operation = mem_printf("SETPERMISSION&permission=%o", permission);
        return webhdfs_send(c, path, &(struct webhdfs_request){.method = "PUT", .operation = operation}, error);
}

int webhdfs_set_replication(struct remote_call *c, const char *path, int copies, struct fst_error *error)
{
        _cleanup_free_ char *operation = mem_printf("SETREPLICATION&replication=%d", copies);
        return webhdfs_send(c, path, &(struct webhdfs_request){.method = "PUT", .operation = operation}, error);
}

int webhdfs_rename(struct remote_call *c, const char *from, const char *to, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf operation = BUF_INIT;
        buf_puts(&operation, "RENAME&renameoptions=OVERWRITE&destination=");
        percent_encode(&operation, path_local(to), "/");
        int r = webhdfs_send(c, from, &(struct webhdfs_request){.method = "PUT", .operation = buf_text(&operation)},
                             error);
        return r < 0 ? error_wrap(error, r, "renaming %s to %s", from, to) : 0;
}

int webhdfs_remove(struct remote_call *c, const char *path, struct fst_error *error)
{
        return MIN(webhdfs_send_boolean(c, path, "DELETE", "DELETE&recursive=true", error), 0);
}
