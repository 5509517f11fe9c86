/* Applications and their executors: registration, targets, launches, ends. */
#include "standalone/core/master_state.h"

#include <ctype.h>

#define EXECUTOR_IDS_AT_ONCE 1000 /* ids for which one record is written */

static bool has_id(const void *app, const void *id)
{
        return strcmp(((const struct master_app *)app)->id, id) == 0;
}

static bool has_address(const void *app, const void *address)
{
        return strcmp(((const struct master_app *)app)->address, address) == 0;
}

struct app_executor_key {
        const struct master_app *app;
        int id;
};

static bool has_key(const void *executor, const void *key)
{
        const struct master_executor *e = executor;
        const struct app_executor_key *k = key;

        return e->app == k->app && e->id == k->id;
}

static uint64_t executor_hash(const struct master_app *app, int id)
{
        return object_hash_number((uint64_t)(uintptr_t)app * 31 + (uint64_t)id);
}

struct master_app *master_app(const struct master *m, const char *id)
{
        return object_table_find(&m->apps_by_id, object_hash_text(id), has_id, id);
}

struct master_executor *master_executor(const struct master *m, const struct master_app *app, int id)
{
        return object_table_find(&m->executors, executor_hash(app, id), has_key, &(struct app_executor_key){app, id});
}

int app_cores_left(const struct master_app *app)
{
        return app->cores_limit - app->cores_granted;
}

struct app_profile *app_profile_by_id(const struct master_app *app, int id)
{
        for (size_t i = 0; i < app->profiles.len; i++)
                if (app->profiles.data[i]->id == id)
                        return app->profiles.data[i];
        return NULL;
}

static void profile_release(struct app_profile *p)
{
        needs_deinit(&p->needs);
        free(p->body);
}

/* Fills in the profile if only a worker has reported it so far. Described profiles never change. */
static struct app_profile *learn_profile(struct master_app *app, const struct executor_profile *spec)
{
        struct app_profile *p = app_profile_by_id(app, spec->id);

        if (p && p->known)
                return p;
        if (!p) {
                size_t at = app->profiles.len;

                p = new0(struct app_profile);
                vec_push(&app->profiles, p);
                for (; at > 0 && app->profiles.data[at - 1]->id > spec->id; at--) /* lower ids come first */
                        app->profiles.data[at] = app->profiles.data[at - 1];
                app->profiles.data[at] = p;
        }
        profile_release(p);
        p->id = spec->id;
        p->cores = MAX(spec->cores, 0);
        p->memory = MAX(spec->memory, (int64_t)0);
        p->needs = needs_copy(spec->needs, spec->n_needs);
        p->body = body_copy(&spec->body);
        p->body_size = spec->body.size;
        p->known = true;
        p->starved = false;
        return p;
}

void master_app_set_targets(struct master_app *app, const struct executor_target *targets, int n)
{
        for (int i = 0; i < n; i++)
                learn_profile(app, &targets[i].profile)->target = MAX(targets[i].executors, 0);
}

/* Releases what app_set_spec sets. */
static void app_release_spec(struct master_app *app)
{
        free(app->name);
        free(app->user);
        free(app->ui_url);
        free(app->address);
        free(app->body);
        free((char *)app->resume.token);
}

static void app_set_spec(struct master *m, struct master_app *app, const struct app_spec *spec)
{
        struct executor_target first = {
                .profile = spec->profile,
                .executors = spec->initial_executors < 0 ? INT32_MAX : spec->initial_executors,
        };

        app->name = mem_strdup(spec->name);
        app->user = mem_strdup(spec->user ? spec->user : "");
        app->ui_url = mem_strdup(spec->ui_url ? spec->ui_url : "");
        app->address = mem_strdup(spec->address);
        app->max_cores = spec->max_cores;
        app->initial_executors = spec->initial_executors;
        app->body = body_copy(&spec->body);
        app->body_size = spec->body.size;
        app->resume = spec->resume;
        app->resume.token = mem_strdup(spec->resume.token ? spec->resume.token : "");
        app->next_executor = MAX(app->next_executor, spec->next_executor);
        app->cores_limit = spec->max_cores > 0 ? spec->max_cores : m->config.default_cores;
        master_app_set_targets(app, &first, 1);
}

