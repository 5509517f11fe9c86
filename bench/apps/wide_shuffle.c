/* A shuffle of as many map tasks as reduce tasks, most blocks of which are empty; what it costs the driver. */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ROWS = 100 }; /* of each map task */

static int pair_with_one(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, 1);
        return 0;
}

static double time_seconds(struct timeval time)
{
        return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("wide_shuffle");
        int n = argc > 1 ? atoi(argv[1]) : 10000;
        fst_rdd *pairs = fst_flat_map(fst_range_n(sc, 0, (int64_t)n * ROWS, n), pair_with_one, FST_PAIR(I64, I64));
        int64_t count = 0;
        int status = fst_count(fst_reduce_by_key_n(pairs, fst_fn_sum, n), &count);
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        if (status == 0)
                printf("%" PRId64 " keys; the driver took %.2f s of CPU and %ld MB\n", count,
                       time_seconds(used.ru_utime) + time_seconds(used.ru_stime), used.ru_maxrss / 1024);
        return fst_context_stop(sc);
}
