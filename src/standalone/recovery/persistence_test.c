/* Persistence in modes NONE and FILESYSTEM: the cases of Spark's PersistenceEngineSuite, order and durability of
 * commits, election, and failing disks.
 */
#include "standalone/recovery/persistence_fixture.h"

#include "base/log.h"
#include "base/fs.h"
#include "conf/conf.h"
#include "io/durable_file.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[80];

static int make_root(void **state)
{
        if (temp_dir_make(NULL))
                return -1;
        snprintf(dir, sizeof(dir), "%s/a/b", temp_dir);
        return 0;
}

static int remove_root(void **state)
{
        durable_file_calls = &durable_file_default;
        log_set_level(LOG_WARN);
        temp_dir_remove(NULL);
        return 0;
}

/* @more: keys and values, NULL-terminated. */
static struct fst_conf *configuration(const char *mode, ...)
{
        static struct fst_conf conf;
        va_list args;
        conf_deinit(&conf);
        conf_init(&conf);
        conf_set(&conf, "spark.deploy.recoveryMode", mode);
        conf_set(&conf, "spark.deploy.recoveryDirectory", dir);
        va_start(args, mode);
        for (const char *key; (key = va_arg(args, const char *));)
                conf_set(&conf, key, va_arg(args, const char *));
        va_end(args);
        return &conf;
}

/* Asserts the records that the next leader gets. */
static void expect_recovered(const char *records)
{
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        assert_string_equal(buf_text(&m.records), records);
        stop(&m);
}

static char *journal_path(void)
{
        static char path[128];
        snprintf(path, sizeof(path), "%s/" JOURNAL_FILE, dir);
        return path;
}

static off_t journal_size(void)
{
        struct stat st;
        return stat(journal_path(), &st) == 0 ? st.st_size : -1;
}

/* ------------------------------------------------------------------------------------------------------- tests */

