/* Any file is a list of logs whose bytes are as many as their lengths say, or an error with a message. */
#include "yarn/application/aggregated_logs.h"

#include "base/error.h"
#include "io/fs/file_system.h"

#include <stdlib.h>
#include <string.h>

struct fuzzed_file {
        const uint8_t *data;
        uint64_t left; /* bytes of the log that have not come yet */
        size_t total;
};

static ssize_t fuzzed_read_at(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error)
{
        const struct fuzzed_file *f = file->state;
        if (offset >= file->size)
                return 0;
        if (size > file->size - offset)
                size = (size_t)(file->size - offset);
        memcpy(data, f->data + offset, size);
        return (ssize_t)size;
}

static bool fuzzed_begin(void *owner, const struct aggregated_log *log)
{
        struct fuzzed_file *f = owner;
        if (strncmp(log->container, "container_", 10) != 0 || strpbrk(log->name, "\n\033"))
                abort();
        f->left = log->length;
        return log->length % 2 == 0;
}

static int fuzzed_data(void *owner, const char *data, size_t n)
{
        struct fuzzed_file *f = owner;
        if (n == 0 || n > f->left)
                abort();
        f->left -= n;
        f->total += n;
        return f->total > 1 << 20 ? -EFBIG : 0; /* a small file can hold much */
}

static int fuzzed_end(void *owner)
{
        const struct fuzzed_file *f = owner;
        if (f->left)
                abort();
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct aggregated_logs_ops ops = {.begin = fuzzed_begin, .data = fuzzed_data, .end = fuzzed_end};
        const struct file_system fs = {.scheme = "file", .read_at = fuzzed_read_at};
        struct fuzzed_file f = {.data = data};
        struct open_file file = {.fs = &fs, .path = (char *)"file:/logs", .size = size, .fd = -1, .state = &f};
        struct fst_error error = FST_ERROR_INIT;
        const int r = aggregated_logs_read(&file, &ops, &f, &error);
        if (r > 0 || (r < 0 && r != -EFBIG && !error.message))
                abort();
        error_deinit(&error);
        return 0;
}
