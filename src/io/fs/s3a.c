/* Reads S3: HEAD, ListObjectsV2 and GET (s3a_write.c has the rest), signed by curl (AWS signature version 4). A
 * "directory" is a prefix of some key. Queries are written sorted and encoded, as signing requires. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs_internal.h"
#include "io/fs/uri.h"
#include "net/sha256.h"
#include "text/percent.h"

#include <ctype.h>
#include <expat.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define OUR_BLOCK ((int64_t)32 << 20)
#define MAX_PAGES 10000
#define FULL 507 /* Insufficient Storage */
#define MAX_ATTEMPTS 6 /* about 1.5 s in all */
#define TOO_MANY 429
/* SHA-256 of an empty body, which S3 requires */
#define UNSIGNED "UNSIGNED-PAYLOAD"
#define NO_CONTENT "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

char *s3a_option(const struct hadoop_conf *conf, const char *bucket, const char *name)
{
        _cleanup_free_ char *own = mem_printf("fs.s3a.bucket.%s.%s", bucket, name);
        _cleanup_free_ char *all = mem_printf("fs.s3a.%s", name);
        char *value = hadoop_conf_get(conf, own);
        value = value ? value : hadoop_conf_get(conf, all);
        if (value && !*value)
                mem_freep(&value), value = NULL;
        return value;
}

static bool s3a_flag(const struct hadoop_conf *conf, const char *bucket, const char *name, bool otherwise)
{
        _cleanup_free_ char *own = mem_printf("fs.s3a.bucket.%s.%s", bucket, name);
        _cleanup_free_ char *all = mem_printf("fs.s3a.%s", name);
        return hadoop_conf_flag(conf, own, hadoop_conf_flag(conf, all, otherwise));
}

int s3a_block_size(const struct hadoop_conf *conf, const char *path, uint64_t *size, struct fst_error *error)
{
        _cleanup_free_ char *bucket = remote_authority(path), *text = s3a_option(conf, bucket, "block.size");
        int64_t block = OUR_BLOCK;
        int r = text ? units_parse_bytes(text, UNIT_B, UNIT_B, &block, error) : 0;
        if (r == 0 && block < 1)
                r = error_set(error, -EINVAL, "%s is not a valid block size", text);
        if (r < 0)
                return error_wrap(error, r, "fs.s3a.block.size");
        *size = (uint64_t)block;
        return 0;
}

/* The configured region, otherwise that in the endpoint's name ("s3.eu-west-1.amazonaws.com"), otherwise us-east-1. */
static char *s3a_region(const struct hadoop_conf *conf, const char *bucket)
{
        char *region = s3a_option(conf, bucket, "endpoint.region");
        _cleanup_free_ char *endpoint = region ? NULL : s3a_option(conf, bucket, "endpoint");
        const char *name = endpoint ? strstr(endpoint, "s3.") : NULL;
        const char *end = name ? strstr(name, ".amazonaws.com") : NULL;
        if (region)
                return region;
        return end && end > name + 3 ? mem_strndup(name + 3, (size_t)(end - name - 3)) : mem_strdup("us-east-1");
}

char *s3a_url(const struct hadoop_conf *conf, const char *bucket, const char *key)
{
        struct buf url = BUF_INIT;
        _cleanup_free_ char *endpoint = s3a_option(conf, bucket, "endpoint"), *where = s3a_region(conf, bucket);
        if (!endpoint)
                endpoint = strcmp(where, "us-east-1") == 0 ? mem_strdup("s3.amazonaws.com")
                                                           : mem_printf("s3.%s.amazonaws.com", where);
        const char *host = strstr(endpoint, "://");
        bool secure =
                host ? strncmp(endpoint, "https:", 6) == 0 : s3a_flag(conf, bucket, "connection.ssl.enabled", true);
        host = host ? host + 3 : endpoint;
        size_t n = strcspn(host, "/");
        /* The bucket goes into the path if the endpoint is an IP address, or if the bucket has dots, because a
         * certificate would not cover its host name. */
        bool numeric = isdigit((unsigned char)host[0]) && strspn(host, "0123456789.:") == n;
        bool in_path = s3a_flag(conf, bucket, "path.style.access", false) || numeric || host[0] == '[' ||
                       strncmp(host, "localhost", 9) == 0 || (secure && strchr(bucket, '.'));
        buf_printf(&url, "http%s://", secure ? "s" : "");
        if (in_path)
                buf_printf(&url, "%.*s/%s", (int)n, host, bucket);
        else
                buf_printf(&url, "%s.%.*s", bucket, (int)n, host);
        buf_putc(&url, '/');
        percent_encode(&url, key, "/");
        return buf_steal(&url);
}

