/* The driver's arguments: DriverCommandFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "kubernetes/conf/file_upload.h"

#define HEAD "'driver','--properties-file','/opt/spark/conf/spark.properties','--class','a.B',"

static void run(struct step_fixture *f, enum kube_language language, const char *resource, const char *const *conf)
{
        step_begin(f, KUBE_DRIVER, conf);
        f->c.language = language;
        f->c.resource = resource;
}

static void passes_java_application(void **state)
{
        static const char *const words[] = {"5", "a b"};
        struct step_fixture f;
        run(&f, KUBE_JAVA, "local:///main.jar", NULL);
        f.c.arguments = words;
        f.c.n_arguments = 2;
        step_works(&f, &driver_command_step);
        assert_json(container_of_pod(&f, "args"), "[" HEAD "'local:///main.jar','5','a b']");
        assert_property(&f, "spark.kubernetes.resource.type", "java");
        step_end(&f);
        run(&f, KUBE_JAVA, "/here/main.jar", NULL); /* it is one of spark.jars */
        step_works(&f, &driver_command_step);
        assert_json(container_of_pod(&f, "args"), "[" HEAD "'spark-internal']");
        step_end(&f);
        run(&f, KUBE_JAVA, "file:///here/main.so", settings("spark.kubernetes.file.upload.path=hdfs://h/up"));
        step_works(&f, &driver_command_step);
        const char *native = json_string_value(json_array_get(container_of_pod(&f, "args"), 5));
        _cleanup_free_ char *uploaded = NULL;
        assert_int_equal(file_upload_target(&f.c, "/here/main.so", &uploaded, NULL), 0);
        assert_string_equal(native, uploaded);
        step_end(&f);
        run(&f, KUBE_JAVA, NULL, NULL);
        f.c.proxy_user = "you";
        step_works(&f, &driver_command_step);
        assert_json(container_of_pod(&f, "args"),
                    "['driver','--proxy-user','you','--properties-file','/opt/spark/conf/spark.properties','--class',"
                    "'a.B','spark-internal']");
        step_end(&f);
}

static void passes_python_application(void **state)
{
        struct step_fixture f;
        run(&f, KUBE_PYTHON, "local:///main.py",
            settings("spark.pyspark.python=python3", "spark.pyspark.driver.python=driver3"));
        step_works(&f, &driver_command_step);
        assert_json(container_of_pod(&f, "args"), "[" HEAD "'local:///main.py']");
        assert_string_equal(variable_of(&f, "PYSPARK_PYTHON"), "python3");
        assert_string_equal(variable_of(&f, "PYSPARK_DRIVER_PYTHON"), "driver3");
        assert_property(&f, "spark.kubernetes.resource.type", "python");
        step_end(&f);
        run(&f, KUBE_PYTHON, "local:///main.py", NULL);
        strmap_set(&step_environment, "PYSPARK_PYTHON", "env3");
        step_works(&f, &driver_command_step);
        assert_string_equal(variable_of(&f, "PYSPARK_PYTHON"), "env3");
        assert_string_equal(variable_of(&f, "PYSPARK_DRIVER_PYTHON"), "env3");
        step_end(&f);
        run(&f, KUBE_PYTHON, "/main.py", settings("spark.kubernetes.file.upload.path=hdfs://h/up"));
        step_works(&f, &driver_command_step);
        assert_null(variable_of(&f, "PYSPARK_PYTHON"));
        const char *resource = json_string_value(json_array_get(container_of_pod(&f, "args"), 5));
        assert_int_equal(strncmp(resource, "hdfs://h/up/spark-upload-", 25), 0);
        step_end(&f);
}

static void passes_r_application(void **state)
{
        struct step_fixture f;
        run(&f, KUBE_R, "local:///main.R", NULL);
        step_works(&f, &driver_command_step);
        assert_json(container_of_pod(&f, "args"), "[" HEAD "'local:///main.R']");
        assert_property(&f, "spark.kubernetes.resource.type", "r");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(passes_java_application),
                                           cmocka_unit_test(passes_python_application),
                                           cmocka_unit_test(passes_r_application)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
