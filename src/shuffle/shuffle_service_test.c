/*
 * Tests map outputs that outlive their executors: written to files and fetched in all forms from a shuffle service by
 * the usual reader; a restarted service; damaged and missing files; invalid registrations.
 */
#include "shuffle/shuffle_fixture.h"

#include "conf/conf.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_client.h"
#include "shuffle/shuffle_service_client.h"
#include "shuffle/shuffle_files.h"
#include "shuffle/shuffle_service.h"
#include "unit/temp_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define APP "app-20261122-0001"

/* The fixture after its executors ended: a service serves their files. */
struct served_world {
        struct shuffle_world w;
        struct fst_conf conf;
        char base[TEMP_DIR_SIZE];
        struct shuffle_files *files[EXECUTORS];
        struct shuffle_service *service;
        struct service_client *client;
};

static void start(struct served_world *s, int port)
{
        struct fst_error error = FST_ERROR_INIT;
        struct shuffle_service_options options = {
                .conf = &s->conf, .host = "127.0.0.1", .port = port, .state_dir = s->base};
        if (shuffle_service_new(&options, &s->service, &error))
                fail_msg("%s", error_message(&error));
        for (int e = 0; e < EXECUTORS; e++)
                s->w.env.locations[e].port = shuffle_service_port(s->service);
}

/* Sends a request to the service. The reply is empty, or *@error has its message. */
static int ask(struct served_world *s, Firesteel__TransferRequest *request, struct fst_error *error)
{
        unsigned char data[65536], rest[16];
        struct transfer_input *input = NULL;
        assert_true(firesteel__transfer_request__get_packed_size(request) <= sizeof(data));
        size_t len = firesteel__transfer_request__pack(request, data);
        int r = transfer_open(s->w.client, "127.0.0.1", shuffle_service_port(s->service), data, len, NULL, &input,
                              error);
        ssize_t n = r ? r : transfer_read(input, rest, sizeof(rest), error);
        transfer_close(input);
        return n < 0 ? (int)n : 0;
}

static int register_executor(struct served_world *s, const char *app, const char *id, char **directories, size_t n,
                             int subdirectories, struct fst_error *error)
{
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        Firesteel__RegisterShuffle body = FIRESTEEL__REGISTER_SHUFFLE__INIT;
        body.app_id = (char *)app;
        body.executor_id = (char *)id;
        body.directories = directories;
        body.n_directories = n;
        body.subdirectories = subdirectories;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_REGISTER_SHUFFLE;
        request.register_shuffle = &body;
        return ask(s, &request, error);
}

/* Fills @roots with the directories of executor @e. */
static size_t roots_of(const struct served_world *s, int e, char *roots[static 4])
{
        const struct disk_dirs *dirs = shuffle_files_dirs(s->files[e]);
        for (size_t i = 0; i < disk_dirs_count(dirs); i++)
                roots[i] = (char *)disk_dirs_root(dirs, i);
        return disk_dirs_count(dirs);
}

static void keep(struct served_world *s, int e, int map, struct shuffle_output *output)
{
        struct fst_error error = FST_ERROR_INIT;
        struct shuffle_output *kept;
        if (shuffle_files_keep(s->files[e], SHUFFLE, map, 100 + map, output, &kept, &error))
                fail_msg("%s", error_message(&error));
        assert_int_equal(kept->pages, 0);
        assert_int_equal(kept->rows, output->rows);
        shuffle_output_unref(kept);
}

/* All executors write @n map outputs, the first of them twice, and end. */
static void served_init(struct served_world *s, enum codec_kind codec, int n, enum output_form form)
{
        struct fst_error error = FST_ERROR_INIT;
        world_init(&s->w, (size_t)64 << 20, codec);
        conf_init(&s->conf);
        temp_dir_new(s->base);
        make_maps(&s->w, n, form);
        s->w.env.here = -1;
        s->w.env.app_id = APP;
        assert_int_equal(service_client_new(&s->conf, APP, 2, &s->client, NULL), 0);
        s->w.env.service_client = service_client_transfers(s->client);
        start(s, 0);
        for (int e = 0; e < EXECUTORS; e++) {
                _cleanup_free_ char *list = mem_printf("%s/%d/a,%s/%d/b", s->base, e, s->base, e);
                struct file_key *key = NULL;
                if (codec == CODEC_LZ4)
                        assert_int_equal(file_key_from(FIXTURE_SECRET, 16, &key, NULL), 0);
                if (shuffle_files_new(list, 4, &s->w.space, key, &s->files[e], &error))
                        fail_msg("%s", error_message(&error));
                s->w.env.locations[e].service = true;
                int port = shuffle_service_port(s->service);
                const char *id = s->w.env.locations[e].executor_id;
                assert_int_equal(service_client_register(s->client, "127.0.0.1", port, id,
                                                         shuffle_files_dirs(s->files[e]), 4, NULL),
                                 0);
        }
        for (int m = 0; m < n; m++) {
                int e = s->w.env.inputs->maps[m].location;
                struct shuffle_output *o = shuffle_store_get(s->w.executors[e].store, SHUFFLE, m, 100 + m);
                keep(s, e, m, o);
                if (m == 0)
                        keep(s, e, m, o);
                shuffle_output_unref(o);
                shuffle_store_remove(s->w.executors[e].store, SHUFFLE, m, 100 + m);
        }
}

