/*
 * Kerberos in the driver pod: krb5.conf, and a local keytab or a secret with delegation tokens.
 * KerberosConfDriverFeatureStep, except that Spark fetches delegation tokens here if both are missing.
 */
#include "base/string_prefix.h"
#include "kubernetes/pods/feature_step.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/fs/uri.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/conf_files.h"

#include <errno.h>

#define KRB5_FILE "spark.kubernetes.kerberos.krb5.path"
#define KRB5_MAP "spark.kubernetes.kerberos.krb5.configMapName"
#define TOKEN_SECRET "spark.kubernetes.kerberos.tokenSecret.name"
#define TOKEN_ITEM "spark.kubernetes.kerberos.tokenSecret.itemKey"
#define KEYTAB "spark.kerberos.keytab"
#define PRINCIPAL "spark.kerberos.principal"

#define KRB5_VOLUME "krb5-file"
#define KEYTAB_VOLUME "kerberos-keytab"
#define KEYTAB_FOLDER "/mnt/secrets/kerberos-keytab"
#define TOKEN_VOLUME "hadoop-secret"
#define TOKEN_FOLDER "/mnt/secrets/hadoop-credentials"
#define MOST ((size_t)1 << 20) /* bytes of a secret or config map */

struct kerberos {
        char *krb5_file, *krb5_map, *secret, *item, *keytab, *principal; /* NULL if not set */
};

static void kerberos_deinit(struct kerberos *k)
{
        char *const texts[] = {k->krb5_file, k->krb5_map, k->secret, k->item, k->keytab, k->principal};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
}

static int kerberos_conf_driver_read_settings(const struct kube_conf *c, struct kerberos *k, struct fst_error *error)
{
        const struct {
                const char *key;
                char **out;
        } all[] = {{PRINCIPAL, &k->principal}, {KEYTAB, &k->keytab},       {TOKEN_SECRET, &k->secret},
                   {TOKEN_ITEM, &k->item},     {KRB5_FILE, &k->krb5_file}, {KRB5_MAP, &k->krb5_map}};
        int r = 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(all); i++)
                r = kube_string(c, all[i].key, all[i].out, error);
        return r;
}

static int kerberos_conf_driver_refuse(const char *sentence, struct fst_error *error)
{
        return error_set(error, -EINVAL, "requirement failed: %s", sentence);
}

static int kerberos_conf_driver_check(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_(kerberos_deinit) struct kerberos k = {0};
        int r = kerberos_conf_driver_read_settings(c, &k, error);
        if (r < 0)
                return r;
        if (k.krb5_file && k.krb5_map)
                return kerberos_conf_driver_refuse(
                        "Do not specify both a Krb5 local file and the ConfigMap as the creation of an "
                        "additional ConfigMap, when one is already specified, is extraneous",
                        error);
        if (k.keytab && !k.principal)
                return kerberos_conf_driver_refuse(
                        "If a Kerberos keytab is specified you must also specify a Kerberos principal", error);
        if (k.principal && !k.keytab)
                return kerberos_conf_driver_refuse(
                        "If a Kerberos principal is specified you must also specify a Kerberos keytab", error);
        if (k.secret && !k.item)
                return kerberos_conf_driver_refuse(
                        "If a secret storing a Kerberos Delegation Token is specified you must also specify the "
                        "item-key where the data is stored",
                        error);
        if (k.item && !k.secret)
                return kerberos_conf_driver_refuse(
                        "If a secret data item-key where the data of the Kerberos Delegation Token is specified "
                        "you must also specify the name of the secret",
                        error);
        if (!k.krb5_file && !k.krb5_map)
                log_info("KerberosConfDriverFeatureStep",
                         "You have not specified a krb5.conf file locally or via a ConfigMap. Make sure that you have "
                         "the krb5.conf locally on the driver image.");
        return 0;
}

/* Whether the keytab must be uploaded: local:/ ones are in the image. */
static bool keytab_travels(const struct kerberos *k)
{
        struct uri parts;
        return k->keytab && !(uri_parse(k->keytab, &parts) && uri_has_scheme(&parts, "local"));
}

