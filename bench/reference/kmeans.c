/*
 * bench/apps/kmeans.c without an engine, on one thread: a loop over an array of points.          kmeans POINTS ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

int main(int argc, char **argv)
{
        if (argc != 3)
                return fprintf(stderr, "usage: kmeans POINTS ROUNDS\n"), 2;
        size_t n = strtoull(argv[1], NULL, 10);
        double *points = malloc(n * DIMENSIONS * sizeof(*points));
        if (!points)
                return perror("kmeans"), 1;

        double start = now();
        for (size_t i = 0; i < n; i++)
                point_make((int64_t)i, points + i * DIMENSIONS);
        printf("points: %.4f\n", now() - start);

        struct clouds centres;
        for (int i = 0; i < CENTRES; i++)
                point_make(i, centres.x[i]);
        start = now();
        for (int round = 0; round < atoi(argv[2]); round++) {
                struct clouds sums = {0};
                clouds_take(&sums, &centres, points, n);
                clouds_move(&centres, &sums);
        }
        printf("job: %.4f\n", now() - start);
        for (int i = 0; i < CENTRES; i++)
                for (int d = 0; d < DIMENSIONS; d++)
                        printf("%s%.12g%s", d ? " " : "centre: ", centres.x[i][d], d < DIMENSIONS - 1 ? "" : "\n");
        return 0;
}
