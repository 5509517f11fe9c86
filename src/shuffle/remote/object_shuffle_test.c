/*
 * Map outputs of three executors in objects: the rows of all maps in order, damage and lost objects that are named, and
 * stores that fail for a time or for good.
 */
#include "shuffle/shuffle_fixture.h"

#include "base/fs.h"
#include "base/log.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "shuffle/remote/object_input.h"
#include "shuffle/remote/object_lease.h"
#include "shuffle/remote/object_shuffle.h"
#include "shuffle/remote/object_store.h"
#include "unit/temp_dir.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

enum { MAPS = 40, BATCH = 4, FIRST_WRITER = 10 };

/* ------------------------------------------------------------------------------------------ a store that fails */

static struct {
        const struct file_system *real;
        _Atomic uint64_t flip; /* offset of the byte that reads flip; 0: none */
        int flips;             /* further reads that flip it */
        int fail_reads; /* further reads that fail */
        int fail_opens;
        int status; /* of failures */
        int reads;
} faults;

/* Any thread. */
static bool faults_take(int *counter)
{
        if (__atomic_fetch_sub(counter, 1, __ATOMIC_RELAXED) > 0)
                return true;
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
        return false;
}

static int faulty_open(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        if (faults_take(&faults.fail_opens))
                return error_set(error, faults.status, "opening %s failed", path);
        int r = faults.real->open(fs, path, file, error);
        if (r == 0)
                file->fs = fs;
        return r;
}

static ssize_t faulty_read_at(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error)
{
        __atomic_add_fetch(&faults.reads, 1, __ATOMIC_RELAXED);
        if (faults_take(&faults.fail_reads))
                return error_set(error, faults.status, "reading %s failed", file->path);
        ssize_t n = faults.real->read_at(file, data, size, offset, error);
        const uint64_t flip = faults.flip;
        if (flip && n > 0 && flip >= offset && flip < offset + (uint64_t)n && faults_take(&faults.flips))
                ((char *)data)[flip - offset] ^= 4;
        return n;
}

/* ------------------------------------------------------------------------------------------ the fixture */

struct stored_world {
        struct shuffle_world w;
        struct fst_conf conf;
        char directory[TEMP_DIR_SIZE + 8];
        struct remote_shuffle *writers[EXECUTORS];
        struct remote_shuffle reader; /* reads through `store` */
        struct object_store store;
        struct file_system fs;
        int objects;
};

static struct object_store *the_store; /* of the current test */

static struct remote_input *stored_world_open(struct remote_shuffle *remote, const struct remote_read *read)
{
        return object_input_new(the_store, read);
}

static const struct remote_shuffle_class reader_class = {
        .open = stored_world_open, .next = object_input_next, .close = object_input_free};

static struct file_key *stored_world_key(enum codec_kind codec)
{
        struct file_key *key = NULL;
        if (codec == CODEC_LZ4)
                assert_int_equal(file_key_from(FIXTURE_SECRET, 16, &key, NULL), 0);
        return key;
}

static void stored_world_init(struct stored_world *s, enum codec_kind codec)
{
        *s = (struct stored_world){0};
        memset(&faults, 0, sizeof(faults));
        world_init(&s->w, (size_t)64 << 20, codec);
        temp_dir_new(s->directory);
        conf_init(&s->conf);
        conf_set(&s->conf, "spark.shuffle.io.retryWait", "1ms");
        conf_set(&s->conf, "spark.firesteel.shuffle.store.wait", "0");
        _cleanup_free_ char *url = mem_printf("file://%s", s->directory);
        for (int e = 0; e < EXECUTORS; e++) {
                struct object_shuffle_options o = {.conf = &s->conf,
                                                   .directory = url,
                                                   .writer = FIRST_WRITER + e,
                                                   .cores = 2,
                                                   .space = &s->w.space,
                                                   .key = stored_world_key(codec)};
                assert_int_equal(object_shuffle_new(&o, &s->writers[e], NULL), 0);
        }
        assert_int_equal(file_system_of(url, &faults.real, NULL), 0);
        s->fs = *faults.real;
        s->fs.open = faulty_open;
        s->fs.read_at = faulty_read_at;
        object_store_init(&s->store, &s->fs, mem_strdup(url), stored_world_key(codec), 4);
        s->store.retries = 3;
        s->store.retry_ns = MS;
        the_store = &s->store;
        s->reader.class = &reader_class;
        s->w.env.remote = &s->reader;
        s->w.env.here = -1;
        s->w.env.store = NULL;
}

