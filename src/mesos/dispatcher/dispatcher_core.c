/*
 * The lists of drivers, their records, submissions and kills. See dispatcher_core.h; dispatcher_offers.c has offers and
 * updates.
 */
#include "mesos/dispatcher/dispatcher_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "text/id_format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define DEFAULT_QUEUE "default"

/* ------------------------------------------------------------------------------------------------- actions */

void dispatcher_begin(struct dispatcher *d)
{
        if (queue_is_empty(&d->actions))
                arena_reset(&d->arena);
}

void dispatcher_log(struct dispatcher *d, enum log_level level, const char *format, ...)
{
        va_list args;
        char *line = NULL;
        va_start(args, format);
        int n = vasprintf(&line, format, args);
        va_end(args);
        if (n < 0)
                return;
        queue_push(&d->actions, (struct dispatcher_action){.kind = DISPATCHER_LOG,
                                                           .log = {level, arena_copy(&d->arena, line, (size_t)n)}});
        free(line);
}

void dispatcher_push_driver(struct dispatcher *d, enum dispatcher_action_kind kind, const struct mesos_driver *driver)
{
        queue_push(&d->actions, (struct dispatcher_action){.kind = kind, .driver = driver});
}

static void dispatcher_push_id(struct dispatcher *d, enum dispatcher_action_kind kind, const char *id)
{
        queue_push(&d->actions, (struct dispatcher_action){.kind = kind, .id = arena_copy(&d->arena, id, strlen(id))});
}

void dispatcher_push_revive(struct dispatcher *d)
{
        queue_push(&d->actions, (struct dispatcher_action){.kind = DISPATCHER_REVIVE});
}

const struct dispatcher_action *dispatcher_next_action(struct dispatcher *d)
{
        return queue_pop(&d->actions, &d->action) ? &d->action : NULL;
}

/* ------------------------------------------------------------------------------------------------- drivers */

static bool mesos_driver_has_id(const void *driver, const void *id)
{
        return strcmp(((const struct mesos_driver *)driver)->id, id) == 0;
}

struct mesos_driver *dispatcher_find(const struct dispatcher *d, const char *id)
{
        return object_table_find(&d->by_id, object_hash_text(id), mesos_driver_has_id, id);
}

const struct mesos_driver *dispatcher_driver(const struct dispatcher *d, const char *id)
{
        return dispatcher_find(d, id);
}

static mesos_driver_list *dispatcher_list(struct dispatcher *d, enum mesos_driver_state state, size_t **count)
{
        switch (state) {
        case MESOS_DRIVER_QUEUED:
                *count = &d->n_queued;
                return &d->queued;
        case MESOS_DRIVER_LAUNCHED:
                *count = &d->n_launched;
                return &d->launched;
        case MESOS_DRIVER_RETRYING:
                *count = &d->n_retrying;
                return &d->retrying;
        default:
                *count = &d->n_finished;
                return &d->finished;
        }
}

/* Whether @a is launched before @b. */
static bool mesos_driver_precedes(const struct mesos_driver *a, const struct mesos_driver *b)
{
        return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
}

/* Adds @driver, which is in no list, to the list of @state. */
static void dispatcher_add(struct dispatcher *d, struct mesos_driver *driver, enum mesos_driver_state state)
{
        size_t *count;
        mesos_driver_list *list = dispatcher_list(d, state, &count);
        struct mesos_driver *at = list->last;
        while (state == MESOS_DRIVER_QUEUED && at && mesos_driver_precedes(driver, at))
                at = at->prev;
        list_insert_after(list, at, driver);
        ++*count;
        driver->state = state;
}

static void dispatcher_take(struct dispatcher *d, struct mesos_driver *driver)
{
        size_t *count;
        mesos_driver_list *list = dispatcher_list(d, driver->state, &count);
        list_remove(list, driver);
        --*count;
}

void dispatcher_move(struct dispatcher *d, struct mesos_driver *driver, enum mesos_driver_state state)
{
        dispatcher_take(d, driver);
        dispatcher_add(d, driver, state);
}

static void mesos_driver_free(struct mesos_driver *driver)
{
        mesos_constraints_deinit(&driver->constraints);
        free(driver->id);
        free(driver->name);
        free(driver->main_class);
        free(driver->queue);
        free(driver->body);
        free(driver->task_id);
        free(driver->agent);
        free(driver->hostname);
        free(driver->status);
        free(driver);
}

