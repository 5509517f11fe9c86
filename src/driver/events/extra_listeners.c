/*
 * See extra_listeners.h. Events of the bus are converted to the structs of the public header, which are flat and sized.
 *
 * An object that was compiled with a newer header writes callbacks behind the struct that this version knows. It gets a
 * larger piece of zeroed memory (LISTENER_ROOM), in which they are ignored.
 */
#include "driver/events/extra_listeners.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "driver/events/listener_bus.h"

#include <firesteel/listener.h>

#include <assert.h>
#include <dlfcn.h>
#include <string.h>

#define LISTENER_ROOM 4096
static_assert(sizeof(struct fst_listener) <= LISTENER_ROOM / 2, "objects of a newer header need room");

struct extra_listener {
        struct listener listener; /* first: the bus calls it */
        char *path;
        const struct fst_conf *conf; /* while starting */
        bool stopped;
        union {
                struct fst_listener user;
                char room[LISTENER_ROOM];
        };
};

struct extra_listeners {
        VEC(struct extra_listener *) list;
};

static struct fst_listener *extra_listener_user(struct listener *self)
{
        return &container_of(self, struct extra_listener, listener)->user;
}

/* ---------------------------------------------------------------------------------------------------- events */

static void extra_listener_on_application_start(struct listener *self, const struct application_start *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_application event = {
                .size = sizeof(event), .name = e->name, .id = e->id, .user = e->user, .time_ms = e->ms};
        if (user->on_application_start)
                user->on_application_start(user, &event);
}

static void extra_listener_on_application_end(struct listener *self, const struct application_end *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_application event = {.size = sizeof(event), .time_ms = e->ms};
        if (user->on_application_end)
                user->on_application_end(user, &event);
}

static void extra_listener_on_job_start(struct listener *self, const struct job_start *e)
{
        struct fst_listener *user = extra_listener_user(self);
        if (!user->on_job_start)
                return;
        _cleanup_free_ int *ids = mem_alloc((e->n_stages + 1) * sizeof(*ids));
        for (size_t i = 0; i < e->n_stages; i++)
                ids[i] = e->stages[i].id;
        struct fst_event_job event = {
                .size = sizeof(event),
                .id = e->id,
                .time_ms = e->ms,
                .stage_ids = ids,
                .n_stages = e->n_stages,
                .group = e->properties ? strmap_get(e->properties, "spark.jobGroup.id") : NULL,
                .description = e->properties ? strmap_get(e->properties, "spark.job.description") : NULL,
        };
        user->on_job_start(user, &event);
}

static void extra_listener_on_job_end(struct listener *self, const struct job_end *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_job event = {.size = sizeof(event), .id = e->id, .time_ms = e->ms, .failure = e->failure};
        if (user->on_job_end)
                user->on_job_end(user, &event);
}

static struct fst_event_stage extra_listener_stage_event(const struct stage_info *s)
{
        return (struct fst_event_stage){
                .size = sizeof(struct fst_event_stage),
                .id = s->id,
                .attempt = s->attempt,
                .name = s->name,
                .tasks = s->tasks,
                .submission_ms = s->submission_ms,
                .completion_ms = s->completion_ms,
                .failure = s->failure_reason,
        };
}

static void extra_listener_on_stage_submitted(struct listener *self, const struct stage_submitted *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_stage event = extra_listener_stage_event(&e->stage);
        if (user->on_stage_submitted)
                user->on_stage_submitted(user, &event);
}

static void extra_listener_on_stage_completed(struct listener *self, const struct stage_completed *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_stage event = extra_listener_stage_event(&e->stage);
        if (user->on_stage_completed)
                user->on_stage_completed(user, &event);
}

static void extra_listener_on_executor_added(struct listener *self, const struct executor_added *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_executor event = {
                .size = sizeof(event), .id = e->id, .host = e->host, .cores = e->total_cores, .time_ms = e->ms};
        if (user->on_executor_added)
                user->on_executor_added(user, &event);
}

static void extra_listener_on_executor_removed(struct listener *self, const struct executor_removed *e)
{
        struct fst_listener *user = extra_listener_user(self);
        struct fst_event_executor event = {.size = sizeof(event), .id = e->id, .time_ms = e->ms, .reason = e->reason};
        if (user->on_executor_removed)
                user->on_executor_removed(user, &event);
}

static struct fst_event_task extra_listener_task_event(const struct task_info *t)
{
        return (struct fst_event_task){
                .size = sizeof(struct fst_event_task),
                .id = t->id,
                .stage_id = t->stage_id,
                .stage_attempt = t->stage_attempt,
                .index = t->index,
                .attempt = t->attempt,
                .partition = t->partition,
                .speculative = t->speculative,
                .executor_id = t->executor->id,
                .host = t->executor->host,
                .launch_ms = t->launch_ms,
        };
}

static void extra_listener_on_task_starts(struct listener *self, const struct task_start *batch, size_t n)
{
        struct fst_listener *user = extra_listener_user(self);
        for (size_t i = 0; i < n && user->on_task_start; i++) {
                struct fst_event_task event = extra_listener_task_event(&batch[i].info);
                user->on_task_start(user, &event);
        }
}

