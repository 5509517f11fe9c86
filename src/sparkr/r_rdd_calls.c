/* Members of Spark's RDDs, and what makes them. */
#include "sparkr/r_calls.h"

#include "base/buf.h"
#include "base/mem.h"
#include "driver/context.h"
#include "process/failure_reason.h"
#include "rdd/operators/rdd_r.h"
#include "rdd/rdd_class.h"
#include "sparkr/r_collect.h"
#include "sparkr/r_parallelize.h"
#include "sparkr/r_site.h"

#include <firesteel/frames.h>

/* ------------------------------------------------------------------------------------------------------- objects */

/* The RDD of the called object, or a failed call. */
static int self_rdd(struct r_call *call, fst_rdd **rdd)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        *rdd = r ? NULL : r_object_rdd(call->self)->rdd.rdd;
        return r || *rdd ? r : r_call_refuse(call, "this RDD belongs to a SparkContext that was stopped");
}

static int give_rdd(struct r_call *call, enum r_class class, fst_rdd *rdd, bool key_lines, bool value_lines)
{
        struct r_object *object = r_object_new(class);
        object->rdd.rdd = rdd;
        object->rdd.key_lines = key_lines;
        object->rdd.value_lines = value_lines;
        return r_call_give(call, object);
}

/* An RDD made of this one alone, with rows of the same form. */
static int give_rdd_alike(struct r_call *call, fst_rdd *rdd)
{
        const struct r_object *own = r_object_rdd(call->self);
        return give_rdd(call, call->self->class, rdd, own->rdd.key_lines, own->rdd.value_lines);
}

static int give_self(struct r_call *call)
{
        return r_call_give(call, r_object_view(call->self, call->self->class));
}

static int rdd_as_scala(struct r_call *call)
{
        return r_call_give(call, r_object_view(call->self, R_CLASS_RDD));
}

static int rdd_as_java(struct r_call *call)
{
        return r_call_give(call, r_object_view(call->self, R_CLASS_JAVA_RDD));
}

static int rdd_as_java_pairs(struct r_call *call)
{
        return r_call_give(call, r_object_view(call->self, R_CLASS_JAVA_PAIR_RDD));
}

static int rdd_class_tag(struct r_call *call)
{
        return r_call_give(call, r_object_new(R_CLASS_TAG));
}

static int failed_action(struct r_call *call, int r)
{
        return r ? error_set(&call->error, r, "%s", failure_reason_of_thread()) : 0;
}

/* ------------------------------------------------------------------------------------------------------- sources */

static int rdd_from_array(struct r_call *call)
{
        struct r_values list;
        fst_context *sc;
        int r = r_call_list(call, 1, &list);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        fst_bytes *rows = arena_alloc(call->arena, (list.n + 1) * sizeof(*rows));
        for (size_t i = 0; i < list.n; i++) {
                if (list.items[i].type != R_BYTES)
                        return r_call_refuse(call, "slice %zu of a collection is not a raw vector", i + 1);
                rows[i] = list.items[i].bytes;
        }
        fst_rdd *rdd =
                fst_parallelize_at(sc, rows, list.n, FST_BYTES, (int)MAX(list.n, (size_t)1), R_SITE("parallelize"));
        return give_rdd(call, R_CLASS_JAVA_RDD, rdd, false, false);
}

static int rdd_from_file(struct r_call *call)
{
        const char *path;
        int32_t partitions;
        fst_context *sc;
        fst_rdd *rdd;
        int r = r_call_text(call, 1, &path);
        if (r == 0)
                r = r_call_int(call, 2, &partitions);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0)
                r = r_parallelize_file(sc, path, partitions, &rdd, &call->error);
        return r ? r : give_rdd(call, R_CLASS_JAVA_RDD, rdd, false, false);
}

static int server_new(struct r_call *call)
{
        int32_t partitions;
        int r = r_call_int(call, 1, &partitions);
        if (r)
                return r;
        struct r_object *object = r_object_new(R_CLASS_SERVER);
        r = r_parallelize_listen(partitions, &object->server, &call->error);
        if (r == 0)
                return r_call_give(call, object);
        r_object_unref(object);
        return r;
}