static char *kerberos_conf_driver_named(const struct kube_conf *c, const char *suffix)
{
        return mem_printf("%s-%s", c->prefix, suffix);
}

static void mount_krb5(const struct kube_conf *c, const struct kerberos *k, struct spark_pod *pod)
{
        _cleanup_free_ char *fresh = kerberos_conf_driver_named(c, KRB5_VOLUME);
        if (!k->krb5_file && !k->krb5_map)
                return;
        json_t *volume = config_map_volume(KRB5_VOLUME, k->krb5_map ? k->krb5_map : fresh);
        if (!k->krb5_map)
                json_array_append_new(kube_children(kube_child(volume, "configMap"), "items"),
                                      key_to_path(text_base_name(k->krb5_file), text_base_name(k->krb5_file)));
        pod_add_volume(pod, volume);
        json_array_append_new(
                kube_children(pod->container, "volumeMounts"),
                json_pack("{s:s,s:s,s:s}", "name", KRB5_VOLUME, "mountPath", "/etc/krb5.conf", "subPath", "krb5.conf"));
}

static int kerberos_conf_driver_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(kerberos_deinit) struct kerberos k = {0};
        int r = kerberos_conf_driver_read_settings(c, &k, error);
        if (r < 0)
                return r;
        mount_krb5(c, &k, pod);
        if (keytab_travels(&k)) {
                _cleanup_free_ char *secret = kerberos_conf_driver_named(c, KEYTAB_VOLUME);
                pod_add_volume(pod, secret_volume(KEYTAB_VOLUME, secret));
                pod_add_mount(pod, KEYTAB_VOLUME, KEYTAB_FOLDER);
        } else if (k.secret) {
                _cleanup_free_ char *file = mem_printf(TOKEN_FOLDER "/%s", k.item);
                pod_add_volume(pod, secret_volume(TOKEN_VOLUME, k.secret));
                pod_add_mount(pod, TOKEN_VOLUME, TOKEN_FOLDER);
                pod_add_env(pod, "HADOOP_TOKEN_FILE_LOCATION", file);
        }
        return 0;
}

static int kerberos_conf_driver_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        _cleanup_(kerberos_deinit) struct kerberos k = {0};
        int r = kerberos_conf_driver_read_settings(c, &k, error);
        if (r == 0 && keytab_travels(&k)) {
                _cleanup_free_ char *path = mem_printf(KEYTAB_FOLDER "/%s", text_base_name(k.keytab));
                strmap_set(out, KEYTAB, path);
        }
        return r;
}

static int add_keytab(const struct kube_conf *c, const char *path, json_t *out, struct fst_error *error)
{
        _cleanup_free_ char *name = kerberos_conf_driver_named(c, KEYTAB_VOLUME);
        _cleanup_(buf_deinit) struct buf content = BUF_INIT, text = BUF_INIT;
        int r = file_text_read(path, MOST, &content, error);
        if (r < 0)
                return r;
        json_t *secret = kube_immutable("Secret", name);
        base64_put(&text, buf_text(&content), content.len);
        kube_put(kube_child(secret, "data"), text_base_name(path), buf_text(&text));
        json_array_append_new(out, secret);
        return 0;
}

static int kerberos_conf_driver_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_(kerberos_deinit) struct kerberos k = {0};
        int r = kerberos_conf_driver_read_settings(c, &k, error);
        if (r == 0 && k.krb5_file) {
                _cleanup_free_ char *name = kerberos_conf_driver_named(c, KRB5_VOLUME);
                json_t *map = kube_immutable("ConfigMap", name);
                json_array_append_new(out, map);
                r = file_content_put(kube_child(map, "data"), text_base_name(k.krb5_file), k.krb5_file, MOST, error);
        }
        if (r == 0 && keytab_travels(&k))
                r = add_keytab(c, k.keytab, out, error);
        return r;
}

const struct feature_step kerberos_conf_driver_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.KerberosConfDriverFeatureStep",
        .check = kerberos_conf_driver_check,
        .configure = kerberos_conf_driver_configure,
        .properties = kerberos_conf_driver_properties,
        .resources = kerberos_conf_driver_resources,
};
