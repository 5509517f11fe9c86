/* Basic driver pods: BasicDriverFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

#define K "spark.kubernetes."

static void builds_basic_driver_pod(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings(K "driver.pod.name=the-driver", "spark.driver.cores=2", K "driver.limit.cores=4",
                            "spark.driver.memory=256M", "spark.driver.memoryOverhead=200", K "driver.label.a=b",
                            K "driver.annotation.id={{APP_ID}}", K "driverEnv.X=y",
                            K "container.image.pullSecrets=one, two", K "node.selector.disk=ssd",
                            K "driver.node.selector.zone=a", K "scheduler.name=yunikorn"));
        step_works(&f, &basic_driver_step);
        assert_json(container_of_pod(&f, "name"), "'spark-kubernetes-driver'");
        assert_json(container_of_pod(&f, "image"), "'spark:1'");
        assert_json(container_of_pod(&f, "imagePullPolicy"), "'IfNotPresent'");
        assert_json(container_of_pod(&f, "resources"),
                    "{'requests':{'cpu':'2','memory':'456Mi'},'limits':{'cpu':'4','memory':'456Mi'}}");
        assert_json(container_of_pod(&f, "securityContext"), "{'allowPrivilegeEscalation':false}");
        assert_json(container_of_pod(&f, "ports"), "[{'name':'driver-rpc-port','containerPort':7078,'protocol':'TCP'},"
                                                   "{'name':'blockmanager','containerPort':7079,'protocol':'TCP'},"
                                                   "{'name':'spark-ui','containerPort':4040,'protocol':'TCP'},"
                                                   "{'name':'spark-connect','containerPort':15002,'protocol':'TCP'}]");
        assert_json(container_of_pod(&f, "env"),
                    "[{'name':'SPARK_USER','value':'me'},{'name':'SPARK_APPLICATION_ID','value':'app-1'},"
                    "{'name':'X','value':'y'},{'name':'SPARK_DRIVER_BIND_ADDRESS','valueFrom':"
                    "{'fieldRef':{'apiVersion':'v1','fieldPath':'status.podIP'}}}]");
        assert_json(metadata_of(&f, "name"), "'the-driver'");
        assert_json(metadata_of(&f, "labels"),
                    "{'a':'b','spark-version':'4.3.0','spark-app-selector':'app-1','spark-app-name':'pi',"
                    "'spark-role':'driver'}");
        assert_json(metadata_of(&f, "annotations"), "{'id':'app-1'}");
        assert_json(spec_of(&f, "restartPolicy"), "'Never'");
        assert_json(spec_of(&f, "imagePullSecrets"), "[{'name':'one'},{'name':'two'}]");
        assert_json(spec_of(&f, "nodeSelector"), "{'disk':'ssd','zone':'a'}");
        assert_json(spec_of(&f, "schedulerName"), "'yunikorn'");
        assert_property(&f, K "driver.pod.name", "the-driver");
        assert_property(&f, "spark.app.id", "app-1");
        assert_property(&f, K "submitInDriver", "true");
        assert_property(&f, K "memoryOverheadFactor", "0.1");
        step_end(&f);
}

static void memory_of(const char *const *conf, enum kube_language language, const char *request, const char *factor)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, conf);
        f.c.language = language;
        step_works(&f, &basic_driver_step);
        const json_t *requests = json_object_get(container_of_pod(&f, "resources"), "requests");
        assert_string_equal(json_string_value(json_object_get(requests, "memory")), request);
        assert_property(&f, K "memoryOverheadFactor", factor);
        step_end(&f);
}

static void overhead_depends_on_the_language(void **state)
{
        memory_of(settings("spark.driver.memory=20g"), KUBE_JAVA, "22528Mi", "0.1");
        memory_of(settings("spark.driver.memory=20g"), KUBE_PYTHON, "28672Mi", "0.4");
        memory_of(settings("spark.driver.memory=20g"), KUBE_R, "28672Mi", "0.4");
        memory_of(settings("spark.driver.memory=20g", K "memoryOverheadFactor=0.2"), KUBE_PYTHON, "24576Mi", "0.2");
        memory_of(settings("spark.driver.memory=20g", "spark.driver.memoryOverheadFactor=0.3"), KUBE_JAVA, "26624Mi",
                  "0.1");
        memory_of(settings("spark.driver.memory=1g"), KUBE_JAVA, "1408Mi", "0.1");
        memory_of(settings("spark.driver.memory=1g", "spark.driver.minMemoryOverhead=500m"), KUBE_JAVA, "1524Mi",
                  "0.1");
}

static void custom_resources_need_a_vendor(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.driver.resource.gpu.amount=2", "spark.driver.resource.gpu.vendor=nvidia.com",
                            "spark.driver.resource.fpga.amount=1", "spark.driver.resource.fpga.vendor=foo.com"));
        step_works(&f, &basic_driver_step);
        assert_json(json_object_get(container_of_pod(&f, "resources"), "limits"),
                    "{'memory':'1408Mi','nvidia.com/gpu':'2','foo.com/fpga':'1'}");
        step_end(&f);
        step_refuses(KUBE_DRIVER, settings("spark.driver.resource.gpu.amount=2"), &basic_driver_step,
                     "Resource: gpu was requested, but vendor was not specified.");
        step_refuses(KUBE_DRIVER, settings("spark.driver.resource.gpu.vendor=x"), &basic_driver_step,
                     "You must specify an amount for gpu");
}

static int take_upload(void *owner, const char *uri, const char *target, struct fst_error *error)
{
        (*(int *)owner)++;
        assert_non_null(strstr(target, "s3a://bucket/up/spark-upload-01234567-89ab-4def-8123-"));
        return 0;
}

static void local_files_are_uploaded(void **state)
{
        struct step_fixture f;
        int uploads = 0;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.jars=/a/one.jar,local:///two.jar,hdfs://h/three.jar",
                            "spark.archives=/a/pack.zip#env", "spark.files=local:///f",
                            K "file.upload.path=s3a://bucket/up"));
        f.c.files = (struct kube_files){.owner = &uploads, .upload = take_upload};
        step_works(&f, &basic_driver_step);
        assert_int_equal(uploads, 2);
        const char *jars = strmap_get(&f.properties, "spark.jars");
        assert_non_null(strstr(jars, "/one.jar,local:///two.jar,hdfs://h/three.jar"));
        assert_non_null(strstr(strmap_get(&f.properties, "spark.archives"), "/pack.zip#env"));
        assert_null(strmap_get(&f.properties, "spark.files"));
        step_end(&f);
        step_refuses(KUBE_DRIVER, settings("spark.jars=/a/one.jar"), &basic_driver_step,
                     "Please specify spark.kubernetes.file.upload.path property.");
}

static void rejects_reserved_labels_and_invalid_ports_of_drivers(void **state)
{
        step_refuses(KUBE_DRIVER, settings(K "driver.label.spark-role=x"), &basic_driver_step,
                     "requirement failed: Label with key spark-role is not allowed as it is reserved for Spark "
                     "bookkeeping operations.");
        step_refuses(KUBE_DRIVER, settings(K "container.image.pullPolicy=Sometimes"), &basic_driver_step,
                     "[INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS] The value 'Sometimes' in the config "
                     "\"spark.kubernetes.container.image.pullPolicy\" is invalid. It should be one of 'Always, Never, "
                     "IfNotPresent'. SQLSTATE: 22022");
        step_refuses(KUBE_DRIVER, settings("spark.driver.port=x"), &basic_driver_step,
                     "Illegal value for config key spark.driver.port: For input string: \"x\"");
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, NULL);
        strmap_remove(&f.conf.set, "spark.kubernetes.container.image");
        assert_int_equal(step_run(&f, &basic_driver_step), -EINVAL);
        assert_string_equal(error_message(&f.error), "Must specify the driver container image");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(builds_basic_driver_pod),
                cmocka_unit_test(overhead_depends_on_the_language),
                cmocka_unit_test(custom_resources_need_a_vendor),
                cmocka_unit_test(local_files_are_uploaded),
                cmocka_unit_test(rejects_reserved_labels_and_invalid_ports_of_drivers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
