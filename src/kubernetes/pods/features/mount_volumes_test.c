/* Volumes: MountVolumesFeatureStepSuite and KubernetesVolumeUtilsSuite. */
#include "kubernetes/pods/features/step_fixture.h"

#define V "spark.kubernetes.executor.volumes."
#define D "spark.kubernetes.driver.volumes."
#define MOUNT(more) "[{'name':'v','mountPath':'/tmp','readOnly':" more "}]"

static void volume_is(const char *const *conf, const char *volumes, const char *mounts)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, conf);
        step_works(&f, &mount_volumes_step);
        assert_json(spec_of(&f, "volumes"), volumes);
        assert_json(container_of_pod(&f, "volumeMounts"), mounts);
        assert_int_equal(json_array_size(f.resources), 0);
        step_end(&f);
}

static void mounts_volumes_of_all_types(void **state)
{
        volume_is(settings(V "hostPath.v.mount.path=/tmp", V "hostPath.v.options.path=/host",
                           V "hostPath.v.options.type="
                             "Directory"),
                  "[{'name':'v','hostPath':{'path':'/host','type':'Directory'}}]",
                  MOUNT("false,'subPath':'','subPathExpr':''"));
        volume_is(settings(V "nfs.v.mount.path=/tmp", V "nfs.v.mount.readOnly=true", V "nfs.v.options.path=/share",
                           V "nfs.v.options.server=nfs.example.com"),
                  "[{'name':'v','nfs':{'path':'/share','server':'nfs.example.com'}}]",
                  MOUNT("true,'subPath':'','subPathExpr':''"));
        volume_is(settings(V "emptyDir.v.mount.path=/tmp", V "emptyDir.v.options.medium=Memory",
                           V "emptyDir.v.options.sizeLimit=6G", V "emptyDir.v.mount.subPath=foo"),
                  "[{'name':'v','emptyDir':{'medium':'Memory','sizeLimit':'6G'}}]",
                  MOUNT("false,'subPath':'foo','subPathExpr':''"));
        volume_is(settings(V "emptyDir.v.mount.path=/tmp", V "emptyDir.v.mount.subPathExpr=$(POD)"),
                  "[{'name':'v','emptyDir':{'medium':''}}]", MOUNT("false,'subPath':'','subPathExpr':'$(POD)'"));
        volume_is(settings(V "persistentVolumeClaim.v.mount.path=/tmp",
                           V "persistentVolumeClaim.v.options.claimName=pvc-spark-SPARK_EXECUTOR_ID"),
                  "[{'name':'v','persistentVolumeClaim':{'claimName':'pvc-spark-3','readOnly':false}}]",
                  MOUNT("false,'subPath':'','subPathExpr':''"));
}

static void claims_are_made_on_demand(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings(D "persistentVolumeClaim.v.mount.path=/tmp",
                            D "persistentVolumeClaim.v.options.claimName=OnDemand",
                            D "persistentVolumeClaim.v.options.storageClass=fast",
                            D "persistentVolumeClaim.v.options.sizeLimit=1Gi", D "persistentVolumeClaim.v.label.a=b",
                            D "persistentVolumeClaim.v.annotation.c=d"));
        step_works(&f, &mount_volumes_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'v','persistentVolumeClaim':{'claimName':"
                                            "'pi-0123456789abcdef-driver-pvc-0','readOnly':false}}]");
        assert_json(f.resources,
                    "[{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':"
                    "{'name':'pi-0123456789abcdef-driver-pvc-0','labels':{'a':'b','spark-app-selector':'app-1'},"
                    "'annotations':{'c':'d'}},'spec':{'storageClassName':'fast','accessModes':['ReadWriteOncePod'],"
                    "'resources':{'requests':{'storage':'1Gi'}}}}]");
        step_end(&f);
        step_begin(&f, KUBE_EXECUTOR,
                   settings(V "persistentVolumeClaim.v.mount.path=/tmp", "spark.kubernetes.executor.podNamePrefix=x",
                            V "persistentVolumeClaim.v.options.claimName=OnDemand",
                            V "persistentVolumeClaim.v.options.storageClass=fast",
                            V "persistentVolumeClaim.v.options.sizeLimit=1Gi",
                            "spark.kubernetes.legacy.useReadWriteOnceAccessMode=true"));
        step_works(&f, &mount_volumes_step);
        const json_t *claim = json_array_get(f.resources, 0);
        assert_json(json_object_get(json_object_get(claim, "metadata"), "name"), "'x-exec-3-pvc-0'");
        assert_json(json_object_get(json_object_get(claim, "spec"), "accessModes"), "['ReadWriteOnce']");
        step_end(&f);
}

static void rejects_incomplete_and_duplicate_volumes(void **state)
{
        step_refuses(KUBE_EXECUTOR, settings(V "hostPath.v.mount.path=/tmp"), &mount_volumes_step,
                     "hostPath.v.options.path is required for hostPath");
        step_refuses(KUBE_EXECUTOR, settings(V "nfs.v.mount.path=/tmp", V "nfs.v.options.path=/s"), &mount_volumes_step,
                     "nfs.v.options.server is required for nfs");
        step_refuses(KUBE_EXECUTOR, settings(V "tape.v.mount.path=/tmp"), &mount_volumes_step,
                     "Kubernetes Volume type `tape` is not supported");
        step_refuses(KUBE_EXECUTOR, settings(V "emptyDir.v.mount.path=/tmp", V "emptyDir.v.options.sizeLimit=10"),
                     &mount_volumes_step, "Volume size `10` is smaller than 1KiB. Missing units?");
        step_refuses(KUBE_EXECUTOR, settings(V "emptyDir.a.mount.path=/tmp", V "emptyDir.b.mount.path=/tmp"),
                     &mount_volumes_step, "requirement failed: Found duplicated mountPath: '/tmp'");
        step_refuses(KUBE_EXECUTOR,
                     settings(V "emptyDir.a.mount.path=/tmp", V "emptyDir.a.mount.subPath=x",
                              V "emptyDir.a.mount.subPathExpr=y"),
                     &mount_volumes_step,
                     "These config options are mutually exclusive: emptyDir.a.mount.subPath, "
                     "emptyDir.a.mount.subPathExpr");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(mounts_volumes_of_all_types),
                cmocka_unit_test(claims_are_made_on_demand),
                cmocka_unit_test(rejects_incomplete_and_duplicate_volumes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
