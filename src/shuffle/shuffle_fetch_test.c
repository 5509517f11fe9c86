/*
 * Shuffles whose map outputs are at several executors: three stores, each with a transfer server of its own, in this
 * process or in a child; and one reader, which must see the rows of all maps in their order, or name what it cannot
 * get.
 */
#include "shuffle/shuffle_reader.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/transfer.h"
#include "rpc/transfer_services.h"
#include "shuffle/shuffle_server.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"
#include "store/file_cipher.h"
#include "store/page_frame.h"
#include "store/spill.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS ((int64_t)1000000)
#define TYPE FST_PAIR(I64, BYTES)
#define SHUFFLE 7

enum { EXECUTORS = 3 };

/* One executor. Streams can be told to flip a bit, or to break off. */
struct executor {
        struct shuffle_store *store;
        struct transfer_services services;
        struct transfer_server *server;
        int flips;     /* atomic: how many more streams get a flipped bit */
        int64_t after; /* bytes before it, or before the end */
        int breaks;    /* atomic: how many more streams break off */
        int served;    /* atomic: streams */
};

struct world {
        struct disk_dirs *dirs;
        struct memory_manager *memory;
        struct spill_space space;
        struct executor executors[EXECUTORS];
        struct transfer_client *client;
        struct shuffle_reader_env env;
        struct task_run run;
        int64_t *rows; /* how many each map has in the partition */
        int partitions;
};

/* ----------------------------------------------------------------------------------------- streams with faults */

struct faulty {
        struct transfer_stream stream;
        struct transfer_stream *real;
        bool flip, breaks;
        int64_t left;
        unsigned char *copy;
};

static int faulty_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct faulty *f = container_of(stream, struct faulty, stream);
        int n = f->real->class->next(f->real, iov, max, error);
        for (int i = 0; i < n; i++) {
                if (f->left >= 0 && f->left < (int64_t)iov[i].iov_len) {
                        if (f->breaks)
                                return error_set(error, -EIO, "broken off");
                        f->copy = mem_alloc(iov[i].iov_len);
                        memcpy(f->copy, iov[i].iov_base, iov[i].iov_len);
                        f->copy[f->left] ^= 4;
                        iov[i].iov_base = f->copy;
                }
                f->left -= (int64_t)iov[i].iov_len;
        }
        return n;
}

static void faulty_close(struct transfer_stream *stream)
{
        struct faulty *f = container_of(stream, struct faulty, stream);
        f->real->class->close(f->real);
        free(f->copy);
        free(f);
}

static const struct transfer_stream_class faulty_class = {.next = faulty_next, .close = faulty_close};

static bool take_one(int *counter)
{
        if (__atomic_load_n(counter, __ATOMIC_RELAXED) <= 0)
                return false;
        __atomic_sub_fetch(counter, 1, __ATOMIC_RELAXED);
        return true;
}

