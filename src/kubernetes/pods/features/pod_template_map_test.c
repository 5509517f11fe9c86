/* The executors' template in a config map: PodTemplateConfigMapStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "unit/temp_dir.h"

#define T "spark.kubernetes.executor.podTemplateFile"

static void adds_nothing_without_template(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, NULL);
        step_works(&f, &pod_template_step);
        assert_null(spec_of(&f, "volumes"));
        assert_int_equal(f.properties.count + json_array_size(f.resources), 0);
        step_end(&f);
}

static void mounts_template_map(void **state)
{
        struct step_fixture f;
        _cleanup_free_ char *path = temp_dir_write("t.yaml", "pod-template-contents");
        _cleanup_free_ char *setting = mem_printf(T "=file://%s", path);
        step_begin(&f, KUBE_DRIVER, settings(setting));
        step_works(&f, &pod_template_step);
        assert_json(spec_of(&f, "volumes"),
                    "[{'name':'pod-template-volume','configMap':{'name':"
                    "'pi-0123456789abcdef-driver-podspec-conf-map','items':[{'key':'podspec-configmap-key','path':"
                    "'pod-spec-template.yml'}]}}]");
        assert_json(container_of_pod(&f, "volumeMounts"),
                    "[{'name':'pod-template-volume','mountPath':'/opt/spark/pod-template'}]");
        assert_property(&f, T, "/opt/spark/pod-template/pod-spec-template.yml");
        assert_json(f.resources, "[{'apiVersion':'v1','kind':'ConfigMap','immutable':true,'metadata':{'name':"
                                 "'pi-0123456789abcdef-driver-podspec-conf-map'},'data':{'podspec-configmap-key':"
                                 "'pod-template-contents'}}]");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(adds_nothing_without_template),
                                           cmocka_unit_test(mounts_template_map)};
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
