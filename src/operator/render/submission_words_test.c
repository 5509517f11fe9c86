/* The words of spark-submit, field by field. */
#include "operator/render/submission_words.h"

#include "operator/render/render_fixture.h"

static struct fst_error error;

/* Returns the words with "--conf" left out and newlines between them. The caller owns the text. */
static char *words_text(const char *more, const char *labels)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        struct spark_application app;
        struct buf out = BUF_INIT;
        fixture_read_labelled(more, labels, &app);
        if (submission_words_make(&app, &fixture_options, &words, &error) < 0)
                fail_msg("%s", error_message(&error));
        for (size_t i = 0; i < words.len; i++)
                if (strcmp(words.data[i], "--conf") != 0)
                        buf_printf(&out, "%s\n", words.data[i]);
        spark_application_deinit(&app);
        return buf_steal(&out);
}

/* Asserts that the words contain @expected, whole lines in this order. */
static void assert_words(const char *more, const char *expected)
{
        _cleanup_free_ char *text = words_text(more, NULL);
        _cleanup_free_ char *fenced = mem_printf("\n%s", text);
        _cleanup_free_ char *wanted = mem_printf("\n%s\n", expected);
        if (!strstr(fenced, wanted))
                fail_msg("%s\n%s\nnot in\n%s", more, expected, text);
}

static void assert_no_word(const char *more, const char *part)
{
        _cleanup_free_ char *text = words_text(more, NULL);
        if (strstr(text, part))
                fail_msg("%s: %s in\n%s", more, part, text);
}

static void assert_words_refused(const char *more, const char *message)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        struct spark_application app;
        fixture_read(more, &app);
        assert_int_equal(submission_words_make(&app, &fixture_options, &words, &error), -EINVAL);
        assert_string_equal(error_message(&error), message);
        spark_application_deinit(&app);
}

#define K "spark.kubernetes."
#define LABELS(role)                                                                                                   \
        K role ".label.sparkoperator.k8s.io/app-name=pi\n" K role                                                      \
               ".label.sparkoperator.k8s.io/launched-by-spark-operator=true\n" K role                                  \
               ".label.sparkoperator.k8s.io/mutated-by-spark-operator=true\n" K role                                   \
               ".label.sparkoperator.k8s.io/submission-id=" FIXTURE_ID "\n"

static void plain_application_has_all_words_in_order(void **state)
{
        _cleanup_free_ char *text = words_text(", 'arguments': ['10', '--x']", NULL);
        assert_string_equal(
                text, "--master\nk8s://https://10.0.0.1:443\n--deploy-mode\ncluster\n--class\nPi\n--name\npi\n" K
                      "namespace=jobs\n" K "container.image=spark:4\n" K "submission.waitAppCompletion=false\n" K
                      "driver.pod.name=pi-driver\n" LABELS("driver") K
                "driver.container.image=spark:4\nspark.driver.cores=1\nspark.driver.memory=1g\n" LABELS(
                        "executor") "spark.executor.instances=1\n" K
                                    "executor.container.image=spark:4\nspark.executor.cores=1\nspark.executor.memory=1g\n" K
                                    "driver.podTemplateContainerName=spark-kubernetes-driver\n" K
                                    "executor.podTemplateContainerName=spark-kubernetes-executor\nlocal:///app.jar\n10\n--x\n");
}

static void fields_of_the_spec(void **state)
{
        assert_words(", 'proxyUser': 'ann'", "--proxy-user\nann\nlocal:///app.jar");
        assert_words(", 'imagePullPolicy': 'Always', 'imagePullSecrets': ['a', 'b']",
                     K "container.image.pullPolicy=Always\n" K "container.image.pullSecrets=a,b");
        assert_words(", 'pythonVersion': '3', 'memoryOverheadFactor': '0.3'",
                     K "pyspark.pythonVersion=3\n" K "memoryOverheadFactor=0.3");
        assert_words(", 'sparkConf': {'b': '1', 'spark.kubernetes.driver.pod.name': 'x', 'a': '2'}, 'hadoopConf':"
                     "{'fs.x': 'y'}",
                     K "submission.waitAppCompletion=false\nb=1\na=2\nspark.hadoop.fs.x=y\n" K "driver.pod.name=x");
        assert_words(", 'sparkConf': {'spark.firesteel.resume.enabled': 'true', 'spark.firesteel.resume.dir': '/j'}",
                     K "submission.waitAppCompletion=false\nspark.firesteel.resume.id=pi-u-1\n"
                       "spark.firesteel.resume.enabled=true\nspark.firesteel.resume.dir=/j");
        assert_no_word(", 'sparkConf': {'spark.firesteel.resume.enabled': 'false'}",
                       "spark.firesteel.resume.id=pi-u-1");
        assert_words(", 'nodeSelector': {'disk': 'ssd'}", K "node.selector.disk=ssd");
        assert_words(", 'deps': {'jars': ['a', 'b'], 'files': ['f'], 'pyFiles': ['p'], 'archives': ['z']}",
                     "--name\npi\n--jars\na,b\n--py-files\np\n--files\nf\n--archives\nz");
        assert_words(", 'image': ''", "--name\npi\n" K "namespace=jobs\n" K "submission.waitAppCompletion=false");
}

