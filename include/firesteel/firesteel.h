/*
 * Firesteel: Spark's way of running distributed work, in C.
 *
 * An application includes this header alone. It makes a context, describes its data as RDDs (resilient
 * distributed datasets), transforms them lazily, and asks for results with actions:
 *
 *      #include <firesteel/firesteel.h>
 *
 *      // One line in; each of its words out, with a count of one.
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
 *              return fst_context_stop(sc);    // 0, or the first error, already told to the user
 *      }
 *
 * and is run as `spark-submit wordcount.c in out`.
 *
 * The chapters, in reading order:
 *      types.h         what rows are: integers, floats, bytes, fixed-size structs, and pairs of these
 *      text.h          text: its pieces, and the numbers that it says
 *      task.h          what a function of yours is given: the task, its captured values, its random numbers
 *      emit.h          how it gives rows back
 *      iter.h          how rows are read one after another
 *      list.h          several rows as one value, as grouping makes them
 *      function.h      how functions are handed to operators; the engine's own (fst_fn_sum, …)
 *      context.h       configuration and context
 *      rdd.h           RDDs: what they are, how they are kept
 *      source.h        where they come from
 *      transform.h     map, filter, union, sort_by, …
 *      pair.h          by key: reduce_by_key, join, …
 *      action.h        what makes them be computed: count, collect, save_as_text_file, …
 *      map.h           maps at the driver, which some of them answer
 *      future.h        actions that do not wait
 *      status.h        what jobs and stages do at the moment
 *      shared.h        what tasks share: broadcast variables, accumulators, files
 *      barrier.h       stages whose tasks run all at once and wait for each other
 *
 * Errors. Lineage is built without checks: a step that cannot be (a wrong type, an unknown key) yields an RDD
 * that carries its error, and the action that needs it reports it with the source line that made it. An action
 * returns 0, or a negative status whose message was already logged; fst_context_stop returns the first of
 * these, so that `main` may simply return it.
 *
 * Ownership. Handles (fst_rdd, fst_iter) belong to their context and live until fst_context_stop. An
 * application frees nothing that it did not allocate.
 *
 * Threads. Your functions run on executors, several at a time; they share nothing. What a function needs
 * travels as a plain struct captured with FST_WITH. A program's globals do not exist on executors.
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
#include <firesteel/source.h>
#include <firesteel/transform.h>

#include <firesteel/pair.h>

#include <firesteel/action.h>
#include <firesteel/future.h>
#include <firesteel/status.h>

#include <firesteel/barrier.h>
#include <firesteel/shared.h>

#include <firesteel/detail/note.h>
