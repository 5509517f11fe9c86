/* Drivers in cluster mode: submission, launch, relaunch, end. */
#include "standalone/core/master_state.h"

static bool has_id(const void *driver, const void *id)
{
        return strcmp(((const struct master_driver *)driver)->id, id) == 0;
}

struct master_driver *master_driver(const struct master *m, const char *id)
{
        return object_table_find(&m->drivers_by_id, object_hash_text(id), has_id, id);
}

void master_driver_wait(struct master *m, struct master_driver *d)
{
        d->waiting = true;
        m->n_waiting_drivers++;
        m->dirty = true;
}

static void driver_add(struct master *m, struct master_driver *d)
{
        list_append(&m->drivers, d);
        m->n_drivers++;
        object_table_put(&m->drivers_by_id, object_hash_text(d->id), d);
}

struct master_driver *master_add_driver(struct master *m, const char *id, const struct driver_spec *spec,
                                        int64_t submitted, bool waiting)
{
        struct master_driver *d = new0(struct master_driver);

        d->id = mem_strdup(id);
        d->main_class = mem_strdup(spec->main_class ? spec->main_class : "");
        d->cores = MAX(spec->cores, 0);
        d->memory = MAX(spec->memory, (int64_t)0);
        d->supervise = spec->supervise;
        d->submission_id = mem_strdup_if(spec->submission_id && *spec->submission_id ? spec->submission_id : NULL);
        d->needs = needs_copy(spec->needs, spec->n_needs);
        d->body = body_copy(&spec->body);
        d->body_size = spec->body.size;
        d->submitted = submitted;
        d->state = DRIVER_SUBMITTED;
        driver_add(m, d);
        if (waiting)
                master_driver_wait(m, d);
        return d;
}

void master_driver_free(void *driver)
{
        struct master_driver *d = driver;

        for (int i = 0; i < d->n_holds; i++)
                free(d->holds[i].addresses);
        free(d->holds);
        needs_deinit(&d->needs);
        free(d->body);
        free(d->id);
        free(d->main_class);
        free(d->submission_id);
        free(d->exception);
        free(d->worker_id);
        free(d->worker_address);
        free(d);
}

void master_driver_on(struct master *m, struct master_driver *d, struct master_worker *w)
{
        if (d->waiting) {
                d->waiting = false;
                m->n_waiting_drivers--;
        }
        d->worker = w;
        free(d->worker_id);
        free(d->worker_address);
        d->worker_id = mem_strdup(w->id);
        d->worker_address = mem_strdup(w->address);
        d->state = DRIVER_RUNNING;
        d->was_launched = true;
        d->launched = m->event;
        d->next_on_worker = w->drivers;
        if (w->drivers)
                w->drivers->prev_on_worker = d;
        w->drivers = d;
        w->n_drivers++;
}

static void leave_worker(struct master *m, struct master_driver *d)
{
        struct master_worker *w = d->worker;

        if (!w)
                return;
        d->worker = NULL;
        *(d->prev_on_worker ? &d->prev_on_worker->next_on_worker : &w->drivers) = d->next_on_worker;
        if (d->next_on_worker)
                d->next_on_worker->prev_on_worker = d->prev_on_worker;
        d->prev_on_worker = d->next_on_worker = NULL;
        w->n_drivers--;
        worker_give(m, w, d->cores, d->memory, steal(d->holds), d->n_holds);
        d->n_holds = 0;
}

static void driver_retain(struct master *m, struct master_driver *d)
{
        int retained = m->config.retained_drivers;

        if ((int64_t)m->completed_drivers.len >= retained) {
                size_t oldest = MIN((size_t)MAX(retained / 10, 1), m->completed_drivers.len);

                for (size_t i = 0; i < oldest; i++)
                        master_bury(m, m->completed_drivers.data[i], master_driver_free);
                vec_drop(&m->completed_drivers, oldest);
        }
        vec_push(&m->completed_drivers, d);
}

static bool id_taken(const struct master *m, const char *id)
{
        return master_driver(m, id) != NULL;
}

static char *new_id(struct master *m)
{
        return master_new_id(m, m->config.driver_id_pattern, &m->next_driver, 0, id_taken);
}

void master_remove_driver(struct master *m, struct master_driver *d, enum driver_state state, const char *exception)
{
        master_log(m, LOG_INFO, "Removing driver: %s (%s)", d->id, driver_state_name(state));
        list_remove(&m->drivers, d);
        d->prev = d->next = NULL;
        m->n_drivers--;
        if (d->waiting) {
                d->waiting = false;
                m->n_waiting_drivers--;
        }
        object_table_remove(&m->drivers_by_id, object_hash_text(d->id), d);
        master_remove_record(m, MASTER_RECORD_DRIVER, d->id);
        d->state = state;
        d->exception = exception ? mem_strdup(exception) : NULL;
        leave_worker(m, d);
        m->dirty = true; /* spark.deploy.maxDrivers may allow another */
        driver_retain(m, d);
}

/* The driver gets a new id: the first one may still run behind a broken connection, and later reports about it must
 * not touch the second. The new record is stored before the old one is removed, so that a crash in between leaves one
 * driver too many rather than none.
 */
