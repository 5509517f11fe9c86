/* See driver_description.h. The defaults are those of Spark's MesosSubmitRequestServlet. */
#include "mesos/dispatcher/driver_description.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/units.h"
#include "mesos/dispatcher/dispatcher.pb-c.h"
#include "rest/rest_request.h"
#include "rpc/wire_memory.h"
#include "text/json.h"

#include <limits.h>
#include <math.h>
#include <strings.h>

#define MEMORY_KEY "spark.driver.memory"
#define OVERHEAD_KEY "spark.driver.memoryOverhead"
#define MESOS_OVERHEAD_KEY "spark.mesos.driver.memoryOverhead"
#define FACTOR_KEY "spark.driver.memoryOverheadFactor"
#define CORES_KEY "spark.driver.cores"
#define CONSTRAINTS_KEY "spark.mesos.driver.constraints"
#define QUEUE_KEY "spark.mesos.dispatcher.queue"
#define DEFAULT_MEMORY 1024 /* MiB */
#define MIN_OVERHEAD 384    /* MiB */
#define MAX_CORES 1e6

typedef Firesteel__Dispatcher__Property property;

/* ------------------------------------------------------------------------------------------------- bytes */

static property **driver_description_list(const struct strmap *map, size_t *n, struct arena *arena)
{
        property **list = arena_alloc(arena, (map->count + 1) * sizeof(*list));
        *n = 0;
        for (struct strmap_entry *e = NULL; (e = strmap_next(map, e));) {
                property *p = arena_alloc(arena, sizeof(*p));
                firesteel__dispatcher__property__init(p);
                p->key = e->key;
                p->value = e->value;
                list[(*n)++] = p;
        }
        return list;
}

void *driver_description_pack(const struct rest_request *q, size_t *size)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        Firesteel__Dispatcher__DriverDescription d = FIRESTEEL__DISPATCHER__DRIVER_DESCRIPTION__INIT;
        d.app_resource = q->app_resource;
        d.main_class = q->main_class;
        d.arguments = q->app_args.data;
        d.n_arguments = q->app_args.len;
        d.properties = driver_description_list(&q->properties, &d.n_properties, &arena);
        d.environment = driver_description_list(&q->environment, &d.n_environment, &arena);
        *size = protobuf_c_message_get_packed_size(&d.base);
        uint8_t *data = mem_alloc(*size + 1);
        protobuf_c_message_pack(&d.base, data);
        return data;
}

int driver_description_unpack(struct rest_request *q, const void *data, size_t size, struct fst_error *error)
{
        struct wire_memory memory = wire_memory_for(size);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Firesteel__Dispatcher__DriverDescription *d =
                firesteel__dispatcher__driver_description__unpack(&allocator, size, data);
        *q = REST_REQUEST_INIT;
        if (!d) {
                arena_deinit(&memory.arena);
                return error_set(error, -EBADMSG, "the %zu bytes of a driver's description are invalid", size);
        }
        q->app_resource = mem_strdup(d->app_resource);
        q->main_class = mem_strdup(d->main_class);
        for (size_t i = 0; i < d->n_arguments; i++)
                vec_push(&q->app_args, mem_strdup(d->arguments[i]));
        for (size_t i = 0; i < d->n_properties; i++)
                strmap_set(&q->properties, d->properties[i]->key, d->properties[i]->value);
        for (size_t i = 0; i < d->n_environment; i++)
                strmap_set(&q->environment, d->environment[i]->key, d->environment[i]->value);
        arena_deinit(&memory.arena);
        return 0;
}

/* ------------------------------------------------------------------------------------------------- meaning */

const char *driver_description_get(const struct rest_request *q, const char *key, const char *fallback)
{
        const char *value = strmap_get(&q->properties, key);
        return value ? value : fallback;
}