struct master_app *master_add_app(struct master *m, const char *id, const struct app_spec *spec, int64_t submitted,
                                  uint64_t peer, enum app_state state)
{
        struct master_app *app = new0(struct master_app);

        app->id = mem_strdup(id);
        app_set_spec(m, app, spec);
        app->submitted = submitted;
        app->state = state;
        app->peer = peer;
        list_append(&m->apps, app);
        m->n_apps++;
        m->n_unknown_apps += state == APP_UNKNOWN;
        object_table_put(&m->apps_by_id, object_hash_text(app->id), app);
        object_table_put(&m->apps_by_address, object_hash_text(app->address), app);
        m->dirty = true;
        return app;
}

static void executor_free(void *executor)
{
        struct master_executor *e = executor;

        for (int i = 0; i < e->n_holds; i++)
                free(e->holds[i].addresses);
        free(e->holds);
        free(e->worker_id);
        free(e->worker_address);
        free(e);
}

void master_app_free(void *object)
{
        struct master_app *app = object;

        for (struct master_executor *e = app->executors, *next; e; e = next) {
                next = e->next_in_app;
                executor_free(e);
        }
        for (size_t i = 0; i < app->removed.len; i++)
                executor_free(app->removed.data[i]);
        for (size_t i = 0; i < app->profiles.len; i++) {
                profile_release(app->profiles.data[i]);
                free(app->profiles.data[i]);
        }
        free(app->had_by);
        vec_deinit(&app->removed);
        vec_deinit(&app->profiles);
        app_release_spec(app);
        free(app->id);
        free(app);
}

/* -------------------------------------------------------------------------------------------- executors */

void app_had_by(struct master_app *app, const struct master_worker *w)
{
        if (!app->had_by)
                app->had_by = new_array(uint8_t, MASTER_HAD_BITS / 8);
        app->had_by[w->bit / 8] |= (uint8_t)(1u << w->bit % 8);
}

bool app_concerns(const struct master_app *app, const struct master_worker *w)
{
        return !w->only_own || (app->had_by && (app->had_by[w->bit / 8] >> w->bit % 8 & 1));
}

struct master_executor *app_add_executor(struct master *m, struct master_app *app, struct app_profile *profile,
                                         struct master_worker *w, int id, int cores, int64_t memory,
                                         enum executor_state state)
{
        struct master_executor *e = new0(struct master_executor);

        e->id = id >= 0 ? id : app->next_executor;
        app->next_executor = MAX(app->next_executor, e->id + 1);
        e->app = app;
        e->profile = profile;
        e->worker = w;
        e->worker_id = mem_strdup(w->id);
        app_had_by(app, w);
        e->worker_address = mem_strdup(w->address);
        e->cores = cores;
        e->memory = memory;
        e->state = state;
        e->launched = m->event;
        if (app->resume.epoch > 0 && e->id >= app->stored_executors) {
                app->stored_executors = e->id + EXECUTOR_IDS_AT_ONCE;
                master_store(m, MASTER_RECORD_APP, app->id, app);
        }
        e->next_in_app = app->executors;
        if (app->executors)
                app->executors->prev_in_app = e;
        app->executors = e;
        e->next_on_worker = w->executors;
        if (w->executors)
                w->executors->prev_on_worker = e;
        w->executors = e;
        w->n_executors++;
        app->n_executors++;
        app->n_running += e->runs = state == EXECUTOR_RUNNING;
        app->cores_granted += cores;
        profile->executors++;
        object_table_put(&m->executors, executor_hash(app, e->id), e);
        return e;
}

/* Moves the executor to app->removed when neither application nor worker list it. */
static void app_remember_executor(struct master *m, struct master_executor *e)
{
        struct master_app *app = e->app;

        if (!e->left || e->worker)
                return;
        object_table_remove(&m->executors, executor_hash(app, e->id), e);
        *(e->prev_in_app ? &e->prev_in_app->next_in_app : &app->executors) = e->next_in_app;
        if (e->next_in_app)
                e->next_in_app->prev_in_app = e->prev_in_app;
        e->prev_in_app = e->next_in_app = NULL;
        if (app->removed.len >= MASTER_RETAINED_EXECUTORS) {
                size_t oldest = MASTER_RETAINED_EXECUTORS / 10;

                for (size_t i = 0; i < oldest; i++)
                        master_bury(m, app->removed.data[i], executor_free);
                vec_drop(&app->removed, oldest);
        }
        vec_push(&app->removed, e);
}