static int server_port(struct r_call *call)
{
        call->result = r_value_int(r_parallelize_port(call->self->server));
        return 0;
}

static int server_secret(struct r_call *call)
{
        return r_call_give_text(call, r_parallelize_secret(call->self->server));
}

static int server_result(struct r_call *call)
{
        fst_context *sc;
        fst_rdd *rdd;
        int r = r_call_context(call, &sc);
        if (r == 0)
                r = r_parallelize_wait(call->self->server, sc, &rdd, &call->error);
        return r ? r : give_rdd(call, R_CLASS_JAVA_RDD, rdd, false, false);
}

static int rdd_text_file(struct r_call *call)
{
        const char *path;
        int32_t partitions = 0;
        fst_context *sc;
        int r = r_call_text(call, 0, &path);
        if (r == 0 && call->n == 2)
                r = r_call_int(call, 1, &partitions);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        return give_rdd(call, R_CLASS_JAVA_RDD, fst_text_file_at(sc, path, partitions, R_SITE("textFile")), true,
                        false);
}

static int rdd_object_file(struct r_call *call)
{
        const char *path;
        int32_t partitions = 0;
        fst_context *sc;
        int r = r_call_text(call, 0, &path);
        if (r == 0 && call->n == 2)
                r = r_call_int(call, 1, &partitions);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        fst_rdd *frames = fst_java_object_file_at(sc, path, partitions, R_SITE("objectFile"));
        return give_rdd(call, R_CLASS_JAVA_RDD, fst_frames_to_rows_at(frames, R_SITE("objectFile")), false, false);
}

/* ---------------------------------------------------------------------------------------------------- R's own RDDs */

/* The arguments that the constructors share, by their places. */
struct r_places {
        size_t function, deserializer, packages, broadcasts;
        int buckets;
        enum r_form out;
};

static int r_place_form(struct r_call *call, size_t i, enum r_form *form)
{
        const char *name;
        int r = r_call_text(call, i, &name);
        if (r)
                return r;
        for (*form = 0; *form < R_FORMS; ++*form)
                if (strcmp(name, r_form_names[*form]) == 0)
                        return 0;
        return r_call_refuse(call, "rows are byte, string or row, not %s", name);
}

/* The broadcast variables in the list at @i, in @arena. */
static int r_place_broadcasts(struct r_call *call, size_t i, struct r_function *f)
{
        struct r_values list;
        int r = r_call_list(call, i, &list);
        if (r)
                return r;
        fst_broadcast *all = arena_alloc(call->arena, (list.n + 1) * sizeof(*all));
        for (size_t k = 0; k < list.n; k++) {
                struct r_object *object = list.items[k].type == R_OBJECT
                                                  ? r_objects_get(&call->world->objects, list.items[k].bytes.data)
                                                  : NULL;
                bool is = object && object->class == R_CLASS_BROADCAST;
                if (is)
                        all[k] = object->broadcast;
                r_object_unref(object);
                if (!is)
                        return r_call_refuse(call, "element %zu of argument %zu is not a broadcast variable", k + 1,
                                             i + 1);
        }
        f->broadcasts = all;
        f->n_broadcasts = list.n;
        return 0;
}

/* The names of the application's files, each with a NUL behind it. */
static char *r_file_names(fst_context *sc, struct arena *arena)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        int n = fst_list_files(sc, NULL, 0);
        const char **all = arena_alloc(arena, ((size_t)MAX(n, 0) + 1) * sizeof(*all));
        n = MIN(fst_list_files(sc, all, (size_t)MAX(n, 0)), n);
        for (int i = 0; i < n; i++)
                buf_append(&names, all[i], strlen(all[i]) + 1);
        return arena_copy(arena, buf_text(&names), names.len);
}

