/*
 * Fixture for shuffles with map outputs at several executors: three stores, each with its own transfer server, and one
 * reader, which must see the rows of all maps in order, or name the output that is missing.
 */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer_services.h"
#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_receiver.h"
#include "shuffle/shuffle_server.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/stage_outputs.h"
#include "store/disk_dirs.h"
#include "store/file_cipher.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS ((int64_t)1000000)
#define TYPE FST_PAIR(I64, BYTES)
#define SHUFFLE 7

#define FIXTURE_SECRET "0123456789abcdef" /* encrypts files where the codec is lz4 */

enum { EXECUTORS = 3 };

/* One executor. Its streams can flip a bit or break off. */
struct shuffle_executor {
        struct shuffle_store *store;
        struct memory_manager *memory; /* of the fixture */
        struct transfer_services services;
        struct transfer_server *server;
        int flips;     /* atomic: number of further streams with a flipped bit */
        int64_t after; /* bytes before the flipped bit or the end */
        int breaks;    /* atomic: number of further streams that break off */
        int served;    /* atomic: number of streams */
};

struct shuffle_world {
        struct disk_dirs *dirs;
        struct memory_manager *memory;
        struct spill_space space;
        struct shuffle_executor executors[EXECUTORS];
        struct transfer_client *client;
        struct shuffle_reader_env env;
        struct task_run run;
        int64_t *rows; /* rows of each map in the partition */
        int partitions;
        pid_t victim; /* read_all kills this process when it has a page; 0: none */
};

/* ---------------------------------------------------------------------------------------------- faulty streams */

struct faulty {
        struct transfer_stream stream;
        struct transfer_stream *real;
        bool flip, breaks;
        int64_t left;
        unsigned char *copy;
};

static inline int faulty_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
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

static inline void faulty_close(struct transfer_stream *stream)
{
        struct faulty *f = container_of(stream, struct faulty, stream);
        f->real->class->close(f->real);
        free(f->copy);
        free(f);
}

static const struct transfer_stream_class faulty_class = {.next = faulty_next, .close = faulty_close};

static inline bool take_one(int *counter)
{
        if (__atomic_load_n(counter, __ATOMIC_RELAXED) <= 0)
                return false;
        __atomic_sub_fetch(counter, 1, __ATOMIC_RELAXED);
        return true;
}