static void stored_world_deinit(struct stored_world *s)
{
        object_store_deinit(&s->store);
        for (int e = 0; e < EXECUTORS; e++)
                s->writers[e]->class->free(s->writers[e]);
        world_deinit(&s->w);
        conf_deinit(&s->conf);
        remove_tree(s->directory);
}

/* Publishes @n of an executor's outputs, and notes their places. */
static void stored_world_publish(struct stored_world *s, int e, const int *maps, int n)
{
        struct shuffle_inputs *in = s->w.env.inputs;
        struct remote_output outputs[MAPS];
        struct fst_error error = FST_ERROR_INIT;
        for (int i = 0; i < n; i++)
                outputs[i] = (struct remote_output){
                        .map_partition = maps[i],
                        .task_id = 100 + maps[i],
                        .output = shuffle_store_get(s->w.executors[e].store, SHUFFLE, maps[i], 100 + maps[i])};
        int r = s->writers[e]->class->publish(s->writers[e], SHUFFLE, outputs, n, &error);
        if (r)
                fail_msg("publish: %s", error_message(&error));
        for (int i = 0; i < n; i++) {
                in->maps[outputs[i].map_partition].location = SHUFFLE_REMOTE - (FIRST_WRITER + e);
                in->maps[outputs[i].map_partition].place = outputs[i].place;
                assert_in_range(outputs[i].place, 1, REMOTE_PLACES - 1);
                shuffle_output_unref(outputs[i].output);
                shuffle_store_remove(s->w.executors[e].store, SHUFFLE, outputs[i].map_partition, outputs[i].task_id);
        }
        s->objects++;
}

/* Makes maps, and publishes those of each executor in batches. */
static void stored_world_fill(struct stored_world *s, int n, enum output_form form)
{
        make_maps(&s->w, n, form);
        for (int e = 0; e < EXECUTORS; e++) {
                int batch[BATCH], filled = 0;
                for (int m = n - 1; m >= 0; m--) { /* not in the order of the maps */
                        if (s->w.env.inputs->maps[m].location != e)
                                continue;
                        batch[filled++] = m;
                        if (filled == BATCH) {
                                stored_world_publish(s, e, batch, filled);
                                filled = 0;
                        }
                }
                if (filled)
                        stored_world_publish(s, e, batch, filled);
        }
}

static char *object_of(const struct stored_world *s, int map)
{
        const struct shuffle_map *at = &s->w.env.inputs->maps[map];
        return object_store_path(&s->store, SHUFFLE, shuffle_map_writer(at), at->place);
}

static void assert_lost_object(struct stored_world *s, int map, const char *why)
{
        struct task_run *run = &s->w.run;
        assert_true(run->fetch_failed);
        assert_int_equal(run->fetch_shuffle, SHUFFLE);
        if (map >= 0) {
                assert_int_equal(run->fetch_map, map);
                assert_int_equal(run->fetch_executor, s->w.env.inputs->maps[map].location);
        }
        if (!strstr(run->error.message, why))
                fail_msg("\"%s\" does not say \"%s\"", run->error.message, why);
}

/* ------------------------------------------------------------------------------------------ success */

