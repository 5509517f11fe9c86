/* See master_record.h. */
#include "standalone/recovery/master_record.h"

#include "base/log.h"
#include "base/mem.h"
#include "standalone/recovery/journal.h"
#include "standalone/recovery/master_record.pb-c.h"
#include "standalone/core/master_state.h"
#include "standalone/wire/standalone_wire.h"

typedef Firesteel__Standalone__AppRecord AppRecord;
typedef Firesteel__Standalone__DriverRecord DriverRecord;
typedef Firesteel__Standalone__WorkerRecord WorkerRecord;
typedef Firesteel__Standalone__RecordNeed RecordNeed;
typedef Firesteel__Standalone__RecordResource RecordResource;

/* ------------------------------------------------------------------------------------------------------ writing */

static void master_record_put_needs(const struct owned_needs *needs, struct arena *arena, size_t *n, RecordNeed ***out)
{
        *n = (size_t)needs->n;
        *out = arena_alloc(arena, *n * sizeof(**out));
        for (size_t i = 0; i < *n; i++) {
                RecordNeed *need = (*out)[i] = arena_alloc(arena, sizeof(*need));
                firesteel__standalone__record_need__init(need);
                need->name = (char *)needs->data[i].name;
                need->amount = needs->data[i].amount;
        }
}

static ProtobufCBinaryData master_record_bytes(const void *data, size_t size)
{
        return (ProtobufCBinaryData){.data = (uint8_t *)data, .len = size};
}

static void *pack_app(const struct master_app *app, struct arena *arena, size_t *size)
{
        AppRecord r = FIRESTEEL__STANDALONE__APP_RECORD__INIT;
        const struct app_profile *profile = app_profile_by_id(app, 0);
        r.submitted = app->submitted;
        r.name = app->name;
        r.user = app->user;
        r.ui_url = app->ui_url;
        r.address = app->address;
        r.max_cores = app->max_cores;
        r.initial_executors = app->initial_executors;
        r.body = master_record_bytes(app->body, app->body_size);
        r.resume_epoch = app->resume.epoch;
        r.resume_timeout = app->resume.timeout;
        r.resume_token = (char *)app->resume.token;
        r.waiting = app->state == APP_WAITING_FOR_DRIVER;
        r.next_executor = app->stored_executors;
        if (profile) {
                r.executor_cores = profile->cores;
                r.executor_memory = profile->memory;
                r.executor_body = master_record_bytes(profile->body, profile->body_size);
                master_record_put_needs(&profile->needs, arena, &r.n_executor_needs, &r.executor_needs);
        }
        return standalone_pack(&r.base, size);
}

static void *pack_driver(const struct master_driver *d, struct arena *arena, size_t *size)
{
        DriverRecord r = FIRESTEEL__STANDALONE__DRIVER_RECORD__INIT;
        r.submitted = d->submitted;
        r.launched = d->was_launched;
        r.main_class = d->main_class;
        r.cores = d->cores;
        r.memory = d->memory;
        r.supervise = d->supervise;
        r.submission_id = d->submission_id ? d->submission_id : r.submission_id;
        r.body = master_record_bytes(d->body, d->body_size);
        master_record_put_needs(&d->needs, arena, &r.n_needs, &r.needs);
        return standalone_pack(&r.base, size);
}

static void *pack_worker(const struct master_worker *w, struct arena *arena, size_t *size)
{
        WorkerRecord r = FIRESTEEL__STANDALONE__WORKER_RECORD__INIT;
        r.host = w->host;
        r.port = w->port;
        r.web_ui = w->web_ui;
        r.cores = w->cores;
        r.memory = w->memory;
        r.n_resources = (size_t)w->n_resources;
        r.resources = arena_alloc(arena, r.n_resources * sizeof(*r.resources));
        for (size_t i = 0; i < r.n_resources; i++) {
                RecordResource *resource = r.resources[i] = arena_alloc(arena, sizeof(*resource));
                firesteel__standalone__record_resource__init(resource);
                resource->name = w->resources[i].name;
                resource->n_addresses = (size_t)w->resources[i].n;
                resource->addresses = w->resources[i].addresses;
        }
        return standalone_pack(&r.base, size);
}

void *master_record_pack(enum master_record kind, const void *object, size_t *size)
{
        struct arena arena = {0};
        void *data = kind == MASTER_RECORD_APP      ? pack_app(object, &arena, size)
                     : kind == MASTER_RECORD_DRIVER ? pack_driver(object, &arena, size)
                                                    : pack_worker(object, &arena, size);
        arena_deinit(&arena);
        return data;
}

/* ------------------------------------------------------------------------------------------------------ reading */

static const char *master_record_keep(struct arena *arena, const char *text)
{
        return arena_copy(arena, text, strlen(text));
}

static struct master_body keep_body(struct arena *arena, const ProtobufCBinaryData *body)
{
        return (struct master_body){.data = arena_copy(arena, body->data, body->len), .size = body->len};
}

static int get_needs(struct arena *arena, size_t n, RecordNeed **from, const struct resource_need **out, int *n_out)
{
        struct resource_need *needs = n ? arena_alloc(arena, n * sizeof(*needs)) : NULL;
        for (size_t i = 0; i < n; i++) {
                if (!*from[i]->name || from[i]->amount < 0)
                        return -EBADMSG;
                needs[i] = (struct resource_need){.name = master_record_keep(arena, from[i]->name),
                                                  .amount = from[i]->amount};
        }
        *out = needs;
        *n_out = (int)n;
        return 0;
}

