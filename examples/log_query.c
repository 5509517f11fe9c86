/*
 * Counts the requests and bytes of each user and query.   spark-submit log_query.c [FILE]
 *
 * Spark's LogQuery: reads lines of an Apache access log; without FILE, two example lines. A line that has no user or
 * another format counts as (null,null,null). Lines are cut after 8 KB.
 */
#include <firesteel/firesteel.h>

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#define EXAMPLE(time, bytes)                                                                                           \
        "10.10.10.10 - \"FRED\" [18/Jan/2013:" time                                                                    \
        " +1100] \"GET http://images.com/2013/Generic.jpg HTTP/1.1\" 304 " bytes                                       \
        " \"http://referall.com/\" \"Mozilla/4.0 (compatible; MSIE 7.0)\" \"UD-1\" - \"image/jpeg\""

#define LINE "^([0-9.]+) ([^ ]+) ([^ ]+) \\[[^]]+\\] \"([^\"]+)\" [0-9]{3} ([0-9-]+) \"[^\"]+\" \"[^\"]+\""
#define PART(i) m[i].rm_eo - m[i].rm_so, text + m[i].rm_so

struct stats {
        int64_t bytes, n;
};

static int parse(fst_task *task, fst_iter *lines, fst_out *out)
{
        regex_t log;
        char text[8192], key[8192];
        if (regcomp(&log, LINE, REG_EXTENDED))
                return fst_fail(task, "no memory for a regular expression");
        for (fst_bytes line; fst_next(lines, &line);) {
                regmatch_t m[6];
                snprintf(text, sizeof(text), "%.*s", FST_TEXT(line)); /* regexec needs the NUL */
                bool fits = regexec(&log, text, 6, m, 0) == 0;
                struct stats stats = {fits ? atoll(text + m[5].rm_so) : 0, 1}; /* a quote ends the number */
                strcpy(key, "(null,null,null)");
                if (fits && strncmp(text + m[3].rm_so, "\"-\"", 3) != 0)
                        snprintf(key, sizeof(key), "(%.*s,%.*s,%.*s)", PART(1), PART(3), PART(4));
                fst_emit(out, key, &stats);
        }
        regfree(&log);
        return 0;
}

static int add(fst_task *task, void *into, const void *from)
{
        struct stats *sum = into;
        sum->bytes += ((const struct stats *)from)->bytes;
        sum->n += ((const struct stats *)from)->n;
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("Log Query");
        fst_bytes examples[] = {fst_bytes_of(EXAMPLE("17:56:07", "315")), fst_bytes_of(EXAMPLE("18:02:37", "306"))};
        fst_rdd *lines = argc > 1 ? fst_text_file(sc, argv[1]) : fst_parallelize(sc, examples, 2);
        fst_rdd *stats = fst_map_partitions(lines, parse, FST_PAIR(BYTES, FIXED(sizeof(struct stats))));
        fst_iter *rows;
        fst_bytes key;
        if (fst_collect(fst_reduce_by_key(stats, add), &rows) == 0)
                for (const struct stats *s; fst_next(rows, &key, &s);)
                        printf("%.*s\tbytes=%" PRId64 "\tn=%" PRId64 "\n", FST_TEXT(key), s->bytes, s->n);
        return fst_context_stop(sc);
}
