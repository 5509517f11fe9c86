/* Writes S3: PUT, multipart uploads of large objects, copies and DELETE. A part is gathered in memory, because its
 * checksum and length precede it: in one buffer, or, of a file for bulk content, as pieces that the writer keeps and
 * pieces that are copied to the buffer. */
#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "io/fs/remote_fs_internal.h"
#include "io/fs/uri.h"
#include "net/crc32c.h"
#include "net/crypto.h"
#include "text/percent.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define MIB ((uint64_t)1 << 20)
#define LARGE_PART (32 * MIB) /* malloc maps each anew */
#define MIN_PART (5 * MIB)    /* S3's minimum for all parts but the last */
#define OUR_PART (8 * MIB)
#define BULK_PART (64 * MIB)          /* most objects are then one request, and the store need not join parts */
#define BULK_BUFFER (16 * MIB)        /* of the bytes of such a part that the writer does not keep */
#define MAX_COPIED ((int64_t)5 << 30) /* S3's maximum for one copy request */
#define COPY_LIMIT_KEY "firesteel.s3a.copy.limit"
#define MAX_PARTS 10000
#define MAX_REMOVED 1000 /* S3's maximum for one request */
#define DOUBLED_EACH 1000
#define CHECKSUM_KEY "create.checksum.algorithm" /* of Hadoop */
#define MAX_CHECKSUM 64

/* A multipart upload. */
struct multipart {
        char *id;         /* upload id, quoted; NULL before it begins */
        struct buf parts; /* XML that lists the uploaded parts */
        bool checks;      /* sends CRC-32C checksums */
        int n;
};

struct s3a_file {
        struct remote_file file; /* first member */
        uint64_t part_size, filled;
        bool bulk;       /* parts are sent as pieces */
        char *buffer;    /* NULL before it is needed */
        uint64_t copied; /* bytes in it */
        VEC(struct iovec) pieces;
        struct multipart multipart;
        int failed; /* first error of a write */
};

/* ------------------------------------------------------------------------------------------------ multipart uploads */

/* The text between <NAME> and </NAME> in the answer, or NULL. */
static char *s3a_write_element(const struct http_answer *answer, const char *name)
{
        _cleanup_free_ char *open = mem_printf("<%s>", name), *close = mem_printf("</%s>", name);
        const char *start = strstr(buf_text(&answer->body), open);
        const char *end = start ? strstr(start, close) : NULL;
        return end ? mem_strndup(start + strlen(open), (size_t)(end - start) - strlen(open)) : NULL;
}

static int s3a_send_expecting_success(struct remote_call *c, const char *path, const struct s3a_request *q,
                                      struct fst_error *error)
{
        int r = s3a_send(c, path, q, error);
        if (r == 0 && c->answer.status / 100 != 2)
                r = s3a_refusal(&c->answer, path, error);
        return r;
}

static void multipart_deinit(struct multipart *m)
{
        free(steal(m->id));
        buf_deinit(&m->parts);
}

/* The content of an object or a part. */
struct s3a_body {
        const struct iovec *pieces;
        size_t n;
        uint64_t len;
};

/* Writes the base64 text of the body's CRC-32C. */
static void s3a_checksum(const struct s3a_body *body, char text[static MAX_CHECKSUM])
{
        _cleanup_(buf_deinit) struct buf encoded = BUF_INIT;
        uint32_t sum = 0;
        for (size_t i = 0; i < body->n; i++)
                sum = crc32c_extend(sum, body->pieces[i].iov_base, body->pieces[i].iov_len);
        base64_put(&encoded, (unsigned char[]){sum >> 24 & 0xff, sum >> 16 & 0xff, sum >> 8 & 0xff, sum & 0xff}, 4);
        snprintf(text, MAX_CHECKSUM, "%s", buf_text(&encoded));
}

/* Sends a PUT of an object or a part, with the body's checksum if @sum is not empty. A body without one is one piece.
 */
