/* The methods of RDDs; see rdd_object.h. */
#include "base/mem.h"
#include "base/string_prefix.h"
#include "py4j/collections.h"
#include "pyspark_driver/call_site.h"
#include "pyspark_driver/errors.h"
#include "pyspark_driver/rdd_object.h"

/* A frame begins with its length. */
#define FRAME_HEAD 4

/* A list of them takes 160 MiB. */
#define MAX_LISTED_PARTITIONS (4 << 20)

/* An RDD of a context that was stopped is gone, and another one may have its address. */
static void rdd_object_free_one(struct rdd_object *rdd)
{
        if (session_enter(rdd->session)) {
                fst_release(rdd->rdd);
                session_leave(rdd->session);
        }
        py4j_object_unref(rdd->kept);
        py4j_object_unref(rdd->profile);
        session_unref(rdd->session);
        free(rdd);
}

/* Frees a lineage of any length one by one, because a recursion would need as much stack. */
void rdd_object_free(struct py4j_object *object)
{
        static _Thread_local struct rdd_object *to_free;
        static _Thread_local bool freeing;
        struct rdd_object *rdd = (struct rdd_object *)object;
        rdd->next = to_free;
        to_free = rdd;
        if (freeing)
                return;
        freeing = true;
        while ((rdd = to_free)) {
                to_free = rdd->next;
                rdd_object_free_one(rdd);
        }
        freeing = false;
}

void rdd_keep(struct rdd_object *rdd, struct py4j_object *object)
{
        if (!rdd->kept)
                rdd->kept = py4j_list_new();
        py4j_add(rdd->kept, py4j_object_value(py4j_object_ref(object)));
}

static struct rdd_object *rdd_check(struct py4j_call *call, struct rdd_object *rdd)
{
        if (!session_has_ended(rdd->session))
                return rdd;
        py4j_throw(call, "java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext.");
        return NULL;
}

struct rdd_object *rdd_argument(struct py4j_call *call, size_t i)
{
        struct py4j_object *object = py4j_argument(call, i, &rdd_class);
        return object ? rdd_check(call, (struct rdd_object *)object) : NULL;
}

struct rdd_object *rdd_self(struct py4j_call *call)
{
        return rdd_check(call, (struct rdd_object *)call->self);
}

void rdd_return(struct py4j_call *call, const struct py4j_class *class, struct driver_session *session, fst_rdd *rdd,
                struct rdd_object *parent)
{
        struct rdd_object *made = new0(struct rdd_object);
        py4j_object_init(&made->object, class);
        made->session = session_ref(session);
        made->rdd = rdd;
        made->barrier = parent && parent->barrier;
        if (parent)
                rdd_keep(made, &parent->object);
        call->result = py4j_object_value(&made->object);
}

static void rdd_return_self(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

/* ---------------------------------------------------------------------------------------------- description */

static void rdd_id(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self)
                call->result = py4j_int(fst_rdd_id(self->rdd));
}

/* The number of partitions, or -1, and the call throws. */
static int rdd_count_partitions(struct py4j_call *call, struct rdd_object *self)
{
        int n = fst_rdd_partitions(self->rdd);
        if (n < 0)
                throw_failure(call, fst_to_debug_string(self->rdd));
        return n;
}

static void rdd_partitions(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        int n = self ? rdd_count_partitions(call, self) : -1;
        if (n > MAX_LISTED_PARTITIONS)
                py4j_throw(call, "java.lang.OutOfMemoryError",
                           "a list of %d partitions is too large: use at most %d partitions", n, MAX_LISTED_PARTITIONS);
        if (n < 0 || n > MAX_LISTED_PARTITIONS)
                return;
        struct py4j_object *list = py4j_list_new();
        for (int i = 0; i < n; i++)
                py4j_add(list, py4j_int(i));
        call->result = py4j_object_value(list);
}

static void rdd_num_partitions(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        int n = self ? rdd_count_partitions(call, self) : -1;
        if (n >= 0)
                call->result = py4j_int(n);
}

static void rdd_set_name(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (!self)
                return;
        fst_rdd_set_name(self->rdd, call->args[0].text);
        rdd_return_self(call);
}

static void rdd_name(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self) /* another connection may set it */
                call->result = py4j_string(__atomic_load_n(&self->rdd->name, __ATOMIC_ACQUIRE));
}

static void rdd_to_debug_string(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self)
                call->result = py4j_string(fst_to_debug_string(self->rdd));
}