static int r_new(struct r_call *call, enum r_class class, const struct r_places *at)
{
        const struct r_world *world = call->world;
        struct r_function f = {.buckets = at->buckets,
                               .out = at->out,
                               .with_daemon = world->with_daemon,
                               .timeout = world->timeout,
                               .command = world->command,
                               .library = world->library};
        struct r_object *parent = NULL;
        fst_context *sc;
        fst_rdd *rdd;
        int r = r_call_context(call, &sc);
        if (r == 0)
                r = r_call_bytes(call, at->function, &f.function);
        if (r == 0)
                r = r_place_form(call, at->deserializer, &f.in);
        if (r == 0)
                r = r_call_bytes(call, at->packages, &f.packages);
        if (r == 0)
                r = r_place_broadcasts(call, at->broadcasts, &f);
        if (r == 0)
                r = r_call_rdd(call, 0, &parent, &rdd);
        if (r)
                return r;
        f.files = r_file_names(sc, call->arena);
        rdd = rdd_r_new(rdd, &f, R_SITE(class == R_CLASS_PAIRWISE_RDD ? "PairwiseRRDD" : "RRDD"));
        r_object_unref(parent);
        return give_rdd(call, class, rdd, at->out == R_FORM_STRING, false);
}

/* (parent, function, deserializer, serializer, packages, [conda environment], broadcasts, tag) */
static int r_rdd_new(struct r_call *call)
{
        struct r_places at = {1, 2, 4, call->n - 2, -1, R_FORM_BYTE};
        int r = r_place_form(call, 3, &at.out);
        return r ? r : r_new(call, R_CLASS_RDD, &at);
}

/* (parent, function, deserializer, packages, [conda environment], broadcasts, tag) */
static int r_string_rdd_new(struct r_call *call)
{
        return r_new(call, R_CLASS_RDD, &(struct r_places){1, 2, 3, call->n - 2, -1, R_FORM_STRING});
}

/* (parent, partitions, function, deserializer, packages, [conda environment], broadcasts, tag) */
static int r_pairwise_rdd_new(struct r_call *call)
{
        struct r_places at = {2, 3, 4, call->n - 2, -1, R_FORM_BYTE};
        int r = r_call_int(call, 1, &at.buckets);
        if (r)
                return r;
        if (at.buckets < 0)
                return r_call_refuse(call, "Number of partitions (%d) cannot be negative.", at.buckets);
        return r_new(call, R_CLASS_PAIRWISE_RDD, &at);
}

static int partitioner_new(struct r_call *call)
{
        int32_t partitions;
        int r = r_call_int(call, 0, &partitions);
        if (r)
                return r;
        if (partitions < 0)
                return r_call_refuse(call, "requirement failed: Number of partitions (%d) cannot be negative.",
                                     partitions);
        struct r_object *object = r_object_new(R_CLASS_PARTITIONER);
        object->partitions = partitions;
        return r_call_give(call, object);
}

/* ------------------------------------------------------------------------------------------------------- shuffles */

static int rdd_partition_by(struct r_call *call)
{
        struct r_object *partitioner;
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r == 0)
                r = r_call_object(call, 0, R_CLASS_PARTITIONER, &partitioner);
        if (r)
                return r;
        int partitions = partitioner->partitions;
        r_object_unref(partitioner);
        if (fst_rdd_type(rdd).key != FST_KIND_I64)
                return r_call_refuse(call, "partitionBy is for the RDDs of SparkR's shuffles");
        return give_rdd_alike(call, rdd_r_partition_by(rdd, partitions, R_SITE("partitionBy")));
}

static int rdd_values(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        return give_rdd(call, R_CLASS_JAVA_RDD, fst_values_at(rdd, R_SITE("values")),
                        r_object_rdd(call->self)->rdd.value_lines, false);
}

static int rdd_coalesce(struct r_call *call)
{
        int32_t partitions;
        bool shuffle = false;
        fst_rdd *rdd;
        int r = r_call_int(call, 0, &partitions);
        if (r == 0 && call->n == 2)
                r = r_call_bool(call, 1, &shuffle);
        if (r == 0)
                r = self_rdd(call, &rdd);
        if (r)
                return r;
        return give_rdd_alike(call, shuffle ? fst_repartition_at(rdd, partitions, R_SITE("repartition"))
                                            : fst_coalesce_at(rdd, partitions, R_SITE("coalesce")));
}

