/*
 * Counts how often each word occurs.      spark-submit wordcount.c IN OUT
 *
 * Single spaces separate words. OUT gets one line for each word: (word,count).
 */
#include <firesteel/firesteel.h>

#include <stdio.h>

/* One line in; each of its words out, with a count of one. */
static int split(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_emit_pieces_with(out, line, ' ', 1);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc != 3) {
                fprintf(stderr, "usage: wordcount IN OUT\n");
                return 2;
        }
        fst_context *sc = fst_context_new("wordcount");
        fst_rdd *words = fst_flat_map(fst_text_file(sc, argv[1]), split, FST_PAIR(BYTES, I64));

        fst_save_as_text_file(fst_reduce_by_key(words, fst_fn_sum), argv[2]);
        return fst_context_stop(sc);
}