/* Returns "ID:SECRET" for signing, "" for anonymous. -EACCES if there are no credentials. */
static int s3a_credentials(const struct hadoop_conf *conf, const char *bucket, char **out, struct fst_error *error)
{
        _cleanup_free_ char *id = s3a_option(conf, bucket, "access.key"),
                            *secret = s3a_option(conf, bucket, "secret.key");
        _cleanup_free_ char *providers = s3a_option(conf, bucket, "aws.credentials.provider");
        if (id && secret)
                *out = mem_printf("%s:%s", id, secret);
        else if (providers && strstr(providers, "AnonymousAWSCredentialsProvider"))
                *out = mem_strdup("");
        else
                return error_set(error, -EACCES,
                                 "s3a://%s: No AWS Credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                                 "spark.hadoop.fs.s3a.access.key and secret.key, or AnonymousAWSCredentialsProvider as "
                                 "spark.hadoop.fs.s3a.aws.credentials.provider",
                                 bucket);
        return 0;
}

/* Whether a later attempt may succeed: 503 Slow Down, 429, S3's 400 for a body that arrived too slowly, and similar. */
static bool s3a_is_busy(const struct http_answer *answer)
{
        if (answer->status == 400)
                return strstr(buf_text(&answer->body), "<Code>RequestTimeout</Code>");
        return answer->status == TOO_MANY || (answer->status >= 500 && answer->status != 501 && answer->status != FULL);
}

int s3a_refusal(const struct http_answer *answer, const char *path, struct fst_error *error)
{
        const char *start = strstr(buf_text(&answer->body), "<Message>");
        const char *end = start ? strstr(start, "</Message>") : NULL;
        bool full = answer->status == FULL || strstr(buf_text(&answer->body), "<Code>QuotaExceeded</Code>");
        int code = answer->status == 404 ? -ENOENT : answer->status == 401 || answer->status == 403 ? -EACCES : -EIO;
        code = full ? -ENOSPC : code;
        if (code == -ENOENT)
                return error_set(error, code, "No such file or directory: %s", path);
        _cleanup_free_ char *tried =
                s3a_is_busy(answer)
                        ? mem_printf(" (%d times; let fewer tasks use it at the same time, or try later)", MAX_ATTEMPTS)
                        : NULL;
        return error_set(error, code, "%s: the object store answers %d%s%.*s%s", path, answer->status,
                         start ? ": " : "", end ? (int)(end - start - 9) : 0, start ? start + 9 : "",
                         tried ? tried : "");
}