static void packages_become_settings(void **state)
{
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        struct spark_application app;
        static const char more[] =
                ", 'deps': {'packages': ['a:b:1', 'c:d:2'], 'excludePackages': ['x:y'], 'repositories': ['http://r']}";
        assert_no_word(more, "a:b:1");
        fixture_read(more, &app);
        submission_packages(&app, &conf);
        assert_string_equal(strmap_get(&conf, "spark.jars.packages"), "a:b:1,c:d:2");
        assert_string_equal(strmap_get(&conf, "spark.jars.excludes"), "x:y");
        assert_string_equal(strmap_get(&conf, "spark.jars.repositories"), "http://r");
        spark_application_deinit(&app);
}

static void fields_of_the_driver(void **state)
{
        assert_words(", 'driver': {'cores': 2, 'coreRequest': '1500m', 'coreLimit': '3', 'memory': '2g',"
                     "'memoryOverhead': '512m', 'image': 'own', 'serviceAccount': 'sa', 'javaOptions': '-Dx=1 -Dy=2',"
                     "'kubernetesMaster': 'k8s://h'}",
                     K "driver.container.image=own\nspark.driver.cores=2\n" K "driver.request.cores=1500m\n" K
                       "driver.limit.cores=3\nspark.driver.memory=2g\nspark.driver.memoryOverhead=512m\n" K
                       "authenticate.driver.serviceAccountName=sa\nspark.driver.extraJavaOptions=-Dx=1 -Dy=2\n" K
                       "driver.master=k8s://h");
        assert_words(", 'driver': {'podName': 'p', 'labels': {'l': '1'}, 'annotations': {'a/b': '2'},"
                     "'serviceLabels': {'s': '3'}, 'serviceAnnotations': {'t': '4'},"
                     "'envSecretKeyRefs': {'PASS': {'name': 'n', 'key': 'k'}}, 'envVars': {'E': '5'}}",
                     K "driver.label.l=1\n" K "driver.annotation.a/b=2\n" K "driver.service.label.s=3\n" K
                       "driver.service.annotation.t=4\n" K "driver.secretKeyRef.PASS=n:k\n" K "driverEnv.E=5");
        assert_words(", 'driver': {'podName': 'p'}", K "driver.pod.name=p");
}

static void fields_of_the_executor(void **state)
{
        assert_words(", 'executor': {'cores': 2, 'coreRequest': '1', 'coreLimit': '2500m', 'memory': '2g',"
                     "'memoryOverhead': '1g', 'image': 'own', 'serviceAccount': 'sa', 'instances': 7,"
                     "'deleteOnTermination': false, 'labels': {'l': '1'}, 'annotations': {'a': '2'},"
                     "'envSecretKeyRefs': {'PASS': {'name': 'n', 'key': 'k'}}, 'javaOptions': '-Dx', 'envVars':"
                     "{'E': '5'}}",
                     "spark.executor.instances=7\n" K "executor.container.image=own\nspark.executor.cores=2\n" K
                     "executor.request.cores=1\n" K
                     "executor.limit.cores=2500m\nspark.executor.memory=2g\nspark.executor.memoryOverhead=1g\n" K
                     "authenticate.executor.serviceAccountName=sa\n" K "executor.deleteOnTermination=false\n" K
                     "executor.label.l=1\n" K "executor.annotation.a=2\n" K
                     "executor.secretKeyRef.PASS=n:k\nspark.executor.extraJavaOptions=-Dx\nspark.executorEnv.E=5");
}

static void secrets_set_variables(void **state)
{
        assert_words(", 'driver': {'secrets': [{'name': 'g', 'path': '/mnt/g/', 'secretType': 'GCPServiceAccount'},"
                     "{'name': 'x', 'path': '/mnt/x', 'secretType': 'Generic'}]}",
                     K "driver.secrets.g=/mnt/g/\n" K "driverEnv.GOOGLE_APPLICATION_CREDENTIALS=/mnt/g/key.json\n" K
                       "driver.secrets.x=/mnt/x");
        assert_words(
                ", 'executor': {'secrets': [{'name': 'h', 'path': '/mnt', 'secretType': 'HadoopDelegationToken'}]}",
                K "executor.secrets.h=/mnt\nspark.executorEnv.HADOOP_TOKEN_FILE_LOCATION=/mnt/hadoop.token");
}

