/*
 * PythonRDD and what it is made of: the function that Python pickled, the pairs of a shuffle and their partitioner. Its
 * static methods are the actions of Python programs.
 */
#include "base/error.h"
#include "base/mem.h"
#include "py4j/collections.h"
#include "pyspark_driver/broadcast_class.h"
#include "pyspark_driver/byte_stream.h"
#include "pyspark_driver/call_site.h"
#include "pyspark_driver/errors.h"
#include "pyspark_driver/python_rdd_class.h"
#include "pyspark_driver/rdd_object.h"

#include <firesteel/python.h>

/* ------------------------------------------------------------------------------------------------- functions */

struct function_object {
        struct py4j_object object;
        struct py4j_value command;      /* the bytes */
        struct py4j_object *broadcasts; /* a list of its own, which keeps them */
        struct py4j_object *accumulator;
        char *exec, *version;
        char **environment, **includes; /* end with NULL */
};

/* The texts of @list as an array that ends with NULL. */
static char **function_texts(const struct py4j_object *list)
{
        struct py4j_object *copy = py4j_collection_copy(list);
        size_t n = py4j_length(copy), used = 0;
        char **texts = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++)
                if (py4j_element(copy, i)->type == PY4J_STRING)
                        texts[used++] = mem_strdup(py4j_element(copy, i)->text);
        py4j_object_unref(copy);
        return texts;
}

static char **function_variables(const struct py4j_object *map)
{
        struct py4j_object *copy = py4j_collection_copy(map);
        size_t n = py4j_length(copy), used = 0;
        char **variables = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++)
                if (py4j_map_key(copy, i)->type == PY4J_STRING && py4j_element(copy, i)->type == PY4J_STRING)
                        variables[used++] =
                                mem_printf("%s=%s", py4j_map_key(copy, i)->text, py4j_element(copy, i)->text);
        py4j_object_unref(copy);
        return variables;
}

static void function_free_texts(char **texts)
{
        for (char **text = texts; text && *text; text++)
                free(*text);
        free(texts);
}

static void function_free(struct py4j_object *object)
{
        struct function_object *f = (struct function_object *)object;
        py4j_value_deinit(&f->command);
        py4j_object_unref(f->broadcasts);
        py4j_object_unref(f->accumulator);
        function_free_texts(f->environment);
        function_free_texts(f->includes);
        free(f->exec);
        free(f->version);
        free(f);
}

static void function_construct(struct py4j_call *call)
{
        struct py4j_object *environment = py4j_argument(call, 1, &py4j_map_class),
                           *includes = environment ? py4j_argument(call, 2, &py4j_list_class) : NULL,
                           *broadcasts = includes ? py4j_argument(call, 5, &py4j_list_class) : NULL,
                           *accumulator = broadcasts ? py4j_argument(call, 6, &accumulator_class) : NULL;
        if (!accumulator)
                return;
        struct function_object *f = new0(struct function_object);
        py4j_object_init(&f->object, &python_function_class);
        f->command = py4j_value_copy(&call->args[0]);
        f->environment = function_variables(environment);
        f->includes = function_texts(includes);
        f->exec = mem_strdup(call->args[3].text);
        f->version = mem_strdup(call->args[4].text);
        f->broadcasts = py4j_collection_copy(broadcasts);
        f->accumulator = py4j_object_ref(accumulator);
        call->result = py4j_object_value(&f->object);
}

static const struct py4j_member function_members[] = {
        {"", "jrrssrr", function_construct, PY4J_CONSTRUCTOR},
};

const struct py4j_class python_function_class = {.name = "org.apache.spark.api.python.SimplePythonFunction",
                                                 PY4J_MEMBERS(function_members),
                                                 .free = function_free};

/* ------------------------------------------------------------------------------------------------ PythonRDD */

/* The folders in which executors find pyspark and py4j. Owned by the caller; NULL: none. */
static char *python_rdd_package_path(const struct python_package *package)
{
        if (!package->folder)
                return NULL;
        return package->py4j_folder && strcmp(package->py4j_folder, package->folder) != 0
                       ? mem_printf("%s:%s", package->folder, package->py4j_folder)
                       : mem_strdup(package->folder);
}

