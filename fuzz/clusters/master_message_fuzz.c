/*
 * Messages from untrusted peers to a standalone master: the first byte chooses the message, the rest is its body.
 * Accepted messages have valid values.
 */
#include "base/error.h"
#include "base/mem.h"
#include "standalone/master/master_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void message_require(bool holds)
{
        if (!holds)
                abort();
}

static void check_needs(const struct resource_need *needs, int n)
{
        for (int i = 0; i < n; i++)
                message_require(*needs[i].name && needs[i].amount >= 0);
}

static void check_resources(const struct resource_addresses *r, int n)
{
        size_t all = 0;
        for (int i = 0; i < n; i++)
                for (int a = 0; a < r[i].n; a++)
                        all += strlen(r[i].addresses[a]);
        message_require(all < SIZE_MAX);
}

static void check_worker(const void *message, struct wire_memory *memory, struct fst_error *error)
{
        struct worker_spec s;
        if (master_read_worker(message, memory, &s, error) < 0)
                return;
        message_require(*s.id && !strchr(s.id, '/') && *s.host && s.port > 0 && s.port < 65536 && s.cores >= 0 &&
                        s.memory >= 0);
        check_resources(s.resources, s.n_resources);
}

static void check_app(const void *message, struct wire_memory *memory, struct fst_error *error)
{
        struct app_spec s;
        if (master_read_app(message, memory, &s, error) < 0)
                return;
        message_require(strchr(s.address, ':') && s.max_cores >= 0 && s.profile.cores >= 0 && s.profile.memory >= 0);
        check_needs(s.profile.needs, s.profile.n_needs);
}

static void check_driver(const void *message, struct wire_memory *memory, struct fst_error *error)
{
        struct driver_spec s;
        if (master_read_driver(message, memory, &s, error) < 0)
                return;
        message_require(s.main_class && s.cores >= 0 && s.memory >= 0 && s.body.size > 0);
        check_needs(s.needs, s.n_needs);
}

static void check_state(const void *message, struct wire_memory *memory, struct fst_error *error)
{
        const Firesteel__Standalone__WorkerState *m = message;
        struct executor_report *e;
        struct driver_report *d;
        if (master_read_state(m, memory, &e, &d, error) < 0)
                return;
        for (size_t i = 0; i < m->n_executors; i++) {
                message_require(e[i].state <= EXECUTOR_DECOMMISSIONED && e[i].app_id);
                check_resources(e[i].resources, e[i].n_resources);
        }
        for (size_t i = 0; i < m->n_drivers; i++)
                check_resources(d[i].resources, d[i].n_resources);
}

static void check_targets(const void *message, struct wire_memory *memory, struct fst_error *error)
{
        const Firesteel__Standalone__RequestExecutors *m = message;
        struct executor_target *t;
        if (master_read_targets(m->targets, m->n_targets, memory, &t, error) < 0)
                return;
        for (size_t i = 0; i < m->n_targets; i++)
                check_needs(t[i].profile.needs, t[i].profile.n_needs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct {
                const ProtobufCMessageDescriptor *descriptor;
                void (*read)(const void *message, struct wire_memory *memory, struct fst_error *error);
        } kinds[] = {
                {&firesteel__standalone__register_worker__descriptor, check_worker},
                {&firesteel__standalone__register_application__descriptor, check_app},
                {&firesteel__standalone__driver_description__descriptor, check_driver},
                {&firesteel__standalone__worker_state__descriptor, check_state},
                {&firesteel__standalone__request_executors__descriptor, check_targets},
        };
        if (size == 0)
                return 0;
        size_t kind = data[0] % ARRAY_SIZE(kinds);
        struct fst_error error = FST_ERROR_INIT;
        struct wire_memory memory = wire_memory_for(size - 1);
        const void *message = standalone_decode(data + 1, size - 1, kinds[kind].descriptor, &memory, &error);
        if (message)
                kinds[kind].read(message, &memory, &error);
        error_deinit(&error);
        standalone_memory_deinit(&memory);
        return 0;
}
