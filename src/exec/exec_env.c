/* See exec_env.h. Invariant: when the env is freed, its memory manager has no reservations. */
#include "exec/exec_env.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/app/app_files.h"
#include "exec/blocks/broadcasts.h"
#include "exec/isolation/isolation.h"
#include "exec/guard/memory_limit.h"
#include "io/fs/file_systems.h"
#include "io/fs/local_fs.h"
#include "numa/numa_nodes.h"
#include "python/worker_pool.h"
#include "shuffle/shuffle_store.h"
#include "store/block_store.h"
#include "store/disk_dirs.h"
#include "store/page.h"
#include "store/range_cache.h"

#include <assert.h>

static int init_memory(struct exec_env *env, const struct fst_conf *conf, int64_t heap, struct fst_error *error)
{
        double fraction, storage;
        int64_t off_heap;
        int r;
        if ((r = memory_limit_off_heap(conf, &off_heap, error)) ||
            (r = conf_get_double(conf, "spark.memory.fraction", &fraction, error)) ||
            (r = conf_get_double(conf, "spark.memory.storageFraction", &storage, error)))
                return r;
        /* If all tasks run in processes of their own, these have the execution memory. */
        if (env->isolation && env->isolation->all)
                env->memory = memory_manager_new(env->isolation->shares.executor_pool, 1.0);
        else
                env->memory = memory_manager_new((size_t)((double)heap * fraction), storage);
        if (off_heap && !env->passes_blocks)
                env->off_heap = memory_manager_new((size_t)off_heap, storage);
        return 0;
}

/*
 * Outputs of map tasks go to disk first, where Spark always has them: that costs less than computing a cached partition
 * again, and most outputs are not read again.
 */
static size_t exec_env_evict(void *owner, size_t want)
{
        struct exec_env *env = owner;
        size_t freed = shuffle_store_evict(env->shuffles, want);
        if (freed < want)
                freed += block_store_evict(env->blocks, want - freed);
        return freed < want ? freed + broadcasts_evict(env->broadcasts, want - freed) : freed;
}

int exec_env_local_dirs(const struct fst_conf *conf, char **list, struct fst_error *error)
{
        const char *sandbox = getenv("MESOS_SANDBOX");
        _cleanup_free_ char *local = NULL;
        bool service;
        int r = conf_get_string(conf, "spark.local.dir", &local, error);
        r = r < 0 ? r : conf_get_bool(conf, "spark.shuffle.service.enabled", &service, error);
        if (r == 0)
                *list = disk_dirs_configured(sandbox && *sandbox && !service ? sandbox : local);
        return r;
}

static int init_disk(struct exec_env *env, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *codec = NULL, *list = NULL;
        int64_t subdirectories, level;
        bool shuffle, spill, cached, encrypt;
        int64_t key_bits;
        struct file_key *key = NULL;
        enum codec_kind kind;
        int r;
        if ((r = exec_env_local_dirs(conf, &list, error)) ||
            (r = conf_get_int(conf, "spark.diskStore.subDirectories", &subdirectories, error)) ||
            (r = conf_get_string(conf, "spark.io.compression.codec", &codec, error)) ||
            (r = conf_get_int(conf, "spark.io.compression.zstd.level", &level, error)) ||
            (r = conf_get_bool(conf, "spark.shuffle.compress", &shuffle, error)) ||
            (r = conf_get_bool(conf, "spark.shuffle.spill.compress", &spill, error)) ||
            (r = conf_get_bool(conf, "spark.rdd.compress", &cached, error)) ||
            (r = conf_get_bool(conf, "spark.io.encryption.enabled", &encrypt, error)) ||
            (r = conf_get_int(conf, "spark.io.encryption.keySizeBits", &key_bits, error)))
                return r;
        if ((r = codec_parse(codec, &kind, error)))
                return error_wrap(error, r, "spark.io.compression.codec");
        if ((r = disk_dirs_new(list, (int)subdirectories, &env->dirs, error)))
                return error_wrap(error, r, "spark.local.dir");
        if (encrypt && !env->io_secret) {
                r = file_secret_new((int)key_bits, env->own_io_secret, &env->io_secret_len, error);
                env->io_secret = env->own_io_secret;
        }
        if (encrypt && r == 0)
                r = file_key_from(env->io_secret, env->io_secret_len, &key, error);
        if (r)
                return r;
        disk_dirs_encrypt(env->dirs, key);
        struct spill_space space = {
                .dirs = env->dirs,
                .shuffle_codec = shuffle ? kind : CODEC_NONE,
                .spill_codec = spill ? kind : CODEC_NONE,
                .level = (int)level,
                .shuffle_if_cheaper = !conf_contains(conf, "spark.shuffle.compress"),
                .spill_if_cheaper = !conf_contains(conf, "spark.shuffle.spill.compress"),
        };
        env->blocks = block_store_new(&(struct block_store_options){
                .memory = env->memory,
                .off_heap = env->passes_blocks ? env->memory : env->off_heap,
                .dirs = env->dirs,
                .codec = cached && !env->passes_blocks ? kind : CODEC_NONE,
                .level = space.level,
        });
        env->shuffles = shuffle_store_new(&space);
        memory_manager_set_evict(env->memory, exec_env_evict, env);
        return 0;
}

