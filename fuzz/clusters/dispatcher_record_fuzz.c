/*
 * Records of a dispatcher of arbitrary bytes: the first byte is the kind. An accepted driver has a command, and the
 * record that is stored of it is accepted again. The bytes are also shown as the update of a task.
 */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "mesos/dispatcher/dispatcher_record.h"
#include "mesos/dispatcher/driver_command.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/driver_task.h"
#include "mesos/dispatcher/status_text.h"
#include "rest/rest_request.h"

#include <stdlib.h>

static const struct dispatcher_config config = {.max_drivers = 1, .retained_drivers = 1, .max_retry_wait = 1000};

static void check_again(const struct dispatcher *d, const struct mesos_driver *driver)
{
        struct dispatcher again;
        size_t size;
        void *data = dispatcher_record_pack(d, driver, &size);
        struct persistence_record record = {.kind = MASTER_RECORD_DRIVER, .id = "again", .data = data, .size = size};
        dispatcher_init(&again, &config);
        if (dispatcher_records_read(&again, &record, 1, 0) != 0 || !dispatcher_driver(&again, "again"))
                abort();
        dispatcher_deinit(&again);
        free(data);
}

static void check_task(const struct mesos_driver *driver)
{
        struct rest_request request;
        struct fst_conf conf = {0};
        struct driver_task task;
        struct driver_command command = {
                .request = &request, .conf = &conf, .master = "h:1", .home = "/h", .framework_id = "f", .task_id = "t"};
        if (driver_description_unpack(&request, driver->body, driver->body_size, NULL) < 0)
                abort();
        struct dispatcher_launch launch = {.driver = driver};
        if (driver_task_init(&task, &command, &launch, "a", NULL) == 0) {
                if (!protobuf_c_message_check(&task.info->base))
                        abort();
                driver_task_deinit(&task);
        }
        rest_request_deinit(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct dispatcher d;
        if (size == 0)
                return 0;
        log_set_level(LOG_OFF);
        struct persistence_record record = {.kind = data[0] % 2 ? MASTER_RECORD_FRAMEWORK : MASTER_RECORD_DRIVER,
                                            .id = "id",
                                            .data = data + 1,
                                            .size = size - 1};
        dispatcher_init(&d, &config);
        int left_out = dispatcher_records_read(&d, &record, 1, 0);
        const struct mesos_driver *driver = dispatcher_driver(&d, "id");
        if (left_out + (driver != NULL) + (d.framework_id != NULL) != 1)
                abort();
        if (driver) {
                check_again(&d, driver);
                check_task(driver);
        }
        dispatcher_deinit(&d);
        free(status_text_of(data + 1, size - 1));
        return 0;
}
