/* A job of one task: count a thousand numbers.   spark-submit one_task.c */
#include <firesteel/firesteel.h>

#include <stdio.h>

int main(void)
{
        fst_context *sc = fst_context_new("one task");
        int64_t count;

        if (fst_count(fst_range_n(sc, 0, 1000, 1), &count) == 0)
                printf("counted %lld\n", (long long)count);
        return fst_context_stop(sc);
}
