/*
 * Any bytes are a Java object file, or an error that names the file, and written rows are read back from each split.
 * The first byte chooses the split.
 */
#include "base/error.h"
#include "base/mem.h"
#include "io/java_object_file.h"
#include "fuzz/memory_file.h"

#include <endian.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_file(struct java_object_reader *r, const char *path, uint64_t start, uint64_t length, uint64_t *rows,
                     uint64_t *bytes, struct fst_error *error)
{
        struct input_split split = {.path = path, .start = start, .length = length};
        fst_batch batch = {0};
        int e = java_object_reader_open(r, &split, error);
        while (e == 0 && (e = java_object_reader_next(r, &batch, error)) == 0 && batch.rows > 0) {
                *rows += batch.rows;
                for (uint32_t i = 0; i < batch.rows; i++) {
                        uint32_t len;
                        if (batch.key.bytes[i].len < sizeof(len))
                                abort();
                        memcpy(&len, batch.key.bytes[i].data, sizeof(len));
                        if (be32toh(len) != (uint32_t)-5 && be32toh(len) != batch.key.bytes[i].len - sizeof(len))
                                abort();
                        *bytes += batch.key.bytes[i].len;
                }
        }
        java_object_reader_close(r);
        return e;
}

/* Writes pieces of the input as frames, and reads them as a whole and in two parts. */
static void there_and_back(struct java_object_reader *r, const char *path, const uint8_t *data, size_t size)
{
        struct java_object_writer *w = java_object_writer_new();
        uint64_t written = 0, sent = 0, whole = 0, parts = 0, bytes[2] = {0};
        char frame[4 + 300];
        if (java_object_writer_open(w, path, NULL) < 0)
                abort();
        for (size_t at = 0; at < size; at += data[at] + 1u, written++) {
                uint32_t len = (uint32_t)MIN(size - at, data[at] + 1u), length = htobe32(len);
                bool null = data[at] % 5 == 0;
                if (null)
                        length = htobe32((uint32_t)-5);
                memcpy(frame, &length, 4);
                memcpy(frame + 4, data + at, len);
                fst_bytes row = {frame, null ? 4 : len + 4};
                fst_batch batch = {.type = FST_BYTES, .rows = 1, .key.bytes = &row};
                if (java_object_writer_write(w, &batch, NULL) < 0)
                        abort();
                sent += row.len;
        }
        if (java_object_writer_close(w, NULL) < 0)
                abort();
        uint64_t all = java_object_writer_bytes(w), third = all / 3;
        if (read_file(r, path, 0, all, &whole, &bytes[0], NULL) < 0 ||
            read_file(r, path, 0, third, &parts, &bytes[1], NULL) < 0 ||
            read_file(r, path, third, all - third, &parts, &bytes[1], NULL) < 0 || whole != written ||
            parts != written || bytes[0] != sent || bytes[1] != sent)
                abort();
        java_object_writer_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct java_object_reader *r;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        uint64_t rows = 0, bytes = 0;

        if (size < 1)
                return 0;
        if (!r)
                r = java_object_reader_new();
        const char *path = memory_file("file:", data + 1, size - 1);
        uint64_t start = data[0] & 1 ? size / 3 : 0;
        int e = read_file(r, path, start, size - start, &rows, &bytes, &error);
        if (e < 0 && !strstr(error_message(&error), path))
                abort();
        if (data[0] & 2)
                there_and_back(r, path, data + 1, size - 1);
        return 0;
}
