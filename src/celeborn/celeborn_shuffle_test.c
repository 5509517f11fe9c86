/*
 * Map outputs in Celeborn's servers of tests/celeborn/server.py, which fail on command: the rows of all maps in order
 * after splits, lost answers, killed workers and flipped bytes; and shuffles that are lost.
 */
#include "celeborn/celeborn_shuffle.h"

#include "shuffle/shuffle_fixture.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "celeborn/protocol/celeborn_message.h"
#include "celeborn/protocol/celeborn_wire.h"
#include "conf/conf.h"
#include "text/json.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAPS = 6, WORKERS = 3, NUMBER = 40, WRITER = 3 };

extern char **environ;

/* --------------------------------------------------------------------------------------------------- the servers */

static struct {
        pid_t pid;
        FILE *to, *from;
        json_t *workers;
} celeborn;

/* Sends a command, printf-like, with ' for ". Returns its answer. */
static json_t *command(const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        for (size_t i = 0; i < line.len; i++)
                if (line.data[i] == '\'')
                        line.data[i] = '"';
        fprintf(celeborn.to, "%s\n", line.data);
        fflush(celeborn.to);
        _cleanup_free_ char *answer = NULL;
        size_t room = 0;
        assert_true(getline(&answer, &room, celeborn.from) > 0);
        json_t *tree = json_loads(answer, JSON_DECODE_ANY, NULL);
        assert_non_null(tree);
        return tree;
}

#define tell(...) json_decref(command(__VA_ARGS__))

/* tests/celeborn/server.py of the tree that the build lies in; NULL: the build is elsewhere. */
static char *server_path(void)
{
        char program[PATH_MAX] = "";
        if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
                return NULL;
        char *path = mem_printf("%s/../../tests/celeborn/server.py", dirname(program));
        if (access(path, R_OK) == 0)
                return path;
        free(path);
        return NULL;
}

static int start_servers(void **state)
{
        (void)state;
        _cleanup_free_ char *path = server_path();
        int in[2], out[2];
        if (!path)
                return 0;
        char *words[] = {"python3", path, "3", "20000", NULL};
        posix_spawn_file_actions_t actions;
        assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        assert_int_equal(posix_spawnp(&celeborn.pid, words[0], &actions, NULL, words, environ), 0);
        posix_spawn_file_actions_destroy(&actions);
        close(in[0]);
        close(out[1]);
        celeborn.to = fdopen(in[1], "w");
        celeborn.from = fdopen(out[0], "r");
        char *line = NULL;
        size_t room = 0;
        assert_true(getline(&line, &room, celeborn.from) > 0);
        celeborn.workers = json_loads(line, 0, NULL);
        free(line);
        return 0;
}