static void python_rdd_construct(struct py4j_call *call)
{
        struct rdd_object *parent = rdd_argument(call, 0);
        struct py4j_object *object = parent ? py4j_argument(call, 1, &python_function_class) : NULL;
        if (!object)
                return;
        const struct function_object *f = (const struct function_object *)object;
        size_t n = py4j_length(f->broadcasts);
        _cleanup_free_ fst_broadcast *broadcasts = new_array(fst_broadcast, n + 1);
        for (size_t i = 0; i < n; i++) {
                if (broadcast_object_is_destroyed(call, py4j_element(f->broadcasts, i)))
                        return;
                broadcasts[i] = broadcast_object_handle(py4j_element(f->broadcasts, i));
        }
        _cleanup_free_ char *package_path = python_rdd_package_path(&pyspark_of(call)->package);
        bool from_barrier = call->n > 3 && call->args[3].yes;
        struct fst_python_function function = {
                .command = {f->command.text, f->command.len},
                .environment = (const char *const *)f->environment,
                .includes = (const char *const *)f->includes,
                .exec = f->exec,
                .version = f->version,
                .package_path = package_path,
                .package_version = pyspark_of(call)->package.version,
                .package_files = parent->session->has_package ? PYSPARK_FILES : NULL,
                .broadcasts = broadcasts,
                .n_broadcasts = n,
                .accumulator = accumulator_object_handle(f->accumulator),
        };
        rdd_return(call, &java_rdd_class, parent->session,
                   fst_python_rdd_at(parent->rdd, &function, sizeof(function), call->args[2].yes, from_barrier,
                                     rdd_site_in_spark(call, SPARK_PYTHON_RDD)),
                   parent);
        struct rdd_object *made = (struct rdd_object *)call->result.object;
        made->barrier |= from_barrier;
        rdd_keep(made, object); /* its broadcasts */
}

/* ------------------------------------------------------------------------------------------------- shuffles */

struct partitioner_object {
        struct py4j_object object;
        int partitions;
        int64_t function;
};

static void partitioner_construct(struct py4j_call *call)
{
        struct partitioner_object *p = new0(struct partitioner_object);
        py4j_object_init(&p->object, &python_partitioner_class);
        p->partitions = (int)call->args[0].number;
        p->function = call->args[1].number;
        call->result = py4j_object_value(&p->object);
}

static const struct py4j_member partitioner_members[] = {
        {"", "ii", partitioner_construct, PY4J_CONSTRUCTOR},
};

const struct py4j_class python_partitioner_class = {.name = "org.apache.spark.api.python.PythonPartitioner",
                                                    PY4J_MEMBERS(partitioner_members)};

static void pairwise_construct(struct py4j_call *call)
{
        struct rdd_object *parent = rdd_argument(call, 0);
        if (!parent)
                return;
        fst_rdd *pairs = fst_frames_to_pairs_at(parent->rdd, rdd_site_in_spark(call, SPARK_PYTHON_RDD));
        rdd_describe_as(pairs, "PairwiseRDD", NULL);
        rdd_return(call, &pairwise_rdd_class, parent->session, pairs, parent);
}

