/* The submission context: names, resources, files, access, and fields that are unset by default. */
#include "yarn/application/yarn_context.h"

#include "yarn/application/container_launch.h"
#include "yarn/application/local_resource.h"
#include "yarn/application/yarn_settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct fst_conf conf;
static struct yarn_settings settings;
static struct container_launch launch;
static struct local_resources resources;
static Firesteel__Yarn__ContainerLaunchContext am;
static struct arena arena;
static Firesteel__Yarn__Resource maximum;
static Firesteel__Yarn__ApplicationSubmissionContext context;

static int setup(void **state)
{
        conf_init(&conf);
        conf_set(&conf, "spark.submit.deployMode", "cluster");
        launch = (struct container_launch){0};
        resources = (struct local_resources){0};
        arena = ARENA_INIT;
        maximum = (Firesteel__Yarn__Resource)FIRESTEEL__YARN__RESOURCE__INIT;
        return 0;
}

static int teardown(void **state)
{
        conf_deinit(&conf);
        yarn_settings_deinit(&settings);
        container_launch_deinit(&launch);
        vec_deinit(&resources.list);
        arena_deinit(&arena);
        return 0;
}

static void build(void)
{
        static const struct buf tokens = {.data = "HDTS", .len = 4};
        assert_int_equal(yarn_settings_read(&settings, &conf, NULL), 0);
        container_launch_message(&launch, &resources, &tokens, &arena, &am);
        yarn_context_build(&(struct yarn_context_request){.id = {.cluster_timestamp = 1700000000000, .id = 7},
                                                          .settings = &settings,
                                                          .am = &am,
                                                          .view_acl = "me ",
                                                          .modify_acl = "* ",
                                                          .maximum = &maximum},
                           &arena, &context);
        /* It can be packed. */
        const size_t n = protobuf_c_message_get_packed_size(&context.base);
        _cleanup_free_ uint8_t *bytes = mem_alloc(n);
        assert_int_equal(protobuf_c_message_pack(&context.base, bytes), n);
}

static void tells_name_queue_and_resources(void **state)
{
        conf_set(&conf, "spark.app.name", "app");
        conf_set(&conf, "spark.driver.memory", "2g");
        conf_set(&conf, "spark.driver.cores", "3");
        string_list_add(&launch.command, "{{JAVA_HOME}}/bin/java");
        strmap_set(&launch.environment, "A", "b");
        build();
        assert_int_equal(context.application_id->id, 7);
        assert_int_equal(context.application_id->cluster_timestamp, 1700000000000);
        assert_string_equal(context.application_name, "app");
        assert_string_equal(context.queue, "default");
        assert_string_equal(context.application_type, "SPARK");
        assert_int_equal(context.resource->memory, 2048 + 384);
        assert_int_equal(context.resource->virtual_cores, 3);
        assert_true(context.has_unmanaged_am);
        assert_false(context.unmanaged_am);
        assert_false(context.has_keep_containers_across_attempts);
        assert_null(context.priority);
        assert_false(context.has_max_app_attempts);
        assert_false(context.has_attempt_failures_validity_interval);
        assert_int_equal(context.n_am_resource_requests, 0);
        assert_null(context.log_aggregation_context);
        const Firesteel__Yarn__ContainerLaunchContext *c = context.am_container_spec;
        assert_int_equal(c->n_command, 1);
        assert_string_equal(c->environment[0]->key, "A");
        assert_int_equal(c->acls[0]->access, 1);
        assert_string_equal(c->acls[0]->acl, "me ");
        assert_string_equal(c->acls[1]->acl, "* ");
        assert_int_equal(c->tokens.len, 4);
}

static void tells_what_is_set(void **state)
{
        conf_set(&conf, "spark.yarn.tags", "b,a,b");
        conf_set(&conf, "spark.yarn.priority", "5");
        conf_set(&conf, "spark.yarn.maxAppAttempts", "1");
        conf_set(&conf, "spark.yarn.am.attemptFailuresValidityInterval", "10s");
        conf_set(&conf, "spark.yarn.am.nodeLabelExpression", "gpu");
        conf_set(&conf, "spark.yarn.rolledLog.includePattern", "std.*");
        conf_set(&conf, "spark.yarn.rolledLog.excludePattern", "x");
        build();
        assert_int_equal(context.n_application_tags, 2);
        assert_string_equal(context.application_tags[1], "a");
        assert_int_equal(context.priority->priority, 5);
        assert_int_equal(context.max_app_attempts, 1);
        assert_int_equal(context.attempt_failures_validity_interval, 10000);
        assert_null(context.resource);
        assert_int_equal(context.n_am_resource_requests, 1);
        const Firesteel__Yarn__ResourceRequest *request = context.am_resource_requests[0];
        assert_string_equal(request->resource_name, "*");
        assert_string_equal(request->node_label_expression, "gpu");
        assert_int_equal(request->num_containers, 1);
        assert_int_equal(request->priority->priority, 0);
        assert_int_equal(request->capability->memory, 1024 + 384);
        assert_string_equal(context.log_aggregation_context->rolled_include_pattern, "std.*");
        assert_string_equal(context.log_aggregation_context->rolled_exclude_pattern, "x");
}