static int stop_servers(void **state)
{
        (void)state;
        if (!celeborn.pid)
                return 0;
        fclose(celeborn.to);
        fclose(celeborn.from);
        waitpid(celeborn.pid, NULL, 0);
        json_decref(celeborn.workers);
        memset(&celeborn, 0, sizeof(celeborn));
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- the driver */

/* Answers the executor's questions. The shuffle key is "app-NUMBER". */
struct scripted_driver {
        pthread_mutex_t lock;
        int epochs[8];
        const char *reserve; /* more of the command "register" */
        int revives, locations, files;
        int status;                        /* of FILES */
        struct remote_shuffle *forgetting; /* forget the shuffle before FILES is answered; NULL: do not */
};

static void scripted_driver_add(struct celeborn_answer *a, int partition, int epoch, int primary, int replica)
{
        a->locations = mem_grow(a->locations, (size_t)(a->n_locations + 1) * sizeof(*a->locations));
        a->locations[a->n_locations++] = (struct celeborn_location){partition, epoch, primary, replica};
}

static void scripted_driver_add_workers(struct celeborn_answer *a)
{
        const json_t *list = json_at(celeborn.workers, "workers");
        a->workers = new_array(struct celeborn_worker, WORKERS);
        for (a->n_workers = 0; a->n_workers < WORKERS; a->n_workers++) {
                const json_t *w = json_array_get(list, (size_t)a->n_workers);
                a->workers[a->n_workers] = (struct celeborn_worker){.host = mem_strdup("127.0.0.1"),
                                                                    .push_port = (int)json_int_at(w, "push"),
                                                                    .fetch_port = (int)json_int_at(w, "fetch")};
        }
}

static void scripted_driver_reserve(struct scripted_driver *d, struct celeborn_answer *a, int partition, int epoch)
{
        json_t *made = command("{'do': 'register', 'app': 'app', 'shuffle': %d, 'partitions': [%d], 'epoch': %d%s}",
                               NUMBER, partition, epoch, d->reserve);
        const json_t *at = json_array_get(made, 0);
        scripted_driver_add(a, partition, epoch, (int)json_int_at(at, "worker"), (int)json_int_at(at, "peer"));
        json_decref(made);
}

static int scripted_driver_revives(struct scripted_driver *d)
{
        pthread_mutex_lock(&d->lock);
        int n = d->revives;
        pthread_mutex_unlock(&d->lock);
        return n;
}

static int scripted_driver_locations(struct scripted_driver *d)
{
        pthread_mutex_lock(&d->lock);
        int n = d->locations;
        pthread_mutex_unlock(&d->lock);
        return n;
}

/* The committed files, of which the test sets the attempts in `attempts`. */
static void scripted_driver_name_files(struct celeborn_answer *a)
{
        json_t *files = command("{'do': 'end', 'app': 'app', 'shuffle': %d, 'attempts': []}", NUMBER);
        for (size_t i = 0; i < json_array_size(files); i++) {
                const json_t *f = json_array_get(files, i);
                int partition = (int)json_integer_value(json_array_get(f, 0)),
                    epoch = (int)json_integer_value(json_array_get(f, 1)),
                    copy = (int)json_integer_value(json_array_get(f, 2)),
                    worker = (int)json_integer_value(json_array_get(f, 3));
                struct celeborn_location *last = a->n_locations ? &a->locations[a->n_locations - 1] : NULL;
                if (last && last->partition == partition && last->epoch == epoch)
                        *(copy ? &last->replica : &last->primary) = worker;
                else
                        scripted_driver_add(a, partition, epoch, copy ? -1 : worker, copy ? worker : -1);
        }
        json_decref(files);
}

static int scripted_driver_ask(void *owner, const struct celeborn_question *question, const int *stopped,
                               struct celeborn_answer *answer, struct fst_error *error)
{
        struct scripted_driver *d = owner;
        (void)stopped;
        (void)error;
        pthread_mutex_lock(&d->lock);
        assert_int_equal(question->shuffle, NUMBER);
        scripted_driver_add_workers(answer);
        switch (question->kind) {
        case CELEBORN_ASK_LOCATIONS:
                d->locations++;
                for (int p = 0; p < 5; p++)
                        scripted_driver_reserve(d, answer, p, 0);
                break;
        case CELEBORN_ASK_REVIVE:
                d->revives++;
                for (int i = 0; i < question->n; i++) {
                        int p = question->revives[i].partition;
                        assert_int_equal(question->revives[i].epoch, d->epochs[p]);
                        scripted_driver_reserve(d, answer, p, ++d->epochs[p]);
                }
                break;
        case CELEBORN_ASK_FILES:
                d->files++;
                answer->status = d->status;
                if (d->forgetting)
                        d->forgetting->class->forget(d->forgetting, SHUFFLE);
                scripted_driver_name_files(answer);
                break;
        }
        pthread_mutex_unlock(&d->lock);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- the fixture */

struct celeborn_world {
        struct shuffle_world w;
        struct fst_conf conf;
        struct scripted_driver driver;
        struct remote_shuffle *remote;
};

static void celeborn_world_init(struct celeborn_world *c, enum codec_kind codec, const char *reserve)
{
        if (!celeborn.pid)
                skip();
        *c = (struct celeborn_world){.driver = {
                                             .reserve = reserve,
                                     }};
        pthread_mutex_init(&c->driver.lock, NULL);
        tell("{'do': 'calm'}"); /* after a test that failed */
        tell("{'do': 'remove', 'app': 'app', 'shuffle': %d}", NUMBER);
        world_init(&c->w, (size_t)64 << 20, codec);
        conf_init(&c->conf);
        conf_set(&c->conf, "spark.celeborn.data.io.retryWait", "1ms");
        conf_set(&c->conf, "spark.celeborn.client.push.maxReqsInFlight.perWorker", "3");
        struct celeborn_shuffle_options o = {
                .conf = &c->conf, .app_id = "app", .cores = 2, .ask = scripted_driver_ask, .owner = &c->driver};
        assert_int_equal(celeborn_shuffle_new(&o, &c->remote, NULL), 0);
        c->w.env.remote = c->remote;
        c->w.env.here = -1;
        c->w.env.store = NULL;
}

static void celeborn_world_deinit(struct celeborn_world *c)
{
        tell("{'do': 'calm'}");
        tell("{'do': 'remove', 'app': 'app', 'shuffle': %d}", NUMBER);
        c->remote->class->free(c->remote);
        world_deinit(&c->w);
        conf_deinit(&c->conf);
        pthread_mutex_destroy(&c->driver.lock);
}

static int celeborn_world_push(struct celeborn_world *c, int map, int64_t task, struct shuffle_output *output,
                               struct fst_error *error)
{
        struct remote_output one = {
                .map_partition = map, .task_id = task, .output = output, .place = celeborn_place(NUMBER)};
        return c->remote->class->publish(c->remote, SHUFFLE, &one, 1, error);
}

/* Publishes the outputs of @n maps, one after another. */
static void celeborn_world_fill(struct celeborn_world *c, int n, enum output_form form)
{
        struct shuffle_inputs *in = c->w.env.inputs;
        struct fst_error error = FST_ERROR_INIT;
        make_maps(&c->w, n, form);
        for (int m = n - 1; m >= 0; m--) {
                struct shuffle_store *store = c->w.executors[in->maps[m].location].store;
                struct shuffle_output *output = shuffle_store_get(store, SHUFFLE, m, 100 + m);
                if (celeborn_world_push(c, m, 100 + m, output, &error))
                        fail_msg("publish: %s", error_message(&error));
                in->maps[m].location = SHUFFLE_REMOTE - WRITER;
                in->maps[m].place = celeborn_place(NUMBER);
                shuffle_output_unref(output);
                shuffle_store_remove(store, SHUFFLE, m, 100 + m);
        }
}

static void celeborn_world_read(struct celeborn_world *c)
{
        for (int p = 0; p < c->w.partitions; p++) {
                shuffle_run_again(&c->w);
                if (read_all(&c->w, p, 0))
                        fail_msg("partition %d: %s", p, error_message(&c->w.run.error));
        }
}

static void assert_lost_shuffle(struct celeborn_world *c, const char *why)
{
        struct task_run *run = &c->w.run;
        assert_true(run->fetch_failed);
        assert_int_equal(run->fetch_shuffle, SHUFFLE);
        assert_int_equal(run->fetch_executor, SHUFFLE_REMOTE - WRITER);
        if (!strstr(run->error.message, why))
                fail_msg("\"%s\" does not say \"%s\"", run->error.message, why);
}

/* -------------------------------------------------------------------------------------------------------- success */

static void reads_all_forms_in_the_order_of_the_maps(void **state)
{
        (void)state;
        for (enum codec_kind codec = CODEC_NONE; codec <= CODEC_LZ4; codec++) {
                struct celeborn_world c;
                celeborn_world_init(&c, codec, "");
                celeborn_world_fill(&c, MAPS, FORMS);
                celeborn_world_read(&c);
                assert_int_equal(c.driver.locations, 1);
                assert_int_equal(c.driver.files, 1);
                assert_true(c.w.run.counters.shuffle_remote_bytes > 0);
                c.remote->class->forget(c.remote, SHUFFLE);
                celeborn_world_read(&c);
                assert_int_equal(c.driver.files, 2);
                c.remote->class->forget(c.remote, SHUFFLE);
                c.driver.forgetting = c.remote; /* the loop of an executor does so while a task asks */
                celeborn_world_read(&c);
                celeborn_world_deinit(&c);
        }
}

static int celeborn_sorted_files(void)
{
        json_t *counts = command("{'do': 'count'}");
        const int n = (int)json_int_at(counts, "OpenSorted");
        json_decref(counts);
        return n;
}

static void workers_sort_only_partitions_that_do_not_fit_into_memory(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, "");
        celeborn_world_fill(&c, MAPS, MEMORY);
        int before = celeborn_sorted_files();
        celeborn_world_read(&c);
        assert_int_equal(celeborn_sorted_files(), before);
        memory_manager_set_pool(c.w.memory, 2 * PAGE_BLOCK);
        celeborn_world_read(&c);
        assert_in_range(celeborn_sorted_files(), before + 1, before + 10);
        celeborn_world_deinit(&c);
}

static void skips_attempts_that_do_not_count(void **state)
{
        (void)state;
        struct celeborn_world c;
        int64_t rows;
        celeborn_world_init(&c, CODEC_NONE, "");
        struct shuffle_output *other = output_new(&c.w, 3, MEMORY, &rows);
        assert_int_equal(celeborn_world_push(&c, 4, 900, other, NULL), 0);
        celeborn_world_fill(&c, 6, MEMORY);
        assert_int_equal(celeborn_world_push(&c, 4, 901, other, NULL), 0);
        celeborn_world_read(&c);
        shuffle_output_unref(other);
        celeborn_world_deinit(&c);
}

static void pushes_again_after_splits(void **state)
{
        static const char *const splits[] = {", 'threshold': 100000, 'hard': true", ", 'threshold': 100000",
                                             ", 'threshold': 100000, 'hard': true, 'replicate': true"};
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(splits); i++) {
                struct celeborn_world c;
                celeborn_world_init(&c, CODEC_NONE, splits[i]);
                celeborn_world_fill(&c, MAPS, BOTH);
                assert_true(scripted_driver_revives(&c.driver) > 3);
                celeborn_world_read(&c);
                celeborn_world_deinit(&c);
        }
}

