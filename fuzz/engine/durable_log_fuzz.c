/* Durable logs: names of pieces are parsed, a walk over their ranges ends, and any line is redacted without its secret. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/redact.h"
#include "logs/log_pieces.h"
#include "logs/log_redact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef VEC(struct piece_range) piece_ranges;

static void durable_log_parse(const char *line, size_t n, piece_ranges *ranges)
{
        _cleanup_free_ char *name = mem_strndup(line, n);
        struct piece_range range;
        size_t output_len;
        if (!log_piece_parse(name, &output_len, &range))
                return;
        if (output_len >= strlen(name) || range.end <= range.start)
                abort();
        vec_push(ranges, range);
}

/* Each step reaches a later byte. */
static void durable_log_walk(const piece_ranges *ranges)
{
        uint64_t at = 0;
        for (size_t steps = 0;; steps++) {
                const size_t i = log_pieces_find(ranges->data, ranges->len, at);
                if (i == ranges->len)
                        return;
                if (ranges->data[i].end <= at || steps > ranges->len)
                        abort();
                at = ranges->data[i].end;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct redactor redactor;
        piece_ranges ranges = {0};
        redactor_init_lenient(&redactor, NULL);
        for (size_t at = 0; at < size;) {
                const char *line = (const char *)data + at;
                const char *newline = memchr(line, '\n', size - at);
                const size_t n = newline ? (size_t)(newline - line) + 1 : size - at;
                _cleanup_(buf_deinit) struct buf shown = BUF_INIT;
                log_redact_line(&redactor, line, n, &shown);
                durable_log_parse(line, newline ? n - 1 : n, &ranges);
                at += n;
        }
        durable_log_walk(&ranges);
        vec_deinit(&ranges);
        redactor_deinit(&redactor);
        return 0;
}
