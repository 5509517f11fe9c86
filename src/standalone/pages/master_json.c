/* See master_json.h. Sums are over workers that are ALIVE. */
#include "standalone/pages/master_json.h"

#include "standalone/core/master_state.h"

#include <stdio.h>
#include <time.h>

enum which { ALL, USED, FREE };

void put_java_date(struct buf *out, int64_t ms)
{
        static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        time_t seconds = (time_t)(ms / 1000);
        struct tm tm;
        localtime_r(&seconds, &tm);
        buf_printf(out, "%s %s %02d %02d:%02d:%02d %s %d", days[tm.tm_wday], months[tm.tm_mon], tm.tm_mday, tm.tm_hour,
                   tm.tm_min, tm.tm_sec, tm.tm_zone, tm.tm_year + 1900);
}

static void put_date(struct json_out *j, const char *name, int64_t ms)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        put_java_date(&text, ms);
        json_text(j, name, buf_text(&text));
}

const struct master_app *master_any_app(const struct master *m, const char *id)
{
        const struct master_app *app = master_app(m, id);
        for (size_t i = 0; !app && i < m->completed_apps.len; i++)
                if (strcmp(m->completed_apps.data[i]->id, id) == 0)
                        app = m->completed_apps.data[i];
        return app;
}

struct master_sums master_sums(const struct master *m)
{
        struct master_sums s = {.workers = (int)m->alive.len};
        for (size_t i = 0; i < m->alive.len; i++) {
                s.cores += m->alive.data[i]->cores;
                s.cores_used += m->alive.data[i]->cores_used;
                s.memory += m->alive.data[i]->memory;
                s.memory_used += m->alive.data[i]->memory_used;
        }
        return s;
}

int64_t master_app_duration(const struct master *m, const struct master_app *app, int64_t now)
{
        return (app->ended ? app->ended : master_wall(m, now)) - app->submitted;
}

void json_begin_resource(struct json_out *j, const char *name)
{
        json_begin_in(j, name);
        json_text(j, "name", name);
        json_list(j, "addresses");
}

void json_end_resource(struct json_out *j)
{
        json_list_end(j);
        json_end(j);
}

static void put_worker_resources(struct json_out *j, const char *name, const struct master_worker *w, enum which which)
{
        json_begin_in(j, name);
        for (int i = 0; i < w->n_resources; i++) {
                const struct worker_resource *r = &w->resources[i];
                json_begin_resource(j, r->name);
                for (int k = 0; k < r->n; k++)
                        if (which == ALL || r->used[k] == (which == USED))
                                json_text(j, NULL, r->addresses[k]);
                json_end_resource(j);
        }
        json_end(j);
}

static void put_worker(struct json_out *j, const struct master *m, const struct master_worker *w)
{
        json_begin(j);
        json_text(j, "id", w->id);
        json_text(j, "host", w->host);
        json_int(j, "port", w->port);
        json_text(j, "webuiaddress", w->web_ui);
        json_int(j, "cores", w->cores);
        json_int(j, "coresused", w->cores_used);
        json_int(j, "coresfree", worker_cores_free(w));
        json_int(j, "memory", w->memory);
        json_int(j, "memoryused", w->memory_used);
        json_int(j, "memoryfree", worker_memory_free(w));
        put_worker_resources(j, "resources", w, ALL);
        put_worker_resources(j, "resourcesused", w, USED);
        put_worker_resources(j, "resourcesfree", w, FREE);
        json_text(j, "state", worker_state_name(w->state));
        json_int(j, "lastheartbeat", master_wall(m, w->last_heartbeat));
        json_end(j);
}

static void master_json_put_needs(struct json_out *j, const char *name, const struct owned_needs *needs)
{
        json_list(j, name);
        for (int i = 0; needs && i < needs->n; i++) {
                json_begin(j);
                json_text(j, "name", needs->data[i].name);
                json_int(j, "amount", needs->data[i].amount);
                json_end(j);
        }
        json_list_end(j);
}

static void put_app(struct json_out *j, const struct master *m, const struct master_app *app, int64_t now)
{
        const struct app_profile *profile = app->profiles.len ? app->profiles.data[0] : NULL;
        int64_t memory = profile ? profile->memory : 0;
        const struct owned_needs *needs = profile ? &profile->needs : NULL;
        json_begin(j);
        json_text(j, "id", app->id);
        json_int(j, "starttime", app->submitted);
        json_text(j, "name", app->name);
        json_int(j, "cores", app->cores_granted);
        json_text(j, "user", app->user);
        json_int(j, "memoryperexecutor", memory);
        json_int(j, "memoryperslave", memory);
        master_json_put_needs(j, "resourcesperexecutor", needs);
        master_json_put_needs(j, "resourcesperslave", needs);
        put_date(j, "submitdate", app->submitted);
        json_text(j, "state", app_state_name(app->state));
        json_int(j, "duration", master_app_duration(m, app, now));
        json_end(j);
}

static void put_holds(struct json_out *j, const char *name, const struct master_worker *w,
                      const struct resource_hold *holds, int n)
{
        json_begin_in(j, name);
        for (int i = 0; w && i < n; i++) {
                const struct worker_resource *r = &w->resources[holds[i].resource];
                json_begin_resource(j, r->name);
                for (int k = 0; k < holds[i].n; k++)
                        json_text(j, NULL, r->addresses[holds[i].addresses[k]]);
                json_end_resource(j);
        }
        json_end(j);
}

