/* Any YAML is SparkApplications and SparkClusters of spark.apache.org or errors: they are read, validated, observed by
 * the core, and rendered. */
#include "base/error.h"
#include "base/mem.h"
#include "fuzz/yaml_objects.h"
#include "operator/apache/apache_objects.h"
#include "operator/apache/apache_reading.h"

static void fuzz_apache_render(const json_t *object)
{
        static const struct render_options options = {.master = "k8s://https://10.0.0.1:443", .show = true};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct apache_application app;
        struct driver_plan plan;
        if (apache_application_read(object, &app, NULL, &error) == 0 &&
            apache_application_validate(&app, &error) == 0) {
                if (apache_objects_make(&app, &options, &plan, &error) == 0 && !plan.container)
                        abort();
                driver_plan_deinit(&plan);
        }
        apache_application_deinit(&app);
}

static void fuzz_apache_cluster(const json_t *object)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct apache_cluster cluster;
        struct apache_reading reading;
        if (apache_cluster_read(object, &cluster, NULL, &error) == 0 &&
            apache_cluster_validate(&cluster, &error) == 0) {
                json_t *objects = apache_cluster_objects(&cluster);
                if (json_array_size(objects) < 5)
                        abort();
                json_decref(objects);
        }
        apache_cluster_deinit(&cluster);
        apache_reading_make_cluster(object, &reading);
        apache_reading_deinit(&reading);
}

static void fuzz_apache_observe(const json_t *object)
{
        struct apache_reading reading;
        struct apache_pod pod;
        struct apache_action action;
        struct apache_core *core = apache_core_new(NULL);
        if (apache_pod_read(object, &pod))
                apache_core_observe_pod(core, &pod);
        if (apache_reading_make(object, &reading)) {
                const struct apache_observation *o = &reading.observation;
                apache_core_observe(core, o);
                for (int64_t i = 0; i < 6; i++) {
                        apache_core_reconcile(core, o->namespace, o->name, i << 40);
                        while (apache_core_next_action(core, &action)) {
                                if (action.kind == APACHE_WRITE_STATUS)
                                        json_decref(apache_status_patch(&action.from, &action.transition,
                                                                        action.version, NULL));
                                apache_core_done(core, action.namespace, action.name, action.ticket, APACHE_RESULT_OK,
                                                 NULL, 0, i << 40);
                                apache_action_deinit(&action);
                        }
                }
        }
        apache_reading_deinit(&reading);
        apache_core_free(core);
}

static void fuzz_apache_object(const json_t *object)
{
        fuzz_apache_observe(object);
        fuzz_apache_render(object);
        fuzz_apache_cluster(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        fuzz_yaml_objects(data, size, fuzz_apache_object);
        return 0;
}
