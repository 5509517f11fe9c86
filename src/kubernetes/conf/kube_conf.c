/*
 * The configuration of one pod. Follows KubernetesConf, KubernetesDriverConf and KubernetesExecutorConf of Spark 4.3.
 * Where Spark iterates in hash order, the order here is sorted.
 */
#include "kubernetes/conf/kube_conf.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/conf/volume_spec.h"
#include "events/event_json.h"

const char *kube_app_name(const struct kube_conf *c)
{
        const char *name = conf_get_raw(c->conf, "spark.app.name");
        return name ? name : "spark";
}

/* Appends @text in lower case. Each run of characters that names may not have becomes one dash. Trims whitespace. */
static void put_name_text(struct buf *out, const char *text)
{
        while (*text && (unsigned char)*text <= ' ')
                text++;
        size_t n = strlen(text);
        while (n && (unsigned char)text[n - 1] <= ' ')
                n--;
        for (size_t i = 0; i < n; i++) {
                char ch = text[i];
                /* Two characters beyond ASCII have ASCII lower case: the Kelvin sign, and I with a dot. */
                if (n - i >= 3 && memcmp(text + i, "\u212a", 3) == 0)
                        ch = 'k', i += 2;
                else if (n - i >= 2 && memcmp(text + i, "\u0130", 2) == 0)
                        ch = 'i', i += 1;
                else if (ch >= 'A' && ch <= 'Z')
                        ch = (char)(ch - 'A' + 'a');
                bool dotted = ch == 'i' && text[i] != 'i' && text[i] != 'I';
                bool plain = (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9');
                if (plain)
                        buf_putc(out, ch);
                if ((!plain || dotted) && (out->len == 0 || out->data[out->len - 1] != '-'))
                        buf_putc(out, '-');
        }
}

char *kube_name_prefix(const char *app_name, const char *unique)
{
        _cleanup_(buf_deinit) struct buf name = BUF_INIT;
        _cleanup_free_ char *whole = mem_printf("%s-%s", app_name, unique);
        put_name_text(&name, whole);
        char *text = name.data + (name.data[0] == '-');
        if (*text >= '0' && *text <= '9')
                *text = 'x';
        return mem_strdup(text);
}

char *kube_name_label(const char *app_name)
{
        _cleanup_(buf_deinit) struct buf label = BUF_INIT;
        put_name_text(&label, app_name);
        if (label.len > MAX_KUBE_LABEL)
                buf_truncate(&label, MAX_KUBE_LABEL);
        const char *text = buf_text(&label);
        text += *text == '-';
        size_t n = strlen(text);
        return mem_strndup(text, n - (n && text[n - 1] == '-'));
}

/* Returns the name of the driver's service, which must be a DNS label. */
static char *service_name(const struct kube_conf *c)
{
        char *preferred = mem_printf("%s" KUBE_SERVICE_SUFFIX, c->prefix);
        if (strlen(preferred) <= MAX_KUBE_LABEL)
                return preferred;
        char *shorter = mem_printf("spark-%s" KUBE_SERVICE_SUFFIX, c->unique);
        log_warn("KubernetesDriverConf",
                 "Driver's hostname would preferably be %s, but this is too long (must be <= %d characters). Falling "
                 "back to use %s as the driver service's name.",
                 preferred, MAX_KUBE_LABEL, shorter);
        free(preferred);
        return shorter;
}

static int kube_conf_choose_prefix(struct kube_conf *c, struct fst_error *error)
{
        char *set = NULL;
        int r = 0;
        if (c->role == KUBE_EXECUTOR)
                r = kube_string(c, "spark.kubernetes.executor.podNamePrefix", &set, error);
        else if (c->env("SPARK_TESTING"))
                r = kube_string(c, "spark.kubernetes.driver.resourceNamePrefix", &set, error);
        if (r < 0)
                return r;
        if (!set)
                set = c->name_prefix ? mem_strdup(c->name_prefix) : kube_name_prefix(kube_app_name(c), c->unique);
        c->prefix = set;
        return 0;
}

int kube_conf_complete(struct kube_conf *c, struct fst_error *error)
{
        int r = 0;
        if (c->role == KUBE_DRIVER) { /* report invalid executor settings before the driver starts */
                _cleanup_(volume_specs_deinit) struct volume_specs specs = {0};
                r = volume_specs_read(c, "spark.kubernetes.executor.volumes.", &specs, error);
        }
        if (r == 0)
                r = kube_conf_choose_prefix(c, error);
        if (r == 0 && c->role == KUBE_DRIVER)
                c->service_name = service_name(c);
        return r;
}

void kube_conf_deinit(struct kube_conf *c)
{
        free(c->prefix);
        free(c->service_name);
        c->prefix = c->service_name = NULL;
}

void kube_pairs(const struct kube_conf *c, const char *prefix, struct strmap *out)
{
        size_t n = strlen(prefix);
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&c->conf->set);
        for (size_t i = 0; i < c->conf->set.count; i++)
                if (strncmp(sorted[i]->key, prefix, n) == 0)
                        strmap_set(out, sorted[i]->key + n, sorted[i]->value);
}

