/*
 * The tasks of executors: command, environment, resources, names. Restates the cases of the backends' suites of Spark
 * about what tasks contain.
 */
#include "mesos/tasks/executor_task.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "mesos/offers/offers_fixture.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct tasks_fixture {
        struct arena arena;
        struct fst_conf conf;
        struct executor_tasks_options options;
        struct executor_tasks tasks;
        struct mesos_offer offer;
        struct mesos_launch launch;
};

static const char *tasks_env(const char *name)
{
        return NULL;
}

static int tasks_open(void **state)
{
        struct tasks_fixture *f = new0(struct tasks_fixture);
        conf_init(&f->conf);
        conf_set(&f->conf, "spark.executor.memory", "512m");
        f->options = (struct executor_tasks_options){.conf = &f->conf,
                                                     .driver_url = "spark://CoarseGrainedScheduler@h:7",
                                                     .app_id = "fw-0001",
                                                     .app_name = "Spark Pi",
                                                     .user = "ann",
                                                     .home = "/opt/fire",
                                                     .env = tasks_env};
        f->offer = fixture_offer(&f->arena, "o1", "agent-1", 4000, 4096, 0);
        f->offer.hostname = "host-1";
        f->launch = (struct mesos_launch){
                .task = 3, .cores = 4, .resources = f->offer.resources, .n_resources = f->offer.n_resources};
        *state = f;
        return 0;
}

static int tasks_close(void **state)
{
        struct tasks_fixture *f = *state;
        executor_tasks_deinit(&f->tasks);
        conf_deinit(&f->conf);
        arena_deinit(&f->arena);
        free(f);
        return 0;
}

static Firesteel__Mesos__TaskInfo *tasks_make(struct tasks_fixture *f)
{
        struct fst_error error = FST_ERROR_INIT;
        executor_tasks_deinit(&f->tasks);
        if (executor_tasks_init(&f->tasks, &f->options, &error) < 0)
                fail_msg("%s", error_message(&error));
        return f->options.fine ? fine_task_new(&f->tasks, &f->arena, &f->offer, &f->launch,
                                               "task 0.0 in stage 0.0 (TID 3)", (const uint8_t *)"work", 4)
                               : executor_task_new(&f->tasks, &f->arena, &f->offer, &f->launch);
}

static const Firesteel__Mesos__Environment__Variable *tasks_variable(const Firesteel__Mesos__CommandInfo *c,
                                                                     const char *name)
{
        for (size_t i = 0; i < c->environment->n_variables; i++)
                if (strcmp(c->environment->variables[i]->name, name) == 0)
                        return c->environment->variables[i];
        return NULL;
}

static void executor_is_a_command(void **state)
{
        struct tasks_fixture *f = *state;
        const Firesteel__Mesos__TaskInfo *t = tasks_make(f);
        assert_string_equal(t->name, "Spark Pi 3");
        assert_string_equal(t->task_id->value, "3");
        assert_string_equal(t->agent_id->value, "agent-1");
        assert_int_equal(t->n_resources, 2);
        assert_string_equal(t->resources[0]->name, "cpus");
        assert_true(t->resources[0]->scalar->value == 4);
        assert_string_equal(t->resources[1]->role, "*");
        assert_non_null(t->labels);
        assert_non_null(t->container);
        assert_null(t->executor);
        assert_string_equal(t->command->value,
                            " \"/opt/fire/./bin/firesteel\" executor --driver-url "
                            "spark://CoarseGrainedScheduler@h:7 --executor-id 3 --cores 4 --app-id fw-0001 --hostname "
                            "host-1");
        assert_int_equal(t->command->environment->n_variables, 3);
        assert_string_equal(tasks_variable(t->command, "SPARK_EXECUTOR_OPTS")->value, "");
        assert_string_equal(tasks_variable(t->command, "SPARK_USER")->value, "ann");
        assert_string_equal(tasks_variable(t->command, "SPARK_EXECUTOR_MEMORY")->value, "512m");
}

