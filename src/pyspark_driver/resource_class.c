/*
 * Requests of resources, and profiles made of them (firesteel/resource.h).
 */
#include "pyspark_driver/classes.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "py4j/collections.h"
#include "pyspark_driver/call_site.h"
#include "pyspark_driver/errors.h"

#include <math.h>

#define MIB (1 << 20)

/* One request: a resource and its amount, of executors also how it is found. */
struct request_object {
        struct py4j_object object;
        char *name, *script, *vendor;
        double amount;
        bool whole; /* an executor's amount is a whole number */
};

/* Requests of executors or tasks, a builder, or a profile: maps of requests by name. */
struct requests_object {
        struct py4j_object object;
        struct py4j_object *executor, *task; /* maps */
        struct driver_session *session;      /* of a profile: that built it */
        const fst_resource_profile *profile; /* of that session's context */
        int id;
};

static const struct py4j_class request_class;

static struct requests_object *requests_of(const struct py4j_object *object)
{
        return (struct requests_object *)object;
}

static void request_free(struct py4j_object *object)
{
        struct request_object *request = (struct request_object *)object;
        free(request->name);
        free(request->script);
        free(request->vendor);
        free(request);
}

static void request_name(struct py4j_call *call)
{
        call->result = py4j_string(((const struct request_object *)call->self)->name);
}

static void request_amount(struct py4j_call *call)
{
        const struct request_object *request = (const struct request_object *)call->self;
        call->result = request->whole ? py4j_long((int64_t)request->amount) : py4j_double(request->amount);
}

static void request_script(struct py4j_call *call)
{
        call->result = py4j_string(((const struct request_object *)call->self)->script);
}

static void request_vendor(struct py4j_call *call)
{
        call->result = py4j_string(((const struct request_object *)call->self)->vendor);
}

static const struct py4j_member request_members[] = {
        {"resourceName", "", request_name},
        {"amount", "", request_amount},
        {"discoveryScript", "", request_script},
        {"vendor", "", request_vendor},
};

static const struct py4j_class request_class = {
        .name = "org.apache.spark.resource.ResourceRequest", PY4J_MEMBERS(request_members), .free = request_free};

/* ----------------------------------------------------------------------------------------- maps of requests */

static void requests_free(struct py4j_object *object)
{
        struct requests_object *r = requests_of(object);
        py4j_object_unref(r->executor);
        py4j_object_unref(r->task);
        session_unref(r->session);
        free(r);
}

static struct requests_object *requests_new(const struct py4j_class *class)
{
        struct requests_object *r = new0(struct requests_object);
        py4j_object_init(&r->object, class);
        r->executor = py4j_map_new();
        r->task = py4j_map_new();
        return r;
}

static void requests_construct(struct py4j_call *call)
{
        call->result = py4j_object_value(&requests_new(call->class)->object);
}