static void none_leads_and_never_waits(void **state)
{
        struct master_like m;
        start(&m, configuration("NONE", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        assert_true(commit(&m, 1));
        assert_int_equal(m.records.len, 0);
        stop(&m);
        assert_int_equal(access(dir, F_OK), -1);
}

static void stored_and_removed_as_in_the_engines_suite(void **state)
{
        static const char *const codecs[] = {"none", "lz4", "zstd", "NONE"};
        for (size_t i = 0; i < ARRAY_SIZE(codecs); i++) {
                struct fst_conf *conf;
                struct master_like m;
                conf = configuration("FILESYSTEM", "spark.deploy.recoveryCompressionCodec", codecs[i], NULL);
                start(&m, conf);
                assert_int_equal(m.records.len, 0);
                store(&m, MASTER_RECORD_APP, "test_1", "test_1_value");
                commit_and_wait(&m);
                stop(&m);
                start(&m, conf);
                assert_string_equal(buf_text(&m.records), "app test_1=test_1_value ");
                store(&m, MASTER_RECORD_APP, "test_2", "test_2_value");
                commit_and_wait(&m);
                stop(&m);
                start(&m, conf);
                assert_string_equal(buf_text(&m.records), "app test_1=test_1_value app test_2=test_2_value ");
                persistence_remove(m.p, MASTER_RECORD_APP, "test_1");
                commit_and_wait(&m);
                stop(&m);
                start(&m, conf);
                assert_string_equal(buf_text(&m.records), "app test_2=test_2_value ");
                persistence_remove(m.p, MASTER_RECORD_APP, "test_2");
                persistence_remove(m.p, MASTER_RECORD_APP, "never_there");
                commit_and_wait(&m);
                stop(&m);
                start(&m, conf);
                assert_string_equal(buf_text(&m.records), "");
                store(&m, MASTER_RECORD_WORKER, "test_worker", "127.0.0.1:10000");
                stop(&m); /* uncommitted changes are written as well */
                start(&m, conf);
                assert_string_equal(buf_text(&m.records), "worker test_worker=127.0.0.1:10000 ");
                persistence_remove(m.p, MASTER_RECORD_WORKER, "test_worker");
                stop(&m);
        }
        struct stat st;
        assert_int_equal(stat(journal_path(), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
}

static void the_last_one_stored_counts_at_the_place_of_the_first(void **state)
{
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_APP, "x", "1");
        store(&m, MASTER_RECORD_DRIVER, "x", "2");
        store(&m, MASTER_RECORD_APP, "y", "3");
        commit_and_wait(&m);
        store(&m, MASTER_RECORD_APP, "x", "4");
        store(&m, MASTER_RECORD_DRIVER, "x", "");
        stop(&m);
        expect_recovered("app x=4 driver x= app y=3 ");
}

static int (*real_fdatasync)(int) = fdatasync;
static int syncs;

static int counting_fdatasync(int fd)
{
        syncs++;
        return real_fdatasync(fd);
}

static void commits_are_done_in_order_and_together(void **state)
{
        static const struct durable_file_calls counting = {
                .pwritev = pwritev, .fdatasync = counting_fdatasync, .fsync = fsync, .rename = rename};
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        assert_true(commit(&m, 0)); /* nothing to wait for */
        store(&m, MASTER_RECORD_APP, "first", "of all");
        commit_and_wait(&m);
        m.done.len = 0;
        durable_file_calls = &counting;
        syncs = 0;
        for (int i = 0; i < 1000; i++) {
                char id[16];
                snprintf(id, sizeof(id), "a-%d", i);
                store(&m, MASTER_RECORD_APP, id, "spec");
                assert_false(commit(&m, i));
        }
        assert_false(commit(&m, 1000)); /* nothing new, but earlier commits come first */
        while (m.done.len < 1001)
                uv_run(m.loop, UV_RUN_ONCE);
        for (int i = 0; i <= 1000; i++)
                assert_int_equal(m.done.data[i], i);
        assert_int_equal(syncs, 2); /* the first change, and all that arrived during its write */
        assert_true(commit(&m, 1001));
        stop(&m);
}

/* `done` may call these functions. */
static struct master_like *again_m;
static int again_left;

static void store_again(void *context)
{
        if (again_left == 0) {
                persistence_close(again_m->p, on_closed, again_m);
                return;
        }
        again_left--;
        store(again_m, MASTER_RECORD_APP, "again", "and again");
        assert_false(persistence_commit(again_m->p, store_again, NULL));
}

static void done_may_store_commit_and_close(void **state)
{
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        again_m = &m;
        again_left = 5;
        store_again(NULL);
        run_until(&m, &m.closed);
        assert_int_equal(uv_loop_close(m.loop), 0);
        free(m.loop);
        expect_recovered("app again=and again ");
}

static void a_second_master_stands_by(void **state)
{
        struct master_like first, second;
        start(&first, configuration("FILESYSTEM", NULL));
        stand(&second, configuration("FILESYSTEM", NULL));
        store(&first, MASTER_RECORD_DRIVER, "d-1", "supervised");
        for (int i = 0; i < 3; i++) /* it tries the lock in each iteration and finds it taken */
                uv_run(second.loop, UV_RUN_ONCE);
        assert_false(second.elected);
        assert_false(persistence_leads(second.p));
        store(&second, MASTER_RECORD_DRIVER, "d-2", "nobody asked");
        assert_true(commit(&second, 1)); /* it has changed nothing */
        stop(&first);
        run_until(&second, &second.elected);
        assert_string_equal(buf_text(&second.records), "driver d-1=supervised ");
        stop(&second);
        expect_recovered("driver d-1=supervised ");
}

static void a_master_that_stands_by_can_be_closed(void **state)
{
        struct master_like first, second;
        start(&first, configuration("FILESYSTEM", NULL));
        stand(&second, configuration("FILESYSTEM", NULL));
        stop(&second);
        stand(&second, configuration("FILESYSTEM", NULL));
        uv_run(second.loop, UV_RUN_ONCE);
        stop(&second);
        stop(&first);
}

static void a_journal_stays_small(void **state)
{
        struct master_like m;
        char data[4096];
        memset(data, 'd', sizeof(data) - 1);
        data[sizeof(data) - 1] = '\0';
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_WORKER, "w-1", "stays");
        for (int i = 0; i < 2000; i++) {
                store(&m, MASTER_RECORD_APP, "a-1", data);
                if (i % 100 == 0)
                        commit_and_wait(&m);
        }
        commit_and_wait(&m);
        assert_true(journal_size() > 0);
        assert_true(journal_size() < (3 << 20));
        persistence_remove(m.p, MASTER_RECORD_APP, "a-1");
        stop(&m);
        expect_recovered("worker w-1=stays ");
}

static void a_journal_that_was_cut_off_goes_on_where_it_is_whole(void **state)
{
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        commit_and_wait(&m);
        off_t whole = journal_size();
        store(&m, MASTER_RECORD_APP, "a-2", "two");
        stop(&m);
        assert_int_equal(truncate(journal_path(), journal_size() - 1), 0);
        start(&m, configuration("FILESYSTEM", NULL));
        assert_string_equal(buf_text(&m.records), "app a-1=one ");
        store(&m, MASTER_RECORD_APP, "a-3", "three");
        stop(&m);
        assert_true(journal_size() > whole);
        expect_recovered("app a-1=one app a-3=three ");
        char kept[160];
        snprintf(kept, sizeof(kept), "%s/journal.damaged", dir);
        assert_int_equal(access(kept, F_OK), -1);
}

static void a_damaged_record_costs_itself_alone_and_a_copy_is_kept(void **state)
{
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        commit_and_wait(&m);
        off_t at = journal_size();
        store(&m, MASTER_RECORD_APP, "a-2", "two");
        store(&m, MASTER_RECORD_APP, "a-3", "three");
        stop(&m);
        int fd = open(journal_path(), O_WRONLY);
        assert_int_equal(pwrite(fd, "?", 1, at + 36), 1);
        close(fd);
        start(&m, configuration("FILESYSTEM", NULL));
        assert_string_equal(buf_text(&m.records), "app a-1=one app a-3=three ");
        store(&m, MASTER_RECORD_APP, "a-4", "four");
        stop(&m);
        expect_recovered("app a-1=one app a-3=three app a-4=four ");
        char kept[160];
        snprintf(kept, sizeof(kept), "%s/journal.damaged", dir);
        assert_int_equal(access(kept, F_OK), 0);
}

static void what_is_no_journal_is_left_alone(void **state)
{
        struct master_like m;
        assert_int_equal(mkdir(strndupa(dir, strlen(dir) - 2), 0700), 0);
        assert_int_equal(mkdir(dir, 0700), 0);
        int fd = open(journal_path(), O_WRONLY | O_CREAT, 0600);
        assert_int_equal(write(fd, "something else", 14), 14);
        close(fd);
        stand(&m, configuration("FILESYSTEM", NULL));
        run_until(&m, &m.failed);
        assert_non_null(strstr(m.why, "is not a journal of a Firesteel master"));
        assert_non_null(strstr(m.why, "spark.deploy.recoveryDirectory"));
        assert_false(persistence_leads(m.p));
        assert_false(commit(&m, 1));
        stop(&m);
        assert_int_equal(journal_size(), 14);
}

static void a_directory_that_is_taken_away_ends_leadership(void **state)
{
        struct master_like m, other;
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        commit_and_wait(&m);
        remove_tree(dir);
        start(&other, configuration("FILESYSTEM", NULL)); /* which cannot be prevented */
        m.done.len = 0;
        store(&m, MASTER_RECORD_APP, "a-2", "two");
        assert_false(commit(&m, 1));
        run_until(&m, &m.revoked);
        assert_int_equal(m.done.len, 0);
        assert_false(persistence_leads(m.p));
        stop(&m);
        stop(&other);
}

static void a_journal_that_is_taken_away_is_written_again(void **state)
{
        struct master_like m;
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        commit_and_wait(&m);
        assert_int_equal(unlink(journal_path()), 0);
        store(&m, MASTER_RECORD_APP, "a-2", "two");
        commit_and_wait(&m);
        stop(&m);
        expect_recovered("app a-1=one app a-2=two ");
}

static void a_full_disk_delays_and_loses_nothing(void **state)
{
        struct rlimit old, small;
        struct master_like m;
        char data[8192];
        memset(data, 'd', sizeof(data) - 1);
        data[sizeof(data) - 1] = '\0';
        start(&m, configuration("FILESYSTEM", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        commit_and_wait(&m);
        m.done.len = 0;
        getrlimit(RLIMIT_FSIZE, &old);
        small = old;
        small.rlim_cur = (rlim_t)journal_size() + 4000; /* a write fails halfway */
        setrlimit(RLIMIT_FSIZE, &small);
        store(&m, MASTER_RECORD_APP, "a-2", data);
        assert_false(commit(&m, 1));
        while (!persistence_trouble(m.p))
                uv_run(m.loop, UV_RUN_ONCE);
        assert_non_null(strstr(persistence_trouble(m.p), "cannot write recovery records to"));
        store(&m, MASTER_RECORD_APP, "a-3", "three");
        assert_false(commit(&m, 2));
        uv_run(m.loop, UV_RUN_ONCE);
        uv_run(m.loop, UV_RUN_ONCE);
        assert_int_equal(m.done.len, 0);
        setrlimit(RLIMIT_FSIZE, &old);
        while (m.done.len < 2)
                uv_run(m.loop, UV_RUN_ONCE);
        assert_null(persistence_trouble(m.p));
        assert_int_equal(m.done.data[0], 1);
        assert_int_equal(m.done.data[1], 2);
        persistence_remove(m.p, MASTER_RECORD_APP, "a-2");
        stop(&m);
        expect_recovered("app a-1=one app a-3=three ");
}

/* ------------------------------------------------------------------------------------- a disk that fails at random */

/* One random sequence for the disk, whose calls come from the pool one at a time, and one for the test's actions. */
static unsigned disk_random, random_state;

static unsigned next_random(unsigned *random, unsigned sides)
{
        *random = *random * 1103515245 + 12345;
        return (*random >> 16) % sides;
}

static unsigned disk_dice(unsigned sides)
{
        return next_random(&disk_random, sides);
}

static unsigned dice(unsigned sides)
{
        return next_random(&random_state, sides);
}

static bool disk_fails;

static ssize_t bad_pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
        if (disk_fails && disk_dice(2) == 0) {
                size_t part = disk_dice((unsigned)parts->iov_len + 1);
                if (part > 0 && pwrite(fd, parts->iov_base, part, at) < 0)
                        return -1;
                errno = disk_dice(2) ? ENOSPC : EIO;
                return disk_dice(2) && part > 0 ? (ssize_t)part : -1;
        }
        return pwritev(fd, parts, n, at);
}

/* After this fails, written data may be lost. */
static int bad_sync(int fd)
{
        struct stat st;
        if (disk_fails && disk_dice(3) == 0) {
                if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && disk_dice(2) && st.st_size > 100 &&
                    pwrite(fd, "lost", 4, st.st_size - 50) < 0)
                        return -1;
                errno = EIO;
                return -1;
        }
        return fdatasync(fd);
}

static int bad_rename(const char *from, const char *to)
{
        if (disk_fails && disk_dice(3) == 0) {
                errno = EIO;
                return -1;
        }
        return rename(from, to);
}

static void retry_now(uv_handle_t *handle, void *context)
{
        if (handle->type == UV_TIMER && uv_is_active(handle))
                uv_timer_start((uv_timer_t *)handle, ((uv_timer_t *)handle)->timer_cb, 0, 0);
}

static void a_disk_that_fails_at_random_loses_nothing_that_was_committed(void **state)
{
        static const struct durable_file_calls bad = {
                .pwritev = bad_pwritev, .fdatasync = bad_sync, .fsync = bad_sync, .rename = bad_rename};
        durable_file_calls = &bad;
        log_set_level(LOG_OFF); /* a thousand warnings */
        for (unsigned seed = 1; seed <= 60; seed++) {
                struct master_like m;
                char expected[6][24] = {{0}};
                _cleanup_(buf_deinit) struct buf records = BUF_INIT;
                random_state = disk_random = seed;
                start(&m, configuration("FILESYSTEM", NULL));
                for (int i = 0; i < 6; i++) { /* each seed begins with an empty directory, in the order of ids */
                        char id[8];
                        snprintf(id, sizeof(id), "a-%d", i);
                        persistence_remove(m.p, MASTER_RECORD_APP, id);
                }
                disk_fails = true;
                for (int i = 0; i < 30; i++) {
                        unsigned which = dice(6);
                        char id[8];
                        snprintf(id, sizeof(id), "a-%u", which);
                        if (dice(4) == 0) {
                                persistence_remove(m.p, MASTER_RECORD_APP, id);
                                expected[which][0] = '\0';
                        } else {
                                snprintf(expected[which], sizeof(expected[which]), "value %u of %d", seed, i);
                                store(&m, MASTER_RECORD_APP, id, expected[which]);
                        }
                        if (dice(3) == 0) {
                                commit(&m, i);
                                uv_walk(m.loop, retry_now, NULL);
                                uv_run(m.loop, UV_RUN_NOWAIT);
                        }
                }
                if (!commit(&m, 1000))
                        while (m.done.len == 0 || m.done.data[m.done.len - 1] != 1000) {
                                uv_walk(m.loop, retry_now, NULL);
                                uv_run(m.loop, UV_RUN_ONCE);
                        }
                disk_fails = false;
                /* Simulates a kill: another master reads a copy of the disk's current content. */
                char copy[128], command[400];
                snprintf(copy, sizeof(copy), "%s/copy-%u", temp_dir, seed);
                snprintf(command, sizeof(command), "cp -r %s %s", dir, copy);
                assert_int_equal(system(command), 0);
                struct master_like next;
                start(&next, configuration("FILESYSTEM", "spark.deploy.recoveryDirectory", copy, NULL));
                for (unsigned i = 0; i < 6; i++) {
                        char record[200];
                        snprintf(record, sizeof(record), "app a-%u=%s ", i, expected[i]);
                        if (expected[i][0])
                                assert_non_null(strstr(buf_text(&next.records), record));
                        else {
                                snprintf(record, sizeof(record), "app a-%u=", i);
                                assert_null(strstr(buf_text(&next.records), record));
                        }
                }
                stop(&next);
                stop(&m);
        }
}

/* -------------------------------------------------------------------------------------------------------- refusals */

static void expect_refused(const struct fst_conf *conf, const char *text)
{
        struct fst_error error = FST_ERROR_INIT;
        struct persistence *p = NULL;
        uv_loop_t loop;
        uv_loop_init(&loop);
        assert_true(persistence_open(&loop, conf, "spark://here:7077", &ops, NULL, &p, &error) < 0);
        if (!strstr(error_message(&error), text))
                fail_msg("%s", error_message(&error));
        assert_null(p);
        error_deinit(&error);
        assert_int_equal(uv_loop_close(&loop), 0);
}

static void rejects_unknown_modes_directories_and_codecs(void **state)
{
        char file[80];
        expect_refused(configuration("FILE", NULL), "spark.deploy.recoveryMode is FILE: it can be NONE, FILESYSTEM or");
        expect_refused(configuration("CUSTOM", "spark.deploy.recoveryMode.factory", "com.example.Factory", NULL),
                       "the class com.example.Factory of spark.deploy.recoveryMode.factory is Java's");
        expect_refused(configuration("FILESYSTEM", "spark.deploy.recoveryDirectory", "", NULL),
                       "set spark.deploy.recoveryDirectory");
        expect_refused(configuration("FILESYSTEM", "spark.deploy.recoveryCompressionCodec", "snappy", NULL),
                       "spark.deploy.recoveryCompressionCodec is snappy: it can be none, lz4 or zstd");
        snprintf(file, sizeof(file), "%s/file", temp_dir);
        close(open(file, O_CREAT | O_WRONLY, 0600));
        snprintf(dir, sizeof(dir), "%s/file/below", temp_dir);
        expect_refused(configuration("FILESYSTEM", NULL), "for spark.deploy.recoveryDirectory");
}

static void rocksdb_is_taken_for_filesystem(void **state)
{
        struct master_like m;
        start(&m, configuration("ROCKSDB", NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        stop(&m);
        expect_recovered("app a-1=one ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
        const struct CMUnitTest tests[] = {
                TEST(none_leads_and_never_waits),
                TEST(stored_and_removed_as_in_the_engines_suite),
                TEST(the_last_one_stored_counts_at_the_place_of_the_first),
                TEST(commits_are_done_in_order_and_together),
                TEST(done_may_store_commit_and_close),
                TEST(a_second_master_stands_by),
                TEST(a_master_that_stands_by_can_be_closed),
                TEST(a_journal_stays_small),
                TEST(a_journal_that_was_cut_off_goes_on_where_it_is_whole),
                TEST(a_damaged_record_costs_itself_alone_and_a_copy_is_kept),
                TEST(what_is_no_journal_is_left_alone),
                TEST(a_directory_that_is_taken_away_ends_leadership),
                TEST(a_journal_that_is_taken_away_is_written_again),
                TEST(a_full_disk_delays_and_loses_nothing),
                TEST(a_disk_that_fails_at_random_loses_nothing_that_was_committed),
                TEST(rejects_unknown_modes_directories_and_codecs),
                TEST(rocksdb_is_taken_for_filesystem),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
