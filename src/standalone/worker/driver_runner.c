/*
 * Runs a driver like Spark's DriverRunner: the same directory, files, environment, pauses and states. The command is
 * `firesteel driver`, which replaces DriverWrapper.
 *
 * A driver is in one of these phases. Blocking work (fetching its application) runs on a thread of the loop's pool and
 * uses only `preparation`.
 */
#include "standalone/worker/driver_runner.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/fs.h"
#include "conf/properties.h"
#include "standalone/worker/driver_fetch.h"
#include "standalone/wire/launch_command.h"
#include "standalone/worker/work_dir.h"
#include "standalone/worker/worker_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define STABLE_RUN_MS 5000 /* as in Spark */
#define MAX_BACKOFF_S 60
#define PROPERTIES_NAME "driver.conf"

enum driver_phase { NEW, PREPARING, RUNNING, PAUSING, ENDED };

struct driver_preparation {
        uv_work_t work;
        char *jar_url, *directory;
        struct strmap conf;
        const struct resource_addresses *resources; /* the driver's, borrowed */
        int n_resources;
        char *jar; /* the result: its path, or */
        struct fst_error error;
        int result;
};

struct driver_runner {
        struct worker_driver_state state;
        const struct worker_context *context;
        enum driver_phase phase;
        bool killed;
        struct wire_memory memory;                                   /* owns description */
        const Firesteel__Standalone__DriverDescription *description; /* NULL if malformed */
        struct driver_preparation preparation;
        struct worker_process *process;
        uv_timer_t timer;
        int64_t started_ms;
        int pause; /* s, delay before the next start */
        driver_ended *ended;
        void *owner;
};

static void take_description(struct driver_runner *d, const Firesteel__Standalone__LaunchDriver *launch)
{
        struct fst_error error = FST_ERROR_INIT;
        d->memory = wire_memory_for(launch->description.len);
        const Firesteel__Standalone__DriverDescription *description =
                standalone_decode(launch->description.data, launch->description.len,
                                  &firesteel__standalone__driver_description__descriptor, &d->memory, &error);
        if (!description || !description->command) {
                d->state.exception = mem_strdup(description ? "the driver has no command" : error_message(&error));
                error_deinit(&error);
                return;
        }
        d->description = description;
        d->state.cores = description->cores;
        d->state.memory = description->memory;
        d->state.supervise = description->supervise;
}

struct driver_runner *driver_runner_new(const struct worker_context *context,
                                        const Firesteel__Standalone__LaunchDriver *launch)
{
        struct driver_runner *d = new0(struct driver_runner);
        d->context = context;
        d->pause = 1;
        d->state.id = mem_strdup(launch->driver_id);
        d->state.directory = mem_printf("%s/%s", context->conf->work_dir, launch->driver_id);
        d->state.state = DRIVER_RUNNING;
        d->state.resources = worker_resources_copy(launch->resources, launch->n_resources);
        d->state.n_resources = (int)launch->n_resources;
        take_description(d, launch);
        /* DriverWrapper's arguments: the worker, the jar, the class. */
        const Firesteel__Standalone__Command *command = d->description ? d->description->command : NULL;
        d->state.main_class = mem_strdup(command && command->n_arguments > 2 ? command->arguments[2] : "");
        return d;
}

struct worker_driver_state *driver_runner_state(struct driver_runner *d)
{
        return &d->state;
}

struct driver_runner *driver_runner_of(struct worker_driver_state *state)
{
        return container_of(state, struct driver_runner, state);
}

void driver_runner_free(struct driver_runner *d)
{
        worker_driver_state_deinit(&d->state);
        standalone_memory_deinit(&d->memory);
        strmap_deinit(&d->preparation.conf);
        error_deinit(&d->preparation.error);
        free(d->preparation.jar_url);
        free(d->preparation.directory);
        free(d->preparation.jar);
        free(d);
}

/* ------------------------------------------------------------------------------------------------------ ending */

/* The timer is closed, so no handle is left on the loop. */
static void timer_closed(uv_handle_t *handle)
{
        struct driver_runner *d = handle->data;
        d->phase = ENDED;
        d->ended(d->owner, d);
}

static void driver_runner_end(struct driver_runner *d, enum driver_state state, const char *exception)
{
        d->state.state = state;
        if (exception && exception != d->state.exception) {
                free(d->state.exception);
                d->state.exception = mem_strdup(exception);
        }
        uv_close((uv_handle_t *)&d->timer, timer_closed);
}

/* ----------------------------------------------------------------------------------------------------- starting */

static void start_again(uv_timer_t *timer);

