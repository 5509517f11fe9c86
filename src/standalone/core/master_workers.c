/* Workers: registration, heartbeats, reports, decommissioning, loss, free capacity.
 *
 * Live workers are kept in the order of their last heartbeat, so that a check for late ones is free while none is
 * late. Dead workers are kept apart until master_tick forgets them: the pages show them, and the master asks them to
 * register again.
 */
#include "standalone/core/master_state.h"

#include <strings.h>

static bool has_id(const void *worker, const void *id)
{
        return strcmp(((const struct master_worker *)worker)->id, id) == 0;
}

static bool has_address(const void *worker, const void *address)
{
        return strcmp(((const struct master_worker *)worker)->address, address) == 0;
}

struct master_worker *master_worker(const struct master *m, const char *id)
{
        return object_table_find(&m->workers_by_id, object_hash_text(id), has_id, id);
}

/* ------------------------------------------------------------------------------------------------ free capacity */

int worker_cores_free(const struct master_worker *w)
{
        return w->cores - w->cores_used;
}

int64_t worker_memory_free(const struct master_worker *w)
{
        return w->memory - w->memory_used;
}

static int resource_at(const struct master_worker *w, const char *name)
{
        for (int i = 0; i < w->n_resources; i++)
                if (strcmp(w->resources[i].name, name) == 0)
                        return i;
        return -1;
}

bool worker_has_beside(const struct master_worker *w, int times, int64_t memory, const struct owned_needs *needs)
{
        if (worker_memory_free(w) - times * memory < memory)
                return false;
        for (int i = 0; i < needs->n; i++) {
                int at = needs->data[i].amount > 0 ? resource_at(w, needs->data[i].name) : -1;

                if (needs->data[i].amount > 0 && (at < 0 || w->resources[at].free / needs->data[i].amount <= times))
                        return false;
        }
        return true;
}

bool worker_has(const struct master_worker *w, int cores, int64_t memory, const struct owned_needs *needs)
{
        return worker_cores_free(w) >= cores && worker_has_beside(w, 0, memory, needs);
}

static int64_t index_number(const struct master *m, const struct master_worker *w)
{
        switch (m->config.selection) {
        case CORES_FREE_DESC:
        case CORES_FREE_ASC:
                return worker_cores_free(w);
        case MEMORY_FREE_DESC:
        case MEMORY_FREE_ASC:
                return worker_memory_free(w);
        case WORKER_BY_ID:
                break;
        }
        return 0;
}

static void leave_gained(struct master *m, struct master_worker *w)
{
        if (!w->gained)
                return;
        *(w->gained_prev ? &w->gained_prev->gained_next : &m->gained) = w->gained_next;
        *(w->gained_next ? &w->gained_next->gained_prev : &m->last_gained) = w->gained_prev;
        w->gained_prev = w->gained_next = NULL;
        w->gained = 0;
}

/* Capacity became free on the worker. */
static void has_gained(struct master *m, struct master_worker *w)
{
        if (w->state != WORKER_ALIVE)
                return;
        leave_gained(m, w);
        w->gained = ++m->supply;
        w->gained_prev = m->last_gained;
        *(m->last_gained ? &m->last_gained->gained_next : &m->gained) = w;
        m->last_gained = w;
        m->dirty = true;
}

static void worker_account_use(struct master *m, struct master_worker *w, int cores, int64_t memory)
{
        w->cores_used += cores;
        w->memory_used += memory;
        worker_index_move(&m->index, &w->node, index_number(m, w));
}

void worker_take(struct master *m, struct master_worker *w, int cores, int64_t memory, const struct owned_needs *needs,
                 struct resource_hold **holds, int *n_holds)
{
        if (needs->n > 0)
                *holds = new_array(struct resource_hold, (size_t)needs->n);
        *n_holds = needs->n;
        for (int i = 0; i < needs->n; i++) {
                struct resource_hold *hold = &(*holds)[i];

                hold->resource = MAX(resource_at(w, needs->data[i].name), 0);
                if (needs->data[i].amount <= 0)
                        continue;
                struct worker_resource *r = &w->resources[hold->resource];

                hold->addresses = new_array(int, (size_t)needs->data[i].amount);
                for (int a = 0; a < r->n && hold->n < needs->data[i].amount; a++) {
                        if (r->used[a])
                                continue;
                        r->used[a] = true;
                        r->free--;
                        hold->addresses[hold->n++] = a;
                }
        }
        worker_account_use(m, w, cores, memory);
}

