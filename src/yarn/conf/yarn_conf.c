/* See yarn_conf.h. */
#include "yarn/conf/yarn_conf.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RM_WEB_HTTPS (YARN_RM_WEB + 1) /* YARN_RM_WEB with yarn.http.policy=HTTPS_ONLY */
#define DEFAULT_HOST "0.0.0.0"
#define PRINCIPAL_KEY "yarn.resourcemanager.principal"
#define DEFAULT_MAX_WAIT_MS (15 * 60 * 1000)
#define DEFAULT_RETRY_MS 30000
#define DEFAULT_FAILOVER_MS 500 /* between two rounds over several ResourceManagers */

static const struct {
        const char *key; /* the whole address; ".ID" follows with several ResourceManagers */
        int port;
        const char *protocol, *title;
} yarn_services[] = {
        [YARN_RM_CLIENT] = {"yarn.resourcemanager.address", 8032,
                            "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB", "ResourceManager"},
        [YARN_RM_SCHEDULER] = {"yarn.resourcemanager.scheduler.address", 8030,
                               "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB", "ResourceManager's scheduler"},
        [YARN_RM_WEB] = {"yarn.resourcemanager.webapp.address", 8088, NULL, "ResourceManager's web interface"},
        [RM_WEB_HTTPS] = {"yarn.resourcemanager.webapp.https.address", 8090, NULL, "ResourceManager's web interface"},
};

int yarn_conf_load(struct yarn_conf *conf, const struct strmap *spark, const char *(*env)(const char *name),
                   struct fst_error *error)
{
        struct hadoop_conf hadoop = {0};
        hadoop_conf_init(&hadoop, env);
        const int r = hadoop_conf_load_yarn(&hadoop, spark, error);
        if (r < 0)
                hadoop_conf_deinit(&hadoop);
        else
                conf->hadoop = hadoop;
        return r;
}

void yarn_conf_deinit(struct yarn_conf *conf)
{
        hadoop_conf_deinit(&conf->hadoop);
}

char *yarn_conf_get(const struct yarn_conf *conf, const char *key, const char *otherwise)
{
        char *value = hadoop_conf_get(&conf->hadoop, key);
        return value ? value : otherwise ? mem_strdup(otherwise) : NULL;
}

int yarn_conf_get_int(const struct yarn_conf *conf, const char *key, int64_t otherwise, int64_t *out,
                      struct fst_error *error)
{
        _cleanup_free_ char *text = hadoop_conf_get(&conf->hadoop, key);
        char *end = text;
        if (!text) {
                *out = otherwise;
                return 0;
        }
        errno = 0;
        const long long value = strtoll(text, &end, 10);
        if (errno || end == text || end[strspn(end, " \t\n")])
                return error_set(error, -EINVAL, "%s is \"%s\", which is not a valid number", key, text);
        *out = value;
        return 0;
}

/* A copy of @text without blanks around it. */
static char *text_trimmed(const char *text, size_t len)
{
        while (len && strchr(" \t\r\n", *text)) {
                text++;
                len--;
        }
        while (len && strchr(" \t\r\n", text[len - 1]))
                len--;
        return mem_strndup(text, len);
}

static bool yarn_conf_has_https(const struct yarn_conf *conf)
{
        _cleanup_free_ char *policy = hadoop_conf_get(&conf->hadoop, "yarn.http.policy");
        return policy && strcmp(policy, "HTTPS_ONLY") == 0;
}

/* The address of one ResourceManager; @suffix is "" or ".ID". A host without port has the service's port. */
static char *resource_manager_address(const struct yarn_conf *conf, int service, const char *suffix)
{
        _cleanup_free_ char *key = mem_printf("%s%s", yarn_services[service].key, suffix);
        _cleanup_free_ char *host_key = mem_printf("yarn.resourcemanager.hostname%s", suffix);
        _cleanup_free_ char *address = hadoop_conf_get(&conf->hadoop, key);
        if (!address)
                address = yarn_conf_get(conf, host_key, *suffix ? NULL : DEFAULT_HOST);
        if (!address)
                return NULL;
        char *trimmed = text_trimmed(address, strlen(address));
        if (strchr(trimmed, ':'))
                return trimmed;
        char *whole = mem_printf("%s:%d", trimmed, yarn_services[service].port);
        free(trimmed);
        return whole;
}