static int init_broadcasts(struct exec_env *env, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *codec = NULL;
        struct broadcasts_options o = {.memory = env->memory, .dirs = env->dirs};
        int64_t piece, level;
        bool compress;
        int r;
        if ((r = conf_get_bytes(conf, "spark.broadcast.blockSize", &piece, error)) ||
            (r = conf_get_bool(conf, "spark.broadcast.compress", &compress, error)) ||
            (r = conf_get_bool(conf, "spark.broadcast.checksum", &o.checksum, error)) ||
            (r = conf_get_int(conf, "spark.io.compression.zstd.level", &level, error)) ||
            (r = conf_get_string(conf, "spark.io.compression.codec", &codec, error)) ||
            (r = codec_parse(codec, &o.codec, error)))
                return r;
        if (piece < 1 || piece > MAX_BROADCAST_PIECE)
                return error_set(error, -EINVAL, "spark.broadcast.blockSize is %lld bytes: it must be 1 to 1g",
                                 (long long)piece);
        o.piece = (size_t)piece;
        o.level = (int)level;
        if (!compress)
                o.codec = CODEC_NONE;
        env->broadcasts = broadcasts_new(&o);
        return 0;
}

static int exec_env_init_fetch_limits(struct exec_env *env, const struct fst_conf *conf, struct fst_error *error)
{
        int64_t bytes, requests, per_address;
        int r;
        if ((r = conf_get_bytes(conf, "spark.reducer.maxSizeInFlight", &bytes, error)) ||
            (r = conf_get_int(conf, "spark.reducer.maxReqsInFlight", &requests, error)) ||
            (r = conf_get_int(conf, "spark.reducer.maxBlocksInFlightPerAddress", &per_address, error)))
                return r;
        env->fetch_limits = (struct shuffle_fetch_limits){
                .bytes = (size_t)bytes, .requests = (int)requests, .per_address = (int)per_address};
        return 0;
}

int exec_env_init(struct exec_env *env, const struct fst_conf *conf, int64_t heap, struct fst_error *error)
{
        int64_t cpus = 1;
        file_systems_use(env, &conf->set);
        int r = conf_get_int(conf, "spark.task.cpus", &cpus, error);
        env->task_cpus = (int)cpus;
        if (r == 0)
                r = local_fs_read_conf(conf, error);
        if (r == 0)
                r = exec_env_init_fetch_limits(env, conf, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.files.ignoreCorruptFiles", &env->ignore_corrupt_files, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.files.ignoreMissingFiles", &env->ignore_missing_files, error);
        if (r == 0)
                r = init_memory(env, conf, heap, error);
        if (r == 0)
                r = init_disk(env, conf, error);
        if (r == 0)
                r = init_broadcasts(env, conf, error);
        return r ? r : python_pool_new(conf, env->dirs, &env->python, error);
}

int exec_env_bind_slots(struct exec_env *env, const struct fst_conf *conf, int n, struct fst_error *error)
{
        static const char key[] = "spark.firesteel.numa.enabled";
        _cleanup_(error_deinit) struct fst_error unread = FST_ERROR_INIT;
        const char *fake = getenv("FIRESTEEL_NUMA_NODES"); /* for tests */
        struct numa_nodes *nodes = NULL;
        bool is_set = conf_contains(conf, key), enabled = true;
        int r = is_set ? conf_get_bool(conf, key, &enabled, error) : 0;
        if (r || !enabled)
                return r;
        if (numa_nodes_new(fake ? fake : NUMA_NODES_DIRECTORY, NULL, &nodes, &unread))
                log_warn("Executor", "task slots are not bound to memory nodes: %s", error_message(&unread));
        if (nodes && (is_set || n >= numa_nodes_cpus(nodes))) {
                log_info("Executor", "the slots of %d cores are spread over %d memory nodes", n,
                         numa_nodes_count(nodes));
                env->numa = steal(nodes);
        }
        numa_nodes_free(nodes);
        return 0;
}

bool exec_env_remove_broadcast(struct exec_env *env, int64_t id)
{
        if (env->python)
                python_pool_forget_broadcast(env->python, id);
        return env->broadcasts && broadcasts_remove(env->broadcasts, id);
}

void exec_env_remove_files(struct exec_env *env)
{
        if (env->dirs)
                disk_dirs_leave(env->dirs);
}

void exec_env_deinit(struct exec_env *env)
{
        python_pool_free(env->python);
        numa_nodes_free(env->numa);
        app_files_free(env->files);
        broadcasts_free(env->broadcasts);
        block_store_free(env->blocks);
        shuffle_store_free(env->shuffles);
        disk_dirs_free(env->dirs);
        /* all reservations were released */
        assert(!env->memory ||
               (memory_manager_execution_used(env->memory) == 0 && memory_manager_storage_used(env->memory) == 0));
        assert(!env->off_heap || memory_manager_storage_used(env->off_heap) == 0);
        memory_manager_free(env->memory);
        file_systems_leave(env);
        memory_manager_free(env->off_heap);
        page_pool_trim();
        range_cache_shed(0);
        explicit_bzero(env->own_io_secret, sizeof(env->own_io_secret));
}