void worker_take_back(struct master *m, struct master_worker *w, int cores, int64_t memory,
                      const struct resource_addresses *resources, int n, struct resource_hold **holds, int *n_holds)
{
        if (n > 0)
                *holds = new_array(struct resource_hold, (size_t)n);
        for (int i = 0; i < n; i++) {
                int at = resource_at(w, resources[i].name);

                if (at < 0)
                        continue;
                struct worker_resource *r = &w->resources[at];
                struct resource_hold *hold = &(*holds)[(*n_holds)++];

                hold->resource = at;
                hold->addresses = new_array(int, (size_t)MAX(r->n, 1));
                for (int wanted = 0; wanted < resources[i].n; wanted++)
                        for (int a = 0; a < r->n; a++)
                                if (!r->used[a] && strcmp(r->addresses[a], resources[i].addresses[wanted]) == 0) {
                                        r->used[a] = true;
                                        r->free--;
                                        hold->addresses[hold->n++] = a;
                                        break;
                                }
        }
        worker_account_use(m, w, cores, memory);
}

void worker_give(struct master *m, struct master_worker *w, int cores, int64_t memory, struct resource_hold *holds,
                 int n_holds)
{
        for (int i = 0; i < n_holds; i++) {
                struct worker_resource *r = &w->resources[holds[i].resource];

                for (int a = 0; a < holds[i].n; a++)
                        r->used[holds[i].addresses[a]] = false;
                r->free += holds[i].n;
                free(holds[i].addresses);
        }
        free(holds);
        worker_account_use(m, w, -cores, -memory);
        has_gained(m, w);
}

/* ----------------------------------------------------------------------------------------- registration and loss */

static struct master_worker *worker_new(const struct worker_spec *spec)
{
        struct master_worker *w = new0(struct master_worker);

        w->id = mem_strdup(spec->id);
        w->bit = (unsigned)(object_hash_text(w->id) % MASTER_HAD_BITS);
        w->host = mem_strdup(spec->host);
        w->port = spec->port;
        w->web_ui = mem_strdup(spec->web_ui ? spec->web_ui : "");
        w->address = mem_printf(strchr(spec->host, ':') && spec->host[0] != '[' ? "[%s]:%d" : "%s:%d", spec->host,
                                spec->port);
        w->cores = spec->cores;
        w->memory = spec->memory;
        w->n_resources = spec->n_resources;
        w->resources = new_array(struct worker_resource, (size_t)MAX(spec->n_resources, 1));
        for (int i = 0; i < spec->n_resources; i++) {
                struct worker_resource *r = &w->resources[i];

                r->name = mem_strdup(spec->resources[i].name);
                r->n = r->free = spec->resources[i].n;
                r->addresses = new_array(char *, (size_t)MAX(r->n, 1));
                r->used = new_array(bool, (size_t)MAX(r->n, 1));
                for (int a = 0; a < r->n; a++)
                        r->addresses[a] = mem_strdup(spec->resources[i].addresses[a]);
        }
        return w;
}

void master_worker_free(void *worker)
{
        struct master_worker *w = worker;

        for (int i = 0; i < w->n_resources; i++) {
                for (int a = 0; a < w->resources[i].n; a++)
                        free(w->resources[i].addresses[a]);
                free(w->resources[i].addresses);
                free(w->resources[i].used);
                free(w->resources[i].name);
        }
        free(w->resources);
        free(w->id);
        free(w->host);
        free(w->web_ui);
        free(w->address);
        free(w);
}

