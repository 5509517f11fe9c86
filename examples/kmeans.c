/*
 * Finds K centres of the points in FILE, lines of up to four numbers.   spark-submit kmeans.c FILE K CONVERGE_DISTANCE
 *
 * Spark's SparkKMeans: starts with K sampled points. In each round, each centre moves to the mean of the points nearest
 * to it. The rounds end when the sum of the squared moves is at most the distance. A centre without points stays.
 */
#include <firesteel/firesteel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { D = 4, MOST = 100 };
typedef double clouds[MOST][D + 1]; /* for each centre, the sum and the number of the points nearest to it */

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
        const double *p = point, *centre = fst_captured(task);
        double least = INFINITY, *sum = sums;
        for (int i = 0; i < MOST; i++, centre += D) {
                double far = 0;
                for (int d = 0; d < D; d++)
                        far += (p[d] - centre[d]) * (p[d] - centre[d]);
                if (far < least) /* ignores centres at infinity */
                        least = far, sum = (double *)sums + i * (D + 1);
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
        double centres[MOST * D], *end = centres, moved = INFINITY;
        clouds none = {{0}}, sums;
        fst_iter *sample;
        if (fst_take_sample(points, false, k, 42, &sample))
                return fst_context_stop(sc);
        for (const double *p; fst_next(sample, &p); end += D)
                memcpy(end, p, D * sizeof(*p));
        for (double *rest = end; rest < centres + MOST * D; rest++)
                *rest = INFINITY;
        for (; moved > atof(argv[3]); printf("Finished iteration (delta = %.15g)\n", moved)) {
                if (fst_aggregate(points, &none, FST_WITH(take, centres), FST_WITH(fst_sum_vectors, numbers), &sums))
                        return fst_context_stop(sc);
                moved = 0;
                for (int i = 0; centres + i < end; i++) {
                        double n = sums[i / D][D], was = centres[i];
                        centres[i] = n > 0 ? sums[i / D][i % D] / n : was;
                        moved += (centres[i] - was) * (centres[i] - was);
                }
        }
        puts("Final centers:");
        for (int i = 0; centres + i < end; i++)
                printf("%.15g%c", centres[i], i % D < D - 1 ? ' ' : '\n');
        return fst_context_stop(sc);
}
