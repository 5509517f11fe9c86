/*
 * Estimates pi with DARTS random points.   spark-submit darts.c DARTS SLICES
 *
 * As examples/spark_pi.c, but with separate numbers of points and tasks, so that it measures the computation.
 * empty_tasks measures the cost of tasks.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

static int64_t dart(fst_task *task, int64_t i)
{
        double x, y;
        fst_random_point(task, &x, &y);
        return x * x + y * y <= 1;
}

int main(int argc, char **argv)
{
        if (argc != 3) {
                fprintf(stderr, "usage: darts DARTS SLICES\n");
                return 2;
        }
        fst_context *sc = fst_context_new("darts");
        int64_t n = atoll(argv[1]), inside;

        if (fst_reduce(fst_map(fst_range_n(sc, 0, n, atoi(argv[2])), dart, FST_I64), fst_fn_sum, &inside) == 0)
                printf("Pi is roughly %.6f\n", 4.0 * (double)inside / (double)n);
        return fst_context_stop(sc);
}
