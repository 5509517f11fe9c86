/*
 * See hdfs_tokens.h.
 *
 * The tokens are state of the process. Task processes are forked before the driver sends new tokens, so these go
 * through shared memory: the writer makes `version` odd, copies, and makes it even; a reader copies between two equal
 * even versions.
 */
#include "io/fs/hdfs_tokens.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "hadoop/credentials.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs_internal.h"
#include "io/fs/uri.h"
#include "text/json.h"
#include "text/percent.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <jansson.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LOG "HdfsTokens"
#define TOKEN_FILE "HADOOP_TOKEN_FILE_LOCATION"
#define MAX_SHARED ((size_t)256 << 10)

struct shared_tokens {
        _Atomic uint64_t version; /* odd while it is written; 0: nothing was written yet */
        /* A reader that gets a byte of a newer version also gets that version. TSan rejects fences. */
        _Atomic size_t len;
        _Atomic char stream[]; /* credentials */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by `lock`. */
static struct hadoop_credentials tokens;
static bool loaded;           /* `tokens` are those of the environment, or of hdfs_tokens_add */
static uint64_t seen_version; /* of the shared ones, which `tokens` hold */
static struct shared_tokens *shared;

/* ---------------------------------------------------------------------------------------------- of this process */

static void hdfs_tokens_load(void)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *file = getenv(TOKEN_FILE);
        loaded = true;
        hadoop_credentials_deinit(&tokens);
        tokens = (struct hadoop_credentials){0};
        if (file && *file && hadoop_credentials_load(&tokens, file, &error) < 0)
                log_warn(LOG, TOKEN_FILE ": %s", error_message(&error));
}

static void hdfs_tokens_replace(const void *stream, size_t len)
{
        struct hadoop_credentials fresh = {0};
        if (hadoop_credentials_read(&fresh, stream, len, NULL) < 0)
                return;
        hadoop_credentials_deinit(&tokens);
        tokens = fresh;
        loaded = true;
}

/* Takes the tokens that another process has written. */
static void hdfs_tokens_take_shared(void)
{
        const uint64_t version = shared ? atomic_load(&shared->version) : 0;
        if (version == seen_version || version % 2)
                return;
        _cleanup_(buf_deinit_secret) struct buf copy = BUF_INIT;
        const size_t len = MIN(atomic_load(&shared->len), MAX_SHARED);
        buf_reserve(&copy, len);
        for (; copy.len < len; copy.len++)
                copy.data[copy.len] = atomic_load_explicit(&shared->stream[copy.len], memory_order_acquire);
        if (atomic_load(&shared->version) != version)
                return; /* the next request sees them */
        hdfs_tokens_replace(copy.data, copy.len);
        seen_version = version;
}

static void hdfs_tokens_put_shared(const struct buf *stream)
{
        if (stream->len > MAX_SHARED) {
                log_warn(LOG, "tokens of %zu bytes are too long for task processes (%zu bytes at most)", stream->len,
                         MAX_SHARED);
                return;
        }
        const uint64_t version = atomic_load(&shared->version);
        atomic_store(&shared->version, version + 1);
        for (size_t i = 0; i < stream->len; i++)
                atomic_store_explicit(&shared->stream[i], stream->data[i], memory_order_release);
        atomic_store(&shared->len, stream->len);
        atomic_store(&shared->version, version + 2);
        seen_version = version + 2;
}

void hdfs_tokens_share(void)
{
        void *memory = mmap(NULL, sizeof(struct shared_tokens) + MAX_SHARED, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED)
                shared = memory;
}

void hdfs_tokens_add(const struct hadoop_credentials *credentials)
{
        _cleanup_(buf_deinit_secret) struct buf stream = BUF_INIT;
        pthread_mutex_lock(&lock);
        if (!loaded)
                hdfs_tokens_load();
        for (size_t i = 0; i < credentials->tokens.len; i++)
                hadoop_credentials_add(&tokens, &credentials->tokens.data[i]);
        if (shared) {
                hadoop_credentials_write(&tokens, &stream);
                hdfs_tokens_put_shared(&stream);
        }
        pthread_mutex_unlock(&lock);
}