/* As kube_pairs, for keys below spark.kubernetes.ROLE.@name. */
static void role_pairs(const struct kube_conf *c, const char *name, struct strmap *out)
{
        _cleanup_free_ char *prefix = mem_printf("spark.kubernetes.%s.%s.", kube_role_name(c), name);
        kube_pairs(c, prefix, out);
}

const char *kube_role_name(const struct kube_conf *c)
{
        return c->role == KUBE_DRIVER ? "driver" : "executor";
}

char *kube_substitute_ids(const struct kube_conf *c, const char *text)
{
        const struct {
                const char *name, *value;
        } ids[] = {{"{{APP_ID}}", c->app_id}, {"{{EXECUTOR_ID}}", c->role == KUBE_EXECUTOR ? c->executor_id : ""}};
        char *all = mem_strdup(text);
        for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
                char *next = kube_replace(all, ids[i].name, ids[i].value);
                free(all);
                all = next;
        }
        return all;
}

static void substituted_pairs(const struct kube_conf *c, const char *name, struct strmap *out)
{
        _cleanup_(strmap_deinit) struct strmap pairs = STRMAP_INIT;
        role_pairs(c, name, &pairs);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&pairs, e));) {
                _cleanup_free_ char *value = kube_substitute_ids(c, e->value);
                strmap_set(out, e->key, value);
        }
}

static void spark_labels(const struct kube_conf *c, struct strmap *out)
{
        _cleanup_free_ char *name = kube_name_label(kube_app_name(c));
        strmap_set(out, "spark-version", EVENT_JSON_SPARK_VERSION);
        if (c->role == KUBE_EXECUTOR) {
                _cleanup_free_ char *profile = mem_printf("%d", c->profile ? c->profile->id : 0);
                strmap_set(out, KUBE_LABEL_EXECUTOR_ID, c->executor_id);
                strmap_set(out, KUBE_LABEL_PROFILE_ID, profile);
        }
        strmap_set(out, KUBE_LABEL_APP_ID, c->app_id);
        strmap_set(out, "spark-app-name", name);
        strmap_set(out, KUBE_LABEL_ROLE, kube_role_name(c));
}

int kube_labels(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap preset = STRMAP_INIT, custom = STRMAP_INIT;
        spark_labels(c, &preset);
        substituted_pairs(c, "label", &custom);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&preset, e));) {
                if (!strmap_get(&custom, e->key))
                        continue;
                if (c->role == KUBE_DRIVER)
                        return error_set(error, -EINVAL,
                                         "requirement failed: Label with key %s is not allowed as it is reserved for "
                                         "Spark bookkeeping operations.",
                                         e->key);
                return error_set(error, -EINVAL,
                                 "requirement failed: Custom executor labels cannot contain %s as it is reserved for "
                                 "Spark.",
                                 e->key);
        }
        strmap_merge(out, &custom);
        strmap_merge(out, &preset);
        return 0;
}

void kube_annotations(const struct kube_conf *c, struct strmap *out)
{
        substituted_pairs(c, "annotation", out);
}

void kube_node_selectors(const struct kube_conf *c, struct strmap *out)
{
        kube_pairs(c, "spark.kubernetes.node.selector.", out);
        role_pairs(c, "node.selector", out);
}

static bool kube_conf_is_variable(const char *name)
{
        static const char letters[] = "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        return *name && strchr(letters, *name) && !name[strcspn(name, "=")] &&
               name[strspn(name, "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

void kube_environment(const struct kube_conf *c, struct strmap *out)
{
        _cleanup_(strmap_deinit) struct strmap all = STRMAP_INIT;
        if (c->role == KUBE_DRIVER) {
                kube_pairs(c, "spark.kubernetes.driverEnv.", out);
                return;
        }
        kube_pairs(c, "spark.executorEnv.", &all);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&all, e));) {
                if (kube_conf_is_variable(e->key))
                        strmap_set(out, e->key, e->value);
                else
                        log_warn("KubernetesExecutorConf",
                                 "Invalid key: %s, a valid environment variable name must consist of alphabetic "
                                 "characters, digits, '_', '-', or '.', and must not start with a digit. Regex used "
                                 "for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*'",
                                 e->key);
        }
}

int kube_image(const struct kube_conf *c, char **out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.container.image", kube_role_name(c));
        _cleanup_free_ char *image = NULL;
        int r = kube_string(c, key, &image, error);
        if (r == 0 && !image)
                r = error_set(error, -EINVAL, "Must specify the %s container image", kube_role_name(c));
        if (r == 0)
                *out = kube_replace(image, "{{SPARK_VERSION}}", EVENT_JSON_SPARK_VERSION);
        return r;
}

int kube_scheduler_name(const struct kube_conf *c, char **out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.scheduler.name", kube_role_name(c));
        return kube_string(c, kube_is_set(c, key) ? key : "spark.kubernetes.scheduler.name", out, error);
}

char *kube_config_map_name(const struct kube_conf *c)
{
        return mem_printf("spark-%s-%s-conf-map", c->role == KUBE_DRIVER ? "drv" : "exec", c->unique);
}

int kube_driver_pod_name(const struct kube_conf *c, char **out, struct fst_error *error)
{
        char *name = NULL;
        int r = kube_string(c, "spark.kubernetes.driver.pod.name", &name, error);
        if (r == 0)
                *out = name ? name : mem_printf("%s-driver", c->prefix);
        return r;
}
