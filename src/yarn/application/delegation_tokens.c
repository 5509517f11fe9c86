/* See delegation_tokens.h. */
#include "yarn/application/delegation_tokens.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "hadoop/credentials.h"
#include "io/fs/hdfs_tokens.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs.h"
#include "net/kerberos.h"
#include "yarn/conf/yarn_conf.h"

#include <ctype.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#define LOG "HadoopFSDelegationTokenProvider"
#define ACCESS_KEY "spark.kerberos.access.hadoopFileSystems"
#define EXCLUDE_KEY "spark.kerberos.renewal.exclude.hadoopFileSystems"
#define RENEWER_KEY "yarn.resourcemanager.principal"

/* ----------------------------------------------------------------------------------------------------- file systems */

/* Appends the words of a list: "a, b". */
static void token_list_split(const char *text, struct string_list *out)
{
        for (const char *p = text ? text : ""; *p;) {
                p += strspn(p, ", \t\r\n");
                const size_t len = strcspn(p, ", \t\r\n");
                if (len)
                        string_list_take(out, mem_strndup(p, len));
                p += len;
        }
}

/* The length of "scheme://host:port" in a URI; 0 without them. */
static size_t token_root_length(const char *uri)
{
        const size_t scheme = path_scheme_len(uri);
        if (!scheme || strncmp(uri + scheme, "://", 3) != 0)
                return 0;
        return scheme + 3 + strcspn(uri + scheme + 3, "/");
}

/* Adds the root of the file system of @uri, if tokens exist for its scheme. */
static void token_roots_add(struct string_list *roots, const char *uri)
{
        const size_t len = token_root_length(uri);
        _cleanup_free_ char *root = mem_printf("%.*s/", (int)len, uri);
        if (!len || !remote_fs_knows(root))
                return;
        for (size_t i = 0; i < roots->len; i++)
                if (strcmp(roots->data[i], root) == 0)
                        return;
        string_list_take(roots, steal(root));
}

static void token_roots_add_nameservices(struct string_list *roots, const struct yarn_conf *yarn)
{
        _cleanup_(string_list_deinit) struct string_list names = {0};
        _cleanup_free_ char *text = hadoop_conf_get(&yarn->hadoop, "dfs.nameservices");
        token_list_split(text, &names);
        for (size_t i = 0; i < names.len; i++) {
                _cleanup_free_ char *uri = mem_printf("hdfs://%s/", names.data[i]);
                token_roots_add(roots, uri);
        }
}

int delegation_tokens_roots(const struct fst_conf *conf, const struct yarn_conf *yarn, struct string_list *out,
                            struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list named = {0};
        _cleanup_free_ char *list = NULL, *staging = NULL;
        _cleanup_free_ char *first = hadoop_conf_get(&yarn->hadoop, "fs.defaultFS");
        int r = conf_get_string(conf, ACCESS_KEY, &list, error);
        r = r < 0 ? r : conf_get_string(conf, "spark.yarn.stagingDir", &staging, error);
        if (r < 0)
                return r;
        token_list_split(list, &named);
        for (size_t i = 0; i < named.len; i++) {
                if (!path_scheme_len(named.data[i]))
                        return error_set(error, -EINVAL, ACCESS_KEY " names \"%s\", which is not a URI (\"hdfs://…\")",
                                         named.data[i]);
                token_roots_add(out, named.data[i]);
        }
        if (!named.len)
                token_roots_add_nameservices(out, yarn);
        if (staging)
                token_roots_add(out, staging);
        if (first)
                token_roots_add(out, first);
        return 0;
}

/* Whether the host of @root is that of a file system in the list @excluded. */
static bool token_root_is_excluded(const char *root, const struct string_list *excluded)
{
        const char *host = strstr(root, "://") + 3;
        const size_t len = strcspn(host, ":/");
        for (size_t i = 0; i < excluded->len; i++) {
                const char *other = strstr(excluded->data[i], "://");
                if (other && strcspn(other + 3, ":/") == len && strncmp(other + 3, host, len) == 0)
                        return true;
        }
        return false;
}

/* ---------------------------------------------------------------------------------------------------------- renewer */