static int fetch_shuffle(void *owner, const struct Firesteel__FetchShuffle *request, struct transfer_stream **stream,
                         struct fst_error *error)
{
        struct executor *e = owner;
        __atomic_add_fetch(&e->served, 1, __ATOMIC_RELAXED);
        int r = shuffle_server_open(e->store, request, stream, error);
        if (r)
                return r;
        bool flip = take_one(&e->flips), breaks = !flip && take_one(&e->breaks);
        if (!flip && !breaks)
                return 0;
        struct faulty *f = new0(struct faulty);
        f->stream.class = &faulty_class;
        f->real = *stream;
        f->flip = flip;
        f->breaks = breaks;
        f->left = e->after;
        *stream = &f->stream;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- the world */

static void start_server(struct world *w, int e, int port, int64_t idle_ns)
{
        struct executor *x = &w->executors[e];
        struct transfer_server_options options = {
                .host = "127.0.0.1", .port = port, .threads = 1, .idle_ns = idle_ns, .handshake_ns = idle_ns};
        x->services = (struct transfer_services){.owner = x, .fetch_shuffle = fetch_shuffle};
        assert_int_equal(transfer_server_new(&options, &transfer_services_handler, &x->services, &x->server, NULL), 0);
}

static void world_init(struct world *w, size_t memory, enum codec_kind codec)
{
        *w = (struct world){.partitions = 5};
        assert_int_equal(disk_dirs_new("/tmp", 4, &w->dirs, NULL), 0);
        struct file_key *key = NULL;
        if (codec == CODEC_LZ4)
                assert_int_equal(file_key_new(128, &key, NULL), 0);
        disk_dirs_encrypt(w->dirs, key);
        w->memory = memory_manager_new(memory, 0.5);
        w->space = (struct spill_space){.dirs = w->dirs, .shuffle_codec = codec, .spill_codec = codec, .level = 1};
        w->env = (struct shuffle_reader_env){
                .inputs = new0(struct shuffle_inputs),
                .n_inputs = 1,
                .locations = new_array(struct shuffle_location, EXECUTORS),
                .n_locations = EXECUTORS,
                .space = &w->space,
        };
        for (int e = 0; e < EXECUTORS; e++) {
                w->executors[e].store = shuffle_store_new(&w->space);
                start_server(w, e, 0, 0);
                w->env.locations[e] = (struct shuffle_location){.executor = 10 + e,
                                                                .executor_id = mem_printf("%d", e),
                                                                .host = mem_strdup("127.0.0.1"),
                                                                .port = transfer_server_port(w->executors[e].server)};
        }
        w->env.store = w->executors[0].store;
        struct transfer_client_options options = {.connections_per_peer = 2,
                                                  .max_retries = 2,
                                                  .retry_wait_ns = 10 * MS,
                                                  .connect_ns = 5000 * MS,
                                                  .timeout_ns = 5000 * MS};
        w->client = w->env.client = transfer_client_new(&options);
        task_run_init(&w->run, w->memory, &w->space);
        task_run_begin(&w->run, &(struct fst_task_info){0}, 1);
}

static void world_deinit(struct world *w)
{
        task_run_deinit(&w->run);
        for (int e = 0; e < EXECUTORS; e++)
                transfer_server_free(w->executors[e].server);
        transfer_client_free(w->client);
        for (int e = 0; e < EXECUTORS; e++)
                shuffle_store_free(w->executors[e].store);
        assert_int_equal(memory_manager_execution_used(w->memory), 0);
        assert_int_equal(memory_manager_storage_used(w->memory), 0);
        shuffle_reader_env_deinit(&w->env);
        memory_manager_free(w->memory);
        disk_dirs_free(w->dirs);
        free(w->rows);
}

enum form { EMPTY, MEMORY, DISK, BOTH, LARGE, LARGE_ON_DISK, FORMS };

static void add_row(struct shuffle_output *o, uint32_t partition, struct page **open, int64_t key, size_t size)
{
        _cleanup_free_ char *text = mem_alloc(size + 1);
        memset(text, 'a' + (int)(key % 26), size);
        fst_bytes value = {text, size};
        fst_batch b = {.rows = 1, .type = TYPE, .key.i64 = &key, .value.bytes = &value};
        if (*open && page_append(*open, &b, 0) == 1)
                return;
        if (*open)
                shuffle_output_add(o, partition, *open);
        assert_int_equal(page_new(NULL, TYPE, size + 12, open), 0);
        assert_int_equal(page_append(*open, &b, 0), 1);
}

/* An output whose row i in partition p of map m has the key m * 1000000 + p * 10000 + i. */
static struct shuffle_output *output_new(struct world *w, int map, enum form form, int64_t *rows)
{
        struct shuffle_output *o = shuffle_output_new(w->partitions, TYPE, w->memory);
        bool large = form == LARGE || form == LARGE_ON_DISK;
        size_t freed = 0;
        *rows = form == EMPTY ? 0 : large ? 3 : 200 + map % 7 * 200;
        for (int half = 0; half < 2; half++) {
                for (int p = 0; p < w->partitions && *rows; p++) {
                        struct page *open = NULL;
                        if (p == 3)
                                continue; /* nobody's rows go there */
                        for (int64_t i = half ? *rows / 2 : 0; i < (half ? *rows : *rows / 2); i++)
                                add_row(o, (uint32_t)p, &open, map * (int64_t)1000000 + p * 10000 + i,
                                        large ? 600000 + (size_t)i : 900);
                        if (open)
                                shuffle_output_add(o, (uint32_t)p, open);
                }
                if ((half == 0 && form == BOTH) || (half == 1 && (form == DISK || form == LARGE_ON_DISK)))
                        assert_int_equal(shuffle_output_to_disk(o, &w->space, &freed, NULL), 0);
        }
        assert_int_equal(shuffle_output_finish(o, NULL), 0);
        return o;
}

/* @n maps, round about the executors, in all forms. */
static void make_maps(struct world *w, int n, enum form only)
{
        struct shuffle_inputs *in = w->env.inputs;
        *in = (struct shuffle_inputs){.shuffle_id = SHUFFLE, .n = n, .maps = new_array(struct shuffle_map, (size_t)n)};
        w->rows = new_array(int64_t, (size_t)n);
        for (int m = 0; m < n; m++) {
                int at = m * 7 / 2 % EXECUTORS;
                enum form form = only == FORMS ? (enum form)(m * 5 / 3 % FORMS) : only;
                struct shuffle_output *o = output_new(w, m, form, &w->rows[m]);
                shuffle_store_put(w->executors[at].store, SHUFFLE, m, 100 + m, o);
                in->maps[m] = (struct shuffle_map){.task_id = 100 + m, .location = at};
        }
}

/* Read partition @p; what comes must be all rows in order, or a prefix of them and a failure. Returns its status. */
static int read_all(struct world *w, int p, int pause_ms)
{
        struct shuffle_input *in = NULL;
        const struct page *page;
        struct page_cursor cursor;
        int map = -1, r;
        int64_t row = 0, n = 0;
        page_cursor_init(&cursor, TYPE);
        assert_int_equal(shuffle_reader_source.open(&w->env, &w->run, SHUFFLE, p, TYPE, &in), 0);
        while ((r = shuffle_reader_source.next(in, &page)) == 0 && page) {
                fst_batch b;
                page_cursor_start(&cursor, page);
                if (pause_ms)
                        poll(NULL, 0, pause_ms);
                while (page_cursor_next(&cursor, &b))
                        for (uint32_t i = 0; i < b.rows; i++, row++, n++) {
                                while (map < 0 || row == (p == 3 ? 0 : w->rows[map])) {
                                        map++;
                                        row = 0;
                                }
                                assert_int_equal(b.key.i64[i], map * (int64_t)1000000 + p * 10000 + row);
                                assert_int_equal(b.value.bytes[i].data[b.value.bytes[i].len - 1],
                                                 'a' + b.key.i64[i] % 26);
                        }
        }
        shuffle_reader_source.close(in);
        page_cursor_deinit(&cursor);
        int64_t all = 0;
        for (int m = 0; m < w->env.inputs->n; m++)
                all += p == 3 ? 0 : w->rows[m];
        if (r == 0)
                assert_int_equal(n, all);
        assert_int_equal(memory_task_held(task_run_memory(&w->run)), 0);
        return r;
}

static void again(struct world *w)
{
        task_run_end(&w->run);
        task_run_begin(&w->run, &(struct fst_task_info){0}, 1);
}

static void assert_lost(struct world *w, int map, const char *why)
{
        assert_true(w->run.fetch_failed);
        assert_int_equal(w->run.fetch_shuffle, SHUFFLE);
        assert_int_equal(w->run.fetch_map, map);
        int32_t location = w->env.inputs->maps[map].location;
        assert_int_equal(w->run.fetch_executor, location < 0 ? -1 : w->env.locations[location].executor);
        if (!strstr(w->run.error.message, why))
                fail_msg("\"%s\" does not say \"%s\"", w->run.error.message, why);
}

/* The first map at an executor other than the reader's. */
static int a_remote_map(const struct world *w, int from)
{
        for (int m = from;; m++)
                if (w->env.inputs->maps[m].location > 0 && w->rows[m])
                        return m;
}

/* ------------------------------------------------------------------------------------------------ what works */

static void test_all_forms(void **state)
{
        static const struct shuffle_fetch_limits limits[] = {
                {0}, {.requests = 1}, {.per_address = 1}, {.requests = 1, .per_address = 2}, {.bytes = 65536}};
        for (enum codec_kind codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
                struct world w;
                int64_t waited = 0;
                world_init(&w, (size_t)64 << 20, codec);
                make_maps(&w, 40, FORMS);
                for (size_t l = 0; l < ARRAY_SIZE(limits); l++)
                        for (int p = 0; p < w.partitions; p++) {
                                w.env.limits = limits[l];
                                w.env.here = (int)(l + (size_t)p) % (EXECUTORS + 1) - 1;
                                w.env.store = w.env.here < 0 ? NULL : w.executors[w.env.here].store;
                                again(&w);
                                assert_int_equal(read_all(&w, p, 0), 0);
                                const struct task_counters *c = &w.run.counters;
                                int64_t blocks = 0;
                                for (int m = 0; m < 40; m++)
                                        blocks += w.rows[m] > 0 && p != 3;
                                assert_int_equal(c->shuffle_local_blocks + c->shuffle_remote_blocks, blocks);
                                assert_true((c->shuffle_local_bytes > 0) == (w.env.here >= 0 && p != 3));
                                assert_true((c->shuffle_remote_bytes > 0) == (p != 3));
                                waited += c->shuffle_fetch_wait_ns;
                                assert_true(c->shuffle_remote_requests_ns > 0);
                        }
                assert_true(waited > 0);
                world_deinit(&w);
        }
}

static void test_many_maps(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_LZ4);
        w.partitions = 2;
        make_maps(&w, 3000, EMPTY);
        for (int m = 0; m < 3000; m += 3) {
                int location = w.env.inputs->maps[m].location;
                struct shuffle_output *o = shuffle_output_new(2, TYPE, w.memory);
                struct page *open = NULL;
                add_row(o, 1, &open, m * (int64_t)1000000 + 10000, 5);
                shuffle_output_add(o, 1, open);
                shuffle_store_put(w.executors[location].store, SHUFFLE, m, 100 + m, o);
                w.rows[m] = 1;
        }
        assert_int_equal(read_all(&w, 1, 0), 0);
        assert_int_equal(w.executors[1].served, 1);
        w.env.limits.per_address = 100;
        again(&w);
        assert_int_equal(read_all(&w, 1, 0), 0);
        assert_true(w.executors[1].served >= 11);
        world_deinit(&w);
}

