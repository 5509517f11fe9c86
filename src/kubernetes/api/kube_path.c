/* Paths of objects in the API. */
#include "kubernetes/api/kube_client.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "text/json.h"
#include "text/percent.h"

#include <ctype.h>

char *kube_path(const char *api, const char *namespace, const char *resource, const char *name)
{
        struct buf path = BUF_INIT;
        buf_printf(&path, "/%s/", strchr(api, '/') ? "apis" : "api");
        percent_encode(&path, api, "/");
        if (namespace) {
                buf_puts(&path, "/namespaces/");
                percent_encode(&path, namespace, "");
        }
        buf_putc(&path, '/');
        percent_encode(&path, resource, "/");
        if (name) {
                buf_putc(&path, '/');
                percent_encode(&path, name, "/:");
        }
        return buf_steal(&path);
}

/* Returns the API's plural of a kind: English, without the exceptions that none of our kinds needs. */
static char *plural_of(const char *kind)
{
        struct buf name = BUF_INIT;
        for (const char *p = kind; *p; p++)
                buf_putc(&name, (char)tolower((unsigned char)*p));
        const char *text = buf_text(&name);
        size_t n = name.len;
        if (text_ends_with(text, "y") && n > 1 && !strchr("aeiou", text[n - 2])) {
                buf_truncate(&name, n - 1);
                buf_puts(&name, "ies");
        } else if (text_ends_with(text, "s") || text_ends_with(text, "x") || text_ends_with(text, "ch")) {
                buf_puts(&name, "es");
        } else {
                buf_putc(&name, 's');
        }
        return buf_steal(&name);
}

static bool has_namespace(const char *kind)
{
        static const char *const clusterwide[] = {
                "Namespace",          "Node",         "PersistentVolume", "ClusterRole",
                "ClusterRoleBinding", "StorageClass", "PriorityClass"};
        for (size_t i = 0; i < ARRAY_SIZE(clusterwide); i++)
                if (strcmp(kind, clusterwide[i]) == 0)
                        return false;
        return true;
}

char *kube_object_path(const json_t *object, const char *namespace, bool with_name)
{
        const json_t *metadata = json_object_get(object, "metadata");
        const char *api = json_text_at(object, "apiVersion");
        const char *kind = json_text_at(object, "kind");
        const char *name = json_text_at(metadata, "name");
        const char *own = json_text_at(metadata, "namespace");
        kind = kind ? kind : "";
        _cleanup_free_ char *resource = plural_of(kind);
        return kube_path(api ? api : "v1",
                         !has_namespace(kind) ? NULL
                         : own && *own        ? own
                                              : namespace,
                         resource, with_name ? name ? name : "" : NULL);
}

void kube_query_add(char **query, const char *name, const char *value)
{
        if (!value)
                return;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        if (*query && **query)
                buf_printf(&out, "%s&", *query);
        percent_encode(&out, name, "");
        buf_putc(&out, '=');
        percent_encode(&out, value, "");
        free(*query);
        *query = buf_steal(&out);
}
