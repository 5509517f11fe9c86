/*
 * The ten pages with the highest rank, from lines "PAGE LINKED_PAGE".   spark-submit pagerank.c LINKS ROUNDS
 *
 * Each page gives its rank in equal parts to the pages that it links to; 15 % of all rank is spread over everyone. The
 * links stay in memory, placed by page, and so do the ranks that reduce_by_key makes: the join of each round moves
 * nothing, only its sums travel.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

static int link_of(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_bytes from, to;
        fst_split pages = fst_split_of(line, ' ');
        if (!fst_split_next(&pages, &from) || !fst_split_next(&pages, &to))
                return fst_fail(task, "\"%.*s\" is not PAGE LINKED_PAGE", (int)line.len, line.data);
        fst_emit(out, from, to);
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

static double rank_of(fst_task *task, fst_bytes page, double rank)
{
        return rank;
}

int main(int argc, char **argv)
{
        if (argc != 3) {
                fprintf(stderr, "usage: pagerank LINKS ROUNDS\n");
                return 2;
        }
        fst_context *sc = fst_context_new("pagerank");
        fst_type ranked = FST_PAIR(BYTES, F64);
        fst_rdd *pairs = fst_map(fst_text_file(sc, argv[1]), link_of, FST_PAIR(BYTES, BYTES));
        fst_rdd *links = fst_cache(fst_reduce_by_key(pairs, append));
        fst_rdd *ranks = fst_map_values(links, first_rank, FST_F64);
        fst_iter *best;
        fst_bytes page;
        double rank;

        for (int round = 0; round < atoi(argv[2]); round++) {
                fst_rdd *parts = fst_join(links, ranks, contribute, ranked);
                ranks = fst_map_values(fst_reduce_by_key(parts, fst_sum), damp, FST_F64);
        }
        if (fst_take(fst_sort_by(ranks, rank_of, FST_F64, FST_DESCENDING), 10, &best) == 0)
                while (fst_next(best, &page, &rank))
                        printf("%.*s has rank %.6f\n", (int)page.len, page.data, rank);
        return fst_context_stop(sc);
}
