/* SparkClusters: what is read and refused, the objects that follow, and the states. */
#include "operator/apache/apache_cluster.h"

#include "base/buf.h"
#include "operator/apache/apache_core_fixture.h"
#include "operator/object_records.h"
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

/* A cluster's object, and its core. */
struct cluster_flow {
        struct apache_core *core;
        json_t *object;
        int generation;
        uint64_t version;
        int64_t now;
        enum apache_result submitted; /* the answer to submissions */
        char log[1000];               /* submissions, and the states that were written */
};

/* The object has another spec. */
static void cluster_flow_change(struct cluster_flow *f, const char *more)
{
        json_t *object = cluster_fixture(more), *status = json_object_get(f->object, "status");
        if (status)
                json_object_set(object, "status", status);
        json_decref(f->object);
        f->object = object;
        json_object_set_new(json_object_get(object, "metadata"), "generation", json_integer(++f->generation));
}

static void cluster_flow_begin(struct cluster_flow *f, const char *more, enum apache_result submitted)
{
        *f = (struct cluster_flow){.now = 1000000, .submitted = submitted};
        f->core = apache_core_new(&(struct apache_core_options){.clusters = true});
        cluster_flow_change(f, more);
}

static void cluster_flow_end(struct cluster_flow *f)
{
        apache_core_free(f->core);
        json_decref(f->object);
}

static void cluster_flow_perform(struct cluster_flow *f, const struct apache_action *a)
{
        size_t n = strlen(f->log);
        enum apache_result r = APACHE_RESULT_OK;
        if (a->kind == APACHE_WRITE_STATUS) {
                json_t *patch = apache_status_patch(&a->from, &a->transition, a->version, NULL);
                assert_true(apache_patch_apply(f->object, patch));
                json_decref(patch);
                snprintf(f->log + n, sizeof(f->log) - n, "%s ", apache_state_name(a->transition.to));
        } else if (a->kind == APACHE_SUBMIT) {
                r = f->submitted;
                snprintf(f->log + n, sizeof(f->log) - n, "+ ");
        }
        f->version += a->kind == APACHE_WRITE_STATUS;
        apache_core_done(f->core, "jobs", "prod", a->ticket, r, "forbidden", f->version, f->now);
}

/* Shows the object, performs what is due, and asserts what that was. */
static void cluster_flow_expect(struct cluster_flow *f, const char *log)
{
        struct apache_reading reading;
        struct apache_action a;
        bool more = true;
        _cleanup_free_ char *version = mem_printf("%llu", (unsigned long long)++f->version);
        json_object_set_new(json_object_get(f->object, "metadata"), "resourceVersion", json_string(version));
        assert_true(apache_reading_make_cluster(f->object, &reading));
        assert_true(apache_core_observe(f->core, &reading.observation));
        apache_reading_deinit(&reading);
        f->log[0] = 0;
        while (more) {
                more = false;
                apache_core_reconcile(f->core, "jobs", "prod", f->now);
                while (apache_core_next_action(f->core, &a)) {
                        more = more || a.ticket;
                        cluster_flow_perform(f, &a);
                        apache_action_deinit(&a);
                        _cleanup_free_ char *now = mem_printf("%llu", (unsigned long long)f->version);
                        json_object_set_new(json_object_get(f->object, "metadata"), "resourceVersion",
                                            json_string(now));
                }
        }
        assert_string_equal(f->log, log);
}

/* Another operator begins. */
static void cluster_flow_restart(struct cluster_flow *f)
{
        apache_core_free(f->core);
        f->core = apache_core_new(&(struct apache_core_options){.clusters = true});
}

#define VALID IMAGE ", " WORKERS(1, 1, 1)

static void submission_decides_the_state(void **state)
{
        struct cluster_flow f;
        cluster_flow_begin(&f, VALID, APACHE_RESULT_OK);
        cluster_flow_expect(&f, "Submitted + RunningHealthy ");
        cluster_flow_expect(&f, "");
        cluster_flow_end(&f);
        cluster_flow_begin(&f, VALID, APACHE_RESULT_FAILED);
        cluster_flow_expect(&f, "Submitted + SchedulingFailure ");
        cluster_flow_end(&f);
        cluster_flow_begin(&f, WORKERS(1, 1, 1), APACHE_RESULT_OK);
        cluster_flow_expect(&f, "Submitted Failed ");
        cluster_flow_expect(&f, "");
        cluster_flow_end(&f);
}

/* The history does not grow while the cause lasts. */
static void refused_cluster_is_submitted_again_after_pauses(void **state)
{
        for (int restarts = 0; restarts <= 1; restarts++) {
                struct cluster_flow f;
                cluster_flow_begin(&f, VALID, APACHE_RESULT_FAILED);
                cluster_flow_expect(&f, "Submitted + SchedulingFailure ");
                cluster_flow_expect(&f, ""); /* it pauses */
                if (restarts)
                        cluster_flow_restart(&f);
                for (int i = 0; i < 5; i++) {
                        f.now += LONGEST_OBJECT_PAUSE_MS;
                        cluster_flow_expect(&f, "+ ");
                        cluster_flow_expect(&f, "");
                }
                f.submitted = APACHE_RESULT_OK;
                f.now += LONGEST_OBJECT_PAUSE_MS;
                cluster_flow_expect(&f, "+ RunningHealthy ");
                cluster_flow_end(&f);
        }
}

static void changed_spec_is_submitted_at_once(void **state)
{
        struct cluster_flow f;
        cluster_flow_begin(&f, VALID, APACHE_RESULT_FAILED);
        cluster_flow_expect(&f, "Submitted + SchedulingFailure ");
        f.submitted = APACHE_RESULT_OK;
        cluster_flow_change(&f, IMAGE ", " WORKERS(2, 2, 2));
        cluster_flow_expect(&f, "+ RunningHealthy ");
        cluster_flow_end(&f);
        cluster_flow_begin(&f, VALID, APACHE_RESULT_FAILED);
        cluster_flow_expect(&f, "Submitted + SchedulingFailure ");
        cluster_flow_change(&f, WORKERS(1, 1, 1));
        f.now += LONGEST_OBJECT_PAUSE_MS;
        cluster_flow_expect(&f, "Failed ");
        cluster_flow_end(&f);
}

static void corrected_cluster_is_submitted(void **state)
{
        for (int restarts = 0; restarts <= 1; restarts++) {
                struct cluster_flow f;
                cluster_flow_begin(&f, WORKERS(1, 1, 1), APACHE_RESULT_OK);
                cluster_flow_expect(&f, "Submitted Failed ");
                if (restarts)
                        cluster_flow_restart(&f);
                cluster_flow_change(&f, WORKERS(1, 2, 1)); /* still wrong */
                cluster_flow_expect(&f, "");
                cluster_flow_change(&f, VALID);
                cluster_flow_expect(&f, "Submitted + RunningHealthy ");
                cluster_flow_end(&f);
        }
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
                cmocka_unit_test(refused_cluster_is_submitted_again_after_pauses),
                cmocka_unit_test(changed_spec_is_submitted_at_once),
                cmocka_unit_test(corrected_cluster_is_submitted),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