static void pairwise_return_self(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

static void pairwise_partition_by(struct py4j_call *call)
{
        struct rdd_object *self = rdd_self(call);
        struct py4j_object *object = self ? py4j_argument(call, 0, &python_partitioner_class) : NULL;
        if (!object)
                return;
        const struct partitioner_object *p = (const struct partitioner_object *)object;
        if (p->partitions < 0)
                py4j_throw(call, "java.lang.IllegalArgumentException",
                           "requirement failed: Number of partitions (%d) cannot be negative.", p->partitions);
        else
                rdd_return(call, &pairwise_rdd_class, self->session,
                           fst_frames_partition_by_at(self->rdd, p->partitions, p->function, call_site("partitionBy")),
                           self);
        if (call->result.type == PY4J_OBJECT) /* a shuffle begins a stage */
                ((struct rdd_object *)call->result.object)->barrier = false;
}

static const struct py4j_member pairwise_members[] = {
        {"", "r", pairwise_construct, PY4J_CONSTRUCTOR},
        {"asJavaPairRDD", "", pairwise_return_self},
        {"partitionBy", "r", pairwise_partition_by},
};

const struct py4j_class pairwise_rdd_class = {.name = "org.apache.spark.api.python.PairwiseRDD",
                                              .parent = &rdd_class,
                                              PY4J_MEMBERS(pairwise_members),
                                              .free = rdd_object_free};

static void python_rdd_value_of_pair(struct py4j_call *call)
{
        struct rdd_object *pairs = rdd_argument(call, 0);
        if (pairs)
                rdd_return(call, &java_rdd_class, pairs->session,
                           fst_frames_values_at(pairs->rdd, rdd_site_in_spark(call, SPARK_VALUE_OF_PAIR)), pairs);
}

/* -------------------------------------------------------------------------------------------------- actions */

struct served_object {
        struct py4j_object object;
        struct driver_session *session;
        fst_served *served;
        struct py4j_object *rdd; /* whose shuffles stay while it is read */
};

static void served_free(struct py4j_object *object)
{
        struct served_object *s = (struct served_object *)object;
        if (session_enter(s->session)) {
                fst_served_release(s->served);
                session_leave(s->session);
        }
        py4j_object_unref(s->rdd);
        session_unref(s->session);
        free(s);
}

/* Waits until Python has the rows, and throws what went wrong. */
static void served_get_result(struct py4j_call *call)
{
        const struct served_object *s = (const struct served_object *)call->self;
        call->result = py4j_object_value(NULL);
        if (!session_enter(s->session))
                return;
        int r = fst_served_wait(s->served); /* the end of the context ends it */
        const char *message = r < 0 ? fst_served_error(s->served) : NULL;
        if (r < 0)
                throw_message(call, message ? message : "serving the rows failed");
        session_leave(s->session);
}

static const struct py4j_member served_members[] = {
        {"getResult", "", served_get_result},
};

static const struct py4j_class served_class = {
        .name = "org.apache.spark.security.SocketAuthServer", PY4J_MEMBERS(served_members), .free = served_free};

/* Where Python reads the rows: port or path, secret, server. */
static void python_rdd_return_served(struct py4j_call *call, struct rdd_object *rdd, fst_served *served)
{
        struct served_object *server = new0(struct served_object);
        py4j_object_init(&server->object, &served_class);
        server->session = session_ref(rdd->session);
        server->rdd = py4j_object_ref(&rdd->object);
        server->served = served;
        struct py4j_object *array = py4j_array_new("java.lang.Object", 0);
        const char *path = fst_served_path(served);
        py4j_add(array, path ? py4j_string(path) : py4j_int(fst_served_port(served)));
        py4j_add(array, py4j_string(fst_served_secret(served)));
        py4j_add(array, py4j_object_value(&server->object));
        call->result = py4j_object_value(array);
}

static void python_rdd_serve(struct py4j_call *call, struct rdd_object *rdd, const int *partitions, size_t n,
                             fst_site site)
{
        fst_served *served;
        if (fst_serve_rows_at(rdd->rdd, partitions, n, &served, site) < 0)
                throw_failure(call, "the job failed");
        else
                python_rdd_return_served(call, rdd, served);
}

static void python_rdd_collect(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 0);
        if (rdd)
                python_rdd_serve(call, rdd, NULL, 0, call_site("collect"));
}

static void python_rdd_collect_with_group(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 0);
        if (!rdd)
                return;
        fst_set_job_group(rdd->session->sc, py4j_text_argument(call, 1), py4j_text_argument(call, 2),
                          call->args[3].yes);
        python_rdd_serve(call, rdd, NULL, 0, call_site("collect"));
}

static void python_rdd_run_job(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 1);
        struct py4j_object *list = rdd ? py4j_argument(call, 2, &py4j_list_class) : NULL;
        if (!list)
                return;
        list = py4j_collection_copy(list);
        size_t n = py4j_length(list);
        _cleanup_free_ int *partitions = new_array(int, n + 1);
        for (size_t i = 0; i < n; i++) {
                const struct py4j_value *index = py4j_element(list, i);
                if (index->type != PY4J_INT && index->type != PY4J_LONG)
                        py4j_throw(call, "java.lang.ClassCastException", "element %zu is not an index of a partition",
                                   i);
                partitions[i] = (int)MIN(MAX(index->number, (int64_t)-1), (int64_t)INT32_MAX);
        }
        py4j_object_unref(list);
        if (!call->thrown)
                python_rdd_serve(call, rdd, partitions, n, rdd_site_in_spark(call, SPARK_RUN_JOB));
}

static void python_rdd_iterate(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 0);
        fst_served *served;
        if (!rdd)
                return;
        if (fst_serve_partitions_at(rdd->rdd, call->n > 1 && call->args[1].yes, &served, call_site("toLocalIterator")) <
            0)
                throw_failure(call, "the rows cannot be served");
        else
                python_rdd_return_served(call, rdd, served);
}

/* With encryption, Python sends the data of parallelize instead of writing a file. */
struct parallelize_server {
        struct py4j_object object;
        struct driver_session *session;
        int slices;
        struct byte_stream *stream;
};

