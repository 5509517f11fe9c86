/* Tests reads of shuffles with map outputs at several executors, in this process or in a child. */
#include "shuffle/shuffle_fixture.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer_services.h"
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
/* --------------------------------------------------------------------------------------------------- success */

static void test_all_forms(void **state)
{
        static const struct shuffle_fetch_limits limits[] = {
                {0}, {.requests = 1}, {.per_address = 1}, {.requests = 1, .per_address = 2}, {.bytes = 65536}};
        for (enum codec_kind codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
                struct shuffle_world w;
                int64_t waited = 0;
                world_init(&w, (size_t)64 << 20, codec);
                make_maps(&w, 40, FORMS);
                for (size_t l = 0; l < ARRAY_SIZE(limits); l++)
                        for (int p = 0; p < w.partitions; p++) {
                                w.env.limits = limits[l];
                                w.env.here = (int)(l + (size_t)p) % (EXECUTORS + 1) - 1;
                                w.env.store = w.env.here < 0 ? NULL : w.executors[w.env.here].store;
                                shuffle_run_again(&w);
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
        struct shuffle_world w;
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
        shuffle_run_again(&w);
        assert_int_equal(read_all(&w, 1, 0), 0);
        assert_true(w.executors[1].served >= 11);
        world_deinit(&w);
}

/* Moves outputs to disk while they are served. */
static void *evict(void *arg)
{
        struct shuffle_world *w = arg;
        for (int i = 0; i < 200; i++) {
                shuffle_store_evict(w->executors[1 + i % 2].store, 300000);
                poll(NULL, 0, 1);
        }
        return NULL;
}

static void test_eviction(void **state)
{
        struct shuffle_world w;
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
                shuffle_run_again(&w);
                assert_int_equal(read_all(&w, i % w.partitions, 0), 0);
        }
        pthread_join(thread, NULL);
        world_deinit(&w);
}

static struct shuffle_output *put_copy(struct shuffle_world *w, int map, enum output_form form)
{
        int64_t rows;
        struct shuffle_output *o = output_new(w, map, form, &rows);
        o->memory = o->pages * PAGE_BLOCK;
        assert_true(memory_acquire_storage(w->memory, o->memory));
        shuffle_store_enlist(w->executors[0].store, o);
        shuffle_store_put_copy(w->executors[0].store, SHUFFLE, map, 100 + map, o);
        return o;
}

static void copies_are_dropped_when_memory_is_needed(void **state)
{
        struct shuffle_world w;
        size_t n, memory;
        world_init(&w, (size_t)256 << 20, CODEC_LZ4);
        struct shuffle_store *s = w.executors[0].store;
        memory = put_copy(&w, 0, MEMORY)->memory;
        put_copy(&w, 1, MEMORY);
        put_copy(&w, 2, DISK); /* is not kept */
        assert_null(shuffle_store_get(s, SHUFFLE, 2, 102));
        free(shuffle_store_list(s, &n));
        assert_int_equal(n, 0);
        /* The oldest is dropped, without a file. One that is read stays with its reader. */
        struct shuffle_output *read = shuffle_store_get(s, SHUFFLE, 1, 101);
        assert_int_equal(shuffle_store_evict(s, 1), memory);
        assert_null(shuffle_store_get(s, SHUFFLE, 0, 100));
        assert_int_equal(shuffle_store_evict(s, 1), 0);
        assert_null(shuffle_store_get(s, SHUFFLE, 1, 101));
        assert_null(read->file);
        assert_true(read->pages > 0);
        shuffle_output_unref(read);
        assert_int_equal(memory_manager_storage_used(w.memory), 0);
        *w.env.inputs = (struct shuffle_inputs){.shuffle_id = SHUFFLE};
        world_deinit(&w);
}

/* --------------------------------------------------------------------------------------------------- recovery */

static void test_wire_damage(void **state)
{
        struct shuffle_world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 20, FORMS);
        /* Damages one byte anywhere: record headers, page headers, and pages. */
        for (int64_t after = 0; after < 400000; after += after < 200 ? 7 : 33333) {
                w.executors[1].after = after;
                w.executors[1].flips = 1;
                shuffle_run_again(&w);
                assert_int_equal(read_all(&w, 0, 0), 0);
        }
        /* Damages the first page each time it is requested. */
        w.executors[1].flips = 1000;
        w.executors[1].after = 1000;
        shuffle_run_again(&w);
        assert_true(read_all(&w, 0, 0) < 0);
        assert_true(w.run.fetch_failed);
        assert_int_equal(w.run.fetch_executor, 11);
        world_deinit(&w);
}

