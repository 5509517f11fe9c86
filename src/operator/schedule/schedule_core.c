/*
 * One record per schedule: its settings, the last status that the API server has, its runs.
 *
 * A run that was created and whose name is not in the server's status yet is `started`. It becomes part of each status
 * that is written until one was stored.
 */
#include "operator/schedule/schedule_core.h"

#include "base/error.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/queue.h"
#include "base/string_prefix.h"
#include "operator/resources/spark_application.h"
#include "operator/schedule/cron.h"
#include "operator/schedule/rfc3339.h"
#include "operator/schedule/time_zone.h"
#include "text/json.h"

#include <inttypes.h>

struct schedule_run {
        struct schedule_run *prev, *next;
        char *name, *uid, *owner_uid; /* owner_uid may be NULL */
        int64_t created_ms;
        bool leaving;
        enum application_state state;
};

struct schedule {
        struct schedule *prev, *next;
        char *namespace, *name, *uid;
        bool known; /* the object was observed; before, only runs */
        bool leaving, suspend;
        uint64_t version;
        char *expression, *zone;
        struct cron *cron;
        char *invalid; /* the parser's message */
        enum schedule_concurrency concurrency;
        int32_t successful_limit, failed_limit;
        struct schedule_status status; /* the server's */
        LIST(struct schedule_run) runs;

        uint64_t ticket; /* of the action under way; 0: none */
        enum schedule_action_kind action;
        int64_t next_run_ms;            /* ours; 0: take the status' */
        int64_t started_ms;             /* of `started` */
        char *started, *acting;         /* acting: the run that the action under way creates or deletes */
        char *failure;                  /* why the last run was given up */
        bool changed;                   /* the expression has changed since nextRun was computed */
        struct schedule_status written; /* under way */
};

struct schedule_core {
        enum schedule_precision precision;
        bool synced;
        uint64_t last_ticket;
        struct object_table table;
        LIST(struct schedule) schedules;
        QUEUE(struct schedule_action) actions;
};

struct schedule_key {
        const char *namespace, *name;
};

/* ------------------------------------------------------------------------------------------------------- records */

static bool schedule_has_key(const void *object, const void *key)
{
        const struct schedule *s = object;
        const struct schedule_key *k = key;
        return strcmp(s->name, k->name) == 0 && strcmp(s->namespace, k->namespace) == 0;
}

static uint64_t schedule_hash(const char *namespace, const char *name)
{
        return object_hash_number(object_hash_text(namespace) ^ object_hash_text(name) * 31);
}

static struct schedule *schedule_find(const struct schedule_core *core, const char *namespace, const char *name)
{
        return object_table_find(&core->table, schedule_hash(namespace, name), schedule_has_key,
                                 &(struct schedule_key){namespace, name});
}

static struct schedule *schedule_find_or_add(struct schedule_core *core, const char *namespace, const char *name)
{
        struct schedule *s = schedule_find(core, namespace, name);
        if (s)
                return s;
        s = new0(struct schedule);
        s->namespace = mem_strdup(namespace);
        s->name = mem_strdup(name);
        list_append(&core->schedules, s);
        object_table_put(&core->table, schedule_hash(namespace, name), s);
        return s;
}

static void schedule_run_free(struct schedule *s, struct schedule_run *run)
{
        list_remove(&s->runs, run);
        free(run->name);
        free(run->uid);
        free(run->owner_uid);
        free(run);
}

/* Forgets all that belongs to the object of the old uid. Keeps the runs. */
static void schedule_reset(struct schedule *s)
{
        cron_free(steal(s->cron));
        free(steal(s->uid));
        free(steal(s->expression));
        free(steal(s->zone));
        free(steal(s->invalid));
        free(steal(s->started));
        free(steal(s->acting));
        free(steal(s->failure));
        schedule_status_deinit(&s->status);
        schedule_status_deinit(&s->written);
        s->known = s->changed = false;
        s->ticket = s->version = 0;
        s->next_run_ms = s->started_ms = 0;
}

