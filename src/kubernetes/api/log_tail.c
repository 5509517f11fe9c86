/* Keeps the end of a log. */
#include "kubernetes/api/log_tail.h"

#include <string.h>

static void log_tail_trim(struct log_tail *tail)
{
        size_t excess = tail->kept.len > tail->max_bytes ? tail->kept.len - tail->max_bytes : 0;
        if (!excess)
                return;
        memmove(tail->kept.data, tail->kept.data + excess, tail->max_bytes);
        buf_truncate(&tail->kept, tail->max_bytes);
}

void log_tail_append(struct log_tail *tail, const char *data, size_t n)
{
        if (n > tail->max_bytes) {
                data += n - tail->max_bytes;
                n = tail->max_bytes;
        }
        if (tail->kept.len + n > 2 * tail->max_bytes)
                log_tail_trim(tail);
        buf_append(&tail->kept, data, n);
}

const char *log_tail_text(struct log_tail *tail)
{
        size_t n;
        log_tail_trim(tail);
        for (n = tail->kept.len; n > 0 && tail->kept.data[n - 1] == '\n'; n--)
                ;
        buf_truncate(&tail->kept, n);
        return buf_text(&tail->kept);
}

void log_tail_deinit(struct log_tail *tail)
{
        buf_deinit(&tail->kept);
}