static void pushes_again_after_faults(void **state)
{
        static const char *const faults[] = {"'kind': 'close'", "'kind': 'close_after'",
                                             "'kind': 'fail', 'text': 'PUSH_DATA_WRITE_FAIL_REPLICA disk'",
                                             "'kind': 'status', 'status': 30", "'kind': 'delay', 'seconds': 0.05"};
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
                struct celeborn_world c;
                celeborn_world_init(&c, CODEC_NONE, ", 'replicate': true");
                tell("{'do': 'fault', 'at': 'PushMergedData', 'after': 1, 'times': 2, %s}", faults[i]);
                tell("{'do': 'fault', 'at': 'PushData', 'after': 3, 'times': 2, %s}", faults[i]);
                if (i == 3) { /* an answer without storing */
                        tell("{'do': 'calm'}");
                        tell("{'do': 'fault', 'at': 'PushMergedData', 'times': 3, 'kind': 'status', 'status': 21}");
                }
                celeborn_world_fill(&c, MAPS, BOTH);
                celeborn_world_read(&c);
                assert_true(i == 4 || scripted_driver_revives(&c.driver) > 0);
                celeborn_world_deinit(&c);
        }
}

static void a_push_that_is_not_answered_is_pushed_elsewhere(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, "");
        c.remote->class->free(c.remote);
        conf_set(&c.conf, "spark.celeborn.client.push.timeout", "100ms");
        struct celeborn_shuffle_options o = {
                .conf = &c.conf, .app_id = "app", .cores = 2, .ask = scripted_driver_ask, .owner = &c.driver};
        assert_int_equal(celeborn_shuffle_new(&o, &c.remote, NULL), 0);
        c.w.env.remote = c.remote;
        tell("{'do': 'fault', 'at': 'PushMergedData', 'kind': 'drop'}");
        celeborn_world_fill(&c, 4, MEMORY);
        assert_true(scripted_driver_revives(&c.driver) > 0);
        celeborn_world_read(&c);
        celeborn_world_deinit(&c);
}

