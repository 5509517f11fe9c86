/*
 * Prints the warmest stations of measurements like "Hamburg;12.3".   spark-submit stations.c IN LOW HIGH
 *
 * Ignores measurements outside LOW … HIGH. Shows captured values, structs as values, persist, sort_by and take.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

struct limits {
        double low, high;
};

struct summary {
        double min, max, sum;
        int64_t count;
};

static int parse(fst_task *task, fst_bytes line, fst_out *out)
{
        char number[32];
        fst_bytes station, value;
        fst_split fields = fst_split_of(line, ';');
        if (!fst_split_next(&fields, &station) || !fst_split_next(&fields, &value))
                return fst_fail(task, "\"%.*s\" is not STATION;DEGREES", (int)line.len, line.data);
        snprintf(number, sizeof(number), "%.*s", (int)value.len, value.data); /* bytes do not end in a NUL */
        fst_emit(out, station, atof(number));
        return 0;
}

static bool within(fst_task *task, fst_bytes station, double degrees)
{
        const struct limits *limits = fst_captured(task);
        return degrees >= limits->low && degrees <= limits->high;
}

static int summarize(fst_task *task, fst_bytes station, double degrees, fst_out *out)
{
        struct summary s = {degrees, degrees, degrees, 1};
        fst_emit(out, station, &s);
        return 0;
}

static int merge(fst_task *task, void *into, const void *from)
{
        struct summary *a = into;
        const struct summary *b = from;
        a->min = b->min < a->min ? b->min : a->min;
        a->max = b->max > a->max ? b->max : a->max;
        a->sum += b->sum;
        a->count += b->count;
        return 0;
}

static double mean(fst_task *task, fst_bytes station, const void *value)
{
        const struct summary *s = value;
        return s->sum / (double)s->count;
}

int main(int argc, char **argv)
{
        if (argc != 4) {
                fprintf(stderr, "usage: stations IN LOW HIGH\n");
                return 2;
        }
        fst_context *sc = fst_context_new("stations");
        struct limits limits = {atof(argv[2]), atof(argv[3])};
        fst_type summary = FST_PAIR(BYTES, FIXED(sizeof(struct summary)));
        fst_rdd *lines = fst_map(fst_text_file(sc, argv[1]), parse, FST_PAIR(BYTES, F64));
        fst_rdd *good = fst_cache(fst_filter(lines, FST_WITH(within, limits)));
        fst_rdd *stations = fst_reduce_by_key(fst_map(good, summarize, summary), merge);
        fst_iter *warmest;
        fst_bytes name;
        const void *value;
        int64_t count;

        if (fst_count(good, &count) == 0)
                printf("%" PRId64 " measurements\n", count);
        if (fst_take(fst_sort_by(stations, mean, FST_F64, FST_DESCENDING), 3, &warmest) == 0)
                while (fst_next(warmest, &name, &value)) {
                        const struct summary *s = value;
                        printf("%.*s: %.1f to %.1f, on average %.2f\n", (int)name.len, name.data, s->min, s->max,
                               s->sum / (double)s->count);
                }
        return fst_context_stop(sc);
}