static void worker_leave_alive(struct master *m, struct master_worker *w, enum worker_state state)
{
        if (w->state == WORKER_ALIVE) {
                struct master_worker *moved = m->alive.data[--m->alive.len];

                m->alive.data[moved->alive_at = w->alive_at] = moved;
                worker_index_remove(&m->index, &w->node);
                leave_gained(m, w);
        }
        m->n_unknown_workers -= w->state == WORKER_UNKNOWN;
        w->state = state;
}

void master_worker_alive(struct master *m, struct master_worker *w)
{
        m->n_unknown_workers -= w->state == WORKER_UNKNOWN;
        w->state = WORKER_ALIVE;
        w->alive_at = m->alive.len;
        vec_push(&m->alive, w);
        worker_index_insert(&m->index, &w->node, index_number(m, w), w->id);
        has_gained(m, w);
}

/*
 * Deletes the dead worker @w (NULL: none). The master forgets a worker in two steps: master_remove_worker makes it
 * DEAD, so that pages still show it, and this function deletes it when it registers again or when its retention ends.
 */
static void master_forget_worker(struct master *m, struct master_worker *w)
{
        if (!w)
                return;
        list_remove(&m->dead, w);
        object_table_remove(&m->dead_by_id, object_hash_text(w->id), w);
        object_table_remove(&m->dead_by_address, object_hash_text(w->address), w);
        m->n_dead--;
        master_bury(m, w, master_worker_free);
}

bool master_add_worker(struct master *m, const struct worker_spec *spec, uint64_t peer, enum worker_state state)
{
        struct master_worker *w = worker_new(spec);
        uint64_t by_address = object_hash_text(w->address);
        struct master_worker *old = object_table_find(&m->workers_by_address, by_address, has_address, w->address);

        master_forget_worker(m, object_table_find(&m->dead_by_address, by_address, has_address, w->address));
        if (old && old->state != WORKER_UNKNOWN) {
                master_log(m, LOG_INFO, "Attempted to re-register worker at same address: %s", w->address);
                master_worker_free(w);
                return false;
        }
        if (old) { /* it was restarted while this master recovered */
                master_remove_worker(m, old, "Worker replaced by a new worker with same address");
                master_forget_worker(m, object_table_find(&m->dead_by_address, by_address, has_address, w->address));
        }
        master_forget_worker(m, object_table_find(&m->dead_by_id, object_hash_text(w->id), has_id, w->id));
        w->peer = peer;
        w->last_heartbeat = m->now;
        w->registered = m->event;
        w->state = WORKER_UNKNOWN;
        m->n_unknown_workers++;
        list_append(&m->workers, w);
        m->n_workers++;
        object_table_put(&m->workers_by_id, object_hash_text(w->id), w);
        object_table_put(&m->workers_by_address, by_address, w);
        if (state == WORKER_ALIVE)
                master_worker_alive(m, w);
        return true;
}

static void refuse_worker(struct master *m, uint64_t peer, const char *why)
{
        master_emit(m, (struct master_action){MASTER_WORKER_REFUSED, .peer = peer, .text = mem_strdup(why)});
}

void master_register_worker(struct master *m, uint64_t peer, const struct worker_spec *spec, int64_t now)
{
        master_begin(m, now);
        if (m->status == MASTER_STANDBY) {
                master_emit(m, (struct master_action){MASTER_IN_STANDBY, .peer = peer, .text = mem_strdup(spec->id)});
                return;
        }
        master_log(m, LOG_INFO, "Registering worker %s:%d with %d cores, %.1f GiB RAM", spec->host, spec->port,
                   spec->cores, (double)spec->memory / 1024);
        struct master_worker *w = master_worker(m, spec->id);

        if (w) { /* UNKNOWN ones stay so until they report their executors */
                w->peer = peer;
                w->registered = m->event;
                master_emit(m,
                            (struct master_action){MASTER_WORKER_REGISTERED, .peer = peer, .worker = w, .again = true});
                return;
        }
        if (spec->cores < 0 || spec->memory < 0) {
                refuse_worker(m, peer, "A worker's cores and memory must not be negative");
                return;
        }
        if (!master_add_worker(m, spec, peer, WORKER_ALIVE)) {
                _cleanup_free_ char *message =
                        mem_printf("Attempted to re-register worker at same address: %s:%d", spec->host, spec->port);

                master_log(m, LOG_WARN, "Worker registration failed. %s", message);
                refuse_worker(m, peer, message);
                return;
        }
        w = master_worker(m, spec->id);
        master_store(m, MASTER_RECORD_WORKER, w->id, w);
        master_emit(m, (struct master_action){MASTER_WORKER_REGISTERED, .peer = peer, .worker = w});
}

