/*
 * Estimates pi with 100,000 random points per slice.   spark-submit spark_pi.c [SLICES]
 *
 * A random point of the unit square lies within the quarter circle of radius 1 with the probability pi / 4.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

/* One random point: returns 1 if it lies within the circle. */
static int64_t dart(fst_task *task, int64_t i)
{
        double x, y;
        fst_random_point(task, &x, &y);
        return x * x + y * y <= 1;
}

int main(int argc, char **argv)
{
        int slices = argc > 1 ? atoi(argv[1]) : 2;
        if (slices < 1) {
                fprintf(stderr, "usage: spark_pi [SLICES], at least 1\n");
                return 2;
        }
        fst_context *sc = fst_context_new("Spark Pi");
        int64_t n = 100000LL * slices, inside;

        if (fst_reduce(fst_map(fst_range_n(sc, 0, n, slices), dart, FST_I64), fst_fn_sum, &inside) == 0)
                printf("Pi is roughly %.6f\n", 4.0 * (double)inside / (double)n);
        return fst_context_stop(sc);
}
