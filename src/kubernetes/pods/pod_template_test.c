/* Templates: PodBuilderSuite and KubernetesUtilsSuite. */
#include "unit/temp_dir.h"
#include "kubernetes/pods/features/step_fixture.h"
#include "kubernetes/pods/pod_template.h"

#define T "spark.kubernetes.driver.podTemplate"

static int load(struct step_fixture *f, const char *text, const char *container)
{
        _cleanup_free_ char *path = temp_dir_write("t.yaml", text);
        step_begin(f, KUBE_DRIVER, NULL);
        strmap_set(&f->conf.set, T "File", path);
        if (container)
                strmap_set(&f->conf.set, T "ContainerName", container);
        spark_pod_deinit(&f->pod);
        return pod_template_load(&f->c, &f->pod, &f->error);
}

static void moves_spark_container_out_of_pod(void **state)
{
        static const char text[] = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: a, image: x}\n"
                                   "  - {name: b}\n  - {name: c}\n";
        struct step_fixture f;
        assert_int_equal(load(&f, text, NULL), 0);
        assert_json(f.pod.container, "{'name':'a','image':'x'}");
        assert_json(spec_of(&f, "containers"), "[{'name':'b'},{'name':'c'}]");
        step_end(&f);
        assert_int_equal(load(&f, text, "b"), 0);
        assert_json(f.pod.container, "{'name':'b'}");
        assert_json(spec_of(&f, "containers"), "[{'name':'a','image':'x'},{'name':'c'}]");
        step_end(&f);
        assert_int_equal(load(&f, text, "none"), 0);
        assert_json(container_of_pod(&f, "name"), "'a'");
        step_end(&f);
        assert_int_equal(load(&f, "spec: {nodeName: n}\n", NULL), 0);
        assert_json(f.pod.container, "{}");
        assert_json(f.pod.pod, "{'apiVersion':'v1','kind':'Pod','spec':{'nodeName':'n'}}");
        step_end(&f);
}

static void converts_numbers_to_text(void **state)
{
        struct step_fixture f;
        assert_int_equal(load(&f,
                              "metadata: {labels: {a: 1, b: true}}\n"
                              "spec:\n  priority: \"7\"\n  hostNetwork: \"true\"\n  nodeSelector: {n: 1.5}\n"
                              "  containers:\n  - name: c\n    args: [1, x]\n    env: [{name: e, value: 2}]\n"
                              "    resources: {limits: {cpu: 1}}\n",
                              NULL),
                         0);
        assert_json(metadata_of(&f, "labels"), "{'a':'1','b':'true'}");
        assert_json(spec_of(&f, "priority"), "7");
        assert_json(spec_of(&f, "hostNetwork"), "true");
        assert_json(spec_of(&f, "nodeSelector"), "{'n':'1.5'}");
        assert_json(
                f.pod.container,
                "{'name':'c','args':['1','x'],'env':[{'name':'e','value':'2'}],'resources':{'limits':{'cpu':'1'}}}");
        step_end(&f);
}

static void rejects_templates_that_are_not_pods(void **state)
{
        static const char *const none[] = {"",
                                           "a: [b\n",
                                           "spec: {hostNetwork: no}\n",
                                           "spec: {priority: 0x10}\n",
                                           "kind: Pod\n",
                                           "spec: {containers: [{name: {a: b}}]}\n"};
        for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
                struct step_fixture f;
                assert_int_not_equal(load(&f, none[i], NULL), 0);
                assert_int_equal(strncmp(error_message(&f.error), "Could not load pod from template file. ", 39), 0);
                step_end(&f);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(moves_spark_container_out_of_pod),
                cmocka_unit_test(converts_numbers_to_text),
                cmocka_unit_test(rejects_templates_that_are_not_pods),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
