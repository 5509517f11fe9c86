/*
 * The parts of tasks that settings describe: containers, networks, labels, secrets, files. Restates the cases of
 * Spark's MesosSchedulerBackendUtilSuite and MesosProtoUtilsSuite, and those of the backends' suites about containers
 * and secrets.
 */
#include "mesos/tasks/task_parts.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "mesos/tasks/task_labels.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

typedef Firesteel__Mesos__ContainerInfo__DockerInfo docker_info;

static const char *parts_archive;

static const char *parts_env(const char *name)
{
        return strcmp(name, "SPARK_EXECUTOR_URI") == 0 ? parts_archive : NULL;
}

/* Reads the parts of settings KEY, VALUE, …, NULL. */
static struct task_parts parts_of(enum mesos_task_kind kind, ...)
{
        struct task_parts parts;
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        va_list args;
        conf_init(&conf);
        va_start(args, kind);
        for (const char *key; (key = va_arg(args, const char *));)
                conf_set(&conf, key, va_arg(args, const char *));
        va_end(args);
        if (task_parts_read(&parts, &conf, kind, parts_env, &error) < 0)
                fail_msg("%s", error_message(&error));
        conf_deinit(&conf);
        return parts;
}

/* The error of settings that are refused. The caller owns it. */
static char *parts_error(const char *key, const char *value, const char *key2, const char *value2)
{
        struct task_parts parts;
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&conf);
        conf_set(&conf, key, value);
        if (key2)
                conf_set(&conf, key2, value2);
        assert_true(task_parts_read(&parts, &conf, TASK_OF_EXECUTOR, parts_env, &error) < 0);
        assert_null(parts.container);
        conf_deinit(&conf);
        return steal(error.message);
}

static void without_settings_the_task_is_a_process(void **state)
{
        struct task_parts p = parts_of(TASK_OF_EXECUTOR, NULL);
        assert_int_equal(p.container->type, FIRESTEEL__MESOS__CONTAINER_INFO__TYPE__MESOS);
        assert_null(p.container->docker);
        assert_null(p.container->mesos);
        assert_int_equal(p.container->n_volumes, 0);
        assert_int_equal(p.container->n_network_infos, 0);
        assert_non_null(p.labels);
        assert_int_equal(p.labels->n_labels, 0);
        assert_int_equal(p.n_secrets, 0);
        assert_int_equal(p.n_uris, 0);
        task_parts_deinit(&p);
}

static void docker_settings_become_a_container(void **state)
{
        struct task_parts p =
                parts_of(TASK_OF_EXECUTOR, "spark.mesos.executor.docker.image", "some/image",
                         "spark.mesos.executor.docker.forcePullImage", "true", "spark.mesos.executor.docker.volumes",
                         "/a,/b:/b,/c:/c:rw,/d:ro,/e:/e:ro", "spark.mesos.executor.docker.portmaps",
                         "8080:8080, 53:53:udp", "spark.mesos.executor.docker.parameters", "user=1000,env=A=B", NULL);
        const docker_info *d = p.container->docker;
        static const struct {
                const char *host, *path;
                bool read_only;
        } volumes[] = {
                {NULL, "/a", false}, {"/b", "/b", false}, {"/c", "/c", false}, {NULL, "/d", true}, {"/e", "/e", true}};
        assert_int_equal(p.container->type, FIRESTEEL__MESOS__CONTAINER_INFO__TYPE__DOCKER);
        assert_string_equal(d->image, "some/image");
        assert_true(d->has_force_pull_image && d->force_pull_image);
        assert_false(d->has_network);
        assert_int_equal(d->n_port_mappings, 2);
        assert_int_equal(d->port_mappings[0]->host_port, 8080);
        assert_string_equal(d->port_mappings[0]->protocol, "tcp");
        assert_int_equal(d->port_mappings[1]->container_port, 53);
        assert_string_equal(d->port_mappings[1]->protocol, "udp");
        assert_int_equal(d->n_parameters, 2);
        assert_string_equal(d->parameters[1]->key, "env");
        assert_string_equal(d->parameters[1]->value, "A=B");
        assert_int_equal(p.container->n_volumes, ARRAY_SIZE(volumes));
        for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
                CASE_LABEL("%s", volumes[i].path);
                const Firesteel__Mesos__Volume *v = p.container->volumes[i];
                assert_string_equal(v->container_path, volumes[i].path);
                assert_int_equal(v->mode == FIRESTEEL__MESOS__VOLUME__MODE__RO, volumes[i].read_only);
                assert_true(volumes[i].host ? strcmp(v->host_path, volumes[i].host) == 0 : !v->host_path);
        }
        task_parts_deinit(&p);
}

