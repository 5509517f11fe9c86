/* Sources; see rdd_sources.h. Files become frames: text and paths as UTF-8, contents and records as bytes. */
#include "pyspark_driver/rdd_sources.h"

#include "base/mem.h"
#include "py4j/collections.h"
#include "pyspark_driver/call_site.h"
#include "pyspark_driver/errors.h"
#include "pyspark_driver/rdd_object.h"

/* The session of a method of a context; NULL, and the call throws, once it was stopped. */
static struct driver_session *source_session(struct py4j_call *call)
{
        struct driver_session *session = context_object_session(call->self);
        if (!session_has_ended(session))
                return session;
        py4j_throw(call, "java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext.");
        return NULL;
}

/* The two RDDs that Spark makes of files: one that reads them, one computed from it. The path is the name of some. */
struct source_classes {
        const char *reader, *result; /* reader NULL: Spark makes the result only */
        bool reader_has_name, result_has_name;
};

static const struct source_classes text_file = {"HadoopRDD", "MapPartitionsRDD", true, true},
                                   whole_text_files = {"WholeTextFileRDD", "MapPartitionsRDD", false, true},
                                   binary_files = {NULL, "BinaryFileRDD", false, true},
                                   binary_records = {"NewHadoopRDD", "MapPartitionsRDD", true, false};

/* Returns the RDD of files, whose path is the first argument, as frames. */
static void source_return(struct py4j_call *call, struct driver_session *session, fst_rdd *rows, const char *operation,
                          const struct source_classes *classes)
{
        const char *path = call->args[0].text;
        fst_rdd *frames = fst_frames_from_rows_at(rows, call_site(operation));
        if (classes->reader)
                rdd_describe_as(rows, classes->reader, classes->reader_has_name ? path : NULL);
        else if (!frames->status)
                rows->hidden = true;
        rdd_describe_as(frames, classes->result, classes->result_has_name ? path : NULL);
        rdd_return(call, &java_rdd_class, session, frames, NULL);
}

static int source_min_partitions(const struct py4j_call *call)
{
        return call->n > 1 ? (int)call->args[1].number : 0;
}

void source_empty(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        if (session)
                rdd_return(call, &java_rdd_class, session,
                           fst_union_all_at(session->sc, NULL, 0, call_site("emptyRDD")), NULL);
}

void source_text_file(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        if (session)
                source_return(call, session,
                              fst_text_file_at(session->sc, call->args[0].text, source_min_partitions(call),
                                               call_site("textFile")),
                              "textFile", &text_file);
}

void source_whole_text_files(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        if (session)
                source_return(call, session,
                              fst_whole_text_files_at(session->sc, call->args[0].text, source_min_partitions(call),
                                                      call_site("wholeTextFiles")),
                              "wholeTextFiles", &whole_text_files);
}

void source_binary_files(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        if (session)
                source_return(call, session,
                              fst_binary_files_at(session->sc, call->args[0].text, source_min_partitions(call),
                                                  call_site("binaryFiles")),
                              "binaryFiles", &binary_files);
}

void source_binary_records(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        int64_t length = call->args[1].number;
        if (!session)
                return;
        if (length <= 0 || length > FST_FIXED_MAX)
                py4j_throw(call, "java.lang.IllegalArgumentException",
                           "requirement failed: the length of a record must be 1 to %d bytes", FST_FIXED_MAX);
        else
                source_return(call, session,
                              fst_binary_records_at(session->sc, call->args[0].text, (uint32_t)length,
                                                    call_site("binaryRecords")),
                              "binaryRecords", &binary_records);
}

void source_object_file(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        if (session)
                rdd_return(call, &java_rdd_class, session,
                           fst_java_object_file_at(session->sc, call->args[0].text, source_min_partitions(call),
                                                   call_site("objectFile")),
                           NULL);
}

void source_checkpoint_file(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        if (!session)
                return;
        fst_rdd *rdd = fst_object_file_at(session->sc, call->args[0].text, FST_BYTES, 0, call_site("checkpointFile"));
        rdd_describe_as(rdd, "ReliableCheckpointRDD", NULL);
        rdd_return(call, &java_rdd_class, session, rdd, NULL);
}

void source_union(struct py4j_call *call)
{
        struct driver_session *session = source_session(call);
        struct py4j_object *array = session ? py4j_argument(call, 0, &py4j_array_class) : NULL;
        if (!array)
                return;
        array = py4j_collection_copy(array);
        size_t n = py4j_length(array);
        _cleanup_free_ fst_rdd **rdds = new_array(fst_rdd *, n + 1);
        bool barrier = false;
        for (size_t i = 0; i < n; i++) {
                const struct py4j_value *value = py4j_element(array, i);
                if (value->type != PY4J_OBJECT || !py4j_class_is(value->object->class, rdd_class.name)) {
                        py4j_throw(call, "java.lang.NullPointerException", "element %zu of the union is not an RDD", i);
                        break;
                }
                if (session_has_ended(((struct rdd_object *)value->object)->session)) {
                        py4j_throw(call, "java.lang.IllegalStateException",
                                   "Cannot call methods on a stopped SparkContext: element %zu of the union", i);
                        break;
                }
                rdds[i] = ((struct rdd_object *)value->object)->rdd;
                barrier |= ((struct rdd_object *)value->object)->barrier;
        }
        if (!call->thrown) {
                rdd_return(call, &java_rdd_class, session, fst_union_all_at(session->sc, rdds, n, call_site("union")),
                           NULL);
                struct rdd_object *made = (struct rdd_object *)call->result.object;
                made->barrier = barrier;
                rdd_keep(made, array);
        }
        py4j_object_unref(array);
}

void source_rdd_with_null(struct py4j_call *call)
{
        static const char a[] = "\0\0\0\1a", null[] = "\xff\xff\xff\xfb", b[] = "\0\0\0\1b"; /* frames */
        const fst_bytes rows[] = {{a, sizeof(a) - 1}, {null, sizeof(null) - 1}, {b, sizeof(b) - 1}};
        struct driver_session *session = context_argument(call, 0);
        if (session)
                rdd_return(
                        call, &java_rdd_class, session,
                        fst_parallelize_at(session->sc, rows, ARRAY_SIZE(rows), FST_BYTES, 0, call_site("parallelize")),
                        NULL);
}