static void has_another_type(void **state)
{
        conf_set(&conf, "spark.yarn.applicationType", "SPARK-SQL");
        build();
        assert_string_equal(context.application_type, "SPARK-SQL");
}

static void unmanaged_application_has_no_container(void **state)
{
        assert_int_equal(yarn_settings_read(&settings, &conf, NULL), 0);
        yarn_context_build(&(struct yarn_context_request){.settings = &settings, .maximum = &maximum}, &arena,
                           &context);
        assert_true(context.unmanaged_am);
        assert_int_equal(context.am_container_spec->n_command, 0);
        assert_int_equal(context.am_container_spec->n_acls, 0);
        assert_false(context.am_container_spec->has_tokens);
        const struct buf tokens = {.data = (char *)"HDTS", .len = 4}; /* which the ResourceManager renews */
        yarn_context_build(&(struct yarn_context_request){.settings = &settings,
                                                          .maximum = &maximum,
                                                          .tokens = &tokens,
                                                          .view_acl = "me ",
                                                          .modify_acl = "me "},
                           &arena, &context);
        assert_int_equal(context.am_container_spec->tokens.len, 4);
        assert_int_equal(context.am_container_spec->n_acls, 2);
}

static void leaves_out_unknown_resource_types(void **state)
{
        Firesteel__Yarn__ResourceValue gpu = FIRESTEEL__YARN__RESOURCE_VALUE__INIT;
        Firesteel__Yarn__ResourceValue *known[] = {&gpu};
        gpu.key = "yarn.io/gpu";
        maximum.values = known;
        maximum.n_values = 1;
        conf_set(&conf, "spark.driver.resource.gpu.amount", "2");
        conf_set(&conf, "spark.yarn.driver.resource.fast.amount", "1G");
        build();
        assert_int_equal(context.resource->n_values, 1);
        assert_string_equal(context.resource->values[0]->key, "yarn.io/gpu");
        assert_int_equal(context.resource->values[0]->value, 2);
}

static void files_have_parts_of_their_uri(void **state)
{
        static const struct {
                const char *path, *scheme, *host, *user_info, *file;
                int port;
        } cases[] = {
                {"hdfs://127.0.0.1:9000/u/a b", "hdfs", "127.0.0.1", NULL, "/u/a b", 9000},
                {"hdfs://name/a", "hdfs", "name", NULL, "/a", -1},
                {"s3a://me@bucket/a", "s3a", "bucket", "me", "/a", -1},
                {"file:/a/b", "file", NULL, NULL, "/a/b", -1},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                vec_push(&resources.list, (struct local_resource){.link = "link",
                                                                  .path = (char *)cases[i].path,
                                                                  .size = 9,
                                                                  .modified_ms = 5,
                                                                  .archive = i == 0,
                                                                  .is_public = i == 1});
        build();
        assert_int_equal(context.am_container_spec->n_local_resources, ARRAY_SIZE(cases));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const Firesteel__Yarn__LocalResource *file = context.am_container_spec->local_resources[i]->value;
                assert_string_equal(file->resource->scheme, cases[i].scheme);
                assert_string_equal(file->resource->file, cases[i].file);
                assert_int_equal(file->resource->port, cases[i].port);
                if (cases[i].host)
                        assert_string_equal(file->resource->host, cases[i].host);
                else
                        assert_null(file->resource->host);
                if (cases[i].user_info)
                        assert_string_equal(file->resource->user_info, cases[i].user_info);
                assert_int_equal(file->type, i == 0 ? 1 : 2);
                assert_int_equal(file->visibility, i == 1 ? 1 : 2);
                assert_int_equal(file->size, 9);
                assert_int_equal(file->timestamp, 5);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(tells_name_queue_and_resources, setup, teardown),
                cmocka_unit_test_setup_teardown(tells_what_is_set, setup, teardown),
                cmocka_unit_test_setup_teardown(has_another_type, setup, teardown),
                cmocka_unit_test_setup_teardown(unmanaged_application_has_no_container, setup, teardown),
                cmocka_unit_test_setup_teardown(leaves_out_unknown_resource_types, setup, teardown),
                cmocka_unit_test_setup_teardown(files_have_parts_of_their_uri, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
