/* Pod groups: VolcanoFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "unit/temp_dir.h"

#define T "spark.kubernetes.scheduler.volcano.podGroupTemplate"

static void group_is(const char *const *conf, const char *group)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, conf);
        step_works(&f, &volcano_step);
        assert_json(metadata_of(&f, "annotations"), "{'scheduling.k8s.io/group-name':'app-1-podgroup'}");
        assert_json(json_array_get(f.resources, 0), group);
        step_end(&f);
}

static void builds_pod_group_with_and_without_template(void **state)
{
        _cleanup_free_ char *path = temp_dir_write("group.yaml", "spec:\n  minMember: 5\n  queue: q\n");
        _cleanup_free_ char *setting = mem_printf(T "File=%s", path);
        group_is(NULL, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':"
                       "{'name':'app-1-podgroup','namespace':'default'},'spec':{}}");
        group_is(settings(setting, "spark.kubernetes.namespace=jobs", T "Json={}"),
                 "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':"
                 "{'name':'app-1-podgroup','namespace':'jobs'},'spec':{'minMember':5,'queue':'q'}}");
        group_is(settings(T "Json={\"spec\":{\"minMember\":2}}"),
                 "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':"
                 "{'name':'app-1-podgroup','namespace':'default'},'spec':{'minMember':2}}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(builds_pod_group_with_and_without_template)};
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