/* The first line of the debug string without the number of partitions: "PythonRDD[1] at collect at a.py:3". */
static void rdd_to_string(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (!self)
                return;
        const char *text = fst_to_debug_string(self->rdd);
        if (*text == '(') {
                const char *end = strchr(text, ')');
                text = end && end[1] == ' ' ? end + 2 : text;
        }
        size_t n = strcspn(text, "\n");
        for (size_t i = n; i > 0; i--) /* without its storage level */
                if (text[i - 1] == '[' && i > 1 && text[i - 2] == ' ') {
                        n = i - 2;
                        break;
                }
        call->result = py4j_string_n(text, n);
}

/* ---------------------------------------------------------------------------------------- storage, checkpoints */

static enum fst_storage_level rdd_level_of(struct storage_flags f)
{
        bool copies = f.replication > 1;
        if (f.off_heap)
                return FST_STORAGE_OFF_HEAP;
        if (f.disk && f.memory && f.deserialized)
                return copies ? FST_STORAGE_MEMORY_AND_DISK_2 : FST_STORAGE_MEMORY_AND_DISK;
        if (f.disk && f.memory)
                return copies ? FST_STORAGE_MEMORY_AND_DISK_SER_2 : FST_STORAGE_MEMORY_AND_DISK_SER;
        if (f.disk)
                return f.replication > 2 ? FST_STORAGE_DISK_ONLY_3
                       : copies          ? FST_STORAGE_DISK_ONLY_2
                                         : FST_STORAGE_DISK_ONLY;
        if (f.memory && f.deserialized)
                return copies ? FST_STORAGE_MEMORY_ONLY_2 : FST_STORAGE_MEMORY_ONLY;
        if (f.memory)
                return copies ? FST_STORAGE_MEMORY_ONLY_SER_2 : FST_STORAGE_MEMORY_ONLY_SER;
        return FST_STORAGE_NONE;
}

static struct storage_flags rdd_flags_of(enum fst_storage_level level)
{
        static const struct storage_flags flags[] = {
                [FST_STORAGE_NONE] = {.replication = 1},
                [FST_STORAGE_MEMORY_ONLY] = {.memory = true, .deserialized = true, .replication = 1},
                [FST_STORAGE_MEMORY_AND_DISK] = {.disk = true, .memory = true, .deserialized = true, .replication = 1},
                [FST_STORAGE_DISK_ONLY] = {.disk = true, .replication = 1},
                [FST_STORAGE_MEMORY_ONLY_2] = {.memory = true, .deserialized = true, .replication = 2},
                [FST_STORAGE_MEMORY_AND_DISK_2] =
                        {.disk = true, .memory = true, .deserialized = true, .replication = 2},
                [FST_STORAGE_DISK_ONLY_2] = {.disk = true, .replication = 2},
                [FST_STORAGE_DISK_ONLY_3] = {.disk = true, .replication = 3},
                [FST_STORAGE_MEMORY_ONLY_SER] = {.memory = true, .replication = 1},
                [FST_STORAGE_MEMORY_ONLY_SER_2] = {.memory = true, .replication = 2},
                [FST_STORAGE_MEMORY_AND_DISK_SER] = {.disk = true, .memory = true, .replication = 1},
                [FST_STORAGE_MEMORY_AND_DISK_SER_2] = {.disk = true, .memory = true, .replication = 2},
                [FST_STORAGE_OFF_HEAP] = {.disk = true, .memory = true, .off_heap = true, .replication = 1},
        };
        return level < ARRAY_SIZE(flags) ? flags[level] : flags[FST_STORAGE_NONE];
}

static void rdd_persist_at(struct py4j_call *call, enum fst_storage_level level)
{
        struct rdd_object *self = rdd_self(call);
        if (!self)
                return;
        enum fst_storage_level now = fst_rdd_storage_level(self->rdd);
        if (now != FST_STORAGE_NONE && now != level && !self->locally_checkpointed) {
                py4j_throw(call, "org.apache.spark.SparkUnsupportedOperationException",
                           "Cannot change storage level of an RDD after it was already assigned a level");
                return;
        }
        fst_persist(self->rdd, level);
        rdd_return_self(call);
}

static void rdd_persist(struct py4j_call *call)
{
        struct py4j_object *level = py4j_argument(call, 0, &storage_level_class);
        if (level)
                rdd_persist_at(call, rdd_level_of(storage_level_flags(level)));
}

static void rdd_cache(struct py4j_call *call)
{
        rdd_persist_at(call, FST_STORAGE_MEMORY_ONLY_SER);
}

static void rdd_unpersist(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (!self)
                return;
        if (call->n && call->args[0].yes)
                fst_unpersist_blocking(self->rdd);
        else
                fst_unpersist(self->rdd);
        rdd_return_self(call);
}

