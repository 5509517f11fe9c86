/* Pods of Spark 2.3: its InitContainerBootstrapSuite, and the pods of its documentation. */
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/driver/driver_objects.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/pods/features/step_fixture.h"

#define K "spark.kubernetes."
#define INIT K "initContainer.image=init:1"

static json_t *of_pod(json_t *pod, const char *name)
{
        return json_object_get(json_object_get(pod, "spec"), name);
}

static void driver_downloads_in_init_container(void **state)
{
        static const char *const words[] = {"10", "x"};
        struct step_fixture f;
        json_t *objects = NULL;
        step_begin(&f, KUBE_DRIVER,
                   settings(INIT, "spark.jars=hdfs://h/a.jar,local:///b.jar", "spark.files=http://h/f.txt",
                            "spark.driver.cores=2", K "driver.limit.cores=3", "spark.driver.memory=2g",
                            K "node.selector.disk=ssd", "spark.driver.extraJavaOptions=-Dmine=\"x y\""));
        f.c.resource = "local:///main.jar";
        f.c.arguments = words;
        f.c.n_arguments = 2;
        if (driver_objects_make(&f.c, &objects, NULL, &f.error))
                fail_msg("%s", error_message(&f.error));
        json_t *pod = json_array_get(objects, 0), *container = json_array_get(of_pod(pod, "containers"), 0);
        assert_json(of_pod(pod, "volumes"),
                    "[{'name':'spark-init-properties','configMap':{'name':'pi-0123456789abcdef-init-config','items':"
                    "[{'key':'spark-init.properties','path':'spark-init.properties'}]}},"
                    "{'name':'download-jars-volume','emptyDir':{}},{'name':'download-files-volume','emptyDir':{}}]");
        assert_json(of_pod(pod, "initContainers"),
                    "[{'name':'spark-init','image':'init:1','imagePullPolicy':'IfNotPresent','args':['init',"
                    "'/etc/spark-init/spark-init.properties'],'volumeMounts':["
                    "{'name':'spark-init-properties','mountPath':'/etc/spark-init'},"
                    "{'name':'download-jars-volume','mountPath':'/var/spark-data/spark-jars'},"
                    "{'name':'download-files-volume','mountPath':'/var/spark-data/spark-files'}]}]");
        assert_json(of_pod(pod, "restartPolicy"), "'Never'");
        assert_json(of_pod(pod, "nodeSelector"), "{'disk':'ssd'}");
        assert_json(json_object_get(container, "args"), "['driver']");
        assert_json(json_object_get(container, "volumeMounts"),
                    "[{'name':'download-jars-volume','mountPath':'/var/spark-data/spark-jars'},"
                    "{'name':'download-files-volume','mountPath':'/var/spark-data/spark-files'}]");
        assert_json(json_object_get(container, "resources"),
                    "{'requests':{'cpu':'2','memory':'2048Mi'},'limits':{'cpu':'3','memory':'2432Mi'}}");
        f.pod.container = (json_decref(f.pod.container), json_incref(container));
        assert_string_equal(variable_of(&f, "SPARK_DRIVER_MEMORY"), "2g");
        assert_string_equal(variable_of(&f, "SPARK_DRIVER_CLASS"), "a.B");
        assert_string_equal(variable_of(&f, "SPARK_DRIVER_ARGS"), "10 x");
        assert_string_equal(variable_of(&f, "SPARK_MOUNTED_CLASSPATH"),
                            "/var/spark-data/spark-jars/a.jar:/b.jar:/main.jar");
        assert_string_equal(variable_of(&f, "SPARK_MOUNTED_FILES_DIR"), "/var/spark-data/spark-files");
        assert_string_equal(variable_of(&f, "SPARK_JAVA_OPT_0"), "-Dspark.app.id=app-1");
        const json_t *last = json_array_get(json_object_get(container, "env"),
                                            json_array_size(json_object_get(container, "env")) - 1);
        assert_json(json_object_get(last, "value"), "'-Dmine=x y'");
        const json_t *map = json_array_get(objects, 2);
        assert_string_equal(json_string_value(json_object_get(json_object_get(map, "data"), "spark-init.properties")),
                            "#Java properties built from Kubernetes config map with name: "
                            "pi-0123456789abcdef-init-config and config map key: spark-init.properties\n"
                            "spark.kubernetes.initContainer.remoteFiles=http\\://h/f.txt\n"
                            "spark.kubernetes.initContainer.remoteJars=hdfs\\://h/a.jar\n"
                            "spark.kubernetes.mountDependencies.filesDownloadDir=/var/spark-data/spark-files\n"
                            "spark.kubernetes.mountDependencies.jarsDownloadDir=/var/spark-data/spark-jars\n");
        assert_int_equal(json_array_size(objects), 3); /* pod, service, map of downloads */
        json_decref(objects);
        step_end(&f);
}

