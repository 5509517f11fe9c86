/*
 * A map output uploaded in parts of any size: it is stored if it is complete, or refused without a trace.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "fuzz/sink_steps.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "shuffle/shuffle_receiver.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"
#include "store/memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct spill_space space = {.shuffle_codec = CODEC_LZ4};
static struct memory_manager *memory;

static void start_stores(void)
{
        log_set_level(LOG_OFF);
        memory = memory_manager_new((size_t)8 << 20, 0.5);
        if (disk_dirs_new("/tmp", 1, &space.dirs, NULL))
                abort();
}

static void remove_dirs(void)
{
        disk_dirs_free(space.dirs);
        memory_manager_free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__PutShuffle put = FIRESTEEL__PUT_SHUFFLE__INIT;
        struct transfer_sink *sink;
        size_t kept;
        if (!memory) {
                start_stores();
                atexit(remove_dirs);
        }
        struct shuffle_store *store = shuffle_store_new(&space);
        put.partitions = 2;
        put.kinds = FST_KIND_I64;
        put.key_size = 8;
        if (shuffle_receiver_open(store, memory, &put, &sink, &error))
                abort();
        const int r = sink_take_steps(sink, data, size);
        free(shuffle_store_list(store, &kept));
        if (kept != (r == 0))
                abort();
        shuffle_store_free(store);
        return 0;
}