static void reads_all_forms_in_the_order_of_the_maps(void **state)
{
        static const size_t in_flight[] = {0, 1, (size_t)1 << 20};
        for (enum codec_kind codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
                struct stored_world s;
                stored_world_init(&s, codec);
                stored_world_fill(&s, MAPS, FORMS);
                for (size_t l = 0; l < ARRAY_SIZE(in_flight); l++)
                        for (int p = 0; p < s.w.partitions; p++) {
                                s.w.env.limits.bytes = in_flight[l];
                                shuffle_run_again(&s.w);
                                assert_int_equal(read_all(&s.w, p, 0), 0);
                                assert_int_equal(s.w.run.counters.shuffle_local_bytes, 0);
                                assert_true((s.w.run.counters.shuffle_remote_bytes > 0) == (p != 3));
                        }
                stored_world_deinit(&s);
        }
}

static void reads_maps_in_objects_and_at_executors_together(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_ZSTD);
        make_maps(&s.w, MAPS, FORMS);
        for (int m = 0; m < MAPS; m += 3)
                stored_world_publish(&s, s.w.env.inputs->maps[m].location, &m, 1);
        s.w.env.here = 0;
        s.w.env.store = s.w.executors[0].store;
        for (int p = 0; p < s.w.partitions; p++) {
                shuffle_run_again(&s.w);
                assert_int_equal(read_all(&s.w, p, 0), 0);
        }
        stored_world_deinit(&s);
}

static void skips_outputs_of_attempts_that_do_not_count(void **state)
{
        struct stored_world s;
        struct remote_output two[2];
        int64_t rows;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, 6, MEMORY);
        for (int task = 0; task < 2; task++) /* two attempts of map 4 in one object, the first with other rows */
                two[task] = (struct remote_output){.map_partition = 4,
                                                   .task_id = 500 + task,
                                                   .output = output_new(&s.w, task ? 4 : 5, DISK, &rows)};
        s.w.rows[4] = rows;
        assert_int_equal(s.writers[1]->class->publish(s.writers[1], SHUFFLE, two, 2, NULL), 0);
        s.w.env.inputs->maps[4] = (struct shuffle_map){
                .task_id = 501, .location = SHUFFLE_REMOTE - (FIRST_WRITER + 1), .place = two[0].place};
        assert_int_equal(read_all(&s.w, 2, 0), 0);
        s.w.env.inputs->maps[4].task_id = 502;
        shuffle_run_again(&s.w);
        assert_int_not_equal(read_all(&s.w, 2, 0), 0);
        assert_lost_object(&s, 4, "has no output of map 4 by task 502");
        shuffle_output_unref(two[0].output);
        shuffle_output_unref(two[1].output);
        stored_world_deinit(&s);
}

static void reads_each_index_once(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, MAPS, MEMORY);
        assert_int_equal(read_all(&s.w, 3, 0), 0); /* an empty partition: indexes only */
        assert_int_equal(faults.reads, s.objects);
        for (int p = 0; p < 3; p++) {
                shuffle_run_again(&s.w);
                assert_int_equal(read_all(&s.w, p, 0), 0);
        }
        assert_true(faults.reads >= 4 * s.objects && faults.reads <= 12 * s.objects);
        object_store_forget_shuffle(&s.store, SHUFFLE);
        assert_int_equal(s.store.entries.count, 0);
        stored_world_deinit(&s);
}

/* One small row in partition 1 of each map. */
static void stored_world_fill_small(struct stored_world *s)
{
        s->w.partitions = 2;
        make_maps(&s->w, MAPS, EMPTY);
        for (int m = 0; m < MAPS; m++) {
                int e = s->w.env.inputs->maps[m].location;
                struct shuffle_output *o = shuffle_output_new(2, TYPE, s->w.memory);
                struct page *open = NULL;
                add_row(o, 1, &open, m * (int64_t)1000000 + 10000, 5);
                shuffle_output_add(o, 1, open);
                shuffle_store_put(s->w.executors[e].store, SHUFFLE, m, 100 + m, o);
                s->w.rows[m] = 1;
                stored_world_publish(s, e, &m, 1);
        }
}

