/*
 * Sorts the records of IN (see teragen.c) by their keys.   spark-submit terasort.c IN OUT [PARTITIONS]
 *
 * A record begins with its key, so sorting whole records sorts them by key. OUT/part-00000 has the first records,
 * OUT/part-00001 the next, and so on.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

#define RECORD 100

int main(int argc, char **argv)
{
        if (argc < 3 || argc > 4)
                return fprintf(stderr, "usage: terasort IN OUT [PARTITIONS]\n"), 2;
        fst_context *sc = fst_context_new("TeraSort");
        fst_rdd *records = fst_binary_records(sc, argv[1], RECORD);
        int partitions = argc > 3 ? atoi(argv[3]) : 0;

        fst_save_as_binary_records(
                fst_sort_by_n(records, fst_fn_identity, FST_FIXED(RECORD), FST_ASCENDING, partitions), argv[2]);
        return fst_context_stop(sc);
}