/* Outputs are moved to disk while they are served. */
static void *evict(void *arg)
{
        struct world *w = arg;
        for (int i = 0; i < 200; i++) {
                shuffle_store_evict(w->executors[1 + i % 2].store, 300000);
                poll(NULL, 0, 1);
        }
        return NULL;
}

static void test_eviction(void **state)
{
        struct world w;
        world_init(&w, (size_t)256 << 20, CODEC_LZ4);
        make_maps(&w, 60, MEMORY);
        for (int m = 0; m < 60; m++) {
                struct shuffle_store *store = w.executors[w.env.inputs->maps[m].location].store;
                struct shuffle_output *o = shuffle_store_get(store, SHUFFLE, m, 100 + m);
                o->memory = o->pages * PAGE_BLOCK;
                assert_true(memory_acquire_storage(w.memory, o->memory));
                shuffle_store_enlist(store, o);
                shuffle_output_unref(o);
        }
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, evict, &w), 0);
        for (int i = 0; i < 10; i++) {
                again(&w);
                assert_int_equal(read_all(&w, i % w.partitions, 0), 0);
        }
        pthread_join(thread, NULL);
        world_deinit(&w);
}

/* ------------------------------------------------------------------------------------------- what gets mended */

static void test_wire_damage(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 20, FORMS);
        /* Once, anywhere: headers of records and pages, and pages. */
        for (int64_t after = 0; after < 400000; after += after < 200 ? 7 : 33333) {
                w.executors[1].after = after;
                w.executors[1].flips = 1;
                again(&w);
                assert_int_equal(read_all(&w, 0, 0), 0);
        }
        /* Whenever the first page is asked for. */
        w.executors[1].flips = 1000;
        w.executors[1].after = 1000;
        again(&w);
        assert_true(read_all(&w, 0, 0) < 0);
        assert_true(w.run.fetch_failed);
        assert_int_equal(w.run.fetch_executor, 11);
        world_deinit(&w);
}

