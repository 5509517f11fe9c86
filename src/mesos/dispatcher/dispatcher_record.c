/* See dispatcher_record.h. */
#include "mesos/dispatcher/dispatcher_record.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "mesos/dispatcher/dispatcher.pb-c.h"
#include "mesos/dispatcher/driver_description.h"
#include "rest/rest_request.h"
#include "rpc/wire_memory.h"

#define LOG_NAME "MesosClusterScheduler"
#define MAX_FRAMEWORK_ID 1024

typedef Firesteel__Dispatcher__DriverRecord driver_record;

void *dispatcher_record_pack(const struct dispatcher *d, const struct mesos_driver *driver, size_t *size)
{
        struct mesos_driver_record r;
        mesos_driver_to_record(d, driver, &r);
        driver_record m = FIRESTEEL__DISPATCHER__DRIVER_RECORD__INIT;
        m.description = (ProtobufCBinaryData){r.spec.body_size, (uint8_t *)r.spec.body};
        m.submitted = r.submitted;
        m.state = r.state;
        m.task_id = (char *)r.task_id;
        m.agent = (char *)r.agent;
        m.hostname = (char *)r.hostname;
        m.has_started = r.started != 0;
        m.started = r.started;
        m.has_retries = r.retries != 0;
        m.retries = (uint32_t)r.retries;
        m.has_retry_wait = r.retry_wait != 0;
        m.retry_wait = r.retry_wait;
        m.has_next_retry = r.next_retry_ms != 0;
        m.next_retry = r.next_retry_ms;
        m.has_killed = r.killed;
        m.killed = r.killed;
        m.has_status = m.has_task_state = r.status != NULL;
        m.status = (ProtobufCBinaryData){r.status_size, (uint8_t *)r.status};
        m.task_state = r.task_state;
        *size = protobuf_c_message_get_packed_size(&m.base);
        uint8_t *data = mem_alloc(*size + 1);
        protobuf_c_message_pack(&m.base, data);
        return data;
}

/* A decoded record, until it is passed to the core. */
struct dispatcher_entry {
        const char *id;
        const driver_record *m; /* in memory */
        struct wire_memory memory;
        struct rest_request description;
        struct mesos_driver_spec spec;
};

static void dispatcher_entry_deinit(struct dispatcher_entry *e)
{
        rest_request_deinit(&e->description);
        mesos_constraints_deinit(&e->spec.constraints);
        arena_deinit(&e->memory.arena);
}

/* Decodes the record without its description. */
static int dispatcher_entry_open(struct dispatcher_entry *e, const struct persistence_record *record,
                                 struct fst_error *error)
{
        *e = (struct dispatcher_entry){.id = record->id, .memory = wire_memory_for(record->size)};
        ProtobufCAllocator allocator = wire_memory_allocator(&e->memory);
        e->m = firesteel__dispatcher__driver_record__unpack(&allocator, record->size, record->data);
        if (!e->m || e->m->state > MESOS_DRIVER_RETRYING || e->m->retries > INT32_MAX ||
            (e->m->state == MESOS_DRIVER_LAUNCHED && (!e->m->task_id || !e->m->agent)))
                return error_set(error, -EBADMSG, "its %zu bytes are not a valid record", record->size);
        return 0;
}

static int dispatcher_entry_read(struct dispatcher_entry *e, struct fst_error *error)
{
        int r = driver_description_unpack(&e->description, e->m->description.data, e->m->description.len, error);
        return r < 0 ? r : driver_description_spec(&e->description, NULL, &e->spec, error);
}

static void dispatcher_entry_recover(struct dispatcher *d, struct dispatcher_entry *e, int64_t now)
{
        const driver_record *m = e->m;
        struct mesos_driver_record r = {
                .id = e->id,
                .spec = e->spec,
                .state = m->state,
                .submitted = m->submitted,
                .started = m->started,
                .next_retry_ms = m->next_retry,
                .task_id = m->task_id,
                .agent = m->agent,
                .hostname = m->hostname ? m->hostname : m->agent,
                .retries = (int)m->retries,
                .retry_wait = MAX(m->retry_wait, (int64_t)0),
                .killed = m->killed,
                .status = m->has_status ? m->status.data : NULL,
                .status_size = m->has_status ? m->status.len : 0,
                .task_state = m->task_state,
        };
        r.spec.body = m->description.data;
        r.spec.body_size = m->description.len;
        dispatcher_recover(d, &r, now);
        e->spec.constraints = (struct mesos_constraints){0}; /* the core has taken them */
}

struct dispatcher_age {
        int64_t submitted;
        size_t index;
};

static int by_submission(const void *a, const void *b)
{
        const struct dispatcher_age *x = a, *y = b;
        return x->submitted != y->submitted ? (x->submitted < y->submitted ? -1 : 1) : (x->index < y->index ? -1 : 1);
}

static bool dispatcher_record_read_framework(struct dispatcher *d, const struct persistence_record *record)
{
        if (record->size == 0 || record->size > MAX_FRAMEWORK_ID || memchr(record->data, 0, record->size))
                return false;
        _cleanup_free_ char *id = mem_strndup(record->data, record->size);
        dispatcher_recover_framework(d, id);
        return true;
}

/* When the driver of a record was submitted. Returns 0 with *@submitted, or negative with @error. */
static int dispatcher_record_age(const struct persistence_record *record, int64_t *submitted, struct fst_error *error)
{
        struct dispatcher_entry e;
        if (record->kind != MASTER_RECORD_DRIVER)
                return error_set(error, -EBADMSG, "it belongs to a standalone master");
        int r = dispatcher_entry_open(&e, record, error);
        if (r == 0)
                *submitted = e.m->submitted;
        dispatcher_entry_deinit(&e);
        return r;
}

static int dispatcher_record_recover(struct dispatcher *d, const struct persistence_record *record, int64_t now,
                                     struct fst_error *error)
{
        struct dispatcher_entry e;
        int r = dispatcher_entry_open(&e, record, error);
        if (r == 0)
                r = dispatcher_entry_read(&e, error);
        if (r == 0)
                dispatcher_entry_recover(d, &e, now);
        dispatcher_entry_deinit(&e);
        return r;
}

static int dispatcher_record_skip(const struct persistence_record *record, int r, struct fst_error *error)
{
        if (r < 0)
                log_warn(LOG_NAME, "Skipped the record of driver %s: %s", record->id, error_message(error));
        error_deinit(error);
        *error = FST_ERROR_INIT;
        return r < 0;
}

int dispatcher_records_read(struct dispatcher *d, const struct persistence_record *records, size_t n, int64_t now)
{
        VEC(struct dispatcher_age) ages = {0};
        struct fst_error error = FST_ERROR_INIT;
        int left_out = 0;
        for (size_t i = 0; i < n; i++) { /* records that were written together may come in any order */
                struct dispatcher_age age = {.index = i};
                if (records[i].kind == MASTER_RECORD_FRAMEWORK) {
                        left_out += !dispatcher_record_read_framework(d, &records[i]);
                        continue;
                }
                int r = dispatcher_record_age(&records[i], &age.submitted, &error);
                if (r == 0)
                        vec_push(&ages, age);
                left_out += dispatcher_record_skip(&records[i], r, &error);
        }
        if (ages.len > 1)
                qsort(ages.data, ages.len, sizeof(*ages.data), by_submission);
        for (size_t i = 0; i < ages.len; i++) {
                const struct persistence_record *record = &records[ages.data[i].index];
                int r = dispatcher_record_recover(d, record, now, &error);
                left_out += dispatcher_record_skip(record, r, &error);
        }
        vec_deinit(&ages);
        return left_out;
}