static void archive_is_entered_and_libraries_are_found(void **state)
{
        struct tasks_fixture *f = *state;
        conf_set(&f->conf, "spark.executor.uri", "http://h/firesteel-1.0.tgz");
        conf_set(&f->conf, "spark.executor.extraLibraryPath", "/opt/lib");
        conf_set(&f->conf, "spark.mesos.extra.cores", "2");
        const Firesteel__Mesos__TaskInfo *t = tasks_make(f);
        assert_true(strncmp(t->command->value,
                            "cd firesteel-1*; LD_LIBRARY_PATH=\"/opt/lib:$LD_LIBRARY_PATH\" ./bin/firesteel executor "
                            "--driver-url ",
                            strlen("cd firesteel-1*; LD_LIBRARY_PATH=\"/opt/lib:$LD_LIBRARY_PATH\" ./bin/firesteel "
                                   "executor --driver-url ")) == 0);
        assert_non_null(strstr(t->command->value, " --cores 6 "));
        assert_int_equal(t->command->n_uris, 1);
}

static void home_of_the_setting_wins(void **state)
{
        struct tasks_fixture *f = *state;
        conf_set(&f->conf, "spark.mesos.executor.home", "/agents/fire");
        assert_non_null(strstr(tasks_make(f)->command->value, " \"/agents/fire/./bin/firesteel\" executor"));
}

static void missing_home_is_named(void **state)
{
        struct tasks_fixture *f = *state;
        struct fst_error error = FST_ERROR_INIT;
        f->options.home = NULL;
        assert_int_equal(executor_tasks_init(&f->tasks, &f->options, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "Executor Spark home `spark.mesos.executor.home` is not set!"));
        error_deinit(&error);
}

static void network_hides_the_agents_name(void **state)
{
        struct tasks_fixture *f = *state;
        conf_set(&f->conf, "spark.mesos.network.name", "net");
        const Firesteel__Mesos__TaskInfo *t = tasks_make(f);
        assert_null(strstr(t->command->value, "--hostname"));
        assert_int_equal(t->container->n_network_infos, 1);
}

static void environment_has_options_user_variables_and_secrets(void **state)
{
        struct tasks_fixture *f = *state;
        conf_set(&f->conf, "spark.executor.extraClassPath", "/x.jar");
        conf_set(&f->conf, "spark.executor.extraJavaOptions", "-Da={{APP_ID}} -De={{EXECUTOR_ID}}-{{EXECUTOR_ID}}");
        conf_set(&f->conf, "spark.executorEnv.FOO", "bar");
        conf_set(&f->conf, "spark.executorEnv.SPARK_EXECUTOR_MEMORY", "9m");
        conf_set(&f->conf, "spark.mesos.executor.secret.values", "s");
        conf_set(&f->conf, "spark.mesos.executor.secret.envkeys", "TOKEN");
        f->options.secret = "key";
        const Firesteel__Mesos__CommandInfo *c = tasks_make(f)->command;
        assert_string_equal(c->environment->variables[0]->name, "SPARK_EXECUTOR_CLASSPATH");
        assert_string_equal(tasks_variable(c, "SPARK_EXECUTOR_OPTS")->value, "-Da=fw-0001 -De=3-3");
        assert_string_equal(tasks_variable(c, "FOO")->value, "bar");
        assert_string_equal(tasks_variable(c, "SPARK_EXECUTOR_MEMORY")->value, "9m");
        assert_string_equal(tasks_variable(c, "_SPARK_AUTH_SECRET")->value, "key");
        assert_non_null(tasks_variable(c, "TOKEN")->secret);
        assert_string_equal(c->environment->variables[c->environment->n_variables - 1]->name, "TOKEN");
}