static struct fst_event_task_metrics extra_listener_metrics_event(const struct task_metrics *m)
{
        return (struct fst_event_task_metrics){
                .size = sizeof(struct fst_event_task_metrics),
                .run_ms = m->executor_run_ms,
                .cpu_ns = m->executor_cpu_ns,
                .result_size = m->result_size,
                .peak_execution_memory = m->peak_execution_memory,
                .memory_spilled = m->memory_bytes_spilled,
                .disk_spilled = m->disk_bytes_spilled,
                .input_bytes = m->input_bytes,
                .input_records = m->input_records,
                .output_bytes = m->output_bytes,
                .output_records = m->output_records,
                .shuffle_read_bytes = m->shuffle_read.remote_bytes + m->shuffle_read.local_bytes,
                .shuffle_read_records = m->shuffle_read.records,
                .shuffle_fetch_wait_ms = m->shuffle_read.fetch_wait_ms,
                .shuffle_write_bytes = m->shuffle_write.bytes,
                .shuffle_write_records = m->shuffle_write.records,
        };
}

static void extra_listener_on_task_ends(struct listener *self, const struct task_end *batch, size_t n)
{
        struct fst_listener *user = extra_listener_user(self);
        for (size_t i = 0; i < n && user->on_task_end; i++) {
                const struct task_detail *detail = batch[i].detail;
                struct fst_event_task_metrics metrics = extra_listener_metrics_event(&batch[i].metrics);
                struct fst_event_task event = extra_listener_task_event(&batch[i].info);
                event.finish_ms = batch[i].finish_ms;
                event.result = task_end_reason_name((enum task_state)batch[i].state);
                event.metrics = &metrics;
                if (detail)
                        event.message = detail->description ? detail->description : detail->message;
                user->on_task_end(user, &event);
        }
}

static void extra_listener_on_stop(struct listener *self)
{
        struct extra_listener *x = container_of(self, struct extra_listener, listener);
        if (!x->stopped && x->user.on_stop)
                x->user.on_stop(&x->user);
        x->stopped = true;
}

/* --------------------------------------------------------------------------------------------------- loading */

static const char *extra_listener_setting(const struct fst_listener *user, const char *key)
{
        const struct extra_listener *x = container_of(user, struct extra_listener, user);
        return x->conf ? conf_get_value(x->conf, key) : NULL;
}

static const char *extra_listener_path(const char *name)
{
        static const char *const prefixes[] = {"local://", "file://", "file:"};
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (text_starts_with(name, prefixes[i]))
                        return name + strlen(prefixes[i]);
        return name;
}

static struct extra_listener *extra_listener_new(const char *name)
{
        struct extra_listener *x = new0(struct extra_listener);
        x->path = mem_strdup(extra_listener_path(name));
        x->listener = (struct listener){
                .name = x->path,
                .on_application_start = extra_listener_on_application_start,
                .on_application_end = extra_listener_on_application_end,
                .on_job_start = extra_listener_on_job_start,
                .on_job_end = extra_listener_on_job_end,
                .on_stage_submitted = extra_listener_on_stage_submitted,
                .on_stage_completed = extra_listener_on_stage_completed,
                .on_executor_added = extra_listener_on_executor_added,
                .on_executor_removed = extra_listener_on_executor_removed,
                .on_task_starts = extra_listener_on_task_starts,
                .on_task_ends = extra_listener_on_task_ends,
                .on_stop = extra_listener_on_stop,
        };
        x->user.size = sizeof(x->user);
        x->user.setting = extra_listener_setting;
        return x;
}

static void extra_listener_free(struct extra_listener *x)
{
        free(x->path);
        free(x);
}

/* The object stays loaded until the process ends, because it may have threads. */
static int extra_listener_start(struct extra_listener *x, const struct fst_conf *conf, struct fst_error *error)
{
        int (*start)(struct fst_listener * listener);
        void *handle = dlopen(x->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!handle)
                return error_set(error, -EINVAL,
                                 "spark.extraListeners: cannot load \"%s\": %s. Name shared objects "
                                 "(firesteel/listener.h): the driver has no JVM to load a class",
                                 x->path, dlerror());
        *(void **)&start = dlsym(handle, "fst_listener_start");
        dlclose(handle);
        if (!start)
                return error_set(error, -EINVAL,
                                 "spark.extraListeners: \"%s\" has no function fst_listener_start: define it as "
                                 "firesteel/listener.h says",
                                 x->path);
        x->conf = conf;
        int r = start(&x->user);
        x->conf = NULL;
        if (r)
                return error_set(error, -EINVAL, "spark.extraListeners: fst_listener_start of \"%s\" returned %d",
                                 x->path, r);
        return 0;
}

int extra_listeners_load(const struct fst_conf *conf, struct listener_bus *bus, struct extra_listeners **out,
                         struct fst_error *error)
{
        _cleanup_free_ char *names = NULL;
        int r = conf_get_string(conf, "spark.extraListeners", &names, error);
        *out = NULL;
        if (r || !names)
                return r;
        char *rest, *name = strtok_r(names, ", ", &rest);
        if (name)
                *out = new0(struct extra_listeners);
        for (; name; name = strtok_r(NULL, ", ", &rest)) {
                struct extra_listener *x = extra_listener_new(name);
                if ((r = extra_listener_start(x, conf, error))) {
                        extra_listener_free(x);
                        return r;
                }
                vec_push(&(*out)->list, x);
                listener_bus_add(bus, &x->listener);
                log_info("SparkContext", "Registered listener %s", x->path);
        }
        return 0;
}

void extra_listeners_free(struct extra_listeners *listeners)
{
        if (!listeners)
                return;
        for (size_t i = 0; i < listeners->list.len; i++) {
                extra_listener_on_stop(&listeners->list.data[i]->listener);
                extra_listener_free(listeners->list.data[i]);
        }
        vec_deinit(&listeners->list);
        free(listeners);
}