void master_heartbeat(struct master *m, uint64_t peer, const char *worker_id, int64_t now)
{
        master_begin(m, now);
        struct master_worker *w = master_worker(m, worker_id);

        if (w) {
                w->last_heartbeat = now;
                list_remove(&m->workers, w);
                list_append(&m->workers, w);
        } else if (m->status == MASTER_STANDBY) {
                return;
        } else { /* removed long ago, or never registered: the worker assumes it is registered and would not register by
                  * itself
                  */
                master_log(m, LOG_WARN, "Got heartbeat from unregistered worker %s. Asking it to re-register.",
                           worker_id);
                master_emit(m, (struct master_action){MASTER_RECONNECT_WORKER, .peer = peer});
        }
}

void master_remove_worker(struct master *m, struct master_worker *w, const char *why)
{
        _cleanup_free_ char *message = mem_printf("worker lost: %s", why);

        master_log(m, LOG_INFO, "Removing worker %s on %s", w->id, w->address);
        worker_leave_alive(m, w, WORKER_DEAD);
        list_remove(&m->workers, w);
        m->n_workers--;
        object_table_remove(&m->workers_by_id, object_hash_text(w->id), w);
        object_table_remove(&m->workers_by_address, object_hash_text(w->address), w);
        for (struct master_executor *e = w->executors, *next; e; e = next) {
                next = e->next_on_worker;
                master_log(m, LOG_INFO, "Telling app of lost executor: %d", e->id);
                e->state = EXECUTOR_LOST;
                executor_tell_app(m, e, message, NULL, w);
                executor_leave_app(m, e);
                executor_leave_worker(m, e);
        }
        while (w->drivers) {
                struct master_driver *d = w->drivers;

                if (d->supervise) {
                        master_log(m, LOG_INFO, "Re-launching %s", d->id);
                        master_relaunch_driver(m, d);
                } else {
                        master_log(m, LOG_INFO, "Not re-launching %s because it was not supervised", d->id);
                        master_remove_driver(m, d, DRIVER_ERROR, NULL);
                }
        }
        master_log(m, LOG_INFO, "Telling app of lost worker: %s", w->id);
        master_emit(m, (struct master_action){MASTER_WORKER_REMOVED, .worker = w, .text = mem_strdup(why)});
        master_remove_record(m, MASTER_RECORD_WORKER, w->id);
        w->peer = 0;
        list_append(&m->dead, w);
        object_table_put(&m->dead_by_id, object_hash_text(w->id), w);
        object_table_put(&m->dead_by_address, object_hash_text(w->address), w);
        m->n_dead++;
}

void master_worker_disconnected(struct master *m, uint64_t peer, const char *worker_id, int64_t now)
{
        master_begin(m, now);
        struct master_worker *w = master_worker(m, worker_id);

        if (!w || w->peer != peer)
                return;
        _cleanup_free_ char *why = mem_printf("%s got disassociated", w->address);

        master_log(m, LOG_INFO, "%s got disassociated, removing it.", w->address);
        master_remove_worker(m, w, why);
        master_recovery_check(m);
}

/* -------------------------------------------------------------------------------------- decommissioning */

