/* Basic executor pods: BasicExecutorFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

#define K "spark.kubernetes."
#define HOST "spark.driver.host=svc.ns.svc"

static json_t *driver_pod(void)
{
        return json_pack("{s:s,s:s,s:{s:s,s:s}}", "apiVersion", "v1", "kind", "Pod", "metadata", "name", "the-driver",
                         "uid", "u-1");
}

static void builds_basic_executor_pod(void **state)
{
        struct step_fixture f;
        json_t *driver = driver_pod();
        step_begin(&f, KUBE_EXECUTOR,
                   settings(HOST, "spark.driver.port=1234", K "executor.podNamePrefix=pi-x", "spark.executor.cores=2",
                            K "executor.limit.cores=3", K "executor.label.a={{EXECUTOR_ID}}", "spark.executorEnv.X=y",
                            "spark.executorEnv.1bad=z"));
        f.c.driver_pod = driver;
        step_works(&f, &basic_executor_step);
        assert_json(metadata_of(&f, "name"), "'pi-x-exec-3'");
        assert_json(metadata_of(&f, "labels"),
                    "{'a':'3','spark-version':'4.3.0','spark-exec-id':'3','spark-app-selector':'app-1',"
                    "'spark-app-name':'pi','spark-role':'executor','spark-exec-resourceprofile-id':'0'}");
        assert_json(metadata_of(&f, "ownerReferences"),
                    "[{'apiVersion':'v1','controller':true,'kind':'Pod','name':'the-driver','uid':'u-1'}]");
        assert_json(spec_of(&f, "hostname"), "'pi-x-exec-3'");
        assert_json(spec_of(&f, "restartPolicy"), "'Never'");
        assert_json(spec_of(&f, "terminationGracePeriodSeconds"), "30");
        assert_json(container_of_pod(&f, "args"), "['executor']");
        assert_json(container_of_pod(&f, "resources"),
                    "{'requests':{'cpu':'2','memory':'1408Mi'},'limits':{'cpu':'3','memory':'1408Mi'}}");
        assert_json(container_of_pod(&f, "ports"), "[{'name':'blockmanager','containerPort':7079}]");
        assert_json(container_of_pod(&f, "resizePolicy"), "[{'resourceName':'cpu','restartPolicy':'NotRequired'},"
                                                          "{'resourceName':'memory','restartPolicy':'NotRequired'}]");
        assert_json(container_of_pod(&f, "volumeMounts"),
                    "[{'name':'spark-conf-volume-exec','mountPath':'/opt/spark/conf'}]");
        assert_null(container_of_pod(&f, "lifecycle"));
        assert_string_equal(variable_of(&f, "SPARK_DRIVER_URL"), "spark://CoarseGrainedScheduler@svc.ns.svc:1234");
        assert_string_equal(variable_of(&f, "SPARK_EXECUTOR_CORES"), "2");
        assert_string_equal(variable_of(&f, "SPARK_EXECUTOR_MEMORY"), "1024m");
        assert_string_equal(variable_of(&f, "SPARK_EXECUTOR_ID"), "3");
        assert_string_equal(variable_of(&f, "SPARK_RESOURCE_PROFILE_ID"), "0");
        assert_string_equal(variable_of(&f, "X"), "y");
        assert_null(variable_of(&f, "1bad"));
        assert_null(variable_of(&f, "_SPARK_AUTH_SECRET"));
        step_end(&f);
        json_decref(driver);
}

static void executors_that_outlive_their_driver_belong_to_its_owner(void **state)
{
        json_t *driver = json_pack("{s:s,s:s,s:{s:s,s:s}}", "apiVersion", "v1", "kind", "Pod", "metadata", "name",
                                   "driver", "uid", "u-1");
        json_t *owner =
                json_pack("{s:s,s:s,s:s,s:s}", "apiVersion", "batch/v1", "kind", "Job", "name", "job", "uid", "u-2");
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, settings(HOST));
        f.c.driver_pod = driver;
        f.c.lasting_owner = owner;
        f.c.resumed_app_id = "app-0";
        step_works(&f, &basic_executor_step);
        assert_json(metadata_of(&f, "ownerReferences"),
                    "[{'apiVersion':'batch/v1','kind':'Job','name':'job','uid':'u-2'}]");
        assert_string_equal(variable_of(&f, "SPARK_APPLICATION_ID"), "app-0");
        assert_json(json_object_get(metadata_of(&f, "labels"), "spark-app-selector"), "'app-1'");
        step_end(&f);
        json_decref(owner);
        json_decref(driver);
}

static void host_names_are_labels(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR,
                   settings(HOST, K "executor.podNamePrefix=a.b-"
                                    "0123456789012345678901234567890123456789012345678901234567890123456789"));
        step_works(&f, &basic_executor_step);
        assert_int_equal(json_string_length(spec_of(&f, "hostname")), 63);
        step_end(&f);
        step_begin(&f, KUBE_EXECUTOR, settings(HOST, K "executor.podNamePrefix=a.b"));
        step_works(&f, &basic_executor_step);
        assert_json(spec_of(&f, "hostname"), "'a_b-exec-3'");
        step_end(&f);
}

static void java_options_are_variables(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR,
                   settings(HOST, "spark.executor.extraJavaOptions=-Da=\"x y\" -Did={{EXECUTOR_ID}}",
                            "spark.executor.defaultJavaOptions=-Dfirst", "spark.rpc.x=1", "spark.shuffle.y=2",
                            "spark.executor.extraClassPath=/cp", "spark.executor.extraLibraryPath=/lib"));
        step_works(&f, &basic_executor_step);
        assert_string_equal(variable_of(&f, "SPARK_JAVA_OPT_0"), "-Dfirst");
        assert_string_equal(variable_of(&f, "SPARK_JAVA_OPT_1"), "-Da=x y");
        assert_string_equal(variable_of(&f, "SPARK_JAVA_OPT_2"), "-Did=3");
        assert_string_equal(variable_of(&f, "SPARK_JAVA_OPT_3"), "-Dspark.rpc.x=1");
        assert_null(variable_of(&f, "SPARK_JAVA_OPT_4"));
        assert_string_equal(variable_of(&f, "SPARK_CLASSPATH"), "/cp");
        assert_string_equal(variable_of(&f, "SPARK_EXECUTOR_LIBRARY_PATH"), "/lib");
        step_end(&f);
}

static void memory_of(const char *const *conf, const struct kube_profile *profile, const char *request)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, conf);
        f.c.profile = profile;
        step_works(&f, &basic_executor_step);
        const json_t *requests = json_object_get(container_of_pod(&f, "resources"), "requests");
        assert_string_equal(json_string_value(json_object_get(requests, "memory")), request);
        step_end(&f);
}

static void memory_is_the_sum_of_its_parts(void **state)
{
        memory_of(settings(HOST, "spark.executor.memory=4g", K "memoryOverheadFactor=0.2"), NULL, "4915Mi");
        memory_of(settings(HOST, "spark.executor.memory=4g", "spark.executor.memoryOverheadFactor=0.5"), NULL,
                  "6144Mi");
        memory_of(settings(HOST, "spark.executor.pyspark.memory=42m"), NULL, "1408Mi");
        memory_of(settings(HOST, "spark.executor.pyspark.memory=42m", K "resource.type=python"), NULL, "1450Mi");
        memory_of(settings(HOST, "spark.memory.offHeap.enabled=true", "spark.memory.offHeap.size=42m"), NULL, "1450Mi");
        memory_of(settings(HOST, "spark.memory.offHeap.size=42m"), NULL, "1408Mi");
        const struct kube_amount amounts[] = {{"memory", 2048, ""}, {"cores", 3, ""}, {"memoryOverhead", 10, ""}};
        const struct kube_profile profile = {2, amounts, 3};
        memory_of(settings(HOST), &profile, "2058Mi");
        step_refuses(KUBE_EXECUTOR, settings(HOST, "spark.memory.offHeap.enabled=true"), &basic_executor_step,
                     "requirement failed: spark.memory.offHeap.size must be at least 1MiB when "
                     "spark.memory.offHeap.enabled == true");
}

static void profiles_replace_what_templates_ask_for(void **state)
{
        struct step_fixture f;
        const struct kube_amount amounts[] = {{"gpu", 1, "nvidia.com"}};
        const struct kube_profile profile = {5, amounts, 1};
        step_begin(&f, KUBE_EXECUTOR, settings(HOST, K "executor.request.cores=100m", K "executor.limit.cores=1"));
        f.c.profile = &profile;
        kube_put(kube_child(kube_child(f.pod.container, "resources"), "limits"), "nvidia.com/gpu", "4");
        step_works(&f, &basic_executor_step);
        assert_json(container_of_pod(&f, "resources"),
                    "{'requests':{'cpu':'1','memory':'1408Mi'},'limits':{'nvidia.com/gpu':'1','memory':'1408Mi'}}");
        assert_string_equal(variable_of(&f, "SPARK_RESOURCE_PROFILE_ID"), "5");
        step_end(&f);
}

static void secrets_travel_as_variables(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, settings(HOST));
        f.c.secret = "hush";
        step_works(&f, &basic_executor_step);
        assert_string_equal(variable_of(&f, "_SPARK_AUTH_SECRET"), "hush");
        step_end(&f);
        step_begin(&f, KUBE_EXECUTOR, settings(HOST, "spark.authenticate.secret.file=/s"));
        f.c.secret = "hush";
        step_works(&f, &basic_executor_step);
        assert_null(variable_of(&f, "_SPARK_AUTH_SECRET"));
        step_end(&f);
}

static void optional_settings_change_pod(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR,
                   settings(HOST, "spark.decommission.enabled=true", K "allocation.pods.allocator=statefulset",
                            K "executor.disableConfigMap=true", "spark.blockManager.port=0",
                            "spark.driver.bindAddress=::1", K "allocation.recoveryMode.enabled=true",
                            "spark.executor.cores=4", "spark.task.cpus=2"));
        step_works(&f, &basic_executor_step);
        assert_json(container_of_pod(&f, "lifecycle"), "{'preStop':{'exec':{'command':['/opt/decom.sh']}}}");
        assert_json(spec_of(&f, "restartPolicy"), "'Always'");
        assert_null(spec_of(&f, "volumes"));
        assert_null(container_of_pod(&f, "ports"));
        assert_string_equal(variable_of(&f, "SPARK_DRIVER_URL"), "spark://CoarseGrainedScheduler@[::1]:7078");
        assert_string_equal(variable_of(&f, "SPARK_EXECUTOR_CORES"), "2");
        step_end(&f);
}

static void rejects_request_above_limit_reserved_labels_and_low_ports(void **state)
{
        step_refuses(KUBE_EXECUTOR, settings(HOST, K "executor.request.cores=2", K "executor.limit.cores=1500m"),
                     &basic_executor_step,
                     "The executor cpu request (2) should be less than or equal to cpu limit (1500m)");
        step_refuses(KUBE_EXECUTOR, settings(HOST, "spark.blockManager.port=1023"), &basic_executor_step,
                     "requirement failed: port number must be 0 or in [1024, 65535]");
        step_refuses(KUBE_EXECUTOR, settings(HOST, K "executor.label.spark-exec-id=x"), &basic_executor_step,
                     "requirement failed: Custom executor labels cannot contain spark-exec-id as it is reserved for "
                     "Spark.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(builds_basic_executor_pod),
                cmocka_unit_test(host_names_are_labels),
                cmocka_unit_test(executors_that_outlive_their_driver_belong_to_its_owner),
                cmocka_unit_test(java_options_are_variables),
                cmocka_unit_test(memory_is_the_sum_of_its_parts),
                cmocka_unit_test(profiles_replace_what_templates_ask_for),
                cmocka_unit_test(secrets_travel_as_variables),
                cmocka_unit_test(optional_settings_change_pod),
                cmocka_unit_test(rejects_request_above_limit_reserved_labels_and_low_ports),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