static void parallelize_server_construct(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct driver_session *session = context_argument(call, 0);
        struct byte_stream *stream;
        if (!session)
                return;
        if (byte_stream_receive(&stream, &error) < 0) {
                py4j_throw(call, "java.io.IOException", "%s", error_message(&error));
                return;
        }
        struct parallelize_server *server = new0(struct parallelize_server);
        py4j_object_init(&server->object, &parallelize_server_class);
        server->session = session_ref(session);
        server->slices = (int)call->args[1].number;
        server->stream = stream;
        call->result = py4j_object_value(&server->object);
}

static void parallelize_server_free(struct py4j_object *object)
{
        struct parallelize_server *server = (struct parallelize_server *)object;
        byte_stream_free(server->stream);
        session_unref(server->session);
        free(server);
}

static void parallelize_server_connection(struct py4j_call *call)
{
        call->result = py4j_int(byte_stream_port(((struct parallelize_server *)call->self)->stream));
}

static void parallelize_server_secret(struct py4j_call *call)
{
        call->result = py4j_string(byte_stream_secret(((struct parallelize_server *)call->self)->stream));
}

static void parallelize_server_result(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct parallelize_server *server = (struct parallelize_server *)call->self;
        if (byte_stream_wait(server->stream, &error) < 0)
                py4j_throw(call, "java.io.IOException", "%s", error_message(&error));
        else if (!session_enter(server->session))
                py4j_throw(call, "java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext.");
        else {
                rdd_return(call, &java_rdd_class, server->session,
                           fst_frames_from_file_at(server->session->sc, byte_stream_path(server->stream),
                                                   server->slices, rdd_site_in_spark(call, SPARK_READ_STREAM)),
                           NULL);
                session_leave(server->session);
        }
}

static const struct py4j_member parallelize_server_members[] = {
        {"", "ri", parallelize_server_construct, PY4J_CONSTRUCTOR},
        {"connInfo", "", parallelize_server_connection},
        {"port", "", parallelize_server_connection}, /* before 4.1 */
        {"secret", "", parallelize_server_secret},
        {"getResult", "", parallelize_server_result},
};

const struct py4j_class parallelize_server_class = {.name = "org.apache.spark.api.python.PythonParallelizeServer",
                                                    PY4J_MEMBERS(parallelize_server_members),
                                                    .free = parallelize_server_free};

static void python_rdd_from_file(struct py4j_call *call)
{
        struct driver_session *session = context_argument(call, 0);
        if (session)
                rdd_return(call, &java_rdd_class, session,
                           fst_frames_from_file_at(session->sc, call->args[1].text, (int)call->args[2].number,
                                                   rdd_site_in_spark(call, SPARK_READ_FILE)),
                           NULL);
}

static void python_rdd_refuse_formats(struct py4j_call *call)
{
        py4j_throw(
                call, "java.lang.UnsupportedOperationException",
                "Firesteel has no Hadoop input and output formats: %s. Use text, binary or pickle files, or run this "
                "program on genuine Spark",
                call->member->name);
}

static const struct py4j_member python_rdd_members[] = {
        {"", "rrb", python_rdd_construct, PY4J_CONSTRUCTOR},
        {"", "rrbb", python_rdd_construct, PY4J_CONSTRUCTOR},
        {"readRDDFromFile", "rsi", python_rdd_from_file, PY4J_STATIC_METHOD},
        {"collectAndServe", "r", python_rdd_collect, PY4J_STATIC_METHOD},
        {"collectAndServeWithJobGroup", "rSSb", python_rdd_collect_with_group, PY4J_STATIC_METHOD},
        {"runJob", "rrr", python_rdd_run_job, PY4J_STATIC_METHOD},
        {"toLocalIteratorAndServe", "r", python_rdd_iterate, PY4J_STATIC_METHOD},
        {"toLocalIteratorAndServe", "rb", python_rdd_iterate, PY4J_STATIC_METHOD},
        {"valueOfPair", "r", python_rdd_value_of_pair, PY4J_STATIC_METHOD},
        {"setupBroadcast", "s", broadcast_setup, PY4J_STATIC_METHOD},
        {"sequenceFile", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"newAPIHadoopFile", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"newAPIHadoopRDD", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"hadoopFile", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"hadoopRDD", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"saveAsHadoopDataset", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"saveAsNewAPIHadoopFile", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"saveAsHadoopFile", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
        {"saveAsSequenceFile", "*", python_rdd_refuse_formats, PY4J_STATIC_METHOD},
};

const struct py4j_class python_rdd_class = {.name = "org.apache.spark.api.python.PythonRDD",
                                            PY4J_MEMBERS(python_rdd_members)};
