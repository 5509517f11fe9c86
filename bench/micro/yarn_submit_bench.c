/*
 * How fast one process submits applications through firesteel/submit.h:
 *
 *      yarn_submit_bench N WORD …              the words of a spark-submit command line
 *
 * Prints "N submitted in SECONDS s", when the ResourceManager has received all of them (their ids are known), and "N
 * accepted in SECONDS s", both from the start. Ends with 1 if one fails.
 */
#include <firesteel/submit.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct progress {
        int submitted, accepted, failed;
};

static double seconds_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
        struct rusage u;
        getrusage(RUSAGE_SELF, &u);
        return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void on_change(void *context, fst_submission *app, int event)
{
        struct progress *p = context;
        const int state = fst_submit_state(app);
        if (event == FST_SUBMIT_INFO_CHANGED) {
                p->submitted++;
                return;
        }
        const int failed = fst_submit_is_final(state) && state != FST_SUBMIT_FINISHED;
        char text[1000];
        if (failed && p->failed++ == 0 && fst_submit_error(app, text, sizeof(text)) > 0)
                fprintf(stderr, "%s\n", text);
        p->accepted += state == FST_SUBMIT_SUBMITTED;
}

int main(int argc, char **argv)
{
        const int n = argc > 2 ? atoi(argv[1]) : 0;
        const double start = seconds_now();
        double submitted = 0, cpu = 0;
        struct progress p = {0};
        fst_submitter *s;
        if (n <= 0 || fst_submit_open(&s) < 0) {
                fprintf(stderr, "usage: yarn_submit_bench N WORD ...\n");
                return 2;
        }
        for (int i = 0; i < n && p.failed == 0; i++) {
                fst_submission *app;
                p.failed += fst_submit_parse(s, (size_t)argc - 2, (const char *const *)argv + 2, &app) < 0;
                fst_submit_set_watch(app, 0);
                fst_submit_on_change(app, on_change, &p);
                p.failed += fst_submit_start(app) < 0;
        }
        while (p.failed == 0 && p.accepted < n) {
                fst_submit_dispatch(s, -1);
                if (p.submitted == n && submitted == 0) {
                        submitted = seconds_now() - start;
                        cpu = cpu_seconds();
                }
        }
        const double accepted = seconds_now() - start;
        fst_submit_close(s);
        if (p.failed == 0)
                printf("%d submitted in %.3f s\n%d accepted in %.3f s\nCPU time of each: %.3f ms, %.3f ms until it is "
                       "submitted\n",
                       n, submitted, n, accepted, cpu_seconds() / n * 1000, cpu / n * 1000);
        return p.failed != 0;
}