static int rdd_repartition(struct r_call *call)
{
        int32_t partitions;
        fst_rdd *rdd;
        int r = r_call_int(call, 0, &partitions);
        if (r == 0)
                r = self_rdd(call, &rdd);
        return r ? r : give_rdd_alike(call, fst_repartition_at(rdd, partitions, R_SITE("repartition")));
}

/* Calls @join with this RDD and the one at 0; for pairs, the rows of both are of one column. */
static int rdd_with_other(struct r_call *call, fst_rdd *(*join)(fst_rdd *a, fst_rdd *b, fst_site site),
                          const char *operation, bool pairs)
{
        struct r_object *other;
        fst_rdd *rdd, *second;
        int r = self_rdd(call, &rdd);
        if (r == 0)
                r = r_call_rdd(call, 0, &other, &second);
        if (r)
                return r;
        bool lines = r_object_rdd(call->self)->rdd.key_lines, other_lines = r_object_rdd(other)->rdd.key_lines;
        fst_rdd *joined = join(rdd, second, R_SITE(operation));
        r_object_unref(other);
        return pairs ? give_rdd(call, R_CLASS_JAVA_PAIR_RDD, joined, lines, other_lines) : give_rdd_alike(call, joined);
}

static int rdd_union(struct r_call *call)
{
        return rdd_with_other(call, fst_union_at, "union", false);
}

static int rdd_zip(struct r_call *call)
{
        return rdd_with_other(call, fst_zip_at, "zip", true);
}

static int rdd_cartesian(struct r_call *call)
{
        return rdd_with_other(call, fst_cartesian_at, "cartesian", true);
}

/* ------------------------------------------------------------------------------------------- storage, checkpoints */

static int rdd_cache(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        fst_cache(rdd);
        return give_self(call);
}

static int rdd_persist(struct r_call *call)
{
        struct r_object *level;
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r == 0)
                r = r_call_object(call, 0, R_CLASS_LEVEL, &level);
        if (r)
                return r;
        fst_persist(rdd, level->level.level);
        r_object_unref(level);
        return give_self(call);
}

static int rdd_unpersist(struct r_call *call)
{
        bool blocking = false;
        fst_rdd *rdd;
        int r = call->n ? r_call_bool(call, 0, &blocking) : 0;
        if (r == 0)
                r = self_rdd(call, &rdd);
        if (r)
                return r;
        if (blocking)
                fst_unpersist_blocking(rdd);
        else
                fst_unpersist(rdd);
        return give_self(call);
}

static int rdd_checkpoint(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        if (!fst_checkpoint_dir(rdd->sc) || !*fst_checkpoint_dir(rdd->sc))
                return error_set(&call->error, -EINVAL,
                                 "Checkpoint directory has not been set in the SparkContext: call setCheckpointDir");
        fst_checkpoint(rdd);
        return 0;
}

static int rdd_is_checkpointed(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r == 0)
                call->result = r_value_bool(fst_is_checkpointed(rdd));
        return r;
}

/* ------------------------------------------------------------------------------------------------------- queries */

static int rdd_get_partitions(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        int n = fst_rdd_partitions(rdd);
        if (n < 0)
                return error_set(&call->error, n, "%s", error_message(&rdd->error));
        call->result = r_value_int(n);
        return 0;
}

static int rdd_id(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r == 0)
                call->result = r_value_int(fst_rdd_id(rdd));
        return r;
}

static int rdd_name(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        return r ? r : r_call_give_text(call, __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE));
}

static int rdd_set_name(struct r_call *call)
{
        const char *name;
        fst_rdd *rdd;
        int r = r_call_text(call, 0, &name);
        if (r == 0)
                r = self_rdd(call, &rdd);
        if (r)
                return r;
        fst_rdd_set_name(rdd, name);
        return give_self(call);
}

