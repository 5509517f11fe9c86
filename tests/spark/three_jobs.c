/*
 * What genuine Spark's history server is shown of a real run: words counted, lines sorted, and a job that fails.
 *
 *      spark-submit three_jobs.c IN OUT        exits with 0 although the last job fails, as it should
 */
#include <firesteel/firesteel.h>

#include <stdio.h>

static int split(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_split words = fst_split_of(line, ' ');
        for (fst_bytes word; fst_split_next(&words, &word);)
                fst_emit(out, word, 1);
        return 0;
}

static int refuse(fst_task *task, fst_bytes line)
{
        return fst_fail(task, "no \"%.*s\" here", (int)line.len, line.data);
}

int main(int argc, char **argv)
{
        char counts[4096], sorted[4096];
        fst_context *sc = fst_context_new("three jobs");
        fst_rdd *lines = fst_text_file_n(sc, argv[1], 2);

        snprintf(counts, sizeof(counts), "%s/counts", argc > 2 ? argv[2] : ".");
        snprintf(sorted, sizeof(sorted), "%s/sorted", argc > 2 ? argv[2] : ".");
        fst_rdd *words = fst_flat_map(lines, split, FST_PAIR(BYTES, I64));
        int good = fst_save_as_text_file(fst_reduce_by_key_n(words, fst_fn_sum, 3), counts);
        fst_set_local_property(sc, "spark.job.description", "in order");
        good |= fst_save_as_text_file(fst_sort_by_n(lines, fst_fn_identity, FST_BYTES, FST_ASCENDING, 2), sorted);
        fst_set_local_property(sc, "spark.job.description", NULL);
        int bad = fst_foreach(lines, refuse);
        fst_context_stop(sc);
        return good || !bad;
}
