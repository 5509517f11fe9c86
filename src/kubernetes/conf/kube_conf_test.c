/* Pod configurations: KubernetesConfSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "kubernetes/conf/kube_settings.h"
#include "unit/cases.h"

static void derives_object_names(void **state)
{
        static const struct {
                const char *app, *prefix, *label;
        } all[] = {
                {"Spark Pi", "spark-pi-1a", "spark-pi"},
                {"1st.app", "xst-app-1a", "1st-app"},
                {"--dashes--", "dashes-1a", "dashes"},
                {"under_score/slash", "under-score-slash-1a", "under-score-slash"},
                {"\xc3\x9cn\xc3\xaf *App", "n-app-1a", "n-app"},
                {"", "1a", ""},
                {" spaced ", "spaced-1a", "spaced"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                CASE_LABEL("%zu of all: app \"%s\", prefix \"%s\", label \"%s\"", i, all[i].app ? all[i].app : "(none)",
                           all[i].prefix ? all[i].prefix : "(none)", all[i].label ? all[i].label : "(none)");
                _cleanup_free_ char *prefix = kube_name_prefix(all[i].app, "1a");
                _cleanup_free_ char *label = kube_name_label(all[i].app);
                if (*all[i].app)
                        assert_string_equal(prefix, all[i].prefix);
                assert_string_equal(label, all[i].label);
        }
        _cleanup_free_ char *label =
                kube_name_label("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bb");
        assert_int_equal(strlen(label), 62);
}

static void pairs_are_sorted(void **state)
{
        struct step_fixture f;
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        step_begin(&f, KUBE_DRIVER, settings("spark.kubernetes.driverEnv.b=2", "spark.kubernetes.driverEnv.a=1"));
        kube_environment(&f.c, &environment);
        assert_string_equal(strmap_next(&environment, NULL)->key, "a");
        assert_int_equal(environment.count, 2);
        step_end(&f);
}

static void refuse(enum kube_role role, const char *key, const char *value, const char *sentence)
{
        struct fst_conf conf;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct kube_conf c = {.role = role, .conf = &conf, .env = step_variable, .unique = "1a"};
        conf_init(&conf);
        strmap_set(&conf.set, key, value);
        assert_int_equal(kube_conf_complete(&c, &error), -EINVAL);
        assert_string_equal(error_message(&error), sentence);
        kube_conf_deinit(&c);
        conf_deinit(&conf);
}

static void rejects_invalid_executor_settings_before_driver(void **state)
{
        refuse(KUBE_DRIVER, "spark.kubernetes.executor.volumes.hostPath.v.mount.path", "/x",
               "hostPath.v.options.path is required for hostPath");
        refuse(KUBE_EXECUTOR, "spark.kubernetes.executor.podNamePrefix", "_x",
               "[INVALID_CONF_VALUE.REQUIREMENT] The value '_x' in the config "
               "\"spark.kubernetes.executor.podNamePrefix\" is invalid. must conform "
               "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names and the "
               "value length <= 237 SQLSTATE: 22022");
}

static void role_image_falls_back_to_common_image(void **state)
{
        struct step_fixture f;
        _cleanup_free_ char *image = NULL;
        step_begin(&f, KUBE_EXECUTOR, settings("spark.kubernetes.executor.container.image=x:{{SPARK_VERSION}}"));
        assert_int_equal(kube_image(&f.c, &image, NULL), 0);
        assert_string_equal(image, "x:4.3.0");
        step_end(&f);
}

static void reads_deprecated_keys(void **state)
{
        struct step_fixture f;
        _cleanup_free_ char *image = NULL;
        _cleanup_free_ char *policy = NULL;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.kubernetes.driver.docker.image=old:1", "spark.kubernetes.docker.image.pullPolicy="
                                                                          "Always"));
        strmap_remove(&f.conf.set, "spark.kubernetes.container.image");
        assert_int_equal(kube_image(&f.c, &image, NULL), 0);
        assert_string_equal(image, "old:1");
        assert_int_equal(kube_string(&f.c, "spark.kubernetes.container.image.pullPolicy", &policy, NULL), 0);
        assert_string_equal(policy, "Always");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(derives_object_names),
                cmocka_unit_test(pairs_are_sorted),
                cmocka_unit_test(rejects_invalid_executor_settings_before_driver),
                cmocka_unit_test(role_image_falls_back_to_common_image),
                cmocka_unit_test(reads_deprecated_keys),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
