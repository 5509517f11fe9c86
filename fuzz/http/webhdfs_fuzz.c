/* Replies of a namenode and datanodes: every operation ends with a result or a message. */
#include "fuzz/remote_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        remote_files_fuzz("hdfs://namenode/data", "hdfs://namenode/data/part-0", data, size);
        return 0;
}
