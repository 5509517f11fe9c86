/* Replies of an S3 store: every operation ends with a result or a message, and listings have only names below the path.
 */
#include "base/string_list.h"
#include "io/fs/remote_fs_internal.h"
#include "fuzz/remote_files.h"

static void read_listing(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct file_list list = {0};
        char *next = NULL;
        int r = s3a_read_listing(size ? (const char *)data : "", size, "s3a://bucket/data", &list, &next, &error);
        if (r < 0 && !*error_message(&error))
                abort();
        for (size_t i = 0; i < list.len; i++)
                if (strncmp(list.data[i].path, "s3a://bucket/", strlen("s3a://bucket/")) != 0)
                        abort();
        file_list_deinit(&list);
        free(next);
}

static void read_uploads(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(string_list_deinit) struct string_list keys = {0}, ids = {0};
        int r = s3a_read_uploads(size ? (const char *)data : "", size, "s3a://bucket/data", &keys, &ids, &error);
        if ((r < 0 && !*error_message(&error)) || keys.len != ids.len)
                abort();
        for (size_t i = 0; i < keys.len; i++)
                if (!*keys.data[i] || !*ids.data[i])
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size && data[0] >= 192)
                read_uploads(data + 1, size - 1);
        else if (size && data[0] >= 128)
                read_listing(data + 1, size - 1);
        else
                remote_files_fuzz("s3a://bucket/data", "s3a://bucket/data/part-0", data, size);
        return 0;
}
