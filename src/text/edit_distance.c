/*
 * See edit_distance.h. Optimal string alignment, by rows of a table of which only the diagonal band within the limit is
 * computed. A row without a value within the limit ends the search.
 */
#include "text/edit_distance.h"

#include "base/mem.h"

#define MAX_LENGTH 255

struct distance_rows {
        int rows[3][MAX_LENGTH + 2];
        int *before, *last, *now;
};

/* Computes row @i of the band, from column @from to @to, and returns its least value. */
static int distance_row_fill(const struct distance_rows *r, const char *a, const char *b, size_t i, size_t from,
                             size_t to, int beyond)
{
        int least = r->now[from - 1] = from == 1 ? (int)i : beyond;
        for (size_t j = from; j <= to; j++) {
                int best = r->last[j - 1] + (a[i - 1] != b[j - 1]);
                best = MIN(best, r->last[j] + 1);
                best = MIN(best, r->now[j - 1] + 1);
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                        best = MIN(best, r->before[j - 2] + 1);
                r->now[j] = best;
                least = MIN(least, best);
        }
        r->now[to + 1] = beyond;
        return least;
}

int edit_distance(const char *a, size_t a_len, const char *b, size_t b_len, int limit)
{
        const size_t width = (size_t)limit;
        const int beyond = limit + 1;
        struct distance_rows r;
        if (a_len > MAX_LENGTH || b_len > MAX_LENGTH || a_len > b_len + width || b_len > a_len + width)
                return beyond;
        r.before = r.rows[0];
        r.last = r.rows[1];
        r.now = r.rows[2];
        for (size_t j = 0; j <= MIN(width + 1, b_len); j++)
                r.last[j] = (int)j;
        for (size_t i = 1; i <= a_len; i++) {
                size_t from = i > width ? i - width : 1, to = MIN(i + width, b_len);
                if (distance_row_fill(&r, a, b, i, from, to, beyond) > limit)
                        return beyond;
                int *oldest = r.before;
                r.before = r.last;
                r.last = r.now;
                r.now = oldest;
        }
        return MIN(r.last[b_len], beyond);
}

int edit_distance_limit(size_t len)
{
        return len < 4 ? 0 : len < 14 ? 1 : 2;
}
