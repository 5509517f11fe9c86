/* Counts the lines of a file again and again for some seconds: rereads FILE SECONDS. Each time the driver lists the file
 * and an executor reads it, so both need valid credentials all the time. */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("rereads");
        const time_t end = time(NULL) + atoi(argv[2]);
        int64_t rounds = 0;
        int r = 0;
        for (; r == 0 && time(NULL) < end; rounds++) {
                int64_t lines = 0;
                r = fst_count(fst_text_file(sc, argv[1]), &lines);
                usleep(500000);
        }
        printf("read %lld times, status %d\n", (long long)rounds, r);
        const int status = fst_context_stop(sc);
        return r ? 1 : status;
}
