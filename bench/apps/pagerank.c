/*
 * Computes ranks of pages with generated links.  spark-submit pagerank.c PAGES LINKS ROUNDS PARTITIONS
 *
 * As examples/pagerank.c, but pages are numbers. Links are grouped by page and cached. Each round joins them with the
 * ranks and sums the shares by page. "links: SECONDS" is the time to make and group the links, "job: SECONDS" that of
 * the rounds.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

static int make_link(fst_task *task, int64_t i, fst_out *out)
{
        int64_t pages = *(const int64_t *)fst_captured(task);
        fst_emit(out, link_from(i, pages), link_to(i, pages));
        return 0;
}

static double one(fst_task *task, fst_bytes links)
{
        return 1.0;
}

static int contribute(fst_task *task, int64_t page, fst_bytes links, double rank, fst_out *out)
{
        double part = rank / (double)fst_list_count(links, FST_I64);
        fst_list pages = fst_list_of(links, FST_I64);
        for (int64_t to; fst_list_next(&pages, &to);)
                fst_emit(out, to, part);
        return fst_list_status(&pages);
}

static double damp(fst_task *task, double sum)
{
        return 0.15 + 0.85 * sum;
}

static int take(fst_task *task, void *so_far, int64_t page, double rank)
{
        ranks_add(so_far, page, rank);
        return 0;
}

static int add(fst_task *task, void *so_far, const void *other)
{
        struct ranks *a = so_far;
        const struct ranks *b = other;
        a->pages += b->pages;
        a->sum += b->sum;
        a->weighted += b->weighted;
        return 0;
}

int main(int argc, char **argv)
{
        if (argc != 5)
                return fprintf(stderr, "usage: pagerank PAGES LINKS ROUNDS PARTITIONS\n"), 2;
        int64_t pages = atoll(argv[1]), grouped;
        int partitions = atoi(argv[4]);
        fst_context *sc = fst_context_new("pagerank");
        fst_rdd *made =
                fst_map(fst_range_n(sc, 0, atoll(argv[2]), partitions), FST_WITH(make_link, pages), FST_PAIR(I64, I64));
        fst_rdd *links = fst_cache(fst_group_by_key_n(made, partitions));
        double start = now();
        int r = fst_count(links, &grouped);
        printf("links: %.4f\n", now() - start);

        fst_rdd *ranks = fst_map_values(links, one, FST_F64);
        for (int round = 0; round < atoi(argv[3]); round++)
                ranks = fst_map_values(
                        fst_reduce_by_key(fst_join(links, ranks, contribute, FST_PAIR(I64, F64)), fst_fn_sum), damp,
                        FST_F64);
        struct ranks none = {0}, all = {0};
        start = now();
        if (r == 0)
                r = fst_aggregate(ranks, &none, take, add, &all);
        printf("job: %.4f\n", now() - start);
        printf("ranks: %.0f %.17g %.17g\n", all.pages, all.sum, all.weighted);
        int e = fst_context_stop(sc);
        return r ? r : e;
}
