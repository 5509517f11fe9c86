/*
 * Tests several executors' block managers in one process, with transfer servers over loopback and the driver's block
 * table: remote reads, replicas, broadcast variables, large results, lost peers, damaged bytes.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/backend/block_master.h"
#include "exec/blocks/block_manager.h"
#include "exec/blocks/broadcasts.h"
#include "exec/exec_env.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_services.h"
#include "store/page.h"
#include "unit/cases.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define NODES 4 /* the last one is the driver */
#define DRIVER 3
#define PIECE 65536

struct block_node {
        struct cluster *cluster;
        int index; /* -1: the driver */
        struct exec_env env;
        struct block_manager *manager;
        struct transfer_services services;
        struct transfer_server *server;
        struct transfer_client *client;
        int served; /* replies sent; atomic */
        int damage; /* replies still to damage; atomic */
        int cut;    /* replies still to cut short; atomic */
        int64_t unwanted; /* the driver removes this broadcast when it hears of a piece; 0: none */
};

struct cluster {
        struct block_master *master;
        struct block_node nodes[NODES];
        bool driver_deaf;
};

static const int never;

/* ------------------------------------------------------------------------------------------------- a node's parts */

static int find_locations(void *owner, struct block_name name, const int *stopped, struct block_location *out, int max,
                          struct fst_error *error)
{
        struct block_node *n = owner;
        if (n->cluster->driver_deaf)
                return error_set(error, -ETIMEDOUT, "the driver does not answer");
        return block_master_locations(n->cluster->master, name, n->index, out, max, NULL);
}

static int find_peers(void *owner, const struct block_name *name, const int *stopped, struct block_location *out,
                      int max, struct fst_error *error)
{
        struct block_node *n = owner;
        return block_master_peers(n->cluster->master, n->index, name, out, max);
}

static void on_block_changed(void *owner, struct block_name name, const struct block_info *info)
{
        struct block_node *n = owner;
        block_master_update(n->cluster->master, n->index, name, info);
        if (n->unwanted && name.kind == BLOCK_BROADCAST && name.id == n->unwanted) {
                int *had;
                n->unwanted = 0;
                block_master_remove_broadcast(n->cluster->master, name.id, false, &had);
                free(had);
                broadcasts_remove(n->env.broadcasts, name.id);
        }
}

/* A stream that damages the bytes of another one. */
struct spoiled {
        struct transfer_stream stream;
        struct transfer_stream *inner;
        bool cut, begun;
        unsigned char *copy;
};

static int spoiled_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct spoiled *s = container_of(stream, struct spoiled, stream);
        if (s->begun && s->cut)
                return error_set(error, -EIO, "cut off by the test");
        int n = s->inner->class->next(s->inner, iov, max, error);
        if (n > 0 && s->cut)
                n = 1;
        if (n > 1 && !s->cut && iov[1].iov_len > 0) { /* flips one bit of a copy */
                s->copy = mem_alloc(iov[1].iov_len);
                memcpy(s->copy, iov[1].iov_base, iov[1].iov_len);
                s->copy[iov[1].iov_len / 2] ^= 0x10;
                iov[1].iov_base = s->copy;
        }
        s->begun = true;
        return n;
}

static void spoiled_close(struct transfer_stream *stream)
{
        struct spoiled *s = container_of(stream, struct spoiled, stream);
        s->inner->class->close(s->inner);
        free(s->copy);
        free(s);
}

static const struct transfer_stream_class spoiled_class = {.next = spoiled_next, .close = spoiled_close};

