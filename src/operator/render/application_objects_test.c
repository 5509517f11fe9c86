/* All objects of an application: their kinds, names, owners; UI, monitoring, batch schedulers. */
#include "operator/render/application_objects.h"

#include "operator/render/batch_scheduler.h"
#include "operator/render/exposed_objects.h"
#include "operator/render/prometheus_rules.h"
#include "operator/render/render_fixture.h"
#include "text/json.h"
#include "text/yaml.h"

static struct fst_error error;

struct rendered {
        struct spark_application app;
        struct application_objects objects;
        struct application_exposure exposure;
};

static void render_more(const char *more, const struct render_options *o, struct rendered *out)
{
        fixture_read(more, &out->app);
        if (application_objects_make(&out->app, o, &out->objects, &error) < 0 ||
            application_exposure_make(&out->app, o, "spark-1", &out->exposure, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static void rendered_deinit(struct rendered *r)
{
        application_exposure_deinit(&r->exposure);
        application_objects_deinit(&r->objects);
        spark_application_deinit(&r->app);
}

static const json_t *rendered_pod(const struct rendered *r)
{
        return json_array_get(r->objects.plan.objects, r->objects.plan.pod_at);
}

/* Returns the driver's property @key in the config map. The caller owns it. */
static char *rendered_property(const struct rendered *r, const char *key)
{
        json_t *object;
        size_t i;
        _cleanup_free_ char *line = mem_printf("\n%s=", key);
        json_array_foreach(r->objects.plan.objects, i, object) {
                const char *text =
                        json_string_value(json_object_get(json_object_get(object, "data"), "spark.properties"));
                const char *found = text ? strstr(text, line) : NULL;
                if (found)
                        return mem_strndup(found + strlen(line), strcspn(found + strlen(line), "\n"));
        }
        return NULL;
}

static void submission_decides_all_names(void **state)
{
        struct rendered a, b, c;
        struct render_options other = fixture_options;
        other.submission_id = "0a1b2c3d-0000-4000-8000-000000000002";
        render_more("", &fixture_options, &a);
        render_more("", &fixture_options, &b);
        render_more("", &other, &c);
        size_t n = json_array_size(a.objects.plan.objects);
        assert_int_equal(n, 5);
        for (size_t i = 0; i < n; i++) {
                const char *name = json_text_at(json_array_get(a.objects.plan.objects, i), "metadata.name");
                assert_string_equal(name, json_text_at(json_array_get(b.objects.plan.objects, i), "metadata.name"));
                bool same = strcmp(name, json_text_at(json_array_get(c.objects.plan.objects, i), "metadata.name")) == 0;
                assert_int_equal(same, i == a.objects.plan.pod_at);
        }
        assert_true(json_equal(rendered_pod(&a), rendered_pod(&b)));
        assert_string_equal(json_text_at(rendered_pod(&a), "metadata.name"), "pi-driver");
        assert_string_equal(a.objects.plan.namespace, "jobs");
        assert_string_equal(a.objects.plan.container, "spark-kubernetes-driver");
        rendered_deinit(&a);
        rendered_deinit(&b);
        rendered_deinit(&c);
}

static void executors_template_has_the_patches(void **state)
{
        struct rendered r;
        json_t *object, *template = NULL;
        size_t i;
        render_more(", 'executor': {'env': [{'name': 'A', 'value': '1'}], 'terminationGracePeriodSeconds': 7}",
                    &fixture_options, &r);
        json_array_foreach(r.objects.plan.objects, i, object) {
                const char *text = json_text_at(object, "data.podspec-configmap-key");
                if (text)
                        assert_int_equal(yaml_parse(text, strlen(text), &template, &error), 0);
        }
        assert_non_null(template);
        const json_t *container = json_array_get(json_at(template, "spec.containers"), 0);
        assert_string_equal(json_text_at(container, "name"), "spark-kubernetes-executor");
        assert_string_equal(json_text_at(json_array_get(json_object_get(container, "env"), 0), "name"), "A");
        _cleanup_free_ char *file = rendered_property(&r, "spark.kubernetes.executor.podTemplateFile");
        assert_string_equal(file, "/opt/spark/pod-template/pod-spec-template.yml");
        _cleanup_free_ char *grace = rendered_property(&r, "spark.kubernetes.executor.terminationGracePeriodSeconds");
        assert_string_equal(grace, "7s");
        json_decref(template);
        rendered_deinit(&r);
}

static void users_template_is_the_base(void **state)
{
        struct rendered r;
        render_more(", 'driver': {'template': {'metadata': {'labels': {'x': 'y'}}, 'spec': {'containers':"
                    "[{'name': 'other', 'image': 'o'}, {'name': 'spark-kubernetes-driver', 'workingDir': '/w'}]}}}",
                    &fixture_options, &r);
        const json_t *containers = json_at(rendered_pod(&r), "spec.containers");
        assert_int_equal(json_array_size(containers), 2);
        assert_string_equal(json_text_at(json_array_get(containers, 1), "workingDir"), "/w");
        assert_string_equal(json_text_at(json_array_get(containers, 1), "image"), "spark:4");
        assert_string_equal(json_text_at(rendered_pod(&r), "metadata.labels.x"), "y");
        rendered_deinit(&r);
}

static void spec_hash_is_that_of_the_object(void **state)
{
        struct rendered r;
        render_more(", 'monitoring': {'exposeDriverMetrics': true, 'exposeExecutorMetrics': true, 'prometheus':"
                    "{'jmxExporterJar': '/j'}}",
                    &fixture_options, &r);
        _cleanup_free_ char *hash = mem_printf("%016llx", (unsigned long long)r.app.spec_hash);
        const json_t *annotations = json_at(rendered_pod(&r), "metadata.annotations");
        assert_string_equal(json_string_value(json_object_get(annotations, ANNOTATION_SPEC_HASH)), hash);
        rendered_deinit(&r);
}

static void monitoring_sets_metrics(void **state)
{
        struct rendered r;
        render_more(", 'monitoring': {'exposeDriverMetrics': true, 'exposeExecutorMetrics': true, 'prometheus':"
                    "{'jmxExporterJar': '/j.jar', 'port': 9000}}, 'driver': {'javaOptions': '-Dx'}",
                    &fixture_options, &r);
        const json_t *map = json_array_get(r.objects.before, 0);
        assert_string_equal(json_text_at(map, "metadata.name"), "pi-prom-conf");
        assert_string_equal(json_string_value(json_object_get(json_object_get(map, "data"), "metrics.properties")),
                            prometheus_metrics_properties);
        assert_non_null(json_object_get(json_object_get(map, "data"), "prometheus.yaml"));
        _cleanup_free_ char *options = rendered_property(&r, "spark.driver.extraJavaOptions");
        assert_string_equal(options, "-Dx -javaagent\\:/j.jar\\=9000\\:/etc/metrics/conf/prometheus.yaml");
        _cleanup_free_ char *conf = rendered_property(&r, "spark.metrics.conf");
        assert_string_equal(conf, "/etc/metrics/conf/metrics.properties");
        _cleanup_free_ char *namespace = rendered_property(&r, "spark.metrics.namespace");
        assert_string_equal(namespace, "jobs.pi");
        const json_t *annotations = json_at(rendered_pod(&r), "metadata.annotations");
        assert_string_equal(json_string_value(json_object_get(annotations, "prometheus.io/port")), "9000");
        rendered_deinit(&r);
        render_more(", 'monitoring': {'exposeDriverMetrics': true, 'exposeExecutorMetrics': true,"
                    "'metricsPropertiesFile': '/m', 'prometheus': {'jmxExporterJar': '/j.jar', 'configFile': '/c'}}",
                    &fixture_options, &r);
        assert_int_equal(json_array_size(r.objects.before), 0);
        _cleanup_free_ char *own = rendered_property(&r, "spark.metrics.conf");
        assert_string_equal(own, "/m");
        rendered_deinit(&r);
}

static void prometheus_rules_are_yaml(void **state)
{
        _cleanup_free_ char *text = prometheus_rules_make();
        json_t *rules = NULL;
        assert_int_equal(yaml_parse(text, strlen(text), &rules, &error), 0);
        assert_int_equal(json_array_size(json_object_get(rules, "rules")), 9);
        assert_non_null(strstr(text, "metrics<name=(\\S+)\\.(\\S+)\\.driver\\."));
        json_decref(rules);
}

static void ui_service_and_ingress(void **state)
{
        struct render_options o = fixture_options;
        struct rendered r;
        o.ingress_url_format = "{{$appName}}.{{ $appNamespace }}.example/ui/{{$appId}}";
        o.ingress_class_name = "nginx";
        render_more(
                ", 'sparkUIOptions': {'servicePort': 80, 'serviceType': 'NodePort', 'serviceAnnotations': {'a': 'b'},"
                "'serviceLabels': {'l': 'm'}, 'ingressAnnotations': {'c': 'd'}, 'ingressTLS': [{'hosts': ['h']}]},"
                "'sparkConf': {'spark.ui.port': '4141'}",
                &o, &r);
        const json_t *service = json_array_get(r.exposure.objects, 0), *ingress = json_array_get(r.exposure.objects, 1);
        json_t *wanted = fixture_json("{'ports': [{'name': 'spark-driver-ui-port', 'port': 80, 'targetPort': 4141}],"
                                      "'selector': {'sparkoperator.k8s.io/app-name': 'pi', 'spark-role': 'driver'},"
                                      "'type': 'NodePort'}");
        assert_true(json_equal(json_object_get(service, "spec"), wanted));
        json_decref(wanted);
        wanted = fixture_json("{'l': 'm', 'sparkoperator.k8s.io/created-by-spark-operator': 'true'}");
        assert_true(json_equal(json_at(service, "metadata.labels"), wanted));
        json_decref(wanted);
        wanted = fixture_json(
                "{'rules': [{'host': 'pi.jobs.example', 'http': {'paths': [{'path': '/ui/spark-1(/|$)(.*)', 'pathType':"
                "'ImplementationSpecific', 'backend': {'service': {'name': 'pi-ui-svc', 'port': {'number': 80}}}}]}}],"
                "'tls': [{'hosts': ['h']}], 'ingressClassName': 'nginx'}");
        assert_true(json_equal(json_object_get(ingress, "spec"), wanted));
        json_decref(wanted);
        assert_string_equal(r.exposure.ui_ingress_address, "http://pi.jobs.example/ui/spark-1");
        assert_int_equal(r.exposure.ui_port, 80);
        _cleanup_free_ char *base = rendered_property(&r, "spark.ui.proxyRedirectUri");
        assert_string_equal(base, "/");
        rendered_deinit(&r);
}

static void ui_service_without_options(void **state)
{
        struct render_options o = fixture_options;
        struct rendered r;
        render_more(", 'sparkConf': {'spark.ui.port': '4141'}", &o, &r);
        assert_int_equal(r.exposure.ui_port, 4141);
        assert_int_equal(json_array_size(r.exposure.objects), 1);
        rendered_deinit(&r);
        o.ui_service = false;
        render_more(", 'driverIngressOptions': [{'servicePort': 8080, 'servicePortName': 'web', 'ingressURLFormat':"
                    "'x.example'}], 'driverPodDisruptionBudget': true",
                    &o, &r);
        assert_int_equal(json_array_size(r.exposure.objects), 2);
        assert_string_equal(json_text_at(json_array_get(r.exposure.objects, 0), "metadata.name"), "pi-driver-8080");
        assert_string_equal(json_text_at(json_array_get(r.exposure.objects, 1), "metadata.name"), "pi-ing-8080");
        rendered_deinit(&r);
        o.driver_disruption_budget = true;
        render_more(", 'driverPodDisruptionBudget': true", &o, &r);
        assert_string_equal(json_text_at(json_array_get(r.exposure.objects, 0), "kind"), "PodDisruptionBudget");
        assert_string_equal(json_text_at(json_array_get(r.exposure.objects, 0), "metadata.name"), "pi-driver");
        rendered_deinit(&r);
}

static void ingress_urls(void **state)
{
        static const struct {
                const char *format, *host, *path;
        } good[] = {
                {"https://h:8443/a/b?c", "h:8443", "/a/b"},
                {"{{$appName}}.x", "pi.x", ""},
                {"h/{{$other}}", "h", "/{{$other}}"},
                {"h/", "h", "/"},
        };
        static const char *const bad[] = {"", "/path", "http:///x", "a b", "h/\n"};
        struct spark_application app;
        fixture_read("", &app);
        for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
                struct ingress_url url;
                assert_int_equal(ingress_url_make(good[i].format, &app, NULL, &url, &error), 0);
                assert_string_equal(url.host, good[i].host);
                assert_string_equal(url.path, good[i].path);
                ingress_url_deinit(&url);
        }
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct ingress_url url;
                assert_int_equal(ingress_url_make(bad[i], &app, NULL, &url, &error), -EINVAL);
        }
        spark_application_deinit(&app);
}

static void long_names_are_shortened(void **state)
{
        _cleanup_free_ char *plain = ui_service_name("pi");
        assert_string_equal(plain, "pi-ui-svc");
        _cleanup_free_ char *name = ui_service_name("a123456789012345678901234567890123456789012345678901234567890");
        assert_int_equal(strlen(name), 63);
        assert_non_null(strstr(name, "-ui-svc"));
}

/* Asserts what the group of a batch scheduler requests. */
static void assert_group(const char *more, const char *scheduler, const char *cpu, const char *memory)
{
        struct render_options o = fixture_options;
        struct rendered r;
        o.batch_scheduler = true;
        o.default_batch_scheduler = scheduler;
        o.kube_scheduler_names = "other,plugins";
        render_more(more, &o, &r);
        const json_t *group = json_array_get(r.objects.before, 0);
        assert_string_equal(json_text_at(group, "kind"), "PodGroup");
        assert_string_equal(json_text_or_empty(group, "spec.minResources.cpu"), cpu);
        assert_string_equal(json_text_or_empty(group, "spec.minResources.memory"), memory);
        assert_string_equal(json_text_at(rendered_pod(&r), "spec.schedulerName"), scheduler);
        json_t *left = application_leftovers(&r.app, &o);
        assert_string_equal(json_text_at(json_array_get(left, 0), "metadata.name"),
                            json_text_at(group, "metadata.name"));
        json_decref(left);
        rendered_deinit(&r);
}

static void groups_of_batch_schedulers(void **state)
{
        assert_group(", 'driver': {'cores': 1, 'coreLimit': '2', 'memory': '1024m', 'memoryOverhead': '1024m'},"
                     "'executor': {'instances': 2, 'cores': 1, 'memory': '1024m', 'memoryOverhead': '1024m'}",
                     "volcano", "3", "6144Mi");
        assert_group(", 'executor': {'coreRequest': '1500m', 'cores': 2, 'instances': 1}", "plugins", "2500m",
                     "2048Mi");
        assert_group(", 'batchSchedulerOptions': {'resources': {'cpu': '9'}}", "volcano", "9", "");
}

static void yunikorn_annotates_pods(void **state)
{
        struct render_options o = fixture_options;
        struct rendered r;
        o.batch_scheduler = true;
        render_more(", 'batchScheduler': 'yunikorn', 'batchSchedulerOptions': {'queue': 'root.a'}, 'nodeSelector':"
                    "{'d': 's'}, 'executor': {'instances': 3, 'memory': '8g'}",
                    &o, &r);
        const json_t *annotations = json_at(rendered_pod(&r), "metadata.annotations");
        const char *text = json_string_value(json_object_get(annotations, "yunikorn.apache.org/task-groups"));
        json_t *groups = json_loads(text, 0, NULL);
        json_t *wanted = fixture_json(
                "{'v': [{'name': 'spark-driver', 'minMember': 1, 'minResource': {'cpu': '1', 'memory': '1408Mi'},"
                "'nodeSelector': {'d': 's'}}, {'name': 'spark-executor', 'minMember': 3, 'minResource': {'cpu': '1',"
                "'memory': '9011Mi'}, 'nodeSelector': {'d': 's'}}]}");
        assert_true(json_equal(groups, json_object_get(wanted, "v")));
        assert_string_equal(json_text_at(rendered_pod(&r), "metadata.labels.queue"), "root.a");
        json_decref(groups);
        json_decref(wanted);
        rendered_deinit(&r);
}

static void unknown_batch_scheduler_changes_nothing(void **state)
{
        struct render_options o = fixture_options;
        struct rendered r;
        o.batch_scheduler = true;
        render_more(", 'batchScheduler': 'unknown'", &o, &r);
        assert_int_equal(json_array_size(r.objects.before), 0);
        rendered_deinit(&r);
}

static void hostile_values_are_refused(void **state)
{
        static const struct {
                const char *more, *message;
        } cases[] = {
                {", 'mainApplicationFile': '--kill', 'arguments': ['x']", "--kill"},
                {", 'mainApplicationFile': '--version'", "is an option of spark-submit"},
                {", 'sparkConf': {'spark.executor.memory': 'x'}", "x"},
                {", 'image': ''", "image"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct spark_application app;
                struct application_objects objects;
                fixture_read(cases[i].more, &app);
                int r = application_objects_make(&app, &fixture_options, &objects, &error);
                if (r >= 0 || !strstr(error_message(&error), cases[i].message))
                        fail_msg("%s: %d %s", cases[i].more, r, error_message(&error));
                application_objects_deinit(&objects);
                spark_application_deinit(&app);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(submission_decides_all_names),
                cmocka_unit_test(executors_template_has_the_patches),
                cmocka_unit_test(users_template_is_the_base),
                cmocka_unit_test(spec_hash_is_that_of_the_object),
                cmocka_unit_test(monitoring_sets_metrics),
                cmocka_unit_test(prometheus_rules_are_yaml),
                cmocka_unit_test(ui_service_and_ingress),
                cmocka_unit_test(ui_service_without_options),
                cmocka_unit_test(ingress_urls),
                cmocka_unit_test(long_names_are_shortened),
                cmocka_unit_test(groups_of_batch_schedulers),
                cmocka_unit_test(yunikorn_annotates_pods),
                cmocka_unit_test(unknown_batch_scheduler_changes_nothing),
                cmocka_unit_test(hostile_values_are_refused),
        };
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        error_deinit(&error);
        return failed;
}
