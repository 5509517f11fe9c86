/* See master_wire.h. All messages are untrusted: strings that are displayed or that name files must have the form of
 * such names, and all numbers are checked.
 */
#include "standalone/master/master_wire.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "net/socket.h"

#include <stdio.h>

#define MAX_NAME 200
#define MAX_RESOURCES 1000

typedef Firesteel__Standalone__Resource Resource;
typedef Firesteel__Standalone__ResourceNeed ResourceNeed;

/* Returns true for a valid id or host name: printable, without blanks or path separators. */
static bool master_wire_is_name(const char *text)
{
        size_t n = 0;
        for (; text[n]; n++)
                if ((unsigned char)text[n] <= ' ' || (unsigned char)text[n] >= 127 || text[n] == '/')
                        return false;
        return n > 0 && n <= MAX_NAME && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static void *master_wire_room(struct wire_memory *memory, size_t count, size_t size, struct fst_error *error)
{
        void *p = wire_array(memory, MAX(count, (size_t)1), size);
        if (!p)
                error_set(error, -EINVAL, "the message is too large");
        return p;
}

static int master_wire_read_resources(Resource *const *list, size_t n, struct wire_memory *memory,
                                      const struct resource_addresses **out, int *n_out, struct fst_error *error)
{
        struct resource_addresses *r = n <= MAX_RESOURCES ? master_wire_room(memory, n, sizeof(*r), error) : NULL;
        if (!r)
                return error_set(error, -EINVAL, "%zu custom resources are too many", n);
        for (size_t i = 0; i < n; i++) {
                if (!*list[i]->name)
                        return error_set(error, -EINVAL, "a custom resource has no name");
                r[i] = (struct resource_addresses){list[i]->name, (const char *const *)list[i]->addresses,
                                                   (int)MIN(list[i]->n_addresses, (size_t)INT32_MAX)};
        }
        *out = r;
        *n_out = (int)n;
        return 0;
}

static int master_wire_read_needs(ResourceNeed *const *list, size_t n, struct wire_memory *memory,
                                  const struct resource_need **out, int *n_out, struct fst_error *error)
{
        struct resource_need *r = n <= MAX_RESOURCES ? master_wire_room(memory, n, sizeof(*r), error) : NULL;
        if (!r)
                return error_set(error, -EINVAL, "%zu custom resources are too many", n);
        for (size_t i = 0; i < n; i++) {
                if (!*list[i]->name || list[i]->amount < 0)
                        return error_set(error, -EINVAL, "an amount of %d of custom resource \"%.60s\" is invalid",
                                         list[i]->amount, list[i]->name);
                r[i] = (struct resource_need){list[i]->name, list[i]->amount};
        }
        *out = r;
        *n_out = (int)n;
        return 0;
}

/* The packed bytes of a message in @memory. Nothing for NULL. */
static int master_wire_pack(const ProtobufCMessage *message, struct wire_memory *memory, struct master_body *out,
                            struct fst_error *error)
{
        if (!message)
                return 0;
        size_t size = protobuf_c_message_get_packed_size(message);
        uint8_t *data = master_wire_room(memory, size, 1, error);
        if (!data)
                return -EINVAL;
        protobuf_c_message_pack(message, data);
        *out = (struct master_body){data, size};
        return 0;
}

int master_read_worker(const Firesteel__Standalone__RegisterWorker *r, struct wire_memory *memory,
                       struct worker_spec *spec, struct fst_error *error)
{
        if (!master_wire_is_name(r->id))
                return error_set(error, -EINVAL, "\"%.60s\" is not a valid worker id", r->id);
        if (!master_wire_is_name(r->host) || r->port < 1 || r->port > 65535)
                return error_set(error, -EINVAL, "\"%.60s\", port %d, is not a valid worker address", r->host, r->port);
        if (r->cores < 0 || r->memory < 0)
                return error_set(error, -EINVAL, "a worker's cores and memory must not be negative");
        struct worker_spec s = {.id = r->id,
                                .host = r->host,
                                .port = r->port,
                                .web_ui = r->web_ui,
                                .cores = r->cores,
                                .memory = r->memory};
        int e = master_wire_read_resources(r->resources, r->n_resources, memory, &s.resources, &s.n_resources, error);
        if (e == 0)
                *spec = s;
        return e;
}

static int read_profile(const Firesteel__Standalone__ExecutorProfile *p, struct wire_memory *memory,
                        struct executor_profile *out, struct fst_error *error)
{
        if (!p)
                return error_set(error, -EINVAL, "the request has no resource profile");
        if (p->id < 0 || p->cores < 0 || p->memory < 0)
                return error_set(error, -EINVAL, "resource profile %d has negative cores or memory", p->id);
        struct executor_profile o = {.id = p->id, .cores = p->cores, .memory = p->memory};
        int e = master_wire_read_needs(p->needs, p->n_needs, memory, &o.needs, &o.n_needs, error);
        if (e == 0)
                e = master_wire_pack(p->command ? &p->command->base : NULL, memory, &o.body, error);
        if (e == 0)
                *out = o;
        return e;
}

/* Reads an application except for its default profile. */
static int master_wire_read_app(const Firesteel__Standalone__RegisterApplication *r, struct wire_memory *memory,
                                struct app_spec *s, struct fst_error *error)
{
        struct host_port driver;
        if (host_port_parse(r->address, &driver, NULL) < 0 || !master_wire_is_name(r->address))
                return error_set(error, -EINVAL, "\"%.60s\" is not a valid driver address", r->address);
        if (r->max_cores < 0 || (r->has_initial_executors && r->initial_executors < 0))
                return error_set(error, -EINVAL, "an application's cores and executors must not be negative");
        if (r->resume_epoch < 0 || r->next_executor < 0 || r->resume_timeout < 0 || strlen(r->resume_token) > MAX_NAME)
                return error_set(error, -EINVAL,
                                 "the application's epoch, timeout, token or executor to resume it is invalid");
        *s = (struct app_spec){
                .name = r->name,
                .user = r->user,
                .ui_url = r->ui_url,
                .address = r->address,
                .app_id = r->app_id,
                .resume_id = r->resume_id,
                .next_executor = r->next_executor,
                .resume = {.epoch = r->resume_epoch,
                           .timeout = MIN(r->resume_timeout, MAX_RESUME_TIMEOUT / NS_PER_MS) * NS_PER_MS,
                           .token = r->resume_token},
                .max_cores = r->max_cores,
                .initial_executors = r->has_initial_executors ? r->initial_executors : -1,
        };
        Firesteel__Standalone__RegisterApplication rest = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        rest.event_log_dir = r->event_log_dir;
        rest.event_log_codec = r->event_log_codec;
        return master_wire_pack(&rest.base, memory, &s->body, error);
}

int master_read_app(const Firesteel__Standalone__RegisterApplication *r, struct wire_memory *memory,
                    struct app_spec *spec, struct fst_error *error)
{
        struct app_spec s;
        int e = master_wire_read_app(r, memory, &s, error);
        if (e == 0)
                e = read_profile(r->profile, memory, &s.profile, error);
        if (e == 0)
                *spec = s;
        return e;
}

int master_read_targets(Firesteel__Standalone__ExecutorTarget *const *targets, size_t n, struct wire_memory *memory,
                        struct executor_target **out, struct fst_error *error)
{
        struct executor_target *t = master_wire_room(memory, n, sizeof(*t), error);
        if (!t)
                return -EINVAL;
        for (size_t i = 0; i < n; i++) {
                int e = read_profile(targets[i]->profile, memory, &t[i].profile, error);
                if (e < 0)
                        return e;
                t[i].executors = targets[i]->executors;
        }
        *out = t;
        return 0;
}

int master_read_state(const Firesteel__Standalone__WorkerState *state, struct wire_memory *memory,
                      struct executor_report **executors, struct driver_report **drivers, struct fst_error *error)
{
        struct executor_report *e = master_wire_room(memory, state->n_executors, sizeof(*e), error);
        struct driver_report *d = e ? master_wire_room(memory, state->n_drivers, sizeof(*d), error) : NULL;
        int r = d ? 0 : -EINVAL;
        for (size_t i = 0; r == 0 && i < state->n_executors; i++) {
                const Firesteel__Standalone__ExecutorReport *from = state->executors[i];
                e[i] = (struct executor_report){.app_id = from->app_id,
                                                .id = from->executor,
                                                .profile = from->profile,
                                                .cores = from->cores,
                                                .memory = from->memory};
                if (!executor_state_named(from->state, &e[i].state))
                        return error_set(error, -EINVAL, "\"%.60s\" is not an executor state", from->state);
                r = master_wire_read_resources(from->resources, from->n_resources, memory, &e[i].resources,
                                               &e[i].n_resources, error);
        }
        for (size_t i = 0; r == 0 && i < state->n_drivers; i++) {
                const Firesteel__Standalone__DriverReport *from = state->drivers[i];
                d[i].id = from->driver_id;
                r = master_wire_read_resources(from->resources, from->n_resources, memory, &d[i].resources,
                                               &d[i].n_resources, error);
        }
        if (r == 0) {
                *executors = e;
                *drivers = d;
        }
        return r;
}

static const char *master_wire_property(const Firesteel__Standalone__Command *c, const char *key)
{
        for (size_t i = 0; i < c->n_properties; i++)
                if (strcmp(c->properties[i]->key, key) == 0)
                        return c->properties[i]->value;
        return "";
}

/*
 * A supervised driver is started again, after the loss of its worker under another id. If it keeps a journal, it finds
 * it by an id that stays the same.
 */
static void master_wire_name_journal(Firesteel__Standalone__Command *c, struct arena *memory)
{
        char id[UUID_TEXT];
        if (strcasecmp(master_wire_property(c, "spark.firesteel.resume.enabled"), "true") != 0 ||
            *master_wire_property(c, "spark.firesteel.resume.id"))
                return;
        Firesteel__Standalone__Property **list = arena_alloc(memory, (c->n_properties + 1) * sizeof(*list));
        Firesteel__Standalone__Property *p = arena_alloc(memory, sizeof(*p));
        uuid_draw(id);
        firesteel__standalone__property__init(p);
        p->key = (char *)"spark.firesteel.resume.id";
        p->value = arena_copy(memory, id, strlen(id));
        memcpy(list, c->properties, c->n_properties * sizeof(*list));
        list[c->n_properties++] = p;
        c->properties = list;
}

int master_read_driver(const Firesteel__Standalone__DriverDescription *d, struct wire_memory *memory,
                       struct driver_spec *spec, struct fst_error *error)
{
        Firesteel__Standalone__Command *c = d->command;
        if (!c || !*d->jar_url)
                return error_set(error, -EINVAL, "the driver has no command");
        if (d->cores < 0 || d->memory < 0)
                return error_set(error, -EINVAL, "a driver's cores and memory must not be negative");
        if (d->supervise)
                master_wire_name_journal(c, &memory->arena);
        struct driver_spec s = {
                /* {{WORKER_URL}} {{USER_JAR}} and the application's own main class, which users look for */
                .main_class = c->n_arguments > 2 ? c->arguments[2] : c->main_class,
                .cores = d->cores,
                .memory = d->memory,
                .supervise = d->supervise,
        };
        int e = master_wire_read_needs(d->needs, d->n_needs, memory, &s.needs, &s.n_needs, error);
        if (e == 0)
                e = master_wire_pack(&d->base, memory, &s.body, error);
        if (e == 0)
                *spec = s;
        return e;
}

/* ---------------------------------------------------------------------------------------------------- messages */

Resource **master_resources(const struct master_worker *w, const struct resource_hold *holds, int n,
                            struct wire_memory *memory)
{
        Resource **list = arena_alloc(&memory->arena, sizeof(*list) * (size_t)MAX(n, 1));
        for (int i = 0; i < n; i++) {
                const struct worker_resource *from = &w->resources[holds[i].resource];
                Resource *r = list[i] = arena_alloc(&memory->arena, sizeof(*r));
                firesteel__standalone__resource__init(r);
                r->name = from->name;
                r->n_addresses = (size_t)holds[i].n;
                r->addresses = arena_alloc(&memory->arena, sizeof(char *) * (size_t)MAX(holds[i].n, 1));
                for (int a = 0; a < holds[i].n; a++)
                        r->addresses[a] = from->addresses[holds[i].addresses[a]];
        }
        return list;
}