static void an_attempt_after_its_maps_end_fails(void **state)
{
        (void)state;
        struct celeborn_world c;
        struct fst_error error = FST_ERROR_INIT;
        int64_t rows;
        celeborn_world_init(&c, CODEC_NONE, "");
        celeborn_world_fill(&c, 3, MEMORY);
        tell("{'do': 'end', 'app': 'app', 'shuffle': %d, 'attempts': [100, 101, 102]}", NUMBER);
        struct shuffle_output *late = output_new(&c.w, 1, MEMORY, &rows);
        assert_int_equal(celeborn_world_push(&c, 1, 900, late, &error), -ECANCELED);
        assert_non_null(strstr(error_message(&error), "another attempt of its map task has ended"));
        error_deinit(&error);
        celeborn_world_read(&c);
        shuffle_output_unref(late);
        celeborn_world_deinit(&c);
}

/* ------------------------------------------------------------------------------------------------------- streams */

static int celeborn_pushes(void)
{
        json_t *counts = command("{'do': 'count'}");
        const int n = (int)(json_int_at(counts, "PushData") + json_int_at(counts, "PushMergedData"));
        json_decref(counts);
        return n;
}

/* Begins to store a finished output as if it were being written. Returns the first negative status of a page. */
static int celeborn_world_stream(struct celeborn_world *c, int map, int64_t task, struct shuffle_output *o)
{
        const struct remote_output one = {
                .map_partition = map, .task_id = task, .output = o, .place = celeborn_place(NUMBER)};
        o->stream = c->remote->class->stream(c->remote, SHUFFLE, &one);
        int r = 0;
        for (int p = 0; p < o->partitions; p++) {
                const struct page *last = o->at[p].last;
                for (const struct page *page = last ? last->next : NULL; page && r == 0;) {
                        r = o->stream->class->add(o->stream, p, page);
                        page = page == last ? NULL : page->next;
                }
        }
        return r;
}

