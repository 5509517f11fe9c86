/* The data that a Mesos agent hands to `firesteel mesos-executor`. What is accepted is written again as it was read. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "mesos/tasks/executor_data.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_conf conf, again;
        struct buf out = BUF_INIT;
        const char *url, *second;

        conf_init(&conf);
        conf_init(&again);
        if (executor_data_read(data, size, &url, &conf, NULL) == 0) {
                executor_data_write(&out, url, &conf);
                if (executor_data_read((const uint8_t *)out.data, out.len, &second, &again, NULL) ||
                    strcmp(url, second) != 0)
                        abort();
        }
        buf_deinit(&out);
        conf_deinit(&conf);
        conf_deinit(&again);
        return 0;
}
