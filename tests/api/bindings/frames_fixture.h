/* Helpers for tests of frames: files of frames, and rows of frames as text. */
#pragma once

#include "base/mem.h"
#include "api/pair_fixture.h"

#include <firesteel/frames.h>

#include <endian.h>

/* Writes a file of the frames in @texts: one for each comma-separated part, null for "-". The caller frees the path. */
static inline char *frames_write(const char *dir, const char *texts)
{
        char *path = NULL;
        assert_true(asprintf(&path, "%s/frames-XXXXXX", dir) > 0);
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        FILE *file = fdopen(fd, "w");
        for (const char *at = texts; *at;) {
                size_t len = strcspn(at, ",");
                uint32_t length = htobe32(len == 1 && *at == '-' ? (uint32_t)-5 : (uint32_t)len);
                fwrite(&length, 4, 1, file);
                if (!(len == 1 && *at == '-'))
                        fwrite(at, 1, len, file);
                at += len + (at[len] == ',');
        }
        assert_int_equal(fclose(file), 0);
        return path;
}

/* The RDD of such a file, which is removed. */
static inline fst_rdd *frames_of_texts(fst_context *sc, const char *texts, int slices)
{
        char *path = frames_write("/tmp", texts);
        fst_rdd *rdd = fst_frames_from_file(sc, path, slices);
        unlink(path);
        free(path);
        return rdd;
}

/* Prints the frames of a row to @file: "[a]" or "-", one after another. */
static inline void frames_print_row(FILE *file, fst_bytes row)
{
        while (row.len) {
                uint32_t length;
                assert_true(row.len >= 4);
                memcpy(&length, row.data, 4);
                length = be32toh(length);
                row.data += 4, row.len -= 4;
                if (length == (uint32_t)-5) {
                        fputc('-', file);
                        continue;
                }
                assert_true(length <= row.len);
                fprintf(file, "[%.*s]", (int)length, row.data);
                row.data += length, row.len -= length;
        }
}

/* The collected rows, with a space behind each. The caller frees the text. */
static inline char *frames_text(fst_rdd *rdd)
{
        char *text = NULL;
        size_t size;
        fst_iter *rows;
        fst_bytes row;
        assert_int_equal(fst_collect(rdd, &rows), 0);
        FILE *file = open_memstream(&text, &size);
        while (fst_next(rows, &row)) {
                frames_print_row(file, row);
                fputc(' ', file);
        }
        fclose(file);
        return text;
}

#define EXPECT_FRAMES(rdd, wanted)                                                                                     \
        do {                                                                                                           \
                char *text_ = frames_text(rdd);                                                                        \
                assert_string_equal(text_, wanted);                                                                    \
                free(text_);                                                                                           \
        } while (0)
