/* SparkClusters: what is read and refused, the objects that follow, and the states. */
#include "operator/apache/apache_cluster.h"

#include "base/buf.h"
#include "operator/apache/apache_reading.h"
#include "operator/resources/operator_fixture.h"
#include "text/json.h"

static struct fst_error error;

#define IMAGE "'sparkConf': {'spark.kubernetes.container.image': 'apache/spark:{{SPARK_VERSION}}'}"
#define WORKERS(init, min, max)                                                                                        \
        "'clusterTolerations': {'instanceConfig': {'initWorkers': " #init ", 'minWorkers': " #min                      \
        ", 'maxWorkers': " #max "}}"

/* Returns the cluster "prod" of namespace "jobs" with uid "u-1" whose spec has @more. The caller owns it. */
static json_t *cluster_fixture(const char *more)
{
        _cleanup_free_ char *text = mem_printf("{'apiVersion': 'spark.apache.org/v1', 'kind': 'SparkCluster',"
                                               "'metadata': {'name': 'prod', 'namespace': 'jobs', 'uid': 'u-1'},"
                                               "'spec': {'runtimeVersions': {'sparkVersion': '4.2.0'}, %s}}",
                                               more);
        return fixture_json(text);
}

/* Returns the objects of that cluster. The caller owns them. */
static json_t *cluster_fixture_objects(const char *more)
{
        struct apache_cluster cluster;
        json_t *object = cluster_fixture(more);
        if (apache_cluster_read(object, &cluster, NULL, &error) < 0 || apache_cluster_validate(&cluster, &error) < 0)
                fail_msg("%s", error_message(&error));
        json_t *objects = apache_cluster_objects(&cluster);
        apache_cluster_deinit(&cluster);
        json_decref(object);
        return objects;
}

static const json_t *cluster_find(const json_t *objects, const char *kind, const char *name)
{
        json_t *object;
        size_t i;
        json_array_foreach((json_t *)objects, i, object) {
                if (strcmp(json_text_or_empty(object, "kind"), kind) == 0 &&
                    strcmp(json_text_or_empty(object, "metadata.name"), name) == 0)
                        return object;
        }
        return NULL;
}

static const char *cluster_label(const json_t *labels, const char *name)
{
        return json_string_value(json_object_get(labels, name));
}

static void services_and_sets_have_apaches_names(void **state)
{
        json_t *objects = cluster_fixture_objects(IMAGE ", " WORKERS(3, 3, 3));
        const json_t *master = cluster_find(objects, "StatefulSet", "prod-master");
        const json_t *worker = cluster_find(objects, "StatefulSet", "prod-worker"), *object;
        size_t i;
        assert_int_equal(json_array_size(objects), 6);
        json_array_foreach(objects, i, object) {
                const json_t *labels = json_at(object, "metadata.labels");
                const json_t *owner = json_array_get(json_at(object, "metadata.ownerReferences"), 0);
                assert_string_equal(json_text_at(object, "metadata.namespace"), "jobs");
                assert_string_equal(cluster_label(labels, "spark.operator/spark-cluster-name"), "prod");
                assert_string_equal(cluster_label(labels, "spark-version"), "4.2.0");
                assert_string_equal(json_text_at(owner, "kind"), "SparkCluster");
                assert_string_equal(json_text_at(owner, "uid"), "u-1");
        }
        assert_int_equal(json_int_at(master, "spec.replicas"), 1);
        assert_int_equal(json_int_at(worker, "spec.replicas"), 3);
        assert_string_equal(json_text_at(worker, "spec.serviceName"), "prod-worker-svc");
        const json_t *service = cluster_find(objects, "Service", "prod-master-svc");
        assert_true(json_equal(json_at(service, "spec.selector"), json_at(master, "spec.selector.matchLabels")));
        assert_string_equal(cluster_label(json_at(service, "spec.selector"), "spark-role"), "master");
        assert_int_equal(json_array_size(json_at(service, "spec.ports")), 3);
        assert_non_null(cluster_find(objects, "Service", "prod-worker-svc"));
        assert_non_null(cluster_find(objects, "NetworkPolicy", "prod-worker"));
        assert_non_null(cluster_find(objects, "PodDisruptionBudget", "prod-worker-pdb"));
        assert_null(cluster_find(objects, "HorizontalPodAutoscaler", "prod-worker-hpa"));
        json_decref(objects);
}

