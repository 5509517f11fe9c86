/*
 * Classes without much state: java.lang.System, String and Class, java.io.File, Spark's Utils and SparkFiles,
 * PythonUtils, storage levels, log levels, conversions of collections.
 */
#include "pyspark_driver/classes.h"
#include "pyspark_driver/rdd_sources.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "driver/application_files.h"
#include "driver/context.h"
#include "py4j/collections.h"
#include "process/exit_cleanup.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------ java.lang.System */

/* Properties that a JVM has, and Python programs read. */
static char *system_default(const char *key)
{
        if (strcmp(key, "SPARK_SUBMIT") == 0)
                return mem_strdup("true");
        if (strcmp(key, "java.io.tmpdir") == 0)
                return mem_strdup(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        if (strcmp(key, "user.dir") == 0)
                return getcwd(NULL, 0);
        if (strcmp(key, "user.name") == 0)
                return mem_strdup_if(getenv("USER"));
        if (strcmp(key, "user.home") == 0)
                return mem_strdup_if(getenv("HOME"));
        if (strcmp(key, "os.name") == 0)
                return mem_strdup("Linux");
        if (strcmp(key, "file.separator") == 0)
                return mem_strdup("/");
        if (strcmp(key, "line.separator") == 0)
                return mem_strdup("\n");
        return NULL;
}

/* The property that the program has set, or that spark-submit makes of its configuration; or NULL. Needs the lock. */
static const char *system_property(const struct pyspark *p, const char *key)
{
        const char *value = strmap_get(&p->properties, key);
        if (!value && text_starts_with(key, "spark.") && conf_prepared())
                value = strmap_get(&conf_prepared()->set, key);
        return value;
}

static void system_get_property(struct py4j_call *call)
{
        struct pyspark *p = pyspark_of(call);
        pthread_mutex_lock(&p->lock);
        _cleanup_free_ char *value = mem_strdup_if(system_property(p, call->args[0].text));
        pthread_mutex_unlock(&p->lock);
        if (!value)
                value = system_default(call->args[0].text);
        call->result = py4j_string(value || call->n == 1 ? value : py4j_text_argument(call, 1));
}

static void system_set_property(struct py4j_call *call)
{
        struct pyspark *p = pyspark_of(call);
        pthread_mutex_lock(&p->lock);
        call->result = py4j_string(system_property(p, call->args[0].text));
        strmap_set(&p->properties, call->args[0].text, call->args[1].text);
        pthread_mutex_unlock(&p->lock);
}

static void system_clear_property(struct py4j_call *call)
{
        struct pyspark *p = pyspark_of(call);
        pthread_mutex_lock(&p->lock);
        call->result = py4j_string(system_property(p, call->args[0].text));
        strmap_remove(&p->properties, call->args[0].text);
        pthread_mutex_unlock(&p->lock);
}

static void system_getenv(struct py4j_call *call)
{
        call->result = py4j_string(getenv(call->args[0].text));
}

/* Nothing waits for a collector: an object is freed with its last reference. */
static void system_gc(struct py4j_call *call)
{
}

static const struct py4j_member system_members[] = {
        {"getProperty", "s", system_get_property, PY4J_STATIC_METHOD},
        {"getProperty", "sS", system_get_property, PY4J_STATIC_METHOD},
        {"setProperty", "ss", system_set_property, PY4J_STATIC_METHOD},
        {"clearProperty", "s", system_clear_property, PY4J_STATIC_METHOD},
        {"getenv", "s", system_getenv, PY4J_STATIC_METHOD},
        {"gc", "", system_gc, PY4J_STATIC_METHOD},
};

const struct py4j_class system_class = {.name = "java.lang.System", PY4J_MEMBERS(system_members)};

/* ------------------------------------------------------------------------------------------ java.lang.String */

static void string_construct(struct py4j_call *call)
{
        const char *text = call->n ? py4j_text_argument(call, 0) : "";
        if (text)
                call->result = py4j_string(text);
        else
                py4j_throw(call, "java.lang.NullPointerException", "the text of a java.lang.String is null");
}

static const struct py4j_member string_members[] = {
        {"", "", string_construct, PY4J_CONSTRUCTOR},
        {"", "S", string_construct, PY4J_CONSTRUCTOR},
};

const struct py4j_class string_class = {.name = "java.lang.String", PY4J_MEMBERS(string_members)};

/* ------------------------------------------------------------------------------------------ java.lang.Thread */

static const struct py4j_class thread_object_class;

static void thread_current(struct py4j_call *call)
{
        struct py4j_object *thread = new0(struct py4j_object);
        py4j_object_init(thread, &thread_object_class);
        call->result = py4j_object_value(thread);
}

/* A connection, and so a thread of Python, has one thread here. */
static void thread_get_id(struct py4j_call *call)
{
        call->result = py4j_long(gettid());
}

static const struct py4j_member thread_object_members[] = {
        {"getId", "", thread_get_id},
};

static const struct py4j_class thread_object_class = {.name = "java.lang.Thread", PY4J_MEMBERS(thread_object_members)};

static const struct py4j_member thread_members[] = {
        {"currentThread", "", thread_current, PY4J_STATIC_METHOD},
};

const struct py4j_class thread_class = {.name = "java.lang.Thread", PY4J_MEMBERS(thread_members)};

/* ----------------------------------------------------------------- java.lang.Class, which names a codec only */

struct named_object {
        struct py4j_object object;
        char *name;
};

static struct py4j_object *named_object_new(const struct py4j_class *class, const char *name)
{
        struct named_object *named = new0(struct named_object);
        py4j_object_init(&named->object, class);
        named->name = mem_strdup(name);
        return &named->object;
}

static void named_object_free(struct py4j_object *object)
{
        free(((struct named_object *)object)->name);
        free(object);
}

static void named_object_print(const struct py4j_object *object, struct buf *out)
{
        buf_puts(out, ((const struct named_object *)object)->name);
}

static void named_object_get_name(struct py4j_call *call)
{
        call->result = py4j_string(((const struct named_object *)call->self)->name);
}

const char *class_class_codec(const struct py4j_object *object)
{
        return ((const struct named_object *)object)->name;
}

static void class_for_name(struct py4j_call *call)
{
        const char *name = call->args[0].text;
        if (text_starts_with(name, "org.apache.hadoop.io.compress.") || text_starts_with(name, "java."))
                call->result = py4j_object_value(named_object_new(&class_class, name));
        else
                py4j_throw(call, "java.lang.ClassNotFoundException", "%s", name);
}

static const struct py4j_member class_members[] = {
        {"forName", "s", class_for_name, PY4J_STATIC_METHOD},
        {"getName", "", named_object_get_name},
};

const struct py4j_class class_class = {
        .name = "java.lang.Class", PY4J_MEMBERS(class_members), .free = named_object_free, .print = named_object_print};

static const struct py4j_member file_members[] = {
        {"getAbsolutePath", "", named_object_get_name},
        {"getPath", "", named_object_get_name},
        {"toString", "", named_object_get_name},
};

const struct py4j_class file_class = {
        .name = "java.io.File", PY4J_MEMBERS(file_members), .free = named_object_free, .print = named_object_print};

/* ------------------------------------------------------------------------------------ org.apache.spark.util.Utils */

/* This process's directory below @root, made at the first call. Borrowed. */
static const char *utils_local_dir(struct pyspark *p, const char *root, struct fst_error *error)
{
        pthread_mutex_lock(&p->lock);
        if (!p->local_dir) {
                _cleanup_free_ char *prefix = mem_printf("%s/spark", root);
                if (exit_cleanup_make_directory(prefix, &p->local_dir, error) < 0)
                        p->local_dir = NULL;
        }
        const char *dir = p->local_dir;
        pthread_mutex_unlock(&p->lock);
        return dir;
}

static void utils_get_local_dir(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct py4j_object *conf = py4j_argument(call, 0, &conf_class);
        if (!conf)
                return;
        struct strmap settings = STRMAP_INIT;
        conf_object_read(conf, &settings);
        const char *environment = getenv("SPARK_LOCAL_DIRS"), *set = strmap_get(&settings, "spark.local.dir");
        _cleanup_free_ char *root = mem_strdup(environment && environment[0] ? environment : set ? set : "/tmp");
        strmap_deinit(&settings);
        root[strcspn(root, ",")] = 0;
        const char *dir = utils_local_dir(pyspark_of(call), root, &error);
        if (dir)
                call->result = py4j_string(dir);
        else
                py4j_throw(call, "java.io.IOException", "Failed to get a temp directory under [%s]: %s", root,
                           error_message(&error));
}

static void utils_create_temp_dir(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *root = call->n > 0 ? call->args[0].text : NULL;
        if (!root)
                root = utils_local_dir(pyspark_of(call), "/tmp", &error);
        _cleanup_free_ char *path =
                root ? mem_printf("%s/%s-XXXXXX", root, call->n > 1 ? call->args[1].text : "spark") : NULL;
        if (path && mkdtemp(path))
                call->result = py4j_object_value(named_object_new(&file_class, path));
        else
                py4j_throw(call, "java.io.IOException", "Failed to create a temp directory under %s: %s",
                           root ? root : "/tmp", path ? strerror(errno) : error_message(&error));
}

static const struct py4j_member utils_members[] = {
        {"getLocalDir", "r", utils_get_local_dir, PY4J_STATIC_METHOD},
        {"createTempDir", "", utils_create_temp_dir, PY4J_STATIC_METHOD},
        {"createTempDir", "s", utils_create_temp_dir, PY4J_STATIC_METHOD},
        {"createTempDir", "ss", utils_create_temp_dir, PY4J_STATIC_METHOD},
};

const struct py4j_class utils_class = {.name = "org.apache.spark.util.Utils", PY4J_MEMBERS(utils_members)};

/* ---------------------------------------------------------------------------------------------- SparkFiles */

/* The directory of the application's files on the driver, to which Python adds its own. */
static void files_root(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct driver_session *session = pyspark_session(call);
        if (!session)
                return;
        const char *root = application_files_directory(session->sc, &error);
        if (root)
                call->result = py4j_string(root);
        else
                py4j_throw(call, "java.io.IOException", "%s", error_message(&error));
        session_unref(session);
}

static void files_get(struct py4j_call *call)
{
        struct driver_session *session = pyspark_session(call);
        if (!session)
                return;
        call->result = py4j_string(fst_context_file(session->sc, call->args[0].text));
        session_unref(session);
}

static const struct py4j_member files_members[] = {
        {"getRootDirectory", "", files_root, PY4J_STATIC_METHOD},
        {"get", "s", files_get, PY4J_STATIC_METHOD},
};

const struct py4j_class files_class = {.name = "org.apache.spark.SparkFiles", PY4J_MEMBERS(files_members)};

/* --------------------------------------------------------------------------------------------- PythonUtils */

static const struct fst_conf *python_utils_conf(struct py4j_call *call)
{
        struct driver_session *session = context_argument(call, 0);
        return session ? session->sc->conf : NULL;
}

static void python_utils_encryption(struct py4j_call *call)
{
        const struct fst_conf *conf = python_utils_conf(call);
        bool enabled = false;
        if (conf)
                conf_get_bool(conf, "spark.io.encryption.enabled", &enabled, NULL);
        call->result = py4j_bool(enabled);
}

static void python_utils_socket_timeout(struct py4j_call *call)
{
        const struct fst_conf *conf = python_utils_conf(call);
        int64_t ms = 15000;
        if (conf && conf_contains(conf, "spark.python.authenticate.socketTimeout"))
                conf_get_ms(conf, "spark.python.authenticate.socketTimeout", &ms, NULL);
        call->result = py4j_long(ms / 1000);
}

static void python_utils_buffer_size(struct py4j_call *call)
{
        const struct fst_conf *conf = python_utils_conf(call);
        int64_t bytes = 65536;
        if (conf && conf_contains(conf, "spark.buffer.size"))
                conf_get_int(conf, "spark.buffer.size", &bytes, NULL);
        call->result = py4j_int(bytes);
}

static void python_utils_broadcast_threshold(struct py4j_call *call)
{
        const struct fst_conf *conf = python_utils_conf(call);
        int64_t bytes = 1 << 20;
        if (conf && conf_contains(conf, "spark.broadcast.UDFCompressionThreshold"))
                conf_get_bytes(conf, "spark.broadcast.UDFCompressionThreshold", &bytes, NULL);
        call->result = py4j_long(bytes);
}

static const struct py4j_member python_utils_members[] = {
        {"isEncryptionEnabled", "r", python_utils_encryption, PY4J_STATIC_METHOD},
        {"getPythonAuthSocketTimeout", "r", python_utils_socket_timeout, PY4J_STATIC_METHOD},
        {"getSparkBufferSize", "r", python_utils_buffer_size, PY4J_STATIC_METHOD},
        {"getBroadcastThreshold", "r", python_utils_broadcast_threshold, PY4J_STATIC_METHOD},
        {"generateRDDWithNull", "r", source_rdd_with_null, PY4J_STATIC_METHOD},
};

const struct py4j_class python_utils_class = {.name = "org.apache.spark.api.python.PythonUtils",
                                              PY4J_MEMBERS(python_utils_members)};

/* ------------------------------------------------------------------------------------- Py4J and collections */

static void type_is_instance(struct py4j_call *call)
{
        call->result = py4j_bool(py4j_class_is(call->args[1].object->class, call->args[0].text));
}

static const struct py4j_member type_util_members[] = {
        {"isInstanceOf", "sr", type_is_instance, PY4J_STATIC_METHOD},
};

const struct py4j_class type_util_class = {.name = "py4j.reflection.TypeUtil", PY4J_MEMBERS(type_util_members)};

/* Our lists are Java's and Scala's at once. */
static void conversion_return_argument(struct py4j_call *call)
{
        call->result = py4j_value_copy(&call->args[0]);
}

static const struct py4j_member java_conversions_members[] = {
        {"asJava", "r", conversion_return_argument, PY4J_STATIC_METHOD},
        {"asScala", "r", conversion_return_argument, PY4J_STATIC_METHOD},
};

const struct py4j_class java_conversions_class = {.name = "scala.jdk.javaapi.CollectionConverters",
                                                  PY4J_MEMBERS(java_conversions_members)};

static const struct py4j_member scala_conversions_members[] = {
        {"seqAsJavaList", "r", conversion_return_argument, PY4J_STATIC_METHOD},
};

const struct py4j_class scala_conversions_class = {.name = "scala.collection.JavaConverters",
                                                   PY4J_MEMBERS(scala_conversions_members)};

/* -------------------------------------------------------------------------------------------- storage levels */

struct level_object {
        struct py4j_object object;
        struct storage_flags flags;
};

struct py4j_object *storage_level_new(struct storage_flags flags)
{
        struct level_object *level = new0(struct level_object);
        py4j_object_init(&level->object, &storage_level_class);
        level->flags = flags;
        return &level->object;
}

struct storage_flags storage_level_flags(const struct py4j_object *level)
{
        return ((const struct level_object *)level)->flags;
}

static void storage_level_construct(struct py4j_call *call)
{
        const struct py4j_value *a = call->args;
        call->result = py4j_object_value(
                storage_level_new((struct storage_flags){a[0].yes, a[1].yes, a[2].yes, a[3].yes, (int)a[4].number}));
}

static void storage_level_disk(struct py4j_call *call)
{
        call->result = py4j_bool(storage_level_flags(call->self).disk);
}

static void storage_level_memory(struct py4j_call *call)
{
        call->result = py4j_bool(storage_level_flags(call->self).memory);
}

static void storage_level_off_heap(struct py4j_call *call)
{
        call->result = py4j_bool(storage_level_flags(call->self).off_heap);
}

static void storage_level_deserialized(struct py4j_call *call)
{
        call->result = py4j_bool(storage_level_flags(call->self).deserialized);
}

static void storage_level_replication(struct py4j_call *call)
{
        call->result = py4j_int(storage_level_flags(call->self).replication);
}

static const struct py4j_member storage_level_members[] = {
        {"", "bbbbi", storage_level_construct, PY4J_CONSTRUCTOR},
        {"apply", "bbbbi", storage_level_construct, PY4J_STATIC_METHOD},
        {"useDisk", "", storage_level_disk},
        {"useMemory", "", storage_level_memory},
        {"useOffHeap", "", storage_level_off_heap},
        {"deserialized", "", storage_level_deserialized},
        {"replication", "", storage_level_replication},
};

const struct py4j_class storage_level_class = {.name = "org.apache.spark.storage.StorageLevel",
                                               PY4J_MEMBERS(storage_level_members)};

/* ------------------------------------------------------------------------------------------------------ rest */

static void bytes_to_string_construct(struct py4j_call *call)
{
        struct py4j_object *function = new0(struct py4j_object);
        py4j_object_init(function, &bytes_to_string_class);
        call->result = py4j_object_value(function);
}

static const struct py4j_member bytes_to_string_members[] = {
        {"", "", bytes_to_string_construct, PY4J_CONSTRUCTOR},
};

const struct py4j_class bytes_to_string_class = {.name = "org.apache.spark.api.python.BytesToString",
                                                 PY4J_MEMBERS(bytes_to_string_members)};