/* Threads of the pool let go of an object shortly after its last reader. */
static void forget_shuffle(struct object_store *s)
{
        size_t kept;
        do {
                object_store_forget_shuffle(s, SHUFFLE);
                pthread_mutex_lock(&s->lock);
                kept = s->whole_bytes;
                pthread_mutex_unlock(&s->lock);
        } while (kept > 0 && usleep(1000) == 0);
}

static void reads_small_objects_once(void **state)
{
        for (enum codec_kind codec = CODEC_NONE; codec <= CODEC_LZ4; codec++) {
                struct stored_world s;
                stored_world_init(&s, codec);
                stored_world_fill_small(&s);
                for (int i = 0; i < 3; i++) {
                        shuffle_run_again(&s.w);
                        assert_int_equal(read_all(&s.w, 1, 0), 0);
                        assert_int_equal(faults.reads, MAPS);
                }
                forget_shuffle(&s.store);
                /* A byte of a page is flipped when its object is read whole: the block is read again. */
                faults.flip = OBJECT_HEADER + OBJECT_BLOCK + 3;
                __atomic_store_n(&faults.flips, 1, __ATOMIC_RELAXED);
                shuffle_run_again(&s.w);
                assert_int_equal(read_all(&s.w, 1, 0), 0);
                assert_int_equal(faults.flips, 0);
                assert_int_equal(faults.reads, 2 * MAPS + 1);
                stored_world_deinit(&s);
        }
}

/* ------------------------------------------------------------------------------------------ group commit */

struct publisher {
        struct remote_shuffle *writer;
        struct remote_output output;
        int status;
        pthread_t thread;
};

static void *publisher_main(void *arg)
{
        struct publisher *p = arg;
        p->status = p->writer->class->publish(p->writer, SHUFFLE, &p->output, 1, NULL);
        return NULL;
}

static int three_running(void *owner)
{
        return 3;
}

static void tasks_that_end_together_share_an_object(void **state)
{
        struct stored_world s;
        struct publisher p[3];
        struct remote_shuffle *writer;
        int64_t rows;
        stored_world_init(&s, CODEC_NONE);
        conf_set(&s.conf, "spark.firesteel.shuffle.store.wait", "1h"); /* until all three are there */
        _cleanup_free_ char *url = mem_printf("file://%s", s.directory);
        struct object_shuffle_options o = {.conf = &s.conf,
                                           .directory = url,
                                           .writer = 99,
                                           .cores = 3,
                                           .space = &s.w.space,
                                           .running = three_running};
        assert_int_equal(object_shuffle_new(&o, &writer, NULL), 0);
        for (int i = 0; i < 3; i++) {
                p[i] = (struct publisher){
                        .writer = writer,
                        .output = {.map_partition = i, .task_id = i, .output = output_new(&s.w, i, MEMORY, &rows)}};
                assert_int_equal(pthread_create(&p[i].thread, NULL, publisher_main, &p[i]), 0);
        }
        for (int i = 0; i < 3; i++) {
                pthread_join(p[i].thread, NULL);
                assert_int_equal(p[i].status, 0);
                assert_int_equal(p[i].output.place, 1);
                shuffle_output_unref(p[i].output.output);
        }
        writer->class->free(writer);
        s.w.env.inputs->maps = NULL;
        stored_world_deinit(&s);
}

/* ------------------------------------------------------------------------------------------ damage and loss */

static void a_byte_that_is_flipped_once_is_read_again(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_LZ4);
        stored_world_fill(&s, 10, BOTH);
        for (uint64_t at = OBJECT_HEADER; at < 20000; at += at < 200 ? 3 : 1777) {
                faults.flip = at;
                __atomic_store_n(&faults.flips, 1, __ATOMIC_RELAXED);
                shuffle_run_again(&s.w);
                assert_int_equal(read_all(&s.w, 0, 0), 0);
                assert_int_equal(faults.flips, 0);
        }
        stored_world_deinit(&s);
}

