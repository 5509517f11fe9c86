/*
 * Any file in splits of any size: they cover it without gap or overlap, and the records of all splits are those of the
 * whole file. The input: the sizes of a record, of a split (3 bytes) and of a read, and the file.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/binary_records.h"
#include "io/fs/file_system.h"
#include "fuzz/memory_file.h"

#include <string.h>

static char *path;

static void check_cover(const struct input_splits *splits, uint64_t size)
{
        uint64_t at = 0;
        for (size_t i = 0; i < splits->len; i++) {
                if (splits->data[i].start != at || (splits->data[i].length == 0 && size > 0))
                        abort();
                at += splits->data[i].length;
        }
        if (at != size || splits->len == 0)
                abort();
}

/* The records of all splits, or the error. */
static int read_records(uint32_t record, uint64_t block, uint32_t max, struct buf *out)
{
        struct input_options options = INPUT_OPTIONS_INIT;
        struct input_splits splits = INPUT_SPLITS_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        options.block_size = block;
        int r = binary_records_plan(path, record, &options, &splits, &error);
        struct binary_records *reader = binary_records_new(record);
        for (size_t i = 0; r == 0 && i < splits.len; i++) {
                const char *records;
                uint32_t n = 1;
                r = binary_records_open(reader, &splits.data[i], &error);
                while (r == 0 && n > 0) {
                        r = binary_records_next(reader, max, &records, &n, &error);
                        if (r == 0 && n > max)
                                abort();
                        if (r == 0)
                                buf_append(out, records, (size_t)n * record);
                }
                binary_records_close(reader);
        }
        if (r < 0 && !*error_message(&error))
                abort();
        binary_records_free(reader);
        input_splits_deinit(&splits);
        return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 5)
                return 0;
        uint32_t record = 1 + data[0];
        uint64_t block = 1 + data[1] + ((uint64_t)data[2] << 8) + ((uint64_t)data[3] << 16), len = size - 5;
        path = memory_file("", data + 5, len);
        struct input_splits splits = INPUT_SPLITS_INIT;
        struct file_status status = {.path = path, .size = len};
        if (input_splits_cut(&splits, &status, CODEC_NONE, block, false, NULL) < 0)
                abort();
        check_cover(&splits, len);
        input_splits_deinit(&splits);

        struct buf pieces = BUF_INIT;
        int r = read_records(record, block, 1 + data[4], &pieces);
        if (r == 0 && (pieces.len != len || (len && memcmp(pieces.data, data + 5, len) != 0)))
                abort();
        buf_deinit(&pieces);
        return 0;
}
