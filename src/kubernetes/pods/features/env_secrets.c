/* Environment variables from secrets: spark.kubernetes.*.secretKeyRef.NAME=secret:key. */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>

/* Splits at the colon. Ignores trailing colons, as Java's split(":") does, and requires exactly two parts. */
static bool env_secrets_split(const char *reference, char **name, char **key)
{
        size_t n = strlen(reference), first = strcspn(reference, ":");
        while (n && reference[n - 1] == ':')
                n--;
        if (first >= n || memchr(reference + first + 1, ':', n - first - 1))
                return false;
        *name = mem_strndup(reference, first);
        *key = mem_strndup(reference + first + 1, n - first - 1);
        return true;
}

static int env_secrets_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap references = STRMAP_INIT;
        _cleanup_free_ char *prefix = mem_printf("spark.kubernetes.%s.secretKeyRef.", kube_role_name(c));
        kube_pairs(c, prefix, &references);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&references, e));) {
                _cleanup_free_ char *name = NULL;
                _cleanup_free_ char *key = NULL;
                if (!env_secrets_split(e->value, &name, &key))
                        return error_set(error, -EINVAL,
                                         "requirement failed: SecretKeyRef must be in the form name:key.");
                json_array_append_new(kube_children(pod->container, "env"),
                                      json_pack("{s:o,s:{s:{s:o,s:o}}}", "name", kube_text(e->key), "valueFrom",
                                                "secretKeyRef", "key", kube_text(key), "name", kube_text(name)));
        }
        return 0;
}

const struct feature_step env_secrets_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.EnvSecretsFeatureStep",
        .configure = env_secrets_configure,
};
