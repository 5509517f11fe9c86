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

struct clouds {
        double x[MOST][D], n[MOST]; /* sums of n points each; centres are sums of one */
        int64_t k;
};

static int parse(fst_task *task, fst_bytes line, fst_out *out)
{
        double p[D] = {0};
        char text[200], more;
        snprintf(text, sizeof(text), "%.*s", (int)line.len, line.data);
        int n = sscanf(text, "%lf %lf %lf %lf %c", &p[0], &p[1], &p[2], &p[3], &more);
        if (n < 1 || n > D || line.len >= sizeof(text))
                return fst_fail(task, "\"%s\" is not up to %d numbers", text, D);
        fst_emit(out, (const void *)p);
        return 0;
}

static double distance(const double *a, const double *b)
{
        double sum = 0;
        for (int d = 0; d < D; d++)
                sum += (a[d] - b[d]) * (a[d] - b[d]);
        return sum;
}

static int take(fst_task *task, void *sums, const void *point)
{
        const struct clouds *centres = fst_captured(task);
        struct clouds *a = sums;
        int64_t best = 0;
        for (int64_t i = 1; i < centres->k; i++)
                best = distance(point, centres->x[i]) < distance(point, centres->x[best]) ? i : best;
        a->n[best]++;
        for (int d = 0; d < D; d++)
                a->x[best][d] += ((const double *)point)[d];
        return 0;
}

static int add(fst_task *task, void *into, const void *from)
{
        double *a = into; /* k stays 0 in sums */
        for (size_t i = 0; i < (D + 1) * MOST; i++)
                a[i] += ((const double *)from)[i];
        return 0;
}

int main(int argc, char **argv)
{
        int64_t k = argc == 4 ? atoi(argv[2]) : 0;
        if (k < 1 || k > MOST)
                return fprintf(stderr, "usage: kmeans FILE K CONVERGE_DISTANCE, K from 1 to %d\n", MOST), 2;
        fst_context *sc = fst_context_new("KMeans");
        fst_rdd *points = fst_cache(fst_map(fst_text_file(sc, argv[1]), parse, FST_FIXED(D * sizeof(double))));
        struct clouds centres = {0}, none = {0}, sums;
        const void *point;
        fst_iter *rows;
        int status = fst_take_sample(points, false, k, 42, &rows);
        while (status == 0 && fst_next(rows, &point))
                memcpy(centres.x[centres.k++], point, sizeof(centres.x[0]));
        for (double moved = INFINITY; status == 0 && moved > atof(argv[3]);) {
                status = fst_aggregate(points, &none, FST_WITH(take, centres), add, &sums);
                moved = 0;
                for (int64_t i = 0; status == 0 && i < centres.k; i++) {
                        for (int d = 0; d < D; d++)
                                sums.x[i][d] = sums.n[i] > 0 ? sums.x[i][d] / sums.n[i] : centres.x[i][d];
                        moved += distance(sums.x[i], centres.x[i]);
                        memcpy(centres.x[i], sums.x[i], sizeof(centres.x[i]));
                }
                if (status == 0)
                        printf("Finished iteration (delta = %.15g)\n", moved);
        }
        if (status == 0)
                puts("Final centers:");
        for (int64_t i = 0; status == 0 && i < centres.k; i++)
                for (int d = 0; d < D; d++)
                        printf("%.15g%c", centres.x[i][d], d < D - 1 ? ' ' : '\n');
        return fst_context_stop(sc);
}
