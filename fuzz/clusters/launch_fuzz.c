/*
 * Launch commands for a worker: the first byte chooses an executor, a driver or a command alone. The target starts no
 * process: invalid commands must be refused, and valid ones give arguments, variables, and texts for pages.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/worker/driver_runner.h"
#include "standalone/worker/executor_runner.h"
#include "standalone/wire/launch_command.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct worker_conf conf = {.work_dir = "/nowhere/work", .host = "127.0.0.1"};
static struct worker_context context = {.conf = &conf,
                                        .id = "worker-1",
                                        .worker_url = "spark://Worker@127.0.0.1:1",
                                        .web_ui = "http://127.0.0.1:2",
                                        .program = "/nowhere/firesteel"};

static void launch_require(bool holds)
{
        if (!holds)
                abort();
}

static void fuzz_command(const Firesteel__Standalone__Command *c)
{
        static const struct placeholder placeholders[] = {{"{{APP_ID}}", "app-1"}, {"{{CORES}}", "1"}};
        _cleanup_(string_list_deinit) struct string_list words = {0}, variables = {0};
        launch_command_arguments(c, placeholders, ARRAY_SIZE(placeholders), &words);
        launch_require(words.len == c->n_arguments);
        launch_command_environment(c, "secret", &variables);
        for (size_t i = 0; i < c->n_environment; i++)
                launch_require(!*c->environment[i]->key || strchr(c->environment[i]->key, '=') ||
                               string_list_variable(&variables, c->environment[i]->key));
        _cleanup_free_ char *text = launch_command_text(&words, &context.redactor);
        _cleanup_free_ char *shown = launch_command_show(c, &context.redactor);
        launch_require(*text == '"' && strncmp(shown, "Command(", 8) == 0);
}

/* Returns whether the command would start one of our programs, which the target must not do. */
static bool is_ours(const Firesteel__Standalone__LaunchExecutor *m)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->command.len);
        const Firesteel__Standalone__Command *c = standalone_decode(
                m->command.data, m->command.len, &firesteel__standalone__command__descriptor, &memory, NULL);
        if (c)
                fuzz_command(c);
        return c && strcmp(c->main_class, STANDALONE_EXECUTOR_CLASS) == 0 && launch_name_is_safe(m->app_id);
}

static void on_unexpected_end(void *owner, struct executor_runner *x, int status, const char *message)
{
        abort();
}

static void fuzz_executor(const Firesteel__Standalone__LaunchExecutor *m)
{
        struct executor_runner *x = executor_runner_new(&context, m);
        const struct worker_executor_state *state = executor_runner_state(x);
        struct fst_error error = FST_ERROR_INIT;
        launch_require(state->n_resources == (int)m->n_resources && strcmp(state->app_id, m->app_id) == 0);
        if (!is_ours(m)) {
                launch_require(executor_runner_start(x, m, "/nowhere/local", on_unexpected_end, NULL, &error) < 0);
                launch_require(*error_message(&error));
        }
        error_deinit(&error);
        executor_runner_free(x);
}

static void fuzz_driver(const Firesteel__Standalone__LaunchDriver *m)
{
        struct driver_runner *d = driver_runner_new(&context, m);
        const struct worker_driver_state *state = driver_runner_state(d);
        launch_require(strcmp(state->id, m->driver_id) == 0 && state->main_class && state->directory);
        driver_runner_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const ProtobufCMessageDescriptor *const kinds[] = {
                &firesteel__standalone__launch_executor__descriptor,
                &firesteel__standalone__launch_driver__descriptor,
                &firesteel__standalone__command__descriptor,
        };
        static bool ready;
        if (!ready) {
                struct fst_conf none;
                conf_init(&none);
                log_set_level(LOG_OFF);
                if (redactor_init(&context.redactor, &none, NULL))
                        abort();
                conf_deinit(&none);
                ready = true;
        }
        if (size == 0)
                return 0;
        size_t kind = data[0] % ARRAY_SIZE(kinds);
        struct wire_memory memory = wire_memory_for(size - 1);
        const void *message = standalone_decode(data + 1, size - 1, kinds[kind], &memory, NULL);
        if (message && kind == 0)
                fuzz_executor(message);
        else if (message && kind == 1)
                fuzz_driver(message);
        else if (message)
                fuzz_command(message);
        standalone_memory_deinit(&memory);
        return 0;
}
