/* Replies of an S3 store: every operation ends with a result or a message, and listings have only names below the path.
 */
#include "io/fs/remote_fs_internal.h"
#include "remote_files.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size && data[0] >= 128)
                read_listing(data + 1, size - 1);
        else
                remote_files_fuzz("s3a://bucket/data", "s3a://bucket/data/part-0", data, size);
        return 0;
}
