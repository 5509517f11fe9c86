/*
 * Centres of points that are made up.            spark-submit kmeans.c POINTS ROUNDS PARTITIONS
 *
 * examples/kmeans.c with the points and the number of rounds given. "points: SECONDS" is making and keeping them, "job:
 * SECONDS" the rounds.
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

FOR_THIS_PROCESSOR static int take(fst_task *task, void *sums, const void *point)
{
        clouds_take(sums, fst_captured(task), point);
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

        struct clouds centres, none = {0}, sums = {0};
        for (int i = 0; i < CENTRES; i++)
                point_make(i, centres.x[i]);
        start = now();
        for (int round = 0; round < atoi(argv[2]) && r == 0; round++) {
                struct places places = places_of(&centres);
                r = fst_aggregate(points, &none, FST_WITH(take, places), add, &sums);
                clouds_move(&centres, &sums);
        }
        printf("job: %.4f\n", now() - start);
        for (int i = 0; i < CENTRES; i++)
                for (int d = 0; d < DIMENSIONS; d++)
                        printf("%s%.12g%s", d ? " " : "centre: ", centres.x[i][d], d < DIMENSIONS - 1 ? "" : "\n");
        int e = fst_context_stop(sc);
        return r ? r : e;
}
