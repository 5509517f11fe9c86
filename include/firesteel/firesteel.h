/*
 * Firesteel: Spark's way of running distributed work, in C.
 *
 * An application includes this header alone. It creates a context, describes its data as RDDs (resilient
 * distributed datasets), transforms them lazily, and asks for results with actions:
 *
 *      #include <firesteel/firesteel.h>
 *
 *      // Emits each word of a line with a count of one.
 *      static int split(fst_task *task, fst_bytes line, fst_out *out)
 *      {
 *              fst_split words = fst_split_of(line, ' ');
 *              for (fst_bytes word; fst_split_next(&words, &word);)
 *                      fst_emit(out, word, 1);
 *              return 0;
 *      }
 *
 *      int main(int argc, char **argv)
 *      {
 *              fst_context *sc = fst_context_new("wordcount");
 *              fst_rdd *words = fst_flat_map(fst_text_file(sc, argv[1]), split, FST_PAIR(BYTES, I64));
 *
 *              fst_save_as_text_file(fst_reduce_by_key(words, fst_fn_sum), argv[2]);
 *              return fst_context_stop(sc);    // 0, or the first error, which has been logged
 *      }
 *
 * `spark-submit wordcount.c in out` compiles and runs it.
 *
 * The chapters, in reading order:
 *      types.h         types of rows: integers, floats, bytes, fixed-size structs, and pairs of these
 *      text.h          splitting text, and parsing numbers
 *      struct.h        rows with named columns
 *      key.h, row.h    keys and rows of several columns, encoded by hand
 *      task.h          the first argument of your functions: the task, captured values, random numbers
 *      emit.h          how your functions return rows
 *      iter.h          reading rows one after another
 *      list.h          several rows as one value, as grouping makes them
 *      function.h      the forms of functions that operators take; the engine's own (fst_fn_sum, …)
 *      context.h       configuration and context
 *      rdd.h           RDDs: persisting, checkpoints, properties
 *      source.h        RDDs from files and from memory
 *      transform.h     map, filter, union, sort_by, …
 *      pair.h          operators by key: reduce_by_key, join, …
 *      action.h        actions: count, collect, save_as_text_file, …
 *      map.h           maps at the driver, which some actions return
 *      future.h        actions that do not wait
 *      status.h        the progress of jobs and stages
 *      shared.h        broadcast variables, accumulators, files
 *      barrier.h       stages whose tasks start together and wait for each other
 *      resource.h      other executors and tasks for single stages
 *      (submit.h, listener.h and pod_step.h are for programs that submit, listen, or change pods; frames.h and
 *      python.h are for bindings of other languages)
 *
 * Errors. You build lineage without checking each call. An invalid step (a wrong type, an unknown key) returns an RDD
 * that carries the error. The action that needs the RDD reports the error with the source line of the step. Wrong
 * types of arguments do not compile.
 *
 * Return values have one of three shapes:
 *      a status        `int`: 0, or a negative errno value whose message has been logged. The outputs of a call that
 *                      failed are unchanged. fst_context_stop returns the first status that was not 0, so `main` may
 *                      simply return it.
 *      a count         `int`: a number of partitions, executors, jobs or array elements, or a negative errno value
 *                      where the comment says so. A function that fills an array of @max elements returns the number
 *                      of all elements, which may be more.
 *      an object       A transformation and a future are never NULL; they carry their error. A function that looks
 *                      something up returns NULL or false if it finds nothing.
 * Numbers of rows are int64_t, sizes of arrays size_t.
 *
 * A parameter is a pointer to const if the function only reads the object. It is not const if the function may read
 * files, run a job, or take a lock.
 *
 * Ownership. Handles belong to their context and live until fst_context_stop. Free only what you allocated.
 *
 * Threads. Your functions run on executors, several at a time, and share nothing. What a function needs travels as a
 * plain struct that FST_WITH captures. Executors do not see the driver's global variables.
 *
 * Bindings. The functions (fst_map_at, fst_count_at, …) are the binary interface. The macros without `_at` are the
 * interface for C: they add the source line, check types, pass sizes of structs, and call the function. A binding for
 * another language calls the functions. A C++ program can include these headers and call the functions, too, but not
 * the macros that need C11's _Generic: FST_FN and all that take a function, fst_emit, fst_next, and those that write
 * to variables. docs/abi.md says what stays the same from version to version.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/task.h>
#include <firesteel/text.h>

#include <firesteel/emit.h>
#include <firesteel/iter.h>
#include <firesteel/list.h>

#include <firesteel/function.h>

#include <firesteel/context.h>
#include <firesteel/rdd.h>
#include <firesteel/key.h>
#include <firesteel/row.h>
#include <firesteel/struct.h>
#include <firesteel/source.h>
#include <firesteel/transform.h>

#include <firesteel/pair.h>

#include <firesteel/action.h>
#include <firesteel/future.h>
#include <firesteel/status.h>

#include <firesteel/barrier.h>
#include <firesteel/resource.h>
#include <firesteel/shared.h>

#include <firesteel/detail/note.h>