static bool take_one(int *count)
{
        int left = __atomic_load_n(count, __ATOMIC_RELAXED);
        while (left > 0)
                if (__atomic_compare_exchange_n(count, &left, left - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                        return true;
        return false;
}

static int serve_fetch(void *owner, const struct Firesteel__FetchBlock *request, struct transfer_stream **stream,
                       struct fst_error *error)
{
        struct block_node *n = owner;
        int r = block_manager_fetch_block(n->manager, request, stream, error);
        bool cut = r == 0 && take_one(&n->cut);
        if (r == 0)
                __atomic_add_fetch(&n->served, 1, __ATOMIC_RELAXED);
        if (cut || (r == 0 && take_one(&n->damage))) {
                struct spoiled *s = new0(struct spoiled);
                *s = (struct spoiled){.stream.class = &spoiled_class, .inner = *stream, .cut = cut};
                *stream = &s->stream;
        }
        return r;
}

static int serve_put(void *owner, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                     struct fst_error *error)
{
        struct block_node *n = owner;
        return block_manager_put_block(n->manager, request, sink, error);
}

static void start_server(struct block_node *n)
{
        n->services = (struct transfer_services){.owner = n, .fetch_block = serve_fetch, .put_block = serve_put};
        struct transfer_server_options o = {.host = "127.0.0.1", .threads = 1};
        assert_int_equal(transfer_server_new(&o, &transfer_services_handler, &n->services, &n->server, NULL), 0);
}

static void start_node(struct cluster *c, int i, const char *memory)
{
        struct block_node *n = &c->nodes[i];
        struct fst_conf *conf = new0(struct fst_conf);
        int64_t heap;
        conf_init(conf);
        conf_set(conf, "spark.broadcast.blockSize", "64k");
        conf_set(conf, "spark.executor.memory", memory);
        assert_int_equal(conf_get_bytes(conf, "spark.executor.memory", &heap, NULL), 0);
        n->cluster = c;
        n->index = i == DRIVER ? -1 : i;
        assert_int_equal(exec_env_init(&n->env, conf, heap, NULL), 0);
        conf_free(conf);
        start_server(n);
        n->client = transfer_client_new(&(struct transfer_client_options){.connections_per_peer = 1});
        char id[8];
        snprintf(id, sizeof(id), "%d", n->index);
        block_master_add_executor(c->master, n->index, id, "127.0.0.1", transfer_server_port(n->server));
        struct block_network net = {.client = n->client,
                                    .locations = find_locations,
                                    .peers = find_peers,
                                    .changed = on_block_changed,
                                    .owner = n,
                                    .replication_failures = 1};
        net.driver.executor = -1;
        strcpy(net.driver.host, "127.0.0.1");
        net.driver.port = i == DRIVER ? 0 : transfer_server_port(c->nodes[DRIVER].server);
        n->manager = block_manager_new(&n->env, &net);
}

static int set_up(void **state)
{
        struct cluster *c = new0(struct cluster);
        c->master = block_master_new();
        start_node(c, DRIVER, "64m");
        for (int i = 0; i < DRIVER; i++)
                start_node(c, i, "64m");
        *state = c;
        return 0;
}

static int tear_down(void **state)
{
        struct cluster *c = *state;
        for (int i = 0; i < NODES; i++)
                transfer_server_free(c->nodes[i].server);
        for (int i = 0; i < NODES; i++) {
                struct block_node *n = &c->nodes[i];
                transfer_client_free(n->client);
                block_manager_free(n->manager);
                exec_env_deinit(&n->env);
        }
        block_master_free(c->master);
        free(c);
        return 0;
}

static void stop_serving(struct cluster *c, int i)
{
        transfer_server_free(steal(c->nodes[i].server));
}

/* --------------------------------------------------------------------------------------------------- partitions */

static const fst_type pair = {.key = FST_KIND_I64, .value = FST_KIND_BYTES, .key_size = 8};

/* Cache @rows rows as block rdd_1_@partition of a node. */
static void store_partition(struct block_node *n, int partition, int rows, enum fst_storage_level level)
{
        struct block_asker asker = {.task = n};
        struct block *block;
        struct block_writer *writer;
        assert_int_equal(block_store_acquire(n->env.blocks, &asker, (struct block_id){1, partition}, level, pair,
                                             &block, &writer),
                         FST_BLOCK_E_COMPUTE);
        int64_t keys[100];
        fst_bytes values[100];
        static char text[1000];
        for (int at = 0; at < rows; at += 100) {
                fst_batch batch = {.type = pair, .rows = (uint32_t)MIN(rows - at, 100)};
                for (int i = 0; i < 100; i++) {
                        keys[i] = at + i;
                        values[i] = (fst_bytes){text, (size_t)((at + i) % 1000)};
                }
                batch.key.i64 = keys;
                batch.value.bytes = values;
                assert_int_equal(block_writer_append(writer, &batch, NULL), 0);
        }
        assert_int_equal(block_writer_commit(writer, NULL), 0);
}

struct block_reading {
        struct task_run run;
        int64_t rows, sum;
};

/*
 * Reads rdd_1_@partition from other nodes, as a task of node @n. Returns 0, 1 (to be computed), or a negative status.
 */
static int read_remote(struct block_node *n, int partition, struct block_reading *reading)
{
        const struct remote_blocks *remote = block_manager_remote(n->manager);
        struct remote_block *block;
        const struct page *page;
        task_run_init(&reading->run, n->env.memory, NULL);
        reading->rows = reading->sum = 0;
        int r = remote->open(remote->owner, &reading->run, (struct block_id){1, partition}, pair, &block);
        if (r == 0) {
                struct page_cursor cursor;
                fst_batch batch;
                page_cursor_init(&cursor, pair);
                while ((r = remote->next(block, &page)) == 0 && page) {
                        page_cursor_start(&cursor, page);
                        while (page_cursor_next(&cursor, &batch))
                                for (uint32_t i = 0; i < batch.rows; i++) {
                                        reading->rows++;
                                        reading->sum += batch.key.i64[i];
                                        assert_int_equal(batch.value.bytes[i].len, batch.key.i64[i] % 1000);
                                }
                }
                page_cursor_deinit(&cursor);
                remote->close(block);
        }
        task_run_deinit(&reading->run);
        return r;
}

static void reads_partition_from_peer(void **state)
{
        struct cluster *c = *state;
        struct block_reading got;
        store_partition(&c->nodes[0], 0, 5000, FST_STORAGE_MEMORY_ONLY);
        store_partition(&c->nodes[0], 1, 5000, FST_STORAGE_DISK_ONLY);
        store_partition(&c->nodes[0], 2, 0, FST_STORAGE_MEMORY_ONLY);
        store_partition(&c->nodes[0], 3, 5000, FST_STORAGE_MEMORY_ONLY_SER); /* serialized, and so on the wire */
        for (int p = 0; p < 4; p++) {
                assert_int_equal(read_remote(&c->nodes[1], p, &got), 0);
                assert_int_equal(got.rows, p != 2 ? 5000 : 0);
                assert_int_equal(got.sum, p != 2 ? 4999 * 2500 : 0);
        }
        assert_int_equal(read_remote(&c->nodes[0], 0, &got), 1); /* no other node has it */
        assert_int_equal(read_remote(&c->nodes[1], 9, &got), 1);
        assert_int_equal(memory_manager_execution_used(c->nodes[1].env.memory), 0);
        c->driver_deaf = true;
        assert_int_equal(read_remote(&c->nodes[1], 0, &got), 1);
        c->driver_deaf = false;
        assert_int_equal(block_store_remove_rdd(c->nodes[0].env.blocks, 1), 4);
        assert_int_equal(read_remote(&c->nodes[1], 0, &got), 1);
}

static void tries_next_peer_after_failure(void **state)
{
        struct cluster *c = *state;
        struct block_reading got;
        store_partition(&c->nodes[0], 0, 5000, FST_STORAGE_MEMORY_ONLY);
        store_partition(&c->nodes[1], 0, 5000, FST_STORAGE_MEMORY_ONLY);
        for (int i = 0; i < 2; i++) {
                c->nodes[i].cut = 1; /* each fails once, so one read fails or none */
                c->nodes[i].damage = 0;
        }
        int first = read_remote(&c->nodes[2], 0, &got);
        assert_int_equal(first, 1); /* both were cut off */
        assert_int_equal(read_remote(&c->nodes[2], 0, &got), 0);
        assert_int_equal(got.rows, 5000);
        c->nodes[0].cut = 1;
        for (int i = 0; i < 4; i++) {
                assert_int_equal(read_remote(&c->nodes[2], 0, &got), 0);
                assert_int_equal(got.rows, 5000);
        }
        stop_serving(c, 0);
        for (int i = 0; i < 4; i++)
                assert_int_equal(read_remote(&c->nodes[2], 0, &got), 0);
        stop_serving(c, 1);
        assert_int_equal(read_remote(&c->nodes[2], 0, &got), 1);
}

static void reads_partition_larger_than_task_memory(void **state)
{
        struct cluster *c = *state;
        struct block_reading got;
        store_partition(&c->nodes[0], 0, 100000,
                        FST_STORAGE_MEMORY_AND_DISK); /* 50 MB, of which some 38 are for all tasks together */
        assert_int_equal(read_remote(&c->nodes[1], 0, &got), 0);
        assert_int_equal(got.rows, 100000);
        assert_int_equal(memory_manager_execution_used(c->nodes[1].env.memory), 0);
}

static void stopped_task_stops_reading(void **state)
{
        struct cluster *c = *state;
        const struct remote_blocks *remote = block_manager_remote(c->nodes[1].manager);
        struct remote_block *block;
        struct task_run run;
        store_partition(&c->nodes[0], 0, 5000, FST_STORAGE_MEMORY_ONLY);
        task_run_init(&run, c->nodes[1].env.memory, NULL);
        run.stop = 1;
        assert_int_equal(remote->open(remote->owner, &run, (struct block_id){1, 0}, pair, &block), -ECANCELED);
        task_run_deinit(&run);
}

static int count_copies(struct cluster *c, int partition)
{
        int at[NODES];
        return block_master_executors(c->master, 1, partition, at, NODES);
}

static void replicate_partition(struct cluster *c, int from, int partition, enum fst_storage_level level)
{
        const struct remote_blocks *remote = block_manager_remote(c->nodes[from].manager);
        struct task_run run;
        task_run_init(&run, c->nodes[from].env.memory, NULL);
        remote->replicate(remote->owner, &run, (struct block_id){1, partition}, level);
        task_run_deinit(&run);
}

static void stores_replicas_on_peers(void **state)
{
        struct cluster *c = *state;
        struct block_reading got;
        store_partition(&c->nodes[0], 0, 5000, FST_STORAGE_MEMORY_ONLY_2);
        store_partition(&c->nodes[0], 1, 3000, FST_STORAGE_DISK_ONLY_3);
        store_partition(&c->nodes[0], 2, 0, FST_STORAGE_MEMORY_ONLY_2);
        store_partition(&c->nodes[0], 3, 4000, FST_STORAGE_MEMORY_AND_DISK_SER_2);
        replicate_partition(c, 0, 0, FST_STORAGE_MEMORY_ONLY_2);
        replicate_partition(c, 0, 3, FST_STORAGE_MEMORY_AND_DISK_SER_2);
        assert_int_equal(count_copies(c, 3), 2);
        for (int i = 1; i < NODES; i++) {
                struct block_status here, there;
                if (block_store_status(c->nodes[i].env.blocks, (struct block_id){1, 3}, &there)) {
                        assert_true(block_store_status(c->nodes[0].env.blocks, (struct block_id){1, 3}, &here));
                        assert_int_equal(there.memory_bytes, here.memory_bytes);
                        assert_int_equal(there.rows, 4000);
                }
        }
        replicate_partition(c, 0, 1, FST_STORAGE_DISK_ONLY_3);
        replicate_partition(c, 0, 2, FST_STORAGE_MEMORY_ONLY_2);
        assert_int_equal(count_copies(c, 0), 2);
        assert_int_equal(count_copies(c, 1), 3);
        assert_int_equal(count_copies(c, 2), 2);
        replicate_partition(c, 0, 0, FST_STORAGE_MEMORY_ONLY_2); /* again: a peer that already has it counts too */
        stop_serving(c, 0);
        assert_int_equal(block_master_remove_executor(c->master, 0, NULL, NULL), 0); /* nothing is lost */
        struct block_status status;
        int holder = block_store_contains(c->nodes[1].env.blocks, (struct block_id){1, 0}) ? 1 : 2;
        assert_int_equal(read_remote(&c->nodes[3 - holder], 0, &got), count_copies(c, 0) == 2 ? 0 : 0);
        assert_int_equal(got.rows, 5000);
        assert_true(block_store_status(c->nodes[1].env.blocks, (struct block_id){1, 1}, &status));
        assert_int_equal(status.rows, 3000);
        assert_int_equal(status.level, FST_STORAGE_DISK_ONLY_3);
        store_partition(&c->nodes[1], 5, 100, FST_STORAGE_MEMORY_ONLY_2);
        stop_serving(c, 2);
        replicate_partition(c, 1, 5, FST_STORAGE_MEMORY_ONLY_2); /* no peer accepts it, which logs a warning only */
        assert_int_equal(count_copies(c, 5), 1);
}

static void replicates_after_loss(void **state)
{
        struct cluster *c = *state;
        struct fst_error error = FST_ERROR_INIT;
        int stopped = 0;
        struct block_id id = {1, 0};
        store_partition(&c->nodes[0], 0, 5000, FST_STORAGE_MEMORY_ONLY_SER_2);
        replicate_partition(c, 0, 0, FST_STORAGE_MEMORY_ONLY_SER_2);
        assert_int_equal(count_copies(c, 0), 2);
        assert_int_equal(block_manager_copy(c->nodes[0].manager, id, &stopped, &error), 0);
        assert_int_equal(count_copies(c, 0), 3); /* on the node that had none */
        assert_int_equal(block_manager_copy(c->nodes[0].manager, id, &stopped, &error), -EHOSTUNREACH);
        error_deinit(&error);
        assert_int_equal(block_manager_copy(c->nodes[0].manager, (struct block_id){9, 9}, &stopped, &error), -ENOENT);
        /* A failing peer uses up one of the allowed failures, then the other peer accepts the copy. */
        store_partition(&c->nodes[0], 1, 3000, FST_STORAGE_DISK_ONLY_2);
        stop_serving(c, 1);
        for (int i = 0; i < 4; i++) {
                struct block_copy *lost;
                size_t n;
                assert_int_equal(block_manager_copy(c->nodes[0].manager, (struct block_id){1, 1}, &stopped, &error), 0);
                assert_true(block_store_contains(c->nodes[2].env.blocks, (struct block_id){1, 1}));
                block_store_remove(c->nodes[2].env.blocks, (struct block_id){1, 1});
                block_master_remove_executor(c->master, 7, &lost, &n); /* unknown executor */
                assert_int_equal(n, 0);
                free(lost);
        }
        error_deinit(&error);
}

/* Malicious uploads leave neither a block nor a reservation. */
static void rejects_malicious_uploads(void **state)
{
        struct cluster *c = *state;
        struct block_node *n = &c->nodes[0];
        static const unsigned char bad[][BLOCK_PUT_HEADER + 8] = {
                {0},
                {1, 9},
                {4, 0, 0, 0, 0, 0, 0, 0},
                {1, 0, 0, 0, 7},
                {1, 0, 1, 0, 8},
                {1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1},
                {1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0},
        };
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                _cleanup_(buf_deinit) struct buf request = BUF_INIT;
                struct fst_error error = FST_ERROR_INIT;
                block_request_put((struct block_name){BLOCK_RDD, 1, 0}, FST_STORAGE_MEMORY_ONLY_2, &request);
                struct iovec iov = {(void *)bad[i], sizeof(bad[i])};
                assert_true(transfer_put(c->nodes[1].client, "127.0.0.1", transfer_server_port(n->server), request.data,
                                         request.len, &iov, 1, NULL, &error) < 0);
                error_deinit(&error);
                assert_false(block_store_contains(n->env.blocks, (struct block_id){1, 0}));
        }
        assert_int_equal(memory_manager_storage_used(n->env.memory), 0);
}

/* -------------------------------------------------------------------------------------------- broadcast variables */

static char *value_of(size_t size, bool random)
{
        char *value = mem_alloc(size + 1);
        uint64_t x = 1;
        for (size_t i = 0; i < size; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                value[i] = random ? (char)(x >> 56) : (char)(i / 1000);
        }
        return value;
}

static void check_value(struct block_node *n, int64_t id, const char *value, size_t size)
{
        const void *data;
        void *hold;
        struct fst_error error = FST_ERROR_INIT;
        int r = broadcasts_get(n->env.broadcasts, id, size, &never, &data, &hold, &error);
        if (r)
                fail_msg("%s", error_message(&error));
        assert_memory_equal(data, value, size);
        broadcasts_release(n->env.broadcasts, hold);
}

static void executors_serve_broadcast_pieces(void **state)
{
        struct cluster *c = *state;
        static const size_t sizes[] = {0, 1, PIECE, PIECE + 1, 20 * PIECE + 77};
        for (int random = 0; random < 2; random++)
                for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
                        int64_t id = 1 + random * 10 + (int64_t)s;
                        char *value = value_of(sizes[s], random);
                        assert_int_equal(broadcasts_put(c->nodes[DRIVER].env.broadcasts, id, value, sizes[s], NULL), 0);
                        for (int i = 0; i < DRIVER; i++)
                                check_value(&c->nodes[i], id, value, sizes[s]);
                        free(value);
                }
        /* The driver sent each piece once, and executors sent the rest. */
        assert_int_equal(c->nodes[DRIVER].served, 2 * (1 + 1 + 2 + 21));
        assert_int_equal(c->nodes[0].served + c->nodes[1].served + c->nodes[2].served, 2 * 2 * (1 + 1 + 2 + 21));
}

