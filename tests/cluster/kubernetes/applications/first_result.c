/* Prints its result without buffering.   first_result */
#include <firesteel/firesteel.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("first-result");
        int64_t n = 0;
        if (fst_count(fst_range_n(sc, 0, 1000, 2), &n) == 0)
                printf("The count is %" PRId64 "\n", n);
        fflush(stdout);
        return fst_context_stop(sc);
}
