/*
 * The plane that parts two clouds of points, by gradient descent.    spark-submit logistic_regression.c [SLICES]
 *
 * Spark's SparkLR: the same 10,000 points of ten dimensions, five rounds over what is cached.
 */
#include <firesteel/firesteel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10000, D = 10, ROUNDS = 5 };

struct vector {
        double x[D];
};
struct point {
        double x[D], y;
};

/* java.util.Random's nextDouble, whose generator is that of jrand48. */
static double uniform(unsigned short *state)
{
        int64_t high = (uint32_t)jrand48(state) >> 6, low = (uint32_t)jrand48(state) >> 5;
        return (double)(high << 27 | low) * 0x1p-53;
}

static void make_points(unsigned short *state, struct point *points)
{
        double a, b, s;
        for (int i = 0; i < N; i++)
                for (int d = (points[i].y = i % 2 ? 1 : -1, 0); d < D; d += 2) { /* normal numbers come in twos */
                        do {
                                a = 2 * uniform(state) - 1, b = 2 * uniform(state) - 1, s = a * a + b * b;
                        } while (s >= 1 || s == 0);
                        points[i].x[d] = a * sqrt(-2 * log(s) / s) + points[i].y * 0.7;
                        points[i].x[d + 1] = b * sqrt(-2 * log(s) / s) + points[i].y * 0.7;
                }
}

static int gradient(fst_task *task, const void *row, fst_out *out)
{
        const struct vector *w = fst_captured(task);
        const struct point *p = row;
        struct vector g;
        double dot = 0;
        for (int d = 0; d < D; d++)
                dot += w->x[d] * p->x[d];
        for (int d = 0; d < D; d++)
                g.x[d] = p->x[d] * (1 / (1 + exp(-p->y * dot)) - 1) * p->y;
        fst_emit(out, &g);
        return 0;
}

static int add(fst_task *task, void *into, const void *from)
{
        for (int d = 0; d < D; d++)
                ((struct vector *)into)->x[d] += ((const struct vector *)from)->x[d];
        return 0;
}

static void print(const char *name, const struct vector *w)
{
        for (int d = 0; d < D; d++)
                printf("%s%.15g%s", d ? ", " : name, w->x[d], d < D - 1 ? "" : ")\n");
}

int main(int argc, char **argv)
{
        static struct point points[N];
        unsigned short state[] = {0xe66d ^ 42, 0xdeec, 0x5};
        struct vector w, sum;
        fst_context *sc = fst_context_new("LogisticRegression");
        make_points(state, points);
        for (int d = 0; d < D; d++)
                w.x[d] = 2 * uniform(state) - 1;
        fst_rdd *rows = fst_cache(fst_parallelize_n(sc, points, N, argc > 1 ? atoi(argv[1]) : 2));
        print("Initial w: DenseVector(", &w);
        for (int i = 1; i <= ROUNDS; i++) {
                printf("On iteration %d\n", i);
                if (fst_reduce(fst_map(rows, FST_WITH(gradient, w), FST_FIXED(sizeof(struct vector))), add, &sum))
                        return fst_context_stop(sc);
                for (int d = 0; d < D; d++)
                        w.x[d] -= sum.x[d];
        }
        print("Final w: DenseVector(", &w);
        return fst_context_stop(sc);
}
