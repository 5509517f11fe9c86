/* The service account of executors: their own, else the driver's, unless a template names one. */
#include "kubernetes/pods/feature_step.h"

#include "base/mem.h"
#include "kubernetes/conf/kube_settings.h"

static int executor_credentials_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        static const char own[] = "spark.kubernetes.authenticate.executor.serviceAccountName";
        static const char drivers[] = "spark.kubernetes.authenticate.driver.serviceAccountName";
        _cleanup_free_ char *account = NULL;
        if (json_is_string(json_object_get(pod_spec(pod), "serviceAccount")))
                return 0;
        int r = kube_string(c, kube_is_set(c, own) ? own : drivers, &account, error);
        if (r == 0 && account)
                pod_set_service_account(pod, account);
        return r;
}

const struct feature_step executor_credentials_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.ExecutorKubernetesCredentialsFeatureStep",
        .configure = executor_credentials_configure,
};