/* A stream that the server ends for standing still, because the task computes for long: it goes on where it was. */
static void test_slow_reader(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        w.partitions = 1;
        make_maps(&w, 12, LARGE);
        for (int e = 0; e < EXECUTORS; e++) {
                int port = transfer_server_port(w.executors[e].server);
                transfer_server_free(w.executors[e].server);
                start_server(&w, e, port, 20 * MS);
        }
        w.env.limits.bytes = 65536;
        assert_int_equal(read_all(&w, 0, 40), 0);
        assert_true(w.executors[1].served + w.executors[2].served > 2);
        world_deinit(&w);
}

/* The server goes in the middle of a stream, and another one comes in its place. */
static void *restart(void *arg)
{
        struct world *w = arg;
        for (int i = 0; i < 5; i++) {
                poll(NULL, 0, 15);
                int port = transfer_server_port(w->executors[1].server);
                transfer_server_free(w->executors[1].server);
                start_server(w, 1, port, 0);
        }
        return NULL;
}

static void test_restarts(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        w.partitions = 1;
        make_maps(&w, 60, BOTH);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, restart, &w), 0);
        assert_int_equal(read_all(&w, 0, 1), 0);
        pthread_join(thread, NULL);
        world_deinit(&w);
}

/* ---------------------------------------------------------------------------------------------- what is lost */

