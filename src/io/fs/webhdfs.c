/*
 * HDFS over WebHDFS: chooses the namenode, and implements GETFILESTATUS, LISTSTATUS and OPEN (webhdfs_write.c has the
 * rest). Of a nameservice's namenodes, the first that answers and is not a standby is used. It redirects reads to a
 * datanode.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "hadoop/credentials.h"
#include "io/fs/hdfs_tokens.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs_internal.h"
#include "io/fs/uri.h"
#include "text/json.h"
#include "text/percent.h"

#include <inttypes.h>
#include <jansson.h>

#define USUAL_BLOCK ((uint64_t)128 << 20)

/* ------------------------------------------------------------------------------------------------------ addresses */

static bool webhdfs_list_has(const char *list, const char *name)
{
        for (size_t n = strlen(name); list && *list; list += strcspn(list, ","), list += *list == ',') {
                list += strspn(list, " ");
                if (strncmp(list, name, n) == 0 && (list[n] == ',' || list[n] == ' ' || !list[n]))
                        return true;
        }
        return false;
}

static size_t webhdfs_host_length(const char *authority)
{
        const char *colon = strrchr(authority, ':'), *bracket = strchr(authority, ']');
        return colon && (!bracket || colon > bracket) ? (size_t)(colon - authority) : strlen(authority);
}

/* Appends "scheme://ADDRESS", with a wildcard host replaced by that of @instead. */
static void webhdfs_put_address(struct url_list *urls, bool secure, const char *address, const char *instead)
{
        size_t host = webhdfs_host_length(address);
        bool wildcard = (host == 7 && strncmp(address, "0.0.0.0", 7) == 0) || host == 0;
        if (wildcard && instead)
                vec_push(urls, mem_printf("http%s://%.*s%s", secure ? "s" : "", (int)webhdfs_host_length(instead),
                                          instead, address + host));
        else
                vec_push(urls, mem_printf("http%s://%s", secure ? "s" : "", address));
}

/* Appends the addresses of the nameservice @name: of all its namenodes, or only of the one at address @only. False if
 * there is none. */
static bool webhdfs_put_nameservice(const struct hadoop_conf *conf, const char *name, const char *only, bool secure,
                                    struct url_list *urls)
{
        const char *kind = secure ? "https" : "http", *port = secure ? "9871" : "9870";
        _cleanup_free_ char *key = mem_printf("dfs.ha.namenodes.%s", name);
        _cleanup_free_ char *services = hadoop_conf_get(conf, "dfs.nameservices");
        _cleanup_free_ char *nodes = hadoop_conf_get(conf, key);
        if (!nodes && !webhdfs_list_has(services, name))
                return false;
        for (const char *at = nodes ? nodes : ""; at;) {
                at += strspn(at, " \t\r\n");
                size_t n = strcspn(at, ", \t\r\n");
                _cleanup_free_ char *dot = mem_printf("%s%.*s", n ? "." : "", (int)n, at);
                _cleanup_free_ char *web = mem_printf("dfs.namenode.%s-address.%s%s", kind, name, dot);
                _cleanup_free_ char *rpc = mem_printf("dfs.namenode.rpc-address.%s%s", name, dot);
                _cleanup_free_ char *address = hadoop_conf_get(conf, web), *other = hadoop_conf_get(conf, rpc);
                bool wanted = !only || (other && strcmp(other, only) == 0);
                if (wanted && address)
                        webhdfs_put_address(urls, secure, address, other);
                else if (wanted && other)
                        vec_push(urls, mem_printf("http%s://%.*s:%s", secure ? "s" : "",
                                                  (int)webhdfs_host_length(other), other, port));
                at += n;
                at = strchr(at, ',');
                at = at ? at + 1 : NULL;
        }
        return true;
}

/* Appends the address of the nameservice member whose RPC address is @authority. */
static bool webhdfs_put_member(const struct hadoop_conf *conf, const char *authority, bool secure,
                               struct url_list *urls)
{
        _cleanup_free_ char *services = hadoop_conf_get(conf, "dfs.nameservices");
        size_t before = urls->len;
        for (char *rest, *name = services ? strtok_r(services, ", \t\r\n", &rest) : NULL; name;
             name = strtok_r(NULL, ", \t\r\n", &rest))
                webhdfs_put_nameservice(conf, name, authority, secure, urls);
        return urls->len > before;
}