void executor_leave_app(struct master *m, struct master_executor *e)
{
        if (e->left)
                return;
        e->left = true;
        e->app->n_executors--;
        e->app->cores_granted -= e->cores;
        e->profile->executors--;
        e->app->n_running -= e->runs;
        m->dirty = true;
        app_remember_executor(m, e);
}

void executor_leave_worker(struct master *m, struct master_executor *e)
{
        struct master_worker *w = e->worker;

        if (!w)
                return;
        e->worker = NULL;
        *(e->prev_on_worker ? &e->prev_on_worker->next_on_worker : &w->executors) = e->next_on_worker;
        if (e->next_on_worker)
                e->next_on_worker->prev_on_worker = e->prev_on_worker;
        e->prev_on_worker = e->next_on_worker = NULL;
        w->n_executors--;
        worker_give(m, w, e->cores, e->memory, steal(e->holds), e->n_holds);
        e->n_holds = 0;
        app_remember_executor(m, e);
}

void executor_tell_app(struct master *m, struct master_executor *e, const char *message, const int *exit_status,
                       struct master_worker *leaving)
{
        master_emit(m, (struct master_action){
                               MASTER_EXECUTOR_UPDATED, .peer = e->app->peer, .executor = e, .worker = leaving,
                               .state = e->state, .text = message ? mem_strdup(message) : NULL,
                               .has_exit_status = exit_status != NULL, .exit_status = exit_status ? *exit_status : 0});
}

static void kill_executor(struct master *m, struct master_executor *e)
{
        e->state = EXECUTOR_KILLED;
        if (e->worker)
                worker_kill_executor(m, e->worker, e->app->id, e->id);
        executor_leave_app(m, e);
        executor_leave_worker(m, e);
}

/* Ends the executor. Fails the application if too many of its executors fail in a row. */
static void executor_ended(struct master *m, struct master_executor *e, bool counts)
{
        struct master_app *app = e->app;

        master_log(m, LOG_INFO, "Removing executor %s/%d because it is %s", app->id, e->id,
                   executor_state_name(e->state));
        executor_leave_app(m, e);
        executor_leave_worker(m, e);
        if (!counts || ++app->retries < m->config.max_executor_retries || m->config.max_executor_retries < 0 ||
            app->n_running > 0 || app->lost)
                return;
        master_log(m, LOG_ERROR, "Application %s with ID %s failed %d times; removing it", app->name, app->id,
                   app->retries);
        master_remove_app(m, app, APP_FAILED);
}

void master_executor_changed(struct master *m, const char *app_id, int executor, enum executor_state state,
                             const char *message, const int *exit_status, int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);
        struct master_executor *e = app ? master_executor(m, app, executor) : NULL;

        if (!e) {
                master_log(m, LOG_WARN, "Got status update for unknown executor %s/%d", app_id, executor);
                return;
        }
        enum executor_state before = e->state;

        if (!executor_state_is_finished(state) && (state != EXECUTOR_RUNNING || before != EXECUTOR_LAUNCHING)) {
                master_log(m, LOG_WARN, "executor %s/%d state transfer from %s to %s is illegal", app_id, executor,
                           executor_state_name(before), executor_state_name(state));
                return;
        }
        e->state = state;
        if (state == EXECUTOR_RUNNING) {
                app->n_running += e->runs = true;
                app->retries = 0;
        }
        executor_tell_app(m, e, message, exit_status, NULL);
        if (executor_state_is_finished(state))
                executor_ended(m, e, !(exit_status && *exit_status == 0) && before != EXECUTOR_DECOMMISSIONED);
}

/* ----------------------------------------------------------------------------------------- registration */

static bool id_taken(const struct master *m, const char *id)
{
        return master_app(m, id) != NULL;
}