static void malformed_docker_settings_are_left_out(void **state)
{
        struct task_parts p = parts_of(TASK_OF_EXECUTOR, "spark.mesos.executor.docker.image", "i",
                                       "spark.mesos.executor.docker.volumes", "/a:/b:/c,/a:/b:ro:x,:,/ok",
                                       "spark.mesos.executor.docker.portmaps", "80,a:b,70000:1,1:2:tcp:x,1:2",
                                       "spark.mesos.executor.docker.parameters", "a,b,c=d", NULL);
        assert_int_equal(p.container->n_volumes, 1);
        assert_string_equal(p.container->volumes[0]->container_path, "/ok");
        assert_int_equal(p.container->docker->n_port_mappings, 1);
        assert_int_equal(p.container->docker->n_parameters, 1);
        assert_true(p.container->docker->has_force_pull_image);
        assert_false(p.container->docker->force_pull_image);
        task_parts_deinit(&p);
}

static void mesos_containerizer_runs_the_image_itself(void **state)
{
        struct task_parts p =
                parts_of(TASK_OF_EXECUTOR, "spark.mesos.executor.docker.image", "some/image",
                         "spark.mesos.containerizer", "mesos", "spark.mesos.executor.docker.volumes", "/a:/b", NULL);
        const Firesteel__Mesos__Image *image = p.container->mesos->image;
        assert_int_equal(p.container->type, FIRESTEEL__MESOS__CONTAINER_INFO__TYPE__MESOS);
        assert_null(p.container->docker);
        assert_int_equal(image->type, FIRESTEEL__MESOS__IMAGE__TYPE__DOCKER);
        assert_string_equal(image->docker->name, "some/image");
        assert_true(image->has_cached && image->cached);
        assert_int_equal(p.container->n_volumes, 1);
        task_parts_deinit(&p);
        p = parts_of(TASK_OF_EXECUTOR, "spark.mesos.executor.docker.image", "i", "spark.mesos.containerizer", "mesos",
                     "spark.mesos.executor.docker.forcePullImage", "true", NULL);
        assert_false(p.container->mesos->image->cached);
        task_parts_deinit(&p);
}

static void network_has_name_and_labels(void **state)
{
        struct task_parts p = parts_of(TASK_OF_EXECUTOR, "spark.mesos.network.name", "net",
                                       "spark.mesos.network.labels", "key1:val1,key2:val2", NULL);
        const Firesteel__Mesos__NetworkInfo *n = p.container->network_infos[0];
        assert_int_equal(p.container->n_network_infos, 1);
        assert_string_equal(n->name, "net");
        assert_int_equal(n->labels->n_labels, 2);
        assert_string_equal(n->labels->labels[1]->value, "val2");
        task_parts_deinit(&p);
}

static void docker_joins_the_network_by_a_parameter(void **state)
{
        struct task_parts p = parts_of(TASK_OF_EXECUTOR, "spark.mesos.network.name", "net",
                                       "spark.mesos.executor.docker.image", "i", NULL);
        const docker_info *d = p.container->docker;
        assert_true(d->has_network);
        assert_int_equal(d->network, FIRESTEEL__MESOS__CONTAINER_INFO__DOCKER_INFO__NETWORK__USER);
        assert_int_equal(d->n_parameters, 1);
        assert_string_equal(d->parameters[0]->key, "net");
        assert_string_equal(d->parameters[0]->value, "net");
        assert_int_equal(p.container->n_network_infos, 1);
        task_parts_deinit(&p);
}

