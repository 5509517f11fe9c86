/*
 * K centres of the points in FILE, lines of up to four numbers.      spark-submit kmeans.c FILE K CONVERGE_DISTANCE
 *
 * Spark's SparkKMeans: begins with K points of a sample, moves each centre to the middle of the points that are nearest
 * to it, and ends when all have moved by no more than the distance (squared, in sum). A centre without points stays.
 */
#include <firesteel/firesteel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { D = 4, MOST = 100 };

struct centres {
        double x[MOST][D];
        int64_t k;
};
typedef double clouds[MOST][D + 1]; /* of the points nearest to each centre: the sum, and how many they are */

static int parse(fst_task *task, fst_bytes line, fst_out *out)
{
        double p[D] = {0};
        if (fst_parse_f64s(line, p, D) < 1)
                return fst_fail(task, "\"%.*s\" is not up to %d numbers", FST_TEXT(line), D);
        fst_emit(out, p);
        return 0;
}

static int take(fst_task *task, void *sums, const void *point)
{
        const struct centres *centres = fst_captured(task);
        const double *p = point;
        double least = INFINITY, *sum = sums;
        for (int i = 0; i < centres->k; i++) {
                double far = 0;
                for (int d = 0; d < D; d++)
                        far += (p[d] - centres->x[i][d]) * (p[d] - centres->x[i][d]);
                if (far < least)
                        least = far, sum = ((double(*)[D + 1]) sums)[i];
        }
        for (int d = 0; d < D; d++)
                sum[d] += p[d];
        sum[D]++;
        return 0;
}

int main(int argc, char **argv)
{
        int64_t k = argc == 4 ? atoi(argv[2]) : 0, numbers = MOST * (D + 1);
        if (k < 1 || k > MOST)
                return fprintf(stderr, "usage: kmeans FILE K CONVERGE_DISTANCE, K from 1 to %d\n", MOST), 2;
        fst_context *sc = fst_context_new("KMeans");
        fst_rdd *points = fst_cache(fst_map(fst_text_file(sc, argv[1]), parse, FST_FIXED(D * sizeof(double))));
        struct centres centres = {.k = 0};
        clouds none = {{0}}, sums;
        fst_iter *rows;
        if (fst_take_sample(points, false, k, 42, &rows))
                return fst_context_stop(sc);
        for (const double *p; fst_next(rows, &p);)
                memcpy(centres.x[centres.k++], p, sizeof(centres.x[0]));
        for (double moved = INFINITY; moved > atof(argv[3]); printf("Finished iteration (delta = %.15g)\n", moved)) {
                if (fst_aggregate(points, &none, FST_WITH(take, centres), FST_WITH(fst_sum_vectors, numbers), &sums))
                        return fst_context_stop(sc);
                moved = 0;
                for (int i = 0; i < centres.k * D; i++) {
                        double *x = &centres.x[i / D][i % D], n = sums[i / D][D], was = *x;
                        *x = n > 0 ? sums[i / D][i % D] / n : was;
                        moved += (*x - was) * (*x - was);
                }
        }
        puts("Final centers:");
        for (int i = 0; i < centres.k * D; i++)
                printf("%.15g%c", centres.x[i / D][i % D], i % D < D - 1 ? ' ' : '\n');
        return fst_context_stop(sc);
}
