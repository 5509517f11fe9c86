/*
 * Any bytes are a text file: with any splits, buffer and batch size, the lines of all splits are those of the whole
 * file. The first four bytes choose buffer, batch and two split points.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/text_reader.h"
#include "fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path;

static void read_split(struct text_reader *r, uint64_t start, uint64_t end, uint32_t max, struct buf *out)
{
        struct input_split split = {.path = path, .start = start, .length = end - start};
        fst_bytes lines[300];
        uint32_t n = 1;
        if (text_reader_open(r, &split, NULL) < 0)
                abort();
        while (n > 0) {
                if (text_reader_next(r, lines, max, &n, NULL, NULL, NULL) < 0)
                        abort();
                for (uint32_t i = 0; i < n; i++) {
                        buf_append(out, lines[i].data, lines[i].len);
                        buf_putc(out, '\n');
                }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(buf_deinit) struct buf whole = BUF_INIT, pieces = BUF_INIT;
        if (size < 4)
                return 0;
        uint32_t max = 1 + data[1];
        size_t buffer = 64 + data[0];
        uint64_t len = size - 4, first = data[2] * len / 256, second = first + data[3] * (len - first) / 256;
        path = memory_file("file:", data + 4, len);

        struct text_reader *large = text_reader_new(0), *small = text_reader_new(buffer);
        read_split(large, 0, len, 300, &whole);
        read_split(small, 0, first, max, &pieces);
        if (second > first)
                read_split(small, first, second, max, &pieces);
        if (len > second && second > 0)
                read_split(small, second, len, max, &pieces);
        text_reader_free(large);
        text_reader_free(small);
        /* An empty first split would also return the line at 0, but plans never have one. */
        if (first > 0 && (whole.len != pieces.len || memcmp(buf_text(&whole), buf_text(&pieces), whole.len) != 0))
                abort();
        return 0;
}