static inline int fetch_shuffle(void *owner, const struct Firesteel__FetchShuffle *request,
                                struct transfer_stream **stream, struct fst_error *error)
{
        struct shuffle_executor *e = owner;
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

static inline int put_shuffle(void *owner, const struct Firesteel__PutShuffle *request, struct transfer_sink **sink,
                              struct fst_error *error)
{
        struct shuffle_executor *e = owner;
        return shuffle_receiver_open(e->store, e->memory, request, sink, error);
}

/* -------------------------------------------------------------------------------------------------- the fixture */

static inline void start_server(struct shuffle_world *w, int e, int port, int64_t idle_ns)
{
        struct shuffle_executor *x = &w->executors[e];
        struct transfer_server_options options = {
                .host = "127.0.0.1", .port = port, .threads = 1, .idle_ns = idle_ns, .handshake_ns = idle_ns};
        x->services =
                (struct transfer_services){.owner = x, .fetch_shuffle = fetch_shuffle, .put_shuffle = put_shuffle};
        x->memory = w->memory;
        assert_int_equal(transfer_server_new(&options, &transfer_services_handler, &x->services, &x->server, NULL), 0);
}

static inline void world_init(struct shuffle_world *w, size_t memory, enum codec_kind codec)
{
        *w = (struct shuffle_world){.partitions = 5};
        assert_int_equal(disk_dirs_new("/tmp", 4, &w->dirs, NULL), 0);
        struct file_key *key = NULL;
        if (codec == CODEC_LZ4)
                assert_int_equal(file_key_from(FIXTURE_SECRET, 16, &key, NULL), 0);
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

static inline void world_deinit(struct shuffle_world *w)
{
        task_run_deinit(&w->run);
        for (int e = 0; e < EXECUTORS; e++)
                transfer_server_free(w->executors[e].server);
        transfer_client_free(w->client);
        shuffle_reader_env_deinit(&w->env);
        for (int e = 0; e < EXECUTORS; e++)
                shuffle_store_free(w->executors[e].store);
        assert_int_equal(memory_manager_execution_used(w->memory), 0);
        assert_int_equal(memory_manager_storage_used(w->memory), 0);
        memory_manager_free(w->memory);
        disk_dirs_free(w->dirs);
        free(w->rows);
}

enum output_form { EMPTY, MEMORY, DISK, BOTH, LARGE, LARGE_ON_DISK, FORMS };

static inline void add_row(struct shuffle_output *o, uint32_t partition, struct page **open, int64_t key, size_t size)
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

/* Makes an output whose row i in partition p of map m has the key m * 1000000 + p * 10000 + i. */
static inline struct shuffle_output *output_new(struct shuffle_world *w, int map, enum output_form form, int64_t *rows)
{
        struct shuffle_output *o = shuffle_output_new(w->partitions, TYPE, w->memory);
        bool large = form == LARGE || form == LARGE_ON_DISK;
        size_t freed = 0;
        *rows = form == EMPTY ? 0 : large ? 3 : 200 + map % 7 * 200;
        for (int half = 0; half < 2; half++) {
                for (int p = 0; p < w->partitions && *rows; p++) {
                        struct page *open = NULL;
                        if (p == 3)
                                continue; /* this partition stays empty */
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

/* Makes @n maps in all forms, distributed over the executors. */
static inline void make_maps(struct shuffle_world *w, int n, enum output_form only)
{
        struct shuffle_inputs *in = w->env.inputs;
        *in = (struct shuffle_inputs){.shuffle_id = SHUFFLE, .n = n, .maps = new_array(struct shuffle_map, (size_t)n)};
        w->rows = new_array(int64_t, (size_t)n);
        for (int m = 0; m < n; m++) {
                int at = m * 7 / 2 % EXECUTORS;
                enum output_form form = only == FORMS ? (enum output_form)(m * 5 / 3 % FORMS) : only;
                struct shuffle_output *o = output_new(w, m, form, &w->rows[m]);
                shuffle_store_put(w->executors[at].store, SHUFFLE, m, 100 + m, o);
                in->maps[m] = (struct shuffle_map){.task_id = 100 + m, .location = at};
        }
}

/* Reads partition @p. The rows must be complete and in order, or a prefix followed by a failure. Returns the status. */
static inline int read_all(struct shuffle_world *w, int p, int pause_ms)
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
                if (w->victim) {
                        kill(w->victim, SIGKILL);
                        w->victim = 0;
                }
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

/* The next task belongs to another attempt of the stage, whose outputs may be elsewhere. */
static inline void shuffle_run_again(struct shuffle_world *w)
{
        stage_outputs_end(w->env.inputs);
        w->env.inputs->ended = false;
        task_run_end(&w->run);
        task_run_begin(&w->run, &(struct fst_task_info){0}, 1);
}

static inline void assert_lost(struct shuffle_world *w, int map, const char *why)
{
        assert_true(w->run.fetch_failed);
        assert_int_equal(w->run.fetch_shuffle, SHUFFLE);
        assert_int_equal(w->run.fetch_map, map);
        int32_t location = w->env.inputs->maps[map].location;
        assert_int_equal(w->run.fetch_executor, location < 0 ? -1 : w->env.locations[location].executor);
        if (!strstr(w->run.error.message, why))
                fail_msg("\"%s\" does not say \"%s\"", w->run.error.message, why);
}

/* Returns the first map at an executor other than the reader's. */
static inline int a_remote_map(const struct shuffle_world *w, int from)
{
        for (int m = from;; m++)
                if (w->env.inputs->maps[m].location > 0 && w->rows[m])
                        return m;
}