/* Checks a region from a server's answer, because it becomes part of a host name. */
static bool s3a_is_region(const char *text)
{
        return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

const char *s3a_key(const char *path)
{
        const char *name = path_local(path);
        return name + (*name == '/');
}

/* Writes the header with the body's SHA-256, which S3 requires if neither TLS nor a checksum protects the body. */
static int s3a_put_digest(const struct s3a_request *q, bool tls, char header[128], struct fst_error *error)
{
        const struct sha256_ops *sha256;
        uint8_t digest[SHA256_SIZE];
        char text[2 * SHA256_SIZE + 1] = NO_CONTENT;
        if (q->body_len > 0 && (tls || q->checked)) {
                snprintf(text, sizeof(text), UNSIGNED);
        } else if (q->body_len > 0) {
                int r = sha256_load(&sha256, error);
                if (r < 0)
                        return r;
                sha256->hash(q->body, q->body_len, digest);
                sha256_text(digest, text);
        }
        snprintf(header, 128, "x-amz-content-sha256: %s", text);
        return 0;
}

/* Performs the request, and repeats it with growing delays while the store is busy. */
static int s3a_perform(struct remote_call *c, const struct http_request *request, struct fst_error *error)
{
        for (int attempt = 0;; attempt++) {
                int r = http_perform(c->http, request, &c->answer, error);
                if (r < 0 || !s3a_is_busy(&c->answer) || attempt + 1 == MAX_ATTEMPTS)
                        return r;
                nanosleep(&(struct timespec){.tv_nsec = 50000000L << attempt}, NULL);
        }
}

int s3a_send(struct remote_call *c, const char *path, const struct s3a_request *q, struct fst_error *error)
{
        _cleanup_free_ char *bucket = remote_authority(path), *identity = NULL;
        char digest[128];
        if (!*bucket)
                return error_set(error, -EINVAL, "%s has no bucket", path);
        int result = s3a_credentials(c->conf, bucket, &identity, error);
        _cleanup_free_ char *object = s3a_url(c->conf, bucket, q->key);
        result = result < 0 ? result : s3a_put_digest(q, text_starts_with(object, "https://"), digest, error);
        if (result < 0)
                return result;
        _cleanup_free_ char *where = s3a_region(c->conf, bucket), *token = s3a_option(c->conf, bucket, "session.token");
        _cleanup_free_ char *url = mem_printf("%s%s%s", object, q->query ? "?" : "", q->query ? q->query : "");
        _cleanup_free_ char *header = token ? mem_printf("x-amz-security-token: %s", token) : NULL;
        bool anonymous = !identity || !*identity;
        const char *headers[4] = {digest};
        size_t n = 1;
        if (header)
                headers[n++] = header;
        if (q->header)
                headers[n++] = q->header;
        for (int tries = 0;; tries++) {
                _cleanup_free_ char *sign = mem_printf("aws:amz:%s:s3", where);
                struct http_request request = {.url = url,
                                               .method = q->method,
                                               .body = q->body,
                                               .body_len = q->body_len,
                                               .pieces = q->pieces,
                                               .n_pieces = q->n_pieces,
                                               .headers = anonymous ? headers + 1 : headers,
                                               .sink = q->sink,
                                               .context = q->context};
                if (!anonymous) {
                        request.aws_sigv4 = sign;
                        request.user_password = identity;
                }
                result = s3a_perform(c, &request, error);
                if (result < 0)
                        return error_wrap(error, result, "%s", path);
                /* A bucket in another region: the answer names the region. */
                char *answered_region = c->answer.status == 200 || tries > 0
                                                ? NULL
                                                : http_answer_header(&c->answer, "x-amz-bucket-region");
                if (!answered_region || strcmp(answered_region, where) == 0 || !s3a_is_region(answered_region)) {
                        free(answered_region);
                        return 0;
                }
                free(where);
                where = answered_region;
                _cleanup_free_ char *endpoint = s3a_option(c->conf, bucket, "endpoint");
                const char *old = endpoint ? NULL : strstr(url, ".amazonaws.com/");
                if (old) {
                        char *next = mem_printf("https://%s.s3.%s%s", bucket, where, old);
                        free(url);
                        url = next;
                }
        }
}

/* Parses "2024-05-06T07:08:09.000Z" or "Mon, 06 May 2024 07:08:09 GMT" to milliseconds; 0 for other text. */
static int64_t s3a_read_time(const char *text, const char *format)
{
        struct tm tm = {0};
        return text && strptime(text, format, &tm) ? (int64_t)timegm(&tm) * 1000 : 0;
}

enum s3a_field { FIELD_NONE, FIELD_KEY, FIELD_SIZE, FIELD_TIME, FIELD_PREFIX, FIELD_TRUNCATED, FIELD_NEXT, N_FIELDS };

static const char *const fields[N_FIELDS] = {
        [FIELD_KEY] = "Key",
        [FIELD_SIZE] = "Size",
        [FIELD_TIME] = "LastModified",
        [FIELD_PREFIX] = "Prefix",
        [FIELD_TRUNCATED] = "IsTruncated",
        [FIELD_NEXT] = "NextContinuationToken",
};

struct s3a_listing {
        XML_Parser parser;
        const char *path; /* path of the directory */
        size_t skip;      /* length of the directory's own name at the start of keys */
        struct file_list *list;
        int depth;
        bool contents, prefixes, entity, truncated, result;
        enum s3a_field field;
        struct buf text[N_FIELDS];
};

static void s3a_start_element(void *data, const XML_Char *name, const XML_Char **attributes)
{
        struct s3a_listing *l = data;
        l->depth++;
        l->field = FIELD_NONE;
        if (l->depth == 1)
                l->result = strcmp(name, "ListBucketResult") == 0;
        if (l->depth == 2) {
                l->contents = strcmp(name, "Contents") == 0;
                l->prefixes = strcmp(name, "CommonPrefixes") == 0;
        }
        for (int i = FIELD_KEY; i < N_FIELDS; i++) {
                int depth = i >= FIELD_TRUNCATED ? 2 : 3;
                if (l->depth == depth && strcmp(name, fields[i]) == 0) {
                        l->field = (enum s3a_field)i;
                        buf_reset(&l->text[i]);
                }
        }
}

static void s3a_characters(void *data, const XML_Char *text, int length)
{
        struct s3a_listing *l = data;
        if (l->field != FIELD_NONE)
                buf_append(&l->text[l->field], text, (size_t)length);
}

static void s3a_put_entry(struct s3a_listing *l, const char *key, bool directory)
{
        if (strlen(key) <= l->skip)
                return; /* the directory's own marker */
        _cleanup_free_ char *name = mem_strdup(key + l->skip);
        size_t n = strlen(name);
        if (directory && name[n - 1] == '/')
                name[n - 1] = '\0';
        if (!*name)
                return;
        vec_push(l->list, (struct file_status){
                                  .path = path_join(l->path, name),
                                  .directory = directory,
                                  .size = directory ? 0 : strtoull(buf_text(&l->text[FIELD_SIZE]), NULL, 10),
                                  .modified_ms = s3a_read_time(buf_text(&l->text[FIELD_TIME]), "%Y-%m-%dT%H:%M:%S"),
                          });
}

static void s3a_end_element(void *data, const XML_Char *name)
{
        struct s3a_listing *l = data;
        if (l->depth == 2 && l->contents)
                s3a_put_entry(l, buf_text(&l->text[FIELD_KEY]), false);
        if (l->depth == 2 && l->prefixes)
                s3a_put_entry(l, buf_text(&l->text[FIELD_PREFIX]), true);
        if (l->depth == 2)
                l->contents = l->prefixes = false;
        l->field = FIELD_NONE;
        l->depth--;
}

static void s3a_entity_declared(void *data, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
                                const XML_Char *base, const XML_Char *system, const XML_Char *public_id,
                                const XML_Char *notation)
{
        struct s3a_listing *l = data;
        XML_StopParser(l->parser, XML_FALSE);
}

int s3a_read_listing(const char *text, size_t len, const char *path, struct file_list *list, char **next,
                     struct fst_error *error)
{
        const char *name = s3a_key(path);
        struct s3a_listing l = {.path = path, .list = list, .skip = *name ? strlen(name) + 1 : 0};
        l.parser = XML_ParserCreate(NULL);
        if (!l.parser)
                return error_set(error, -ENOMEM, "no memory to list %s", path);
        XML_SetUserData(l.parser, &l);
        XML_SetElementHandler(l.parser, s3a_start_element, s3a_end_element);
        XML_SetCharacterDataHandler(l.parser, s3a_characters);
        XML_SetEntityDeclHandler(l.parser, s3a_entity_declared);
        bool good = len <= HTTP_MAX_ANSWER && XML_Parse(l.parser, text, (int)len, XML_TRUE) == XML_STATUS_OK;
        XML_ParserFree(l.parser);
        bool more = strcmp(buf_text(&l.text[FIELD_TRUNCATED]), "true") == 0 && l.text[FIELD_NEXT].len > 0;
        if (good && l.result)
                *next = more ? buf_steal(&l.text[FIELD_NEXT]) : NULL;
        for (int i = 0; i < N_FIELDS; i++)
                buf_deinit(&l.text[i]);
        return good && l.result ? 0 : error_set(error, -EPROTO, "%s: cannot parse the answer to its listing", path);
}

/* Requests one page of the entries of @path, or with @deep of everything below it. */
static int s3a_list_page(struct remote_call *c, const char *path, bool deep, const char *token, int most,
                         struct file_list *list, char **next, struct fst_error *error)
{
        const char *name = s3a_key(path);
        _cleanup_(buf_deinit) struct buf query = BUF_INIT;
        if (token) {
                buf_puts(&query, "continuation-token=");
                percent_encode(&query, token, "");
                buf_putc(&query, '&');
        }
        buf_printf(&query, "%slist-type=2", deep ? "" : "delimiter=%2F&");
        if (most)
                buf_printf(&query, "&max-keys=%d", most);
        buf_puts(&query, "&prefix=");
        percent_encode(&query, name, "");
        buf_puts(&query, *name ? "%2F" : "");
        int result = s3a_send(c, path, &(struct s3a_request){.key = "", .query = buf_text(&query)}, error);
        if (result < 0)
                return result;
        if (c->answer.status != 200)
                return s3a_refusal(&c->answer, path, error);
        return s3a_read_listing(buf_text(&c->answer.body), c->answer.body.len, path, list, next, error);
}

/* Whether the directory @path, which has no entries, has the marker of an empty directory. 1: it has. */
static int s3a_has_marker(struct remote_call *c, const char *path, struct fst_error *error)
{
        _cleanup_free_ char *marker = mem_printf("%s/", s3a_key(path));
        int r = s3a_send(c, path, &(struct s3a_request){.method = "HEAD", .key = marker}, error);
        if (r < 0 || c->answer.status == 404)
                return r;
        return c->answer.status == 200 ? 1 : s3a_refusal(&c->answer, path, error);
}

int s3a_stat(struct remote_call *c, const char *path, struct file_status *status, struct fst_error *error)
{
        const char *name = s3a_key(path);
        if (*name) {
                int result = s3a_send(c, path, &(struct s3a_request){.method = "HEAD", .key = name}, error);
                if (result < 0)
                        return result;
                if (c->answer.status == 200) {
                        _cleanup_free_ char *size = http_answer_header(&c->answer, "Content-Length");
                        _cleanup_free_ char *time = http_answer_header(&c->answer, "Last-Modified");
                        *status = (struct file_status){.path = mem_strdup(path),
                                                       .size = size ? strtoull(size, NULL, 10) : 0,
                                                       .modified_ms = s3a_read_time(time, "%a, %d %b %Y %H:%M:%S")};
                        return 0;
                }
                if (c->answer.status != 404)
                        return s3a_refusal(&c->answer, path, error);
        }
        struct file_list below = {0};
        _cleanup_free_ char *next = NULL;
        int result = s3a_list_page(c, path, false, NULL, 2, &below, &next, error);
        bool found = below.len > 0 || !*name;
        file_list_deinit(&below);
        if (result == 0 && !found) {
                result = s3a_has_marker(c, path, error);
                found = result > 0;
        }
        if (result < 0)
                return result;
        if (!found)
                return error_set(error, -ENOENT, "No such file or directory: %s", path);
        *status = (struct file_status){.path = mem_strdup(path), .directory = true};
        return 0;
}

static int s3a_list_pages(struct remote_call *c, const char *path, bool deep, struct file_list *list,
                          struct fst_error *error)
{
        _cleanup_free_ char *token = NULL;
        for (int page = 0; page < MAX_PAGES; page++) {
                char *next = NULL;
                int result = s3a_list_page(c, path, deep, token, 0, list, &next, error);
                if (result < 0)
                        return result;
                free(token);
                token = next;
                if (!next)
                        return 0;
        }
        return error_set(error, -E2BIG, "%s: its listing does not end", path);
}

int s3a_list(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error)
{
        return s3a_list_pages(c, path, false, list, error);
}

int s3a_list_deep(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error)
{
        return s3a_list_pages(c, path, true, list, error);
}

ssize_t s3a_read(struct remote_call *c, const char *path, void *data, size_t size, uint64_t offset,
                 struct fst_error *error)
{
        _cleanup_free_ char *header = mem_printf("Range: bytes=%" PRIu64 "-%" PRIu64, offset, offset + size - 1);
        struct remote_range range = {.data = data, .size = size};
        int result =
                s3a_send(c, path,
                         &(struct s3a_request){
                                 .key = s3a_key(path), .header = header, .sink = remote_range_put, .context = &range},
                         error);
        if (result < 0)
                return result;
        return c->answer.status == 206 ? (ssize_t)range.filled : s3a_refusal(&c->answer, path, error);
}

int s3a_fetch(struct remote_call *c, const char *path, remote_sink sink, void *context, struct fst_error *error)
{
        const char *name = s3a_key(path);
        if (!*name)
                return error_set(error, -EISDIR, "%s is a bucket, not a file", path);
        int result = s3a_send(c, path, &(struct s3a_request){.key = name, .sink = sink, .context = context}, error);
        return result < 0 ? result : c->answer.status == 200 ? 0 : s3a_refusal(&c->answer, path, error);
}
