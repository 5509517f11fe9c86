/*
 * Tests files and large results over loopback: fetched once for a host, checked against their hash, refused if missing
 * or wrong.
 */
#include "driver/backend/file_server.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/backend/result_getter.h"
#include "exec/app/app_files.h"
#include "exec/blocks/block_manager.h"
#include "exec/exec_env.h"
#include "net/sha256.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer_services.h"
#include "unit/temp_dir.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static const struct sha256_ops *sha256;

struct file_server_fixture {
        struct file_server *files;
        struct transfer_services services;
        struct transfer_server *server;
        struct transfer_client *client;
        struct block_location at;
        int fetched; /* atomic */
        struct exec_env env;
        struct block_manager *manager;
};

static char *in_folder(const char *name)
{
        return mem_printf("%s/%s", temp_dir, name);
}

static char *write_file(const char *name, size_t size, char seed)
{
        char *path = in_folder(name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (size_t i = 0; i < size; i++)
                fputc((char)(seed + (char)(i % 251)), f);
        fclose(f);
        return path;
}

static int fetch_file(void *owner, const struct Firesteel__FetchFile *request, struct transfer_stream **stream,
                      struct fst_error *error)
{
        struct file_server_fixture *f = owner;
        __atomic_add_fetch(&f->fetched, 1, __ATOMIC_RELAXED);
        return file_server_fetch_file(f->files, request, stream, error);
}

static int fetch_block(void *owner, const struct Firesteel__FetchBlock *request, struct transfer_stream **stream,
                       struct fst_error *error)
{
        struct file_server_fixture *f = owner;
        return block_manager_fetch_block(f->manager, request, stream, error);
}

static int no_locations(void *owner, struct block_name name, const int *stopped, struct block_location *out, int max,
                        struct fst_error *error)
{
        return 0;
}

static int set_up(void **state)
{
        struct file_server_fixture *f = new0(struct file_server_fixture);
        struct fst_conf *conf = new0(struct fst_conf);
        struct transfer_server_options o = {.host = "127.0.0.1", .threads = 1};
        conf_init(conf);
        assert_int_equal(exec_env_init(&f->env, conf, 64 << 20, NULL), 0);
        conf_free(conf);
        f->files = file_server_new(sha256);
        f->services = (struct transfer_services){.owner = f, .fetch_file = fetch_file, .fetch_block = fetch_block};
        assert_int_equal(transfer_server_new(&o, &transfer_services_handler, &f->services, &f->server, NULL), 0);
        f->client = transfer_client_new(&(struct transfer_client_options){.connections_per_peer = 1});
        strcpy(f->at.host, "127.0.0.1");
        f->at.port = transfer_server_port(f->server);
        f->manager =
                block_manager_new(&f->env, &(struct block_network){.client = f->client, .locations = no_locations});
        *state = f;
        return 0;
}

static int tear_down(void **state)
{
        struct file_server_fixture *f = *state;
        transfer_server_free(f->server);
        transfer_client_free(f->client);
        file_server_free(f->files);
        block_manager_free(f->manager);
        exec_env_deinit(&f->env);
        free(f);
        return 0;
}

static struct file_cache *cache_of(struct file_server_fixture *f)
{
        _cleanup_free_ char *dir = in_folder("cache");
        struct file_cache *cache;
        struct fst_error error = FST_ERROR_INIT;
        if (file_cache_new(dir, sha256, f->client, &f->at, &cache, &error))
                fail_msg("%s", error_message(&error));
        return cache;
}

struct file_getter {
        struct file_cache *cache;
        const uint8_t *hash;
        uint64_t size;
        pthread_t thread;
};

static void *get_on_thread(void *arg)
{
        struct file_getter *g = arg;
        char *path = NULL;
        assert_int_equal(file_cache_get(g->cache, g->hash, g->size, NULL, &path, NULL), 0);
        free(path);
        return NULL;
}

static void fetches_file_once_for_a_host(void **state)
{
        struct file_server_fixture *f = *state;
        _cleanup_free_ char *path = write_file("big", 3 << 20, 1), *got = NULL, *dir = in_folder("cache");
        uint8_t hash[FILE_HASH_SIZE];
        uint64_t size;
        struct stat st;
        struct file_cache *one = cache_of(f), *two = cache_of(f); /* as two executors */
        struct file_getter getters[6];
        assert_int_equal(file_server_add(f->files, path, hash, &size, NULL), 0);
        assert_int_equal(size, 3 << 20);
        for (int i = 0; i < 6; i++) {
                getters[i] = (struct file_getter){i % 2 ? one : two, hash, size, 0};
                pthread_create(&getters[i].thread, NULL, get_on_thread, &getters[i]);
        }
        for (int i = 0; i < 6; i++)
                pthread_join(getters[i].thread, NULL);
        assert_int_equal(f->fetched, 1);
        assert_int_equal(file_cache_get(two, hash, size, NULL, &got, NULL), 0);
        assert_int_equal(stat(got, &st), 0);
        assert_int_equal(st.st_size, 3 << 20);
        file_cache_free(one);
        assert_int_equal(stat(got, &st), 0); /* the other one still uses it */
        file_cache_free(two);
        assert_int_equal(stat(dir, &st), -1);
}

static void rejects_wrong_hashes(void **state)
{
        struct file_server_fixture *f = *state;
        _cleanup_free_ char *path = write_file("changing", 1000, 1), *got = NULL;
        uint8_t hash[FILE_HASH_SIZE], other[FILE_HASH_SIZE] = {1};
        uint64_t size;
        static const int stopped = 1;
        struct fst_error error = FST_ERROR_INIT;
        struct file_cache *cache = cache_of(f);
        assert_int_equal(file_server_add(f->files, path, hash, &size, NULL), 0);
        assert_int_equal(file_cache_get(cache, other, 5, NULL, &got, &error), -ENOENT);
        assert_int_equal(file_cache_get(cache, hash, size - 1, NULL, &got, &error), -EBADMSG);
        assert_int_equal(file_cache_get(cache, hash, size, &stopped, &got, &error), -ECANCELED);
        free(write_file("changing", 1000, 2));
        assert_int_equal(file_cache_get(cache, hash, size, NULL, &got, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "another checksum"));
        assert_null(got);
        free(write_file("changing", 1000, 1));
        assert_int_equal(file_cache_get(cache, hash, size, NULL, &got, &error), 0);
        assert_int_equal(file_server_add(f->files, "/nowhere/at/all", hash, &size, &error), -ENOENT);
        error_deinit(&error);
        file_cache_free(cache);
}

static void fetches_files_by_name(void **state)
{
        struct file_server_fixture *f = *state;
        _cleanup_free_ char *path = write_file("data.bin", 1000, 1), *dir = in_folder("exec"), *cwd = in_folder("cwd"),
                            *linked = in_folder("cwd/data.bin");
        uint8_t hash[FILE_HASH_SIZE], other[FILE_HASH_SIZE] = {1};
        uint64_t size;
        const char *here, *again;
        struct app_files *files;
        struct stat st;
        struct file_cache *cache = cache_of(f);
        assert_int_equal(app_files_new(dir, cache, &(struct archive_limits){1 << 20, 100}, &files, NULL), 0);
        assert_int_equal(file_server_add(f->files, path, hash, &size, NULL), 0);
        assert_int_equal(app_files_announce(files, "data.bin", hash, size, APP_FILE, NULL), 0);
        assert_int_equal(app_files_announce(files, "data.bin", hash, size, APP_FILE, NULL), 0);
        assert_int_equal(app_files_announce(files, "data.bin", other, size, APP_FILE, NULL), -EEXIST);
        assert_int_equal(app_files_announce(files, "../data.bin", hash, size, APP_FILE, NULL), -EINVAL);
        assert_int_equal(app_files_announce(files, "..", hash, size, APP_FILE, NULL), -EINVAL);
        assert_int_equal(app_files_announce(files, "", hash, size, APP_FILE, NULL), -EINVAL);
        assert_int_equal(app_files_path(files, "data.bin", NULL, &here, NULL), 0);
        assert_int_equal(app_files_path(files, "data.bin", NULL, &again, NULL), 0);
        assert_ptr_equal(here, again);
        assert_int_equal(stat(here, &st), 0);
        assert_int_equal(st.st_size, 1000);
        assert_int_equal(f->fetched, 1);
        assert_int_equal(mkdir(cwd, 0700), 0);
        assert_false(app_files_are_linked(files));
        assert_int_equal(app_files_link(files, cwd, NULL), 0);
        assert_true(app_files_are_linked(files));
        assert_int_equal(app_files_link(files, cwd, NULL), 0);
        assert_int_equal(stat(linked, &st), 0);
        assert_int_equal(app_files_path(files, "none", NULL, &here, NULL), -ENOENT);
        app_files_free(files);
        file_cache_free(cache);
        assert_int_equal(stat(dir, &st), -1);
}

/* --------------------------------------------------------------------------------------------------- large results */

struct got {
        pthread_mutex_t lock;
        pthread_cond_t come;
        int n, failed;
        size_t bytes;
};

static void on_file(void *owner, void *cookie, void *data, size_t len, int status, const char *message)
{
        struct got *g = owner;
        bool right = data && len == (size_t)(intptr_t)cookie * 100000;
        for (size_t i = 0; right && i < len; i += 999)
                right = ((char *)data)[i] == (char)(intptr_t)cookie;
        pthread_mutex_lock(&g->lock);
        g->n++;
        g->bytes += right ? len : 0;
        g->failed += status < 0 && message;
        pthread_cond_signal(&g->come);
        pthread_mutex_unlock(&g->lock);
        free(data);
}

static void await_files(struct got *g, int n)
{
        pthread_mutex_lock(&g->lock);
        while (g->n < n)
                pthread_cond_wait(&g->come, &g->lock);
        pthread_mutex_unlock(&g->lock);
}

static void fetches_large_results(void **state)
{
        struct file_server_fixture *f = *state;
        struct got got = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};
        struct result_getter *getter = result_getter_new(f->client, 3, on_file, &got);
        char *data = mem_alloc(2000000);
        for (int i = 1; i <= 20; i++) {
                memset(data, i, (size_t)i * 100000);
                assert_int_equal(block_manager_keep_result(f->manager, i, data, (size_t)i * 100000, NULL), 0);
        }
        for (intptr_t i = 1; i <= 20; i++)
                result_getter_fetch(getter, &f->at, i, (size_t)i * 100000, (void *)i);
        await_files(&got, 20);
        assert_int_equal(got.bytes, 210 * 100000);
        assert_int_equal(got.failed, 0);
        result_getter_fetch(getter, &f->at, 99, 10, NULL);         /* does not exist */
        result_getter_fetch(getter, &f->at, 3, 299999, (void *)3); /* longer */
        result_getter_fetch(getter, &f->at, 3, 300001, (void *)3); /* shorter */
        assert_true(block_manager_remove(f->manager, (struct block_name){BLOCK_TASK_RESULT, 4, 0}));
        assert_false(block_manager_remove(f->manager, (struct block_name){BLOCK_TASK_RESULT, 4, 0}));
        result_getter_fetch(getter, &f->at, 4, 400000, (void *)4);
        await_files(&got, 24);
        assert_int_equal(got.failed, 4);
        for (intptr_t i = 11; i <= 20; i++)
                result_getter_fetch(getter, &f->at, i, (size_t)i * 100000, (void *)i);
        result_getter_free(getter); /* a fetch is running: each is reported all the same */
        assert_int_equal(got.n, 34);
        free(data);
}

static int start_server(void **state)
{
        log_set_level(LOG_OFF);
        return temp_dir_make(NULL) == 0 && sha256_load(&sha256, NULL) == 0 ? 0 : -1;
}

static int stop_server(void **state)
{
        _cleanup_free_ char *command = mem_printf("rm -rf %s", temp_dir);
        return system(command);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        const struct CMUnitTest tests[] = {test(fetches_file_once_for_a_host), test(rejects_wrong_hashes),
                                           test(fetches_files_by_name), test(fetches_large_results)};
        return cmocka_run_group_tests(tests, start_server, stop_server);
}