static void dispatcher_forget(struct dispatcher *d, struct mesos_driver *driver)
{
        dispatcher_take(d, driver);
        object_table_remove(&d->by_id, object_hash_text(driver->id), driver);
        mesos_driver_free(driver);
}

void dispatcher_finish(struct dispatcher *d, struct mesos_driver *driver, int64_t now)
{
        dispatcher_push_id(d, DISPATCHER_REMOVE, driver->id);
        const size_t retained = (size_t)MAX(d->config->retained_drivers, 1);
        if (d->n_finished >= retained)
                for (size_t n = MAX(retained / 10, (size_t)1); n > 0 && d->finished.first; n--)
                        dispatcher_forget(d, d->finished.first);
        driver->finished = dispatcher_wall(d, now);
        driver->reconciling = false;
        dispatcher_move(d, driver, MESOS_DRIVER_FINISHED);
}

/* "default" is 0 unless it is configured. An unknown queue, which only a record can have, is 0, too. */
static float dispatcher_priority(const struct dispatcher_config *config, const char *queue)
{
        for (size_t i = 0; i < config->n_queues; i++)
                if (strcmp(config->queues[i].name, queue) == 0)
                        return config->queues[i].priority;
        return 0;
}

bool dispatcher_has_queue(const struct dispatcher_config *config, const char *queue)
{
        for (size_t i = 0; i < config->n_queues; i++)
                if (strcmp(config->queues[i].name, queue) == 0)
                        return true;
        return strcmp(queue, DEFAULT_QUEUE) == 0;
}

static void *dispatcher_copy(const void *data, size_t size)
{
        return data && size ? memcpy(mem_alloc(size), data, size) : NULL;
}

/* Takes spec->constraints. The driver is in no list yet. */
static struct mesos_driver *dispatcher_new_driver(struct dispatcher *d, const char *id, struct mesos_driver_spec *spec)
{
        struct mesos_driver *driver = new0(struct mesos_driver);
        driver->id = mem_strdup(id);
        driver->name = mem_strdup(spec->name ? spec->name : "");
        driver->main_class = mem_strdup(spec->main_class ? spec->main_class : "");
        driver->queue = mem_strdup(spec->queue ? spec->queue : DEFAULT_QUEUE);
        driver->cpus_milli = spec->cpus_milli;
        driver->memory = spec->memory;
        driver->supervise = spec->supervise;
        driver->constraints = spec->constraints;
        spec->constraints = (struct mesos_constraints){0};
        driver->body = dispatcher_copy(spec->body, spec->body_size);
        driver->body_size = driver->body ? spec->body_size : 0;
        driver->priority = dispatcher_priority(d->config, driver->queue);
        driver->sequence = d->next_sequence++;
        object_table_put(&d->by_id, object_hash_text(driver->id), driver);
        return driver;
}

char *mesos_driver_next_task_id(const struct mesos_driver *driver)
{
        return driver->retries ? mem_printf("%s-retry-%d", driver->id, driver->retries) : mem_strdup(driver->id);
}

const char *mesos_driver_state_name(enum mesos_driver_state state)
{
        static const char *const names[] = {[MESOS_DRIVER_QUEUED] = "QUEUED",
                                            [MESOS_DRIVER_LAUNCHED] = "RUNNING",
                                            [MESOS_DRIVER_RETRYING] = "RETRYING",
                                            [MESOS_DRIVER_FINISHED] = "FINISHED"};
        return names[state];
}

/* ------------------------------------------------------------------------------------------------- lifetime */

void dispatcher_init(struct dispatcher *d, const struct dispatcher_config *config)
{
        *d = (struct dispatcher){
                .config = config, .arena = ARENA_INIT, .wall_offset = config->wall_offset, .next_number = 1};
}

void dispatcher_deinit(struct dispatcher *d)
{
        mesos_driver_list *lists[] = {&d->queued, &d->launched, &d->retrying, &d->finished};
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (struct mesos_driver *driver; (driver = list_pop(lists[i]));)
                        mesos_driver_free(driver);
        object_table_deinit(&d->by_id);
        queue_deinit(&d->actions);
        arena_deinit(&d->arena);
        free(d->framework_id);
        *d = (struct dispatcher){0};
}

int64_t dispatcher_wall(const struct dispatcher *d, int64_t now)
{
        return (now + d->wall_offset) / NS_PER_MS;
}