/* Returns the name in lower case without blanks: spark.master.useAppNameAsAppId.enabled. */
static char *id_from_name(struct master *m, const char *name)
{
        char *id = mem_strdup(name), *to = id;

        for (const char *from = name; *from; from++)
                if (!isspace((unsigned char)*from))
                        *to++ = (char)tolower((unsigned char)*from);
        *to = '\0';
        if (*id && !id_taken(m, id))
                return id;
        free(id);
        return master_new_id(m, m->config.app_id_pattern, &m->next_app, m->config.app_number_modulo, id_taken);
}

static void found_again(struct master *m, struct master_app *app, uint64_t peer)
{
        app->peer = peer;
        m->n_lost_apps -= app->lost != 0;
        app->lost = 0;
        m->dirty = true;
        if (app->state != APP_WAITING_FOR_DRIVER)
                return;
        app->state = app->n_executors > 0 ? APP_RUNNING : APP_WAITING;
        master_store(m, MASTER_RECORD_APP, app->id, app);
}

/* A recovered application has answered. */
static void has_answered(struct master *m, struct master_app *app)
{
        if (app->state != APP_UNKNOWN)
                return;
        master_log(m, LOG_INFO, "Application has been re-registered: %s", app->id);
        app->state = APP_WAITING;
        m->n_unknown_apps--;
}

/* Another process has the address of an application that is not connected. */
static void app_lose_address(struct master *m, struct master_app *app)
{
        if (app->resume.epoch > 0) /* its next driver finds it by its id */
                object_table_remove(&m->apps_by_address, object_hash_text(app->address), app);
        else
                master_remove_app(m, app, APP_FINISHED);
}

static void app_tell_superseded(struct master *m, const struct master_app *app, uint64_t peer)
{
        if (peer)
                master_emit(m, (struct master_action){MASTER_APP_SUPERSEDED, .peer = peer,
                                                      .app = (struct master_app *)app});
}

/* The next driver of the application has registered. */
static void app_take_over(struct master *m, struct master_app *app, uint64_t peer, const struct app_spec *spec)
{
        struct master_app *other =
                object_table_find(&m->apps_by_address, object_hash_text(spec->address), has_address, spec->address);

        master_log(m, LOG_INFO, "Driver %d of application %s has registered%s", spec->resume.epoch, app->id,
                   app->peer ? " in the place of one that is connected" : "");
        if (other && other != app)
                app_lose_address(m, other);
        if (app->peer) { /* its executors are connected to the last driver, which may be stuck */
                app_tell_superseded(m, app, app->peer != peer ? app->peer : 0);
                while (app->executors)
                        kill_executor(m, app->executors);
        }
        object_table_remove(&m->apps_by_address, object_hash_text(app->address), app);
        app_release_spec(app);
        for (size_t i = 0; i < app->profiles.len; i++) { /* the new driver describes them; commands have its address */
                app->profiles.data[i]->known = false;
                app->profiles.data[i]->target = 0;
        }
        app_set_spec(m, app, spec);
        object_table_put(&m->apps_by_address, object_hash_text(app->address), app);
        app->retries = 0;
        if (app->state == APP_UNKNOWN) /* it does not answer any more, and its next driver cannot know */
                app->next_executor = MAX(app->next_executor, app->stored_executors);
        has_answered(m, app);
        app->state = app->n_executors > 0 ? APP_RUNNING : APP_WAITING;
        found_again(m, app, peer);
        master_store(m, MASTER_RECORD_APP, app->id, app);
        master_emit(m, (struct master_action){MASTER_APP_REGISTERED, .peer = peer, .app = app});
        master_recovery_check(m);
}

