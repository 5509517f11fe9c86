/* Where an interpreter has pyspark. */
#include "pyspark_driver/python_package.h"

#include "base/string_list.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <cmocka.h>

static void assert_version(const char *text, const char *expected)
{
        _cleanup_free_ char *version = python_package_parse_version(text);
        if (expected)
                assert_string_equal(version, expected);
        else
                assert_null(version);
}

static void reads_version(void **state)
{
        (void)state;
        assert_version("# text\n__version__: str = \"4.3.0\"\n", "4.3.0");
        assert_version("__version__ = '3.5.9'", "3.5.9");
        assert_version("__version__: str = \"4.2.0.dev1\"", "4.2.0.dev1");
        assert_version("", NULL);
        assert_version("__version__", NULL);
        assert_version("__version__ = ", NULL);
        assert_version("__version__ = \"\"", NULL);
        assert_version("__version__ = unknown", NULL);
}

/* A virtual environment: bin/python, and the package beside it. */
static void finds_package_of_virtual_environment(void **state)
{
        (void)state;
        _cleanup_free_ char *bin = temp_dir_path("venv/bin"),
                            *package = temp_dir_path("venv/lib/python3.11/site-packages/pyspark"),
                            *py4j = temp_dir_path("venv/lib/python3.11/site-packages/py4j");
        assert_int_equal(make_dirs(bin, 0700), 0);
        assert_int_equal(make_dirs(package, 0700), 0);
        assert_int_equal(make_dirs(py4j, 0700), 0);
        _cleanup_free_ char *version =
                temp_dir_write("venv/lib/python3.11/site-packages/pyspark/version.py", "__version__ = \"4.1.2\"\n");
        _cleanup_free_ char *python = temp_dir_write("venv/bin/python", "#!/bin/false\n");
        assert_int_equal(chmod(python, 0700), 0);
        unsetenv("PYTHONPATH");
        struct python_package found;
        python_package_find(python, &found);
        assert_string_equal(found.version, "4.1.2");
        assert_int_equal(found.major, 4);
        assert_int_equal(found.minor, 1);
        assert_non_null(strstr(found.folder, "/site-packages"));
        assert_string_equal(found.py4j_folder, found.folder);
        python_package_deinit(&found);
}

static void path_of_modules_comes_first(void **state)
{
        (void)state;
        _cleanup_free_ char *package = temp_dir_path("path/pyspark"), *path = temp_dir_path("path");
        assert_int_equal(make_dirs(package, 0700), 0);
        _cleanup_free_ char *version = temp_dir_write("path/pyspark/version.py", "__version__ = \"3.5.0\"\n");
        setenv("PYTHONPATH", path, 1);
        struct python_package found;
        python_package_find("/does/not/exist", &found);
        assert_string_equal(found.folder, path);
        assert_int_equal(found.major, 3);
        assert_int_equal(found.minor, 5);
        python_package_deinit(&found);
        unsetenv("PYTHONPATH");
}

static void missing_package_counts_as_latest(void **state)
{
        (void)state;
        unsetenv("PYTHONPATH");
        struct python_package found;
        python_package_find("/does/not/exist", &found);
        assert_null(found.folder);
        assert_string_equal(found.version, "");
        assert_int_equal(found.major, 4);
        python_package_deinit(&found);
}

/* A Python that finds pyspark in a zip file of PYTHONPATH says where. */
static void asks_about_archives(void **state)
{
        (void)state;
        static const char text[] =
                "#!/bin/sh\n"
                "echo a warning >&2\n"
                "printf '%s\\t' pyspark-is-in /lib/pyspark.zip /lib/py4j-1-src.zip \"__version__ = '4.0.1'\"\n";
        _cleanup_free_ char *bin = temp_dir_path("asked/bin"),
                            *package = temp_dir_path("asked/lib/python3.11/site-packages/pyspark");
        assert_int_equal(make_dirs(bin, 0700), 0);
        assert_int_equal(make_dirs(package, 0700), 0);
        _cleanup_free_ char *version =
                temp_dir_write("asked/lib/python3.11/site-packages/pyspark/version.py", "__version__ = \"4.1.2\"\n");
        _cleanup_free_ char *python = temp_dir_write("asked/bin/python", text);
        _cleanup_(string_list_deinit) struct string_list archives = {0};
        struct python_package found;
        assert_int_equal(chmod(python, 0700), 0);
        setenv("PYTHONPATH", "/does/not/exist:/lib/pyspark.zip", 1);
        python_package_find(python, &found);
        unsetenv("PYTHONPATH");
        assert_string_equal(found.folder, "/lib/pyspark.zip");
        assert_string_equal(found.py4j_folder, "/lib/py4j-1-src.zip");
        assert_string_equal(found.version, "4.0.1");
        assert_int_equal(found.major, 4);
        assert_int_equal(found.minor, 0);
        assert_false(python_package_archives(&found, &archives)); /* neither file exists */
        assert_int_equal(archives.len, 0);
        python_package_deinit(&found);
}

/* pip installs zip files beside the package. */
static void finds_archives_of_package(void **state)
{
        (void)state;
        _cleanup_free_ char *lib = temp_dir_path("pip/pyspark/python/lib"), *folder = temp_dir_path("pip");
        assert_int_equal(make_dirs(lib, 0700), 0);
        struct python_package package = {.folder = folder, .py4j_folder = folder};
        _cleanup_(string_list_deinit) struct string_list archives = {0};
        _cleanup_free_ char *pyspark = temp_dir_write("pip/pyspark/python/lib/pyspark.zip", "zip");
        assert_false(python_package_archives(&package, &archives));
        assert_int_equal(archives.len, 0);
        _cleanup_free_ char *py4j = temp_dir_write("pip/pyspark/python/lib/py4j-0.10.9.9-src.zip", "zip");
        assert_true(python_package_archives(&package, &archives));
        assert_int_equal(archives.len, 2);
        assert_string_equal(archives.data[0], pyspark);
        assert_string_equal(archives.data[1], py4j);
        assert_false(python_package_archives(&(struct python_package){0}, &archives));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_version),
                cmocka_unit_test(finds_package_of_virtual_environment),
                cmocka_unit_test(path_of_modules_comes_first),
                cmocka_unit_test(missing_package_counts_as_latest),
                cmocka_unit_test(asks_about_archives),
                cmocka_unit_test(finds_archives_of_package),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
