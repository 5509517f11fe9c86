/* Feature steps in shared objects: valid changes, and the messages for invalid ones. */
#include "kubernetes/pods/native_feature_step.h"
#include "kubernetes/pods/executor_builder.h"
#include "unit/temp_dir.h"
#include "kubernetes/pods/features/step_fixture.h"

#include <firesteel/pod_step.h>

#include <errno.h>

static int run(struct step_fixture *f, native_step_fn *step)
{
        bool driver = f->c.role == KUBE_DRIVER;
        return native_step_run(step, "/x/s.so", &f->c, &f->pod, driver ? &f->properties : NULL,
                               driver ? f->resources : NULL, f->resources, &f->error);
}

static int change_all(struct fst_pod_step *step)
{
        assert_string_equal(step->role, "driver");
        assert_string_equal(step->application_id, "app-1");
        assert_null(step->executor_id);
        assert_string_equal(step->pod, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{},\"spec\":{}}");
        assert_string_equal(step->container, "{}");
        assert_string_equal(step->setting(step, "spark.team"), "data");
        assert_null(step->setting(step, "spark.none"));
        assert_int_equal(step->set_pod(step, "{\"spec\":{\"nodeName\":\"n\"}}"), 0);
        assert_int_equal(step->set_container(step, "{\"name\":\"c\"}"), 0);
        assert_int_equal(step->add_before(step, "{\"kind\":\"A\"}"), 0);
        assert_int_equal(step->add_after(step, "{\"kind\":\"B\"}"), 0);
        return step->set_property(step, "spark.more", "1");
}

static void step_changes_driver(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings("spark.team=data"));
        assert_int_equal(run(&f, change_all), 0);
        assert_json(f.pod.pod, "{'spec':{'nodeName':'n'}}");
        assert_json(f.pod.container, "{'name':'c'}");
        assert_json(f.resources, "[{'kind':'A'},{'kind':'B'}]");
        assert_property(&f, "spark.more", "1");
        step_end(&f);
}

static int of_executor(struct fst_pod_step *step)
{
        assert_string_equal(step->role, "executor");
        assert_string_equal(step->executor_id, "3");
        return step->set_container(step, "{\"name\":\"e\"}");
}

static void step_changes_executor(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, NULL);
        assert_int_equal(run(&f, of_executor), 0);
        assert_json(f.pod.container, "{'name':'e'}");
        step_end(&f);
}

static int too_early(struct fst_pod_step *step)
{
        return step->add_before(step, "{}");
}

static int settings_of_executor(struct fst_pod_step *step)
{
        step->set_property(step, "a", "b");
        return 0;
}

static int no_json(struct fst_pod_step *step)
{
        step->set_pod(step, "{\"a\":");
        return step->refuse(step, "later sentences do not count");
}

static int no_object(struct fst_pod_step *step)
{
        return step->add_after(step, "[]");
}

static int nothing(struct fst_pod_step *step)
{
        return step->set_container(step, NULL);
}

static int with_words(struct fst_pod_step *step)
{
        return step->refuse(step, "who are you?");
}

static int without_words(struct fst_pod_step *step)
{
        return 7;
}

static void rejects_invalid_results_of_steps(void **state)
{
        static const struct {
                native_step_fn *step;
                const char *sentence;
        } rows[] = {
                {too_early, "an executor's step cannot create objects before the pod"},
                {settings_of_executor, "an executor's step cannot change settings, which are the driver's"},
                {no_json, "the pod is not valid JSON: "},
                {no_object, "the object is not a JSON object"},
                {nothing, "the container is NULL"},
                {with_words, "who are you?"},
                {without_words, "it has failed"},
        };
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
                struct step_fixture f;
                step_begin(&f, KUBE_EXECUTOR, NULL);
                assert_int_equal(run(&f, rows[i].step), -EINVAL);
                _cleanup_free_ char *sentence = mem_printf("feature step /x/s.so: %s", rows[i].sentence);
                assert_int_equal(strncmp(error_message(&f.error), sentence, strlen(sentence)), 0);
                step_end(&f);
        }
}

static void rejects_modules_that_cannot_be_loaded(void **state)
{
        _cleanup_free_ char *text = temp_dir_write("text.so", "no module");
        native_step_fn *step = NULL;
        const char *const names[] = {"relative.so", "/none/x.so", text};
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(native_step_load(names[i], &step, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), names[i]));
                assert_null(step);
        }
        assert_true(native_step_is_named("local:///x.so"));
        assert_false(native_step_is_named("org.example.Step"));
}

static void executor_build_fails_if_step_fails(void **state)
{
        struct step_fixture f;
        struct executor_pod_spec spec;
        step_begin(&f, KUBE_EXECUTOR, settings("spark.kubernetes.executor.pod.featureSteps=/none/step.so"));
        assert_int_equal(executor_spec_build(&f.c, &spec, &f.error), -EINVAL);
        assert_non_null(strstr(error_message(&f.error), "Failed to initialize feature step: /none/step.so"));
        executor_spec_deinit(&spec);
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(step_changes_driver),
                cmocka_unit_test(step_changes_executor),
                cmocka_unit_test(rejects_invalid_results_of_steps),
                cmocka_unit_test(rejects_modules_that_cannot_be_loaded),
                cmocka_unit_test(executor_build_fails_if_step_fails),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