static void served_deinit(struct served_world *s)
{
        service_client_free(s->client);
        shuffle_service_free(s->service);
        for (int e = 0; e < EXECUTORS; e++)
                shuffle_files_remove_all(s->files[e]);
        conf_deinit(&s->conf);
        world_deinit(&s->w);
        char command[128];
        snprintf(command, sizeof(command), "rm -rf %s", s->base);
        assert_int_equal(system(command), 0);
}

static int files_below(const char *directory)
{
        char command[256], number[32];
        snprintf(command, sizeof(command), "find %s -name 'shuffle_*_*' | wc -l", directory);
        FILE *f = popen(command, "r");
        assert_non_null(f);
        assert_non_null(fgets(number, sizeof(number), f));
        pclose(f);
        return atoi(number);
}

static void read_everything(struct served_world *s)
{
        for (int p = 0; p < s->w.partitions; p++) {
                shuffle_run_again(&s->w);
                if (read_all(&s->w, p, 0))
                        fail_msg("%s", s->w.run.error.message);
        }
}

/* Also encrypted files, for which the service has no key. */
static void test_all_forms_are_served_when_executors_are_gone(void **state)
{
        for (enum codec_kind codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
                struct served_world s;
                served_init(&s, codec, 24, FORMS);
                read_everything(&s);
                struct shuffle_service_counters c = shuffle_service_counters(s.service);
                assert_int_equal(c.registrations, EXECUTORS);
                assert_int_equal(c.executors, EXECUTORS);
                assert_int_equal(c.applications, 1);
                assert_int_equal(c.cached, 24);
                assert_int_equal(c.not_registered, 0);
                for (int e = 0; e < EXECUTORS; e++)
                        assert_int_equal(s.w.executors[e].served, 0);
                served_deinit(&s);
        }
}

static void test_a_second_output_replaces_the_first(void **state)
{
        struct served_world s;
        served_init(&s, CODEC_LZ4, 4, FORMS);
        assert_int_equal(files_below(s.base), 2 * 4);
        read_everything(&s);
        served_deinit(&s);
}

static void test_a_restarted_service_serves_as_before(void **state)
{
        struct served_world s;
        served_init(&s, CODEC_ZSTD, 6, FORMS);
        int port = shuffle_service_port(s.service);
        shuffle_service_free(s.service);
        start(&s, port);
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS);
        read_everything(&s);
        /* A damaged file is reported and removed from the cache. */
        shuffle_service_free(s.service);
        _cleanup_free_ char *path = mem_printf("%s/registeredExecutors.fst", s.base);
        int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, "X", 1, 20), 1);
        close(fd);
        start(&s, port);
        assert_int_equal(shuffle_service_counters(s.service).executors, 0);
        shuffle_run_again(&s.w);
        int map = 0;
        while (s.w.rows[map] == 0)
                map++;
        assert_true(read_all(&s.w, 0, 0) < 0);
        assert_true(s.w.run.fetch_failed);
        assert_non_null(strstr(s.w.run.error.message, "Executor is not registered (appId=" APP));
        served_deinit(&s);
}

