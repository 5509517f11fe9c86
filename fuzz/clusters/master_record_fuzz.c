/*
 * Records of arbitrary bytes: the first byte is the kind. A master can be elected with an accepted record, and the
 * record that it stores is accepted again.
 */
#include "standalone/recovery/master_record.h"

#include "base/log.h"
#include "standalone/core/master_state.h"

#include <stdlib.h>

static void check_again(enum master_record kind, const void *object)
{
        struct master_records again = MASTER_RECORDS_INIT;
        size_t size;
        void *data = master_record_pack(kind, object, &size);
        struct persistence_record record = {.kind = kind, .id = "again", .data = data, .size = size};
        if (master_records_read(&again, &record, 1) != 0)
                abort();
        master_records_deinit(&again);
        free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct persistence_record record = {.id = "id"};
        struct master_records r = MASTER_RECORDS_INIT;
        struct master_config config = MASTER_CONFIG_DEFAULT;
        if (size == 0)
                return 0;
        log_set_level(LOG_OFF);
        record.kind = (enum master_record)(data[0] % 3);
        record.data = data + 1;
        record.size = size - 1;
        int left_out = master_records_read(&r, &record, 1);
        if (left_out + (int)(r.apps.len + r.drivers.len + r.workers.len) != 1)
                abort();
        if (!left_out) {
                config.log_level = LOG_OFF;
                struct master *m = master_new(&config);
                m->status = MASTER_STANDBY;
                for (size_t i = 0; i < r.apps.len; i++)
                        check_again(MASTER_RECORD_APP, master_add_app(m, r.apps.data[i].id, &r.apps.data[i].spec,
                                                                      r.apps.data[i].submitted, 0, APP_UNKNOWN));
                for (size_t i = 0; i < r.drivers.len; i++)
                        check_again(MASTER_RECORD_DRIVER,
                                    master_add_driver(m, r.drivers.data[i].id, &r.drivers.data[i].spec,
                                                      r.drivers.data[i].submitted, false));
                if (r.workers.len > 0) {
                        master_add_worker(m, &r.workers.data[0], 0, WORKER_UNKNOWN);
                        check_again(MASTER_RECORD_WORKER, m->workers.first);
                }
                master_free(m);
        }
        master_records_deinit(&r);
        return 0;
}