static void a_byte_that_is_flipped_for_good_is_a_fetch_failure(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, 10, MEMORY);
        for (uint64_t at = OBJECT_HEADER; at < 20000; at += at < 200 ? 3 : 1777) {
                faults.flip = at;
                __atomic_store_n(&faults.flips, 1 << 20, __ATOMIC_RELAXED);
                shuffle_run_again(&s.w);
                assert_int_not_equal(read_all(&s.w, 0, 0), 0);
                assert_lost_object(&s, -1, "damaged");
        }
        stored_world_deinit(&s);
}

static void a_damaged_index_is_a_fetch_failure(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, 3, MEMORY);
        _cleanup_free_ char *path = object_of(&s, 1);
        struct file_status status;
        assert_int_equal(faults.real->stat(faults.real, path, &status, NULL), 0);
        for (uint64_t back = 1; back < 90; back += 4) {
                if (back > 8 && back <= 12) /* the unused bytes of the trailer */
                        continue;
                object_store_forget_shuffle(&s.store, SHUFFLE);
                faults.flip = status.size - back;
                __atomic_store_n(&faults.flips, 1 << 20, __ATOMIC_RELAXED);
                shuffle_run_again(&s.w);
                assert_int_not_equal(read_all(&s.w, 0, 0), 0);
                assert_true(s.w.run.fetch_failed);
        }
        file_status_deinit(&status);
        stored_world_deinit(&s);
}

static void a_missing_object_is_a_fetch_failure(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, 10, MEMORY);
        _cleanup_free_ char *path = object_of(&s, 2);
        assert_int_equal(faults.real->remove(faults.real, path, NULL), 0);
        assert_int_not_equal(read_all(&s.w, 0, 0), 0);
        assert_lost_object(&s, -1, path);
        stored_world_deinit(&s);
}

static void an_unreachable_store_fails_the_task_and_loses_no_output(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, 10, MEMORY);
        faults.status = -ECONNREFUSED;
        faults.fail_opens = 3; /* as many as there are retries */
        assert_int_equal(read_all(&s.w, 0, 0), 0);
        faults.fail_reads = 2;
        shuffle_run_again(&s.w);
        assert_int_equal(read_all(&s.w, 1, 0), 0);
        faults.fail_opens = 1 << 20;
        shuffle_run_again(&s.w);
        assert_int_not_equal(read_all(&s.w, 2, 0), 0);
        assert_false(s.w.run.fetch_failed);
        assert_non_null(strstr(s.w.run.error.message, "failed"));
        stored_world_deinit(&s);
}

static void a_killed_task_does_not_wait_for_the_store(void **state)
{
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        stored_world_fill(&s, 10, MEMORY);
        faults.status = -ECONNREFUSED;
        faults.fail_opens = 1 << 20;
        s.store.retry_ns = 3600 * (int64_t)1000000000;
        int stop = 1;
        s.w.run.task.stopped = &stop;
        assert_int_not_equal(read_all(&s.w, 0, 0), 0);
        assert_false(s.w.run.fetch_failed);
        s.w.run.task.stopped = &s.w.run.stop;
        stored_world_deinit(&s);
}

