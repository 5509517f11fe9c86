/*
 * Any bytes are an object file, or an error that names the file, and written rows are read back. The first byte chooses
 * the expected type and the split.
 */
#include "base/error.h"
#include "base/mem.h"
#include "fuzz/memory_file.h"
#include "rdd/object_file.h"

#include <firesteel/struct.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct named_row {
        fst_bytes name;
        int64_t number;
};
FST_FIELDS(named_row, name, number);

static int read_file(struct object_reader *r, const char *path, uint64_t start, uint64_t length, fst_type type,
                     uint64_t *rows, struct fst_error *error)
{
        struct input_split split = {.path = path, .start = start, .length = length};
        fst_batch batch = {0};
        const void *stable = NULL;
        size_t stable_size = 0;
        int e = object_reader_open(r, &split, type, error);
        while (e == 0 && (e = object_reader_next(r, &batch, &stable, &stable_size, error)) == 0 && batch.rows > 0) {
                *rows += batch.rows;
                for (uint32_t i = 0; type.key == FST_KIND_BYTES && i < batch.rows; i++)
                        if (batch.key.bytes[i].len > stable_size)
                                abort();
        }
        object_reader_close(r);
        return e;
}

/* Writes the input's lines to a file of BYTES, and reads it as a whole and in two halves. */
static void there_and_back(struct object_reader *r, const char *path, const uint8_t *data, size_t size)
{
        struct object_writer *w = object_writer_new();
        uint64_t written = 0, whole = 0, halves = 0;
        if (object_writer_open(w, path, FST_BYTES, NULL) < 0)
                abort();
        for (size_t at = 0; at < size; at += data[at] % 64 + 1u, written++) {
                fst_bytes line = {(const char *)data + at, MIN(size - at, data[at] % 64 + 1u)};
                fst_batch batch = {.type = FST_BYTES, .rows = 1, .key.bytes = &line};
                if (object_writer_write(w, &batch, NULL) < 0)
                        abort();
        }
        if (object_writer_close(w, NULL) < 0)
                abort();
        uint64_t all = object_writer_bytes(w), half = all / 2;
        if (read_file(r, path, 0, all, FST_BYTES, &whole, NULL) < 0 ||
            read_file(r, path, 0, half, FST_BYTES, &halves, NULL) < 0 ||
            read_file(r, path, half, all - half, FST_BYTES, &halves, NULL) < 0 || whole != written || halves != written)
                abort();
        object_writer_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const fst_type types[] = {
                {.key = FST_KIND_BYTES},
                {.key = FST_KIND_I64, .key_size = 8},
                {.key = FST_KIND_I64, .key_size = 8, .value = FST_KIND_BYTES},
                {.key = FST_KIND_FIXED, .key_size = 4, .value = FST_KIND_F64, .value_size = 8}};
        static struct object_reader *r;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        uint64_t rows = 0;

        if (size < 1)
                return 0;
        if (!r)
                r = object_reader_new();
        const char *path = memory_file("file:", data + 1, size - 1);
        object_file_check(path, FST_STRUCT(named_row), NULL);
        uint64_t start = data[0] & 4 ? size / 3 : 0;
        int e = read_file(r, path, start, size - start, types[data[0] % 4], &rows, &error);
        if (e < 0 && !strstr(error_message(&error), path))
                abort();
        if (data[0] & 8)
                there_and_back(r, path, data + 1, size - 1);
        return 0;
}