void hdfs_tokens_reset(void)
{
        pthread_mutex_lock(&lock);
        hdfs_tokens_load();
        pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------------------------------------------ services */

static bool hadoop_conf_is_nameservice(const struct hadoop_conf *conf, const char *host)
{
        _cleanup_free_ char *nodes_key = mem_printf("dfs.ha.namenodes.%s", host);
        _cleanup_free_ char *proxy_key = mem_printf("dfs.client.failover.proxy.provider.%s", host);
        _cleanup_free_ char *nodes = hadoop_conf_get(conf, nodes_key), *proxy = hadoop_conf_get(conf, proxy_key);
        return nodes || proxy;
}

/* "10.0.0.1" of a host name. Owned; NULL if it is unknown. */
static char *hdfs_host_address(const char *host)
{
        const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        char text[INET6_ADDRSTRLEN] = "";
        struct in_addr plain;
        if (inet_pton(AF_INET, host, &plain) == 1)
                return mem_strdup(host);
        if (getaddrinfo(host, NULL, &hints, &found) != 0)
                return NULL;
        for (const struct addrinfo *a = found; a && !*text; a = a->ai_next)
                if (a->ai_family == AF_INET || !a->ai_next)
                        getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
        freeaddrinfo(found);
        return *text ? mem_strdup(text) : NULL;
}

static const char *hdfs_token_kind(const char *path, const char **port)
{
        static const struct {
                const char *scheme, *kind, *port;
        } kinds[] = {{"hdfs:", HDFS_TOKEN, "8020"},
                     {"webhdfs:", WEBHDFS_TOKEN, "9870"},
                     {"swebhdfs:", SWEBHDFS_TOKEN, "9871"}};
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                if (strncmp(path, kinds[i].scheme, strlen(kinds[i].scheme)) == 0) {
                        *port = kinds[i].port;
                        return kinds[i].kind;
                }
        }
        return NULL;
}

/* The service with the host as an address (@ip) or as a name. Owned. */
static char *hdfs_token_service_of(const struct hadoop_conf *conf, const char *path, const char *port, bool ip)
{
        _cleanup_free_ char *authority = remote_authority(path);
        if (!*authority) { /* "hdfs:///x" is on fs.defaultFS */
                _cleanup_free_ char *first = hadoop_conf_get(conf, "fs.defaultFS");
                free(authority);
                authority = first ? remote_authority(first) : mem_strdup("");
        }
        char *colon = strrchr(authority, ':');
        if (!colon && hadoop_conf_is_nameservice(conf, authority))
                return mem_printf("ha-%.*s:%s", (int)path_scheme_len(path), path, authority);
        if (colon)
                *colon = '\0';
        _cleanup_free_ char *address = ip ? hdfs_host_address(authority) : NULL;
        char *service = mem_printf("%s:%s", address ? address : authority, colon ? colon + 1 : port);
        for (char *p = service; *p; p++)
                *p = (char)tolower((unsigned char)*p);
        return service;
}

char *hdfs_token_service(const struct hadoop_conf *conf, const char *path, const char **kind)
{
        const char *port = NULL;
        *kind = hdfs_token_kind(path, &port);
        if (!*kind)
                return NULL;
        return hdfs_token_service_of(conf, path, port,
                                     hadoop_conf_flag(conf, "hadoop.security.token.service.use_ip", true));
}

/* Whether the owner of @token is @user, or unknown. */
static bool hdfs_token_is_of(const struct hadoop_token *token, const char *user)
{
        struct hadoop_token_identifier id;
        if (hadoop_token_identify(token, &id) < 0)
                return true;
        const size_t len = strcspn(id.owner, "/@");
        const bool same = strcspn(user, "/@") == len && strncmp(id.owner, user, len) == 0;
        hadoop_token_identifier_deinit(&id);
        return same;
}

char *hdfs_tokens_find(const struct hadoop_conf *conf, const char *path)
{
        _cleanup_free_ char *other = hadoop_conf_proxy_user(conf);
        const struct hadoop_token *found = NULL;
        const char *port = NULL, *kind = hdfs_token_kind(path, &port);
        char *text = NULL;
        pthread_mutex_lock(&lock);
        if (!loaded)
                hdfs_tokens_load();
        hdfs_tokens_take_shared();
        const bool any = kind && hadoop_credentials_find(&tokens, kind, NULL);
        pthread_mutex_unlock(&lock);
        if (!any)
                return NULL;                       /* and no host name is looked up */
        for (int ip = 1; ip >= 0 && !text; ip--) { /* other clients may name the host */
                _cleanup_free_ char *service = hdfs_token_service_of(conf, path, port, ip);
                pthread_mutex_lock(&lock);
                found = hadoop_credentials_find(&tokens, kind, service);
                if (found && other && !hdfs_token_is_of(found, other))
                        found = NULL; /* the real user's: with it, the request would act for that one */
                text = found ? hadoop_token_to_text(found) : NULL;
                pthread_mutex_unlock(&lock);
        }
        return text;
}

