/* The writer and its place: durable records, epochs, a full disk, and a newer driver. */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "journal/frame.h"
#include "journal/place.h"
#include "journal/writer.h"
#include "unit/temp_dir.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct journal_place *open_place(const char *id)
{
        struct journal_place *place;
        struct fst_error error = FST_ERROR_INIT;
        if (journal_place_open(temp_dir, id, &place, &error))
                fail_msg("%s", error_message(&error));
        return place;
}

static struct journal_writer *start_writer(struct journal_place *place, const struct journal_writer_options *options)
{
        struct journal_writer *w;
        assert_int_equal(journal_writer_start(place, options, &w, NULL), 0);
        return w;
}

static void put_record(struct journal_writer *w, uint64_t number)
{
        struct buf *b = journal_writer_begin(w);
        size_t at = journal_record_begin(b, 7);
        buf_append(b, &number, sizeof(number));
        journal_record_end(b, at);
        journal_writer_end(w);
}

struct counted {
        uint64_t next;
};

static int count_in_order(void *context, uint8_t kind, const void *content, size_t size)
{
        struct counted *c = context;
        uint64_t number;
        memcpy(&number, content, sizeof(number));
        assert_int_equal(kind, 7);
        assert_true(number == c->next++);
        return 0;
}

static uint64_t count_records(struct journal_place *place, int epoch)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct journal_extent extent;
        struct counted counted = {0};
        assert_int_equal(journal_place_read(place, epoch, &bytes, NULL), 0);
        assert_int_equal(journal_read_frames(bytes.data, bytes.len, "j", count_in_order, &counted, &extent, NULL), 0);
        return counted.next;
}

static void records_are_durable_after_sync_and_after_stop(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        options.interval_ms = 3600000;
        struct journal_place *place = open_place("app-1");
        assert_int_equal(journal_place_newest(place, NULL), 0);
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        struct journal_writer *w = start_writer(place, &options);
        assert_true(journal_writer_sync(w)); /* nothing to wait for */
        for (uint64_t i = 0; i < 1000; i++)
                put_record(w, i);
        assert_true(journal_writer_sync(w));
        assert_int_equal(count_records(place, 1), 1000);
        for (uint64_t i = 1000; i < 1010; i++)
                put_record(w, i);
        journal_writer_stop(w);
        assert_int_equal(count_records(place, 1), 1010);
        journal_place_remove(place);
        journal_place_free(place);
}

static void records_are_written_within_the_interval(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        options.interval_ms = 1;
        struct journal_place *place = open_place("app-2");
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        struct journal_writer *w = start_writer(place, &options);
        put_record(w, 0);
        while (count_records(place, 1) == 0)
                usleep(1000);
        journal_writer_stop(w);
        journal_place_free(place);
}

static void *put_many(void *arg)
{
        struct journal_writer *w = arg;
        for (int i = 0; i < 30; i++) {
                struct buf *b = journal_writer_begin(w);
                journal_record_end(b, journal_record_begin(b, 9));
                journal_writer_end(w);
                assert_true(journal_writer_sync(w));
        }
        return NULL;
}

static int count_any(void *context, uint8_t kind, const void *content, size_t size)
{
        ++*(int *)context;
        return 0;
}

