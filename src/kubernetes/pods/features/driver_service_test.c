/* The driver's service: DriverServiceFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

#define S "spark.kubernetes.driver.service."

static void builds_headless_service(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.driver.port=9000", "spark.driver.blockManager.port=8080", "spark.ui.port=4080",
                            "spark.connect.grpc.binding.port=15003", "spark.kubernetes.namespace=jobs", S "label.x=y",
                            S "annotation.n=o", S "ipFamilies=IPv6,IPv4", S "ipFamilyPolicy=RequireDualStack"));
        step_works(&f, &driver_service_step);
        assert_json(f.resources,
                    "[{'apiVersion':'v1','kind':'Service','metadata':{'name':'pi-0123456789abcdef-driver-svc',"
                    "'labels':{'spark-app-selector':'app-1','x':'y'},'annotations':{'n':'o'}},"
                    "'spec':{'clusterIP':'None','publishNotReadyAddresses':false,"
                    "'ipFamilyPolicy':'RequireDualStack','ipFamilies':['IPv6','IPv4'],"
                    "'selector':{'spark-version':'4.3.0','spark-app-selector':'app-1','spark-app-name':'pi',"
                    "'spark-role':'driver'},"
                    "'ports':[{'name':'driver-rpc-port','port':9000,'targetPort':9000},"
                    "{'name':'blockmanager','port':8080,'targetPort':8080},"
                    "{'name':'spark-ui','port':4080,'targetPort':4080},"
                    "{'name':'spark-connect','port':15003,'targetPort':15003,'appProtocol':'grpc'}]}}]");
        assert_property(&f, "spark.driver.host", "pi-0123456789abcdef-driver-svc.jobs.svc");
        assert_property(&f, "spark.driver.port", "9000");
        assert_property(&f, "spark.driver.blockManager.port", "8080");
        step_end(&f);
}

static void replaces_long_service_name(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.app.name=an-application-whose-name-is-too-long-for-a-service-of-its-own"));
        step_works(&f, &driver_service_step);
        assert_property(&f, "spark.driver.host", "spark-0123456789abcdef-driver-svc.default.svc");
        assert_property(&f, "spark.driver.port", "7078");
        assert_property(&f, "spark.driver.blockManager.port", "7079");
        step_end(&f);
}

static void rejects_driver_host_and_bind_address(void **state)
{
        step_refuses(
                KUBE_DRIVER, settings("spark.driver.bindAddress=host"), &driver_service_step,
                "requirement failed: spark.driver.bindAddress is not supported in Kubernetes mode, as the driver's "
                "bind address is managed and set to the driver pod's IP address.");
        step_refuses(KUBE_DRIVER, settings("spark.driver.host=host"), &driver_service_step,
                     "requirement failed: spark.driver.host is not supported in Kubernetes mode, as the driver's "
                     "hostname will be managed via a Kubernetes service.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(builds_headless_service),
                cmocka_unit_test(replaces_long_service_name),
                cmocka_unit_test(rejects_driver_host_and_bind_address),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