static void containers_run_master_and_workers(void **state)
{
        json_t *objects = cluster_fixture_objects(
                "'sparkConf': {'spark.kubernetes.container.image': 'apache/spark:{{SPARK_VERSION}}',"
                "'spark.master.ui.title': 'a \\\"b\\\"', 'spark.kubernetes.scheduler.name': 'yunikorn'}," WORKERS(1, 0,
                                                                                                                  1));
        const json_t *pod = json_at(cluster_find(objects, "StatefulSet", "prod-master"), "spec.template.spec");
        const json_t *master = json_array_get(json_object_get(pod, "containers"), 0);
        assert_string_equal(json_text_at(pod, "schedulerName"), "yunikorn");
        assert_string_equal(json_text_at(master, "name"), "master");
        assert_string_equal(json_text_at(master, "image"), "apache/spark:4.2.0");
        assert_string_equal(json_string_value(json_array_get(json_object_get(master, "command"), 1)),
                            "org.apache.spark.deploy.master.Master");
        const char *options =
                json_text_at(json_find_named(json_object_get(master, "env"), "SPARK_MASTER_OPTS"), "value");
        assert_non_null(strstr(options, "-Dspark.shuffle.service.enabled=\"true\" "));
        assert_non_null(strstr(options, "-Dspark.master.ui.title=\"a \\\"b\\\"\" "));
        assert_true(json_is_false(json_at(master, "securityContext.allowPrivilegeEscalation")));
        const json_t *worker = json_array_get(
                json_at(cluster_find(objects, "StatefulSet", "prod-worker"), "spec.template.spec.containers"), 0);
        const json_t *command = json_object_get(worker, "command");
        assert_string_equal(json_string_value(json_array_get(command, json_array_size(command) - 1)),
                            "spark://prod-master-svc:7077");
        assert_null(cluster_find(objects, "PodDisruptionBudget", "prod-worker-pdb"));
        json_decref(objects);
}

static void templates_keep_what_they_say(void **state)
{
        json_t *objects = cluster_fixture_objects(IMAGE ", " WORKERS(
                1, 1,
                2) ", 'workerSpec': {'statefulSetMetadata': {'annotations': {'a': 'b'}},"
                   "'serviceMetadata': {'labels': {'c': 'd'}}, 'statefulSetSpec': {'template': {'spec': {'containers': ["
                   "{'name': 'sidecar', 'image': 'x'}, {'name': 'worker', 'resources': {'limits': {'cpu': '3'}}}]}}},"
                   "'horizontalPodAutoscalerSpec': {'metrics': [{'type': 'own'}], 'minReplicas': 9}}");
        const json_t *set = cluster_find(objects, "StatefulSet", "prod-worker");
        const json_t *containers = json_at(set, "spec.template.spec.containers");
        assert_string_equal(json_text_at(set, "metadata.annotations.a"), "b");
        assert_int_equal(json_array_size(containers), 2);
        assert_string_equal(json_text_at(json_array_get(containers, 0), "image"), "x");
        assert_string_equal(json_text_at(json_array_get(containers, 1), "resources.limits.cpu"), "3");
        assert_string_equal(json_text_at(json_array_get(containers, 1), "image"), "apache/spark:4.2.0");
        assert_string_equal(json_text_at(cluster_find(objects, "Service", "prod-worker-svc"), "metadata.labels.c"),
                            "d");
        const json_t *scaler =
                json_object_get(cluster_find(objects, "HorizontalPodAutoscaler", "prod-worker-hpa"), "spec");
        assert_string_equal(json_text_at(json_array_get(json_object_get(scaler, "metrics"), 0), "type"), "own");
        assert_int_equal(json_int_at(scaler, "minReplicas"), 1);
        assert_int_equal(json_int_at(scaler, "maxReplicas"), 2);
        assert_string_equal(json_text_at(scaler, "scaleTargetRef.name"), "prod-worker");
        json_decref(objects);
        objects = cluster_fixture_objects(IMAGE ", " WORKERS(1, 1, 2));
        scaler = json_object_get(cluster_find(objects, "HorizontalPodAutoscaler", "prod-worker-hpa"), "spec");
        const json_t *metric = json_array_get(json_object_get(scaler, "metrics"), 0);
        assert_int_equal(json_int_at(metric, "containerResource.target.averageUtilization"), 30);
        json_decref(objects);
}

/* Asserts that the cluster named @name whose spec has @more is refused with a message that has @part. */
static void assert_refused(const char *name, const char *more, const char *part)
{
        struct apache_cluster cluster;
        json_t *object = cluster_fixture(more);
        json_object_set_new(json_object_get(object, "metadata"), "name", json_string(name));
        int r = apache_cluster_read(object, &cluster, NULL, &error);
        if (r == 0)
                r = apache_cluster_validate(&cluster, &error);
        assert_int_equal(r, -EINVAL);
        if (!strstr(error_message(&error), part))
                fail_msg("\"%s\" is not in \"%s\"", part, error_message(&error));
        apache_cluster_deinit(&cluster);
        error_deinit(&error);
        json_decref(object);
}