/* Stores the outputs of all maps while they are written. Some are drained before they are complete. */
static void celeborn_world_stream_all(struct celeborn_world *c)
{
        struct shuffle_inputs *in = c->w.env.inputs;
        make_maps(&c->w, MAPS, MEMORY);
        for (int m = 0; m < MAPS; m++) {
                struct shuffle_store *store = c->w.executors[in->maps[m].location].store;
                struct shuffle_output *o = shuffle_store_get(store, SHUFFLE, m, 100 + m);
                size_t freed = 0;
                shuffle_store_remove(store, SHUFFLE, m, 100 + m);
                assert_int_equal(celeborn_world_stream(c, m, 100 + m, o), 0);
                if (m % 2) {
                        assert_int_equal(shuffle_output_drain(o, NULL, &freed, NULL), 0);
                        assert_true(o->dropped && o->pages == 0 && freed > 0);
                }
                o->stream->class->flush(o->stream);
                assert_int_equal(celeborn_world_push(c, m, 100 + m, o, NULL), 0);
                assert_null(o->stream);
                in->maps[m].location = SHUFFLE_REMOTE - WRITER;
                in->maps[m].place = celeborn_place(NUMBER);
                shuffle_store_put_copy(store, SHUFFLE, m, 100 + m, o);
                struct shuffle_output *copy = shuffle_store_get(store, SHUFFLE, m, 100 + m);
                assert_int_equal(!copy, m % 2); /* the others are complete here */
                shuffle_output_unref(copy);
                shuffle_store_remove(store, SHUFFLE, m, 100 + m);
        }
}

static void outputs_are_stored_while_they_are_written(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, ", 'threshold': 300000, 'hard': true");
        celeborn_world_stream_all(&c);
        celeborn_world_read(&c);
        assert_int_equal(c.driver.locations, 1);
        celeborn_world_deinit(&c);
}

static void full_pages_are_pushed_before_the_output_is_complete(void **state)
{
        (void)state;
        struct celeborn_world c;
        int64_t rows;
        celeborn_world_init(&c, CODEC_NONE, "");
        const int before = celeborn_pushes();
        struct shuffle_output *o = output_new(&c.w, 1, MEMORY, &rows);
        assert_int_equal(celeborn_world_stream(&c, 1, 900, o), 0); /* small pages, which wait for others */
        struct shuffle_output *large = output_new(&c.w, 2, LARGE, &rows);
        while (scripted_driver_locations(&c.driver) == 0)
                poll(NULL, 0, 1);
        assert_int_equal(celeborn_world_stream(&c, 2, 901, large), 0);
        for (int i = 0; i < 60000 && celeborn_pushes() == before; i++)
                poll(NULL, 0, 1);
        assert_true(celeborn_pushes() > before);
        shuffle_output_unref(large); /* in flight, perhaps */
        shuffle_output_unref(o);
        celeborn_world_deinit(&c);
}

