/* Configuration files in config maps: KubernetesClientUtilsSuite. */
#include "kubernetes/pods/conf_files.h"
#include "unit/temp_dir.h"
#include "kubernetes/pods/features/step_fixture.h"

static json_t *read_files(const char *most, const struct strmap *properties)
{
        struct step_fixture f;
        json_t *files = NULL;
        step_begin(&f, KUBE_DRIVER, NULL);
        strmap_set(&f.conf.set, "spark.kubernetes.configMap.maxSize", most);
        strmap_set(&step_environment, "SPARK_CONF_DIR", temp_dir);
        assert_int_equal(conf_files_read(&f.c, properties, &files, NULL), 0);
        step_end(&f);
        return files;
}

static void write_files(void)
{
        static const char *const names[] = {
                "log4j2.properties", "spark-defaults.conf", "spark-env.sh.template", "app.jar", "a.zip",
                "spark.properties",  "spark-env.sh"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                free(temp_dir_write(names[i], "x"));
        free(temp_dir_write("bad", "\xff\xfe"));
        free(temp_dir_write("long", "0123456789012345678901234567890123456789"));
}

static void skips_archives_templates_and_own_settings(void **state)
{
        write_files();
        json_t *files = read_files("1048576", NULL);
        assert_json(files, "{'log4j2.properties':'x','spark-env.sh':'x','long':"
                           "'0123456789012345678901234567890123456789'}");
        json_decref(files);
}

static void takes_smallest_files_within_limit(void **state)
{
        json_t *files = read_files("45", NULL);
        assert_json(files, "{'log4j2.properties':'x','spark-env.sh':'x'}");
        json_decref(files);
        files = read_files("14", NULL);
        assert_json(files, "{'spark-env.sh':'x'}");
        json_decref(files);
}

static void writes_properties_as_java(void **state)
{
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "spark.b c", " a:b=c#d!e\\f\n");
        strmap_set(&properties, "spark.a", "\xc3\xa4");
        json_t *files = read_files("0", &properties);
        assert_string_equal(json_string_value(json_object_get(files, "spark.properties")),
                            "#Java properties built from Kubernetes config map with name: "
                            "spark-drv-0123456789abcdef-conf-map\n"
                            "spark.a=\xc3\xa4\n"
                            "spark.b\\ c=\\ a\\:b\\=c\\#d\\!e\\\\f\\n\n");
        json_decref(files);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(skips_archives_templates_and_own_settings),
                cmocka_unit_test(takes_smallest_files_within_limit),
                cmocka_unit_test(writes_properties_as_java),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
