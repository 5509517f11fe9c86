/* See filters.h. A token is parsed only after its signature was verified, in constant time. */
#include "web/filters.h"

#include "base/buf.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "net/crypto.h"
#include "net/http/http_server.h"
#include "text/json.h"
#include "web/am_ip_filter.h"

#include <jansson.h>
#include <strings.h>
#include <time.h>

#define JWS "org.apache.spark.ui.JWSFilter"
#define REMOTE_USER "firesteel.RemoteUserFilter"
#define MOST_BLOCK 128
#define MOST_TOKEN 16384

enum filter_kind { FILTER_JWS, FILTER_REMOTE_USER, FILTER_AM_IP };

struct filter {
        enum filter_kind kind;
        /* FILTER_JWS */
        struct buf key;
        bool require_expiration;
        /* FILTER_REMOTE_USER */
        char *header, *proxies;
        struct am_ip_filter *am_ip;
};

struct filters {
        const struct crypto_ops *crypto;
        VEC(struct filter) list;
};

/* ----------------------------------------------------------------------------------------------------------- tokens */

/* HMAC (RFC 2104) with a SHA-2 hash. */
static bool filters_hmac(const struct crypto_ops *crypto, const char *algorithm, size_t block, const struct buf *key,
                         const char *data, size_t len, uint8_t out[DIGEST_MAX], size_t *out_len)
{
        uint8_t padded[MOST_BLOCK] = {0}, inner[DIGEST_MAX];
        size_t n = key->len, inner_len;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (n <= block)
                memcpy(padded, key->data, n);
        else if (crypto->digest(algorithm, key->data, n, padded, &n) < 0)
                return false;
        for (size_t i = 0; i < block; i++)
                buf_putc(&text, (char)(padded[i] ^ 0x36));
        buf_append(&text, data, len);
        if (crypto->digest(algorithm, text.data, text.len, inner, &inner_len) < 0)
                return false;
        buf_reset(&text);
        for (size_t i = 0; i < block; i++)
                buf_putc(&text, (char)(padded[i] ^ 0x5c));
        buf_append(&text, inner, inner_len);
        explicit_bzero(padded, sizeof(padded));
        return crypto->digest(algorithm, text.data, text.len, out, out_len) >= 0;
}

static json_t *filters_read_object(const char *text, size_t len)
{
        _cleanup_(buf_deinit) struct buf json = BUF_INIT;
        json_t *root = base64_decode(text, len, &json) ? json_loadb(buf_text(&json), json.len, 0, NULL) : NULL;
        if (root && !json_is_object(root)) {
                json_decref(root);
                root = NULL;
        }
        return root;
}

static bool filters_signature_fits(const struct filters *f, const struct filter *filter, const char *token,
                                   size_t signed_len, const char *signature)
{
        static const struct {
                const char *name, *digest;
                size_t block, least_key;
        } algorithms[] = {{"HS256", "sha256", 64, 32}, {"HS384", "sha384", 128, 48}, {"HS512", "sha512", 128, 64}};
        json_t *header = filters_read_object(token, strcspn(token, "."));
        const char *name = json_text_at(header, "alg");
        _cleanup_(buf_deinit) struct buf given = BUF_INIT;
        uint8_t made[DIGEST_MAX], differ = 1;
        size_t n = 0;
        for (size_t i = 0; name && i < ARRAY_SIZE(algorithms); i++) {
                if (strcmp(name, algorithms[i].name) != 0 || filter->key.len < algorithms[i].least_key)
                        continue;
                if (!base64_decode(signature, strlen(signature), &given) ||
                    !filters_hmac(f->crypto, algorithms[i].digest, algorithms[i].block, &filter->key, token, signed_len,
                                  made, &n) ||
                    n != given.len)
                        break;
                differ = 0;
                for (size_t k = 0; k < n; k++)
                        differ |= (uint8_t)(made[k] ^ (uint8_t)given.data[k]);
        }
        json_decref(header);
        return differ == 0;
}

static bool filters_in_time(const struct filter *filter, const json_t *claims, int64_t now)
{
        const json_t *end = json_object_get(claims, "exp"), *begin = json_object_get(claims, "nbf");
        if ((end && !json_is_number(end)) || (begin && !json_is_number(begin)) || (!end && filter->require_expiration))
                return false;
        return (!end || json_number_value(end) > (double)now) && (!begin || json_number_value(begin) <= (double)now);
}