/* The name of this machine, as complete as it is known. Owned. */
static char *token_own_host(void)
{
        const struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        char name[256] = "localhost";
        gethostname(name, sizeof(name) - 1);
        char *host = NULL;
        if (getaddrinfo(name, NULL, &hints, &found) == 0 && found->ai_canonname)
                host = mem_strdup(found->ai_canonname);
        if (found)
                freeaddrinfo(found);
        return host ? host : mem_strdup(name);
}

char *delegation_tokens_renewer(const struct yarn_conf *yarn, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list addresses = {0};
        _cleanup_free_ char *principal = hadoop_conf_get(&yarn->hadoop, RENEWER_KEY);
        const char *place = principal ? strstr(principal, "/_HOST") : NULL;
        if (!principal || !*principal) {
                error_set(error, -EINVAL,
                          "Can't get Master Kerberos principal for use as renewer: set " RENEWER_KEY
                          " in yarn-site.xml");
                return NULL;
        }
        if (!place)
                return steal(principal);
        if (yarn_conf_addresses(yarn, YARN_RM_CLIENT, &addresses, error) < 0)
                return NULL;
        const char *address = addresses.data[0];
        const size_t len = strcspn(address, ":");
        const bool any = strncmp(address, "0.0.0.0", len) == 0;
        _cleanup_free_ char *host = any ? token_own_host() : mem_strndup(address, len);
        for (char *p = host; *p; p++)
                *p = (char)tolower((unsigned char)*p);
        return mem_printf("%.*s/%s%s", (int)(place - principal), principal, host, place + strlen("/_HOST"));
}

/* --------------------------------------------------------------------------------------------------------- fetching */

int delegation_tokens_wanted(const struct fst_conf *conf, const struct yarn_conf *yarn, bool *out,
                             struct fst_error *error)
{
        bool enabled = true;
        const int r = conf_get_bool(conf, "spark.security.credentials.hadoopfs.enabled", &enabled, error);
        if (r == 0)
                *out = enabled && yarn_conf_is_secure(yarn);
        return r;
}

/* Fetches the token of one file system. Returns 0, -ENODATA without @error if it has none, or negative with @error. */
static int token_fetch(struct remote_fs *remote, const char *root, const char *renewer, struct hadoop_token *token,
                       struct fst_error *error)
{
        log_info(LOG, "getting token for: %s with renewer %s", root, renewer);
        const int r = hdfs_token_fetch(remote, root, renewer, token, error);
        return r < 0 && r != -ENODATA ? error_wrap(error, r, "cannot get a delegation token of %s", root) : r;
}

int delegation_tokens_fetch(const struct fst_conf *conf, const struct yarn_conf *yarn, struct hadoop_credentials *out,
                            struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list roots = {0}, excluded = {0};
        _cleanup_free_ char *list = NULL, *renewer = NULL;
        struct remote_fs *remote = NULL;
        int r = delegation_tokens_roots(conf, yarn, &roots, error);
        r = r < 0 ? r : conf_get_string(conf, EXCLUDE_KEY, &list, error);
        if (r < 0 || !roots.len)
                return r;
        token_list_split(list, &excluded);
        renewer = delegation_tokens_renewer(yarn, error);
        r = renewer ? remote_fs_new(&yarn->hadoop, &remote, error) : -EINVAL;
        for (size_t i = 0; r == 0 && i < roots.len; i++) {
                struct hadoop_token token = {0};
                r = token_fetch(remote, roots.data[i], token_root_is_excluded(roots.data[i], &excluded) ? "" : renewer,
                                &token, error);
                if (r == 0)
                        hadoop_credentials_add(out, &token);
                r = r == -ENODATA ? 0 : r;
                hadoop_token_deinit(&token);
        }
        remote_fs_free(remote);
        return r;
}