static void worker_decommission(struct master *m, struct master_worker *w)
{
        if (w->state == WORKER_DECOMMISSIONED) {
                master_log(m, LOG_WARN, "Skipping decommissioning worker %s on %s as worker is already decommissioned",
                           w->id, w->address);
                return;
        }
        master_log(m, LOG_INFO, "Decommissioning worker %s on %s", w->id, w->address);
        worker_leave_alive(m, w, WORKER_DECOMMISSIONED);
        for (struct master_executor *e = w->executors; e; e = e->next_on_worker) {
                e->state = EXECUTOR_DECOMMISSIONED;
                executor_tell_app(m, e, "worker decommissioned", NULL, w);
                executor_leave_app(m, e);
        }
        master_remove_record(m, MASTER_RECORD_WORKER, w->id); /* the next leader must not treat it as live */
        master_recovery_check(m);
}

void master_decommission_worker(struct master *m, const char *worker_id, int64_t now)
{
        master_begin(m, now);
        struct master_worker *w = master_worker(m, worker_id);

        if (w)
                worker_decommission(m, w);
        else
                master_log(m, LOG_WARN, "Unknown worker to decommission: %s", worker_id);
}

int master_decommission_hosts(struct master *m, const char *const *hosts, int n, int64_t now)
{
        int found = 0;

        master_begin(m, now);
        if (m->status == MASTER_STANDBY)
                return 0;
        for (struct master_worker *w = m->workers.first, *next; w; w = next) {
                next = w->next;
                for (int i = 0; i < n; i++) {
                        if (strcasecmp(w->host, hosts[i]) != 0)
                                continue;
                        found++;
                        worker_decommission(m, w);
                        break;
                }
        }
        return found;
}

/* ------------------------------------------------------------------------------------------------ state reports */

void worker_kill_executor(struct master *m, struct master_worker *w, const char *app_id, int executor)
{
        master_emit(m, (struct master_action){MASTER_KILL_EXECUTOR, .peer = w->peer, .worker = w,
                                              .executor_id = executor, .text = mem_strdup(app_id)});
}

static void take_over_executor(struct master *m, struct master_worker *w, struct master_app *app,
                               const struct executor_report *report)
{
        struct app_profile *profile = app_profile_by_id(app, report->profile);
        struct executor_target described = {
                .profile = {.id = report->profile, .cores = report->cores, .memory = report->memory}};

        if (!profile) { /* the application will describe it */
                master_app_set_targets(app, &described, 1);
                profile = app_profile_by_id(app, report->profile);
                profile->known = false;
        }
        struct master_executor *e =
                app_add_executor(m, app, profile, w, report->id, report->cores, report->memory, report->state);

        worker_take_back(m, w, report->cores, report->memory, report->resources, report->n_resources, &e->holds,
                         &e->n_holds);
}

/* Ends executors that the master launched before the worker registered and that the worker does not have. */
static void lose_missing(struct master *m, struct master_worker *w, const struct executor_report *executors,
                         int n_executors, const struct driver_report *drivers, int n_drivers)
{
        for (struct master_executor *e = w->executors, *next; e; e = next) {
                bool there = e->launched > w->registered;

                next = e->next_on_worker;
                for (int i = 0; i < n_executors && !there; i++)
                        there = executors[i].id == e->id && strcmp(executors[i].app_id, e->app->id) == 0;
                if (there)
                        continue;
                e->state = EXECUTOR_LOST;
                executor_tell_app(m, e, "the worker does not have it", NULL, NULL);
                executor_leave_app(m, e);
                executor_leave_worker(m, e);
        }
        for (struct master_driver *d = w->drivers, *next; d; d = next) {
                bool there = d->launched > w->registered;

                next = d->next_on_worker;
                for (int i = 0; i < n_drivers && !there; i++)
                        there = strcmp(drivers[i].id, d->id) == 0;
                if (there)
                        continue;
                master_log(m, LOG_WARN, "Driver %s is not on worker %s, where it was launched", d->id, w->id);
                if (d->supervise)
                        master_relaunch_driver(m, d);
                else
                        master_remove_driver(m, d, DRIVER_ERROR, NULL);
        }
}

