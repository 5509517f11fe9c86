/* The master as a whole: construction, names, ids, deadlines. Other files hold one noun each: master_workers.c,
 * master_apps.c, master_drivers.c, master_recovery.c. Only master_scheduling.c places executors and drivers.
 */
#include "base/buf.h"
#include "base/error.h"
#include "text/id_format.h"
#include "standalone/core/master_state.h"

#include <stdarg.h>
#include <stdio.h>

const char *master_status_name(enum master_status status)
{
        static const char *const names[] = {
                [MASTER_STANDBY] = "STANDBY",
                [MASTER_ALIVE] = "ALIVE",
                [MASTER_RECOVERING] = "RECOVERING",
                [MASTER_COMPLETING_RECOVERY] = "COMPLETING_RECOVERY",
        };
        return names[status];
}

const char *worker_state_name(enum worker_state state)
{
        static const char *const names[] = {
                [WORKER_ALIVE] = "ALIVE",
                [WORKER_DEAD] = "DEAD",
                [WORKER_DECOMMISSIONED] = "DECOMMISSIONED",
                [WORKER_UNKNOWN] = "UNKNOWN",
        };
        return names[state];
}

const char *app_state_name(enum app_state state)
{
        static const char *const names[] = {
                [APP_WAITING] = "WAITING",
                [APP_RUNNING] = "RUNNING",
                [APP_FINISHED] = "FINISHED",
                [APP_FAILED] = "FAILED",
                [APP_KILLED] = "KILLED",
                [APP_UNKNOWN] = "UNKNOWN",
                [APP_WAITING_FOR_DRIVER] = "WAITING_FOR_DRIVER",
        };
        return names[state];
}

const char *executor_state_name(enum executor_state state)
{
        static const char *const names[] = {
                [EXECUTOR_LAUNCHING] = "LAUNCHING",
                [EXECUTOR_RUNNING] = "RUNNING",
                [EXECUTOR_KILLED] = "KILLED",
                [EXECUTOR_FAILED] = "FAILED",
                [EXECUTOR_LOST] = "LOST",
                [EXECUTOR_EXITED] = "EXITED",
                [EXECUTOR_DECOMMISSIONED] = "DECOMMISSIONED",
        };
        return names[state];
}

const char *driver_state_name(enum driver_state state)
{
        static const char *const names[] = {
                [DRIVER_SUBMITTED] = "SUBMITTED",     [DRIVER_RUNNING] = "RUNNING", [DRIVER_FINISHED] = "FINISHED",
                [DRIVER_RELAUNCHING] = "RELAUNCHING", [DRIVER_UNKNOWN] = "UNKNOWN", [DRIVER_KILLED] = "KILLED",
                [DRIVER_FAILED] = "FAILED",           [DRIVER_ERROR] = "ERROR",
        };
        return names[state];
}

bool executor_state_named(const char *name, enum executor_state *state)
{
        for (int s = EXECUTOR_LAUNCHING; s <= EXECUTOR_DECOMMISSIONED; s++)
                if (strcmp(executor_state_name((enum executor_state)s), name) == 0) {
                        *state = (enum executor_state)s;
                        return true;
                }
        return false;
}

bool driver_state_named(const char *name, enum driver_state *state)
{
        for (int s = DRIVER_SUBMITTED; s <= DRIVER_ERROR; s++)
                if (strcmp(driver_state_name((enum driver_state)s), name) == 0) {
                        *state = (enum driver_state)s;
                        return true;
                }
        return false;
}

bool executor_state_is_finished(enum executor_state state)
{
        return state == EXECUTOR_KILLED || state == EXECUTOR_FAILED || state == EXECUTOR_LOST ||
               state == EXECUTOR_EXITED;
}

static int check_pattern(const char *key, const char *pattern, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf id = BUF_INIT;
        struct id_argument args[] = {{.text = "20231101000000"}, {.number = 0}};
        int r = id_pattern_format(&id, pattern, args, 2, error);

        if (r < 0)
                return error_wrap(error, r, "'%s' in %s is invalid", pattern, key);
        return 0;
}

