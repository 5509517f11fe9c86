/*
 * Merges the sources of the API server's address and credentials in the order of Spark's client
 * (SparkKubernetesClientFactory over fabric8's Config). Differs from Spark: an unknown context is an error instead of
 * the current one. insecure-skip-tls-verify of a file holds although spark.kubernetes.trust.certificates is false by
 * default. A caCertFile key wins over certificate data of a file.
 */
#include "kubernetes/api/kube_config.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "kubernetes/api/kubeconfig_file.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define DEFAULT_TIMEOUT_MS 10000

static void kube_config_free_list(char **list)
{
        for (size_t i = 0; list && list[i]; i++)
                free(list[i]);
        free(list);
}

/* Clears secrets before their memory is freed. */
static void free_secret(char *text)
{
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
}

void kube_config_deinit(struct kube_config *c)
{
        char *const texts[] = {c->server,     c->namespace,       c->context,   c->ca_file,
                               c->ca_data,    c->cert_file,       c->cert_data, c->key_file,
                               c->token_file, c->tls_server_name, c->proxy_url, c->user};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        free_secret(c->key_data);
        free_secret(c->token);
        free_secret(c->password);
        if (c->exec) {
                free(c->exec->command);
                kube_config_free_list(c->exec->arguments);
                kube_config_free_list(c->exec->env);
                free(c->exec->api_version);
                free(c->exec->install_hint);
                free(c->exec);
        }
        kube_config_free_list(c->impersonate);
        *c = KUBE_CONFIG_INIT;
}

static char **kube_config_copy_list(char *const *list)
{
        size_t n = 0;
        while (list[n])
                n++;
        char **copy = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++)
                copy[i] = mem_strdup(list[i]);
        return copy;
}

void kube_config_copy_exec(const struct kube_config *from, struct kube_config *out)
{
        const struct kube_exec *x = from->exec;
        *out = (struct kube_config){.server = mem_strdup_if(from->server),
                                    .ca_data = mem_strdup_if(from->ca_data),
                                    .tls_server_name = mem_strdup_if(from->tls_server_name),
                                    .insecure = from->insecure,
                                    .exec = new0(struct kube_exec)};
        *out->exec = (struct kube_exec){.command = mem_strdup(x->command),
                                        .arguments = kube_config_copy_list(x->arguments),
                                        .env = kube_config_copy_list(x->env),
                                        .api_version = mem_strdup(x->api_version),
                                        .install_hint = mem_strdup_if(x->install_hint),
                                        .cluster_info = x->cluster_info};
}

char *kube_server_of_master(const char *master)
{
        const char *url = text_starts_with(master, "k8s://") ? master + 6 : master;
        char *server = mem_printf("%s%s", strstr(url, "://") ? "" : "https://", url);
        for (size_t n = strlen(server); n > 0 && server[n - 1] == '/'; n--)
                server[n - 1] = 0;
        return server;
}

struct kube_places kube_places_here(void)
{
        return (struct kube_places){.kubeconfig = getenv("KUBECONFIG"),
                                    .home = getenv("HOME"),
                                    .service_account = SERVICE_ACCOUNT,
                                    .service_host = getenv("KUBERNETES_SERVICE_HOST"),
                                    .service_port = getenv("KUBERNETES_SERVICE_PORT")};
}

/* ----------------------------------------------------------------------------------------------------------- a pod */

static char *kube_config_path_in(const char *folder, const char *name)
{
        char *path = mem_printf("%s/%s", folder, name);
        if (access(path, R_OK) == 0)
                return path;
        free(path);
        return NULL;
}

static void read_pod(const struct kube_places *places, struct kube_config *out)
{
        if (places->service_host && *places->service_host && places->service_port) {
                bool v6 = strchr(places->service_host, ':') != NULL;
                out->server = mem_printf("https://%s%s%s:%s", v6 ? "[" : "", places->service_host, v6 ? "]" : "",
                                         places->service_port);
        }
        if (!places->service_account)
                return;
        out->token_file = kube_config_path_in(places->service_account, "token");
        out->ca_file = kube_config_path_in(places->service_account, "ca.crt");
        _cleanup_free_ char *path = kube_config_path_in(places->service_account, "namespace");
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (path && file_text_read(path, 1024, &text, NULL) == 0) {
                buf_truncate(&text, strcspn(buf_text(&text), " \t\r\n"));
                if (text.len > 0)
                        out->namespace = buf_steal(&text);
        }
}

static void kube_config_complete(struct kube_config *c)
{
        if (!c->namespace) {
                c->namespace = mem_strdup("default");
                c->namespace_is_default = true;
        }
        c->request_timeout_ms = DEFAULT_TIMEOUT_MS;
        c->connect_timeout_ms = DEFAULT_TIMEOUT_MS;
}