static void rdd_get_storage_level(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self)
                call->result = py4j_object_value(storage_level_new(rdd_flags_of(fst_rdd_storage_level(self->rdd))));
}

static void rdd_checkpoint(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (!self)
                return;
        if (fst_checkpoint_dir(self->session->sc))
                fst_checkpoint(self->rdd);
        else
                py4j_throw(call, "org.apache.spark.SparkException",
                           "Checkpoint directory has not been set in the SparkContext");
}

static void rdd_is_checkpointed(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self)
                call->result = py4j_bool(fst_is_checkpointed(self->rdd));
}

static void rdd_local_checkpoint(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (!self)
                return;
        fst_local_checkpoint(self->rdd);
        self->locally_checkpointed = true;
        rdd_return_self(call);
}

static void rdd_is_locally_checkpointed(struct py4j_call *call)
{
        call->result = py4j_bool(((struct rdd_object *)call->self)->locally_checkpointed);
}

static void rdd_get_checkpoint_file(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self)
                call->result = py4j_object_value(py4j_option_new(py4j_string(fst_checkpoint_file(self->rdd))));
}

/* The cleaner removes the map outputs of RDDs that the program no longer uses. */
static void rdd_clean_shuffles(struct py4j_call *call)
{
        rdd_self(call);
}

static void rdd_is_barrier(struct py4j_call *call)
{
        call->result = py4j_bool(((struct rdd_object *)call->self)->barrier);
}

/* ------------------------------------------------------------------------------------------ transformations */

typedef fst_rdd *combine_rdds(fst_rdd *left, fst_rdd *right, fst_site site);

static void rdd_combine(struct py4j_call *call, combine_rdds *combine, const char *operation,
                        const struct py4j_class *class)
{
        struct rdd_object *self = rdd_self(call), *other = self ? rdd_argument(call, 0) : NULL;
        if (!other)
                return;
        rdd_return(call, class, self->session, combine(self->rdd, other->rdd, call_site(operation)), self);
        struct rdd_object *made = (struct rdd_object *)call->result.object;
        made->barrier |= other->barrier;
        rdd_keep(made, &other->object);
}

static void rdd_union(struct py4j_call *call)
{
        rdd_combine(call, fst_union_at, "union", &java_rdd_class);
}

static void rdd_cartesian(struct py4j_call *call)
{
        rdd_combine(call, fst_frames_cartesian_at, "cartesian", &java_pair_rdd_class);
}

static void rdd_zip(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call), *other = self ? rdd_argument(call, 0) : NULL;
        int left = other ? rdd_count_partitions(call, self) : -1,
            right = left < 0 ? -1 : rdd_count_partitions(call, other);
        if (right < 0)
                return;
        if (left == right)
                rdd_combine(call, fst_frames_zip_at, "zip", &java_pair_rdd_class);
        else
                py4j_throw(call, "java.lang.IllegalArgumentException",
                           "Can't zip RDDs with unequal numbers of partitions: List(%d, %d)", left, right);
}

static void rdd_coalesce(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        int n = (int)call->args[0].number;
        bool shuffle = call->n > 1 && call->args[1].yes;
        if (!self)
                return;
        if (n <= 0)
                py4j_throw(call, "java.lang.IllegalArgumentException",
                           "requirement failed: Number of partitions (%d) must be positive.", n);
        else
                rdd_return(call, &java_rdd_class, self->session,
                           shuffle ? fst_repartition_at(self->rdd, n, call_site("coalesce"))
                                   : fst_coalesce_at(self->rdd, n, call_site("coalesce")),
                           self);
        if (shuffle && call->result.type == PY4J_OBJECT)
                ((struct rdd_object *)call->result.object)->barrier = false;
}

/* map(BytesToString), the only function of ours: the rows are text for saveAsTextFile. */
static void rdd_map(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (!self || !py4j_argument(call, 0, &bytes_to_string_class))
                return;
        rdd_return(call, &java_rdd_class, self->session, fst_frames_to_rows_at(self->rdd, call_site("map")), self);
        ((struct rdd_object *)call->result.object)->text = true;
}

/* ---------------------------------------------------------------------------------------------------- output */

