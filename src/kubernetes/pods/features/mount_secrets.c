/* Secrets as files of the container: spark.kubernetes.*.secrets.NAME=/path. MountSecretsFeatureStep. */
#include "kubernetes/pods/feature_step.h"

#include "base/mem.h"

static int mount_secrets_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap secrets = STRMAP_INIT;
        _cleanup_free_ char *prefix = mem_printf("spark.kubernetes.%s.secrets.", kube_role_name(c));
        kube_pairs(c, prefix, &secrets);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&secrets, e));) {
                _cleanup_free_ char *volume = mem_printf("%s-volume", e->key);
                pod_add_volume(pod, secret_volume(volume, e->key));
                pod_add_mount(pod, volume, e->value);
        }
        return 0;
}

const struct feature_step mount_secrets_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.MountSecretsFeatureStep",
        .configure = mount_secrets_configure,
};