int yarn_conf_addresses(const struct yarn_conf *conf, enum yarn_service which, struct string_list *out,
                        struct fst_error *error)
{
        const bool https = which == YARN_RM_WEB && yarn_conf_has_https(conf);
        const int service = https ? RM_WEB_HTTPS : (int)which;
        if (!hadoop_conf_flag(&conf->hadoop, "yarn.resourcemanager.ha.enabled", false)) {
                string_list_take(out, resource_manager_address(conf, service, ""));
                return 0;
        }
        _cleanup_free_ char *ids = hadoop_conf_get(&conf->hadoop, "yarn.resourcemanager.ha.rm-ids");
        _cleanup_(string_list_deinit) struct string_list found = {0};
        for (const char *p = ids ? ids : ""; *p; p += *p == ',') {
                const size_t len = strcspn(p, ",");
                _cleanup_free_ char *id = text_trimmed(p, len);
                p += len;
                if (!*id)
                        continue;
                _cleanup_free_ char *suffix = mem_printf(".%s", id);
                char *address = resource_manager_address(conf, service, suffix);
                if (!address)
                        return error_set(error, -EINVAL,
                                         "%s is not set, although yarn.resourcemanager.ha.rm-ids names \"%s\" (set it "
                                         "or yarn.resourcemanager.hostname%s)",
                                         yarn_services[service].key, id, suffix);
                string_list_take(&found, address);
        }
        if (found.len == 0)
                return error_set(
                        error, -EINVAL,
                        "yarn.resourcemanager.ha.enabled is true, but yarn.resourcemanager.ha.rm-ids is empty");
        for (size_t i = 0; i < found.len; i++)
                string_list_add(out, found.data[i]);
        return 0;
}

const char *yarn_conf_http_scheme(const struct yarn_conf *conf)
{
        return yarn_conf_has_https(conf) ? "https://" : "http://";
}

bool yarn_conf_is_secure(const struct yarn_conf *conf)
{
        return hadoop_conf_is_secure(&conf->hadoop);
}

/* A client without yarn-site.xml would only learn that nothing listens on this machine. */
static void yarn_conf_warn_of_default(const struct yarn_conf *conf, const char *address)
{
        static const char *const keys[] = {"yarn.resourcemanager.address", "yarn.resourcemanager.hostname",
                                           "yarn.resourcemanager.ha.rm-ids"};
        const char *dir = conf->hadoop.env("HADOOP_CONF_DIR"), *variable = "HADOOP_CONF_DIR";
        if (!dir && (dir = conf->hadoop.env("YARN_CONF_DIR")))
                variable = "YARN_CONF_DIR";
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (strmap_get(&conf->hadoop.values, keys[i]))
                        return;
        log_warn("Client", "yarn.resourcemanager.address is not set: trying %s. Set it in yarn-site.xml in %s (%s)%s",
                 address, variable, dir ? dir : "not set",
                 dir && access(dir, F_OK) < 0 ? ", a directory that does not exist" : "");
}

int yarn_conf_client(const struct yarn_conf *conf, enum yarn_service service, const struct hadoop_token *token,
                     const char *proxy_user, uv_loop_t *loop, struct hadoop_rpc_client **out, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list addresses = {0};
        _cleanup_free_ char *user = hadoop_conf_real_user(&conf->hadoop),
                            *other = hadoop_conf_proxy_user(&conf->hadoop);
        _cleanup_free_ char *pattern = hadoop_conf_get(&conf->hadoop, PRINCIPAL_KEY ".pattern");
        _cleanup_free_ char *principal = pattern ? steal(pattern) : hadoop_conf_get(&conf->hadoop, PRINCIPAL_KEY);
        int64_t max_wait, retry, timeout;
        int r = yarn_conf_addresses(conf, service, &addresses, error);
        r = r < 0 ? r
                  : yarn_conf_get_int(conf, "yarn.resourcemanager.connect.max-wait.ms", DEFAULT_MAX_WAIT_MS, &max_wait,
                                      error);
        r = r < 0 ? r
                  : yarn_conf_get_int(conf, "yarn.resourcemanager.connect.retry-interval.ms", DEFAULT_RETRY_MS, &retry,
                                      error);
        r = r < 0 ? r : yarn_conf_get_int(conf, "ipc.client.rpc-timeout.ms", 0, &timeout, error);
        if (r < 0)
                return r;
        if (service == YARN_RM_CLIENT)
                yarn_conf_warn_of_default(conf, addresses.data[0]);
        const bool secure = yarn_conf_is_secure(conf);
        proxy_user = proxy_user ? proxy_user : other;
        const struct hadoop_rpc_client_options options = {
                .session = {.protocol = yarn_services[service].protocol,
                            .auth = token    ? HADOOP_RPC_TOKEN
                                    : secure ? HADOOP_RPC_KERBEROS
                                             : HADOOP_RPC_SIMPLE,
                            .user = proxy_user ? proxy_user
                                    : secure   ? NULL
                                               : user,
                            .real_user = proxy_user && !secure ? user : NULL,
                            .server_principal = principal,
                            .principal_key = PRINCIPAL_KEY,
                            .token = token,
                            .allow_fallback = hadoop_conf_flag(&conf->hadoop,
                                                               "ipc.client.fallback-to-simple-auth-allowed", false)},
                .addresses = (const char *const *)addresses.data,
                .n_addresses = addresses.len,
                .service = yarn_services[service].title,
                .answer_timeout_ms = timeout,
                .retry_ms = addresses.len > 1 ? DEFAULT_FAILOVER_MS : retry,
                .max_wait_ms = max_wait};
        return hadoop_rpc_client_new(loop, &options, out, error);
}