/* The task computes for so long that the server closes the stream. Reading continues at the same page. */
static void test_slow_reader(void **state)
{
        struct shuffle_world w;
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

/* Stops the server in the middle of a stream and starts another one at its address. */
static void *restart(void *arg)
{
        struct shuffle_world *w = arg;
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
        struct shuffle_world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        w.partitions = 1;
        make_maps(&w, 60, BOTH);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, restart, &w), 0);
        assert_int_equal(read_all(&w, 0, 1), 0);
        pthread_join(thread, NULL);
        world_deinit(&w);
}

/* ---------------------------------------------------------------------------------------------------- losses */

static void test_missing(void **state)
{
        struct shuffle_world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 20, FORMS);
        int lost = a_remote_map(&w, 5);
        assert_true(
                shuffle_store_remove(w.executors[w.env.inputs->maps[lost].location].store, SHUFFLE, lost, 100 + lost));
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, lost, "is not here (any more)");
        /* An output of another attempt does not replace it. */
        shuffle_run_again(&w);
        int64_t rows;
        struct shuffle_output *o = output_new(&w, lost, MEMORY, &rows);
        shuffle_store_put(w.executors[w.env.inputs->maps[lost].location].store, SHUFFLE, lost, 999, o);
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, lost, "is not here (any more)");
        /* Outputs of this process, without a location, and partitions that do not exist. */
        shuffle_run_again(&w);
        w.env.inputs->maps[2].location = 0;
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, 2, "is not here any more");
        shuffle_run_again(&w);
        w.env.inputs->maps[1].location = -1;
        assert_int_equal(read_all(&w, 0, 0), -ENOENT);
        assert_lost(&w, 1, "Missing an output location for shuffle 7");
        world_deinit(&w);
}

/* Damages all open files of this process without a name: they hold the outputs. */
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
                struct shuffle_world w;
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
        struct shuffle_world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 10, MEMORY);
        transfer_server_free(steal(w.executors[1].server));
        int map = 0;
        while (w.env.inputs->maps[map].location != 1)
                map++;
        assert_int_equal(read_all(&w, 0, 0), -ECONNREFUSED);
        assert_lost(&w, map, "cannot fetch map output");
        shuffle_run_again(&w);
        w.env.lost = all_lost;
        assert_int_equal(read_all(&w, 0, 0), -ECONNREFUSED);
        assert_lost(&w, map, "from executor 1 (127.0.0.1:");
        world_deinit(&w);
}

static void test_server_fails(void **state)
{
        struct shuffle_world w;
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
        struct shuffle_world w;
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

static void test_killed_task(void **state)
{
        struct shuffle_world w;
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

/* Forks a process that serves all maps until it is killed and sends its port through the pipe. */
static pid_t serve_in_child(int maps, int *port)
{
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
                struct shuffle_world w;
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

static void test_killed_process(void **state)
{
        enum { MAPS = 300 };
        int port = 0;
        pid_t pid = serve_in_child(MAPS, &port);
        struct shuffle_world w;
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
        shuffle_run_again(&w);
        w.victim = pid; /* most maps are still there */
        assert_true(read_all(&w, 0, 0) < 0);
        assert_true(w.run.fetch_failed);
        assert_int_equal(w.run.fetch_executor, 11);
        assert_true(w.run.fetch_map < MAPS);
        waitpid(pid, NULL, 0);
        world_deinit(&w);
}

/* ---------------------------------------------------------------------------------------------------- the index */

static void test_index(void **state)
{
        struct shuffle_world w;
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
        shuffle_store_put(s, 4, 7, 70, output_new(&w, 7, EMPTY, &rows)); /* replaces the other output */
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
                cmocka_unit_test(copies_are_dropped_when_memory_is_needed),
                cmocka_unit_test(test_killed_process),
                cmocka_unit_test(test_index),
                cmocka_unit_test(test_all_forms),
                cmocka_unit_test(test_many_maps),
                cmocka_unit_test(test_eviction),
                cmocka_unit_test(test_wire_damage),
                cmocka_unit_test(test_slow_reader),
                cmocka_unit_test(test_restarts),
                cmocka_unit_test(test_missing),
                cmocka_unit_test(test_disk_damage),
                cmocka_unit_test(test_peer_is_gone),
                cmocka_unit_test(test_server_fails),
                cmocka_unit_test(test_no_memory),
                cmocka_unit_test(test_killed_task),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