static void process_ended(void *owner, struct worker_process *process, int status, const char *message)
{
        struct driver_runner *d = owner;
        (void)process;
        d->process = NULL;
        if (status == 0 || d->killed || !d->state.supervise) {
                driver_runner_end(d,
                                  status == 0 ? DRIVER_FINISHED
                                  : d->killed ? DRIVER_KILLED
                                              : DRIVER_FAILED,
                                  status && !d->killed ? message : NULL);
                return;
        }
        if (now_ms() - d->started_ms > STABLE_RUN_MS)
                d->pause = 1;
        log_info("DriverRunner", "Command exited with status %d, re-launching after %d s.", status, d->pause);
        d->phase = PAUSING;
        uv_timer_start(&d->timer, start_again, (uint64_t)d->pause * 1000, 0);
        d->pause = MIN(d->pause * 2, MAX_BACKOFF_S);
}

static void put_words(const struct driver_runner *d, struct string_list *words)
{
        const struct placeholder placeholders[] = {{"{{WORKER_URL}}", d->context->worker_url},
                                                   {"{{USER_JAR}}", d->preparation.jar}};
        string_list_add(words, "firesteel");
        string_list_add(words, "driver");
        string_list_add(words, "--properties-file");
        string_list_take(words, mem_printf("%s/" PROPERTIES_NAME, d->state.directory));
        launch_command_arguments(d->description->command, placeholders, ARRAY_SIZE(placeholders), words);
}

static void put_variables(const struct driver_runner *d, struct string_list *variables)
{
        const char *ui = d->context->web_ui;
        const char *secret = strmap_get(&d->preparation.conf, "spark.authenticate.secret");
        launch_command_environment(d->description->command, secret ? secret : d->context->secret, variables);
        for (int i = 0; *ui && i < 2; i++) {
                const char *type = i ? "stderr" : "stdout";
                _cleanup_free_ char *url = mem_printf("%s/logPage/?driverId=%s&logType=%s", ui, d->state.id, type);
                string_list_set_variable(variables, i ? "SPARK_DRIVER_LOG_URL_STDERR" : "SPARK_DRIVER_LOG_URL_STDOUT",
                                         url);
        }
}

static void start_process(struct driver_runner *d)
{
        _cleanup_(string_list_deinit) struct string_list words = {0}, variables = {0};
        struct fst_error error = FST_ERROR_INIT;
        put_words(d, &words);
        put_variables(d, &variables);
        _cleanup_free_ char *shown = launch_command_text(&words, &d->context->redactor);
        log_info("DriverRunner", "Launch Command: %s", shown);
        struct cgroup *group = NULL;
        if (worker_context_group(d->context, d->state.id, d->state.memory, d->state.cores, &group, &error)) {
                driver_runner_end(d, DRIVER_ERROR, error_message(&error));
                error_deinit(&error);
                return;
        }
        struct worker_process_options options = {.loop = d->context->loop,
                                                 .program = d->context->program,
                                                 .words = &words,
                                                 .variables = &variables,
                                                 .directory = d->state.directory,
                                                 .title = "Launch Command",
                                                 .command = shown,
                                                 .group = group,
                                                 .ended = process_ended,
                                                 .owner = d};
        d->phase = RUNNING;
        d->started_ms = now_ms();
        if (worker_process_start(&options, &d->process, &error))
                driver_runner_end(d, DRIVER_ERROR, error_message(&error));
        error_deinit(&error);
}

static void start_again(uv_timer_t *timer)
{
        start_process(timer->data);
}

/* ---------------------------------------------------------------------------------------------------- preparing */

/* Writes the driver's configuration, readable only by its user. The secret is passed elsewhere. */
static int write_properties(const struct driver_preparation *p, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *path = mem_printf("%s/" PROPERTIES_NAME, p->directory);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&p->conf, e));)
                if (strcmp(e->key, "spark.authenticate.secret") != 0)
                        properties_put(&text, e->key, e->value);
        unlink(path);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        int r = fd < 0 ? -errno : write_all(fd, buf_text(&text), text.len);
        if (fd >= 0 && close(fd) < 0 && r == 0)
                r = -errno;
        return r ? error_set(error, r, "writing %s: %s", path, strerror(-r)) : 0;
}

static int write_resources(struct driver_preparation *p, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        int r = worker_resources_write(p->resources, p->n_resources, "spark.driver", p->directory, &path, error);
        if (r == 0 && path)
                strmap_set(&p->conf, "spark.driver.resourcesFile", path);
        return r;
}

/* Runs on a thread of the pool. */
static void driver_runner_prepare(uv_work_t *work)
{
        struct driver_preparation *p = work->data;
        int r = work_dir_make(p->directory, &p->error);
        if (r == 0)
                r = driver_jar_fetch(p->jar_url, p->directory, &p->conf, &p->jar, &p->error);
        if (r == 0)
                r = write_resources(p, &p->error);
        if (r == 0)
                r = write_properties(p, &p->error);
        p->result = r;
}