void dispatcher_set_wall_offset(struct dispatcher *d, int64_t wall_offset)
{
        d->wall_offset = wall_offset;
}

int64_t dispatcher_deadline(const struct dispatcher *d)
{
        int64_t deadline = INT64_MAX;
        for (const struct mesos_driver *r = d->retrying.first; r; r = r->next)
                if (!r->retry_announced && r->next_retry < deadline)
                        deadline = r->next_retry;
        return deadline;
}

void dispatcher_tick(struct dispatcher *d, int64_t now)
{
        bool due = false;
        dispatcher_begin(d);
        for (struct mesos_driver *r = d->retrying.first; r; r = r->next) {
                const bool announce = !r->retry_announced && r->next_retry <= now;
                r->retry_announced |= announce;
                due |= announce;
        }
        if (due)
                dispatcher_push_revive(d);
}

/* ------------------------------------------------------------------------------------------------- recovery */

void dispatcher_recover_framework(struct dispatcher *d, const char *framework_id)
{
        free(d->framework_id);
        d->framework_id = mem_strdup(framework_id);
}

void dispatcher_recover(struct dispatcher *d, const struct mesos_driver_record *record, int64_t now)
{
        struct mesos_driver_spec spec = record->spec;
        if (dispatcher_find(d, record->id)) {
                mesos_constraints_deinit(&spec.constraints);
                return;
        }
        struct mesos_driver *driver = dispatcher_new_driver(d, record->id, &spec);
        driver->submitted = record->submitted;
        driver->started = record->started;
        driver->task_id = mem_strdup_if(record->task_id);
        driver->agent = mem_strdup_if(record->agent);
        driver->hostname = mem_strdup_if(record->hostname);
        driver->retries = record->retries;
        driver->retry_wait = MIN(record->retry_wait, d->config->max_retry_wait);
        driver->killed = record->killed;
        driver->status = dispatcher_copy(record->status, record->status_size);
        driver->status_size = driver->status ? record->status_size : 0;
        driver->has_status = driver->status != NULL;
        driver->task_state = record->task_state;
        if (record->state == MESOS_DRIVER_RETRYING) {
                const int64_t left = ms_to_ns(record->next_retry_ms - dispatcher_wall(d, now));
                driver->next_retry = now + MIN(MAX(left, (int64_t)0), d->config->max_retry_wait);
        }
        driver->reconciling = record->state == MESOS_DRIVER_LAUNCHED;
        dispatcher_add(d, driver, record->state);
}

void mesos_driver_to_record(const struct dispatcher *d, const struct mesos_driver *driver,
                            struct mesos_driver_record *record)
{
        *record = (struct mesos_driver_record){
                .id = driver->id,
                .spec = {.name = driver->name,
                         .main_class = driver->main_class,
                         .queue = driver->queue,
                         .cpus_milli = driver->cpus_milli,
                         .memory = driver->memory,
                         .supervise = driver->supervise,
                         .body = driver->body,
                         .body_size = driver->body_size},
                .state = driver->state,
                .submitted = driver->submitted,
                .started = driver->started,
                .next_retry_ms = driver->state == MESOS_DRIVER_RETRYING ? dispatcher_wall(d, driver->next_retry) : 0,
                .task_id = driver->task_id,
                .agent = driver->agent,
                .hostname = driver->hostname,
                .retries = driver->retries,
                .retry_wait = driver->retry_wait,
                .killed = driver->killed,
                .status = driver->status,
                .status_size = driver->status_size,
                .task_state = driver->task_state,
        };
}

/* ------------------------------------------------------------------------------------------------- subscription */

static void dispatcher_reconcile(struct dispatcher *d)
{
        const struct mesos_driver **drivers = arena_alloc(&d->arena, d->n_launched * sizeof(*drivers) + 1);
        size_t n = 0;
        for (const struct mesos_driver *driver = d->launched.first; driver; driver = driver->next)
                if (driver->reconciling)
                        drivers[n++] = driver;
        if (n > 0)
                queue_push(&d->actions,
                           (struct dispatcher_action){.kind = DISPATCHER_RECONCILE, .reconcile = {drivers, n}});
}

