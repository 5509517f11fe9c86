/*
 * The driver's credentials for the API server. Those of the submission (spark.kubernetes.authenticate.driver.*) are
 * mounted as a secret, and the driver gets the paths. Without any, the pod uses its service account.
 * DriverKubernetesCredentialsFeatureStep. The driver's properties never contain a token.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "text/json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define AUTH "spark.kubernetes.authenticate.driver."
#define ACCOUNT AUTH "serviceAccountName"
#define FOLDER "/mnt/secrets/spark-kubernetes-credentials"
#define MOST ((size_t)1 << 20) /* bytes of a secret */

static const struct driver_credential {
        const char *name;    /* the submission's setting */
        const char *mounted; /* the driver's setting */
        const char *item;    /* the item of the secret */
        const char *what;    /* NULL: the value is the credential itself */
} credentials[] = {
        {"oauthToken", "oauthTokenFile", "oauth-token", NULL},
        {"caCertFile", "caCertFile", "ca-cert", "Driver CA cert file"},
        {"clientKeyFile", "clientKeyFile", "client-key", "Driver client key file"},
        {"clientCertFile", "clientCertFile", "client-cert", "Driver client cert file"},
};

static const char *driver_credentials_submitted(const struct kube_conf *c, const struct driver_credential *k)
{
        _cleanup_free_ char *key = mem_printf(AUTH "%s", k->name);
        return conf_get_raw(c->conf, key);
}

/* Returns the names of the credential settings of the submission, or NULL if there are none. The caller owns it. */
static char *list_submitted(const struct kube_conf *c)
{
        struct buf list = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(credentials); i++)
                if (driver_credentials_submitted(c, &credentials[i]))
                        buf_printf(&list, "%s" AUTH "%s", list.len ? ", " : "", credentials[i].name);
        return list.len ? buf_steal(&list) : NULL;
}

static char *secret_name(const struct kube_conf *c)
{
        return mem_printf("%s-kubernetes-credentials", c->prefix);
}

static int put_base64(const struct driver_credential *k, const char *value, struct buf *out, struct fst_error *error)
{
        struct stat st;
        char full[PATH_MAX];
        if (!k->what) {
                base64_put(out, value, strlen(value));
                return 0;
        }
        if (stat(value, &st) || !S_ISREG(st.st_mode)) {
                char *here = value[0] == '/' ? NULL : getcwd(full, sizeof(full));
                return error_set(error, -EINVAL,
                                 "requirement failed: %s provided at %s%s%s does not exist or is not a file.", k->what,
                                 here ? here : "", here ? "/" : "", value);
        }
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        int r = file_text_read(value, MOST, &content, error);
        if (r == 0)
                base64_put(out, buf_text(&content), content.len);
        return r;
}

static int driver_credentials_check(const struct kube_conf *c, struct fst_error *error)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(credentials); i++) {
                _cleanup_(buf_deinit) struct buf unused = BUF_INIT;
                const char *value = driver_credentials_submitted(c, &credentials[i]);
                r = value ? put_base64(&credentials[i], value, &unused, error) : 0;
        }
        return r;
}

/* Warns about a service account that is ignored because credentials were given. */
static void warn_of_account(struct spark_pod *pod, const char *account, const char *list)
{
        const char *kept = json_text_at(pod_spec(pod), "serviceAccountName");
        if (!kept || !*kept)
                kept = json_text_at(pod_spec(pod), "serviceAccount");
        bool has = kept && *kept;
        if (!account || (has && strcmp(kept, account) == 0))
                return;
        log_warn("DriverKubernetesCredentialsFeatureStep",
                 "Not applying " ACCOUNT "=%s to the driver pod, because the driver credentials given by %s take "
                 "precedence: %s%s%s. To have Spark apply that configuration anyway, put the credentials inside the "
                 "driver pod and point the " AUTH "mounted.* configurations at them instead, which does not mount a "
                 "secret.",
                 account, list, has ? "the pod keeps " : "the pod falls back to the namespace's default account",
                 has ? kept : "", has ? ", named by its spec" : "");
}

static int driver_credentials_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *account = NULL;
        _cleanup_free_ char *list = list_submitted(c);
        int r = kube_string(c, ACCOUNT, &account, error);
        if (r < 0)
                return r;
        if (!list) {
                pod_set_service_account(pod, account);
                return 0;
        }
        _cleanup_free_ char *secret = secret_name(c);
        warn_of_account(pod, account, list);
        pod_add_volume(pod, secret_volume("kubernetes-credentials", secret));
        pod_add_mount(pod, "kubernetes-credentials", FOLDER);
        return 0;
}

static int driver_credentials_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&c->conf->set, e));)
                if (text_ends_with(e->key, "oauthToken"))
                        strmap_set(out, e->key, "<present_but_redacted>");
        for (size_t i = 0; i < ARRAY_SIZE(credentials); i++) {
                _cleanup_free_ char *key = mem_printf(AUTH "mounted.%s", credentials[i].mounted);
                _cleanup_free_ char *path = mem_printf(FOLDER "/%s", credentials[i].item);
                const char *mounted = conf_get_raw(c->conf, key);
                if (mounted || driver_credentials_submitted(c, &credentials[i]))
                        strmap_set(out, key, mounted ? mounted : path);
        }
        return 0;
}

static int driver_credentials_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_free_ char *list = list_submitted(c);
        _cleanup_free_ char *name = secret_name(c);
        int r = 0;
        if (!list)
                return 0;
        json_t *secret = kube_immutable("Secret", name);
        json_array_append_new(out, secret);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(credentials); i++) {
                _cleanup_(buf_deinit) struct buf value = BUF_INIT;
                const char *text = driver_credentials_submitted(c, &credentials[i]);
                r = text ? put_base64(&credentials[i], text, &value, error) : 0;
                if (r == 0 && text)
                        kube_put(kube_child(secret, "data"), credentials[i].item, buf_text(&value));
        }
        return r;
}

const struct feature_step driver_credentials_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.DriverKubernetesCredentialsFeatureStep",
        .check = driver_credentials_check,
        .configure = driver_credentials_configure,
        .properties = driver_credentials_properties,
        .resources = driver_credentials_resources,
};
