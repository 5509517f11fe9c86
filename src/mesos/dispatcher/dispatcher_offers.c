/* Which driver takes which offer, and what becomes of its task. See dispatcher_core.h. */
#include "mesos/dispatcher/dispatcher_internal.h"

#include "base/clock.h"
#include "base/mem.h"

#define FIRST_RETRY_WAIT NS_PER_SECOND

/* An offer of the event, and the drivers that it got. */
struct dispatcher_offer {
        const struct mesos_offer *offer;
        struct mesos_resources rest;
        int64_t cpus, mem; /* thousandths that are left */
        struct dispatcher_launch *launches;
        size_t n_launches, room;
};

/* The least needs for which no offer sufficed: drivers that need as much are skipped. */
struct dispatcher_misfit {
        int64_t cpus, mem;
};

static bool dispatcher_offer_fits(const struct dispatcher_offer *o, const struct mesos_driver *driver, int64_t mem)
{
        return o->cpus >= driver->cpus_milli && o->mem >= mem &&
               mesos_constraints_match(&driver->constraints, o->offer->attributes, o->offer->n_attributes);
}

static void dispatcher_offer_add(struct dispatcher *d, struct dispatcher_offer *o, const struct mesos_driver *driver,
                                 int64_t mem)
{
        struct mesos_resources used;
        mesos_resources_init(&used, &d->arena, NULL, 0);
        o->cpus -= mesos_resources_take(&o->rest, "cpus", driver->cpus_milli, &used);
        o->mem -= mesos_resources_take(&o->rest, "mem", mem, &used);
        if (o->n_launches == o->room) {
                const size_t room = o->room ? 2 * o->room : 1;
                struct dispatcher_launch *more = arena_alloc(&d->arena, room * sizeof(*more));
                if (o->n_launches)
                        memcpy(more, o->launches, o->n_launches * sizeof(*more));
                o->launches = more;
                o->room = room;
        }
        o->launches[o->n_launches++] = (struct dispatcher_launch){driver, used.data, used.len};
}

static void dispatcher_launch(struct dispatcher *d, struct mesos_driver *driver, const struct mesos_offer *offer,
                              int64_t now)
{
        free(driver->task_id);
        free(driver->agent);
        free(driver->hostname);
        driver->task_id = mesos_driver_next_task_id(driver);
        driver->agent = mem_strdup(offer->agent);
        driver->hostname = mem_strdup(offer->hostname);
        driver->started = dispatcher_wall(d, now);
        driver->reconciling = false;
        dispatcher_move(d, driver, MESOS_DRIVER_LAUNCHED);
        dispatcher_push_driver(d, DISPATCHER_STORE, driver);
        dispatcher_log(d, LOG_INFO, "Launching driver %s as task %s on agent %s (%s)", driver->id, driver->task_id,
                       driver->agent, driver->hostname);
}

/* Gives @driver the first offer that fits. */
static void dispatcher_place(struct dispatcher *d, struct mesos_driver *driver, struct dispatcher_offer *offers,
                             size_t n, struct dispatcher_misfit *misfit, int64_t now)
{
        const int64_t mem = mesos_milli((double)driver->memory);
        if (driver->cpus_milli >= misfit->cpus && mem >= misfit->mem)
                return;
        for (size_t i = 0; i < n; i++)
                if (dispatcher_offer_fits(&offers[i], driver, mem)) {
                        dispatcher_offer_add(d, &offers[i], driver, mem);
                        return dispatcher_launch(d, driver, offers[i].offer, now);
                }
        if (driver->constraints.len == 0)
                *misfit = (struct dispatcher_misfit){driver->cpus_milli, mem};
}

static void dispatcher_answer_offers(struct dispatcher *d, const struct dispatcher_offer *offers, size_t n)
{
        const struct mesos_offer **unused = arena_alloc(&d->arena, n * sizeof(*unused));
        size_t n_unused = 0;
        for (size_t i = 0; i < n; i++) {
                if (offers[i].n_launches == 0) {
                        unused[n_unused++] = offers[i].offer;
                        continue;
                }
                queue_push(&d->actions, (struct dispatcher_action){
                                                .kind = DISPATCHER_ACCEPT,
                                                .accept = {offers[i].offer, offers[i].launches, offers[i].n_launches}});
        }
        if (n_unused > 0)
                queue_push(&d->actions,
                           (struct dispatcher_action){.kind = DISPATCHER_DECLINE,
                                                      .decline = {unused, n_unused, d->config->refuse_ms}});
}