static void rdd_save_as_text_file(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        struct py4j_object *codec = self && call->n == 2 ? py4j_argument(call, 1, &class_class) : NULL;
        if (!self || (call->n == 2 && !codec))
                return;
        if (!self->text) {
                py4j_throw(call, "java.lang.UnsupportedOperationException",
                           "Firesteel saves the rows of Python as text only after map(BytesToString), as pyspark does");
                return;
        }
        if (fst_save_as_text_file_at(self->rdd, call->args[0].text, codec ? class_class_codec(codec) : NULL,
                                     call_site_of_save("saveAsTextFile", pyspark_of(call)->package.version)) < 0)
                throw_failure(call, "saving failed");
}

static void rdd_save_as_object_file(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        if (self && fst_save_as_java_object_file_at(
                            self->rdd, call->args[0].text,
                            call_site_of_save("saveAsObjectFile", pyspark_of(call)->package.version)) < 0)
                throw_failure(call, "saving failed");
}

/* ---------------------------------------------------------------------------------------------------- numbers */

/* SerDeUtil.pythonToJava: the rows stay pickles until an action says which numbers it wants. */
static void rdd_python_to_java(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 0);
        if (rdd)
                call->result = py4j_object_value(py4j_object_ref(&rdd->object));
}

/* An estimate that is closer than the program asks costs some KiB, and small counts come out as Spark's do. */
#define MAX_DEVIATION 0.01

static void rdd_count_approx_distinct(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        double deviation = call->args[0].type == PY4J_DOUBLE ? call->args[0].real : (double)call->args[0].number;
        int64_t n;
        if (!self)
                return;
        fst_rdd *numbers = fst_frames_to_numbers_at(self->rdd, FST_I64, rdd_site_in_spark(call, SPARK_PYTHON_TO_JAVA));
        if (fst_count_approx_distinct_at(numbers, MIN(deviation, MAX_DEVIATION), &n, call_site("countApproxDistinct")) <
            0)
                throw_failure(call, "the job failed");
        else
                call->result = py4j_long(n);
        fst_release(numbers);
}

/* The number of rows: of batches, as Python makes them. */
static void rdd_count(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        int64_t n;
        if (!self)
                return;
        if (fst_count_at(self->rdd, &n, call_site("count")) < 0)
                throw_failure(call, "the job failed");
        else
                call->result = py4j_long(n);
}

/* The first row as the bytes of its frame. */
static void rdd_first(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        fst_iter *rows;
        fst_bytes row;
        if (!self)
                return;
        if (fst_take_at(self->rdd, 1, &rows, call_site("first")) < 0)
                throw_failure(call, "the job failed");
        else if (!fst_next(rows, &row))
                py4j_throw(call, "java.lang.UnsupportedOperationException", "empty collection");
        else if (row.len <= FRAME_HEAD)
                call->result = py4j_object_value(NULL);
        else
                call->result = py4j_bytes(row.data + FRAME_HEAD, row.len - FRAME_HEAD);
}

static const struct py4j_member serde_members[] = {
        {"javaToPython", "r", rdd_python_to_java, PY4J_STATIC_METHOD},
        {"pythonToJava", "r", rdd_python_to_java, PY4J_STATIC_METHOD},
        {"pythonToJava", "rb", rdd_python_to_java, PY4J_STATIC_METHOD},
};

const struct py4j_class serde_class = {.name = "org.apache.spark.api.python.SerDeUtil", PY4J_MEMBERS(serde_members)};

static pthread_mutex_t profiles_lock = PTHREAD_MUTEX_INITIALIZER;

static void rdd_with_resources(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        const fst_resource_profile *profile = self ? profile_argument(call, 0, self->session) : NULL;
        if (!profile)
                return;
        fst_with_resources_at(self->rdd, profile, call_site("withResources"));
        if (!fst_rdd_resource_profile(self->rdd)) {
                throw_failure(call, "the resource profile cannot be used");
                return;
        }
        pthread_mutex_lock(&profiles_lock); /* another connection may set it */
        struct py4j_object *before = self->profile;
        self->profile = py4j_object_ref(call->args[0].object);
        pthread_mutex_unlock(&profiles_lock);
        py4j_object_unref(before);
        rdd_return_self(call);
}

static void rdd_get_profile(struct py4j_call *call)
{
        struct rdd_object *self = (struct rdd_object *)call->self;
        pthread_mutex_lock(&profiles_lock);
        call->result = py4j_object_value(self->profile ? py4j_object_ref(self->profile) : NULL);
        pthread_mutex_unlock(&profiles_lock);
}