struct block_getter {
        struct block_node *node;
        const char *value;
        size_t size;
        pthread_t thread;
};

static void *get_block_on_thread(void *arg)
{
        struct block_getter *g = arg;
        check_value(g->node, 1, g->value, g->size);
        return NULL;
}

static void concurrent_reads_fetch_broadcast_once(void **state)
{
        struct cluster *c = *state;
        size_t size = 64 * PIECE;
        char *value = value_of(size, true);
        struct block_getter getters[9];
        assert_int_equal(broadcasts_put(c->nodes[DRIVER].env.broadcasts, 1, value, size, NULL), 0);
        for (int i = 0; i < 9; i++) {
                getters[i] = (struct block_getter){&c->nodes[i % 3], value, size, 0};
                pthread_create(&getters[i].thread, NULL, get_block_on_thread, &getters[i]);
        }
        for (int i = 0; i < 9; i++)
                pthread_join(getters[i].thread, NULL);
        int served = 0;
        for (int i = 0; i < NODES; i++)
                served += c->nodes[i].served;
        assert_int_equal(served, 3 * 64); /* one fetcher in each process */
        free(value);
}

static void reads_broadcast_from_remaining_peers(void **state)
{
        struct cluster *c = *state;
        size_t size = 10 * PIECE;
        char *value = value_of(size, true);
        const void *data;
        void *hold;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(broadcasts_put(c->nodes[DRIVER].env.broadcasts, 1, value, size, NULL), 0);
        check_value(&c->nodes[0], 1, value, size);
        c->nodes[0].damage = 3; /* damaged and cut pieces are fetched from the driver instead */
        c->nodes[0].cut = 3;
        check_value(&c->nodes[1], 1, value, size);
        assert_true(c->nodes[DRIVER].served >= 16);
        stop_serving(c, 0);
        check_value(&c->nodes[2], 1, value, size); /* the block table still lists them */
        int *had;
        broadcasts_remove(c->nodes[2].env.broadcasts, 1);
        broadcasts_remove(c->nodes[DRIVER].env.broadcasts, 1);
        block_master_remove_broadcast(c->master, 1, true, &had);
        free(had);
        assert_int_equal(broadcasts_get(c->nodes[2].env.broadcasts, 1, size, &never, &data, &hold, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "broadcast variable 1"));
        error_deinit(&error);
        static const int stopped = 1;
        assert_int_equal(broadcasts_get(c->nodes[2].env.broadcasts, 1, size, &stopped, &data, &hold, &error),
                         -ECANCELED);
        error_deinit(&error);
        free(value);
}

