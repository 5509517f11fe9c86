/* See r_calls.h: finds the member of a request, calls it, and answers. */
#include "sparkr/r_calls.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "text/number_format.h"

#include <stdio.h>

#define SPARK_EXCEPTION "org.apache.spark.SparkException"

void r_world_init(struct r_world *world)
{
        *world = (struct r_world){0};
        r_objects_init(&world->objects);
        pthread_mutex_init(&world->lock, NULL);
}

void r_world_deinit(struct r_world *world)
{
        r_objects_forget_rdds(&world->objects);
        r_objects_deinit(&world->objects);
        if (world->sc)
                fst_context_stop(world->sc);
        strmap_deinit(&world->session);
        pthread_mutex_destroy(&world->lock);
        free(world->library);
        free(world->command);
        free(world->version);
}

/* ---------------------------------------------------------------------------------------------------- arguments */

int r_call_refuse(struct r_call *call, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&message, format, args);
        va_end(args);
        call->exception = "java.lang.IllegalArgumentException";
        return error_set(&call->error, -EINVAL, "%s", buf_text(&message));
}

static int r_call_wrong_argument(struct r_call *call, size_t i, const char *wanted)
{
        return r_call_refuse(call, "argument %zu of %s is not %s", i + 1, call->member, wanted);
}

int r_call_int(struct r_call *call, size_t i, int32_t *x)
{
        const struct r_value *v = &call->arguments[i];
        if (v->type == R_DOUBLE && v->number >= INT32_MIN && v->number <= INT32_MAX && v->number == (int32_t)v->number)
                *x = (int32_t)v->number;
        else if (v->type == R_INT)
                *x = v->integer;
        else
                return r_call_wrong_argument(call, i, "an integer");
        return 0;
}

int r_call_bool(struct r_call *call, size_t i, bool *x)
{
        if (call->arguments[i].type != R_BOOL)
                return r_call_wrong_argument(call, i, "TRUE or FALSE");
        *x = call->arguments[i].integer;
        return 0;
}

int r_call_text_or_null(struct r_call *call, size_t i, const char **text)
{
        const struct r_value *v = &call->arguments[i];
        if (v->type != R_STRING && v->type != R_NULL)
                return r_call_wrong_argument(call, i, "a string");
        *text = v->type == R_NULL ? NULL : v->bytes.data;
        return 0;
}

int r_call_text(struct r_call *call, size_t i, const char **text)
{
        int r = r_call_text_or_null(call, i, text);
        return r || *text ? r : r_call_wrong_argument(call, i, "a string");
}

int r_call_bytes(struct r_call *call, size_t i, fst_bytes *bytes)
{
        if (call->arguments[i].type != R_BYTES)
                return r_call_wrong_argument(call, i, "a raw vector");
        *bytes = call->arguments[i].bytes;
        return 0;
}

int r_call_list(struct r_call *call, size_t i, struct r_values *list)
{
        const struct r_value *v = &call->arguments[i];
        if (v->type != R_ARRAY && v->type != R_LIST)
                return r_call_wrong_argument(call, i, "a list");
        *list = v->list;
        return 0;
}

static int r_call_any_object(struct r_call *call, size_t i, struct r_object **object)
{
        const struct r_value *v = &call->arguments[i];
        *object = v->type == R_OBJECT ? r_objects_get(&call->world->objects, v->bytes.data) : NULL;
        return *object ? 0 : r_call_wrong_argument(call, i, "an object of this session");
}

int r_call_object(struct r_call *call, size_t i, enum r_class class, struct r_object **object)
{
        int r = r_call_any_object(call, i, object);
        if (r == 0 && (*object)->class != class) {
                r_object_unref(steal(*object));
                r = r_call_wrong_argument(call, i, r_class_name(class));
        }
        return r;
}

int r_call_rdd(struct r_call *call, size_t i, struct r_object **object, fst_rdd **rdd)
{
        int r = r_call_any_object(call, i, object);
        enum r_class class = r ? R_CLASS_NONE : (*object)->class;
        bool is = class == R_CLASS_RDD || class == R_CLASS_JAVA_RDD || class == R_CLASS_JAVA_PAIR_RDD ||
                  class == R_CLASS_PAIRWISE_RDD;
        *rdd = is ? r_object_rdd(*object)->rdd.rdd : NULL;
        if (r || *rdd)
                return r;
        r_object_unref(steal(*object));
        return r_call_wrong_argument(call, i, is ? "an RDD of the running SparkContext" : "an RDD");
}

int r_call_context(struct r_call *call, fst_context **sc)
{
        pthread_mutex_lock(&call->world->lock);
        *sc = call->world->sc;
        pthread_mutex_unlock(&call->world->lock);
        if (*sc)
                return 0;
        call->exception = "java.lang.IllegalStateException";
        return error_set(&call->error, -EINVAL,
                         "Cannot call methods on a stopped SparkContext: call sparkR.session() again");
}

int r_call_setting(struct r_call *call, const char **key, const char **otherwise, fst_context **sc)
{
        *otherwise = NULL;
        int r = r_call_text(call, 0, key);
        if (r == 0 && call->n == 2)
                r = r_call_text_or_null(call, 1, otherwise);
        return r ? r : r_call_context(call, sc);
}

/* ------------------------------------------------------------------------------------------------------ results */

int r_call_give(struct r_call *call, struct r_object *object)
{
        call->result = r_objects_add(&call->world->objects, object, call->arena);
        return 0;
}