static void labels_unescape_commas_and_colons(void **state)
{
        struct arena arena = ARENA_INIT;
        Firesteel__Mesos__Labels *l;
        assert_int_equal(task_labels_parse(&arena, "mesos:,", &l, NULL), -EINVAL);
        assert_int_equal(task_labels_parse(&arena, "key:value,key2:a\\:b,key\\:3:a\\,b,\\x:y,", &l, NULL), 0);
        assert_int_equal(l->n_labels, 4);
        assert_string_equal(l->labels[0]->key, "key");
        assert_string_equal(l->labels[0]->value, "value");
        assert_string_equal(l->labels[1]->value, "a:b");
        assert_string_equal(l->labels[2]->key, "key:3");
        assert_string_equal(l->labels[2]->value, "a,b");
        assert_string_equal(l->labels[3]->key, "\\x");
        assert_int_equal(task_labels_parse(&arena, NULL, &l, NULL), 0);
        assert_int_equal(l->n_labels, 0);
        arena_deinit(&arena);
}

static void malformed_labels_are_refused(void **state)
{
        static const char *const bad[] = {"incorrect", "a:b:c", ",a:b", "a:b,,c:d", "a:", "a\\:b"};
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                CASE_LABEL("%s", bad[i]);
                _cleanup_free_ char *message = parts_error("spark.mesos.task.labels", bad[i], NULL, NULL);
                assert_non_null(strstr(message, "Malformed label: "));
                assert_non_null(strstr(message, "spark.mesos.task.labels"));
        }
        _cleanup_free_ char *message =
                parts_error("spark.mesos.network.name", "n", "spark.mesos.network.labels", "wrong");
        assert_non_null(strstr(message, "spark.mesos.network.labels"));
}

static void secrets_by_name_become_variables_and_files(void **state)
{
        struct task_parts p = parts_of(TASK_OF_EXECUTOR, "spark.mesos.executor.secret.names", "/path/a,/path/b",
                                       "spark.mesos.executor.secret.envkeys", "KEY_A,KEY_B",
                                       "spark.mesos.executor.secret.filenames", "/file/a,/file/b", NULL);
        assert_int_equal(p.n_secrets, 2);
        assert_string_equal(p.secrets[1]->name, "KEY_B");
        assert_int_equal(p.secrets[1]->type, FIRESTEEL__MESOS__ENVIRONMENT__VARIABLE__TYPE__SECRET);
        assert_int_equal(p.secrets[1]->secret->type, FIRESTEEL__MESOS__SECRET__TYPE__REFERENCE);
        assert_string_equal(p.secrets[1]->secret->reference->name, "/path/b");
        assert_int_equal(p.container->n_volumes, 2);
        assert_string_equal(p.container->volumes[0]->container_path, "/file/a");
        assert_int_equal(p.container->volumes[0]->mode, FIRESTEEL__MESOS__VOLUME__MODE__RO);
        assert_int_equal(p.container->volumes[0]->source->type, FIRESTEEL__MESOS__VOLUME__SOURCE__TYPE__SECRET);
        assert_string_equal(p.container->volumes[0]->source->secret->reference->name, "/path/a");
        task_parts_deinit(&p);
}

static void secrets_by_value_follow_volumes(void **state)
{
        struct task_parts p = parts_of(
                TASK_OF_DRIVER, "spark.mesos.driver.secret.values", "one,two", "spark.mesos.driver.secret.filenames",
                "a,b", "spark.mesos.executor.docker.image", "i", "spark.mesos.executor.docker.volumes", "/v", NULL);
        assert_int_equal(p.n_secrets, 0);
        assert_int_equal(p.container->n_volumes, 3);
        assert_string_equal(p.container->volumes[0]->container_path, "/v");
        const Firesteel__Mesos__Secret *s = p.container->volumes[2]->source->secret;
        assert_int_equal(s->type, FIRESTEEL__MESOS__SECRET__TYPE__VALUE);
        assert_int_equal(s->value->data.len, 3);
        assert_memory_equal(s->value->data.data, "two", 3);
        task_parts_deinit(&p);
        p = parts_of(TASK_OF_EXECUTOR, "spark.mesos.driver.secret.values", "one", "spark.mesos.executor.secret.values",
                     "two", "spark.mesos.executor.secret.envkeys", "K", NULL);
        assert_int_equal(p.n_secrets, 1);
        assert_memory_equal(p.secrets[0]->secret->value->data.data, "two", 3);
        task_parts_deinit(&p);
}