static int master_record_read_app(struct master_records *r, const char *id, const AppRecord *from)
{
        struct arena *arena = &r->arena;
        struct app_record app = {.id = master_record_keep(arena, id), .submitted = from->submitted};
        if (!*from->name || !*from->address || from->max_cores < 0 || from->executor_cores < 0 ||
            from->executor_memory < 0 || from->resume_epoch < 0 || from->resume_timeout < 0 ||
            from->next_executor < 0 || (from->waiting && from->resume_epoch == 0))
                return -EBADMSG;
        app.spec.name = master_record_keep(arena, from->name);
        app.spec.user = master_record_keep(arena, from->user);
        app.spec.ui_url = master_record_keep(arena, from->ui_url);
        app.spec.address = master_record_keep(arena, from->address);
        app.spec.max_cores = from->max_cores;
        app.spec.initial_executors = from->initial_executors;
        app.spec.body = keep_body(arena, &from->body);
        app.waiting = from->waiting;
        app.next_executor = from->next_executor;
        app.spec.resume.epoch = from->resume_epoch;
        app.spec.resume.timeout = MIN(from->resume_timeout, MAX_RESUME_TIMEOUT);
        app.spec.resume.token = master_record_keep(arena, from->resume_token);
        app.spec.profile.cores = from->executor_cores;
        app.spec.profile.memory = from->executor_memory;
        app.spec.profile.body = keep_body(arena, &from->executor_body);
        int result = get_needs(arena, from->n_executor_needs, from->executor_needs, &app.spec.profile.needs,
                               &app.spec.profile.n_needs);
        if (result == 0)
                vec_push(&r->apps, app);
        return result;
}

static int read_driver(struct master_records *r, const char *id, const DriverRecord *from)
{
        struct arena *arena = &r->arena;
        struct driver_record driver = {
                .id = master_record_keep(arena, id), .submitted = from->submitted, .launched = from->launched};
        if (from->cores < 0 || from->memory < 0)
                return -EBADMSG;
        driver.spec.main_class = master_record_keep(arena, from->main_class);
        driver.spec.cores = from->cores;
        driver.spec.memory = from->memory;
        driver.spec.supervise = from->supervise;
        driver.spec.submission_id = master_record_keep(arena, from->submission_id);
        driver.spec.body = keep_body(arena, &from->body);
        int result = get_needs(arena, from->n_needs, from->needs, &driver.spec.needs, &driver.spec.n_needs);
        if (result == 0)
                vec_push(&r->drivers, driver);
        return result;
}

static int read_worker(struct master_records *r, const char *id, const WorkerRecord *from)
{
        struct arena *arena = &r->arena;
        size_t n = from->n_resources;
        struct resource_addresses *resources = n ? arena_alloc(arena, n * sizeof(*resources)) : NULL;
        if (!*from->host || from->port <= 0 || from->port > 65535 || from->cores < 0 || from->memory < 0)
                return -EBADMSG;
        for (size_t i = 0; i < n; i++) {
                const RecordResource *resource = from->resources[i];
                const char **addresses = arena_alloc(arena, (resource->n_addresses + 1) * sizeof(*addresses));
                if (!*resource->name)
                        return -EBADMSG;
                for (size_t k = 0; k < resource->n_addresses; k++)
                        addresses[k] = master_record_keep(arena, resource->addresses[k]);
                resources[i] = (struct resource_addresses){.name = master_record_keep(arena, resource->name),
                                                           .addresses = addresses,
                                                           .n = (int)resource->n_addresses};
        }
        vec_push(&r->workers, (struct worker_spec){.id = master_record_keep(arena, id),
                                                   .host = master_record_keep(arena, from->host),
                                                   .port = from->port,
                                                   .web_ui = master_record_keep(arena, from->web_ui),
                                                   .cores = from->cores,
                                                   .memory = from->memory,
                                                   .resources = resources,
                                                   .n_resources = (int)n});
        return 0;
}

static int master_record_read_record(struct master_records *r, const struct persistence_record *record)
{
        if (record->kind == MASTER_RECORD_FRAMEWORK)
                return -EBADMSG;
        static const ProtobufCMessageDescriptor *const descriptors[] = {
                [MASTER_RECORD_APP] = &firesteel__standalone__app_record__descriptor,
                [MASTER_RECORD_DRIVER] = &firesteel__standalone__driver_record__descriptor,
                [MASTER_RECORD_WORKER] = &firesteel__standalone__worker_record__descriptor,
        };
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(record->size);
        const void *message = standalone_decode(record->data, record->size, descriptors[record->kind], &memory, NULL);
        if (!message)
                return -EBADMSG;
        switch (record->kind) {
        case MASTER_RECORD_APP:
                return master_record_read_app(r, record->id, message);
        case MASTER_RECORD_DRIVER:
                return read_driver(r, record->id, message);
        case MASTER_RECORD_WORKER:
                return read_worker(r, record->id, message);
        case MASTER_RECORD_FRAMEWORK:
                break;
        }
        return -EBADMSG;
}

int master_records_read(struct master_records *r, const struct persistence_record *records, size_t n)
{
        int left_out = 0;
        for (size_t i = 0; i < n; i++) {
                if (master_record_read_record(r, &records[i]) == 0)
                        continue;
                log_warn("Master", "Skipped the record of %s %s: its %zu bytes are not a valid record",
                         journal_kind_name(records[i].kind), records[i].id, records[i].size);
                left_out++;
        }
        return left_out;
}

void master_records_deinit(struct master_records *r)
{
        vec_deinit(&r->apps);
        vec_deinit(&r->drivers);
        vec_deinit(&r->workers);
        arena_deinit(&r->arena);
}
