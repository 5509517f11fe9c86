/*
 * From which vertex of a random graph can which be reached?      spark-submit transitive_closure.c [SLICES]
 *
 * Spark's SparkTC, of the same graph: 200 edges between 100 vertices. Each round makes paths longer by an edge, until
 * there are no new ones; distinct_n keeps union from doubling the partitions in each.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

enum { EDGES = 200, VERTICES = 100 };

/* The edges that java.util.Random gives with seed 42: its generator is that of nrand48. */
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

/* The path from y to z and the edge from x to y: the path from x to z. */
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
        fst_rdd *edges = fst_map(paths, turn, edge); /* by where they end, for the join */
        int status = fst_count(paths, &count);
        do {
                before = count;
                paths = fst_cache(fst_distinct_n(fst_union(paths, fst_join(paths, edges, longer, edge)), slices));
                status = status ? status : fst_count(paths, &count);
        } while (status == 0 && count != before);
        if (status == 0)
                printf("TC has %lld edges.\n", (long long)count);
        return fst_context_stop(sc);
}