static void secrets_that_do_not_fit_are_refused(void **state)
{
        _cleanup_free_ char *both =
                parts_error("spark.mesos.executor.secret.names", "a", "spark.mesos.executor.secret.values", "hidden");
        _cleanup_free_ char *keys = parts_error("spark.mesos.executor.secret.values", "hidden",
                                                "spark.mesos.executor.secret.envkeys", "A,B");
        _cleanup_free_ char *files = parts_error("spark.mesos.executor.secret.filenames", "A", NULL, NULL);
        assert_non_null(strstr(both, "Cannot specify both value-type and reference-type secrets"));
        assert_non_null(strstr(keys, "there are 1 secrets and 2 of these"));
        assert_non_null(strstr(files, "spark.mesos.executor.secret.filenames"));
        assert_null(strstr(both, "hidden"));
        assert_null(strstr(keys, "hidden"));
}

static void files_are_fetched_with_the_archive_first(void **state)
{
        struct task_parts p = parts_of(TASK_OF_EXECUTOR, "spark.executor.uri", "hdfs:///spark-3.5.6-bin.tgz",
                                       "spark.mesos.uris", " a, b ,", "spark.mesos.fetcherCache.enable", "true", NULL);
        assert_int_equal(p.n_uris, 3);
        assert_string_equal(p.uris[0]->value, "hdfs:///spark-3.5.6-bin.tgz");
        assert_string_equal(p.uris[2]->value, "b");
        assert_true(p.uris[2]->has_cache && p.uris[2]->cache);
        task_parts_deinit(&p);
        parts_archive = "http://h/firesteel.tgz";
        p = parts_of(TASK_OF_FINE_EXECUTOR, "spark.mesos.uris", "a", "spark.mesos.task.labels", "a:b", NULL);
        assert_int_equal(p.n_uris, 2);
        assert_string_equal(p.uris[0]->value, parts_archive);
        assert_false(p.uris[0]->has_cache);
        assert_true(p.uris[1]->has_cache && !p.uris[1]->cache);
        assert_null(p.labels);
        task_parts_deinit(&p);
        p = parts_of(TASK_OF_DRIVER, "spark.mesos.uris", "a", "spark.mesos.driver.labels", "a:b", NULL);
        assert_int_equal(p.n_uris, 1);
        assert_true(p.uris[0]->has_cache && !p.uris[0]->cache);
        assert_int_equal(p.labels->n_labels, 1);
        task_parts_deinit(&p);
        parts_archive = NULL;
}

static void archive_directory_ends_at_the_first_point(void **state)
{
        static const char *const cases[][2] = {
                {"hdfs://n/spark-3.5.6-bin.tgz", "spark-3*"}, {"firesteel.tgz", "firesteel*"}, {"/x/y", "y*"}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i][0]);
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                task_put_archive_directory(&out, cases[i][0]);
                assert_string_equal(buf_text(&out), cases[i][1]);
        }
}

static void unknown_containerizer_is_refused(void **state)
{
        _cleanup_free_ char *message =
                parts_error("spark.mesos.containerizer", "rkt", "spark.mesos.executor.docker.image", "i");
        assert_non_null(strstr(message, "spark.mesos.containerizer should be one of docker, mesos, but was rkt"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_settings_the_task_is_a_process),
                cmocka_unit_test(docker_settings_become_a_container),
                cmocka_unit_test(malformed_docker_settings_are_left_out),
                cmocka_unit_test(mesos_containerizer_runs_the_image_itself),
                cmocka_unit_test(network_has_name_and_labels),
                cmocka_unit_test(docker_joins_the_network_by_a_parameter),
                cmocka_unit_test(labels_unescape_commas_and_colons),
                cmocka_unit_test(malformed_labels_are_refused),
                cmocka_unit_test(secrets_by_name_become_variables_and_files),
                cmocka_unit_test(secrets_by_value_follow_volumes),
                cmocka_unit_test(secrets_that_do_not_fit_are_refused),
                cmocka_unit_test(files_are_fetched_with_the_archive_first),
                cmocka_unit_test(archive_directory_ends_at_the_first_point),
                cmocka_unit_test(unknown_containerizer_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