/* Appends the address of the single namenode in hdfs-site.xml if it belongs to @authority. */
static bool webhdfs_put_configured(const struct hadoop_conf *conf, const char *authority, bool secure,
                                   struct url_list *urls)
{
        _cleanup_free_ char *address =
                hadoop_conf_get(conf, secure ? "dfs.namenode.https-address" : "dfs.namenode.http-address");
        _cleanup_free_ char *first = hadoop_conf_get(conf, "fs.defaultFS");
        _cleanup_free_ char *home = first ? remote_authority(first) : NULL;
        if (!address)
                return false;
        size_t host = webhdfs_host_length(address);
        bool same = host == webhdfs_host_length(authority) && strncmp(address, authority, host) == 0;
        if (!same && !(host == 7 && strncmp(address, "0.0.0.0", 7) == 0) && !(home && strcmp(home, authority) == 0))
                return false;
        webhdfs_put_address(urls, secure, address, authority);
        return true;
}

int webhdfs_addresses(const struct hadoop_conf *conf, const char *path, struct url_list *urls, struct fst_error *error)
{
        _cleanup_free_ char *authority = remote_authority(path), *policy = hadoop_conf_get(conf, "dfs.http.policy");
        bool web = strncmp(path, "hdfs:", 5) != 0;
        bool secure = *path == 's' || (!web && policy && strcmp(policy, "HTTPS_ONLY") == 0);
        if (!*authority) {
                _cleanup_free_ char *first = hadoop_conf_get(conf, "fs.defaultFS");
                size_t n = path_scheme_len(path) + 1;
                if (!first || strncmp(first, path, n) != 0)
                        return error_set(error, -EINVAL, "Incomplete HDFS URI, no host: %s", path);
                free(authority);
                authority = remote_authority(first);
        }
        size_t host = webhdfs_host_length(authority);
        if (webhdfs_put_nameservice(conf, authority, NULL, secure, urls) && urls->len > 0)
                return 0;
        if (web && authority[host])
                webhdfs_put_address(urls, secure, authority, NULL);
        else if (!webhdfs_put_member(conf, authority, secure, urls) &&
                 !webhdfs_put_configured(conf, authority, secure, urls))
                vec_push(urls, mem_printf("http%s://%.*s:%s", secure ? "s" : "", (int)host, authority,
                                          secure ? "9871" : "9870"));
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- requests */

/* Hadoop's exceptions and their errors, ended by "". The namenode sends most of them with status 403. */
static const struct {
        const char *exception;
        int code;
} meanings[] = {
        {"FileNotFoundException", -ENOENT},
        {"FileAlreadyExistsException", -EEXIST},
        {"ParentNotDirectoryException", -ENOTDIR},
        {"DSQuotaExceededException", -EDQUOT},
        {"NSQuotaExceededException", -EDQUOT},
        {"PathIsNotEmptyDirectoryException", -ENOTEMPTY},
        {"AccessControlException", -EACCES},
        {"SecurityException", -EACCES},
        {"InvalidToken", -EACCES},
};

static int webhdfs_code_of(int status, const char *exception, const char *message)
{
        for (size_t i = 0; exception && i < ARRAY_SIZE(meanings); i++)
                if (strcmp(exception, meanings[i].exception) == 0)
                        return meanings[i].code;
        if (message && strstr(message, "directory is not empty"))
                return -ENOTEMPTY;
        return status == 404 ? -ENOENT : status == 401 || status == 403 ? -EACCES : -EIO;
}

int webhdfs_error(const struct http_answer *answer, const char *path, const char *who, struct fst_error *error)
{
        json_t *root = json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
        json_t *exception = json_object_get(root, "RemoteException");
        const char *message = json_text_at(exception, "message");
        int code = webhdfs_code_of(answer->status, json_text_at(exception, "exception"), message);
        bool parent = message && strstr(message, "destination parent"); /* about the new name, not about @path */
        if (code == -ENOENT && !parent)
                error_set(error, code, "File does not exist: %s", path);
        else if (message)
                error_set(error, code, "%s: %.*s", path, (int)strcspn(message, "\n"), message);
        else
                error_set(error, code, "%s: %s answers %d", path, who, answer->status);
        json_decref(root);
        return code;
}

static bool webhdfs_is_standby(const struct http_answer *answer)
{
        return answer->status == 403 && strstr(buf_text(&answer->body), "StandbyException");
}

/* The caller's sink. Once it has received data, no other namenode may be tried. */
struct webhdfs_delivery {
        remote_sink sink;
        void *context;
        bool began;
};

static int webhdfs_deliver(void *context, const char *data, size_t n)
{
        struct webhdfs_delivery *d = context;
        d->began = true;
        return d->sink(d->context, data, n);
}

/* How a request proves its user. */
struct webhdfs_proof {
        bool kerberos;     /* the cluster wants a proof */
        char *token;       /* a delegation token, or NULL */
        char *user, *doas; /* the user's name without Kerberos; the user to act for. Or NULL */
};

static void webhdfs_proof_init(struct webhdfs_proof *p, const struct hadoop_conf *conf, const char *path,
                               const struct webhdfs_request *q)
{
        p->kerberos = hadoop_conf_is_secure(conf);
        p->token = p->kerberos && !q->about_tokens ? hdfs_tokens_find(conf, path) : NULL;
        p->user = p->kerberos ? NULL : hadoop_conf_real_user(conf);
        p->doas = p->token ? NULL : hadoop_conf_proxy_user(conf); /* a token is already the other user's */
}

static void webhdfs_proof_deinit(struct webhdfs_proof *p)
{
        hadoop_token_text_free(p->token);
        free(p->user);
        free(p->doas);
}

static void webhdfs_proof_put(const struct webhdfs_proof *p, struct buf *url)
{
        if (p->token)
                buf_printf(url, "&delegation=%s", p->token);
        if (p->user) {
                buf_puts(url, "&user.name=");
                percent_encode(url, p->user, "");
        }
        if (p->doas) {
                buf_puts(url, "&doas=");
                percent_encode(url, p->doas, "");
        }
}

/* The answer's error, with the remedy if the proof was refused. */
static int webhdfs_refused(const struct webhdfs_proof *p, const struct http_answer *answer, const char *path,
                           struct fst_error *error)
{
        const int r = webhdfs_error(answer, path, "the namenode", error);
        const char *remedy = NULL;
        if (answer->status == 401 && p->kerberos && !p->token)
                remedy =
                        "there is no valid Kerberos ticket for it: get one with kinit, or set --principal and --keytab";
        else if (p->token && strstr(buf_text(&answer->body), "InvalidToken"))
                remedy = "the delegation token has expired or was cancelled: submit with --principal and --keytab, so "
                         "that new tokens are fetched in time";
        if (!remedy || !error)
                return r;
        _cleanup_free_ char *message = mem_strdup(error_message(error));
        return error_set(error, r, "%s (%s)", message, remedy);
}

int webhdfs_send(struct remote_call *c, const char *path, const struct webhdfs_request *q, struct fst_error *error)
{
        struct webhdfs_delivery delivery = {.sink = q->sink, .context = q->context};
        _cleanup_(url_list_deinit) struct url_list urls = {0};
        _cleanup_(webhdfs_proof_deinit) struct webhdfs_proof proof;
        webhdfs_proof_init(&proof, c->conf, path, q);
        int result = webhdfs_addresses(c->conf, path, &urls, error);
        for (size_t i = 0; result == 0 && i < urls.len; i++) {
                _cleanup_(buf_deinit_secret) struct buf url = BUF_INIT; /* it holds the token */
                const char *name = path_local(path);
                buf_printf(&url, "%s/webhdfs/v1", urls.data[i]);
                percent_encode(&url, *name ? name : "/", "/");
                buf_printf(&url, "?op=%s", q->operation);
                webhdfs_proof_put(&proof, &url);
                int got = http_perform(c->http,
                                       &(struct http_request){.url = buf_text(&url),
                                                              .method = q->method,
                                                              .follow = !q->method,
                                                              .sink = q->sink ? webhdfs_deliver : NULL,
                                                              .context = &delivery,
                                                              .negotiate = proof.kerberos && !proof.token},
                                       &c->answer, error);
                bool last = i + 1 == urls.len || delivery.began;
                if (!last && (got == -ECONNREFUSED || got == -EHOSTUNREACH || got == -ETIMEDOUT ||
                              (got == 0 && webhdfs_is_standby(&c->answer))))
                        continue;
                if (got < 0)
                        return error_wrap(error, got, "%s", path);
                if (c->answer.status != (q->expected ? q->expected : 200))
                        return webhdfs_refused(&proof, &c->answer, path, error);
                error_deinit(error);
                return 0;
        }
        return result;
}

static bool webhdfs_fill_status(json_t *from, struct file_status *status)
{
        const char *type = json_text_at(from, "type");
        json_t *length = json_object_get(from, "length"), *time = json_object_get(from, "modificationTime");
        if (!type || !json_is_integer(length) || json_integer_value(length) < 0)
                return false;
        status->directory = strcmp(type, "DIRECTORY") == 0;
        status->size = (uint64_t)json_integer_value(length);
        status->modified_ms = json_integer_value(time);
        json_int_t block = json_int_at(from, "blockSize"); /* 0 for a directory */
        status->block_size = block > 0 ? (uint64_t)block : USUAL_BLOCK;
        const char *permission = json_string_value(json_object_get(from, "permission")); /* "644", "1777" */
        status->permission = permission ? (unsigned)strtoul(permission, NULL, 8) & 0777 : 0;
        return true;
}

static int webhdfs_bad_answer(const char *path, struct fst_error *error)
{
        return error_set(error, -EPROTO, "%s: the server at the namenode's address does not support WebHDFS", path);
}

int webhdfs_stat(struct remote_call *c, const char *path, struct file_status *status, struct fst_error *error)
{
        struct file_status got = {0};
        int result = webhdfs_send(c, path, &(struct webhdfs_request){.operation = "GETFILESTATUS"}, error);
        if (result < 0)
                return result;
        json_t *root = json_loadb(buf_text(&c->answer.body), c->answer.body.len, 0, NULL);
        bool good = webhdfs_fill_status(json_object_get(root, "FileStatus"), &got);
        json_decref(root);
        if (!good)
                return webhdfs_bad_answer(path, error);
        got.path = mem_strdup(path);
        *status = got;
        return 0;
}

int webhdfs_list(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error)
{
        int result = webhdfs_send(c, path, &(struct webhdfs_request){.operation = "LISTSTATUS"}, error);
        if (result < 0)
                return result;
        json_t *root = json_loadb(buf_text(&c->answer.body), c->answer.body.len, 0, NULL);
        json_t *entries = json_at(root, "FileStatuses.FileStatus"), *entry;
        bool good = json_is_array(entries);
        size_t i;
        json_array_foreach(entries, i, entry) {
                struct file_status status = {0};
                const char *name = json_text_at(entry, "pathSuffix");
                if (!name || strchr(name, '/') || !webhdfs_fill_status(entry, &status)) {
                        good = false;
                        break;
                }
                status.path = *name ? path_join(path, name) : mem_strdup(path);
                vec_push(list, status);
        }
        json_decref(root);
        return good ? 0 : webhdfs_bad_answer(path, error);
}

/* Appends one block of the answer. False if it is invalid. */
static bool webhdfs_put_block(json_t *block, struct block_list *list)
{
        json_t *offset = json_object_get(block, "offset"), *length = json_object_get(block, "length");
        json_t *hosts = json_object_get(block, "hosts"), *host;
        struct buf names = BUF_INIT;
        size_t i;
        if (!json_is_integer(offset) || !json_is_integer(length) || json_integer_value(offset) < 0 ||
            json_integer_value(length) < 0)
                return false;
        json_array_foreach(hosts, i, host) {
                const char *name = json_string_value(host);
                if (name && *name && !strchr(name, '\n'))
                        buf_printf(&names, "%s\n", name);
        }
        vec_push(list, (struct block_place){.offset = (uint64_t)json_integer_value(offset),
                                            .length = (uint64_t)json_integer_value(length),
                                            .hosts = buf_steal(&names)});
        return true;
}

int webhdfs_hosts(struct remote_call *c, const char *path, struct block_list *list, struct fst_error *error)
{
        int result = webhdfs_send(c, path, &(struct webhdfs_request){.operation = "GETFILEBLOCKLOCATIONS"}, NULL);
        if (result == -EIO || result == -EINVAL) /* the namenode does not support this request */
                return 0;
        if (result < 0)
                return error_set(error, result, "%s: the hosts of its blocks are unknown", path);
        json_t *root = json_loadb(buf_text(&c->answer.body), c->answer.body.len, 0, NULL);
        json_t *blocks = json_at(root, "BlockLocations.BlockLocation"), *block;
        bool good = json_is_array(blocks);
        size_t i;
        json_array_foreach(blocks, i, block)
                good = good && webhdfs_put_block(block, list);
        json_decref(root);
        return good ? 0 : webhdfs_bad_answer(path, error);
}

ssize_t webhdfs_read(struct remote_call *c, const char *path, void *data, size_t size, uint64_t offset,
                     struct fst_error *error)
{
        _cleanup_free_ char *operation = mem_printf("OPEN&offset=%" PRIu64 "&length=%zu", offset, size);
        struct remote_range range = {.data = data, .size = size};
        int result = webhdfs_send(
                c, path, &(struct webhdfs_request){.operation = operation, .sink = remote_range_put, .context = &range},
                error);
        return result < 0 ? result : (ssize_t)range.filled;
}

int webhdfs_fetch(struct remote_call *c, const char *path, remote_sink sink, void *context, struct fst_error *error)
{
        return webhdfs_send(c, path, &(struct webhdfs_request){.operation = "OPEN", .sink = sink, .context = context},
                            error);
}
