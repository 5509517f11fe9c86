/*
 * Runs an executor like Spark's ExecutorRunner: the same directory, files, environment and states. The command is
 * `firesteel executor`, which replaces Spark's executor class.
 */
#include "standalone/worker/executor_runner.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/wire/launch_command.h"
#include "standalone/worker/work_dir.h"
#include "standalone/worker/worker_process.h"

#include <signal.h>

#define TERMINATE_MS 10000 /* as in Spark */

struct executor_runner {
        struct worker_executor_state state;
        const struct worker_context *context;
        struct worker_process *process; /* NULL if not running */
        int decommission_signal;
        bool killed;
        executor_ended *ended;
        void *owner;
};

struct executor_runner *executor_runner_new(const struct worker_context *context,
                                            const Firesteel__Standalone__LaunchExecutor *launch)
{
        struct executor_runner *x = new0(struct executor_runner);
        x->context = context;
        x->decommission_signal = SIGPWR;
        x->state.app_id = mem_strdup(launch->app_id);
        x->state.app_name = mem_strdup(launch->app_name);
        x->state.app_user = mem_strdup(launch->app_user);
        x->state.app_max_cores = launch->app_max_cores;
        x->state.id = launch->executor;
        x->state.profile = launch->profile;
        x->state.cores = launch->cores;
        x->state.memory = launch->memory;
        x->state.state = EXECUTOR_LAUNCHING;
        x->state.directory = mem_printf("%s/%s/%d", context->conf->work_dir, launch->app_id, launch->executor);
        x->state.command = mem_strdup("");
        x->state.resources = worker_resources_copy(launch->resources, launch->n_resources);
        x->state.n_resources = (int)launch->n_resources;
        return x;
}

void executor_runner_free(struct executor_runner *x)
{
        worker_executor_state_deinit(&x->state);
        free(x);
}

struct worker_executor_state *executor_runner_state(struct executor_runner *x)
{
        return &x->state;
}

struct executor_runner *executor_runner_of(struct worker_executor_state *state)
{
        return container_of(state, struct executor_runner, state);
}

/* --------------------------------------------------------------------------------------------------- starting */

static void put_words(const struct executor_runner *x, const Firesteel__Standalone__Command *command,
                      const char *resources, struct string_list *words)
{
        char id[16], cores[16], profile[16];
        snprintf(id, sizeof(id), "%d", x->state.id);
        snprintf(cores, sizeof(cores), "%d", x->state.cores);
        snprintf(profile, sizeof(profile), "%d", x->state.profile);
        const struct placeholder placeholders[] = {
                {"{{WORKER_URL}}", x->context->worker_url},
                {"{{EXECUTOR_ID}}", id},
                {"{{HOSTNAME}}", x->context->conf->host},
                {"{{CORES}}", cores},
                {"{{APP_ID}}", x->state.app_id},
                {"{{RESOURCE_PROFILE_ID}}", profile},
        };
        string_list_add(words, "firesteel");
        string_list_add(words, "executor");
        launch_command_arguments(command, placeholders, ARRAY_SIZE(placeholders), words);
        if (resources) {
                string_list_add(words, "--resourcesFile");
                string_list_add(words, resources);
        }
        for (size_t i = 0; i < command->n_properties; i++) {
                const Firesteel__Standalone__Property *p = command->properties[i];
                if (strcmp(p->key, "spark.authenticate.secret") == 0)
                        continue;
                string_list_add(words, "--conf");
                string_list_take(words, mem_printf("%s=%s", p->key, p->value));
        }
        for (size_t i = 0; i < command->n_class_path; i++) {
                string_list_add(words, "--user-class-path");
                string_list_add(words, command->class_path[i]);
        }
}

static void put_variables(const struct executor_runner *x, const Firesteel__Standalone__Command *command,
                          const char *local_dirs, struct string_list *variables)
{
        const char *ui = x->context->web_ui;
        launch_command_environment(command, x->context->secret, variables);
        string_list_set_variable(variables, "SPARK_EXECUTOR_DIRS", local_dirs);
        for (int i = 0; *ui && i < 2; i++) {
                const char *name = i ? "STDERR" : "STDOUT", *type = i ? "stderr" : "stdout";
                _cleanup_free_ char *variable = mem_printf("SPARK_LOG_URL_%s", name);
                _cleanup_free_ char *url = mem_printf("%s/logPage/?appId=%s&executorId=%d&logType=%s", ui,
                                                      x->state.app_id, x->state.id, type);
                string_list_set_variable(variables, variable, url);
        }
}