/* The directories of one executor were removed while the service was down: the executor counts as unregistered. */
static void test_a_restarted_service_drops_executors_without_directories(void **state)
{
        struct served_world s;
        char *roots[4];
        char command[4200];
        served_init(&s, CODEC_NONE, 6, MEMORY);
        int port = shuffle_service_port(s.service);
        shuffle_service_free(s.service);
        size_t n = roots_of(&s, 1, roots);
        assert_int_equal(n, 2);
        snprintf(command, sizeof(command), "rm -r %s", roots[0]);
        assert_int_equal(system(command), 0);
        start(&s, port);
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS); /* one directory is left */
        shuffle_service_free(s.service);
        snprintf(command, sizeof(command), "rm -r %s", roots[1]);
        assert_int_equal(system(command), 0);
        start(&s, port);
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS - 1);
        shuffle_run_again(&s.w);
        assert_true(read_all(&s.w, 0, 0) < 0);
        assert_true(s.w.run.fetch_failed);
        _cleanup_free_ char *why =
                mem_printf("Executor is not registered (appId=" APP ", execId=%s)", s.w.env.locations[1].executor_id);
        assert_non_null(strstr(s.w.run.error.message, why));
        /* It stays so after another registration. */
        _cleanup_free_ char *elsewhere = mem_printf("%s/else", s.base);
        assert_int_equal(register_executor(&s, "app-2", "0", &elsewhere, 1, 64, NULL), 0);
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS);
        shuffle_service_free(s.service);
        start(&s, port);
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS - 1);
        served_deinit(&s);
}

static void test_indexes_leave_the_cache(void **state)
{
        struct served_world s;
        conf_init(&s.conf);
        served_init(&s, CODEC_NONE, 24, MEMORY);
        shuffle_service_free(s.service);
        conf_set(&s.conf, "spark.shuffle.service.index.cache.size", "2k");
        start(&s, 0);
        read_everything(&s);
        struct shuffle_service_counters c = shuffle_service_counters(s.service);
        assert_true(c.cached > 0);
        assert_true(c.cached < 24);
        assert_true(c.cached_bytes <= 2048);
        served_deinit(&s);
}

static void test_a_damaged_output_is_a_fetch_failure(void **state)
{
        struct served_world s;
        char command[256];
        served_init(&s, CODEC_NONE, 6, MEMORY);
        /* Damages one byte of an index. */
        snprintf(command, sizeof(command),
                 "printf X | dd of=$(find %s -name 'shuffle_7_2_102.index') bs=1 seek=9 conv=notrunc status=none",
                 s.base);
        assert_int_equal(system(command), 0);
        assert_true(read_all(&s.w, 0, 0) < 0);
        assert_lost(&s.w, 2, "is not here");
        served_deinit(&s);
}

static void test_a_file_that_ends_too_early_is_a_fetch_failure(void **state)
{
        struct served_world s;
        char command[256];
        served_init(&s, CODEC_NONE, 6, MEMORY);
        snprintf(command, sizeof(command), "truncate -s -1 $(find %s -name 'shuffle_7_1_101.data')", s.base);
        assert_int_equal(system(command), 0);
        assert_true(read_all(&s.w, 0, 0) < 0);
        assert_lost(&s.w, 1, "is not here");
        served_deinit(&s);
}

static void test_removes_released_outputs(void **state)
{
        struct served_world s;
        served_init(&s, CODEC_NONE, 6, MEMORY);
        assert_int_equal(files_below(s.base), 12);
        read_everything(&s);
        for (int m = 0; m < 6; m++) {
                int e = s.w.env.inputs->maps[m].location;
                struct released_output outputs[] = {{SHUFFLE + 1, m, 100 + m}, {SHUFFLE, m, 100 + m}, {-1, -1, -1}};
                const char *id = s.w.env.locations[e].executor_id;
                int port = shuffle_service_port(s.service);
                assert_int_equal(service_client_remove(s.client, "127.0.0.1", port, id, outputs, m < 5 ? 3 : 0, NULL),
                                 0);
        }
        assert_int_equal(files_below(s.base), 2);
        assert_int_equal(shuffle_service_counters(s.service).cached, 1);
        char *roots[4];
        int last = s.w.env.inputs->maps[5].location;
        struct shuffle_roots of_last = {.at = roots, .n = roots_of(&s, last, roots), .subdirectories = 4};
        assert_int_equal(shuffle_roots_remove_shuffle(&of_last, SHUFFLE), 2);
        assert_int_equal(files_below(s.base), 0);
        shuffle_run_again(&s.w);
        assert_true(read_all(&s.w, 0, 0) < 0);
        assert_lost(&s.w, 0, "is not here");
        served_deinit(&s);
}