void master_relaunch_driver(struct master *m, struct master_driver *d)
{
        struct driver_spec spec = {
                .main_class = d->main_class,
                .cores = d->cores,
                .memory = d->memory,
                .supervise = d->supervise,
                .submission_id = d->submission_id ? d->submission_id : d->id,
                .needs = d->needs.data,
                .n_needs = d->needs.n,
                .body = {d->body, d->body_size},
        };
        char *id = new_id(m);
        struct master_driver *again = master_add_driver(m, id, &spec, master_wall(m, m->now), true);

        free(id);
        master_store(m, MASTER_RECORD_DRIVER, again->id, again);
        master_remove_driver(m, d, DRIVER_RELAUNCHING, NULL);
}

void master_driver_changed(struct master *m, const char *driver_id, enum driver_state state, const char *exception,
                           int64_t now)
{
        master_begin(m, now);
        if (state != DRIVER_ERROR && state != DRIVER_FINISHED && state != DRIVER_KILLED && state != DRIVER_FAILED) {
                master_log(m, LOG_WARN, "Received unexpected state update for driver %s: %s", driver_id,
                           driver_state_name(state));
                return;
        }
        struct master_driver *d = master_driver(m, driver_id);

        if (d)
                master_remove_driver(m, d, state, exception);
        else
                master_log(m, LOG_WARN, "Asked to remove unknown driver: %s", driver_id);
}

/* --------------------------------------------------------------------------------------------- requests */

/* Returns the reason why requests are refused now, or NULL. The caller frees it. */
static char *not_alive(const struct master *m, const char *what)
{
        if (m->status == MASTER_ALIVE)
                return NULL;
        return mem_printf("Current state is not alive: %s. Can only %s in ALIVE state.", master_status_name(m->status),
                          what);
}

struct master_reply master_submit_driver(struct master *m, const struct driver_spec *spec, int64_t now)
{
        master_begin(m, now);
        char *refusal = not_alive(m, "accept driver submissions");

        if (refusal)
                return (struct master_reply){.message = refusal};
        char *id = new_id(m);
        struct master_driver *d = master_add_driver(m, id, spec, master_wall(m, m->now), true);

        master_log(m, LOG_INFO, "Driver submitted %s", d->main_class);
        master_store(m, MASTER_RECORD_DRIVER, d->id, d);
        return (struct master_reply){
                .success = true, .driver_id = id, .message = mem_printf("Driver successfully submitted as %s", id)};
}

void worker_kill_driver(struct master *m, struct master_worker *w, const char *driver_id)
{
        master_emit(m, (struct master_action){MASTER_KILL_DRIVER, .peer = w->peer, .worker = w,
                                              .text = mem_strdup(driver_id)});
}

/* A running driver is ended by its worker, which reports the end. */
static void kill_one(struct master *m, struct master_driver *d)
{
        master_log(m, LOG_INFO, "Kill request for %s submitted", d->id);
        if (d->waiting)
                master_remove_driver(m, d, DRIVER_KILLED, NULL);
        else if (d->worker)
                worker_kill_driver(m, d->worker, d->id);
}

static bool is_of_submission(const struct master_driver *d, const char *id)
{
        return d->submission_id && strcmp(d->submission_id, id) == 0;
}

/* The driver that has not ended with this id, or of the submission with this id. */
static struct master_driver *driver_of_submission(const struct master *m, const char *id)
{
        struct master_driver *d = master_driver(m, id);

        if (d)
                return d;
        for (d = m->drivers.first; d && !is_of_submission(d, id);)
                d = d->next;
        return d;
}

struct master_reply master_kill_driver(struct master *m, const char *driver_id, int64_t now)
{
        master_begin(m, now);
        char *refusal = not_alive(m, "kill drivers");

        if (refusal)
                return (struct master_reply){.driver_id = mem_strdup(driver_id), .message = refusal};
        struct master_driver *d = driver_of_submission(m, driver_id);

        if (!d) {
                master_log(m, LOG_WARN, "Driver %s has already finished or does not exist", driver_id);
                return (struct master_reply){
                        .driver_id = mem_strdup(driver_id),
                        .message = mem_printf("Driver %s has already finished or does not exist", driver_id)};
        }
        struct master_reply reply = {.success = true,
                                     .driver_id = mem_strdup(driver_id),
                                     .message = mem_printf("Kill request for %s submitted", driver_id)};

        kill_one(m, d);
        return reply;
}

struct master_reply master_kill_all_drivers(struct master *m, int64_t now)
{
        master_begin(m, now);
        char *refusal = not_alive(m, "kill drivers");

        if (refusal)
                return (struct master_reply){.message = refusal};
        master_log(m, LOG_INFO, "Asked to kill all drivers");
        for (struct master_driver *d = m->drivers.first, *next; d; d = next) {
                next = d->next;
                kill_one(m, d);
        }
        return (struct master_reply){.success = true, .message = mem_strdup("Kill request for all drivers submitted")};
}

const struct master_driver *master_driver_status(const struct master *m, const char *driver_id, char **message)
{
        *message = not_alive(m, "request driver status");
        if (*message)
                return NULL;
        const struct master_driver *d = driver_of_submission(m, driver_id);

        for (size_t i = m->completed_drivers.len; i > 0 && !d; i--) { /* a later launch ended later */
                const struct master_driver *ended = m->completed_drivers.data[i - 1];

                if (has_id(ended, driver_id) || is_of_submission(ended, driver_id))
                        d = ended;
        }
        return d;
}
