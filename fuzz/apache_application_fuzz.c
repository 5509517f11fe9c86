/* Any YAML is SparkApplications of spark.apache.org or errors: they are read, validated and rendered. */
#include "base/error.h"
#include "base/mem.h"
#include "operator/apache/apache_objects.h"
#include "text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        json_t *documents = NULL, *object;
        size_t i;
        if (yaml_parse_all((const char *)data, size, &documents, &error) < 0)
                return 0;
        json_array_foreach(documents, i, object)
                fuzz_apache_render(object);
        json_decref(documents);
        return 0;
}