int r_call_give_text(struct r_call *call, const char *text)
{
        call->result = r_value_string(call->arena, text);
        return 0;
}

char *r_value_text(const struct r_value *v)
{
        char number[NUMBER_F64_SIZE + 1];
        switch (v->type) {
        case R_STRING:
        case R_DATE:
                return mem_strdup(v->bytes.data);
        case R_BOOL:
                return mem_strdup(v->integer ? "true" : "false");
        case R_INT:
                return mem_printf("%d", v->integer);
        case R_DOUBLE:
                number[number_format_f64(number, v->number)] = '\0';
                return mem_strdup(number);
        default:
                return NULL;
        }
}

int r_call_refuse_sql(struct r_call *call, const char *what)
{
        call->exception = "java.lang.UnsupportedOperationException";
        return error_set(
                &call->error, -ENOTSUP,
                "Firesteel has no SQL: %s.%s needs DataFrames. spark.lapply, RDDs and broadcast variables work. "
                "For DataFrames set SPARK_HOME to a distribution of Spark",
                what, call->member);
}

/* ----------------------------------------------------------------------------------------------------- dispatch */

static const struct r_member *r_member_find(const struct r_call *call, const char *class_name, bool *other_number)
{
        const struct r_member *const tables[] = {r_java_members, r_context_members, r_session_members, r_rdd_members};
        for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
                for (const struct r_member *m = tables[i]; m->name; m++) {
                        bool same = class_name ? m->class_name && strcmp(m->class_name, class_name) == 0
                                               : !m->class_name && m->class == call->self->class;
                        if (!same || strcmp(m->name, call->member) != 0)
                                continue;
                        if (call->n >= m->least && call->n <= m->most)
                                return m;
                        *other_number = true;
                }
        }
        return NULL;
}

static bool r_class_is_sql(const char *name)
{
        static const char *const packages[] = {"org.apache.spark.sql.", "org.apache.spark.ml.",
                                               "org.apache.spark.mllib.", "org.apache.spark.streaming."};
        for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
                if (text_starts_with(name, packages[i]))
                        return true;
        return false;
}

static bool r_class_is_known(const char *name)
{
        const struct r_member *const tables[] = {r_java_members, r_context_members, r_session_members, r_rdd_members};
        for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
                for (const struct r_member *m = tables[i]; m->name; m++)
                        if (m->class_name && strcmp(m->class_name, name) == 0)
                                return true;
        return false;
}

static int r_call_unknown(struct r_call *call, const char *class_name, bool other_number)
{
        const char *name = class_name ? class_name : r_class_name(call->self->class);
        if (other_number)
                return r_call_refuse(call, "No matched method found for class %s.%s with %zu arguments", name,
                                     call->member, call->n);
        if (r_class_is_sql(name))
                return r_call_refuse_sql(call, name);
        if (class_name && !r_class_is_known(class_name)) {
                call->exception = "java.lang.ClassNotFoundException";
                return error_set(&call->error, -ENOENT,
                                 "%s (Firesteel has no JVM: only classes that SparkR's RDDs need)", class_name);
        }
        return r_call_refuse(call,
                             "invalid method %s for class %s (Firesteel has no JVM: only members that SparkR's RDDs "
                             "need)",
                             call->member, name);
}

static int r_call_run(struct r_call *call, const struct r_request *request)
{
        bool other_number = false;
        if (!request->is_static) {
                call->self = r_objects_get(&call->world->objects, request->target);
                if (!call->self)
                        return r_call_refuse(call, "Object not found %s", request->target);
        }
        const struct r_member *member = r_member_find(call, request->is_static ? request->target : NULL, &other_number);
        return member ? member->call(call)
                      : r_call_unknown(call, request->is_static ? request->target : NULL, other_number);
}

/* The backend's own members. */
static bool r_world_call_handler(struct r_world *world, const struct r_request *request, struct buf *out)
{
        const struct r_value *first = request->arguments.items, null = {.type = R_NULL};
        size_t n = request->arguments.n;
        if (strcmp(request->member, "stopBackend") == 0) {
                r_answer_put(out, &null);
                return true;
        }
        if (strcmp(request->member, "rm") == 0 && n == 1 && first->type == R_STRING) {
                r_objects_remove(&world->objects, first->bytes.data);
                r_answer_put(out, &null);
        } else if (strcmp(request->member, "echo") == 0 && n == 1) {
                r_answer_put(out, first);
        } else {
                _cleanup_free_ char *message = mem_printf("Error: unknown method %s", request->member);
                r_answer_put_error(out, message);
        }
        return false;
}

bool r_world_call(struct r_world *world, const struct r_request *request, struct arena *arena, struct buf *out)
{
        if (strcmp(request->target, "SparkRHandler") == 0)
                return r_world_call_handler(world, request, out);
        struct r_call call = {.world = world,
                              .member = request->member,
                              .arguments = request->arguments.items,
                              .n = request->arguments.n,
                              .arena = arena,
                              .result = {.type = R_NULL},
                              .exception = SPARK_EXCEPTION};
        if (r_call_run(&call, request) == 0) {
                r_answer_put(out, &call.result);
        } else {
                log_debug("RBackendHandler", "%s on %s failed", request->member, request->target);
                _cleanup_free_ char *message = mem_printf("%s: %s", call.exception, error_message(&call.error));
                r_answer_put_error(out, message);
        }
        r_object_unref(call.self); /* the result may borrow from it */
        error_deinit(&call.error);
        return false;
}
