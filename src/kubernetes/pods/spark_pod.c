/* Helpers that build pods as JSON trees. */
#include "kubernetes/pods/spark_pod.h"

#include "base/buf.h"
#include "base/mem.h"

struct spark_pod spark_pod_new(void)
{
        return (struct spark_pod){
                .pod = json_pack("{s:s,s:s,s:{},s:{}}", "apiVersion", "v1", "kind", "Pod", "metadata", "spec"),
                .container = json_object(),
        };
}

void spark_pod_deinit(struct spark_pod *pod)
{
        json_decref(pod->pod);
        json_decref(pod->container);
        *pod = (struct spark_pod){0};
}

/* Returns the length of the UTF-8 character at @p, or 0 if it is invalid. */
static size_t spark_pod_character(const unsigned char *p)
{
        static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
        size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
        unsigned value = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
        for (size_t i = 1; i < n; i++) {
                if (p[i] >> 6 != 2)
                        return 0;
                value = value << 6 | (p[i] & 0x3f);
        }
        return n && value >= least[n] && value <= 0x10ffff && value >> 11 != 0x1b ? n : 0;
}

json_t *kube_text(const char *text)
{
        json_t *string = json_string(text);
        if (string)
                return string;
        _cleanup_(buf_deinit) struct buf clean = BUF_INIT;
        while (*text) {
                size_t n = spark_pod_character((const unsigned char *)text);
                if (n)
                        buf_append(&clean, text, n);
                else
                        buf_puts(&clean, "\ufffd");
                text += n ? n : 1;
        }
        return json_string(buf_text(&clean));
}

json_t *kube_child(json_t *object, const char *name)
{
        json_t *child = json_object_get(object, name);
        if (!json_is_object(child)) {
                child = json_object();
                json_object_set_new(object, name, child);
        }
        return child;
}

json_t *kube_children(json_t *object, const char *name)
{
        json_t *children = json_object_get(object, name);
        if (!json_is_array(children)) {
                children = json_array();
                json_object_set_new(object, name, children);
        }
        return children;
}

void kube_put(json_t *object, const char *name, const char *value)
{
        if (value)
                json_object_set_new(object, name, kube_text(value));
}

void kube_put_new(json_t *object, const char *name, const char *value)
{
        if (!json_object_get(object, name))
                kube_put(object, name, value);
}

void kube_put_all(json_t *object, const struct strmap *values)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(values, e));) {
                json_t *name = kube_text(e->key); /* names must be UTF-8 as well */
                kube_put(object, json_string_value(name), e->value);
                json_decref(name);
        }
}

void kube_put_below(json_t *object, const char *name, const struct strmap *values)
{
        if (values->count)
                kube_put_all(kube_child(object, name), values);
}

json_t *pod_metadata(struct spark_pod *pod)
{
        return kube_child(pod->pod, "metadata");
}

json_t *pod_spec(struct spark_pod *pod)
{
        return kube_child(pod->pod, "spec");
}

static void add_env(struct spark_pod *pod, json_t *variable)
{
        json_array_append_new(kube_children(pod->container, "env"), variable);
}

void pod_add_env(struct spark_pod *pod, const char *name, const char *value)
{
        if (value)
                add_env(pod, json_pack("{s:o,s:o}", "name", kube_text(name), "value", kube_text(value)));
}

void pod_add_field_env(struct spark_pod *pod, const char *name, const char *path)
{
        add_env(pod, json_pack("{s:s,s:{s:{s:s,s:s}}}", "name", name, "valueFrom", "fieldRef", "apiVersion", "v1",
                               "fieldPath", path));
}

void pod_add_argument(struct spark_pod *pod, const char *argument)
{
        json_array_append_new(kube_children(pod->container, "args"), kube_text(argument));
}

void pod_add_mount(struct spark_pod *pod, const char *name, const char *path)
{
        json_array_append_new(kube_children(pod->container, "volumeMounts"),
                              json_pack("{s:o,s:o}", "name", kube_text(name), "mountPath", kube_text(path)));
}

void pod_add_volume(struct spark_pod *pod, json_t *volume)
{
        json_array_append_new(kube_children(pod_spec(pod), "volumes"), volume);
}

json_t *config_map_volume(const char *name, const char *map)
{
        return json_pack("{s:s,s:{s:o}}", "name", name, "configMap", "name", kube_text(map));
}

json_t *secret_volume(const char *name, const char *secret)
{
        return json_pack("{s:o,s:{s:o}}", "name", kube_text(name), "secret", "secretName", kube_text(secret));
}

json_t *key_to_path(const char *key, const char *path)
{
        return json_pack("{s:o,s:o}", "key", kube_text(key), "path", kube_text(path));
}

json_t *kube_immutable(const char *kind, const char *name)
{
        return json_pack("{s:s,s:s,s:{s:o},s:b}", "apiVersion", "v1", "kind", kind, "metadata", "name", kube_text(name),
                         "immutable", 1);
}

void pod_set_service_account(struct spark_pod *pod, const char *account)
{
        kube_put(pod_spec(pod), "serviceAccount", account);
        kube_put(pod_spec(pod), "serviceAccountName", account);
}