static void test_the_end_of_an_application_removes_only_its_files(void **state)
{
        struct served_world s;
        char *roots[4];
        served_init(&s, CODEC_NONE, 6, MEMORY);
        /* A foreign file in a registered directory, and another application's executor. */
        roots_of(&s, 0, roots);
        _cleanup_free_ char *other = mem_printf("%s/precious", roots[0]);
        close(open(other, O_CREAT | O_WRONLY, 0600));
        _cleanup_free_ char *elsewhere = mem_printf("%s/else", s.base);
        assert_int_equal(register_executor(&s, "app-2", "0", &elsewhere, 1, 64, NULL), 0);
        shuffle_service_end_application(s.service, "app-3", true);
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS + 1);
        assert_int_equal(service_client_end_application(s.client, "127.0.0.1", shuffle_service_port(s.service), NULL),
                         0);
        assert_int_equal(files_below(s.base), 0);
        assert_int_equal(access(other, F_OK), 0);
        assert_int_equal(shuffle_service_counters(s.service).executors, 1);
        roots_of(&s, 1, roots);
        assert_int_equal(access(roots[0], F_OK), -1);
        served_deinit(&s);
}

static void test_the_files_of_a_silent_driver_are_removed(void **state)
{
        struct served_world s;
        served_init(&s, CODEC_NONE, 6, MEMORY);
        shuffle_service_free(s.service);
        conf_set(&s.conf, "spark.shuffle.cleaner.interval", "5ms");
        start(&s, 0);
        const int port = shuffle_service_port(s.service);
        assert_int_equal(service_client_heartbeat(s.client, "127.0.0.1", port, 60000, NULL), 0);
        assert_int_equal(service_client_heartbeat(s.client, "127.0.0.1", port, 60000, NULL), 0);
        assert_int_equal(files_below(s.base), 12);
        read_everything(&s);
        assert_true(service_client_heartbeat(s.client, "127.0.0.1", port, 0, NULL) < 0);
        assert_int_equal(service_client_heartbeat(s.client, "127.0.0.1", port, 1, NULL), 0); /* the last one */
        while (shuffle_service_counters(s.service).executors > 0 || files_below(s.base) > 0)
                usleep(2000);
        served_deinit(&s);
}

static void refuse(struct served_world *s, const char *app, const char *id, const char *directory, int subdirectories,
                   const char *why)
{
        struct fst_error error = FST_ERROR_INIT;
        char *one = (char *)directory;
        assert_true(register_executor(s, app, id, &one, directory ? 1 : 0, subdirectories, &error) < 0);
        if (!strstr(error_message(&error), why))
                fail_msg("\"%s\" does not say \"%s\"", error_message(&error), why);
        error_deinit(&error);
}

static void test_rejects_invalid_registrations(void **state)
{
        struct served_world s;
        served_init(&s, CODEC_NONE, 0, EMPTY);
        refuse(&s, "", "1", "/tmp/x", 64, "needs the ids of application and executor");
        refuse(&s, APP, "", "/tmp/x", 64, "needs the ids of application and executor");
        refuse(&s, APP, "1", NULL, 64, "has 0 directories");
        refuse(&s, APP, "1", "tmp", 64, "\"tmp\", which is not an absolute path");
        refuse(&s, APP, "1", "/tmp/../etc", 64, "which is not an absolute path");
        refuse(&s, APP, "1", "/tmp/..", 64, "which is not an absolute path");
        refuse(&s, APP, "1", "/tmp/x", 0, "with 0 in each");
        refuse(&s, APP, "1", "/tmp/x", 5000, "with 5000 in each");
        assert_int_equal(shuffle_service_counters(s.service).executors, EXECUTORS);
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        Firesteel__FetchBlock body = FIRESTEEL__FETCH_BLOCK__INIT;
        struct fst_error error = FST_ERROR_INIT;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_BLOCK;
        request.fetch_block = &body;
        assert_true(ask(&s, &request, &error) < 0);
        assert_non_null(strstr(error_message(&error), "does not support this request"));
        error_deinit(&error);
        served_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_all_forms_are_served_when_executors_are_gone),
                cmocka_unit_test(test_a_second_output_replaces_the_first),
                cmocka_unit_test(test_a_restarted_service_serves_as_before),
                cmocka_unit_test(test_a_restarted_service_drops_executors_without_directories),
                cmocka_unit_test(test_indexes_leave_the_cache),
                cmocka_unit_test(test_a_damaged_output_is_a_fetch_failure),
                cmocka_unit_test(test_a_file_that_ends_too_early_is_a_fetch_failure),
                cmocka_unit_test(test_removes_released_outputs),
                cmocka_unit_test(test_the_end_of_an_application_removes_only_its_files),
                cmocka_unit_test(test_the_files_of_a_silent_driver_are_removed),
                cmocka_unit_test(test_rejects_invalid_registrations),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