static void test_missing(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 20, FORMS);
        int lost = a_remote_map(&w, 5);
        assert_true(
                shuffle_store_remove(w.executors[w.env.inputs->maps[lost].location].store, SHUFFLE, lost, 100 + lost));
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, lost, "is not here (any more)");
        /* Another attempt's output is another one. */
        again(&w);
        int64_t rows;
        struct shuffle_output *o = output_new(&w, lost, MEMORY, &rows);
        shuffle_store_put(w.executors[w.env.inputs->maps[lost].location].store, SHUFFLE, lost, 999, o);
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, lost, "is not here (any more)");
        /* One of this process, one that is nowhere, partitions that it does not have. */
        again(&w);
        w.env.inputs->maps[2].location = 0;
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, 2, "is not here any more");
        again(&w);
        w.env.inputs->maps[1].location = -1;
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, 1, "Missing an output location for shuffle 7");
        world_deinit(&w);
}

/* All files that this process has open and that have no name any more: what outputs are in. */
static int damage_files(void)
{
        int n = 0;
        for (int fd = 3; fd < 1024; fd++) {
                char name[64], target[512];
                snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
                ssize_t len = readlink(name, target, sizeof(target) - 1);
                target[MAX(len, 0)] = '\0';
                if (!strstr(target, "temp_local_"))
                        continue;
                unsigned char byte;
                if (pread(fd, &byte, 1, 5000) != 1)
                        continue;
                byte ^= 1;
                assert_int_equal(pwrite(fd, &byte, 1, 5000), 1);
                n++;
        }
        return n;
}