int master_config_check(const struct master_config *config, struct fst_error *error)
{
        if (config->default_cores < 1)
                return error_set(error, -EINVAL,
                                 "'%d' in spark.deploy.defaultCores is invalid. "
                                 "spark.deploy.defaultCores must be positive.",
                                 config->default_cores);
        if (config->max_drivers < 1)
                return error_set(error, -EINVAL,
                                 "'%d' in spark.deploy.maxDrivers is invalid. "
                                 "The maximum number of running drivers should be positive.",
                                 config->max_drivers);
        if (config->app_number_modulo != 0 && config->app_number_modulo < 1000)
                return error_set(error, -EINVAL,
                                 "'%d' in spark.deploy.appNumberModulo is invalid. "
                                 "The modulo for app number should be greater than or equal to 1000.",
                                 config->app_number_modulo);
        if (config->worker_timeout < 1)
                return error_set(error, -EINVAL, "spark.worker.timeout must be positive");
        int r = check_pattern("spark.deploy.appIdPattern", config->app_id_pattern, error);
        return r < 0 ? r : check_pattern("spark.deploy.driverIdPattern", config->driver_id_pattern, error);
}

struct master *master_new(const struct master_config *config)
{
        struct master *m = new0(struct master);

        m->config = *config;
        m->config.app_id_pattern = m->app_id_pattern = mem_strdup(config->app_id_pattern);
        m->config.driver_id_pattern = m->driver_id_pattern = mem_strdup(config->driver_id_pattern);
        if (m->config.recovery_timeout <= 0)
                m->config.recovery_timeout = config->worker_timeout;
        m->random = config->seed;
        return m;
}

void master_free(struct master *m)
{
        if (!m)
                return;
        while (master_next_action(m))
                ;
        queue_deinit(&m->actions);
        vec_deinit(&m->buried);
        master_clear_completed(m);
        for (struct master_app *app = m->apps.first, *next; app; app = next) {
                next = app->next;
                master_app_free(app);
        }
        for (struct master_driver *d = m->drivers.first, *next; d; d = next) {
                next = d->next;
                master_driver_free(d);
        }
        for (struct master_worker *w = m->workers.first, *next; w; w = next) {
                next = w->next;
                master_worker_free(w);
        }
        for (struct master_worker *w = m->dead.first, *next; w; w = next) {
                next = w->next;
                master_worker_free(w);
        }
        vec_deinit(&m->alive);
        vec_deinit(&m->completed_apps);
        vec_deinit(&m->completed_drivers);
        object_table_deinit(&m->workers_by_id);
        object_table_deinit(&m->workers_by_address);
        object_table_deinit(&m->dead_by_id);
        object_table_deinit(&m->dead_by_address);
        object_table_deinit(&m->apps_by_id);
        object_table_deinit(&m->apps_by_address);
        object_table_deinit(&m->drivers_by_id);
        object_table_deinit(&m->executors);
        free(m->app_id_pattern);
        free(m->driver_id_pattern);
        free(m);
}

/* ------------------------------------------------------------------------------------------------ actions */

void master_emit(struct master *m, struct master_action action)
{
        queue_push(&m->actions, action);
}

void master_store(struct master *m, enum master_record record, const char *id, const void *object)
{
        master_emit(m, (struct master_action){MASTER_STORE, .record = record, .id = id, .object = object});
}

void master_remove_record(struct master *m, enum master_record record, const char *id)
{
        master_emit(m, (struct master_action){MASTER_REMOVE, .record = record, .id = id});
}

void master_bury(struct master *m, void *object, void (*free_object)(void *object))
{
        if (queue_is_empty(&m->actions) && !m->has_current)
                free_object(object);
        else
                vec_push(&m->buried, (struct buried){object, free_object});
}

static void master_action_done(struct master_action *action)
{
        if (action->kind == MASTER_APP_FINISHED)
                free(steal(action->app->had_by)); /* only live applications use it */
        free(action->text);
}

const struct master_action *master_next_action(struct master *m)
{
        if (m->has_current)
                master_action_done(&m->current);
        m->has_current = queue_pop(&m->actions, &m->current);
        if (m->has_current)
                return &m->current;
        for (size_t i = 0; i < m->buried.len; i++)
                m->buried.data[i].free(m->buried.data[i].object);
        m->buried.len = 0;
        return NULL;
}