static int filters_check_jws(const struct filters *f, const struct filter *filter, const struct filter_request *q,
                             char **user, const char **refusal)
{
        const char *value = q->header(q->context, "Authorization");
        *refusal = !value ? "Authorization header is missing." : "Malformed Authorization header.";
        if (!value || !text_starts_with(value, "Bearer "))
                return 403;
        const char *token = value + strlen("Bearer ");
        const char *first = strchr(token, '.'), *second = first ? strchr(first + 1, '.') : NULL;
        *refusal = "JWT Validate Fail";
        if (!second || strlen(token) > MOST_TOKEN ||
            !filters_signature_fits(f, filter, token, (size_t)(second - token), second + 1))
                return 403;
        json_t *claims = filters_read_object(first + 1, (size_t)(second - first - 1));
        bool good = claims && filters_in_time(filter, claims, q->now_s);
        const char *subject = json_text_at(claims, "sub");
        if (good && subject) {
                free(*user);
                *user = mem_strdup(subject);
        }
        json_decref(claims);
        return good ? 0 : 403;
}

/* ----------------------------------------------------------------------------------------------------- remote users */

static bool filters_is_listed(const char *list, const char *peer)
{
        const char *colon = strrchr(peer, ':');
        size_t len = colon ? (size_t)(colon - peer) : strlen(peer);
        if (*peer == '[' && len >= 2) { /* "[::1]:4000" */
                peer++;
                len -= 2;
        }
        for (const char *p = list; *p;) {
                size_t n = strcspn(p, ", ");
                if (n == len && strncmp(p, peer, n) == 0)
                        return true;
                p += n + strspn(p + n, ", ");
        }
        return false;
}

static void filters_check_remote_user(const struct filter *filter, const struct filter_request *q, char **user)
{
        const char *value = filters_is_listed(filter->proxies, q->peer) ? q->header(q->context, filter->header) : NULL;
        if (value && *value) {
                free(*user);
                *user = mem_strdup(value);
        }
}

/* --------------------------------------------------------------------------------------------------------- lifetime */

/* The value of spark.CLASS.param.NAME, or of NAME in spark.CLASS.params ("NAME=value,…"). Owned by the caller. */
static char *filters_parameter(const struct fst_conf *conf, const char *class, const char *name)
{
        _cleanup_free_ char *key = mem_printf("spark.%s.param.%s", class, name);
        _cleanup_free_ char *all_key = mem_printf("spark.%s.params", class);
        const char *value = conf_get_raw(conf, key), *all = conf_get_raw(conf, all_key);
        if (value)
                return mem_strdup(value);
        size_t n = strlen(name);
        for (const char *p = all; p && *p;) {
                size_t len = strcspn(p, ",");
                if (len > n && strncmp(p, name, n) == 0 && p[n] == '=')
                        return mem_strndup(p + n + 1, len - n - 1);
                p += len + (p[len] == ',');
        }
        return NULL;
}

static int filters_add_jws(struct filters *f, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *key = filters_parameter(conf, JWS, "secretKey");
        _cleanup_free_ char *expiration = filters_parameter(conf, JWS, "requireExpiration");
        struct filter filter = {.kind = FILTER_JWS,
                                .require_expiration = expiration && strcasecmp(expiration, "true") == 0};
        if (!key || !base64_decode(key, strlen(key), &filter.key) || filter.key.len < 32) {
                buf_deinit(&filter.key);
                return error_set(error, -EINVAL,
                                 "spark." JWS ".param.secretKey is not a valid key: write at least 32 bytes in "
                                 "base64url");
        }
        int r = f->crypto ? 0 : crypto_load(&f->crypto, error);
        vec_push(&f->list, filter);
        return r;
}

static int filters_add_am_ip(struct filters *f, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *hosts = filters_parameter(conf, AM_IP_FILTER, "PROXY_HOSTS");
        _cleanup_free_ char *bases = filters_parameter(conf, AM_IP_FILTER, "PROXY_URI_BASES");
        _cleanup_free_ char *managers = filters_parameter(conf, AM_IP_FILTER, "RM_HA_URLS");
        struct filter filter = {.kind = FILTER_AM_IP};
        const int r = am_ip_filter_new(hosts, bases, managers, (int64_t)time(NULL), &filter.am_ip, error);
        if (r == 0)
                vec_push(&f->list, filter);
        return r;
}

