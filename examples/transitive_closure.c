/*
 * Counts the pairs of connected vertices in a random graph.      spark-submit transitive_closure.c [SLICES]
 *
 * Spark's SparkTC with the same graph: 200 edges between 100 vertices. Each round extends all paths by an edge, until a
 * round finds no new path. distinct_n undoes the doubling of partitions by union.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

enum { EDGES = 200, VERTICES = 100 };

/* Makes the edges of java.util.Random with seed 42, which has the generator of nrand48. */
static void make_graph(int64_t *from, int64_t *to)
{
        unsigned short state[] = {0xe66d ^ 42, 0xdeec, 0x5};
        bool known[VERTICES][VERTICES] = {0};
        for (int n = 0; n < EDGES;) {
                from[n] = nrand48(state) % VERTICES;
                to[n] = nrand48(state) % VERTICES;
                bool *edge = &known[from[n]][to[n]];
                if (from[n] != to[n] && !*edge) {
                        *edge = true;
                        n++;
                }
        }
}

static int turn(fst_task *task, int64_t from, int64_t to, fst_out *out)
{
        fst_emit(out, to, from);
        return 0;
}

/* Joins the path from y to z with the edge from x to y to the path from x to z. */
static int longer(fst_task *task, int64_t y, int64_t z, int64_t x, fst_out *out)
{
        fst_emit(out, x, z);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("TransitiveClosure");
        fst_type edge = FST_PAIR(I64, I64);
        int64_t from[EDGES], to[EDGES], before, count;
        int slices = argc > 1 ? atoi(argv[1]) : 2;
        make_graph(from, to);
        fst_rdd *paths = fst_cache(fst_parallelize_pairs_n(sc, from, to, EDGES, slices));
        fst_rdd *edges = fst_map(paths, turn, edge); /* keyed by their end, for the join */
        int status = fst_count(paths, &count);
        do {
                before = count;
                paths = fst_cache(fst_distinct_n(fst_union(paths, fst_join(paths, edges, longer, edge)), slices));
                status = status ? status : fst_count(paths, &count);
        } while (status == 0 && count != before);
        if (status == 0)
                printf("TC has %" PRId64 " edges.\n", count);
        return fst_context_stop(sc);
}