/* Handles the registration of a further driver. Returns false for any other registration. */
static bool master_resume_app(struct master *m, uint64_t peer, const struct app_spec *spec)
{
        const char *id = spec->app_id && *spec->app_id ? spec->app_id : spec->resume_id;
        struct master_app *app = spec->resume.epoch > 0 && id ? master_app(m, id) : NULL;

        if (!app || app->resume.epoch == 0 || !spec->resume.token)
                return false;
        if (strcmp(app->resume.token, spec->resume.token) != 0) {
                master_log(m, LOG_WARN, "The driver at %s does not know the token of application %s", spec->address,
                           app->id);
                return false;
        }
        if (spec->resume.epoch == app->resume.epoch && strcmp(spec->address, app->address) == 0)
                return false;
        if (spec->resume.epoch > app->resume.epoch) {
                app_take_over(m, app, peer, spec);
        } else {
                master_log(m, LOG_WARN, "The driver %d of application %s at %s may not register: driver %d has it",
                           spec->resume.epoch, app->id, spec->address, app->resume.epoch);
                app_tell_superseded(m, app, peer);
        }
        return true;
}

void master_register_app(struct master *m, uint64_t peer, const struct app_spec *spec, int64_t now)
{
        master_begin(m, now);
        if (m->status == MASTER_STANDBY) {
                master_emit(m, (struct master_action){MASTER_IN_STANDBY, .peer = peer, .is_app = true,
                                                      .text = mem_strdup(spec->address)});
                return;
        }
        if (master_resume_app(m, peer, spec))
                return;
        struct master_app *app =
                object_table_find(&m->apps_by_address, object_hash_text(spec->address), has_address, spec->address);

        if (app && app->lost && !(spec->app_id && strcmp(spec->app_id, app->id) == 0)) {
                app_lose_address(m, app);
                app = NULL;
        }
        if (app) {
                master_log(m, LOG_INFO, "Attempted to re-register application at same address: %s", spec->address);
                found_again(m, app, peer);
                master_emit(m, (struct master_action){MASTER_APP_REGISTERED, .peer = peer, .app = app, .again = true});
                /* The leader that recorded it ended before it sent the id, so the application cannot know it. */
                if (!spec->app_id || !*spec->app_id) {
                        has_answered(m, app);
                        master_recovery_check(m);
                }
                return;
        }
        master_log(m, LOG_INFO, "Registering app %s", spec->name);
        char *id = m->config.app_name_as_id ? id_from_name(m, spec->name)
                                            : master_new_id(m, m->config.app_id_pattern, &m->next_app,
                                                            m->config.app_number_modulo, id_taken);

        app = master_add_app(m, id, spec, master_wall(m, m->now), peer, APP_WAITING);
        free(id);
        master_log(m, LOG_INFO, "Registered app %s with ID %s", app->name, app->id);
        master_store(m, MASTER_RECORD_APP, app->id, app);
        master_emit(m, (struct master_action){MASTER_APP_REGISTERED, .peer = peer, .app = app});
}

void master_app_changed(struct master *m, uint64_t peer, const char *app_id, const struct executor_target *targets,
                        int n_targets, int next_executor, int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);

        if (!app) {
                master_log(m, LOG_WARN, "Master change ack from unknown app: %s", app_id);
                return;
        }
        found_again(m, app, peer);
        has_answered(m, app);
        master_app_set_targets(app, targets, n_targets);
        app->next_executor = MAX(app->next_executor, next_executor);
        master_recovery_check(m);
}

bool master_request_executors(struct master *m, const char *app_id, const struct executor_target *targets, int n,
                              int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);

        if (!app) {
                master_log(m, LOG_WARN, "Unknown application %s requested executors", app_id);
                return false;
        }
        for (int i = 0; i < n; i++)
                master_log(m, LOG_INFO, "Application %s requested executors: %d of profile %d", app_id,
                           targets[i].executors, targets[i].profile.id);
        master_app_set_targets(app, targets, n);
        m->dirty = true;
        return true;
}

bool master_kill_executors(struct master *m, const char *app_id, const int *executors, int n, int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);

        if (!app) {
                master_log(m, LOG_WARN, "Unregistered application %s requested us to kill executors!", app_id);
                return false;
        }
        for (int i = 0; i < n; i++) {
                struct master_executor *e = master_executor(m, app, executors[i]);

                master_log(m, LOG_INFO, "Application %s requests to kill executor %d", app_id, executors[i]);
                if (e && !e->left)
                        kill_executor(m, e);
                else
                        master_log(m, LOG_WARN, "Application %s attempted to kill non-existent executors: %d", app_id,
                                   executors[i]);
        }
        return true;
}