void dispatcher_received(struct dispatcher *d, const struct mesos_offer *offers, size_t n, int64_t now)
{
        struct dispatcher_misfit misfit = {INT64_MAX, INT64_MAX};
        dispatcher_begin(d);
        if (n == 0)
                return;
        struct dispatcher_offer *open = arena_alloc(&d->arena, n * sizeof(*open));
        for (size_t i = 0; i < n; i++) {
                const struct mesos_offer *o = &offers[i];
                open[i] = (struct dispatcher_offer){.offer = o,
                                                    .cpus = mesos_resources_sum(o->resources, o->n_resources, "cpus"),
                                                    .mem = mesos_resources_sum(o->resources, o->n_resources, "mem")};
                mesos_resources_init(&open[i].rest, &d->arena, o->resources, o->n_resources);
        }
        for (struct mesos_driver *driver = d->retrying.first, *next; driver; driver = next) {
                next = driver->next;
                if (driver->next_retry <= now)
                        dispatcher_place(d, driver, open, n, &misfit, now);
        }
        for (struct mesos_driver *driver = d->queued.first, *next; driver; driver = next) {
                next = driver->next;
                dispatcher_place(d, driver, open, n, &misfit, now);
        }
        dispatcher_answer_offers(d, open, n);
}

/* ------------------------------------------------------------------------------------------------- updates */

/* Waits 1 s, then twice as long each time. */
static void dispatcher_retry(struct dispatcher *d, struct mesos_driver *driver, int64_t now)
{
        driver->retries++;
        driver->retry_wait = driver->retry_wait ? driver->retry_wait * 2 : FIRST_RETRY_WAIT;
        driver->retry_wait = MIN(driver->retry_wait, d->config->max_retry_wait);
        driver->next_retry = now + driver->retry_wait;
        driver->retry_announced = false;
        dispatcher_move(d, driver, MESOS_DRIVER_RETRYING);
        dispatcher_push_driver(d, DISPATCHER_STORE, driver);
        dispatcher_push_revive(d);
        dispatcher_log(d, LOG_INFO, "Driver %s is launched again in %lld s, attempt %d", driver->id,
                       (long long)(driver->retry_wait / NS_PER_SECOND), driver->retries);
}

void dispatcher_task_ended(struct dispatcher *d, struct mesos_driver *driver, mesos_task_state state, int64_t now)
{
        driver->reconciling = false;
        if (driver->supervise && !driver->killed && (state == MESOS_TASK_FAILED || state == MESOS_TASK_LOST))
                dispatcher_retry(d, driver, now);
        else
                dispatcher_finish(d, driver, now);
}

static void mesos_driver_set_status(struct mesos_driver *driver, const struct dispatcher_update *update)
{
        free(driver->status);
        driver->status = NULL;
        driver->status_size = update->status_size;
        if (update->status_size)
                driver->status = memcpy(mem_alloc(update->status_size), update->status, update->status_size);
        driver->has_status = true;
        driver->task_state = update->state;
}

/* The driver of "<id>" and "<id>-retry-<n>". */
static struct mesos_driver *dispatcher_find_task(struct dispatcher *d, const char *task_id)
{
        const char *retry = strstr(task_id, "-retry-");
        _cleanup_free_ char *id = retry ? mem_strndup(task_id, (size_t)(retry - task_id)) : NULL;
        return dispatcher_find(d, id ? id : task_id);
}

void dispatcher_updated(struct dispatcher *d, const struct dispatcher_update *update, int64_t now)
{
        dispatcher_begin(d);
        struct mesos_driver *driver = dispatcher_find_task(d, update->task_id);
        if (!driver || driver->state != MESOS_DRIVER_LAUNCHED) {
                dispatcher_log(d, LOG_DEBUG, "Ignored the state %s of task %s, which is not launched",
                               mesos_state_name(update->state), update->task_id);
                return;
        }
        if (strcmp(update->task_id, driver->task_id) != 0 || (update->reconciliation && !driver->reconciling))
                return;
        const enum task_outcome outcome = task_outcome_of(update->state);
        driver->reconciling = false;
        if (update->invalid_offer && task_outcome_is_failure(outcome)) {
                dispatcher_log(d, LOG_INFO, "Driver %s is queued again: its offer was no longer valid", driver->id);
                if (driver->killed)
                        return dispatcher_finish(d, driver, now);
                driver->next_retry = now;
                driver->retry_announced = true;
                dispatcher_move(d, driver, driver->retries ? MESOS_DRIVER_RETRYING : MESOS_DRIVER_QUEUED);
                dispatcher_push_driver(d, DISPATCHER_STORE, driver);
                return dispatcher_push_revive(d);
        }
        mesos_driver_set_status(driver, update);
        if (!task_outcome_is_final(outcome))
                return;
        if (task_outcome_is_failure(outcome))
                dispatcher_log(d, LOG_WARN, "Driver %s has failed on %s: %s. See stderr in the sandbox of task %s",
                               driver->id, driver->hostname ? driver->hostname : "an agent",
                               mesos_state_name(update->state), driver->task_id);
        else
                dispatcher_log(d, LOG_INFO, "Task %s of driver %s has ended: %s", driver->task_id, driver->id,
                               mesos_state_name(update->state));
        dispatcher_task_ended(d, driver, update->state, now);
}
