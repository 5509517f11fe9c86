/*
 * Computes the rank of each page from links.                           spark-submit pagerank.c FILE|LINKS [ROUNDS]
 *
 * Reads lines "PAGE LINKED_PAGE" from FILE, or makes LINKS random links. In each round, each page divides its rank
 * equally among the pages it links to, and its new rank is 0.15 + 0.85 × the sum of its shares. The link lists are
 * cached with the partitioner of the sums, so that their join moves no data. As in Spark's SparkPageRank, a page
 * without incoming links drops out after one round.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

static int made_up(fst_task *task, int64_t i, fst_out *out)
{
        int64_t pages = *(const int64_t *)fst_captured(task) / 8 + 1;
        char line[64];
        snprintf(line, sizeof(line), "%" PRId64 " %" PRId64, i % pages, i * i / 3 % pages);
        fst_emit(out, line);
        return 0;
}

static int link_of(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_bytes from, to;
        fst_split pages = fst_split_of(line, ' ');
        if (!fst_split_word(&pages, &from) || !fst_split_word(&pages, &to))
                return fst_fail(task, "\"%.*s\" is not PAGE LINKED_PAGE", FST_TEXT(line));
        fst_emit(out, from, to);
        return 0;
}

static double one(fst_task *task, fst_bytes links)
{
        return 1;
}

#define RANK(sum) (0.15 + 0.85 * (sum)) /* @sum: of the shares that a page gets */

static int contribute(fst_task *task, fst_bytes page, fst_bytes links, double sum, fst_out *out)
{
        double part = RANK(sum) / (double)fst_list_count(links, FST_BYTES);
        fst_list pages = fst_list_of(links, FST_BYTES);
        for (fst_bytes to; fst_list_next(&pages, &to);)
                fst_emit(out, to, part);
        return fst_list_status(&pages);
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("PageRank");
        int64_t n = 0, rounds = argc > 2 ? atoi(argv[2]) : 10;
        bool number = argc > 1 && fst_parse_i64(fst_bytes_of(argv[1]), &n);
        fst_rdd *lines = number ? fst_map(fst_range(sc, 0, n), FST_WITH(made_up, n), FST_BYTES)
                                : fst_text_file(sc, argc > 1 ? argv[1] : "");
        fst_rdd *links = fst_cache(fst_group_by_key(fst_distinct(fst_map(lines, link_of, FST_PAIR(BYTES, BYTES)))));
        fst_rdd *sums = fst_map_values(links, one, FST_F64);
        while (rounds-- > 0)
                sums = fst_reduce_by_key(fst_join(links, sums, contribute, FST_PAIR(BYTES, F64)), fst_fn_sum);
        fst_iter *rows;
        double sum;
        if (fst_collect(sums, &rows) == 0)
                for (fst_bytes page; fst_next(rows, &page, &sum);)
                        printf("%.*s has rank: %.6f.\n", FST_TEXT(page), RANK(sum));
        return fst_context_stop(sc);
}
