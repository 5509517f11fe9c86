/*
 * Finds the centres of generated points.            spark-submit kmeans.c POINTS ROUNDS PARTITIONS
 *
 * As examples/kmeans.c, but with generated points and a fixed number of rounds. "points: SECONDS" is the time to make
 * and cache them, "job: SECONDS" the time of the rounds.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

static int make_point(fst_task *task, int64_t i, fst_out *out)
{
        double x[DIMENSIONS];
        point_make(i, x);
        fst_emit(out, (const void *)x);
        return 0;
}

static int sum_nearest(fst_task *task, const fst_batch *points, fst_out *out)
{
        struct clouds sums = {0};
        clouds_take(&sums, fst_captured(task), (const double *)points->key.fixed, points->rows);
        fst_emit(out, (const void *)&sums);
        return 0;
}

static int add(fst_task *task, void *into, const void *from)
{
        double *a = into;
        for (size_t i = 0; i < sizeof(struct clouds) / sizeof(*a); i++)
                a[i] += ((const double *)from)[i];
        return 0;
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: kmeans POINTS ROUNDS PARTITIONS\n"), 2;
        int64_t n;
        fst_context *sc = fst_context_new("kmeans");
        fst_rdd *points = fst_cache(fst_map(fst_range_n(sc, 0, atoll(argv[1]), atoi(argv[3])), make_point,
                                            FST_FIXED(DIMENSIONS * sizeof(double))));
        double start = now();
        int r = fst_count(points, &n);
        printf("points: %.4f\n", now() - start);

        struct clouds centres, sums = {0};
        for (int i = 0; i < CENTRES; i++)
                point_make(i, centres.x[i]);
        start = now();
        for (int round = 0; round < atoi(argv[2]) && r == 0; round++) {
                r = fst_reduce(fst_map_batches(points, FST_WITH(sum_nearest, centres), FST_FIXED(sizeof(sums))), add,
                               &sums);
                clouds_move(&centres, &sums);
        }
        printf("job: %.4f\n", now() - start);
        for (int i = 0; i < CENTRES; i++)
                for (int d = 0; d < DIMENSIONS; d++)
                        printf("%s%.12g%s", d ? " " : "centre: ", centres.x[i][d], d < DIMENSIONS - 1 ? "" : "\n");
        int e = fst_context_stop(sc);
        return r ? r : e;
}