void master_worker_state(struct master *m, uint64_t peer, const char *worker_id,
                         const struct executor_report *executors, int n_executors, const struct driver_report *drivers,
                         int n_drivers, int64_t now)
{
        master_begin(m, now);
        struct master_worker *w = master_worker(m, worker_id);
        bool recovering = m->status == MASTER_RECOVERING;

        if (!w) {
                master_log(m, LOG_WARN, "Worker state from unknown worker: %s", worker_id);
                if (m->status != MASTER_STANDBY)
                        master_emit(m, (struct master_action){MASTER_RECONNECT_WORKER, .peer = peer});
                return;
        }
        w->peer = peer;
        if (w->state == WORKER_UNKNOWN) {
                master_log(m, LOG_INFO, "Worker has been re-registered: %s", worker_id);
                master_worker_alive(m, w);
        }
        for (int i = 0; i < n_executors; i++) {
                const struct executor_report *report = &executors[i];
                struct master_app *app = master_app(m, report->app_id);
                struct master_executor *e = app ? master_executor(m, app, report->id) : NULL;

                if (e && e->worker == w) {
                        if (e->state == EXECUTOR_LAUNCHING && report->state == EXECUTOR_RUNNING)
                                master_executor_changed(m, app->id, e->id, EXECUTOR_RUNNING, NULL, NULL, now);
                } else if (app && !e && recovering && report->id >= 0 && report->cores >= 0 && report->memory >= 0 &&
                           report->cores <= worker_cores_free(w) && report->memory <= worker_memory_free(w) &&
                           (report->state == EXECUTOR_LAUNCHING || report->state == EXECUTOR_RUNNING)) {
                        take_over_executor(m, w, app, report);
                } else {
                        worker_kill_executor(m, w, report->app_id, report->id);
                }
        }
        for (int i = 0; i < n_drivers; i++) {
                struct master_driver *d = master_driver(m, drivers[i].id);

                if (d && !d->worker && recovering && d->cores <= worker_cores_free(w) &&
                    d->memory <= worker_memory_free(w)) {
                        master_driver_on(m, d, w);
                        worker_take_back(m, w, d->cores, d->memory, drivers[i].resources, drivers[i].n_resources,
                                         &d->holds, &d->n_holds);
                } else if (!d || d->worker != w) {
                        worker_kill_driver(m, w, drivers[i].id);
                }
        }
        lose_missing(m, w, executors, n_executors, drivers, n_drivers);
        master_recovery_check(m);
}

void master_worker_keeps(struct master *m, const char *worker_id, const char *app_id)
{
        const struct master_worker *w = master_worker(m, worker_id);
        struct master_app *app = master_app(m, app_id);

        if (w && app)
                app_had_by(app, w);
}

void master_worker_only_own(struct master *m, const char *worker_id, bool only_own)
{
        struct master_worker *w = master_worker(m, worker_id);

        if (w)
                w->only_own = only_own;
}

/* --------------------------------------------------------------------------------------------- timeouts */

void master_tick(struct master *m, int64_t now)
{
        master_begin(m, now);
        if (m->status == MASTER_STANDBY)
                return;
        while (m->workers.first && m->workers.first->last_heartbeat < now - m->config.worker_timeout) {
                _cleanup_free_ char *why = mem_printf("Not receiving heartbeat for %lld seconds",
                                                      (long long)(m->config.worker_timeout / NS_PER_SECOND));

                master_log(m, LOG_WARN, "Removing %s because we got no heartbeat in %lld ms", m->workers.first->id,
                           (long long)(m->config.worker_timeout / NS_PER_MS));
                master_remove_worker(m, m->workers.first, why);
        }
        while (m->dead.first && now >= master_dead_until(m, m->dead.first))
                master_forget_worker(m, m->dead.first);
        master_remove_lost_apps(m);
        master_recovery_check(m);
        if (m->status == MASTER_RECOVERING && now >= m->recovery_ends)
                master_complete_recovery(m);
}