static void an_abandoned_output_stays_until_its_pushes_are_answered(void **state)
{
        (void)state;
        struct celeborn_world c;
        int64_t rows;
        const int stopped = 1;
        struct fst_error error = FST_ERROR_INIT;
        celeborn_world_init(&c, CODEC_NONE, "");
        tell("{'do': 'fault', 'at': 'PushData', 'kind': 'delay', 'seconds': 0.05, 'times': 100}");
        struct shuffle_output *o = output_new(&c.w, 1, LARGE, &rows);
        assert_int_equal(celeborn_world_stream(&c, 1, 900, o), 0);
        assert_int_equal(o->stream->class->drain(o->stream, &stopped, &error), -ECANCELED);
        error_deinit(&error);
        shuffle_output_unref(o);
        celeborn_world_stream_all(&c);
        celeborn_world_read(&c);
        celeborn_world_deinit(&c);
}

static void a_stream_reports_why_it_has_failed(void **state)
{
        (void)state;
        struct celeborn_world c;
        struct fst_error error = FST_ERROR_INIT;
        int64_t rows;
        size_t freed = 0;
        celeborn_world_init(&c, CODEC_NONE, "");
        celeborn_world_stream_all(&c);
        tell("{'do': 'end', 'app': 'app', 'shuffle': %d, 'attempts': [100, 101, 102, 103, 104, 105]}", NUMBER);
        struct shuffle_output *late = output_new(&c.w, 1, LARGE, &rows);
        const size_t pages = late->pages;
        celeborn_world_stream(&c, 1, 900, late);
        assert_int_equal(shuffle_output_drain(late, NULL, &freed, &error), -ECANCELED);
        assert_non_null(strstr(error_message(&error), "another attempt of its map task has ended"));
        assert_true(late->pages == pages && freed == 0 && !late->dropped);
        assert_true(late->stream->class->add(late->stream, 0, late->at[0].last) < 0);
        error_deinit(&error);
        shuffle_output_unref(late);
        celeborn_world_deinit(&c);
}

static void an_output_of_few_of_many_partitions_is_pushed(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, "");
        make_maps(&c.w, 1, EMPTY);
        struct shuffle_map *map = &c.w.env.inputs->maps[0];
        struct shuffle_output *o = shuffle_output_new(1000, TYPE, c.w.memory);
        c.w.rows[0] = 300;
        for (int p = 0; p < c.w.partitions; p++) {
                struct page *open = NULL;
                for (int64_t i = 0; i < 300 && p != 3; i++)
                        add_row(o, (uint32_t)p, &open, p * 10000 + i, 900);
                if (open)
                        shuffle_output_add(o, (uint32_t)p, open);
        }
        shuffle_output_pack(o);
        assert_int_equal(o->n_at, 4);
        assert_int_equal(celeborn_world_push(&c, 0, 100, o, NULL), 0);
        shuffle_output_unref(o);
        map->location = SHUFFLE_REMOTE - WRITER;
        map->place = celeborn_place(NUMBER);
        celeborn_world_read(&c);
        celeborn_world_deinit(&c);
}

static void an_output_without_a_celeborn_shuffle_is_refused(void **state)
{
        (void)state;
        struct celeborn_world c;
        struct fst_error error = FST_ERROR_INIT;
        int64_t rows;
        celeborn_world_init(&c, CODEC_NONE, "");
        struct remote_output one = {.task_id = 1, .output = output_new(&c.w, 1, MEMORY, &rows)};
        assert_int_not_equal(c.remote->class->publish(c.remote, SHUFFLE, &one, 1, &error), 0);
        assert_non_null(strstr(error_message(&error), "no Celeborn shuffle for shuffle 7"));
        error_deinit(&error);
        one.place = celeborn_place(NUMBER);
        one.task_id = (int64_t)1 << 31;
        assert_int_equal(c.remote->class->publish(c.remote, SHUFFLE, &one, 1, &error), -EOVERFLOW);
        error_deinit(&error);
        shuffle_output_unref(one.output);
        celeborn_world_deinit(&c);
}

/* ------------------------------------------------------------------------------------------------ damage and loss */