static int rdd_to_string(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        const char *name = __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE);
        _cleanup_free_ char *text = mem_printf("%s%s%s[%d] at %s", name ? name : "", name ? " " : "",
                                               rdd_spark_class(rdd), rdd->lineage.id, rdd->call_site);
        return r_call_give_text(call, text);
}

static int rdd_to_debug_string(struct r_call *call)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        return r ? r : r_call_give_text(call, fst_to_debug_string(rdd));
}

/* ------------------------------------------------------------------------------------------------------- actions */

static int rdd_count(struct r_call *call)
{
        int64_t count = 0;
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        r = fst_count_at(rdd, &count, R_SITE("count"));
        call->result = r_value_double((double)count);
        return failed_action(call, r);
}

/* Rows of the called RDD as an object. */
static int rdd_collect_rows(struct r_call *call, const int *partitions, int n, struct r_object **object)
{
        fst_rdd *rdd;
        int r = self_rdd(call, &rdd);
        if (r)
                return r;
        if (fst_rdd_type(rdd).key != FST_KIND_BYTES)
                return r_call_refuse(call, "the RDD of a shuffle cannot be collected: call values() first");
        *object = r_object_new(R_CLASS_ROWS);
        (*object)->rows.key_lines = r_object_rdd(call->self)->rdd.key_lines;
        (*object)->rows.value_lines = r_object_rdd(call->self)->rdd.value_lines;
        r = r_collect(rdd, partitions, n, &(*object)->rows, &call->error);
        if (r)
                r_object_unref(steal(*object));
        return r;
}

static int rdd_collect(struct r_call *call)
{
        struct r_object *rows;
        int r = rdd_collect_rows(call, NULL, 0, &rows);
        return r ? r : r_call_give(call, rows);
}

/* A list with an object of rows for each partition that the argument names. */
static int rdd_collect_partitions(struct r_call *call)
{
        struct r_values ids;
        int r = r_call_list(call, 0, &ids);
        struct r_values lists = {r ? NULL : arena_alloc(call->arena, (ids.n + 1) * sizeof(struct r_value)), 0};
        for (size_t i = 0; r == 0 && i < ids.n; i++) {
                struct r_object *rows;
                int partition = ids.items[i].integer;
                if (ids.items[i].type != R_INT)
                        return r_call_refuse(call, "number %zu of the partitions is not an integer", i + 1);
                r = rdd_collect_rows(call, &partition, 1, &rows);
                if (r == 0)
                        lists.items[lists.n++] = r_objects_add(&call->world->objects, rows, call->arena);
        }
        if (r == 0)
                call->result = (struct r_value){.type = R_LIST, .list = lists};
        return r;
}

static int rdd_save_text(struct r_call *call)
{
        const char *path;
        fst_rdd *rdd;
        int r = r_call_text(call, 0, &path);
        if (r == 0)
                r = self_rdd(call, &rdd);
        return r ? r : failed_action(call, fst_save_as_text_file_at(rdd, path, NULL, R_SITE("saveAsTextFile")));
}

/* Writes what Spark's objectFile reads: arrays of Java's byte[] in SequenceFiles. */
static int rdd_save_objects(struct r_call *call)
{
        const char *path;
        fst_rdd *rdd;
        int r = r_call_text(call, 0, &path);
        if (r == 0)
                r = self_rdd(call, &rdd);
        if (r)
                return r;
        if (fst_rdd_type(rdd).key != FST_KIND_BYTES || fst_rdd_type(rdd).value)
                return r_call_refuse(call, "saveAsObjectFile is for RDDs of R objects, not of pairs");
        fst_rdd *frames = fst_frames_from_rows_at(rdd, R_SITE("saveAsObjectFile"));
        return failed_action(call, fst_save_as_java_object_file_at(frames, path, R_SITE("saveAsObjectFile")));
}

/* Members that RDDs of Java, of Scala and of pairs share. */
#define EACH(...)                                                                                                      \
        {.class = R_CLASS_JAVA_RDD, __VA_ARGS__}, {.class = R_CLASS_JAVA_PAIR_RDD, __VA_ARGS__},                       \
        {                                                                                                              \
                .class = R_CLASS_RDD, __VA_ARGS__                                                                      \
        }

