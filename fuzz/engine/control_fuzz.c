/* Messages of executors about themselves and their blocks. The first byte chooses the message. */
#include "base/error.h"
#include "driver/backend/block_master.h"
#include "driver/backend/executor_table.h"
#include "driver/resume/holdings.h"
#include "rpc/control.pb-c.h"
#include "store/block_name.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each output that an executor brings can be taken once. */
static void take_holdings(const Firesteel__Holdings *from)
{
        struct holdings h = {0};
        size_t n = 0, taken = 0;
        for (size_t i = 0; i < from->n_outputs; i++)
                for (size_t k = 0; k < from->outputs[i]->n_map_partitions && k < from->outputs[i]->n_task_ids; k++)
                        n += holdings_add_output(&h, from->outputs[i]->shuffle, from->outputs[i]->map_partitions[k],
                                                 from->outputs[i]->task_ids[k], (int)(i & 3));
        for (size_t i = 0; i < from->n_outputs; i++)
                for (size_t k = 0; k < from->outputs[i]->n_map_partitions && k < from->outputs[i]->n_task_ids; k++)
                        taken += holdings_take_output(&h, from->outputs[i]->shuffle, from->outputs[i]->map_partitions[k],
                                                      from->outputs[i]->task_ids[k]) >= 0;
        holdings_close(&h);
        if (taken != n || h.outputs.len != 0)
                abort();
        holdings_deinit(&h);
}

static void register_executors(const uint8_t *data, size_t size)
{
        struct executor_table table = {0};
        Firesteel__RegisterExecutor *r = firesteel__register_executor__unpack(NULL, size, data);
        for (int i = 0; r && i < 2; i++) {
                struct fst_error error = FST_ERROR_INIT;
                if (executor_table_check(&table, r, &error) == 0) {
                        if (i == 1)
                                abort(); /* a resource of that name exists */
                        executor_table_add(&table, r);
                }
                error_deinit(&error);
        }
        if (r && r->holdings)
                take_holdings(r->holdings);
        firesteel__register_executor__free_unpacked(r, NULL);
        executor_table_deinit(&table);
}

static void update_blocks(const uint8_t *data, size_t size)
{
        struct block_master *m = block_master_new();
        Firesteel__BlockUpdates *updates = firesteel__block_updates__unpack(NULL, size, data);
        block_master_add_executor(m, 0, "0", "a", 1);
        block_master_add_executor(m, 1, "1", "b", 2);
        for (size_t i = 0; updates && i < updates->n_updates; i++) {
                const Firesteel__BlockUpdate *u = updates->updates[i];
                struct block_location places[4];
                struct block_info info = {.level = (enum fst_storage_level)u->storage_level,
                                          .memory_bytes = u->memory_bytes,
                                          .disk_bytes = u->disk_bytes,
                                          .rows = u->rows};
                struct block_name name;
                if (!block_name_parse(u->name, &name))
                        continue;
                if (!block_master_update(m, (int)(i & 1), name, &info))
                        continue; /* unknown level */
                int n = block_master_locations(m, name, !(i & 1), places, 4, NULL);
                if ((n > 0) != (info.level != FST_STORAGE_NONE))
                        abort(); /* the reply does not contain the asking executor */
        }
        block_master_remove_executor(m, 0, NULL, NULL);
        block_master_free(m);
        firesteel__block_updates__free_unpacked(updates, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        if (data[0] & 1)
                update_blocks(data + 1, size - 1);
        else
                register_executors(data + 1, size - 1);
        return 0;
}
