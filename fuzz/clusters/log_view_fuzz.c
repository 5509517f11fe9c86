/*
 * Ranges of an application's log files, some compressed: every range lies within the total, and no name leads out of
 * the work directory. The input: offset and length (8 bytes each), a byte with the number of names, names of 1 to 16
 * bytes, and the content of the files.
 */
#include "base/error.h"
#include "base/mem.h"
#include "standalone/pages/log_reader.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[TEMP_DIR_SIZE], directory[80];

static void remove_root(void)
{
        static const char *const files[] = {"stdout", "stdout--2026-11-22--05-41", "stdout--2026-11-22--05-42.gz"};
        char path[160];
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
                unlink(path);
        }
        snprintf(path, sizeof(path), "%s/out", directory);
        unlink(path);
        rmdir(directory);
        snprintf(path, sizeof(path), "%s/app", root);
        rmdir(path);
        snprintf(path, sizeof(path), "%s/stdout", root);
        unlink(path);
        rmdir(root);
}

static void write_file(const char *folder, const char *name, const void *data, size_t size)
{
        char path[160];
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, data, size) != (ssize_t)size)
                abort();
        close(fd);
}

static void make_root(void)
{
        char path[64];
        temp_dir_new(root);
        snprintf(path, sizeof(path), "%s/app", root);
        mkdir(path, 0700);
        snprintf(directory, sizeof(directory), "%s/0", path);
        mkdir(directory, 0700);
        write_file(root, "stdout", "SECRET", 6);
        atexit(remove_root);
}

static void check_range(const char *const *names, int n, const char *type, const int64_t *offset, int64_t bytes)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct log_range range = LOG_RANGE_INIT;
        int r = log_view_read(directory, names, n, type, offset, bytes, &range, &error);
        if (r == 0 && (range.start < 0 || range.end < range.start || range.end > range.total ||
                       range.end - range.start > MAX_LOG_VIEW || (int64_t)range.text.len > range.end - range.start))
                abort();
        if (r == 0 && n > 0 && memmem(range.text.data, range.text.len, "SECRET", 6))
                abort();
        log_range_deinit(&range);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        int64_t offset, bytes;
        const char *names[4];
        char copies[4][17];
        int n = 0;
        if (size < 17)
                return 0;
        if (!*root)
                make_root();
        memcpy(&offset, data, 8);
        memcpy(&bytes, data + 8, 8);
        size_t at = 17;
        for (int i = 0; i < data[16] % 4 && at < size; i++) {
                size_t len = MIN((size_t)1 + data[at] % 16, size - at - 1);
                snprintf(copies[n], sizeof(copies[n]), "%.*s", (int)len, (const char *)data + at + 1);
                names[n] = copies[n];
                n++;
                at += 1 + len;
        }
        size_t third = (size - at) / 3;
        write_file(directory, "stdout--2026-11-22--05-41", data + at, third);
        write_file(directory, "stdout--2026-11-22--05-42.gz", data + at + third, third);
        write_file(directory, "stdout", data + at + 2 * third, size - at - 2 * third);
        check_range(NULL, 0, "stdout", &offset, bytes);
        check_range(NULL, 0, "stdout", NULL, bytes);
        check_range(names, n, "stdout", &offset, bytes);
        if (n > 0)
                log_view_is_type(names[0]);
        return 0;
}
