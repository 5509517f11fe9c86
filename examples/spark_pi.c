/*
 * Pi, by throwing darts at a square: 100,000 for each slice.   spark-submit spark_pi.c [SLICES]
 *
 * The square is the unit square, the circle's quarter in it has the radius 1: pi / 4 of all darts hit it.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

/* One dart: 1 if it lands within the circle. */
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