/* The definition keeps what it does not know, and the API server refuses the set. */
static void containers_that_are_no_objects_remain(void **state)
{
        json_t *objects = cluster_fixture_objects(IMAGE ", " WORKERS(
                1, 1, 1) ", 'workerSpec': {'statefulSetSpec': {'template': {'spec': {'containers': [3],"
                         "'initContainers': [null, {'name': 'i'}]}}}}");
        const json_t *pod = json_at(cluster_find(objects, "StatefulSet", "prod-worker"), "spec.template.spec");
        assert_true(json_is_integer(json_array_get(json_object_get(pod, "containers"), 0)));
        assert_string_equal(json_text_at(json_array_get(json_object_get(pod, "containers"), 1), "name"), "worker");
        assert_true(json_is_false(json_at(json_array_get(json_object_get(pod, "initContainers"), 1),
                                          "securityContext.allowPrivilegeEscalation")));
        json_decref(objects);
}

static void refuses_invalid_clusters(void **state)
{
        assert_refused("prod", IMAGE, "spec.clusterTolerations: it is required");
        assert_refused("prod", IMAGE ", 'clusterTolerations': {'instanceConfig': {'initWorkers': 1, 'minWorkers': 1}}",
                       "spec.clusterTolerations.instanceConfig.maxWorkers: it is required");
        assert_refused("prod", WORKERS(1, 1, 1), "set spark.kubernetes.container.image");
        assert_refused("prod", IMAGE ", " WORKERS(1, 2, 1), "are not in order");
        assert_refused("prod", IMAGE ", " WORKERS(-1, 0, 1), "are not in order");
        assert_refused("a.b", IMAGE ", " WORKERS(1, 1, 1), "metadata.name: \"a.b\" does not fit");
        assert_refused("9", IMAGE ", " WORKERS(1, 1, 1), "metadata.name: \"9\" does not fit");
}

/* Performs everything, and returns the states that were written, with spaces between them. The caller owns it. */
static char *cluster_run(const char *more, enum apache_result submitted)
{
        struct buf log = BUF_INIT;
        struct apache_core *core = apache_core_new(&(struct apache_core_options){.clusters = true});
        struct apache_reading reading;
        struct apache_action a;
        json_t *object = cluster_fixture(more);
        uint64_t version = 0;
        assert_true(apache_reading_make_cluster(object, &reading));
        assert_true(apache_core_observe(core, &reading.observation));
        apache_reading_deinit(&reading);
        for (int i = 0; i < 10; i++) {
                assert_true(apache_core_reconcile(core, "jobs", "prod", 1000) == INT64_MAX);
                while (apache_core_next_action(core, &a)) {
                        if (a.kind == APACHE_WRITE_STATUS)
                                buf_printf(&log, "%s ", apache_state_name(a.transition.to));
                        else if (a.kind == APACHE_SUBMIT)
                                buf_puts(&log, "+ ");
                        apache_core_done(core, "jobs", "prod", a.ticket,
                                         a.kind == APACHE_SUBMIT ? submitted : APACHE_RESULT_OK, "forbidden", ++version,
                                         1000);
                        apache_action_deinit(&a);
                }
        }
        apache_core_free(core);
        json_decref(object);
        return buf_steal(&log);
}

static void submission_decides_the_state(void **state)
{
        _cleanup_free_ char *good = cluster_run(IMAGE ", " WORKERS(1, 1, 1), APACHE_RESULT_OK);
        _cleanup_free_ char *refused = cluster_run(IMAGE ", " WORKERS(1, 1, 1), APACHE_RESULT_FAILED);
        _cleanup_free_ char *invalid = cluster_run(WORKERS(1, 1, 1), APACHE_RESULT_OK);
        assert_string_equal(good, "Submitted + RunningHealthy ");
        assert_string_equal(refused, "Submitted + SchedulingFailure ");
        assert_string_equal(invalid, "Submitted Failed ");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(services_and_sets_have_apaches_names),
                cmocka_unit_test(containers_run_master_and_workers),
                cmocka_unit_test(templates_keep_what_they_say),
                cmocka_unit_test(containers_that_are_no_objects_remain),
                cmocka_unit_test(refuses_invalid_clusters),
                cmocka_unit_test(submission_decides_the_state),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
