/*
 * Finds the plane between two clouds of points by gradient descent.    spark-submit logistic_regression.c [SLICES]
 *
 * Spark's SparkLR: the same 10,000 points in ten dimensions; five iterations over the cached points.
 */
#include <firesteel/firesteel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10000, D = 10, ROUNDS = 5 };

struct point {
        double x[D], y;
};

/* Returns 2 × nextDouble() - 1 of java.util.Random, which has the generator of jrand48. */
static double uniform(unsigned short *state)
{
        int64_t high = (uint32_t)jrand48(state) >> 6, low = (uint32_t)jrand48(state) >> 5;
        return (double)(high << 27 | low) * 0x1p-52 - 1;
}

static int gradient(fst_task *task, void *sum, const void *row)
{
        const double *w = fst_captured(task);
        const struct point *p = row;
        double dot = 0, *g = sum;
        for (int d = 0; d < D; d++)
                dot += w[d] * p->x[d];
        for (int d = 0; d < D; d++)
                g[d] += p->x[d] * (1 / (1 + exp(-p->y * dot)) - 1) * p->y;
        return 0;
}

static void print(const char *name, const double *w)
{
        for (int d = 0; d < D; d++)
                printf("%s%.15g%s", d ? ", " : name, w[d], d < D - 1 ? "" : ")\n");
}

int main(int argc, char **argv)
{
        static struct point points[N];
        unsigned short state[] = {0xe66d ^ 42, 0xdeec, 0x5};
        double w[D], sum[D], zero[D] = {0}, a, b, s;
        int64_t n = D;
        fst_context *sc = fst_context_new("LogisticRegression");
        for (int i = 0; i < N * D; i += 2) { /* normal numbers are made in pairs */
                struct point *p = &points[i / D];
                p->y = i / D % 2 ? 1 : -1;
                do {
                        a = uniform(state), b = uniform(state), s = a * a + b * b;
                } while (s >= 1 || s == 0);
                p->x[i % D] = a * sqrt(-2 * log(s) / s) + p->y * 0.7;
                p->x[i % D + 1] = b * sqrt(-2 * log(s) / s) + p->y * 0.7;
        }
        fst_rdd *rows = fst_cache(fst_parallelize_n(sc, points, N, argc > 1 ? atoi(argv[1]) : 2));
        for (int d = 0; d < D; d++)
                w[d] = uniform(state);
        print("Initial w: DenseVector(", w);
        for (int round = 1; round <= ROUNDS; round++) {
                printf("On iteration %d\n", round);
                if (fst_aggregate(rows, &zero, FST_WITH(gradient, w), FST_WITH(fst_sum_vectors, n), &sum))
                        return fst_context_stop(sc);
                for (int d = 0; d < D; d++)
                        w[d] -= sum[d];
        }
        print("Final w: DenseVector(", w);
        return fst_context_stop(sc);
}