static void adds_no_init_container_without_remote_files(void **state)
{
        struct step_fixture f;
        json_t *objects = NULL;
        step_begin(&f, KUBE_DRIVER, settings(INIT));
        f.c.resource = "local:///main.jar";
        assert_int_equal(driver_objects_make(&f.c, &objects, NULL, &f.error), 0);
        json_t *pod = json_array_get(objects, 0);
        assert_null(of_pod(pod, "initContainers"));
        assert_null(of_pod(pod, "volumes"));
        assert_int_equal(json_array_size(objects), 2);
        json_decref(objects);
        step_end(&f);
        step_begin(&f, KUBE_DRIVER, settings(INIT, "spark.jars=/here/a.jar"));
        assert_int_equal(driver_objects_make(&f.c, &objects, NULL, &f.error), -EINVAL);
        assert_string_equal(error_message(&f.error),
                            "The Kubernetes mode does not yet support referencing application dependencies in the "
                            "local file system.");
        step_end(&f);
}

static void executor_downloads_in_init_container(void **state)
{
        struct step_fixture f;
        struct executor_pod_spec spec;
        step_begin(&f, KUBE_EXECUTOR,
                   settings(INIT, "spark.driver.host=svc", K "initContainer.configMapName=what",
                            K "initContainer.configMapKey=spark-init.properties", "spark.executor.cores=2",
                            K "executor.podNamePrefix=pi"));
        if (executor_spec_build(&f.c, &spec, &f.error))
                fail_msg("%s", error_message(&f.error));
        spark_pod_deinit(&f.pod);
        f.pod = (struct spark_pod){json_incref(spec.pod.pod), json_incref(spec.pod.container)};
        assert_json(container_of_pod(&f, "name"), "'executor'");
        assert_json(container_of_pod(&f, "args"), "['executor']");
        assert_json(container_of_pod(&f, "ports"), "[{'name':'blockmanager','containerPort':7079}]");
        assert_json(container_of_pod(&f, "resources"),
                    "{'requests':{'cpu':'2','memory':'1024Mi'},'limits':{'memory':'1408Mi'}}");
        assert_string_equal(variable_of(&f, "SPARK_MOUNTED_CLASSPATH"), "/var/spark-data/spark-jars/*");
        assert_string_equal(variable_of(&f, "SPARK_EXECUTOR_CORES"), "2");
        assert_string_equal(variable_of(&f, "SPARK_DRIVER_URL"), "spark://CoarseGrainedScheduler@svc:7078");
        assert_json(json_object_get(json_array_get(spec_of(&f, "initContainers"), 0), "name"), "'spark-init'");
        assert_json(metadata_of(&f, "name"), "'pi-exec-3'");
        assert_int_equal(json_array_size(spec_of(&f, "volumes")), 3);
        executor_spec_deinit(&spec);
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(driver_downloads_in_init_container),
                cmocka_unit_test(adds_no_init_container_without_remote_files),
                cmocka_unit_test(executor_downloads_in_init_container),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
