/*
 * The jobs that tests/faults/run and run_standalone disturb. They use every kind of data that can be lost.
 *
 *      spark-submit work.c IN OUT [own]
 *
 * Saves the word counts of IN/text, their join with the numbers of IN/classes, and PageRank over IN/links with cached
 * links. Every run gives the same bytes, except for the order of lines within a part. With "own", each process writes to
 * its own directory, OUT/<pid>, because the predecessor of a restarted driver may still run.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PARTITIONS = 4, ROUNDS = 3 };

static int words_of(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_bytes word;
        for (fst_split words = fst_split_of(line, ' '); fst_split_next(&words, &word);)
                fst_emit(out, word, 1);
        return 0;
}

static int pair_of(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_bytes a, b;
        fst_split words = fst_split_of(line, ' ');
        if (!fst_split_next(&words, &a) || !fst_split_next(&words, &b))
                return fst_fail(task, "\"%.*s\" is no pair", (int)line.len, line.data);
        fst_emit(out, a, b);
        return 0;
}

static int classify(fst_task *task, fst_bytes word, int64_t count, fst_bytes class, fst_out *out)
{
        fst_emit(out, class, count);
        return 0;
}

/* "a b" and "c" become "a b c". */
static int append(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        char *both = malloc(a.len + 1 + b.len);
        if (!both)
                return fst_fail(task, "no memory for the links of a page");
        memcpy(both, a.data, a.len);
        both[a.len] = ' ';
        memcpy(both + a.len + 1, b.data, b.len);
        fst_emit(out, ((fst_bytes){both, a.len + 1 + b.len}));
        free(both);
        return 0;
}

static double first_rank(fst_task *task, fst_bytes links)
{
        return 1.0;
}

static int contribute(fst_task *task, fst_bytes page, fst_bytes links, double rank, fst_out *out)
{
        int n = 0;
        fst_split count = fst_split_of(links, ' '), pages = count;
        for (fst_bytes to; fst_split_next(&count, &to);)
                n++;
        for (fst_bytes to; fst_split_next(&pages, &to);)
                fst_emit(out, to, rank / n);
        return 0;
}

static double damp(fst_task *task, double sum)
{
        return 0.15 + 0.85 * sum;
}

static fst_rdd *text_of(fst_context *sc, const char *folder, const char *name)
{
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        return fst_text_file_n(sc, path, PARTITIONS);
}

static int save(fst_rdd *rdd, const char *folder, const char *name)
{
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        return fst_save_as_text_file(rdd, path);
}

int main(int argc, char **argv)
{
        if (argc != 3 && argc != 4) {
                fprintf(stderr, "usage: work IN OUT [own]\n");
                return 2;
        }
        char out[4096];
        snprintf(out, sizeof(out), argc == 4 ? "%s/%d" : "%s", argv[2], (int)getpid());
        fst_context *sc = fst_context_new("work");
        fst_rdd *words = fst_flat_map(text_of(sc, argv[1], "text"), words_of, FST_PAIR(BYTES, I64));
        fst_rdd *counts = fst_reduce_by_key_n(words, fst_fn_sum, PARTITIONS);
        fst_rdd *classes = fst_map(text_of(sc, argv[1], "classes"), pair_of, FST_PAIR(BYTES, BYTES));
        fst_rdd *sums = fst_reduce_by_key_n(fst_join_n(counts, classes, classify, FST_PAIR(BYTES, I64), PARTITIONS),
                                            fst_fn_sum, PARTITIONS);
        fst_rdd *pairs = fst_map(text_of(sc, argv[1], "links"), pair_of, FST_PAIR(BYTES, BYTES));
        fst_rdd *links = fst_cache(fst_reduce_by_key_n(pairs, append, PARTITIONS));
        fst_rdd *ranks = fst_map_values(links, first_rank, FST_F64);

        for (int round = 0; round < ROUNDS; round++) {
                fst_rdd *parts = fst_join(links, ranks, contribute, FST_PAIR(BYTES, F64));
                ranks = fst_map_values(fst_reduce_by_key(parts, fst_fn_sum), damp, FST_F64);
        }
        if (save(counts, out, "counts") == 0 && save(sums, out, "sums") == 0)
                save(ranks, out, "ranks");
        return fst_context_stop(sc);
}