static void on_driver_prepared(uv_work_t *work, int status)
{
        struct driver_preparation *p = work->data;
        struct driver_runner *d = container_of(p, struct driver_runner, preparation);
        (void)status;
        if (d->killed)
                driver_runner_end(d, DRIVER_KILLED, NULL);
        else if (p->result)
                driver_runner_end(d, DRIVER_ERROR, error_message(&p->error));
        else
                start_process(d);
}

/* Replaces the submission's masters by this worker's list, because a REST server knows the others only by its own
 * ports, and another master may lead when the driver restarts.
 */
static void put_masters(struct driver_runner *d)
{
        _cleanup_(buf_deinit) struct buf masters = BUF_INIT;
        const struct string_list *known = &d->context->conf->masters;
        const char *named = strmap_get(&d->preparation.conf, "spark.master");
        if (named && !text_starts_with(named, "spark://"))
                return;
        for (size_t i = 0; i < known->len; i++)
                buf_printf(&masters, "%s%s", i ? "," : "spark://", known->data[i]);
        strmap_set(&d->preparation.conf, "spark.master", buf_text(&masters));
}

/* Reads the submission's properties and the JVM options of genuine clients. */
static void take_properties(struct driver_runner *d)
{
        const Firesteel__Standalone__Command *c = d->description->command;
        struct strmap *conf = &d->preparation.conf;
        for (size_t i = 0; i < c->n_java_options; i++) {
                const char *option = c->java_options[i], *equals = strchr(option, '=');
                if (!text_starts_with(option, "-Dspark.") || !equals)
                        continue;
                _cleanup_free_ char *key = mem_strndup(option + 2, (size_t)(equals - option - 2));
                strmap_set(conf, key, equals + 1);
        }
        for (size_t i = 0; i < c->n_properties; i++)
                strmap_set(conf, c->properties[i]->key, c->properties[i]->value);
        _cleanup_free_ char *cores = mem_printf("%d", d->state.cores);
        strmap_set_if_missing(conf, "spark.driver.cores", cores);
        put_masters(d);
}

/* Returns the reason why the driver cannot run here, or NULL. The caller owns it. */
static char *driver_runner_check(const struct driver_runner *d)
{
        const Firesteel__Standalone__Command *c = d->description->command;
        if (strcmp(c->main_class, STANDALONE_DRIVER_CLASS) != 0)
                return mem_printf("drivers of class \"%.200s\" cannot run here: the class must be %s", c->main_class,
                                  STANDALONE_DRIVER_CLASS);
        if (!launch_name_is_safe(d->state.id))
                return mem_printf("\"%.300s\" is not a valid driver id", d->state.id);
        if (c->n_arguments < 3)
                return mem_strdup("the driver's command has no class: expected {{WORKER_URL}} {{USER_JAR}} CLASS");
        return NULL;
}

/* Runs from the loop, so that `ended` is never called from driver_runner_start. */
static void on_start_timer(uv_timer_t *timer)
{
        struct driver_runner *d = timer->data;
        _cleanup_free_ char *reason = d->description ? driver_runner_check(d) : mem_strdup(d->state.exception);
        if (d->killed || reason) {
                driver_runner_end(d, d->killed ? DRIVER_KILLED : DRIVER_ERROR, d->killed ? NULL : reason);
                return;
        }
        struct driver_preparation *p = &d->preparation;
        take_properties(d);
        p->work.data = p;
        p->jar_url = mem_strdup(d->description->jar_url);
        p->directory = mem_strdup(d->state.directory);
        p->resources = d->state.resources;
        p->n_resources = d->state.n_resources;
        d->phase = PREPARING;
        uv_queue_work(d->context->loop, &p->work, driver_runner_prepare, on_driver_prepared);
}

void driver_runner_start(struct driver_runner *d, driver_ended *ended, void *owner)
{
        d->ended = ended;
        d->owner = owner;
        uv_timer_init(d->context->loop, &d->timer);
        d->timer.data = d;
        uv_timer_start(&d->timer, on_start_timer, 0, 0);
}

void driver_runner_kill(struct driver_runner *d)
{
        if (d->killed || uv_is_closing((uv_handle_t *)&d->timer))
                return;
        log_info("DriverRunner", "Killing driver process!");
        d->killed = true;
        if (d->phase == RUNNING && d->process)
                worker_process_end(d->process, d->context->conf->driver_timeout);
        else if (d->phase == PAUSING)
                driver_runner_end(d, DRIVER_KILLED, NULL);
}
