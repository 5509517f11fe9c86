/* A replica uploaded in parts of any size: it becomes a block, or is refused without a trace. */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "exec/blocks/block_manager.h"
#include "exec/exec_env.h"
#include "fuzz/sink_steps.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "store/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int find_no_peer(void *owner, struct block_name name, const int *stopped, struct block_location *out, int max,
                        struct fst_error *error)
{
        return 0;
}

static struct block_manager *manager_of(struct exec_env *env)
{
        static struct block_manager *manager;
        struct fst_conf conf;
        if (manager)
                return manager;
        log_set_level(LOG_OFF);
        conf_init(&conf);
        if (exec_env_init(env, &conf, 64 << 20, NULL))
                abort();
        conf_deinit(&conf);
        return manager = block_manager_new(env, &(struct block_network){.locations = find_no_peer});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct exec_env env;
        struct block_manager *m = manager_of(&env);
        struct fst_error error = FST_ERROR_INIT;
        struct transfer_sink *sink;
        Firesteel__PutBlock put = FIRESTEEL__PUT_BLOCK__INIT;
        put.name = (char *)"rdd_1_2";
        put.storage_level = FST_STORAGE_MEMORY_ONLY_2;
        if (block_manager_put_block(m, &put, &sink, &error))
                abort();
        const int r = sink_take_steps(sink, data, size);
        if (block_manager_remove(m, (struct block_name){BLOCK_RDD, 1, 2}) != (r == 0) ||
            memory_manager_storage_used(env.memory) != 0)
                abort();
        return 0;
}
