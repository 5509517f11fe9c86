/* The list of applications and its filters; see api.h. */
#include "ui/api/api_internal.h"

#include "base/mem.h"

#include <pthread.h>

static void api_put_attempt(struct json_out *j, const struct app_attempt *t)
{
        json_begin(j);
        if (t->id)
                json_text(j, "attemptId", t->id);
        api_put_date(j, "startTime", t->start_ms);
        api_put_date(j, "endTime", t->end_ms);
        api_put_date(j, "lastUpdated", t->updated_ms);
        json_int(j, "duration", t->duration_ms);
        json_text(j, "sparkUser", t->user ? t->user : "");
        json_bool(j, "completed", t->completed);
        json_text(j, "appSparkVersion", t->spark_version ? t->spark_version : "");
        if (t->exit_code >= 0)
                json_int(j, "exitCode", t->exit_code);
        if (t->log_source)
                json_text(j, "logSourceName", t->log_source);
        if (t->log_dir)
                json_text(j, "logSourceFullPath", t->log_dir);
        json_int(j, "startTimeEpoch", t->start_ms);
        json_int(j, "endTimeEpoch", t->end_ms);
        json_int(j, "lastUpdatedEpoch", t->updated_ms);
        json_end(j);
}

static void api_put_application(struct json_out *j, const struct app_summary *app)
{
        json_begin(j);
        json_text(j, "id", app->id);
        json_text(j, "name", app->name ? app->name : "");
        json_list(j, "attempts");
        for (size_t i = 0; i < app->n_attempts; i++)
                api_put_attempt(j, &app->attempts[i]);
        json_list_end(j);
        json_end(j);
}

enum { APPLICATION_COMPLETED, APPLICATION_RUNNING };

struct api_application_filter {
        uint32_t states;
        int64_t min_start, max_start, min_end, max_end;
        int64_t now_ms;
};

/* An application runs if its latest attempt does. It passes if any of its attempts does. */
static bool api_application_passes(const struct api_application_filter *f, const struct app_summary *app)
{
        bool runs = app->n_attempts == 0 || !app->attempts[0].completed;
        if (f->states && !(f->states >> (runs ? APPLICATION_RUNNING : APPLICATION_COMPLETED) & 1))
                return false;
        for (size_t i = 0; i < app->n_attempts; i++) {
                const struct app_attempt *t = &app->attempts[i];
                bool end = runs ? f->max_end > f->now_ms : t->end_ms >= f->min_end && t->end_ms <= f->max_end;
                if (end && t->start_ms >= f->min_start && t->start_ms <= f->max_start)
                        return true;
        }
        return false;
}

/*
 * The list of a history server takes some 300 bytes for each application. Readers that are served at the same time
 * share it.
 */
struct api_shared_list {
        struct app_list list;
        struct app_source *source;
        uint64_t version;
        size_t n_users;
};

static pthread_mutex_t api_list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct api_shared_list *api_newest_list; /* that has users; NULL: none */

static struct api_shared_list *api_list_take(struct app_source *source)
{
        uint64_t version = source->class->version ? source->class->version(source) : 0;
        pthread_mutex_lock(&api_list_lock);
        struct api_shared_list *shared = api_newest_list;
        if (shared && version && shared->source == source && shared->version == version) {
                shared->n_users++;
                pthread_mutex_unlock(&api_list_lock);
                return shared;
        }
        pthread_mutex_unlock(&api_list_lock);
        shared = new0(struct api_shared_list);
        *shared = (struct api_shared_list){.source = source, .version = version, .n_users = 1};
        source->class->list(source, NULL, &shared->list); /* may be newer than its version: the next one reads again */
        if (version) {
                pthread_mutex_lock(&api_list_lock);
                api_newest_list = shared;
                pthread_mutex_unlock(&api_list_lock);
        }
        return shared;
}

static void api_list_release(struct api_shared_list *shared)
{
        pthread_mutex_lock(&api_list_lock);
        bool is_last = --shared->n_users == 0;
        if (is_last && api_newest_list == shared)
                api_newest_list = NULL;
        pthread_mutex_unlock(&api_list_lock);
        if (!is_last)
                return;
        app_list_deinit(&shared->list);
        free(shared);
}

/* Writes the applications that pass a filter. */
struct api_application_steps {
        struct api_steps steps;
        struct api_shared_list *shared;
        struct api_application_filter filter;
        size_t at;
        int left; /* of the limit */
};

static int api_application_steps_step(struct api_steps *steps, struct api_call *c)
{
        struct api_application_steps *w = container_of(steps, struct api_application_steps, steps);
        const struct app_list *list = &w->shared->list;
        for (; w->at < list->apps.len && w->left > 0; w->at++) {
                if (api_piece_is_full(c))
                        return 1;
                if (api_application_passes(&w->filter, &list->apps.data[w->at])) {
                        api_put_application(&c->json, &list->apps.data[w->at]);
                        w->left--;
                }
        }
        json_list_end(&c->json);
        return 0;
}

static void api_application_steps_free(struct api_steps *steps)
{
        struct api_application_steps *w = container_of(steps, struct api_application_steps, steps);
        api_list_release(w->shared);
        free(w);
}

void api_serve_application_list(struct api_call *c)
{
        static const char *const states[] = {[APPLICATION_COMPLETED] = "completed", [APPLICATION_RUNNING] = "running"};
        enum { Y2010_S = 1262304000 };
        const int64_t y3000_s = INT64_C(32503680000);
        struct api_application_filter f = {.min_start = Y2010_S * INT64_C(1000),
                                           .max_start = y3000_s * 1000,
                                           .min_end = Y2010_S * INT64_C(1000),
                                           .max_end = y3000_s * 1000,
                                           .now_ms = c->q->now_ms};
        int limit = INT32_MAX;
        if (!api_get_set(c, "status", states, ARRAY_SIZE(states), &f.states) ||
            !api_get_date(c, "minDate", &f.min_start) || !api_get_date(c, "maxDate", &f.max_start) ||
            !api_get_date(c, "minEndDate", &f.min_end) || !api_get_date(c, "maxEndDate", &f.max_end) ||
            !api_get_int(c, "limit", &limit))
                return;
        struct api_application_steps *w = new0(struct api_application_steps);
        *w = (struct api_application_steps){
                .steps = {.step = api_application_steps_step, .free = api_application_steps_free},
                .shared = api_list_take(c->q->source),
                .filter = f,
                .left = limit};
        json_list(&c->json, NULL);
        api_run_steps(c, &w->steps);
}

void api_serve_application(struct api_call *c)
{
        struct app_list list = {0};
        c->q->source->class->list(c->q->source, c->app_id, &list);
        if (list.apps.len)
                api_put_application(&c->json, &list.apps.data[0]);
        else
                api_fail(c, 404, "unknown app: %s", c->app_id);
        app_list_deinit(&list);
}

void api_serve_attempt(struct api_call *c)
{
        struct app_list list = {0};
        const struct app_attempt *found = NULL;
        c->q->source->class->list(c->q->source, c->app_id, &list);
        for (size_t i = 0; list.apps.len && i < list.apps.data[0].n_attempts; i++) {
                const struct app_attempt *t = &list.apps.data[0].attempts[i];
                if (t->id && strcmp(t->id, c->attempt) == 0)
                        found = t;
        }
        if (found)
                api_put_attempt(&c->json, found);
        else
                api_fail(c, 404, "unknown app %s, attempt %s", c->app_id, c->attempt);
        app_list_deinit(&list);
}