static void process_ended(void *owner, struct worker_process *process, int status, const char *message)
{
        struct executor_runner *x = owner;
        (void)process;
        x->process = NULL;
        x->state.state = x->killed ? EXECUTOR_KILLED : EXECUTOR_EXITED;
        _cleanup_free_ char *killed = mem_printf("Executor %s/%d was killed", x->state.app_id, x->state.id);
        x->ended(x->owner, x, status, x->killed ? killed : message);
}

static int start_process(struct executor_runner *x, const Firesteel__Standalone__Command *command,
                         const char *local_dirs, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list words = {0}, variables = {0};
        _cleanup_free_ char *resources = NULL, *shown = NULL;
        struct cgroup *group = NULL;
        int r = worker_resources_write(x->state.resources, x->state.n_resources, "spark.executor", x->state.directory,
                                       &resources, error);
        if (r)
                return r;
        put_words(x, command, resources, &words);
        put_variables(x, command, local_dirs, &variables);
        shown = launch_command_text(&words, &x->context->redactor);
        _cleanup_free_ char *name = mem_printf("%s-%d", x->state.app_id, x->state.id);
        if ((r = worker_context_group(x->context, name, x->state.memory, x->state.cores, &group, error)))
                return r;
        log_info("ExecutorRunner", "Launch command: %s", shown);
        return worker_process_start(&(struct worker_process_options){.loop = x->context->loop,
                                                                     .program = x->context->program,
                                                                     .words = &words,
                                                                     .variables = &variables,
                                                                     .directory = x->state.directory,
                                                                     .title = "Spark Executor Command",
                                                                     .command = shown,
                                                                     .rolling = &x->context->conf->rolling,
                                                                     .group = group,
                                                                     .ended = process_ended,
                                                                     .owner = x},
                                    &x->process, error);
}

static void take_command(struct executor_runner *x, const Firesteel__Standalone__Command *command)
{
        free(x->state.command);
        x->state.command = launch_command_show(command, &x->context->redactor);
        for (size_t i = 0; i < command->n_properties; i++)
                if (strcmp(command->properties[i]->key, "spark.executor.decommission.signal") == 0)
                        (void)worker_conf_signal(command->properties[i]->key, command->properties[i]->value,
                                                 &x->decommission_signal, NULL);
}

static int executor_runner_start_process(struct executor_runner *x, const Firesteel__Standalone__LaunchExecutor *launch,
                                         const char *local_dirs, struct fst_error *error)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(launch->command.len);
        const Firesteel__Standalone__Command *command = standalone_decode(
                launch->command.data, launch->command.len, &firesteel__standalone__command__descriptor, &memory, error);
        if (!command)
                return -EPROTO;
        if (strcmp(command->main_class, STANDALONE_EXECUTOR_CLASS) != 0)
                return error_set(error, -EINVAL, "executors of class \"%.200s\" cannot run here: the class must be %s",
                                 command->main_class, STANDALONE_EXECUTOR_CLASS);
        if (!launch_name_is_safe(launch->app_id))
                return error_set(error, -EINVAL, "\"%.300s\" is not a valid application id", launch->app_id);
        take_command(x, command);
        int r = work_dir_make(x->state.directory, error);
        return r ? r : start_process(x, command, local_dirs, error);
}

int executor_runner_start(struct executor_runner *x, const Firesteel__Standalone__LaunchExecutor *launch,
                          const char *local_dirs, executor_ended *ended, void *owner, struct fst_error *error)
{
        x->ended = ended;
        x->owner = owner;
        int r = executor_runner_start_process(x, launch, local_dirs, error);
        x->state.state = r ? EXECUTOR_FAILED : EXECUTOR_RUNNING;
        return r;
}

/* ------------------------------------------------------------------------------------------------------ ending */

void executor_runner_kill(struct executor_runner *x)
{
        if (!x->process)
                return;
        x->killed = true;
        worker_process_end(x->process, TERMINATE_MS);
}

void executor_runner_decommission(struct executor_runner *x)
{
        if (x->process && worker_process_catches(x->process, x->decommission_signal))
                worker_process_signal(x->process, x->decommission_signal);
}