void master_set_wall_offset(struct master *m, int64_t offset)
{
        m->config.wall_offset = offset;
}

void master_log(struct master *m, enum log_level level, const char *format, ...)
{
        if (level > m->config.log_level)
                return;
        char line[1024]; /* longer lines are truncated, because application names may be long */
        va_list args;

        va_start(args, format);
        vsnprintf(line, sizeof(line), format, args);
        va_end(args);
        master_emit(m, (struct master_action){MASTER_LOG_LINE, .level = level, .text = mem_strdup(line)});
}

int64_t master_wall(const struct master *m, int64_t now)
{
        return (now + m->config.wall_offset) / NS_PER_MS;
}

void master_begin(struct master *m, int64_t now)
{
        m->now = now;
        m->event++;
}

char *master_new_id(struct master *m, const char *pattern, int *number, int modulo, master_id_taken *taken)
{
        char date[15];
        _cleanup_(buf_deinit) struct buf id = BUF_INIT;

        id_pattern_date(master_wall(m, m->now), date);
        size_t tries = m->apps_by_id.count + m->drivers_by_id.count; /* a pattern may contain no number */
        do {
                struct id_argument args[] = {{.text = date}, {.number = *number}};

                buf_reset(&id);
                id_pattern_format(&id, pattern, args, 2, NULL);
                *number = *number == INT32_MAX ? 0 : *number + 1;
                if (modulo > 0)
                        *number %= modulo;
        } while (taken(m, buf_text(&id)) && tries-- > 0);
        return buf_steal(&id);
}

struct owned_needs needs_copy(const struct resource_need *needs, int n)
{
        struct owned_needs copy = {.n = n};

        if (n > 0)
                copy.data = new_array(struct resource_need, (size_t)n);
        for (int i = 0; i < n; i++)
                copy.data[i] = (struct resource_need){mem_strdup(needs[i].name), needs[i].amount};
        return copy;
}

void needs_deinit(struct owned_needs *needs)
{
        for (int i = 0; i < needs->n; i++)
                free((char *)needs->data[i].name);
        free(needs->data);
        *needs = (struct owned_needs){0};
}

void *body_copy(const struct master_body *body)
{
        if (body->size == 0)
                return NULL;
        return memcpy(mem_alloc(body->size), body->data, body->size);
}

void master_reply_deinit(struct master_reply *reply)
{
        free(reply->driver_id);
        free(reply->message);
        *reply = (struct master_reply){0};
}

void master_clear_completed(struct master *m)
{
        for (size_t i = 0; i < m->completed_apps.len; i++)
                master_bury(m, m->completed_apps.data[i], master_app_free);
        for (size_t i = 0; i < m->completed_drivers.len; i++)
                master_bury(m, m->completed_drivers.data[i], master_driver_free);
        m->completed_apps.len = m->completed_drivers.len = 0;
}

void master_revoked(struct master *m, int64_t now)
{
        master_begin(m, now);
        m->status = MASTER_STANDBY;
        master_log(m, LOG_ERROR, "Leadership has been revoked -- master shutting down.");
        master_emit(m, (struct master_action){MASTER_LEADERSHIP_LOST});
}

int64_t master_dead_until(const struct master *m, const struct master_worker *w)
{
        int64_t until;

        if (__builtin_mul_overflow((int64_t)m->config.reaper_iterations + 1, m->config.worker_timeout, &until) ||
            __builtin_add_overflow(until, w->last_heartbeat + 1, &until))
                return INT64_MAX;
        return until;
}

int64_t master_deadline(const struct master *m)
{
        int64_t deadline = INT64_MAX;

        if (m->status == MASTER_STANDBY)
                return deadline;
        if (m->workers.first)
                deadline = m->workers.first->last_heartbeat + m->config.worker_timeout + 1;
        if (m->dead.first)
                deadline = MIN(deadline, master_dead_until(m, m->dead.first));
        if (m->status == MASTER_RECOVERING)
                deadline = MIN(deadline, m->recovery_ends);
        for (const struct master_app *app = m->n_lost_apps ? m->apps.first : NULL; app; app = app->next)
                if (app->lost)
                        deadline = MIN(deadline, app->lost);
        return deadline;
}