static const struct py4j_member rdd_members[] = {
        {"id", "", rdd_id},
        {"rdd", "", rdd_return_self},
        {"toJavaRDD", "", rdd_return_self},
        {"asJavaRDD", "", rdd_return_self},
        {"partitions", "", rdd_partitions},
        {"getNumPartitions", "", rdd_num_partitions},
        {"setName", "s", rdd_set_name},
        {"name", "", rdd_name},
        {"toString", "", rdd_to_string},
        {"toDebugString", "", rdd_to_debug_string},
        {"persist", "r", rdd_persist},
        {"cache", "", rdd_cache},
        {"unpersist", "", rdd_unpersist},
        {"unpersist", "b", rdd_unpersist},
        {"getStorageLevel", "", rdd_get_storage_level},
        {"checkpoint", "", rdd_checkpoint},
        {"isCheckpointed", "", rdd_is_checkpointed},
        {"localCheckpoint", "", rdd_local_checkpoint},
        {"isLocallyCheckpointed", "", rdd_is_locally_checkpointed},
        {"getCheckpointFile", "", rdd_get_checkpoint_file},
        {"cleanShuffleDependencies", "b", rdd_clean_shuffles},
        {"isBarrier", "", rdd_is_barrier},
        {"union", "r", rdd_union},
        {"cartesian", "r", rdd_cartesian},
        {"zip", "r", rdd_zip},
        {"coalesce", "i", rdd_coalesce},
        {"coalesce", "ib", rdd_coalesce},
        {"map", "r", rdd_map},
        {"count", "", rdd_count},
        {"first", "", rdd_first},
        {"countApproxDistinct", "d", rdd_count_approx_distinct},
        {"withResources", "r", rdd_with_resources},
        {"getResourceProfile", "", rdd_get_profile},
        {"saveAsObjectFile", "s", rdd_save_as_object_file},
        {"saveAsTextFile", "s", rdd_save_as_text_file},
        {"saveAsTextFile", "sr", rdd_save_as_text_file},
};

const struct py4j_class rdd_class = {.name = "org.apache.spark.rdd.RDD", PY4J_MEMBERS(rdd_members)};

const struct py4j_class java_rdd_class = {
        .name = "org.apache.spark.api.java.JavaRDD", .parent = &rdd_class, .free = rdd_object_free};

const struct py4j_class java_pair_rdd_class = {
        .name = "org.apache.spark.api.java.JavaPairRDD", .parent = &rdd_class, .free = rdd_object_free};

/* ------------------------------------------------------------------------------------------- JavaDoubleRDD */

/* The outcome of an approximate action: exact, since the whole job runs. */
struct partial_object {
        struct py4j_object object;
        double value;
};

static double partial_value(const struct py4j_call *call)
{
        return ((const struct partial_object *)call->self)->value;
}

static void partial_return_self(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

static void partial_return_value(struct py4j_call *call)
{
        call->result = py4j_double(partial_value(call));
}

static void partial_confidence(struct py4j_call *call)
{
        call->result = py4j_double(1);
}

static const struct py4j_member partial_members[] = {
        {"initialValue", "", partial_return_self}, {"getFinalValue", "", partial_return_self},
        {"mean", "", partial_return_value},        {"low", "", partial_return_value},
        {"high", "", partial_return_value},        {"confidence", "", partial_confidence},
};

static const struct py4j_class partial_class = {.name = "org.apache.spark.partial.PartialResult",
                                                PY4J_MEMBERS(partial_members)};

static void double_rdd_from_rdd(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 0);
        if (rdd)
                rdd_return(call, &java_double_rdd_class, rdd->session,
                           fst_frames_to_numbers_at(rdd->rdd, FST_F64, rdd_site_in_spark(call, SPARK_PYTHON_TO_JAVA)),
                           rdd);
}

static void double_rdd_approximate(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        struct fst_statistics stats;
        if (!self)
                return;
        if (fst_stats_at(self->rdd, &stats, sizeof(stats), call_site(call->member->name)) < 0) {
                throw_failure(call, "the job failed");
                return;
        }
        struct partial_object *partial = new0(struct partial_object);
        py4j_object_init(&partial->object, &partial_class);
        partial->value = strcmp(call->member->name, "sumApprox") == 0 ? stats.sum : stats.mean;
        call->result = py4j_object_value(&partial->object);
}

static const struct py4j_member double_rdd_members[] = {
        {"fromRDD", "r", double_rdd_from_rdd, PY4J_STATIC_METHOD},
        {"sumApprox", "id", double_rdd_approximate},
        {"meanApprox", "id", double_rdd_approximate},
};

const struct py4j_class java_double_rdd_class = {.name = "org.apache.spark.api.java.JavaDoubleRDD",
                                                 .parent = &rdd_class,
                                                 PY4J_MEMBERS(double_rdd_members),
                                                 .free = rdd_object_free};