static void put_driver(struct json_out *j, const struct master_driver *d)
{
        char started[32];
        snprintf(started, sizeof(started), "%lld", (long long)d->submitted);
        json_begin(j);
        json_text(j, "id", d->id);
        json_text(j, "starttime", started);
        json_text(j, "state", driver_state_name(d->state));
        json_int(j, "cores", d->cores);
        json_int(j, "memory", d->memory);
        put_holds(j, "resources", d->worker, d->holds, d->n_holds);
        put_date(j, "submitdate", d->submitted);
        json_text(j, "worker", d->worker_id ? d->worker_id : "None");
        json_text(j, "mainclass", d->main_class);
        json_end(j);
}

static void put_all_resources(struct json_out *j, const struct master *m, const char *name, enum which which)
{
        json_list(j, name);
        for (size_t i = 0; i < m->alive.len; i++)
                put_worker_resources(j, NULL, m->alive.data[i], which);
        json_list_end(j);
}

static void put_all_workers(struct json_out *j, const struct master *m)
{
        json_list(j, "workers");
        for (const struct master_worker *w = m->workers.first; w; w = w->next)
                put_worker(j, m, w);
        for (const struct master_worker *w = m->dead.first; w; w = w->next)
                put_worker(j, m, w);
        json_list_end(j);
}

static void put_all_apps(struct json_out *j, const struct master *m, int64_t now, bool active)
{
        json_list(j, active ? "activeapps" : "completedapps");
        for (const struct master_app *app = active ? m->apps.first : NULL; app; app = app->next)
                put_app(j, m, app, now);
        for (size_t i = 0; !active && i < m->completed_apps.len; i++)
                put_app(j, m, m->completed_apps.data[i], now);
        json_list_end(j);
}

static void put_all_drivers(struct json_out *j, const struct master *m, bool active)
{
        json_list(j, active ? "activedrivers" : "completeddrivers");
        for (const struct master_driver *d = active ? m->drivers.first : NULL; d; d = d->next)
                put_driver(j, d);
        for (size_t i = 0; !active && i < m->completed_drivers.len; i++)
                put_driver(j, m->completed_drivers.data[i]);
        json_list_end(j);
}

/* A request for all fields (@only is NULL) or for one. */
struct field_request {
        const char *only;
        bool found;
};

static bool field_is_requested(struct field_request *request, const char *name)
{
        bool requested = !request->only || strcmp(request->only, name) == 0;
        request->found |= requested;
        return requested;
}

/* The fields are in Spark's order. */
void master_json_put(const struct master *m, const struct master_info *info, const char *field, struct buf *out)
{
        struct json_out j = {.out = out};
        struct field_request request = {.only = field};
        const struct master_sums sums = master_sums(m);
        json_begin(&j);
        if (field_is_requested(&request, "url"))
                json_text(&j, "url", info->url);
        if (field_is_requested(&request, "workers"))
                put_all_workers(&j, m);
        if (field_is_requested(&request, "aliveworkers"))
                json_int(&j, "aliveworkers", sums.workers);
        if (field_is_requested(&request, "cores"))
                json_int(&j, "cores", sums.cores);
        if (field_is_requested(&request, "coresused"))
                json_int(&j, "coresused", sums.cores_used);
        if (field_is_requested(&request, "memory"))
                json_int(&j, "memory", sums.memory);
        if (field_is_requested(&request, "memoryused"))
                json_int(&j, "memoryused", sums.memory_used);
        if (field_is_requested(&request, "resources"))
                put_all_resources(&j, m, "resources", ALL);
        if (field_is_requested(&request, "resourcesused"))
                put_all_resources(&j, m, "resourcesused", USED);
        if (field_is_requested(&request, "activeapps"))
                put_all_apps(&j, m, info->now, true);
        if (field_is_requested(&request, "completedapps"))
                put_all_apps(&j, m, info->now, false);
        if (field_is_requested(&request, "activedrivers"))
                put_all_drivers(&j, m, true);
        if (field_is_requested(&request, "completeddrivers"))
                put_all_drivers(&j, m, false);
        if (field_is_requested(&request, "status"))
                json_text(&j, "status", master_status_name(m->status));
        if (!request.found)
                json_text(&j, field, "");
        json_end(&j);
}

void master_json_put_utilization(const struct master *m, struct buf *out)
{
        struct json_out j = {.out = out};
        struct master_sums s = master_sums(m);
        json_begin(&j);
        json_int(&j, "waitingDrivers", m->n_waiting_drivers);
        json_int(&j, "cores", s.cores);
        json_int(&j, "coresused", s.cores_used);
        json_int(&j, "coresutilization", s.cores ? 100 * (int64_t)s.cores_used / s.cores : 100);
        json_int(&j, "memory", s.memory);
        json_int(&j, "memoryused", s.memory_used);
        json_int(&j, "memoryutilization", s.memory ? 100 * s.memory_used / s.memory : 100);
        json_end(&j);
}

void master_json_put_app(const struct master *m, const struct master_info *info, const char *id, struct buf *out)
{
        const struct master_app *app = master_any_app(m, id);
        struct json_out j = {.out = out};
        if (app)
                put_app(&j, m, app, info->now);
        else
                buf_puts(out, "null");
}