static void withdraws_a_broadcast_that_is_removed_while_it_is_fetched(void **state)
{
        struct cluster *c = *state;
        size_t size = 10 * PIECE;
        char *value = value_of(size, true);
        struct block_location at[MAX_BLOCK_LOCATIONS];
        assert_int_equal(broadcasts_put(c->nodes[DRIVER].env.broadcasts, 1, value, size, NULL), 0);
        c->nodes[0].unwanted = 1;
        check_value(&c->nodes[0], 1, value, size); /* the task that fetches it has it still */
        assert_false(broadcasts_remove(c->nodes[0].env.broadcasts, 1));
        for (int32_t i = 0; i < 10; i++)
                assert_int_equal(block_master_locations(c->master, (struct block_name){BLOCK_BROADCAST, 1, i}, 1, at,
                                                        MAX_BLOCK_LOCATIONS, NULL),
                                 0);
        check_value(&c->nodes[1], 1, value, size);
        assert_int_equal(c->nodes[0].served, 0);
        free(value);
}

static void evicts_broadcast_to_disk(void **state)
{
        struct cluster *c = *state;
        struct block_node *n = &c->nodes[0];
        size_t size = 10 * PIECE;
        char *value = value_of(size, true);
        const void *data;
        void *hold;
        assert_int_equal(broadcasts_put(c->nodes[DRIVER].env.broadcasts, 1, value, size, NULL), 0);
        assert_int_equal(broadcasts_get(n->env.broadcasts, 1, size, &never, &data, &hold, NULL), 0);
        assert_int_equal(broadcasts_evict(n->env.broadcasts, 1), 0); /* in use */
        broadcasts_release(n->env.broadcasts, hold);
        assert_int_equal(memory_manager_storage_used(n->env.memory), size);
        assert_int_equal(broadcasts_evict(n->env.broadcasts, 1), size);
        assert_int_equal(memory_manager_storage_used(n->env.memory), 0);
        int served = c->nodes[DRIVER].served;
        check_value(n, 1, value, size);
        check_value(&c->nodes[1], 1, value, size); /* served from the file */
        assert_int_equal(c->nodes[DRIVER].served, served);
        free(value);
}