static int driver_description_number(const struct rest_request *q, const char *key, double fallback, double *out,
                                     struct fst_error *error)
{
        const char *text = driver_description_get(q, key, NULL);
        char *end;
        if (!text) {
                *out = fallback;
                return 0;
        }
        double value = strtod(text, &end);
        if (end == text || *end || !isfinite(value) || value < 0)
                return error_set(error, -EINVAL, "%s: \"%s\" is not a number from 0", key, text);
        *out = value;
        return 0;
}

/* Sets *@found. @bare: the unit of a number without one. */
static int driver_description_mib(const struct rest_request *q, const char *key, enum unit bare, int64_t *out,
                                  bool *found, struct fst_error *error)
{
        const char *text = driver_description_get(q, key, NULL);
        *found = text != NULL;
        if (!text)
                return 0;
        int r = units_parse_bytes(text, bare, UNIT_MIB, out, error);
        if (r < 0)
                return error_wrap(error, -EINVAL, "%s", key);
        if (*out < 0 || *out > INT_MAX)
                return error_set(error, -EINVAL, "%s: \"%s\" is not a size from 0 to %d MiB", key, text, INT_MAX);
        return 0;
}

/* The overhead that @key sets, or the factor's. */
static int driver_description_overhead(const struct rest_request *q, const char *key, int64_t memory, int64_t *out,
                                       struct fst_error *error)
{
        double factor = 0;
        bool found = false;
        int r = driver_description_mib(q, key, UNIT_MIB, out, &found, error);
        if (r < 0 || found)
                return r;
        r = driver_description_number(q, FACTOR_KEY, 0.1, &factor, error);
        if (r == 0)
                *out = (int64_t)MIN(MAX(factor * (double)memory, (double)MIN_OVERHEAD), (double)INT_MAX);
        return r;
}

int driver_description_memory(const struct rest_request *q, int64_t *mib, struct fst_error *error)
{
        int64_t memory = DEFAULT_MEMORY, overhead = 0;
        bool found;
        int r = driver_description_mib(q, MEMORY_KEY, UNIT_B, &memory, &found, error);
        if (r == 0)
                r = driver_description_overhead(q, OVERHEAD_KEY, memory, &overhead, error);
        if (r == 0)
                *mib = memory + overhead;
        return r;
}

int driver_description_spec(const struct rest_request *q, const struct dispatcher_config *config,
                            struct mesos_driver_spec *spec, struct fst_error *error)
{
        const char *supervise = driver_description_get(q, "spark.driver.supervise", "");
        int64_t memory = 0, overhead = 0;
        double cores = 0;
        *spec = (struct mesos_driver_spec){
                .name = driver_description_get(q, "spark.app.name", q->main_class),
                .main_class = q->main_class,
                .queue = driver_description_get(q, QUEUE_KEY, "default"),
                .supervise = strcasecmp(supervise, "true") == 0,
        };
        int r = driver_description_memory(q, &memory, error);
        if (r == 0)
                r = driver_description_overhead(q, MESOS_OVERHEAD_KEY, memory, &overhead, error);
        if (r == 0)
                r = driver_description_number(q, CORES_KEY, 1, &cores, error);
        if (r == 0 && (cores <= 0 || cores > MAX_CORES))
                r = error_set(error, -EINVAL, CORES_KEY ": \"%s\" is not a number above 0 and up to %.0f",
                              driver_description_get(q, CORES_KEY, ""), MAX_CORES);
        if (r == 0 && config && !dispatcher_has_queue(config, spec->queue))
                r = error_set(error, -EINVAL,
                              QUEUE_KEY
                              ": this dispatcher has no queue \"%s\"; its administrator adds one by " QUEUE_KEY
                              ".%s=PRIORITY",
                              spec->queue, spec->queue);
        if (r < 0)
                return r;
        r = mesos_constraints_parse(&spec->constraints, driver_description_get(q, CONSTRAINTS_KEY, NULL), error);
        if (r < 0)
                return error_wrap(error, r, CONSTRAINTS_KEY);
        spec->memory = memory + overhead;
        spec->cpus_milli = mesos_milli(cores);
        return 0;
}
