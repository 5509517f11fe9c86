/* Lets only pods of the same application connect to its executors. NetworkPolicyFeatureStep. */
#include "kubernetes/pods/feature_step.h"

#include "base/mem.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"

static int network_policy_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_free_ char *namespace = NULL;
        _cleanup_free_ char *name = mem_printf("%s-policy", c->prefix);
        int r = kube_string(c, "spark.kubernetes.namespace", &namespace, error);
        if (r < 0)
                return r;
        json_array_append_new(out,
                              json_pack("{s:s,s:s,s:{s:o,s:o,s:{s:o}},s:{s:{s:{s:s,s:o}},s:[{s:[{s:{s:{s:o}}}]}]}}",
                                        "apiVersion", "networking.k8s.io/v1", "kind", "NetworkPolicy", "metadata",
                                        "name", kube_text(name), "namespace", kube_text(namespace), "labels",
                                        KUBE_LABEL_APP_ID, kube_text(c->app_id), "spec", "podSelector", "matchLabels",
                                        KUBE_LABEL_ROLE, "executor", KUBE_LABEL_APP_ID, kube_text(c->app_id), "ingress",
                                        "from", "podSelector", "matchLabels", KUBE_LABEL_APP_ID, kube_text(c->app_id)));
        return 0;
}

const struct feature_step network_policy_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.NetworkPolicyFeatureStep",
        .resources = network_policy_resources,
};
