/*
 * Python: RDDs of frames that workers of PySpark compute. For the binding of Python; programs in C have no use for it.
 *
 *      #include <firesteel/python.h>
 *
 * A function of Python is a pickle that PySpark's driver program makes. Executors start Python with the genuine package
 * `pyspark`, pass it the rows of a partition and take its rows, both as frames (frames.h). Firesteel reads none of
 * them.
 */
#pragma once

#include <firesteel/frames.h>
#include <firesteel/shared.h>

FST_BEGIN_DECLS

/* A function of Python. Lists end with NULL and may be NULL. Everything is copied. */
struct fst_python_function {
        fst_bytes command;              /* a pickle: function, profiler, and how rows are read and written */
        const char *const *environment; /* "NAME=value", added to the executor's */
        const char *const *includes;    /* names of archives among the application's files, for sys.path */
        const char *exec;               /* the executors' Python: a name in PATH or a path */
        const char *version;            /* the driver's Python: "3.11" */
        const char *package_path; /* directories, separated by ':', where an `exec` without pyspark finds it and py4j;
                                     those that an executor lacks are ignored. NULL: none */
        const fst_broadcast *broadcasts; /* that the function uses; workers get files with their bytes */
        size_t n_broadcasts;
        fst_accumulator accumulator; /* of fst_accumulator_list; gets the updates of the worker. Zero: dropped */
        /*
         * The version of the driver's pyspark, "4.3.0", and the names, separated by ':', of files of the application
         * that are archives with it and py4j. An `exec` without pyspark or with another version uses them. NULL: it
         * uses its own or those of `package_path`.
         */
        const char *package_version, *package_files;
};

/*
 * fst_rdd *fst_python_rdd(fst_rdd *frames, const struct fst_python_function *f, bool preserves_partitioning,
 *                         bool from_barrier)
 *
 * The rows that @f makes of each partition of @frames. With @preserves_partitioning the partitioner is kept. With
 * @from_barrier the stage is a barrier stage. A task fails with the traceback of an exception in Python, or with the
 * reason why there is no worker.
 */
#define fst_python_rdd(frames, f, preserves_partitioning, from_barrier)                                                \
        fst_python_rdd_at((frames), (f), sizeof(*(f)), (preserves_partitioning), (from_barrier), FST_HERE("python"))
FST_API fst_rdd *fst_python_rdd_at(fst_rdd *frames, const struct fst_python_function *f, size_t size,
                                   bool preserves_partitioning, bool from_barrier, fst_site site);

/*
 * A broadcast variable with the content of the local file @path, which the call reads. As fst_broadcast_bytes, whose
 * errors it has.
 */
FST_API fst_broadcast fst_broadcast_file(fst_context *sc, const char *path);

/*
 * An accumulator of byte strings. For each task that counts, and before its job's end is told, @receive gets the
 * strings that it added: on a thread of its own, for one task after another. It may wait, and call no function with the
 * context. Not 0: the job fails. @data must live as long as the context.
 */
FST_API fst_accumulator fst_accumulator_list(fst_context *sc, const char *name,
                                             int (*receive)(void *data, const fst_bytes *blobs, size_t n), void *data);

FST_END_DECLS
