/* Any YAML is SparkApplications or errors: they are read, validated, observed by the core, and rendered. */
#include "base/error.h"
#include "base/mem.h"
#include "fuzz/yaml_objects.h"
#include "operator/core/application_reading.h"
#include "operator/core/pod_observation.h"
#include "operator/render/application_objects.h"

static void fuzz_render_application(const json_t *object)
{
        static const struct render_options options = {.master = "k8s://https://10.0.0.1:443",
                                                      .submission_id = "00000000-0000-4000-8000-000000000000",
                                                      .ui_service = true,
                                                      .ingress_url_format = "{{$appName}}.example/{{$appNamespace}}",
                                                      .driver_disruption_budget = true,
                                                      .batch_scheduler = true,
                                                      .kube_scheduler_names = "plugins",
                                                      .show = true};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct spark_application app;
        struct application_objects objects;
        struct application_exposure exposure;
        if (spark_application_read(object, &app, NULL, &error) == 0 && spark_application_validate(&app, &error) == 0) {
                if (application_objects_make(&app, &options, &objects, &error) == 0 && !objects.plan.container)
                        abort();
                application_objects_deinit(&objects);
                application_exposure_make(&app, &options, "spark-1", &exposure, &error);
                application_exposure_deinit(&exposure);
        }
        spark_application_deinit(&app);
}

static void fuzz_observe_application(const json_t *object)
{
        struct application_reading reading;
        struct pod_observation pod;
        if (application_reading_make(object, &reading)) {
                struct application_core *core = application_core_new(NULL);
                struct application_action action;
                const struct application_observation *o = &reading.observation;
                application_core_synced(core);
                application_core_observe(core, o);
                for (int i = 0; i < 4; i++)
                        application_core_reconcile(core, o->namespace, o->name, (int64_t)i << 40);
                while (application_core_next_action(core, &action))
                        application_action_deinit(&action);
                application_core_free(core);
        }
        application_reading_deinit(&reading);
        pod_observation_read(object, &pod);
}

static void fuzz_application_object(const json_t *object)
{
        fuzz_observe_application(object);
        fuzz_render_application(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        fuzz_yaml_objects(data, size, fuzz_application_object);
        return 0;
}