static int s3a_put_body(struct remote_call *c, const char *path, const char *query, const struct s3a_body *body,
                        const char *sum, struct fst_error *error)
{
        _cleanup_free_ char *header = *sum ? mem_printf("x-amz-checksum-crc32c: %s", sum) : NULL;
        bool whole = body->n <= 1;
        return s3a_send_expecting_success(c, path,
                                          &(struct s3a_request){.method = "PUT",
                                                                .key = s3a_key(path),
                                                                .query = query,
                                                                .body = !whole    ? NULL
                                                                        : body->n ? body->pieces[0].iov_base
                                                                                  : "",
                                                                .body_len = body->len,
                                                                .pieces = whole ? NULL : body->pieces,
                                                                .n_pieces = whole ? 0 : body->n,
                                                                .header = header,
                                                                .checked = header != NULL},
                                          error);
}

static int multipart_begin(struct remote_call *c, const char *path, struct multipart *m, struct fst_error *error)
{
        struct buf quoted = BUF_INIT;
        int r = s3a_send_expecting_success(
                c, path,
                &(struct s3a_request){.method = "POST",
                                      .key = s3a_key(path),
                                      .query = "uploads=",
                                      .header = m->checks ? "x-amz-checksum-algorithm: CRC32C" : NULL},
                error);
        if (r < 0)
                return r;
        _cleanup_free_ char *id = s3a_write_element(&c->answer, "UploadId");
        if (!id)
                return error_set(error, -EPROTO, "%s: the object store's answer has no upload id", path);
        percent_encode(&quoted, id, "");
        m->id = buf_steal(&quoted);
        return 0;
}