static void a_store_without_permission_or_space_is_named(void **state)
{
        struct stored_world s;
        struct fst_error error = FST_ERROR_INIT;
        struct remote_shuffle *writer;
        int64_t rows;
        stored_world_init(&s, CODEC_NONE);
        struct remote_output output = {.map_partition = 0, .task_id = 7, .output = output_new(&s.w, 0, MEMORY, &rows)};
        /* A file in the place of the directory. */
        _cleanup_free_ char *file = mem_printf("%s/file", s.directory), *url = mem_printf("file://%s/x", file);
        FILE *f = fopen(file, "w");
        fclose(f);
        struct object_shuffle_options o = {
                .conf = &s.conf, .directory = url, .writer = 1, .cores = 1, .space = &s.w.space};
        assert_int_equal(object_shuffle_new(&o, &writer, NULL), 0);
        assert_int_not_equal(writer->class->publish(writer, SHUFFLE, &output, 1, &error), 0);
        assert_int_equal(output.place, 0);
        assert_non_null(strstr(error_message(&error), "cannot store map outputs of shuffle 7 in file:"));
        assert_non_null(strstr(error_message(&error), "spark.firesteel.shuffle.store"));
        error_deinit(&error);
        shuffle_output_unref(output.output);
        writer->class->free(writer);
        stored_world_deinit(&s);
}

static void a_relative_path_of_a_store_is_refused(void **state)
{
        static const char *const keys[] = {OBJECT_STORE_KEY, OBJECT_FALLBACK_KEY};
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                struct fst_conf conf;
                struct remote_shuffle_driver *driver;
                struct fst_error error = FST_ERROR_INIT;
                const struct object_lease_options options = {.app_id = "app"};
                conf_init(&conf);
                conf_set(&conf, keys[i], "foo");
                assert_int_equal(object_lease_new(&conf, &options, &driver, &error), -EINVAL);
                assert_null(driver);
                assert_non_null(strstr(error_message(&error), keys[i]));
                assert_non_null(strstr(error_message(&error), "is \"foo\": set it to a whole path"));
                error_deinit(&error);
                conf_deinit(&conf);
        }
}

static void note_warning(void *owner, const struct log_line *line)
{
        if (line->level == LOG_WARN)
                buf_append(owner, line->message, line->length);
}

/* The warnings of an application with a fallback storage and these settings. */
static char *fallback_warnings(const char *store, const char *const *keys, size_t n)
{
        struct fst_conf conf;
        struct remote_shuffle_driver *driver;
        struct buf warnings = BUF_INIT;
        const struct object_lease_options options = {.app_id = "app"};
        conf_init(&conf);
        conf_set(&conf, OBJECT_FALLBACK_KEY, store);
        for (size_t i = 0; i < n; i++)
                conf_set(&conf, keys[i], "true");
        log_set_listener(note_warning, &warnings);
        assert_int_equal(object_lease_new(&conf, &options, &driver, NULL), 0);
        log_set_listener(NULL, NULL);
        driver->class->stop(driver);
        conf_deinit(&conf);
        return buf_steal(&warnings);
}

static void a_fallback_storage_without_decommissioning_is_noticed(void **state)
{
        static const char *const keys[] = {"spark.decommission.enabled", "spark.storage.decommission.enabled"};
        struct stored_world s;
        stored_world_init(&s, CODEC_NONE);
        _cleanup_free_ char *store = mem_printf("file:%s/store", s.directory);
        _cleanup_free_ char *half = fallback_warnings(store, keys, 1), *whole = fallback_warnings(store, keys, 2);
        assert_string_equal(half, OBJECT_FALLBACK_KEY " has no effect, because spark.storage.decommission.enabled is "
                                                      "false: set it to true, or remove the path");
        assert_string_equal(whole, "");
        stored_world_deinit(&s);
}

static void note_directory(void *owner, const char *directory)
{
        assert_int_equal(access(directory + strlen("file:"), F_OK), -1);
        *(char **)owner = mem_strdup(directory);
}