/* Renews @token of @root and sets *@interval. Returns 0, or negative with @error. */
static int token_measure(struct remote_fs *remote, const char *root, const struct hadoop_token *token,
                         int64_t *interval, struct fst_error *error)
{
        struct hadoop_token_identifier id = {0};
        int64_t expires = 0;
        int r = hadoop_token_identify(token, &id);
        if (r < 0)
                return error_set(error, r, "the identifier of the token is not valid");
        const int64_t issued = id.issued_ms;
        hadoop_token_identifier_deinit(&id);
        r = hdfs_token_renew(remote, root, token, &expires, error);
        if (r == 0 && (issued < 0 || expires <= issued))
                r = error_set(error, -EPROTO, "a token issued at %lld expires at %lld", (long long)issued,
                              (long long)expires);
        if (r == 0)
                *interval = expires - issued;
        return r;
}

/* A token that was fetched only to learn its interval would be valid for days. */
static void token_cancel(struct remote_fs *remote, const char *root, const struct hadoop_token *token)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (hdfs_token_cancel(remote, root, token, &error) < 0)
                log_warn(LOG, "a token of %s is not needed any more, and cannot be cancelled: %s", root,
                         error_message(&error));
}

int delegation_tokens_interval(const struct fst_conf *conf, const struct yarn_conf *yarn, int64_t *out,
                               struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list roots = {0};
        _cleanup_free_ char *user = hadoop_conf_user(&yarn->hadoop);
        struct remote_fs *remote = NULL;
        int64_t shortest = INT64_MAX;
        int r = delegation_tokens_roots(conf, yarn, &roots, error);
        r = r < 0 ? r : remote_fs_new(&yarn->hadoop, &remote, error);
        for (size_t i = 0; r == 0 && i < roots.len; i++) {
                struct hadoop_token token = {0};
                struct fst_error why = FST_ERROR_INIT;
                int64_t interval = 0;
                r = token_fetch(remote, roots.data[i], user, &token, error);
                if (r == 0 && token_measure(remote, roots.data[i], &token, &interval, &why) == 0) {
                        shortest = MIN(shortest, interval);
                        log_info(LOG, "Renewal interval is %lld for token %s", (long long)interval, token.kind);
                } else if (r == 0) { /* the tokens of the other file systems are of use without it */
                        log_warn(LOG, "the renewal interval of tokens of %s is unknown: %s", roots.data[i],
                                 error_message(&why));
                }
                if (r == 0)
                        token_cancel(remote, roots.data[i], &token);
                r = r == -ENODATA ? 0 : r;
                error_deinit(&why);
                hadoop_token_deinit(&token);
        }
        remote_fs_free(remote);
        if (r == 0 && shortest == INT64_MAX)
                return -ENODATA;
        if (r == 0)
                *out = shortest;
        return r;
}

int64_t delegation_tokens_issued(const struct hadoop_credentials *credentials)
{
        int64_t oldest = INT64_MAX;
        for (size_t i = 0; i < credentials->tokens.len; i++) {
                struct hadoop_token_identifier id;
                if (hadoop_token_identify(&credentials->tokens.data[i], &id) < 0)
                        continue;
                oldest = MIN(oldest, id.issued_ms);
                hadoop_token_identifier_deinit(&id);
        }
        return oldest;
}

static bool credentials_have_file_system_token(const struct hadoop_credentials *c)
{
        return hadoop_credentials_find(c, HDFS_TOKEN, NULL) || hadoop_credentials_find(c, WEBHDFS_TOKEN, NULL) ||
               hadoop_credentials_find(c, SWEBHDFS_TOKEN, NULL);
}

int delegation_tokens_of_submission(const struct fst_conf *conf, const struct yarn_conf *yarn, const char *file,
                                    struct hadoop_credentials *out, struct fst_error *error)
{
        bool wanted = false;
        int r = file && *file ? hadoop_credentials_load(out, file, error) : 0;
        r = r < 0 ? r : delegation_tokens_wanted(conf, yarn, &wanted, error);
        if (r < 0 || !wanted)
                return r;
        _cleanup_free_ char *ticket = kerberos_principal();
        if (ticket)
                return delegation_tokens_fetch(conf, yarn, out, error);
        if (credentials_have_file_system_token(out))
                return 0; /* as inside another application */
        return error_set(error, -EACCES,
                         "hadoop.security.authentication is kerberos, but there is no Kerberos ticket: get one with "
                         "kinit, or set --principal and --keytab, or HADOOP_TOKEN_FILE_LOCATION to a file with "
                         "delegation tokens");
}