static void schedule_free(struct schedule_core *core, struct schedule *s)
{
        object_table_remove(&core->table, schedule_hash(s->namespace, s->name), s);
        list_remove(&core->schedules, s);
        schedule_reset(s);
        while (s->runs.first)
                schedule_run_free(s, s->runs.first);
        free(s->namespace);
        free(s->name);
        free(s);
}

struct schedule_core *schedule_core_new(enum schedule_precision precision)
{
        struct schedule_core *core = new0(struct schedule_core);
        core->precision = precision;
        return core;
}

void schedule_action_deinit(struct schedule_action *a)
{
        free(a->namespace);
        free(a->name);
        free(a->uid);
        free(a->run);
        free(a->run_uid);
        schedule_status_deinit(&a->status);
}

void schedule_core_free(struct schedule_core *core)
{
        if (!core)
                return;
        while (core->schedules.first)
                schedule_free(core, core->schedules.first);
        object_table_deinit(&core->table);
        for (struct schedule_action a; queue_pop(&core->actions, &a);)
                schedule_action_deinit(&a);
        queue_deinit(&core->actions);
        free(core);
}

/* -------------------------------------------------------------------------------------------------- observations */

static uint64_t schedule_version(const json_t *object)
{
        return strtoull(json_text_or_empty(object, "metadata.resourceVersion"), NULL, 10);
}

static int32_t schedule_limit(const json_t *spec, const char *name)
{
        const json_t *limit = json_object_get(spec, name);
        json_int_t value = json_integer_value(limit);
        return json_is_integer(limit) && value >= 0 ? (int32_t)MIN(value, (json_int_t)INT32_MAX) : 1;
}

void schedule_observation_read(const json_t *object, struct schedule_observation *out)
{
        const json_t *spec = json_object_get(object, "spec");
        const char *policy = json_text_or_empty(spec, "concurrencyPolicy");
        *out = (struct schedule_observation){.namespace = json_text_or_empty(object, "metadata.namespace"),
                                             .name = json_text_or_empty(object, "metadata.name"),
                                             .uid = json_text_or_empty(object, "metadata.uid"),
                                             .version = schedule_version(object),
                                             .leaving = json_text_at(object, "metadata.deletionTimestamp"),
                                             .suspend = json_is_true(json_object_get(spec, "suspend")),
                                             .schedule = json_text_or_empty(spec, "schedule"),
                                             .time_zone = json_text_at(spec, "timeZone"),
                                             .successful_limit = schedule_limit(spec, "successfulRunHistoryLimit"),
                                             .failed_limit = schedule_limit(spec, "failedRunHistoryLimit")};
        if (strcmp(policy, "Forbid") == 0)
                out->concurrency = SCHEDULE_FORBID;
        else if (strcmp(policy, "Replace") == 0)
                out->concurrency = SCHEDULE_REPLACE;
        schedule_status_read(json_object_get(object, "status"), &out->status);
}

bool run_observation_read(const json_t *object, struct run_observation *out)
{
        const json_t *metadata = json_object_get(object, "metadata");
        const json_t *label = json_object_get(json_object_get(metadata, "labels"), LABEL_SCHEDULED_APP_NAME);
        if (!json_is_string(label))
                return false;
        const json_t *owner =
                json_find(json_object_get(metadata, "ownerReferences"), "kind", "ScheduledSparkApplication");
        *out = (struct run_observation){
                .namespace = json_text_or_empty(metadata, "namespace"),
                .name = json_text_or_empty(metadata, "name"),
                .uid = json_text_or_empty(metadata, "uid"),
                .schedule = json_string_value(label),
                .owner_uid = json_text_at(owner, "uid"),
                .created_ms = rfc3339_parse(json_text_at(metadata, "creationTimestamp")),
                .leaving = json_text_at(metadata, "deletionTimestamp"),
                .state = application_state_parse(json_text_at(object, "status.applicationState.state"))};
        return true;
}