/* The earlier driver was killed while it removed its directory, after the lease. */
static void a_directory_without_its_lease_is_removed(void **state)
{
        struct stored_world s;
        struct remote_shuffle_driver *driver;
        stored_world_init(&s, CODEC_NONE);
        _cleanup_free_ char *store = mem_printf("file:%s/store", s.directory);
        _cleanup_free_ char *earlier = mem_printf("%s/firesteel-shuffle-app-1", store);
        _cleanup_free_ char *object = mem_printf("%s/shuffle-1", earlier);
        _cleanup_free_ char *noted = NULL;
        const struct object_lease_options options = {
                .app_id = "app", .earlier = earlier, .begins = note_directory, .owner = &noted};
        assert_int_equal(make_dirs(object + strlen("file:"), 0700), 0);
        conf_set(&s.conf, OBJECT_STORE_KEY, store);
        assert_int_equal(object_lease_new(&s.conf, &options, &driver, NULL), 0);
        assert_int_equal(access(earlier + strlen("file:"), F_OK), -1);
        assert_string_equal(noted, driver->class->directory(driver));
        assert_int_equal(access(noted + strlen("file:"), F_OK), 0);
        driver->class->stop(driver);
        stored_world_deinit(&s);
}

struct next_driver {
        char *directory;
        sem_t asked;
};

/* The next driver has ended and has removed the directory. */
static bool remove_directory_of_next_driver(void *owner)
{
        struct next_driver *next = owner;
        remove_tree(next->directory + strlen("file:"));
        sem_post(&next->asked);
        return false;
}

static void note_directory_of_driver(void *owner, const char *directory)
{
        ((struct next_driver *)owner)->directory = mem_strdup(directory);
}

static void a_superseded_driver_does_not_renew_its_lease(void **state)
{
        struct stored_world s;
        struct remote_shuffle_driver *driver;
        struct next_driver next = {0};
        struct timespec until;
        stored_world_init(&s, CODEC_NONE);
        sem_init(&next.asked, 0, 0);
        _cleanup_free_ char *store = mem_printf("file:%s/store", s.directory);
        const struct object_lease_options options = {.app_id = "app",
                                                     .owns_directory = remove_directory_of_next_driver,
                                                     .begins = note_directory_of_driver,
                                                     .owner = &next};
        conf_set(&s.conf, OBJECT_STORE_KEY, store);
        conf_set(&s.conf, OBJECT_STORE_KEY ".lease", "1s");
        assert_int_equal(object_lease_new(&s.conf, &options, &driver, NULL), 0);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 60;
        for (int renewals = 0; renewals < 2; renewals++) /* the second one begins after the first one has ended */
                assert_int_equal(sem_timedwait(&next.asked, &until), 0);
        assert_int_equal(access(next.directory + strlen("file:"), F_OK), -1);
        driver->class->stop(driver);
        assert_int_equal(access(next.directory + strlen("file:"), F_OK), -1);
        sem_destroy(&next.asked);
        free(next.directory);
        stored_world_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_superseded_driver_does_not_renew_its_lease),
                cmocka_unit_test(a_directory_without_its_lease_is_removed),
                cmocka_unit_test(a_fallback_storage_without_decommissioning_is_noticed),
                cmocka_unit_test(a_relative_path_of_a_store_is_refused),
                cmocka_unit_test(reads_all_forms_in_the_order_of_the_maps),
                cmocka_unit_test(reads_maps_in_objects_and_at_executors_together),
                cmocka_unit_test(skips_outputs_of_attempts_that_do_not_count),
                cmocka_unit_test(reads_each_index_once),
                cmocka_unit_test(reads_small_objects_once),
                cmocka_unit_test(tasks_that_end_together_share_an_object),
                cmocka_unit_test(a_byte_that_is_flipped_once_is_read_again),
                cmocka_unit_test(a_byte_that_is_flipped_for_good_is_a_fetch_failure),
                cmocka_unit_test(a_damaged_index_is_a_fetch_failure),
                cmocka_unit_test(a_missing_object_is_a_fetch_failure),
                cmocka_unit_test(an_unreachable_store_fails_the_task_and_loses_no_output),
                cmocka_unit_test(a_killed_task_does_not_wait_for_the_store),
                cmocka_unit_test(a_store_without_permission_or_space_is_named),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
