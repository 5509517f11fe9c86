/*
 * The rank of each page, from lines "PAGE LINKED_PAGE" or so many made-up links.
 *                                                                 spark-submit pagerank.c FILE|LINKS [ROUNDS]
 *
 * Each page gives its rank in equal parts to the pages that it links to; 15 % of all rank is spread over everyone. The
 * lists of links stay in memory, placed by page, and so are the ranks that reduce_by_key makes: the join of a
 * round moves nothing, only its sums travel. As in Spark's SparkPageRank a page that nobody links to drops out after a
 * round.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

static int link_of(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_bytes from, to;
        fst_split pages = fst_split_of(line, ' ');
        bool more = fst_split_next(&pages, &from);
        while (more && (more = fst_split_next(&pages, &to)) && to.len == 0) /* several spaces */
                ;
        if (!more)
                return fst_fail(task, "\"%.*s\" is not PAGE LINKED_PAGE", (int)line.len, line.data);
        fst_emit(out, from, to);
        return 0;
}

static int made_up(fst_task *task, int64_t i, fst_out *out)
{
        int64_t pages = *(const int64_t *)fst_captured(task) / 8 + 1;
        char from[32], to[32];
        snprintf(from, sizeof(from), "%lld", (long long)(i % pages));
        snprintf(to, sizeof(to), "%lld", (long long)(i * i / 3 % pages));
        fst_emit(out, from, to);
        return 0;
}

static double one(fst_task *task, fst_bytes links)
{
        return 1.0;
}
static double damp(fst_task *task, double sum)
{
        return 0.15 + 0.85 * sum;
}

static int contribute(fst_task *task, fst_bytes page, fst_bytes links, double rank, fst_out *out)
{
        double part = rank / (double)fst_list_count(links, FST_BYTES);
        fst_list pages = fst_list_of(links, FST_BYTES);
        for (fst_bytes to; fst_list_next(&pages, &to);)
                fst_emit(out, to, part);
        return fst_list_status(&pages);
}

int main(int argc, char **argv)
{
        if (argc < 2)
                return fprintf(stderr, "usage: pagerank FILE|LINKS [ROUNDS]\n"), 2;
        fst_context *sc = fst_context_new("PageRank");
        fst_type link = FST_PAIR(BYTES, BYTES), ranked = FST_PAIR(BYTES, F64);
        char *end;
        int64_t n = strtoll(argv[1], &end, 10);
        fst_rdd *pairs = *end ? fst_map(fst_text_file(sc, argv[1]), link_of, link)
                              : fst_map(fst_range(sc, 0, n), FST_WITH(made_up, n), link);
        fst_rdd *links = fst_cache(fst_group_by_key(fst_distinct(pairs))), *ranks = fst_map_values(links, one, FST_F64);
        for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 10); round++)
                ranks = fst_map_values(fst_reduce_by_key(fst_join(links, ranks, contribute, ranked), fst_sum), damp,
                                       FST_F64);
        fst_iter *rows;
        fst_bytes page;
        double rank;
        if (fst_collect(ranks, &rows) == 0)
                while (fst_next(rows, &page, &rank))
                        printf("%.*s has rank: %.6f.\n", (int)page.len, page.data, rank);
        return fst_context_stop(sc);
}
