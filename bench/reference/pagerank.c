/*
 * bench/apps/pagerank.c without an engine, on one thread: a loop over arrays of links.    pagerank PAGES LINKS ROUNDS
 *
 * A page without links from ranked pages has no rank after a round, as in Spark's SparkPageRank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: pagerank PAGES LINKS ROUNDS\n"), 2;
        size_t pages = strtoull(argv[1], NULL, 10), links = strtoull(argv[2], NULL, 10);
        int64_t *from = malloc(links * sizeof(*from)), *to = malloc(links * sizeof(*to));
        double *degree = calloc(pages, sizeof(*degree)), *rank = calloc(pages, sizeof(*rank)),
               *sum = malloc(pages * sizeof(*sum));
        if (!from || !to || !degree || !rank || !sum)
                return perror("pagerank"), 1;

        double start = now();
        for (size_t i = 0; i < links; i++) {
                from[i] = link_from((int64_t)i, (int64_t)pages);
                to[i] = link_to((int64_t)i, (int64_t)pages);
                degree[from[i]]++;
        }
        for (size_t i = 0; i < pages; i++)
                rank[i] = degree[i] > 0;
        printf("links: %.4f\n", now() - start);

        start = now();
        for (int round = 0; round < atoi(argv[3]); round++) {
                memset(sum, 0, pages * sizeof(*sum));
                for (size_t i = 0; i < links; i++)
                        sum[to[i]] += rank[from[i]] / degree[from[i]];
                for (size_t i = 0; i < pages; i++)
                        rank[i] = sum[i] > 0 ? 0.15 + 0.85 * sum[i] : 0;
        }
        struct ranks all = {0};
        for (size_t i = 0; i < pages; i++)
                if (rank[i] > 0)
                        ranks_add(&all, (int64_t)i, rank[i]);
        printf("job: %.4f\n", now() - start);
        printf("ranks: %.0f %.17g %.17g\n", all.pages, all.sum, all.weighted);
        return 0;
}