static void a_byte_that_is_flipped_is_read_again(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_LZ4, "");
        celeborn_world_fill(&c, 6, BOTH);
        for (int at = 0; at < 20000; at += at < 64 ? 5 : 1777) {
                tell("{'do': 'fault', 'at': 'ChunkFetch', 'kind': 'flip', 'offset': %d}", at);
                shuffle_run_again(&c.w);
                if (read_all(&c.w, 0, 0))
                        fail_msg("byte %d: %s", at, error_message(&c.w.run.error));
        }
        celeborn_world_deinit(&c);
}

static void a_byte_that_is_flipped_on_its_way_to_a_worker_is_noticed(void **state)
{
        (void)state;
        for (int at = 0; at < 20000; at += at < 64 ? 5 : 6777) { /* headers of the batch and its page, rows */
                struct celeborn_world c;
                bool noticed = false;
                celeborn_world_init(&c, CODEC_NONE, "");
                tell("{'do': 'fault', 'at': 'PushData', 'kind': 'flip', 'offset': %d}", at);
                tell("{'do': 'fault', 'at': 'PushMergedData', 'kind': 'flip', 'offset': %d}", at);
                celeborn_world_fill(&c, 2, MEMORY);
                for (int p = 0; p < c.w.partitions; p++) {
                        shuffle_run_again(&c.w);
                        if (read_all(&c.w, p, 0)) { /* which never gets other rows */
                                assert_lost_shuffle(&c, "cannot read partition");
                                noticed = true;
                        }
                }
                if (!noticed)
                        fail_msg("byte %d", at);
                celeborn_world_deinit(&c);
        }
}

static void a_copy_that_is_damaged_for_good_is_replaced_by_the_other(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, ", 'replicate': true");
        celeborn_world_fill(&c, 6, MEMORY);
        tell("{'do': 'fault', 'at': 'ChunkFetch', 'kind': 'flip', 'offset': 5000, 'times': 1000, 'worker': 1}");
        celeborn_world_read(&c);
        tell("{'do': 'fault', 'at': 'ChunkFetch', 'kind': 'flip', 'offset': 5000, 'times': 100000}");
        shuffle_run_again(&c.w);
        assert_int_not_equal(read_all(&c.w, 0, 0), 0);
        assert_lost_shuffle(&c, "cannot read partition 0 of shuffle 7 (app-40 in Celeborn)");
        celeborn_world_deinit(&c);
}

static void fetch_faults_are_tried_again(void **state)
{
        static const char *const faults[] = {
                "'at': 'ChunkFetch', 'kind': 'close', 'after': 2", "'at': 'ChunkFetch', 'kind': 'fail', 'text': 'busy'",
                "'at': 'OpenStream', 'kind': 'close'", "'at': 'OpenStream', 'kind': 'fail', 'text': 'busy'"};
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, "");
        celeborn_world_fill(&c, 6, MEMORY);
        for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
                tell("{'do': 'fault', %s, 'times': 2}", faults[i]);
                celeborn_world_read(&c);
        }
        tell("{'do': 'fault', 'at': 'OpenStream', 'kind': 'fail', 'text': 'FileNotFoundException'}");
        shuffle_run_again(&c.w);
        assert_int_not_equal(read_all(&c.w, 0, 0), 0);
        assert_lost_shuffle(&c, "FileNotFoundException");
        tell("{'do': 'fault', 'at': 'OpenStream', 'kind': 'elsewhere'}");
        shuffle_run_again(&c.w);
        assert_int_not_equal(read_all(&c.w, 0, 0), 0);
        assert_lost_shuffle(&c, "is in HDFS, S3 or OSS: give workers local disks (celeborn.worker.storage.dirs)");
        celeborn_world_deinit(&c);
}

static void a_shuffle_that_the_driver_gave_up_is_a_fetch_failure(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, "");
        celeborn_world_fill(&c, 2, MEMORY);
        c.driver.status = CELEBORN_SHUFFLE_DATA_LOST;
        assert_int_not_equal(read_all(&c.w, 0, 0), 0);
        assert_lost_shuffle(&c, "SHUFFLE_DATA_LOST");
        celeborn_world_deinit(&c);
}