static int multipart_put(struct remote_call *c, const char *path, struct multipart *m, const struct s3a_body *body,
                         struct fst_error *error)
{
        if (m->n == MAX_PARTS)
                return error_set(error, -EFBIG, "%s: exceeds the maximal size of an object", path);
        _cleanup_free_ char *query = mem_printf("partNumber=%d&uploadId=%s", m->n + 1, m->id);
        char sum[MAX_CHECKSUM] = "";
        if (m->checks)
                s3a_checksum(body, sum);
        int r = s3a_put_body(c, path, query, body, sum, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *tag = http_answer_header(&c->answer, "ETag");
        if (!tag)
                return error_set(error, -EPROTO, "%s: the object store's answer has no ETag", path);
        m->n++;
        buf_printf(&m->parts, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag>", m->n, tag);
        if (m->checks)
                buf_printf(&m->parts, "<ChecksumCRC32C>%s</ChecksumCRC32C>", sum);
        buf_puts(&m->parts, "</Part>");
        return 0;
}

static int multipart_complete(struct remote_call *c, const char *path, struct multipart *m, struct fst_error *error)
{
        _cleanup_free_ char *query = mem_printf("uploadId=%s", m->id);
        _cleanup_free_ char *body =
                mem_printf("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">%s"
                           "</CompleteMultipartUpload>",
                           buf_text(&m->parts));
        int r = s3a_send_expecting_success(
                c, path,
                &(struct s3a_request){
                        .method = "POST", .key = s3a_key(path), .query = query, .body = body, .body_len = strlen(body)},
                error);
        /* S3 sends status 200 before it completes the upload. */
        if (r == 0 && strstr(buf_text(&c->answer.body), "<Error>"))
                r = s3a_refusal(&c->answer, path, error);
        return r;
}

static void multipart_abort(struct remote_call *c, const char *path, struct multipart *m)
{
        if (!m->id)
                return;
        _cleanup_free_ char *query = mem_printf("uploadId=%s", m->id);
        s3a_send(c, path, &(struct s3a_request){.method = "DELETE", .key = s3a_key(path), .query = query}, NULL);
}

/* --------------------------------------------------------------------------------------------------- writing a file */

int s3a_create(struct remote_call *c, const char *path, bool bulk, struct open_file *file, struct fst_error *error)
{
        _cleanup_free_ char *bucket = remote_authority(path), *text = s3a_option(c->conf, bucket, "multipart.size");
        _cleanup_free_ char *algorithm = s3a_option(c->conf, bucket, CHECKSUM_KEY);
        bool unchecked = algorithm && strcmp(algorithm, "NONE") == 0;
        int64_t part_size = bulk ? BULK_PART : OUR_PART;
        if (!*s3a_key(path))
                return error_set(error, -EISDIR, "%s is a bucket, not a file", path);
        int r = text ? units_parse_bytes(text, UNIT_B, UNIT_B, &part_size, error) : 0;
        if (r < 0)
                return error_wrap(error, r, "fs.s3a.multipart.size");
        if (algorithm && !unchecked && strcmp(algorithm, "CRC32C") != 0)
                return error_set(error, -EINVAL,
                                 "fs.s3a." CHECKSUM_KEY "=%s is not supported: set it to CRC32C or NONE, or unset it",
                                 algorithm);
        struct s3a_file *f = new0(struct s3a_file);
        f->file = (struct remote_file){.written = true, .call = c};
        f->multipart.checks = !unchecked && (algorithm || bulk);
        f->bulk = bulk && f->multipart.checks;
        f->part_size = (uint64_t)MAX(part_size, (int64_t)MIN_PART);
        file->state = f;
        return 0;
}

/* The gathered bytes. *@whole has them if they are one buffer. */
static struct s3a_body s3a_file_body(const struct s3a_file *f, struct iovec *whole)
{
        if (f->bulk)
                return (struct s3a_body){f->pieces.data, f->pieces.len, f->filled};
        *whole = (struct iovec){f->buffer, f->filled};
        return (struct s3a_body){whole, f->filled > 0, f->filled};
}

static int multipart_send(struct s3a_file *f, const char *path, struct fst_error *error)
{
        struct multipart *m = &f->multipart;
        struct iovec whole;
        struct s3a_body body = s3a_file_body(f, &whole);
        int r = m->id ? 0 : multipart_begin(f->file.call, path, m, error);
        if (r == 0)
                r = multipart_put(f->file.call, path, m, &body, error);
        if (r < 0)
                return r;
        f->filled = f->copied = f->pieces.len = 0;
        if (m->n % DOUBLED_EACH == 0) {
                f->part_size *= 2;
                mem_freep(&f->buffer), f->buffer = NULL;
        }
        return 0;
}

/* Allocates a part, a large one in huge pages: with small ones, each upload would cost a fault for every 4 KiB. */
static char *s3a_part_new(uint64_t size)
{
        void *part = NULL;
        if (size < LARGE_PART)
                return malloc(size);
        if (posix_memalign(&part, HUGE_PAGE, size))
                return NULL;
        madvise(part, size, MADV_HUGEPAGE); /* a kernel without huge pages refuses, which does no harm */
        return part;
}

static uint64_t s3a_buffer_size(const struct s3a_file *f)
{
        return f->bulk ? MIN(BULK_BUFFER, f->part_size) : f->part_size;
}

/* Sends a full part, and makes the buffer. */
static int s3a_file_make_room(struct s3a_file *f, const char *path, struct fst_error *error)
{
        int r = f->filled == f->part_size || f->copied == s3a_buffer_size(f) ? multipart_send(f, path, error) : 0;
        if (r == 0 && !f->buffer && !(f->buffer = s3a_part_new(s3a_buffer_size(f))))
                r = error_set(error, -ENOMEM,
                              "%s: no memory for a part of %" PRIu64 " MiB; set a smaller fs.s3a.multipart.size", path,
                              s3a_buffer_size(f) / MIB);
        return f->failed = r;
}

/* Adds a piece of a part, which may continue the last one. */
static void s3a_file_add_piece(struct s3a_file *f, const char *data, size_t size)
{
        struct iovec *last = f->pieces.len ? &f->pieces.data[f->pieces.len - 1] : NULL;
        if (last && (const char *)last->iov_base + last->iov_len == data)
                last->iov_len += size;
        else
                vec_push(&f->pieces, (struct iovec){(void *)data, size});
}

int s3a_write(struct open_file *file, const void *data, size_t size, struct fst_error *error)
{
        struct s3a_file *f = file->state;
        const char *from = data;
        while (size > 0) {
                int r = s3a_file_make_room(f, file->path, error);
                if (r < 0)
                        return r;
                uint64_t room = MIN(f->part_size - f->filled, s3a_buffer_size(f) - f->copied);
                size_t n = MIN(size, (size_t)room);
                memcpy(f->buffer + f->copied, from, n);
                if (f->bulk)
                        s3a_file_add_piece(f, f->buffer + f->copied, n);
                f->filled += n;
                f->copied += n;
                from += n;
                size -= n;
        }
        return 0;
}

int s3a_write_kept(struct open_file *file, const void *data, size_t size, struct fst_error *error)
{
        struct s3a_file *f = file->state;
        const char *from = data;
        if (!f->bulk)
                return s3a_write(file, data, size, error);
        while (size > 0) {
                if (f->filled == f->part_size && (f->failed = multipart_send(f, file->path, error)) < 0)
                        return f->failed;
                size_t n = MIN(size, (size_t)(f->part_size - f->filled));
                s3a_file_add_piece(f, from, n);
                f->filled += n;
                from += n;
                size -= n;
        }
        return 0;
}

int s3a_put_new(struct remote_call *c, const char *path, const void *data, size_t size, struct fst_error *error)
{
        int r = s3a_send(c, path,
                         &(struct s3a_request){.method = "PUT",
                                               .key = s3a_key(path),
                                               .body = data,
                                               .body_len = size,
                                               .header = "If-None-Match: *"},
                         error);
        /* 409: another request for the key is being decided, which then succeeds. */
        if (r == 0 && (c->answer.status == 412 || c->answer.status == 409))
                return error_set(error, -EEXIST, "%s exists", path);
        return r == 0 && c->answer.status / 100 != 2 ? s3a_refusal(&c->answer, path, error) : r;
}

static int s3a_write_finish(struct s3a_file *f, const char *path, struct fst_error *error)
{
        char sum[MAX_CHECKSUM] = "";
        struct iovec whole;
        struct s3a_body body = s3a_file_body(f, &whole);
        if (!f->multipart.id && f->multipart.checks)
                s3a_checksum(&body, sum);
        if (!f->multipart.id)
                return s3a_put_body(f->file.call, path, NULL, &body, sum, error);
        int r = f->filled > 0 ? multipart_send(f, path, error) : 0;
        return r < 0 ? r : multipart_complete(f->file.call, path, &f->multipart, error);
}

int s3a_close(struct open_file *file, bool keep, struct fst_error *error)
{
        struct s3a_file *f = file->state;
        int r = 0;
        if (keep && f->failed < 0)
                r = error_set(error, f->failed, "%s: an earlier write failed", file->path);
        else if (keep)
                r = s3a_write_finish(f, file->path, error);
        if (!keep || r < 0)
                multipart_abort(f->file.call, file->path, &f->multipart);
        *file = OPEN_FILE_INIT;
        multipart_deinit(&f->multipart);
        remote_call_end(&f->file.call);
        vec_deinit(&f->pieces);
        free(f->buffer);
        free(f);
        return r;
}

/* ------------------------------------------------------------------------------------------ directories and renames */

int s3a_mkdirs(struct remote_call *c, const char *path, struct fst_error *error)
{
        struct file_status status = {0};
        const char *key = s3a_key(path);
        if (!*key)
                return 0;
        int r = s3a_stat(c, path, &status, NULL);
        if (r == 0) {
                bool directory = status.directory;
                file_status_deinit(&status);
                return directory ? 0 : error_set(error, -ENOTDIR, "Parent path is not a directory: %s", path);
        }
        _cleanup_free_ char *marker = mem_printf("%s/", key);
        return s3a_send_expecting_success(c, path, &(struct s3a_request){.method = "PUT", .key = marker, .body = ""},
                                          error);
}

static int s3a_write_piece(void *context, const char *data, size_t n)
{
        return s3a_write(context, data, n, NULL);
}

/* Copies an object too large for one copy request by downloading and uploading it. Copying ranges on the server would
 * need the headers x-amz-copy-source and …-source-range, which curl before 8 signs in the wrong order. */
static int s3a_copy_by_download(struct remote_call *c, const char *from, const char *to, struct fst_error *error)
{
        struct open_file file = {.path = (char *)to, .fd = -1};
        struct remote_call *writer;
        int r = remote_call_begin(c->fs, &writer, error);
        if (r < 0)
                return r;
        r = s3a_create(writer, to, false, &file, error);
        if (r < 0) {
                remote_call_end(&writer);
                return r;
        }
        r = s3a_fetch(c, from, s3a_write_piece, &file, error);
        int closed = s3a_close(&file, r == 0, r == 0 ? error : NULL);
        return r < 0 ? r : closed;
}

static int s3a_write_copy(struct remote_call *c, const char *from, const char *to, uint64_t size,
                          struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf source = BUF_INIT;
        _cleanup_free_ char *bucket = remote_authority(from), *text = hadoop_conf_get(c->conf, COPY_LIMIT_KEY);
        bool marker = text_ends_with(to, "/");
        int64_t most = MAX_COPIED;
        int r = text ? units_parse_bytes(text, UNIT_B, UNIT_B, &most, error) : 0;
        if (r < 0)
                return error_wrap(error, r, COPY_LIMIT_KEY);
        if ((int64_t)size > most)
                return s3a_copy_by_download(c, from, to, error);
        buf_printf(&source, "x-amz-copy-source: /%s/", bucket);
        percent_encode(&source, s3a_key(from), "/");
        r = s3a_send_expecting_success(
                c, to,
                &(struct s3a_request){
                        .method = "PUT", .key = s3a_key(to), .body = "", .header = marker ? NULL : buf_text(&source)},
                error);
        /* S3 sends status 200 before it has copied. */
        if (r == 0 && strstr(buf_text(&c->answer.body), "<Error>"))
                r = s3a_refusal(&c->answer, to, error);
        return r;
}

/* DELETE, which also succeeds if the key does not exist. */
static int s3a_remove_key(struct remote_call *c, const char *path, const char *key, struct fst_error *error)
{
        int r = s3a_send(c, path, &(struct s3a_request){.method = "DELETE", .key = key}, error);
        if (r == 0 && c->answer.status / 100 != 2 && c->answer.status != 404)
                r = s3a_refusal(&c->answer, path, error);
        return r;
}

static int s3a_remove_marker(struct remote_call *c, const char *path, struct fst_error *error)
{
        _cleanup_free_ char *marker = mem_printf("%s/", s3a_key(path));
        return s3a_remove_key(c, path, marker, error);
}

static void s3a_put_xml(struct buf *out, const char *text)
{
        for (; *text; text++)
                if (strchr("<>&\"'", *text) || (unsigned char)*text < ' ')
                        buf_printf(out, "&#%d;", *text);
                else
                        buf_putc(out, *text);
}

/* Appends the Content-MD5 header, which S3 requires only for this request. */
static int s3a_put_md5(const struct buf *body, struct buf *header, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        uint8_t digest[DIGEST_MAX];
        size_t n;
        int r = crypto_load(&crypto, error);
        if (r == 0 && crypto->digest("md5", buf_text(body), body->len, digest, &n) < 0)
                r = error_set(error, -EIO, "MD5 is not available");
        if (r == 0) {
                buf_puts(header, "Content-MD5: ");
                base64_put(header, digest, n);
        }
        return r;
}

/* Removes list[from, to) by one request. -ENOSYS: the store does not support it. */
static int s3a_remove_many(struct remote_call *c, const struct file_list *list, size_t from, size_t to,
                           struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, header = BUF_INIT;
        const char *path = list->data[from].path;
        buf_puts(&body, "<Delete><Quiet>true</Quiet>");
        for (size_t i = to; i > from; i--) {
                buf_puts(&body, "<Object><Key>");
                s3a_put_xml(&body, s3a_key(list->data[i - 1].path));
                buf_puts(&body, "</Key></Object>");
        }
        buf_puts(&body, "</Delete>");
        int r = s3a_put_md5(&body, &header, error);
        if (r == 0)
                r = s3a_send(c, path,
                             &(struct s3a_request){.method = "POST",
                                                   .key = "",
                                                   .query = "delete=",
                                                   .body = buf_text(&body),
                                                   .body_len = body.len,
                                                   .header = buf_text(&header)},
                             error);
        if (r < 0)
                return r;
        if (c->answer.status == 400 || c->answer.status == 405 || c->answer.status == 501)
                return -ENOSYS;
        return c->answer.status / 100 == 2 && !strstr(buf_text(&c->answer.body), "<Error>")
                       ? 0
                       : s3a_refusal(&c->answer, path, error);
}

/* Removes all keys below, from the end of the list, a thousand at a time: a store with real directories removes only
 * empty ones. Stores without this request, such as Google's, get one for each key. */
static int s3a_remove_below(struct remote_call *c, const struct file_list *list, struct fst_error *error)
{
        bool many = list->len > 1;
        int r = 0;
        for (size_t to = list->len, from; r == 0 && to > 0; to = from) {
                from = many && to > MAX_REMOVED ? to - MAX_REMOVED : many ? 0 : to - 1;
                r = many ? s3a_remove_many(c, list, from, to, error)
                         : s3a_remove_key(c, list->data[from].path, s3a_key(list->data[from].path), error);
                if (r == -ENOSYS) {
                        many = false;
                        from = to;
                        r = 0;
                }
        }
        return r;
}

/* Returns -ENOTEMPTY if @to is a directory with content. */
static int s3a_check_free(struct remote_call *c, const char *to, struct fst_error *error)
{
        struct file_list there = {0};
        int r = s3a_list(c, to, &there, error);
        if (r == 0 && there.len > 0)
                r = error_set(error, -ENOTEMPTY, "%s is a directory that is not empty", to);
        file_list_deinit(&there);
        return r;
}

static int s3a_rename_below(struct remote_call *c, const char *from, const char *to, struct fst_error *error)
{
        struct file_list list = {0};
        int r = s3a_list_deep(c, from, &list, error);
        for (size_t i = 0; r == 0 && i < list.len; i++) {
                _cleanup_free_ char *target = mem_printf("%s%s", to, list.data[i].path + strlen(from));
                r = s3a_write_copy(c, list.data[i].path, target, list.data[i].size, error);
        }
        if (r == 0 && list.len == 0)
                r = s3a_mkdirs(c, to, error);
        if (r == 0)
                r = s3a_remove_below(c, &list, error);
        if (r == 0)
                r = s3a_remove_marker(c, from, error);
        file_list_deinit(&list);
        return r;
}

int s3a_rename(struct remote_call *c, const char *from, const char *to, struct fst_error *error)
{
        struct file_status status = {0};
        int r = s3a_stat(c, from, &status, error);
        if (r == 0)
                r = s3a_check_free(c, to, error);
        if (r == 0 && status.directory)
                r = s3a_rename_below(c, from, to, error);
        else if (r == 0) {
                r = s3a_write_copy(c, from, to, status.size, error);
                if (r == 0)
                        r = s3a_remove_key(c, from, s3a_key(from), error);
        }
        file_status_deinit(&status);
        return r < 0 ? error_wrap(error, r, "renaming %s to %s", from, to) : 0;
}

int s3a_remove(struct remote_call *c, const char *path, struct fst_error *error)
{
        struct file_list list = {0};
        if (!*s3a_key(path))
                return error_set(error, -EINVAL, "%s is a bucket, which Firesteel does not remove", path);
        int r = s3a_list_deep(c, path, &list, error);
        if (r == 0)
                r = s3a_remove_below(c, &list, error);
        if (r == 0)
                r = s3a_remove_marker(c, path, error);
        if (r == 0)
                r = s3a_remove_key(c, path, s3a_key(path), error);
        file_list_deinit(&list);
        return r;
}