/* ------------------------------------------------------------------------------------------------ ending */

static void app_retain(struct master *m, struct master_app *app)
{
        int retained = m->config.retained_apps;

        if ((int64_t)m->completed_apps.len >= retained) {
                size_t oldest = MIN((size_t)MAX(retained / 10, 1), m->completed_apps.len);

                for (size_t i = 0; i < oldest; i++)
                        master_bury(m, m->completed_apps.data[i], master_app_free);
                vec_drop(&m->completed_apps, oldest);
        }
        vec_push(&m->completed_apps, app);
}

void master_remove_app(struct master *m, struct master_app *app, enum app_state state)
{
        master_log(m, LOG_INFO, "Removing app %s", app->id);
        list_remove(&m->apps, app);
        app->prev = app->next = NULL;
        m->n_apps--;
        m->n_unknown_apps -= app->state == APP_UNKNOWN;
        m->n_lost_apps -= app->lost != 0;
        app->lost = 0;
        object_table_remove(&m->apps_by_id, object_hash_text(app->id), app);
        object_table_remove(&m->apps_by_address, object_hash_text(app->address), app);
        while (app->executors)
                kill_executor(m, app->executors);
        app->state = state;
        app->ended = master_wall(m, m->now);
        if (state != APP_FINISHED)
                master_emit(m, (struct master_action){MASTER_APP_REMOVED, .peer = app->peer, .app = app});
        master_remove_record(m, MASTER_RECORD_APP, app->id);
        master_emit(m, (struct master_action){MASTER_APP_FINISHED, .app = app});
        app->peer = 0;
        app_retain(m, app);
}

void master_unregister_app(struct master *m, const char *app_id, int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);

        master_log(m, LOG_INFO, "Received unregister request from application %s", app_id);
        if (app)
                master_remove_app(m, app, APP_FINISHED);
        master_recovery_check(m);
}

void master_app_disconnected(struct master *m, uint64_t peer, const char *app_id, int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);

        if (!app || app->peer != peer)
                return;
        int64_t timeout =
                app->resume.epoch > 0 ? MAX(m->config.app_timeout, app->resume.timeout) : m->config.app_timeout;

        if (timeout > 0) {
                master_log(m, LOG_INFO, "%s got disassociated, removing it unless it comes back within %lld ms.",
                           app->address, (long long)(timeout / NS_PER_MS));
                app->peer = 0;
                if (app->resume.epoch > 0) {
                        app_wait_for_driver(m, app, now + timeout);
                        master_recovery_check(m);
                } else {
                        app->lost = now + timeout;
                        m->n_lost_apps++;
                }
                return;
        }
        master_log(m, LOG_INFO, "%s got disassociated, removing it.", app->address);
        master_remove_app(m, app, APP_FINISHED);
        master_recovery_check(m);
}

void app_wait_for_driver(struct master *m, struct master_app *app, int64_t until)
{
        master_log(m, LOG_INFO, "Application %s waits for its next driver with %d executors", app->id,
                   app->n_executors);
        if (app->state == APP_UNKNOWN)
                app->next_executor = MAX(app->next_executor, app->stored_executors);
        app->stored_executors = app->next_executor;
        m->n_unknown_apps -= app->state == APP_UNKNOWN;
        m->n_lost_apps += app->lost == 0;
        app->lost = until;
        app->state = APP_WAITING_FOR_DRIVER;
        master_store(m, MASTER_RECORD_APP, app->id, app);
}

void master_remove_lost_apps(struct master *m)
{
        for (struct master_app *app = m->apps.first, *next; app && m->n_lost_apps > 0; app = next) {
                next = app->next;
                if (app->lost && app->lost <= m->now) {
                        master_log(m, LOG_INFO, "%s did not come back, removing it.", app->address);
                        master_remove_app(m, app, APP_FINISHED);
                }
        }
}

bool master_kill_app(struct master *m, const char *app_id, int64_t now)
{
        master_begin(m, now);
        struct master_app *app = master_app(m, app_id);

        if (!app)
                return false;
        master_remove_app(m, app, APP_KILLED);
        master_recovery_check(m);
        return true;
}
