/* The objects of an application of spark.apache.org: names, labels, owners, settings, what they expose. */
#include "operator/apache/apache_objects.h"

#include "operator/apache/apache_fixture.h"
#include "kubernetes/pods/spark_pod.h"
#include "operator/render/render_fixture.h"
#include "text/json.h"

static struct fst_error error;

struct apache_rendered {
        struct apache_application app;
        struct driver_plan plan;
};

/* Renders the application whose spec has @more, with an image unless it has one. */
static void apache_render(const char *more, struct apache_rendered *out)
{
        json_t *object = apache_fixture_object(more);
        json_t *conf = kube_child(json_object_get(object, "spec"), "sparkConf");
        kube_put_new(conf, "spark.kubernetes.container.image", "spark:4");
        if (apache_application_read(object, &out->app, NULL, &error) < 0)
                fail_msg("%s", error_message(&error));
        json_decref(object);
        if (apache_objects_make(&out->app, &fixture_options, &out->plan, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static void apache_rendered_deinit(struct apache_rendered *r)
{
        driver_plan_deinit(&r->plan);
        apache_application_deinit(&r->app);
}

/* Returns the object of that kind and name, or NULL. Borrowed. */
static json_t *apache_rendered_find(const struct apache_rendered *r, const char *kind, const char *name)
{
        json_t *object;
        size_t i;
        json_array_foreach(r->plan.objects, i, object) {
                if (strcmp(json_text_or_empty(object, "kind"), kind) == 0 &&
                    strcmp(json_text_or_empty(object, "metadata.name"), name) == 0)
                        return object;
        }
        return NULL;
}

/* Asserts that the driver's properties have, or lack, the line KEY=VALUE. */
static void assert_property(const struct apache_rendered *r, const char *line, bool present)
{
        const json_t *map = apache_rendered_find(r, "ConfigMap", "spark-drv-pi-0-conf-map");
        const char *text = json_string_value(json_object_get(json_object_get(map, "data"), "spark.properties"));
        _cleanup_free_ char *whole = mem_printf("\n%s\n", line);
        assert_non_null(text);
        if (!strstr(text, whole) == present)
                fail_msg("\"%s\" is%s in %s", line, present ? " not" : "", text);
}

static void assert_args(const struct apache_rendered *r, const char *expected)
{
        const json_t *args =
                json_object_get(json_array_get(json_at(driver_plan_pod(&r->plan), "spec.containers"), 0), "args");
        _cleanup_free_ char *text = json_dumps(args, JSON_COMPACT);
        if (!strstr(text, expected))
                fail_msg("%s is not in %s", expected, text);
}

static void driver_has_apaches_names_labels_and_owner(void **state)
{
        struct apache_rendered r;
        apache_render(", 'jars': 'local:///a.jar', 'driverArgs': ['1', '2'],"
                      "'sparkConf': {'spark.kubernetes.container.image': 'apache/spark:{{SPARK_VERSION}}-scala'}",
                      &r);
        const json_t *pod = driver_plan_pod(&r.plan);
        const json_t *labels = json_at(pod, "metadata.labels");
        const json_t *owner = json_array_get(json_at(pod, "metadata.ownerReferences"), 0);
        assert_string_equal(driver_plan_pod_name(&r.plan), "pi-0-driver");
        assert_string_equal(json_string_value(json_object_get(labels, "spark.operator/name")),
                            "spark-kubernetes-operator");
        assert_string_equal(json_string_value(json_object_get(labels, "spark.operator/spark-app-name")), "pi");
        assert_string_equal(json_string_value(json_object_get(labels, "spark-app-selector")), "pi-0");
        assert_string_equal(json_string_value(json_object_get(labels, "spark-version")), "4.2.0");
        assert_string_equal(json_text_at(owner, "apiVersion"), "spark.apache.org/v1");
        assert_string_equal(json_text_at(owner, "uid"), "u-1");
        assert_true(json_is_true(json_object_get(owner, "blockOwnerDeletion")));
        assert_null(json_object_get(owner, "controller"));
        const json_t *container = json_array_get(json_at(pod, "spec.containers"), 0);
        assert_string_equal(json_text_at(container, "image"), "apache/spark:4.2.0-scala");
        assert_true(json_is_false(json_at(container, "securityContext.allowPrivilegeEscalation")));
        assert_args(&r, "\"--class\",\"Pi\",\"local:///a.jar\",\"1\",\"2\"");
        const json_t *service = apache_rendered_find(&r, "Service", "pi-0-driver-svc");
        assert_true(json_equal(json_at(service, "spec.selector"), labels));
        apache_rendered_deinit(&r);
}

static void spark_conf_gets_apaches_defaults(void **state)
{
        struct apache_rendered r;
        apache_render("", &r);
        assert_property(&r, "spark.authenticate=true", true);
        assert_property(&r, "spark.io.encryption.enabled=true", true);
        assert_property(&r, "spark.kubernetes.executor.deleteOnTermination=false", true);
        assert_property(&r, "spark.app.name=pi", true);
        apache_rendered_deinit(&r);
        apache_render(", 'sparkConf': {'spark.authenticate': 'false', 'spark.app.name': 'other',"
                      "'spark.dynamicAllocation.enabled': 'true'}",
                      &r);
        assert_property(&r, "spark.authenticate=false", true);
        assert_property(&r, "spark.kubernetes.executor.deleteOnTermination=false", false);
        assert_property(&r, "spark.app.name=pi", true);
        apache_rendered_deinit(&r);
        apache_render(", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'Always'}}", &r);
        assert_property(&r, "spark.kubernetes.executor.deleteOnTermination=false", false);
        apache_rendered_deinit(&r);
        apache_render(", 'sparkConf': {'spark.master': 'spark://prod-master-svc:7077'}", &r);
        assert_property(&r, "spark.master=spark\\://prod-master-svc\\:7077", true);
        apache_rendered_deinit(&r);
}

static void each_attempt_finds_the_same_journal(void **state)
{
        struct apache_rendered r;
        apache_render(", 'sparkConf': {'spark.firesteel.resume.enabled': 'true', 'spark.firesteel.resume.dir': '/j'}", &r);
        assert_property(&r, "spark.firesteel.resume.id=pi-u-1", true);
        apache_rendered_deinit(&r);
        apache_render(", 'sparkConf': {'spark.firesteel.resume.enabled': 'true', 'spark.firesteel.resume.dir': '/j', "
                      "'spark.firesteel.resume.id': 'own'}",
                      &r);
        assert_property(&r, "spark.firesteel.resume.id=own", true);
        apache_rendered_deinit(&r);
        apache_render(", 'sparkConf': {'spark.firesteel.resume.enabled': 'false'}", &r);
        assert_property(&r, "spark.firesteel.resume.id=pi-u-1", false);
        apache_rendered_deinit(&r);
}

static void first_file_is_the_application(void **state)
{
        struct apache_rendered r;
        apache_render("", &r);
        assert_args(&r, "\"--class\",\"Pi\",\"spark-internal\"");
        apache_rendered_deinit(&r);
        apache_render(", 'jars': 'local:///a.jar,local:///b.jar', 'files': 'local:///f'", &r);
        assert_args(&r, "\"local:///a.jar\"]");
        assert_property(&r, "spark.jars=local\\:///b.jar,local\\:///a.jar", true);
        assert_property(&r, "spark.files=local\\:///f", true);
        apache_rendered_deinit(&r);
        apache_render(", 'mainClass': null, 'pyFiles': 'local:///a.py,local:///b.py', 'jars': 'local:///c.jar'", &r);
        assert_args(&r, "local:///a.py");
        assert_property(&r, "spark.submit.pyFiles=local\\:///b.py", true);
        assert_property(&r, "spark.jars=local\\:///c.jar", true);
        apache_rendered_deinit(&r);
        apache_render(", 'mainClass': null, 'sparkRFiles': 'local:///a.R'", &r);
        assert_args(&r, "local:///a.R");
        apache_rendered_deinit(&r);
}

static void templates_are_those_of_the_object(void **state)
{
        struct apache_rendered r;
        apache_render(", 'sparkConf': {'spark.kubernetes.executor.podTemplateFile': '/ignored'},"
                      "'driverSpec': {'podTemplateSpec': {'metadata': {'labels': {'a': 'b'}},"
                      "'spec': {'priorityClassName': 'high', 'containers': [{'name': 'x', 'tty': true}]}}},"
                      "'executorSpec': {'podTemplateSpec': {'spec': {'priorityClassName': 'low'}}}",
                      &r);
        const json_t *pod = driver_plan_pod(&r.plan);
        assert_string_equal(json_text_at(pod, "spec.priorityClassName"), "high");
        assert_string_equal(json_text_at(pod, "metadata.labels.a"), "b");
        const json_t *map = apache_rendered_find(&r, "ConfigMap", "pi-0-driver-podspec-conf-map");
        assert_non_null(map);
        const char *template =
                json_string_value(json_object_get(json_object_get(map, "data"), "podspec-configmap-key"));
        assert_non_null(strstr(template, "low"));
        apache_rendered_deinit(&r);
        apache_render(", 'driverSpec': {'podTemplateSpec': {'metadata': {'annotations': {'a': 'b'}}}}", &r);
        assert_string_equal(json_text_at(driver_plan_pod(&r.plan), "metadata.annotations.a"), "b");
        apache_rendered_deinit(&r);
}

static void config_maps_come_before_the_driver(void **state)
{
        struct apache_rendered r;
        apache_render(", 'configMapSpecs': [{'name': 'm', 'labels': {'x': 'y'}, 'data': {'k': 'v'}}]", &r);
        const json_t *map = json_array_get(r.plan.objects, 0);
        assert_int_equal(r.plan.pod_at, 1);
        assert_string_equal(json_text_at(map, "metadata.name"), "m");
        assert_string_equal(json_text_at(map, "metadata.namespace"), "jobs");
        assert_string_equal(json_text_at(map, "metadata.labels.x"), "y");
        assert_string_equal(json_text_at(map, "metadata.labels.spark-app-selector"), "pi-0");
        assert_string_equal(json_text_at(map, "data.k"), "v");
        assert_string_equal(json_text_at(driver_plan_pod(&r.plan), "kind"), "Pod");
        apache_rendered_deinit(&r);
}

static void services_select_the_driver_and_routes_get_a_rule(void **state)
{
        struct apache_rendered r;
        apache_render(
                ", 'driverServiceIngressList': [{'serviceMetadata': {'name': 's'},"
                "'serviceSpec': {'ports': [{'port': 80}]}, 'ingressMetadata': {'name': 'i', 'namespace': 'other'}},"
                "{'serviceMetadata': {'name': 't'}, 'serviceSpec': {'selector': {'a': 'b'}},"
                "'ingressMetadata': {'name': 'j'}}],"
                "'driverHttpRouteList': [{'serviceMetadata': {'name': 'h'}, 'serviceSpec': {'ports': [{'port': 81}]},"
                "'httpRouteMetadata': {'name': 'hr'}, 'httpRouteSpec': {'parentRefs': [{'name': 'g'}]}}],"
                "'driverGrpcRouteList': [{'serviceMetadata': {'name': 'c'}, 'serviceSpec': {'ports': [{'port': 82}]},"
                "'grpcRouteMetadata': {'name': 'cr'}, 'grpcRouteSpec': {'parentRefs': [{'name': 'g'}],"
                "'rules': [{'own': 1}]}}]",
                &r);
        const json_t *labels = json_at(driver_plan_pod(&r.plan), "metadata.labels");
        const json_t *ingress = apache_rendered_find(&r, "Ingress", "i");
        assert_true(json_equal(json_at(apache_rendered_find(&r, "Service", "s"), "spec.selector"), labels));
        assert_string_equal(json_text_at(apache_rendered_find(&r, "Service", "t"), "spec.selector.a"), "b");
        assert_string_equal(json_text_at(ingress, "metadata.namespace"), "jobs");
        const json_t *paths = json_at(json_array_get(json_at(ingress, "spec.rules"), 0), "http.paths");
        assert_int_equal(json_int_at(json_array_get(paths, 0), "backend.service.port.number"), 80);
        assert_null(json_at(apache_rendered_find(&r, "Ingress", "j"), "spec.rules"));
        const json_t *rule = json_array_get(json_at(apache_rendered_find(&r, "HTTPRoute", "hr"), "spec.rules"), 0);
        assert_int_equal(json_int_at(json_array_get(json_object_get(rule, "backendRefs"), 0), "port"), 81);
        const json_t *own = json_array_get(json_at(apache_rendered_find(&r, "GRPCRoute", "cr"), "spec.rules"), 0);
        assert_int_equal(json_int_at(own, "own"), 1);
        apache_rendered_deinit(&r);
}

/* Apache's operator does not ask spark-submit, which refuses both and resolves packages itself. */
static void servers_and_packages_reach_the_driver(void **state)
{
        static const char *const classes[] = {"org.apache.spark.sql.connect.service.SparkConnectServer",
                                              "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"};
        for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
                struct apache_rendered r;
                _cleanup_free_ char *more = mem_printf(
                        ", 'mainClass': '%s', 'driverArgs': ['--port', '1'], 'sparkConf': {'spark.jars.packages': 'g.none:a:1', "
                        "'spark.jars.repositories': 'http://127.0.0.1:9/'}",
                        classes[i]);
                _cleanup_free_ char *args =
                        mem_printf("\"--class\",\"%s\",\"spark-internal\",\"--port\",\"1\"]", classes[i]);
                apache_render(more, &r);
                assert_args(&r, args);
                assert_property(&r, "spark.jars.packages=g.none\\:a\\:1", true);
                apache_rendered_deinit(&r);
        }
}

static void refuses_options_as_applications(void **state)
{
        struct apache_application app;
        struct driver_plan plan;
        apache_fixture_read(", 'jars': '--kill'", &app);
        assert_true(apache_objects_make(&app, &fixture_options, &plan, &error) < 0);
        driver_plan_deinit(&plan);
        apache_application_deinit(&app);
        error_deinit(&error);
}

static void refuses_containers_that_are_no_objects(void **state)
{
        struct apache_application app;
        struct driver_plan plan;
        apache_fixture_read(", 'sparkConf': {'spark.kubernetes.container.image': 'x'},"
                            "'driverSpec': {'podTemplateSpec': {'spec': {'containers': [3, {'name': 'b'}]}}}",
                            &app);
        assert_int_equal(apache_objects_make(&app, &fixture_options, &plan, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "the template: spec.containers[0] is not an object"));
        driver_plan_deinit(&plan);
        apache_application_deinit(&app);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(driver_has_apaches_names_labels_and_owner),
                cmocka_unit_test(spark_conf_gets_apaches_defaults),
                cmocka_unit_test(each_attempt_finds_the_same_journal),
                cmocka_unit_test(first_file_is_the_application),
                cmocka_unit_test(templates_are_those_of_the_object),
                cmocka_unit_test(config_maps_come_before_the_driver),
                cmocka_unit_test(services_select_the_driver_and_routes_get_a_rule),
                cmocka_unit_test(servers_and_packages_reach_the_driver),
                cmocka_unit_test(refuses_options_as_applications),
                cmocka_unit_test(refuses_containers_that_are_no_objects),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
