/* Network policies of executors: NetworkPolicyFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

static void admits_only_pods_of_application(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings("spark.kubernetes.namespace=jobs"));
        step_works(&f, &network_policy_step);
        assert_json(f.resources,
                    "[{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy','metadata':"
                    "{'name':'pi-0123456789abcdef-policy','namespace':'jobs','labels':{'spark-app-selector':'app-1'}},"
                    "'spec':{'podSelector':{'matchLabels':{'spark-role':'executor','spark-app-selector':'app-1'}},"
                    "'ingress':[{'from':[{'podSelector':{'matchLabels':{'spark-app-selector':'app-1'}}}]}]}}]");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(admits_only_pods_of_application)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