static void local_directories_become_volumes(void **state)
{
        assert_words(", 'volumes': [{'name': 'spark-local-dir-1', 'hostPath': {'path': '/tmp/mnt'}}],"
                     "'driver': {'volumeMounts': [{'name': 'spark-local-dir-1', 'mountPath': '/tmp/mnt-1'}]}",
                     K "driver.volumes.hostPath.spark-local-dir-1.mount.path=/tmp/mnt-1\n" K
                       "driver.volumes.hostPath.spark-local-dir-1.options.path=/tmp/mnt");
        assert_words(", 'volumes': [{'name': 'spark-local-dir-1', 'persistentVolumeClaim': {'claimName': 'c',"
                     "'readOnly': true}}], 'executor': {'volumeMounts': [{'name': 'spark-local-dir-1',"
                     "'mountPath': '/m', 'subPath': 's', 'readOnly': true}]}",
                     K "executor.volumes.persistentVolumeClaim.spark-local-dir-1.mount.path=/m\n" K
                       "executor.volumes.persistentVolumeClaim.spark-local-dir-1.mount.subPath=s\n" K
                       "executor.volumes.persistentVolumeClaim.spark-local-dir-1.mount.readOnly=true\n" K
                       "executor.volumes.persistentVolumeClaim.spark-local-dir-1.options.claimName=c\n" K
                       "executor.volumes.persistentVolumeClaim.spark-local-dir-1.options.readOnly=true");
        assert_words(
                ", 'volumes': [{'name': 'spark-local-dir-x', 'emptyDir': {'sizeLimit': '1Gi', 'medium': 'Memory'}}],"
                "'driver': {'volumeMounts': [{'name': 'spark-local-dir-x', 'mountPath': '/m'}]}",
                K "driver.volumes.emptyDir.spark-local-dir-x.mount.path=/m\n" K
                  "driver.volumes.emptyDir.spark-local-dir-x.options.sizeLimit=1Gi\n" K
                  "driver.volumes.emptyDir.spark-local-dir-x.options.medium=Memory");
        assert_no_word(", 'volumes': [{'name': 'other', 'emptyDir': {}}], 'driver': {'volumeMounts': [{'name': 'other',"
                       "'mountPath': '/m'}]}",
                       "volumes");
}

static void dynamic_allocation_has_six_settings(void **state)
{
        assert_words(", 'dynamicAllocation': {'enabled': true, 'initialExecutors': 2, 'minExecutors': 0,"
                     "'maxExecutors': 10, 'shuffleTrackingTimeout': 6000000}",
                     "spark.dynamicAllocation.enabled=true\nspark.dynamicAllocation.initialExecutors=2\n"
                     "spark.dynamicAllocation.minExecutors=0\nspark.dynamicAllocation.maxExecutors=10\n"
                     "spark.dynamicAllocation.shuffleTracking.enabled=true\n"
                     "spark.dynamicAllocation.shuffleTracking.timeout=6000000");
        assert_no_word(", 'dynamicAllocation': {'enabled': false, 'maxExecutors': 10}", "dynamicAllocation");
        assert_words(", 'dynamicAllocation': {'enabled': true, 'shuffleTrackingEnabled': false}",
                     "spark.dynamicAllocation.enabled=true\nspark.dynamicAllocation.shuffleTracking.enabled=false");
}

static void labels_of_the_application_come_first(void **state)
{
        _cleanup_free_ char *text =
                words_text(", 'driver': {'labels': {'team': 'b'}}", "{'team': 'a', 'kueue.x-k8s.io/queue-name': 'q'}");
        assert_non_null(strstr(text, K "driver.label.team=a\n" K "driver.label.team=b\n"));
        assert_non_null(strstr(text, K "executor.label.team=a\n"));
        assert_null(strstr(text, "kueue"));
}

static void a_template_needs_no_webhook(void **state)
{
        assert_no_word(", 'driver': {'template': {'spec': {}}}", "driver.label.sparkoperator.k8s.io/mutated");
}

static void refuses_what_cannot_be_submitted(void **state)
{
        assert_words_refused(", 'mode': 'client'",
                             "spec.mode: \"client\" would run the driver inside of the operator; use cluster");
        assert_words_refused(", 'driver': {'volumeMounts': [{'name': 'spark-local-dir-1', 'mountPath': '/m'}]}",
                             "volume spark-local-dir-1 not found");
        assert_words_refused(", 'volumes': [{'name': 'spark-local-dir-1', 'secret': {}}], 'driver': {'volumeMounts':"
                             "[{'name': 'spark-local-dir-1', 'mountPath': '/m'}]}",
                             "volume spark-local-dir-1: unsupported volume type");
        assert_words_refused(", 'mainApplicationFile': ''", "spec.mainApplicationFile: it is required");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(plain_application_has_all_words_in_order),
                cmocka_unit_test(fields_of_the_spec),
                cmocka_unit_test(packages_become_settings),
                cmocka_unit_test(fields_of_the_driver),
                cmocka_unit_test(fields_of_the_executor),
                cmocka_unit_test(secrets_set_variables),
                cmocka_unit_test(local_directories_become_volumes),
                cmocka_unit_test(dynamic_allocation_has_six_settings),
                cmocka_unit_test(labels_of_the_application_come_first),
                cmocka_unit_test(a_template_needs_no_webhook),
                cmocka_unit_test(refuses_what_cannot_be_submitted),
        };
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        error_deinit(&error);
        return failed;
}