/* Parses the expression again if it or the zone differ. */
static void schedule_set_expression(struct schedule *s, const char *expression, const char *zone)
{
        zone = zone && *zone ? zone : "Local";
        if (text_equals(s->expression, expression) && text_equals(s->zone, zone))
                return;
        s->changed = s->expression != NULL;
        free(s->expression);
        free(s->zone);
        free(steal(s->invalid));
        cron_free(steal(s->cron));
        s->expression = mem_strdup(expression);
        s->zone = mem_strdup(zone);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct time_zone *loaded = NULL;
        int r = time_zone_load(s->zone, &loaded, &error);
        time_zone_free(loaded);
        if (r < 0)
                error_wrap(&error, r, "Invalid timezone");
        else
                r = cron_parse(expression, s->zone, &s->cron, &error);
        if (r < 0)
                s->invalid = mem_strdup(error_message(&error));
}

bool schedule_core_observe(struct schedule_core *core, const struct schedule_observation *o)
{
        struct schedule *s = schedule_find_or_add(core, o->namespace, o->name);
        if (s->known && strcmp(s->uid, o->uid) != 0)
                schedule_reset(s);
        if (s->known && o->version && o->version < s->version)
                return false;
        if (!s->known)
                s->uid = mem_strdup(o->uid);
        s->known = true;
        s->leaving = o->leaving;
        s->suspend = o->suspend;
        s->version = o->version;
        s->concurrency = o->concurrency;
        s->successful_limit = o->successful_limit;
        s->failed_limit = o->failed_limit;
        schedule_status_deinit(&s->status);
        schedule_status_copy(&s->status, &o->status);
        schedule_set_expression(s, o->schedule, o->time_zone);
        return true;
}

bool schedule_core_removed(struct schedule_core *core, const char *namespace, const char *name)
{
        struct schedule *s = schedule_find(core, namespace, name);
        if (!s)
                return false;
        schedule_reset(s);
        if (!s->runs.first)
                schedule_free(core, s);
        return false;
}

static struct schedule_run *schedule_run_find(const struct schedule *s, const char *name)
{
        for (struct schedule_run *run = s->runs.first; run; run = run->next)
                if (strcmp(run->name, name) == 0)
                        return run;
        return NULL;
}

bool schedule_core_observe_run(struct schedule_core *core, const struct run_observation *o)
{
        struct schedule *s = schedule_find_or_add(core, o->namespace, o->schedule);
        struct schedule_run *run = schedule_run_find(s, o->name);
        if (run && strcmp(run->uid, o->uid) != 0) {
                schedule_run_free(s, run);
                run = NULL;
        }
        bool changed = !run || run->state != o->state || run->leaving != o->leaving;
        if (!run) {
                run = new0(struct schedule_run);
                run->name = mem_strdup(o->name);
                run->uid = mem_strdup(o->uid);
                run->owner_uid = mem_strdup_if(o->owner_uid);
                run->created_ms = o->created_ms;
                struct schedule_run *at = s->runs.last; /* oldest first; names decide between equal times */
                while (at && (at->created_ms > run->created_ms ||
                              (at->created_ms == run->created_ms && strcmp(at->name, run->name) > 0)))
                        at = at->prev;
                list_insert_after(&s->runs, at, run);
        }
        run->state = o->state;
        run->leaving = o->leaving;
        return changed && s->known;
}

const char *schedule_core_run_removed(struct schedule_core *core, const char *namespace, const char *name,
                                      const char *uid)
{
        for (struct schedule *s = core->schedules.first; s; s = s->next) {
                struct schedule_run *run = strcmp(s->namespace, namespace) == 0 ? schedule_run_find(s, name) : NULL;
                if (!run || (*uid && strcmp(run->uid, uid) != 0))
                        continue;
                schedule_run_free(s, run);
                if (s->known)
                        return s->name;
                if (!s->runs.first)
                        schedule_free(core, s);
                return NULL;
        }
        return NULL;
}

void schedule_core_synced(struct schedule_core *core)
{
        core->synced = true;
}

/* ----------------------------------------------------------------------------------------------------- decisions */