static void a_killed_task_does_not_wait_for_workers(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, "");
        celeborn_world_fill(&c, 2, MEMORY);
        tell("{'do': 'fault', 'at': 'OpenStream', 'kind': 'ignore'}");
        int stop = 1;
        c.w.run.task.stopped = &stop;
        assert_int_not_equal(read_all(&c.w, 0, 0), 0);
        assert_false(c.w.run.fetch_failed);
        c.w.run.task.stopped = &c.w.run.stop;
        celeborn_world_deinit(&c);
}

static int celeborn_count(const char *name)
{
        json_t *counts = command("{'do': 'count'}");
        const int n = (int)json_int_at(counts, name);
        json_decref(counts);
        return n;
}

static void files_on_this_host_are_read_from_their_place(void **state)
{
        static const char *const kinds[] = {"", "short", "missing"};
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                struct celeborn_world c;
                char folder[] = "/tmp/celeborn-files-XXXXXX";
                assert_non_null(mkdtemp(folder));
                celeborn_world_init(&c, CODEC_NONE, "");
                tell("{'do': 'name_files', 'folder': '%s', 'kind': '%s'}", folder, kinds[i]);
                celeborn_world_fill(&c, MAPS, MEMORY);
                const int chunks = celeborn_count("ChunkFetch"), files = celeborn_count("NamedFiles");
                celeborn_world_read(&c);
                if (i == 0)
                        assert_int_equal(celeborn_count("ChunkFetch"), chunks);
                else
                        assert_true(celeborn_count("ChunkFetch") > chunks);
                assert_int_equal(celeborn_count("NamedFiles") > files, i < 2);
                memory_manager_set_pool(c.w.memory, 2 * PAGE_BLOCK); /* sorted by the workers */
                celeborn_world_read(&c);
                tell("{'do': 'name_files', 'folder': ''}");
                celeborn_world_deinit(&c);
                remove_tree(folder);
        }
}

/* The last test: the worker does not come back. */
static void a_killed_worker_is_replaced_by_its_replicas(void **state)
{
        (void)state;
        struct celeborn_world c;
        celeborn_world_init(&c, CODEC_NONE, ", 'replicate': true");
        celeborn_world_fill(&c, 6, MEMORY);
        json_decref(command("{'do': 'end', 'app': 'app', 'shuffle': %d, 'attempts': []}", NUMBER));
        celeborn_world_read(&c); /* the driver has named the files */
        tell("{'do': 'kill', 'worker': 1}");
        celeborn_world_read(&c);
        assert_int_equal(c.driver.files, 1);
        celeborn_world_deinit(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_all_forms_in_the_order_of_the_maps),
                cmocka_unit_test(workers_sort_only_partitions_that_do_not_fit_into_memory),
                cmocka_unit_test(skips_attempts_that_do_not_count),
                cmocka_unit_test(pushes_again_after_splits),
                cmocka_unit_test(pushes_again_after_faults),
                cmocka_unit_test(a_push_that_is_not_answered_is_pushed_elsewhere),
                cmocka_unit_test(an_attempt_after_its_maps_end_fails),
                cmocka_unit_test(outputs_are_stored_while_they_are_written),
                cmocka_unit_test(full_pages_are_pushed_before_the_output_is_complete),
                cmocka_unit_test(an_abandoned_output_stays_until_its_pushes_are_answered),
                cmocka_unit_test(a_stream_reports_why_it_has_failed),
                cmocka_unit_test(an_output_of_few_of_many_partitions_is_pushed),
                cmocka_unit_test(an_output_without_a_celeborn_shuffle_is_refused),
                cmocka_unit_test(a_byte_that_is_flipped_is_read_again),
                cmocka_unit_test(a_byte_that_is_flipped_on_its_way_to_a_worker_is_noticed),
                cmocka_unit_test(a_copy_that_is_damaged_for_good_is_replaced_by_the_other),
                cmocka_unit_test(fetch_faults_are_tried_again),
                cmocka_unit_test(a_shuffle_that_the_driver_gave_up_is_a_fetch_failure),
                cmocka_unit_test(a_killed_task_does_not_wait_for_workers),
                cmocka_unit_test(files_on_this_host_are_read_from_their_place),
                cmocka_unit_test(a_killed_worker_is_replaced_by_its_replicas),
        };
        return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