/* Adds a request and returns the object itself, as Spark's builders do. */
static void requests_put(struct py4j_call *call, const char *name, double amount, bool whole)
{
        struct requests_object *self = requests_of(call->self);
        if (!whole && amount > 1 && amount != floor(amount)) {
                py4j_throw(call, "java.lang.AssertionError",
                           "assertion failed: The resource amount %.16g must be either <= 1.0, or a whole number.",
                           amount);
                return;
        }
        struct request_object *request = new0(struct request_object);
        py4j_object_init(&request->object, &request_class);
        request->name = mem_strdup(name);
        request->script = mem_strdup(whole && call->n > 2 ? call->args[2].text : "");
        request->vendor = mem_strdup(whole && call->n > 3 ? call->args[3].text : "");
        request->amount = MIN(MAX(amount, -(double)INT32_MAX), (double)((int64_t)1 << 53)); /* fits a long */
        request->whole = whole;
        py4j_map_put(whole ? self->executor : self->task, py4j_string(name), py4j_object_value(&request->object));
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

static double requests_number(const struct py4j_value *value)
{
        return value->type == PY4J_DOUBLE ? value->real : (double)value->number;
}

/* An amount of memory such as "1g", in MiB. */
static void requests_put_memory(struct py4j_call *call, const char *name)
{
        struct fst_conf *conf = fst_conf_new();
        int64_t bytes;
        fst_conf_set(conf, "spark.executor.memory", call->args[0].text);
        int r = conf_get_bytes(conf, "spark.executor.memory", &bytes, NULL);
        fst_conf_free(conf);
        if (r < 0)
                py4j_throw(call, "java.lang.NumberFormatException", "Failed to parse byte string: %s",
                           call->args[0].text);
        else
                requests_put(call, name, (double)(bytes / MIB), true);
}

static void executor_requests_memory(struct py4j_call *call)
{
        requests_put_memory(call, "memory");
}

static void executor_requests_overhead(struct py4j_call *call)
{
        requests_put_memory(call, "memoryOverhead");
}

static void executor_requests_pyspark_memory(struct py4j_call *call)
{
        requests_put_memory(call, "pyspark.memory");
}

static void executor_requests_off_heap(struct py4j_call *call)
{
        requests_put_memory(call, "offHeap");
}

static void executor_requests_cores(struct py4j_call *call)
{
        requests_put(call, "cores", (double)call->args[0].number, true);
}

static void executor_requests_resource(struct py4j_call *call)
{
        requests_put(call, call->args[0].text, (double)call->args[1].number, true);
}

static void task_requests_cpus(struct py4j_call *call)
{
        requests_put(call, "cpus", requests_number(&call->args[0]), false);
}

static void task_requests_resource(struct py4j_call *call)
{
        requests_put(call, call->args[0].text, requests_number(&call->args[1]), false);
}

static void requests_executor_map(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(requests_of(call->self)->executor));
}

static void requests_task_map(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(requests_of(call->self)->task));
}

static const struct py4j_member executor_requests_members[] = {
        {"", "", requests_construct, PY4J_CONSTRUCTOR},      {"memory", "s", executor_requests_memory},
        {"memoryOverhead", "s", executor_requests_overhead}, {"pysparkMemory", "s", executor_requests_pyspark_memory},
        {"offHeapMemory", "s", executor_requests_off_heap},  {"cores", "i", executor_requests_cores},
        {"resource", "si", executor_requests_resource},      {"resource", "siss", executor_requests_resource},
        {"requestsJMap", "", requests_executor_map},
};

const struct py4j_class executor_requests_class = {.name = "org.apache.spark.resource.ExecutorResourceRequests",
                                                   PY4J_MEMBERS(executor_requests_members),
                                                   .free = requests_free};

static const struct py4j_member task_requests_members[] = {
        {"", "", requests_construct, PY4J_CONSTRUCTOR},
        {"cpus", "d", task_requests_cpus},
        {"resource", "sd", task_requests_resource},
        {"requestsJMap", "", requests_task_map},
};

const struct py4j_class task_requests_class = {.name = "org.apache.spark.resource.TaskResourceRequests",
                                               PY4J_MEMBERS(task_requests_members),
                                               .free = requests_free};

/* ------------------------------------------------------------------------------------------------- profiles */

static void requests_merge(struct py4j_object *to, const struct py4j_object *map)
{
        struct py4j_object *from = py4j_collection_copy(map);
        for (size_t i = 0; i < py4j_length(from); i++)
                py4j_map_put(to, py4j_value_copy(py4j_map_key(from, i)), py4j_value_copy(py4j_element(from, i)));
        py4j_object_unref(from);
}