static void many_threads_share_writes(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        struct journal_place *place = open_place("app-3");
        pthread_t threads[4];
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        options.max_backlog = 16; /* they wait for room, too */
        struct journal_writer *w = start_writer(place, &options);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                assert_int_equal(pthread_create(&threads[i], NULL, put_many, w), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        journal_writer_stop(w);
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct journal_extent extent;
        int n = 0;
        assert_int_equal(journal_place_read(place, 1, &bytes, NULL), 0);
        assert_int_equal(journal_read_frames(bytes.data, bytes.len, "j", count_any, &n, &extent, NULL), 0);
        assert_int_equal(n, 120);
        assert_int_equal(extent.end, JOURNAL_COMPLETE);
        journal_place_free(place);
}

/* The last position of which `written` told. */
static void on_written(void *owner, uint64_t position)
{
        __atomic_store_n((uint64_t *)owner, position, __ATOMIC_RELEASE);
}

static void a_requested_write_is_told_when_it_is_durable(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        struct journal_place *place = open_place("app-8");
        uint64_t told = 0, position;
        options.interval_ms = 3600000;
        options.written = on_written;
        options.owner = &told;
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        struct journal_writer *w = start_writer(place, &options);
        assert_true(journal_writer_request(w) == 0); /* nothing to write */
        for (uint64_t i = 0; i < 100; i++) {
                put_record(w, 2 * i);
                put_record(w, 2 * i + 1);
                position = journal_writer_request(w);
                if (i % 3 == 0) { /* another one waits for the same write: `written` comes first */
                        journal_writer_sync(w);
                        assert_true(__atomic_load_n(&told, __ATOMIC_ACQUIRE) == position);
                }
                while (__atomic_load_n(&told, __ATOMIC_ACQUIRE) < position)
                        usleep(100);
                assert_int_equal(count_records(place, 1), 2 * i + 2);
        }
        journal_writer_sync(w);
        assert_true(journal_writer_request(w) == 0);
        journal_writer_stop(w);
        journal_place_free(place);
}

static void an_epoch_has_one_driver(void **state)
{
        struct journal_place *a = open_place("app-4"), *b = open_place("app-4");
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct stat st;
        assert_int_equal(journal_place_take(a, 1, NULL), 0);
        assert_int_equal(journal_place_take(b, 1, &error), -EEXIST);
        assert_non_null(strstr(error_message(&error), "another driver has just taken over the application"));
        assert_int_equal(journal_place_newest(b, NULL), 1);
        assert_false(journal_place_is_superseded(a));
        assert_int_equal(journal_place_take(b, 2, NULL), 0);
        assert_true(journal_place_is_superseded(a));
        assert_false(journal_place_is_superseded(b));
        assert_int_equal(journal_place_newest(a, NULL), 2);
        assert_int_equal(stat(journal_place_path(a), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        journal_place_free(a);
        journal_place_free(b);
}

static void rejects_ids_and_places(void **state)
{
        static const char *const ids[] = {"", "..", "a/b", "a\nb"};
        struct journal_place *place;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
                assert_int_equal(journal_place_open(temp_dir, ids[i], &place, NULL), -EINVAL);
        assert_int_equal(journal_place_open("/dev/null/x", "app", &place, &error), -ENOTDIR);
        assert_non_null(strstr(error_message(&error), "cannot make the directory /dev/null/x/app"));
        error_deinit(&error);
        const uid_t user = geteuid();
        if (user == 0) /* who may write everywhere */
                assert_int_equal(seteuid(65534), 0);
        int r = journal_place_open("/", "app", &place, &error);
        assert_int_equal(seteuid(user), 0);
        assert_int_equal(r, -EACCES);
        assert_string_equal(error_message(&error), "cannot make the directory /app: Permission denied: let this user write "
                                                   "there, or choose another directory");
        assert_int_equal(journal_place_open("gopher://x/y", "app", &place, &error), -EPROTONOSUPPORT);
}

static void on_superseded(void *owner)
{
        __atomic_add_fetch((int *)owner, 1, __ATOMIC_RELAXED);
}

static void a_newer_epoch_is_noticed(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        struct journal_place *old = open_place("app-5"), *new = open_place("app-5");
        int noticed = 0;
        options.superseded = on_superseded;
        options.owner = &noticed;
        options.watch_ms = 3600000;
        assert_int_equal(journal_place_take(old, 1, NULL), 0);
        struct journal_writer *w = start_writer(old, &options);
        assert_true(journal_writer_check_epoch(w, 0));
        assert_int_equal(journal_place_take(new, 2, NULL), 0);
        assert_true(journal_writer_check_epoch(w, 3600000)); /* the last look is fresh enough */
        assert_int_equal(noticed, 0);
        put_record(w, 0);
        journal_writer_sync(w); /* each write is followed by a look */
        assert_int_equal(__atomic_load_n(&noticed, __ATOMIC_RELAXED), 1);
        assert_false(journal_writer_check_epoch(w, 3600000));
        journal_writer_stop(w);
        noticed = 0;
        w = start_writer(old, &options);
        journal_writer_look(w);
        while (__atomic_load_n(&noticed, __ATOMIC_RELAXED) == 0) /* the thread looks when it is asked to */
                usleep(1000);
        journal_writer_stop(w);
        noticed = 0;
        options.interval_ms = 3600000;
        w = start_writer(old, &options);
        put_record(w, 1);
        journal_writer_look(w);
        while (__atomic_load_n(&noticed, __ATOMIC_RELAXED) == 0) /* also while a record waits */
                usleep(1000);
        journal_writer_stop(w);
        noticed = 0;
        options.watch_ms = 1;
        w = start_writer(old, &options);
        while (__atomic_load_n(&noticed, __ATOMIC_RELAXED) == 0) /* also without a write */
                usleep(1000);
        journal_writer_stop(w);
        assert_false(journal_place_is_superseded(new));
        journal_place_remove(new); /* the newer driver has ended the application */
        assert_true(journal_place_is_superseded(old));
        journal_place_free(old);
        journal_place_free(new);
}

static void a_removed_journal_is_not_watched(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        struct journal_place *place = open_place("app-7"), *again;
        int noticed = 0;
        options.superseded = on_superseded;
        options.owner = &noticed;
        options.watch_ms = 1;
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        struct journal_writer *w = start_writer(place, &options);
        put_record(w, 0);
        journal_writer_remove(w);
        assert_int_equal(journal_place_find(temp_dir, "app-7", &again, NULL), -ENOENT);
        assert_int_equal(journal_place_find(temp_dir, "app-7.removed", &again, NULL), -ENOENT);
        put_record(w, 1);
        assert_true(journal_writer_sync(w)); /* each write is followed by a look */
        assert_true(journal_writer_check_epoch(w, 0));
        journal_writer_stop(w);
        assert_int_equal(noticed, 0);
        journal_place_free(place);
}

static void a_full_disk_drops_records_and_blocks_nobody(void **state)
{
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        struct journal_place *place = open_place("app-6");
        struct rlimit before, small = {4096, 4096};
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small.rlim_max = before.rlim_max;
        options.max_backlog = 100;
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        struct journal_writer *w = start_writer(place, &options);
        for (uint64_t i = 0; i < 50; i++)
                put_record(w, i);
        assert_true(journal_writer_sync(w));
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        for (uint64_t i = 50; i < 5000; i++)
                put_record(w, i);
        assert_false(journal_writer_sync(w));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        for (uint64_t i = 0; i < 5000; i++) /* dropped: what follows a gap would be wrong */
                put_record(w, i);
        assert_false(journal_writer_sync(w));
        journal_writer_stop(w);
        uint64_t kept = count_records(place, 1);
        assert_in_range(kept, 50, 4096 / 13);
        journal_place_free(place);
}

static void finds_the_address_of_a_later_driver(void **state)
{
        _cleanup_(buf_deinit) struct buf found = BUF_INIT;
        struct journal_place *place = open_place("app-drivers");
        assert_int_equal(journal_place_find_driver(place, 0, &found, NULL), 0);
        assert_int_equal(journal_place_take(place, 1, NULL), 0);
        assert_int_equal(journal_place_publish(place, 1, "spark://D@h:1", NULL), 0);
        assert_int_equal(journal_place_publish(place, 3, "spark://D@h:2", NULL), 0);
        assert_int_equal(journal_place_publish(place, 3, "spark://D@h:3", NULL), 0); /* replaces it */
        assert_int_equal(journal_place_newest(place, NULL), 1);
        assert_int_equal(journal_place_find_driver(place, 3, &found, NULL), 0);
        assert_int_equal(journal_place_find_driver(place, 1, &found, NULL), 3);
        assert_string_equal(buf_text(&found), "spark://D@h:3");
        buf_reset(&found);
        assert_int_equal(journal_place_put(place, "secret", "s", NULL), 0);
        assert_int_equal(journal_place_get(place, "secret", &found, NULL), 0);
        assert_string_equal(buf_text(&found), "s");
        assert_int_equal(journal_place_get(place, "none", &found, NULL), -ENOENT);
        journal_place_remove(place);
        journal_place_free(place);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_the_address_of_a_later_driver),
                cmocka_unit_test(records_are_durable_after_sync_and_after_stop),
                cmocka_unit_test(records_are_written_within_the_interval),
                cmocka_unit_test(many_threads_share_writes),
                cmocka_unit_test(a_requested_write_is_told_when_it_is_durable),
                cmocka_unit_test(an_epoch_has_one_driver),
                cmocka_unit_test(rejects_ids_and_places),
                cmocka_unit_test(a_newer_epoch_is_noticed),
                cmocka_unit_test(a_removed_journal_is_not_watched),
                cmocka_unit_test(a_full_disk_drops_records_and_blocks_nobody),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