static void test_disk_damage(void **state)
{
        for (int here = 0; here < 2; here++) {
                struct world w;
                world_init(&w, (size_t)64 << 20, CODEC_NONE);
                make_maps(&w, 4, MEMORY);
                int64_t rows;
                int map = a_remote_map(&w, 0), location = w.env.inputs->maps[map].location;
                struct shuffle_output *o = output_new(&w, map, DISK, &rows);
                shuffle_store_put(w.executors[location].store, SHUFFLE, map, 100 + map, o);
                assert_int_equal(damage_files(), 1);
                w.env.here = here ? location : 0;
                w.env.store = w.executors[w.env.here].store;
                assert_int_equal(read_all(&w, 0, 0), -EBADMSG);
                assert_lost(&w, map, "damaged page");
                assert_int_equal(w.executors[location].served, here ? 0 : 2);
                world_deinit(&w);
        }
}

static bool all_lost(void *owner, int32_t executor)
{
        return true;
}

static void test_peer_is_gone(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 10, MEMORY);
        transfer_server_free(steal(w.executors[1].server));
        int map = 0;
        while (w.env.inputs->maps[map].location != 1)
                map++;
        assert_int_equal(read_all(&w, 0, 0), -ECONNREFUSED);
        assert_lost(&w, map, "cannot fetch map output");
        again(&w);
        w.env.lost = all_lost;
        assert_int_equal(read_all(&w, 0, 0), -ECONNREFUSED);
        assert_lost(&w, map, "from executor 1 (127.0.0.1:");
        world_deinit(&w);
}

static void test_server_fails(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 10, MEMORY);
        w.executors[2].breaks = 1;
        w.executors[2].after = 3000;
        assert_int_equal(read_all(&w, 0, 0), -EIO);
        assert_int_equal(w.run.fetch_executor, 12);
        world_deinit(&w);
}

static void test_no_memory(void **state)
{
        struct world w;
        world_init(&w, (size_t)400 << 10, CODEC_NONE);
        w.partitions = 1;
        make_maps(&w, 6, LARGE);
        assert_int_equal(read_all(&w, 0, 0), -ENOMEM);
        assert_false(w.run.fetch_failed);
        world_deinit(&w);
}

static void *stop_soon(void *arg)
{
        poll(NULL, 0, 40);
        __atomic_store_n((int *)arg, 1, __ATOMIC_RELAXED);
        return NULL;
}

static void test_told_to_stop(void **state)
{
        struct world w;
        int stop = 0;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 10, MEMORY);
        for (int e = 1; e < EXECUTORS; e++)
                transfer_server_free(steal(w.executors[e].server));
        transfer_client_free(w.client);
        w.client = w.env.client = transfer_client_new(
                &(struct transfer_client_options){.max_retries = 100, .retry_wait_ns = 100000 * MS});
        w.run.task.stopped = &stop;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &stop), 0);
        assert_int_equal(read_all(&w, 0, 0), -ECANCELED);
        assert_false(w.run.fetch_failed);
        pthread_join(thread, NULL);
        w.run.task.stopped = &w.run.stop;
        world_deinit(&w);
}

/* ---------------------------------------------------------------------------------------------- two processes */

/* A process that serves all maps, until it is killed; its port comes through the pipe. */
static pid_t serve_in_child(int maps, int *port)
{
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
                struct world w;
                world_init(&w, (size_t)64 << 20, CODEC_NONE);
                w.partitions = 1;
                for (int m = 0; m < maps; m++) {
                        int64_t rows;
                        shuffle_store_put(w.executors[0].store, SHUFFLE, m, 100 + m, output_new(&w, m, MEMORY, &rows));
                }
                int p = transfer_server_port(w.executors[0].server);
                if (write(ends[1], &p, sizeof(p)) != sizeof(p))
                        _exit(1);
                for (;;)
                        pause();
        }
        assert_true(pid > 0);
        assert_int_equal(read(ends[0], port, sizeof(*port)), sizeof(*port));
        close(ends[0]);
        close(ends[1]);
        return pid;
}