const struct r_member r_rdd_members[] = {
        {.class_name = "org.apache.spark.api.r.RRDD",
         .name = "createRDDFromArray",
         .least = 2,
         .most = 2,
         .call = rdd_from_array},
        {.class_name = "org.apache.spark.api.r.RRDD",
         .name = "createRDDFromFile",
         .least = 3,
         .most = 3,
         .call = rdd_from_file},
        {.class_name = "org.apache.spark.api.r.RRDD", .name = "<init>", .least = 7, .most = 8, .call = r_rdd_new},
        {.class_name = "org.apache.spark.api.r.StringRRDD",
         .name = "<init>",
         .least = 6,
         .most = 7,
         .call = r_string_rdd_new},
        {.class_name = "org.apache.spark.api.r.PairwiseRRDD",
         .name = "<init>",
         .least = 7,
         .most = 8,
         .call = r_pairwise_rdd_new},
        {.class_name = "org.apache.spark.HashPartitioner",
         .name = "<init>",
         .least = 1,
         .most = 1,
         .call = partitioner_new},
        {.class_name = "org.apache.spark.api.r.RParallelizeServer",
         .name = "<init>",
         .least = 2,
         .most = 2,
         .call = server_new},
        {.class = R_CLASS_SERVER, .name = "port", .call = server_port},
        {.class = R_CLASS_SERVER, .name = "secret", .call = server_secret},
        {.class = R_CLASS_SERVER, .name = "getResult", .call = server_result},
        {.class = R_CLASS_JAVA_CONTEXT, .name = "textFile", .least = 1, .most = 2, .call = rdd_text_file},
        {.class = R_CLASS_JAVA_CONTEXT, .name = "objectFile", .least = 1, .most = 2, .call = rdd_object_file},
        {.class = R_CLASS_PAIRWISE_RDD, .name = "asJavaPairRDD", .call = rdd_as_java_pairs},
        {.class = R_CLASS_RDD, .name = "asJavaRDD", .call = rdd_as_java},
        EACH(.name = "rdd", .call = rdd_as_scala),
        EACH(.name = "classTag", .call = rdd_class_tag),
        EACH(.name = "id", .call = rdd_id),
        EACH(.name = "name", .call = rdd_name),
        EACH(.name = "setName", .least = 1, .most = 1, .call = rdd_set_name),
        EACH(.name = "toString", .call = rdd_to_string),
        EACH(.name = "toDebugString", .call = rdd_to_debug_string),
        EACH(.name = "getNumPartitions", .call = rdd_get_partitions),
        EACH(.name = "cache", .call = rdd_cache),
        EACH(.name = "persist", .least = 1, .most = 1, .call = rdd_persist),
        EACH(.name = "unpersist", .most = 1, .call = rdd_unpersist),
        EACH(.name = "checkpoint", .call = rdd_checkpoint),
        EACH(.name = "isCheckpointed", .call = rdd_is_checkpointed),
        EACH(.name = "coalesce", .least = 1, .most = 2, .call = rdd_coalesce),
        EACH(.name = "repartition", .least = 1, .most = 1, .call = rdd_repartition),
        EACH(.name = "union", .least = 1, .most = 1, .call = rdd_union),
        EACH(.name = "zip", .least = 1, .most = 1, .call = rdd_zip),
        EACH(.name = "cartesian", .least = 1, .most = 1, .call = rdd_cartesian),
        EACH(.name = "partitionBy", .least = 1, .most = 1, .call = rdd_partition_by),
        EACH(.name = "values", .call = rdd_values),
        EACH(.name = "count", .call = rdd_count),
        EACH(.name = "collect", .call = rdd_collect),
        EACH(.name = "collectPartitions", .least = 1, .most = 1, .call = rdd_collect_partitions),
        EACH(.name = "saveAsTextFile", .least = 1, .most = 1, .call = rdd_save_text),
        EACH(.name = "saveAsObjectFile", .least = 1, .most = 1, .call = rdd_save_objects),
        {0},
};