static void builder_require(struct py4j_call *call)
{
        struct requests_object *self = requests_of(call->self);
        const struct py4j_class *class = call->args[0].object->class;
        if (class != &executor_requests_class && class != &task_requests_class) {
                py4j_throw(call, "java.lang.ClassCastException", "class %s is not a request of resources", class->name);
                return;
        }
        requests_merge(self->executor, requests_of(call->args[0].object)->executor);
        requests_merge(self->task, requests_of(call->args[0].object)->task);
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

static void builder_clear_executor(struct py4j_call *call)
{
        py4j_map_clear(requests_of(call->self)->executor);
}

static void builder_clear_task(struct py4j_call *call)
{
        py4j_map_clear(requests_of(call->self)->task);
}

static const struct py4j_class profile_class;

/* Makes the profile of the requests in @p, which keeps it. Throws, and returns false, if the context refuses it. */
static bool profile_make(struct py4j_call *call, struct requests_object *p, fst_context *sc)
{
        size_t n = py4j_length(p->executor), m = py4j_length(p->task);
        _cleanup_free_ struct fst_executor_amount *executor = new_array(struct fst_executor_amount, n + 1);
        _cleanup_free_ struct fst_task_amount *task = new_array(struct fst_task_amount, m + 1);
        for (size_t i = 0; i < n; i++) {
                const struct request_object *r = (const struct request_object *)py4j_element(p->executor, i)->object;
                executor[i] = (struct fst_executor_amount){r->name, (int64_t)r->amount, r->script, r->vendor};
        }
        for (size_t i = 0; i < m; i++) {
                const struct request_object *r = (const struct request_object *)py4j_element(p->task, i)->object;
                task[i] = (struct fst_task_amount){r->name, r->amount};
        }
        p->profile = fst_resource_profile_new_at(sc, executor, n, task, m, call_site("withResources"));
        if (!p->profile)
                throw_failure(call, "the resource profile is invalid");
        else
                p->id = fst_resource_profile_id(p->profile);
        return p->profile != NULL;
}

/* Builds the profile in @session's context, unless it already is there. */
static bool profile_use(struct py4j_call *call, struct requests_object *p, struct driver_session *session)
{
        if (p->profile && p->session == session)
                return true;
        session_unref(p->session);
        p->session = session_ref(session);
        return profile_make(call, p, session->sc);
}

static void builder_build(struct py4j_call *call)
{
        struct requests_object *self = requests_of(call->self), *profile = requests_new(&profile_class);
        struct pyspark *pyspark = pyspark_of(call);
        requests_merge(profile->executor, self->executor);
        requests_merge(profile->task, self->task);
        pthread_mutex_lock(&pyspark->lock);
        struct driver_session *session =
                pyspark->session && !session_has_ended(pyspark->session) ? session_ref(pyspark->session) : NULL;
        pthread_mutex_unlock(&pyspark->lock);
        if (!session || profile_use(call, profile, session)) /* without a context, the first RDD builds it */
                call->result = py4j_object_value(&profile->object);
        else
                py4j_object_unref(&profile->object);
        session_unref(session);
}

const fst_resource_profile *profile_argument(struct py4j_call *call, size_t i, struct driver_session *session)
{
        struct py4j_object *object = py4j_argument(call, i, &profile_class);
        return object && profile_use(call, requests_of(object), session) ? requests_of(object)->profile : NULL;
}

static const struct py4j_member builder_members[] = {
        {"", "", requests_construct, PY4J_CONSTRUCTOR},
        {"require", "r", builder_require},
        {"clearExecutorResourceRequests", "", builder_clear_executor},
        {"clearTaskResourceRequests", "", builder_clear_task},
        {"executorResourcesJMap", "", requests_executor_map},
        {"taskResourcesJMap", "", requests_task_map},
        {"build", "", builder_build},
};

const struct py4j_class profile_builder_class = {.name = "org.apache.spark.resource.ResourceProfileBuilder",
                                                 PY4J_MEMBERS(builder_members),
                                                 .free = requests_free};

static void profile_id(struct py4j_call *call)
{
        const struct requests_object *self = requests_of(call->self);
        if (self->profile)
                call->result = py4j_int(self->id);
        else
                py4j_throw(call, "java.lang.IllegalStateException",
                           "a resource profile that was built without a SparkContext has no id before an RDD uses it");
}

static const struct py4j_member profile_members[] = {
        {"id", "", profile_id},
        {"executorResourcesJMap", "", requests_executor_map},
        {"taskResourcesJMap", "", requests_task_map},
};

static const struct py4j_class profile_class = {
        .name = "org.apache.spark.resource.ResourceProfile", PY4J_MEMBERS(profile_members), .free = requests_free};