/* ------------------------------------------------------------------------------------------------------ requests */

static int hdfs_token_read(struct remote_call *c, const char *path, const char *service, const char *kind,
                           struct hadoop_token *token, struct fst_error *error)
{
        json_t *root = json_loadb(buf_text(&c->answer.body), c->answer.body.len, 0, NULL);
        const char *text = json_text_at(json_object_get(root, "Token"), "urlString");
        struct hadoop_token read = {0};
        int r = text ? hadoop_token_from_text(text, &read, error)
                     : error_set(error, -EPROTO,
                                 "the namenode's answer has no token (is its "
                                 "hadoop.security.authentication kerberos?)");
        json_decref(root);
        buf_deinit_secret(&c->answer.body);
        if (r < 0)
                return error_wrap(error, r, "%s", path);
        free(read.alias);
        free(read.kind);
        free(read.service);
        read.alias = mem_strdup(service);
        read.kind = mem_strdup(kind);
        read.service = mem_strdup(service);
        *token = read;
        return 0;
}

int hdfs_token_fetch(struct remote_fs *remote, const char *path, const char *renewer, struct hadoop_token *token,
                     struct fst_error *error)
{
        _cleanup_(remote_call_end) struct remote_call *c = NULL;
        _cleanup_(buf_deinit) struct buf operation = BUF_INIT;
        const char *kind;
        int r = remote_call_begin(remote, &c, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *service = hdfs_token_service(c->conf, path, &kind);
        if (!service)
                return -ENODATA;
        buf_puts(&operation, "GETDELEGATIONTOKEN&renewer=");
        percent_encode(&operation, renewer, "");
        buf_puts(&operation, "&service=");
        percent_encode(&operation, service, "");
        buf_puts(&operation, "&kind=");
        percent_encode(&operation, kind, "");
        r = webhdfs_send(c, path, &(struct webhdfs_request){.operation = buf_text(&operation), .about_tokens = true},
                         error);
        return r < 0 ? r : hdfs_token_read(c, path, service, kind, token, error);
}

/* Sends @operation, whose argument is the token itself. The caller ends *@c. */
static int hdfs_token_send(struct remote_fs *remote, const char *path, const char *operation,
                           const struct hadoop_token *token, struct remote_call **c, struct fst_error *error)
{
        _cleanup_(hadoop_token_text_freep) char *text = hadoop_token_to_text(token);
        _cleanup_(hadoop_token_text_freep) char *whole = mem_printf("%s&token=%s", operation, text);
        const int r = remote_call_begin(remote, c, error);
        return r < 0 ? r
                     : webhdfs_send(
                               *c, path,
                               &(struct webhdfs_request){.method = "PUT", .operation = whole, .about_tokens = true},
                               error);
}

int hdfs_token_cancel(struct remote_fs *remote, const char *path, const struct hadoop_token *token,
                      struct fst_error *error)
{
        _cleanup_(remote_call_end) struct remote_call *c = NULL;
        return hdfs_token_send(remote, path, "CANCELDELEGATIONTOKEN", token, &c, error);
}

int hdfs_token_renew(struct remote_fs *remote, const char *path, const struct hadoop_token *token, int64_t *expires_ms,
                     struct fst_error *error)
{
        _cleanup_(remote_call_end) struct remote_call *c = NULL;
        int r = hdfs_token_send(remote, path, "RENEWDELEGATIONTOKEN", token, &c, error);
        if (r < 0)
                return r;
        json_t *root = json_loadb(buf_text(&c->answer.body), c->answer.body.len, 0, NULL);
        json_t *expires = json_object_get(root, "long");
        if (json_is_integer(expires))
                *expires_ms = json_integer_value(expires);
        else
                r = error_set(error, -EPROTO, "%s: the namenode's answer has no time of expiry", path);
        json_decref(root);
        return r;
}