/* Whether the run belongs to the object, not to an earlier one of its name. */
static bool schedule_owns(const struct schedule *s, const struct schedule_run *run)
{
        return !run->owner_uid || strcmp(run->owner_uid, s->uid) == 0;
}

static char *schedule_run_name(const struct schedule_core *core, const struct schedule *s, int64_t at)
{
        switch (core->precision) {
        case SCHEDULE_MICROS:
                return mem_printf("%s-%" PRId64, s->name, at * 1000);
        case SCHEDULE_MILLIS:
                return mem_printf("%s-%" PRId64, s->name, at);
        case SCHEDULE_SECONDS:
                return mem_printf("%s-%" PRId64, s->name, at / 1000);
        case SCHEDULE_MINUTES:
                return mem_printf("%s-%" PRId64, s->name, at / 60000);
        default:
                return mem_printf("%s-%" PRId64, s->name, at * 1000000);
        }
}

static void schedule_emit(struct schedule_core *core, struct schedule *s, enum schedule_action_kind kind,
                          const struct schedule_run *run)
{
        if (run)
                s->acting = mem_strdup(run->name);
        struct schedule_action a = {.kind = kind,
                                    .ticket = ++core->last_ticket,
                                    .namespace = mem_strdup(s->namespace),
                                    .name = mem_strdup(s->name),
                                    .uid = mem_strdup(s->uid),
                                    .version = s->version,
                                    .run = mem_strdup_if(s->acting),
                                    .run_uid = mem_strdup_if(run ? run->uid : NULL)};
        if (kind == SCHEDULE_WRITE_STATUS)
                schedule_status_copy(&a.status, &s->written);
        s->ticket = a.ticket;
        s->action = kind;
        queue_push(&core->actions, a);
}

/* Notes that the run of nextRun exists. */
static void schedule_start(struct schedule *s, const char *run, int64_t now)
{
        free(s->started);
        s->started = mem_strdup(run);
        s->started_ms = now;
        s->next_run_ms = cron_next(s->cron, MAX(now, s->next_run_ms));
        free(steal(s->failure));
}

/* Sets nextRun. Its first value, and that after a change of the expression, come from now on. */
static void schedule_update_next(struct schedule *s, int64_t now)
{
        /* Occurrences up to the last run are over, also if the clock was set back since. */
        int64_t last = MAX(s->status.last_run_ms, s->started_ms), next = cron_next(s->cron, MAX(now, last));
        if (s->next_run_ms == 0 && !s->changed)
                s->next_run_ms = s->status.next_run_ms;
        if (s->next_run_ms == 0 || s->changed || next < s->next_run_ms)
                s->next_run_ms = next;
        s->changed = false;
}

/*
 * Starts the run of nextRun if it is due and permitted. Returns true if it emitted an action. Sets *@started if the run
 * exists already.
 */
static bool schedule_start_if_due(struct schedule_core *core, struct schedule *s, int64_t now, bool *started)
{
        if (s->suspend || s->next_run_ms > now || s->next_run_ms == 0)
                return false;
        _cleanup_free_ char *name = schedule_run_name(core, s, s->next_run_ms);
        struct schedule_run *existing = schedule_run_find(s, name);
        if (existing && schedule_owns(s, existing)) {
                schedule_start(s, name, now);
                *started = true;
                return false;
        }
        struct schedule_run *unfinished = NULL;
        for (struct schedule_run *run = s->runs.first; run && !unfinished; run = run->next)
                if (schedule_owns(s, run) && !application_state_is_final(run->state) && !run->leaving)
                        unfinished = run;
        if (unfinished && s->concurrency == SCHEDULE_FORBID)
                return false;
        if (unfinished && s->concurrency == SCHEDULE_REPLACE) {
                schedule_emit(core, s, SCHEDULE_DELETE_RUN, unfinished);
                return true;
        }
        s->acting = steal(name);
        schedule_emit(core, s, SCHEDULE_CREATE_RUN, NULL);
        return true;
}