int kube_config_read(const struct kube_places *places, const char *context, struct kube_config *out,
                     struct fst_error *error)
{
        struct kube_config c = KUBE_CONFIG_INIT;
        struct kubeconfig_files *files;
        _cleanup_free_ char *home = places->home ? mem_printf("%s/.kube/config", places->home) : NULL;
        const char *paths = places->kubeconfig && *places->kubeconfig ? places->kubeconfig : home;
        int r = kube_files_read(paths ? paths : "", &files, error);
        if (r < 0)
                return r;
        if (kube_files_count(files) > 0)
                r = kube_files_context(files, context, &c, error);
        else if (context && *context)
                r = error_set(error, -EINVAL, "unknown context \"%s\": no kubeconfig file exists (%s)", context,
                              paths ? paths : "HOME is not set");
        else
                read_pod(places, &c);
        kube_files_free(files);
        if (r < 0)
                return r;
        kube_config_complete(&c);
        *out = c;
        return 0;
}

int kube_config_read_here(const char *kubeconfig, struct kube_config *out, struct fst_error *error)
{
        struct kube_places places = kube_places_here();
        if (kubeconfig && *kubeconfig)
                places.kubeconfig = kubeconfig;
        int r = kube_config_read(&places, NULL, out, error);
        if (r == 0 && !out->server)
                r = error_set(
                        error, -EINVAL,
                        "no API server: run this command in a pod, or name a kubeconfig file with --kubeconfig or "
                        "KUBECONFIG");
        return r;
}

int kube_config_parse(const char *text, size_t len, const char *folder, const char *context, struct kube_config *out,
                      struct fst_error *error)
{
        struct kube_config c = KUBE_CONFIG_INIT;
        struct kubeconfig_files *files;
        int r = kube_files_parse(text, len, folder, &files, error);
        if (r < 0)
                return r;
        r = kube_files_context(files, context, &c, error);
        kube_files_free(files);
        if (r < 0)
                return r;
        kube_config_complete(&c);
        *out = c;
        return 0;
}

/* ------------------------------------------------------------------------------------------------------------ keys */

static void kube_config_replace(char **field, const char *text)
{
        free_secret(*field);
        *field = text ? mem_strdup(text) : NULL;
}

/* Sets one of two alternatives. A new value replaces both. */
static void replace_pair(char **field, char **other, const char *text)
{
        if (!text)
                return;
        kube_config_replace(field, text);
        kube_config_replace(other, NULL);
}

static const char *kube_config_env(const char *name)
{
        const char *value = getenv(name);
        return value && *value ? value : NULL;
}

/* Applies the environment variables of Spark's client over the files. */
static void apply_environment(struct kube_config *c)
{
        replace_pair(&c->ca_file, &c->ca_data, kube_config_env("KUBERNETES_CERTS_CA_FILE"));
        replace_pair(&c->cert_file, &c->cert_data, kube_config_env("KUBERNETES_CERTS_CLIENT_FILE"));
        replace_pair(&c->key_file, &c->key_data, kube_config_env("KUBERNETES_CERTS_CLIENT_KEY_FILE"));
        replace_pair(&c->token, &c->token_file, kube_config_env("KUBERNETES_AUTH_TOKEN"));
        const char *user = kube_config_env("KUBERNETES_AUTH_BASIC_USERNAME"),
                   *password = kube_config_env("KUBERNETES_AUTH_BASIC_PASSWORD");
        const char *namespace = kube_config_env("KUBERNETES_NAMESPACE"),
                   *trust = kube_config_env("KUBERNETES_TRUST_CERTIFICATES");
        if (user)
                kube_config_replace(&c->user, user);
        if (password)
                kube_config_replace(&c->password, password);
        if (namespace) {
                kube_config_replace(&c->namespace, namespace);
                c->namespace_is_default = false;
        }
        c->insecure = c->insecure || (trust && strcasecmp(trust, "true") == 0);
}

/* Reads a number of milliseconds from a key that the key table may lack. */
static int kube_config_read_timeout(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        const char *text = conf_get_raw(conf, key);
        char *end;
        if (!text)
                return 0;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (errno || end == text || *end || value < 0)
                return error_set(
                        error, -EINVAL,
                        "[INVALID_CONF_VALUE.TYPE_MISMATCH] The value '%s' in the config \"%s\" is invalid. It "
                        "should be a/an 'int' value. SQLSTATE: 22022 (milliseconds)",
                        text, key);
        *out = value;
        return 0;
}

static int apply_keys(const struct fst_conf *conf, const char *prefix, struct kube_config *c, struct fst_error *error)
{
        static const char *const names[] = {"oauthTokenFile", "oauthToken", "caCertFile", "clientKeyFile",
                                            "clientCertFile"};
        char key[ARRAY_SIZE(names)][96];
        const char *value[ARRAY_SIZE(names)];
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                snprintf(key[i], sizeof(key[i]), "%s.%s", prefix, names[i]);
                value[i] = conf_get_raw(conf, key[i]);
        }
        if (value[0] && value[1])
                return error_set(error, -EINVAL,
                                 "requirement failed: Cannot specify OAuth token through both a file %s and a value "
                                 "%s.",
                                 key[0], key[1]);
        replace_pair(&c->token_file, &c->token, value[0]);
        replace_pair(&c->token, &c->token_file, value[1]);
        replace_pair(&c->ca_file, &c->ca_data, value[2]);
        replace_pair(&c->key_file, &c->key_data, value[3]);
        replace_pair(&c->cert_file, &c->cert_data, value[4]);
        const char *trust = conf_get_raw(conf, "spark.kubernetes.trust.certificates");
        c->insecure = c->insecure || (trust && strcasecmp(trust, "true") == 0);
        return 0;
}