static void *kill_soon(void *arg)
{
        poll(NULL, 0, 30);
        kill(*(pid_t *)arg, SIGKILL);
        return NULL;
}

static void test_killed_process(void **state)
{
        enum { MAPS = 300 };
        int port = 0;
        pid_t pid = serve_in_child(MAPS, &port);
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        w.partitions = 1;
        free(w.env.locations[1].host);
        w.env.locations[1].host = mem_strdup("localhost");
        w.env.locations[1].port = port;
        *w.env.inputs =
                (struct shuffle_inputs){.shuffle_id = SHUFFLE, .n = MAPS, .maps = new_array(struct shuffle_map, MAPS)};
        w.rows = new_array(int64_t, MAPS);
        for (int m = 0; m < MAPS; m++) {
                w.env.inputs->maps[m] = (struct shuffle_map){.task_id = 100 + m, .location = 1};
                w.rows[m] = 200 + m % 7 * 200;
        }
        assert_int_equal(read_all(&w, 0, 0), 0);
        again(&w);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, kill_soon, &pid), 0);
        assert_true(read_all(&w, 0, 1) < 0);
        assert_true(w.run.fetch_failed);
        assert_int_equal(w.run.fetch_executor, 11);
        assert_true(w.run.fetch_map < MAPS);
        pthread_join(thread, NULL);
        waitpid(pid, NULL, 0);
        world_deinit(&w);
}

/* ---------------------------------------------------------------------------------------------------- the index */

static void test_index(void **state)
{
        struct world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        struct shuffle_store *s = w.executors[0].store;
        int64_t rows;
        for (int shuffle = 9; shuffle >= 0; shuffle--)
                for (int m = 0; m < 20; m++)
                        for (int t = 0; t < 3; t++)
                                shuffle_store_put(s, shuffle, m, m * 10 + t, output_new(&w, m, EMPTY, &rows));
        for (int t = 0; t < 3; t++) {
                struct shuffle_output *o = shuffle_store_get(s, 4, 7, 70 + t);
                assert_non_null(o);
                shuffle_output_unref(o);
        }
        assert_null(shuffle_store_get(s, 4, 7, 73));
        assert_null(shuffle_store_get(s, 4, 20, 200));
        assert_null(shuffle_store_get(s, 4, -1, 200));
        assert_null(shuffle_store_get(s, 10, 0, 0));
        assert_true(shuffle_store_remove(s, 4, 7, 70));
        assert_false(shuffle_store_remove(s, 4, 7, 70));
        assert_null(shuffle_store_get(s, 4, 7, 70));
        shuffle_store_put(s, 4, 7, 70, output_new(&w, 7, EMPTY, &rows));
        shuffle_store_put(s, 4, 7, 70, output_new(&w, 7, EMPTY, &rows)); /* takes the other's place */
        assert_int_equal(shuffle_store_remove_shuffle(s, 4), 60);
        assert_int_equal(shuffle_store_remove_shuffle(s, 4), 0);
        assert_null(shuffle_store_get(s, 4, 7, 71));
        assert_int_equal(shuffle_store_remove_shuffle(s, 9), 60);
        *w.env.inputs = (struct shuffle_inputs){.shuffle_id = 3};
        world_deinit(&w);
}

int main(void)
{
        log_set_level(LOG_OFF);
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_killed_process), cmocka_unit_test(test_index),
                cmocka_unit_test(test_all_forms),      cmocka_unit_test(test_many_maps),
                cmocka_unit_test(test_eviction),       cmocka_unit_test(test_wire_damage),
                cmocka_unit_test(test_slow_reader),    cmocka_unit_test(test_restarts),
                cmocka_unit_test(test_missing),        cmocka_unit_test(test_disk_damage),
                cmocka_unit_test(test_peer_is_gone),   cmocka_unit_test(test_server_fails),
                cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_told_to_stop),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
