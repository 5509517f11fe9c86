/*
 * Sorts the lines of IN by their bytes.   spark-submit sort.c IN OUT [PARTITIONS]
 *
 * OUT/part-00000 has the first lines, OUT/part-00001 the next, and so on.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
        if (argc < 3 || argc > 4) {
                fprintf(stderr, "usage: sort IN OUT [PARTITIONS]\n");
                return 2;
        }
        fst_context *sc = fst_context_new("sort");
        int partitions = argc > 3 ? atoi(argv[3]) : 0;
        fst_rdd *lines = fst_text_file(sc, argv[1]);

        fst_save_as_text_file(fst_sort_by_n(lines, fst_fn_identity, FST_BYTES, FST_ASCENDING, partitions), argv[2]);
        return fst_context_stop(sc);
}