int kube_config_from_conf(const struct fst_conf *conf, enum kube_client_kind kind, const char *master,
                          struct kube_config *out, struct fst_error *error)
{
        static const char *const prefixes[] = {
                [KUBE_SUBMISSION] = "spark.kubernetes.authenticate.submission",
                [KUBE_CLIENT_DRIVER] = "spark.kubernetes.authenticate",
                [KUBE_POD_DRIVER] = "spark.kubernetes.authenticate.driver.mounted",
        };
        const char *side = kind == KUBE_SUBMISSION ? "submission" : "driver";
        char request[64], connect[64];
        struct kube_places places = kube_places_here();
        struct kube_config c = KUBE_CONFIG_INIT;
        int r = kube_config_read(&places, conf_get_raw(conf, "spark.kubernetes.context"), &c, error);
        if (r < 0)
                return r;
        apply_environment(&c);
        if (kind == KUBE_POD_DRIVER && access(SERVICE_ACCOUNT "/ca.crt", R_OK) == 0)
                replace_pair(&c.ca_file, &c.ca_data, SERVICE_ACCOUNT "/ca.crt");
        snprintf(request, sizeof(request), "spark.kubernetes.%s.requestTimeout", side);
        snprintf(connect, sizeof(connect), "spark.kubernetes.%s.connectionTimeout", side);
        r = apply_keys(conf, prefixes[kind], &c, error);
        if (r == 0)
                r = kube_config_read_timeout(conf, request, &c.request_timeout_ms, error);
        if (r == 0)
                r = kube_config_read_timeout(conf, connect, &c.connect_timeout_ms, error);
        const char *namespace = conf_get_raw(conf, "spark.kubernetes.namespace");
        if (namespace) {
                kube_config_replace(&c.namespace, namespace);
                c.namespace_is_default = false;
        }
        if (master && *master) {
                free(c.server);
                c.server = kube_server_of_master(master);
        }
        if (r == 0 && !c.server)
                r = error_set(
                        error, -EINVAL,
                        "the address of the API server is unknown: pass --master k8s://https://HOST:PORT, or use a "
                        "kubeconfig file with a current context (KUBECONFIG, ~/.kube/config)");
        if (r < 0)
                kube_config_deinit(&c);
        else
                *out = c;
        return r;
}

char *kube_config_describe(const struct kube_config *c)
{
        struct buf text = BUF_INIT;
        buf_puts(&text, c->server ? c->server : "(no server)");
        if (c->context)
                buf_printf(&text, ", context %s", c->context);
        buf_puts(&text, c->token_file                  ? ", token from "
                        : c->token                     ? ", token"
                        : c->exec                      ? ", credentials from "
                        : c->cert_file || c->cert_data ? ", client certificate"
                        : c->user                      ? ", user "
                                                       : ", anonymous");
        if (c->token_file)
                buf_puts(&text, c->token_file);
        else if (!c->token && c->exec)
                buf_puts(&text, c->exec->command);
        else if (!c->token && !c->cert_file && !c->cert_data && c->user)
                buf_puts(&text, c->user);
        if (c->insecure)
                buf_puts(&text, ", certificate not verified");
        return buf_steal(&text);
}

static bool same_list(char *const *a, char *const *b)
{
        size_t i = 0;
        if (!a || !b)
                return (!a || !*a) && (!b || !*b);
        while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
                i++;
        return !a[i] && !b[i];
}

static bool same_exec(const struct kube_exec *a, const struct kube_exec *b)
{
        if (!a || !b)
                return a == b;
        return text_equals(a->command, b->command) && same_list(a->arguments, b->arguments) &&
               same_list(a->env, b->env) && text_equals(a->api_version, b->api_version) &&
               a->cluster_info == b->cluster_info;
}

bool kube_config_same(const struct kube_config *a, const struct kube_config *b)
{
        const char *const texts[][2] = {
                {a->server, b->server},       {a->namespace, b->namespace},
                {a->ca_file, b->ca_file},     {a->ca_data, b->ca_data},
                {a->cert_file, b->cert_file}, {a->cert_data, b->cert_data},
                {a->key_file, b->key_file},   {a->key_data, b->key_data},
                {a->token, b->token},         {a->token_file, b->token_file},
                {a->user, b->user},           {a->password, b->password},
                {a->proxy_url, b->proxy_url}, {a->tls_server_name, b->tls_server_name},
        };
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if (!text_equals(texts[i][0], texts[i][1]))
                        return false;
        return same_exec(a->exec, b->exec) && same_list(a->impersonate, b->impersonate) && a->insecure == b->insecure &&
               a->request_timeout_ms == b->request_timeout_ms && a->connect_timeout_ms == b->connect_timeout_ms;
}