/* Collects the names of ended runs, newest first. Returns the oldest run beyond a limit of the history, or NULL. */
static struct schedule_run *schedule_history(const struct schedule *s, struct schedule_status *status)
{
        struct schedule_run *beyond = NULL;
        for (struct schedule_run *run = s->runs.last; run; run = run->prev) {
                bool failed = run->state == APPLICATION_FAILED;
                struct string_list *names = failed ? &status->failed : &status->successful;
                int32_t limit = failed ? s->failed_limit : s->successful_limit;
                if (!schedule_owns(s, run) || !application_state_is_final(run->state) || run->leaving)
                        continue;
                if (names->len < (size_t)limit)
                        string_list_add(names, run->name);
                else
                        beyond = run;
        }
        return beyond;
}

int64_t schedule_core_reconcile(struct schedule_core *core, const char *namespace, const char *name, int64_t now)
{
        struct schedule *s = core->synced ? schedule_find(core, namespace, name) : NULL;
        bool started = false;
        if (!s || !s->known || s->leaving || s->ticket)
                return INT64_MAX;
        if (!s->invalid) {
                schedule_update_next(s, now);
                if (schedule_start_if_due(core, s, now, &started))
                        return INT64_MAX;
        }
        schedule_status_deinit(&s->written);
        s->written = (struct schedule_status){
                .state = s->invalid ? SCHEDULE_FAILED_VALIDATION : SCHEDULE_SCHEDULED,
                .reason = mem_strdup_if(s->invalid ? s->invalid : s->failure),
                .last_run_ms = s->started ? s->started_ms : s->status.last_run_ms,
                .last_run_name = mem_strdup_if(s->started ? s->started : s->status.last_run_name),
                .next_run_ms = s->invalid                     ? s->status.next_run_ms
                               : s->next_run_ms == CRON_NEVER ? 0
                                                              : s->next_run_ms,
        };
        const struct schedule_run *beyond = schedule_history(s, &s->written);
        if (!schedule_status_equal(&s->written, &s->status)) {
                schedule_emit(core, s, SCHEDULE_WRITE_STATUS, NULL);
                return INT64_MAX;
        }
        free(steal(s->started)); /* the server has it */
        if (beyond) {
                schedule_emit(core, s, SCHEDULE_DELETE_RUN, beyond);
                return INT64_MAX;
        }
        /* A run that is due waits for the end of another one, whose change wakes it. */
        return s->invalid || s->suspend || s->next_run_ms <= now ? INT64_MAX : s->next_run_ms;
}

bool schedule_core_next_action(struct schedule_core *core, struct schedule_action *action)
{
        return queue_pop(&core->actions, action);
}

bool schedule_core_done(struct schedule_core *core, const char *namespace, const char *name, uint64_t ticket,
                        enum schedule_result result, const char *message, uint64_t version, int64_t now)
{
        struct schedule *s = schedule_find(core, namespace, name);
        if (!s || !s->known || s->ticket != ticket)
                return false;
        _cleanup_free_ char *run = steal(s->acting);
        s->ticket = 0;
        if (s->action == SCHEDULE_WRITE_STATUS && result == SCHEDULE_RESULT_OK) {
                if (version >= s->version) { /* else a newer object was observed meanwhile */
                        schedule_status_deinit(&s->status);
                        schedule_status_copy(&s->status, &s->written);
                        s->version = version;
                }
        } else if (s->action == SCHEDULE_CREATE_RUN && s->cron && result == SCHEDULE_RESULT_OK) {
                schedule_start(s, run, now);
        } else if (s->action == SCHEDULE_CREATE_RUN && s->cron && result == SCHEDULE_RESULT_REFUSED) {
                free(s->failure);
                s->failure = mem_printf("the run %s was not created: %s", run, message ? message : "refused");
                s->next_run_ms = cron_next(s->cron, MAX(now, s->next_run_ms));
        } else if (s->action == SCHEDULE_DELETE_RUN && result == SCHEDULE_RESULT_OK) {
                struct schedule_run *deleted = schedule_run_find(s, run);
                if (deleted)
                        deleted->leaving = true;
        }
        return true;
}
