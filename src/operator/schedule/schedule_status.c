/* The status of a schedule and its JSON. */
#include "operator/schedule/schedule_status.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/rfc3339.h"
#include "text/json.h"

static const char *const schedule_state_names[] = {
        [SCHEDULE_NEW] = "",
        [SCHEDULE_SCHEDULED] = "Scheduled",
        [SCHEDULE_FAILED_VALIDATION] = "FailedValidation",
};

void schedule_status_deinit(struct schedule_status *s)
{
        free(s->reason);
        free(s->last_run_name);
        string_list_deinit(&s->successful);
        string_list_deinit(&s->failed);
        *s = (struct schedule_status){0};
}

static void schedule_names_copy(struct string_list *to, const struct string_list *from)
{
        *to = (struct string_list){0};
        for (size_t i = 0; i < from->len; i++)
                string_list_add(to, from->data[i]);
}

void schedule_status_copy(struct schedule_status *to, const struct schedule_status *from)
{
        *to = *from;
        to->reason = mem_strdup_if(from->reason);
        to->last_run_name = mem_strdup_if(from->last_run_name);
        schedule_names_copy(&to->successful, &from->successful);
        schedule_names_copy(&to->failed, &from->failed);
}

static bool schedule_names_equal(const struct string_list *a, const struct string_list *b)
{
        if (a->len != b->len)
                return false;
        for (size_t i = 0; i < a->len; i++)
                if (strcmp(a->data[i], b->data[i]) != 0)
                        return false;
        return true;
}

bool schedule_status_equal(const struct schedule_status *a, const struct schedule_status *b)
{
        return a->state == b->state && text_equals(a->reason, b->reason) &&
               a->last_run_ms / 1000 == b->last_run_ms / 1000 && a->next_run_ms / 1000 == b->next_run_ms / 1000 &&
               text_equals(a->last_run_name, b->last_run_name) &&
               schedule_names_equal(&a->successful, &b->successful) && schedule_names_equal(&a->failed, &b->failed);
}

static void schedule_names_read(const json_t *json, struct string_list *out)
{
        const json_t *name;
        size_t i;
        json_array_foreach((json_t *)json, i, name)
                if (json_is_string(name))
                        string_list_add(out, json_string_value(name));
}

void schedule_status_read(const json_t *json, struct schedule_status *out)
{
        const char *state = json_text_or_empty(json, "scheduleState"), *reason = json_text_at(json, "reason");
        *out = (struct schedule_status){.reason = reason && *reason ? mem_strdup(reason) : NULL,
                                        .last_run_ms = rfc3339_parse(json_text_at(json, "lastRun")),
                                        .next_run_ms = rfc3339_parse(json_text_at(json, "nextRun")),
                                        .last_run_name = mem_strdup_if(json_text_at(json, "lastRunName"))};
        for (size_t i = 0; i < ARRAY_SIZE(schedule_state_names); i++)
                if (strcmp(state, schedule_state_names[i]) == 0)
                        out->state = (enum schedule_state)i;
        schedule_names_read(json_object_get(json, "pastSuccessfulRunNames"), &out->successful);
        schedule_names_read(json_object_get(json, "pastFailedRunNames"), &out->failed);
}

static void schedule_put_time(json_t *json, const char *name, int64_t ms)
{
        char text[RFC3339_TEXT];
        if (ms == 0)
                return;
        rfc3339_format(ms, text);
        json_object_set_new(json, name, json_string(text));
}

static void schedule_put_names(json_t *json, const char *name, const struct string_list *names)
{
        if (names->len == 0)
                return;
        json_t *list = json_array();
        for (size_t i = 0; i < names->len; i++)
                json_array_append_new(list, json_string(names->data[i]));
        json_object_set_new(json, name, list);
}

json_t *schedule_status_json(const struct schedule_status *s)
{
        json_t *json = json_object();
        schedule_put_time(json, "lastRun", s->last_run_ms);
        schedule_put_time(json, "nextRun", s->next_run_ms);
        if (s->last_run_name)
                json_object_set_new(json, "lastRunName", json_string(s->last_run_name));
        schedule_put_names(json, "pastSuccessfulRunNames", &s->successful);
        schedule_put_names(json, "pastFailedRunNames", &s->failed);
        if (s->state != SCHEDULE_NEW)
                json_object_set_new(json, "scheduleState", json_string(schedule_state_names[s->state]));
        if (s->reason)
                json_object_set_new(json, "reason", json_string(s->reason));
        return json;
}
