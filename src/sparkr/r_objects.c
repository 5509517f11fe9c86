/* See r_objects.h. Ids are numbers that count up from 0, as Spark's, so that the table is an array. */
#include "sparkr/r_objects.h"

#include "base/mem.h"
#include "sparkr/r_parallelize.h"
#include "store/page.h"

#include <stdio.h>

static const char *const names[] = {
        [R_CLASS_NONE] = "java.lang.Object",
        [R_CLASS_JAVA_CONTEXT] = "org.apache.spark.api.java.JavaSparkContext",
        [R_CLASS_CONTEXT] = "org.apache.spark.SparkContext",
        [R_CLASS_CONF] = "org.apache.spark.SparkConf",
        [R_CLASS_SESSION] = "org.apache.spark.sql.SparkSession",
        [R_CLASS_SESSION_CONF] = "org.apache.spark.sql.RuntimeConfig",
        [R_CLASS_RDD] = "org.apache.spark.api.r.RRDD",
        [R_CLASS_PAIRWISE_RDD] = "org.apache.spark.api.r.PairwiseRRDD",
        [R_CLASS_JAVA_RDD] = "org.apache.spark.api.java.JavaRDD",
        [R_CLASS_JAVA_PAIR_RDD] = "org.apache.spark.api.java.JavaPairRDD",
        [R_CLASS_TAG] = "scala.reflect.ClassTag",
        [R_CLASS_CLASS] = "java.lang.Class",
        [R_CLASS_ROWS] = "java.util.ArrayList",
        [R_CLASS_PAIR] = "scala.Tuple2",
        [R_CLASS_LIST] = "java.util.ArrayList",
        [R_CLASS_PROPERTIES] = "java.util.Properties",
        [R_CLASS_PARTITIONER] = "org.apache.spark.HashPartitioner",
        [R_CLASS_BROADCAST] = "org.apache.spark.broadcast.TorrentBroadcast",
        [R_CLASS_LEVEL] = "org.apache.spark.storage.StorageLevel",
        [R_CLASS_OPTION] = "scala.Option",
        [R_CLASS_SERVER] = "org.apache.spark.api.r.RParallelizeServer",
};
_Static_assert(ARRAY_SIZE(names) == R_CLASSES, "each class has a name");

const char *r_class_name(enum r_class class)
{
        return names[class];
}

void r_objects_init(struct r_objects *objects)
{
        *objects = (struct r_objects){0};
        pthread_mutex_init(&objects->lock, NULL);
}

void r_objects_deinit(struct r_objects *objects)
{
        for (size_t i = 0; i < objects->n; i++)
                r_object_unref(objects->all[i]);
        free(objects->all);
        pthread_mutex_destroy(&objects->lock);
}

static bool r_class_is_rdd(enum r_class class)
{
        return class == R_CLASS_RDD || class == R_CLASS_PAIRWISE_RDD || class == R_CLASS_JAVA_RDD ||
               class == R_CLASS_JAVA_PAIR_RDD;
}

struct r_object *r_object_new(enum r_class class)
{
        struct r_object *object = new0(struct r_object);
        object->class = class;
        object->refs = 1;
        return object;
}

struct r_object *r_object_view(struct r_object *object, enum r_class class)
{
        struct r_object *view = r_object_new(class);
        view->of = r_object_ref(r_object_rdd(object));
        return view;
}

struct r_object *r_object_ref(struct r_object *object)
{
        __atomic_add_fetch(&object->refs, 1, __ATOMIC_RELAXED);
        return object;
}

static void r_object_free(struct r_object *object)
{
        if (r_class_is_rdd(object->class) && !object->of && object->rdd.rdd)
                fst_release(object->rdd.rdd);
        if (object->class == R_CLASS_ROWS) {
                free(object->rows.keys);
                free(object->rows.values);
                page_list_free(NULL, object->rows.pages);
        }
        if (object->class == R_CLASS_CLASS || object->class == R_CLASS_OPTION)
                free(object->text);
        if (object->class == R_CLASS_LIST || object->class == R_CLASS_PROPERTIES) {
                free(object->list.items);
                arena_deinit(&object->list.memory);
        }
        if (object->class == R_CLASS_SERVER)
                r_parallelize_free(object->server);
        r_object_unref(object->of);
        free(object);
}

void r_object_unref(struct r_object *object)
{
        if (object && __atomic_sub_fetch(&object->refs, 1, __ATOMIC_ACQ_REL) == 0)
                r_object_free(object);
}

struct r_value r_objects_add(struct r_objects *objects, struct r_object *object, struct arena *arena)
{
        char id[24];
        pthread_mutex_lock(&objects->lock);
        if (objects->n == objects->room) {
                objects->room = objects->room ? objects->room * 2 : 64;
                objects->all = mem_grow(objects->all, objects->room * sizeof(*objects->all));
        }
        snprintf(id, sizeof(id), "%zu", objects->n);
        objects->all[objects->n++] = object;
        pthread_mutex_unlock(&objects->lock);
        struct r_value value = r_value_string(arena, id);
        value.type = R_OBJECT;
        return value;
}

/* The place of an id, or NULL. The lock is held. */
static struct r_object **r_objects_place(struct r_objects *objects, const char *id)
{
        char *end;
        if (*id < '0' || *id > '9')
                return NULL;
        unsigned long at = strtoul(id, &end, 10);
        return *end || at >= objects->n || !objects->all[at] ? NULL : &objects->all[at];
}

struct r_object *r_objects_get(struct r_objects *objects, const char *id)
{
        pthread_mutex_lock(&objects->lock);
        struct r_object **place = r_objects_place(objects, id);
        struct r_object *object = place ? r_object_ref(*place) : NULL;
        pthread_mutex_unlock(&objects->lock);
        return object;
}

bool r_objects_remove(struct r_objects *objects, const char *id)
{
        pthread_mutex_lock(&objects->lock);
        struct r_object **place = r_objects_place(objects, id);
        struct r_object *object = place ? steal(*place) : NULL;
        pthread_mutex_unlock(&objects->lock);
        r_object_unref(object);
        return place != NULL;
}

void r_objects_forget_rdds(struct r_objects *objects)
{
        pthread_mutex_lock(&objects->lock);
        for (size_t i = 0; i < objects->n; i++) {
                struct r_object *object = objects->all[i];
                if (object && r_class_is_rdd(object->class))
                        r_object_rdd(object)->rdd.rdd = NULL;
        }
        pthread_mutex_unlock(&objects->lock);
}