static int filters_add_filter(struct filters *f, const struct fst_conf *conf, const char *key, const char *name,
                              struct fst_error *error)
{
        if (strcmp(name, JWS) == 0)
                return filters_add_jws(f, conf, error);
        if (strcmp(name, AM_IP_FILTER) == 0 && strcmp(key, "spark.ui.filters") == 0)
                return filters_add_am_ip(f, conf, error);
        if (strcmp(name, REMOTE_USER) != 0)
                return error_set(error, -EINVAL,
                                 "%s: %s is a JVM class, which Firesteel cannot load. Use " JWS " or " REMOTE_USER
                                 ", or remove the filter: it is not ignored, because it restricts access",
                                 key, name);
        struct filter filter = {.kind = FILTER_REMOTE_USER,
                                .header = filters_parameter(conf, REMOTE_USER, "header"),
                                .proxies = filters_parameter(conf, REMOTE_USER, "proxies")};
        if (!filter.header)
                filter.header = mem_strdup("X-Remote-User");
        if (!filter.proxies)
                filter.proxies = mem_strdup("127.0.0.1,::1");
        vec_push(&f->list, filter);
        return 0;
}

int filters_new(const struct fst_conf *conf, const char *key, struct filters **out, struct fst_error *error)
{
        _cleanup_free_ char *names = NULL;
        struct filters *f = new0(struct filters);
        int r = conf_get_string(conf, key, &names, error);
        for (char *at = names, *name; r == 0 && (name = strsep(&at, ", "));)
                if (*name)
                        r = filters_add_filter(f, conf, key, name, error);
        if (r < 0 || f->list.len == 0) {
                filters_free(f);
                f = NULL;
        }
        if (r == 0)
                *out = f;
        return r;
}

void filters_free(struct filters *f)
{
        if (!f)
                return;
        for (size_t i = 0; i < f->list.len; i++) {
                struct filter *filter = &f->list.data[i];
                buf_deinit_secret(&filter->key);
                free(filter->header);
                free(filter->proxies);
                am_ip_filter_free(filter->am_ip);
        }
        vec_deinit(&f->list);
        free(f);
}

/* Also refuses a direct request whose owner did not redirect it. */
static int filters_check_am_ip(const struct filter *filter, const struct filter_request *q, char **user,
                               const char **refusal)
{
        *refusal = "Use the proxy of YARN.";
        if (!am_ip_filter_is_proxy(filter->am_ip, q->peer, q->now_s))
                return 403;
        char *named = am_ip_filter_user(q->header(q->context, "Cookie"));
        if (named) {
                free(*user);
                *user = named;
        }
        return 0;
}

int filters_pass(const struct filters *f, const struct filter_request *request, char **user, const char **refusal)
{
        char *known = NULL;
        for (size_t i = 0; f && i < f->list.len; i++) {
                const struct filter *filter = &f->list.data[i];
                int status = 0;
                if (filter->kind == FILTER_JWS)
                        status = filters_check_jws(f, filter, request, &known, refusal);
                else if (filter->kind == FILTER_AM_IP)
                        status = filters_check_am_ip(filter, request, &known, refusal);
                else
                        filters_check_remote_user(filter, request, &known);
                if (status) {
                        free(known);
                        return status;
                }
        }
        *user = known;
        return 0;
}

static const char *filters_header_of_call(const void *context, const char *name)
{
        return http_call_header(context, name);
}

int filters_pass_call(const struct filters *f, const struct http_call *call, char **user, const char **refusal)
{
        struct filter_request request = {
                .header = filters_header_of_call, .context = call, .peer = call->peer, .now_s = (int64_t)time(NULL)};
        return filters_pass(f, &request, user, refusal);
}

char *filters_redirect(const struct filters *f, const struct http_call *call)
{
        for (size_t i = 0; f && i < f->list.len; i++) {
                const struct filter *filter = &f->list.data[i];
                if (filter->kind == FILTER_AM_IP &&
                    !am_ip_filter_is_proxy(filter->am_ip, call->peer, (int64_t)time(NULL)))
                        return am_ip_filter_location(filter->am_ip, call->path, call->query);
        }
        return NULL;
}

bool filters_ask_for_token(const struct filters *f)
{
        for (size_t i = 0; f && i < f->list.len; i++)
                if (f->list.data[i].kind == FILTER_JWS)
                        return true;
        return false;
}

const char *filters_user_header(const struct filters *f)
{
        for (size_t i = 0; f && i < f->list.len; i++)
                if (f->list.data[i].kind == FILTER_REMOTE_USER)
                        return f->list.data[i].header;
        return NULL;
}