void dispatcher_subscribed(struct dispatcher *d, const char *framework_id, int64_t now)
{
        dispatcher_begin(d);
        if (!d->framework_id || strcmp(d->framework_id, framework_id) != 0) {
                free(d->framework_id);
                d->framework_id = mem_strdup(framework_id);
                dispatcher_push_id(d, DISPATCHER_STORE_FRAMEWORK, framework_id);
        }
        d->ready = true;
        dispatcher_reconcile(d);
        for (const struct mesos_driver *driver = d->launched.first; driver; driver = driver->next)
                if (driver->killed)
                        dispatcher_push_driver(d, DISPATCHER_KILL, driver);
        if (d->n_queued > 0 || d->n_retrying > 0)
                dispatcher_push_revive(d);
}

void dispatcher_ask_states(struct dispatcher *d)
{
        dispatcher_begin(d);
        for (struct mesos_driver *driver = d->launched.first; driver; driver = driver->next)
                driver->reconciling = true;
        dispatcher_reconcile(d);
}

void dispatcher_framework_removed(struct dispatcher *d, int64_t now)
{
        dispatcher_begin(d);
        dispatcher_log(d, LOG_WARN, "Mesos has removed the framework %s with its tasks: %zu launched drivers are lost",
                       d->framework_id ? d->framework_id : "", d->n_launched);
        free(d->framework_id);
        d->framework_id = NULL;
        for (struct mesos_driver *driver = d->launched.first, *next; driver; driver = next) {
                next = driver->next;
                dispatcher_task_ended(d, driver, MESOS_TASK_LOST, now);
        }
}

/* ------------------------------------------------------------------------------------------------- requests */

/* "driver-20261129031500-0001". Other drivers of that name come from an earlier dispatcher in the same second. */
static char *dispatcher_next_id(struct dispatcher *d, int64_t wall)
{
        char date[15];
        id_pattern_date(wall, date);
        for (;;) {
                char *id = mem_printf("driver-%s-%04" PRId64, date, d->next_number++);
                if (!dispatcher_find(d, id))
                        return id;
                free(id);
        }
}

static struct dispatcher_reply dispatcher_refuse(const char *message)
{
        return (struct dispatcher_reply){.message = message};
}

struct dispatcher_reply dispatcher_submit(struct dispatcher *d, struct mesos_driver_spec *spec, int64_t now)
{
        dispatcher_begin(d);
        if (!d->ready || d->n_launched >= (size_t)MAX(d->config->max_drivers, 0)) {
                mesos_constraints_deinit(&spec->constraints);
                return dispatcher_refuse(d->ready ? "Already reached maximum submission size"
                                                  : "Scheduler is not ready to take requests");
        }
        _cleanup_free_ char *id = dispatcher_next_id(d, dispatcher_wall(d, now));
        struct mesos_driver *driver = dispatcher_new_driver(d, id, spec);
        driver->submitted = dispatcher_wall(d, now);
        dispatcher_add(d, driver, MESOS_DRIVER_QUEUED);
        dispatcher_push_driver(d, DISPATCHER_STORE, driver);
        dispatcher_push_revive(d);
        return (struct dispatcher_reply){.success = true, .driver_id = driver->id};
}

struct dispatcher_reply dispatcher_kill(struct dispatcher *d, const char *id, int64_t now)
{
        static const char *const messages[] = {
                [MESOS_DRIVER_QUEUED] = "Removed driver while it's still pending",
                [MESOS_DRIVER_LAUNCHED] = "Killing running driver",
                [MESOS_DRIVER_RETRYING] = "Removed driver while it's being retried",
                [MESOS_DRIVER_FINISHED] = "Driver already terminated",
        };
        dispatcher_begin(d);
        if (!d->ready)
                return dispatcher_refuse("Scheduler is not ready to take requests");
        struct mesos_driver *driver = dispatcher_find(d, id);
        if (!driver)
                return dispatcher_refuse("Cannot find driver");
        struct dispatcher_reply reply = {.success = driver->state != MESOS_DRIVER_FINISHED,
                                         .message = messages[driver->state]};
        if (driver->state == MESOS_DRIVER_LAUNCHED) {
                driver->killed = true;
                dispatcher_push_driver(d, DISPATCHER_STORE, driver);
                dispatcher_push_driver(d, DISPATCHER_KILL, driver);
        } else if (driver->state != MESOS_DRIVER_FINISHED) {
                dispatcher_push_id(d, DISPATCHER_REMOVE, driver->id);
                dispatcher_forget(d, driver);
        }
        return reply;
}
