/* The list of applications and its filters; see api.h. */
#include "ui/api/api_internal.h"

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
        struct app_list list = {0};
        if (!api_get_set(c, "status", states, ARRAY_SIZE(states), &f.states) ||
            !api_get_date(c, "minDate", &f.min_start) || !api_get_date(c, "maxDate", &f.max_start) ||
            !api_get_date(c, "minEndDate", &f.min_end) || !api_get_date(c, "maxEndDate", &f.max_end) ||
            !api_get_int(c, "limit", &limit))
                return;
        c->q->source->class->list(c->q->source, NULL, &list);
        json_list(&c->json, NULL);
        for (size_t i = 0; i < list.apps.len && limit > 0; i++)
                if (api_application_passes(&f, &list.apps.data[i])) {
                        api_put_application(&c->json, &list.apps.data[i]);
                        limit--;
                }
        json_list_end(&c->json);
        app_list_deinit(&list);
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