static void rejects_invalid_pieces(void **state)
{
        static const unsigned char good[BROADCAST_PIECE_HEADER] = {'F', 'S', 'B', '1', 0, 0, 0, 0, 10, 0, 0, 0, 10};
        struct broadcast_piece piece;
        unsigned char bad[BROADCAST_PIECE_HEADER];
        assert_int_equal(broadcast_piece_parse(good, 10, &piece, NULL), 0);
        assert_int_equal(broadcast_piece_parse(good, 11, &piece, NULL), -EBADMSG);
        static const struct {
                int at, value;
        } changes[] = {{0, 'G'}, {4, 3}, {4, 255}, {8, 9}, {12, 9}, {12, 11}, {15, 255}};
        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
                CASE_LABEL("%zu of changes: at %d, value %d", i, changes[i].at, changes[i].value);
                memcpy(bad, good, sizeof(bad));
                bad[changes[i].at] = (unsigned char)changes[i].value;
                assert_int_equal(broadcast_piece_parse(bad, 10, &piece, NULL), -EBADMSG);
        }
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        log_set_level(LOG_OFF);
        const struct CMUnitTest tests[] = {
                test(reads_partition_from_peer),
                test(tries_next_peer_after_failure),
                test(reads_partition_larger_than_task_memory),
                test(stopped_task_stops_reading),
                test(stores_replicas_on_peers),
                test(replicates_after_loss),
                test(rejects_malicious_uploads),
                test(executors_serve_broadcast_pieces),
                test(concurrent_reads_fetch_broadcast_once),
                test(reads_broadcast_from_remaining_peers),
                test(withdraws_a_broadcast_that_is_removed_while_it_is_fetched),
                test(evicts_broadcast_to_disk),
                cmocka_unit_test(rejects_invalid_pieces),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