static void settings_of_the_start_are_quoted(void **state)
{
        struct tasks_fixture *f = *state;
        conf_set(&f->conf, "spark.authenticate", "true");
        conf_set(&f->conf, "spark.authenticate.secret", "hidden");
        conf_set(&f->conf, "spark.ssl.keyStore", "/a b/it's$HOME");
        const char *command = tasks_make(f)->command->value;
        assert_non_null(strstr(command, " --conf spark.authenticate=true"));
        assert_non_null(strstr(command, " --conf 'spark.ssl.keyStore=/a b/it'\\''s$HOME'"));
        assert_null(strstr(command, "hidden"));
}

static void fine_grained_task_carries_its_executor(void **state)
{
        struct tasks_fixture *f = *state;
        const struct mesos_resource executor[] = {{.name = "cpus", .role = "dev", .milli = 1000},
                                                  {.name = "mem", .role = "*", .milli = 896000}};
        f->options.fine = true;
        f->options.data = (const uint8_t *)"conf";
        f->options.data_len = 4;
        f->launch.executor_resources = executor;
        f->launch.n_executor_resources = 2;
        const Firesteel__Mesos__TaskInfo *t = tasks_make(f);
        assert_string_equal(t->name, "task 0.0 in stage 0.0 (TID 3)");
        assert_null(t->command);
        assert_null(t->labels);
        assert_null(t->container);
        assert_int_equal(t->data.len, 4);
        assert_memory_equal(t->data.data, "work", 4);
        assert_string_equal(t->executor->executor_id->value, "agent-1");
        assert_string_equal(t->executor->command->value, " /opt/fire/bin/firesteel mesos-executor");
        assert_int_equal(t->executor->n_resources, 2);
        assert_string_equal(t->executor->resources[0]->role, "dev");
        assert_memory_equal(t->executor->data.data, "conf", 4);
        assert_non_null(t->executor->container);
        conf_set(&f->conf, "spark.executor.uri", "/x/firesteel.tgz");
        assert_string_equal(tasks_make(f)->executor->command->value, "cd firesteel*;  ./bin/firesteel mesos-executor");
}

static void reserved_resources_are_repeated(void **state)
{
        struct tasks_fixture *f = *state;
        const struct mesos_label labels[] = {{"k", "v"}};
        const struct mesos_reservation reservation = {
                .principal = "p", .labels = labels, .n_labels = 1, .has_labels = true};
        const struct mesos_range range = {31000, 31000};
        const struct mesos_resource r[] = {
                {.name = "cpus", .role = "dev", .milli = 4000, .reservation = &reservation},
                {.name = "mem", .role = "*", .milli = 512500},
                {.name = "ports", .role = "*", .type = MESOS_VALUE_RANGES, .ranges = &range, .n_ranges = 1}};
        f->launch.resources = r;
        f->launch.n_resources = 3;
        const Firesteel__Mesos__TaskInfo *t = tasks_make(f);
        assert_string_equal(t->resources[0]->reservation->principal, "p");
        assert_string_equal(t->resources[0]->reservation->labels->labels[0]->value, "v");
        assert_null(t->resources[1]->reservation);
        assert_true(t->resources[1]->scalar->value == 512.5);
        assert_int_equal(t->resources[2]->type, FIRESTEEL__MESOS__VALUE__TYPE__RANGES);
        assert_int_equal(t->resources[2]->ranges->range[0]->end, 31000);
}

#define TASKS_TEST(name) cmocka_unit_test_setup_teardown(name, tasks_open, tasks_close)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TASKS_TEST(executor_is_a_command),
                TASKS_TEST(archive_is_entered_and_libraries_are_found),
                TASKS_TEST(home_of_the_setting_wins),
                TASKS_TEST(missing_home_is_named),
                TASKS_TEST(network_hides_the_agents_name),
                TASKS_TEST(environment_has_options_user_variables_and_secrets),
                TASKS_TEST(settings_of_the_start_are_quoted),
                TASKS_TEST(fine_grained_task_carries_its_executor),
                TASKS_TEST(reserved_resources_are_repeated),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
