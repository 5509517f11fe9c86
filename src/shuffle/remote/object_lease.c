/* See object_lease.h. */
#include "shuffle/remote/object_lease.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "io/fs/file_system.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "shuffle/remote/object_listing.h"
#include "shuffle/remote/object_shuffle.h"
#include "shuffle/remote/object_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define LOG "ShuffleStore"
#define LEASE_KEY OBJECT_STORE_KEY ".lease"
#define PREFIX "firesteel-shuffle-"
#define LEASE "lease"
#define RENEWALS 6 /* in the time to live of a lease */
#define MIN_LEASE_MS 1000
#define MAX_DEPTH 3
#define FIRST_RETRY_NS (200 * NS_PER_MS) /* the wait before the first lease is written again; it doubles */
#define MAX_FIRST_RETRIES 5
#define MIN_RETRY_MS 100 /* after a renewal that failed */

struct object_lease {
        struct remote_shuffle_driver driver;
        const struct file_system *fs;
        char *root, *directory, *lease;
        int64_t lease_ms, retry_ms; /* after a renewal that failed */
        struct object_listing left; /* objects of earlier drivers */
        bool (*owns_directory)(void *owner);
        void *owner;
        pthread_t thread;
        pthread_mutex_t lock; /* protects the fields below */
        pthread_cond_t wake;
        bool stopping;
        VEC(int) removed; /* shuffles */
};

/* ------------------------------------------------------------------------------------------------------ the lease */

static int object_lease_write(struct object_lease *l, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        char text[64];
        int n = snprintf(text, sizeof(text), "milliseconds %" PRId64 "\n", l->lease_ms);
        int r = l->fs->create(l->fs, l->lease, &file, error);
        if (r == 0)
                r = l->fs->write(&file, text, (size_t)n, error);
        if (r == 0)
                return l->fs->close(&file, error);
        if (file.fs)
                l->fs->discard(&file);
        return r;
}

/* Writes the first lease, again after a failure that may pass: the application cannot start without it. */
static int object_lease_write_first(struct object_lease *l, int retries, struct fst_error *error)
{
        int64_t wait_ns = FIRST_RETRY_NS;
        for (int tries = 0;; tries++, wait_ns *= 2) {
                int r = object_lease_write(l, error);
                if (r == 0 || object_status_is_final(r) || tries >= MIN(retries, MAX_FIRST_RETRIES))
                        return r;
                log_warn(LOG, "writing the lease of this application's map outputs again: %s",
                         error ? error_message(error) : strerror(-r));
                error_deinit(error);
                const struct timespec wait = timespec_of_ns(wait_ns);
                nanosleep(&wait, NULL);
        }
}

/* Returns the time to live that a lease states; 0 if it cannot be read. */
static int64_t object_lease_read_ms(const struct file_system *fs, const char *path)
{
        struct open_file file = OPEN_FILE_INIT;
        char text[64];
        if (fs->open(fs, path, &file, NULL))
                return 0;
        ssize_t n = fs->read_at(&file, text, sizeof(text) - 1, 0, NULL);
        fs->discard(&file);
        text[MAX(n, (ssize_t)0)] = 0;
        int64_t ms = 0;
        return sscanf(text, "milliseconds %" SCNd64, &ms) == 1 && ms > 0 ? ms : 0;
}

/* Removes a directory with what killed executors have uploaded in part. Uploads come first: only the directory leads to
 * them. */
static int object_lease_remove_directory(const struct object_lease *l, const char *path, struct fst_error *error)
{
        struct fst_error unlisted = FST_ERROR_INIT;
        if (l->fs->abort_uploads && l->fs->abort_uploads(l->fs, path, &unlisted))
                log_info(LOG, "incomplete uploads below %s stay: %s", path, error_message(&unlisted));
        error_deinit(&unlisted);
        return l->fs->remove(l->fs, path, error);
}

/* ------------------------------------------------------------------------------------------------------ the sweep */

/* Raises *@newest to the last change of a file in the directory. Returns 0, or negative. */
static int object_lease_newest(const struct file_system *fs, const char *path, int depth, int64_t *newest)
{
        struct file_list list = {0};
        int r = depth > MAX_DEPTH ? -ELOOP : fs->list(fs, path, &list, NULL);
        for (size_t i = 0; i < list.len && r == 0; i++) {
                const struct file_status *s = &list.data[i];
                *newest = MAX(*newest, s->modified_ms);
                if (s->directory)
                        r = object_lease_newest(fs, s->path, depth + 1, newest);
        }
        file_list_deinit(&list);
        return r;
}

/* Returns true if the directory of another application is to be removed. @now_ms is the store's time. */
static bool object_lease_expired(struct object_lease *l, const char *directory, int64_t now_ms)
{
        _cleanup_free_ char *lease = path_join(directory, LEASE);
        struct file_status status = {0};
        int r = l->fs->stat(l->fs, lease, &status, NULL);
        int64_t changed = status.modified_ms;
        file_status_deinit(&status);
        if (r == 0) {
                int64_t ms = object_lease_read_ms(l->fs, lease);
                return ms > 0 && changed > 0 && now_ms - changed > MAX(ms, l->lease_ms);
        }
        changed = 0;
        return r == -ENOENT && object_lease_newest(l->fs, directory, 0, &changed) == 0 && changed > 0 &&
               now_ms - changed > l->lease_ms;
}

static void object_lease_sweep(struct object_lease *l)
{
        struct fst_error error = FST_ERROR_INIT;
        struct file_status own = {0};
        struct file_list list = {0};
        int r = l->fs->stat(l->fs, l->lease, &own, &error);
        int64_t now_ms = own.modified_ms;
        file_status_deinit(&own);
        if (r == 0)
                r = l->fs->list(l->fs, l->root, &list, &error);
        for (size_t i = 0; i < list.len && r == 0; i++) {
                const char *path = list.data[i].path, *name = path_name(path);
                if (!list.data[i].directory || !text_starts_with(name, PREFIX) ||
                    strcmp(name, path_name(l->directory)) == 0 || !object_lease_expired(l, path, now_ms))
                        continue;
                log_info(LOG, "Removing %s, whose application has ended without doing so", path);
                if (object_lease_remove_directory(l, path, &error))
                        log_warn(LOG, "%s", error_message(&error));
                error_deinit(&error);
        }
        if (r)
                log_warn(LOG, "map outputs of ended applications are not searched for: %s", error_message(&error));
        error_deinit(&error);
        file_list_deinit(&list);
}

/* ------------------------------------------------------------------------------------------------------ the thread */

static bool object_lease_is_owner(const struct object_lease *l)
{
        return !l->owns_directory || l->owns_directory(l->owner);
}

static void object_lease_remove_shuffle_now(struct object_lease *l, int shuffle)
{
        struct fst_error error = FST_ERROR_INIT;
        if (!object_lease_is_owner(l))
                return;
        _cleanup_free_ char *path = mem_printf("%s/shuffle-%d", l->directory, shuffle);
        if (l->fs->remove(l->fs, path, &error))
                log_warn(LOG, "map outputs of shuffle %d stay until the application ends: %s", shuffle,
                         error_message(&error));
        error_deinit(&error);
}

/* Writes the lease again, unless another driver has the application: that one may have removed the directory, which the
 * write would make again. Returns the milliseconds until the next renewal, fewer after a failure. */
static int64_t object_lease_renew(struct object_lease *l)
{
        struct fst_error error = FST_ERROR_INIT;
        int64_t every_ms = l->lease_ms / RENEWALS;
        if (!object_lease_is_owner(l))
                return every_ms;
        int r = object_lease_write(l, &error);
        if (r)
                log_warn(LOG, "the lease of this application's map outputs is not renewed: %s", error_message(&error));
        error_deinit(&error);
        return r ? MIN(every_ms, l->retry_ms) : every_ms;
}

/* Waits until something is to be done. With the lock. */
static void object_lease_wait(struct object_lease *l, int64_t until_ns)
{
        struct timespec until = timespec_of_ns(until_ns);
        int r = 0;
        while (!l->stopping && !l->removed.len && r == 0)
                r = pthread_cond_clockwait(&l->wake, &l->lock, CLOCK_MONOTONIC, &until);
}

static void *object_lease_main(void *arg)
{
        struct object_lease *l = arg;
        int64_t renewal = now_ns() + ms_to_ns(l->lease_ms / RENEWALS);
        pthread_setname_np(pthread_self(), "shuffle-lease");
        object_lease_sweep(l);
        pthread_mutex_lock(&l->lock);
        for (int rounds = 1; !l->stopping;) {
                object_lease_wait(l, renewal);
                int shuffle = l->removed.len ? l->removed.data[--l->removed.len] : -1;
                bool stopping = l->stopping, due = now_ns() >= renewal;
                pthread_mutex_unlock(&l->lock);
                if (due && !stopping) {
                        int64_t wait_ms = object_lease_renew(l);
                        renewal = now_ns() + ms_to_ns(wait_ms);
                        if (rounds++ % RENEWALS == 0)
                                object_lease_sweep(l);
                }
                if (shuffle >= 0 && !stopping)
                        object_lease_remove_shuffle_now(l, shuffle);
                pthread_mutex_lock(&l->lock);
        }
        pthread_mutex_unlock(&l->lock);
        return NULL;
}

/* ------------------------------------------------------------------------------------------------------ interface */

static void object_lease_remove_shuffle(struct remote_shuffle_driver *driver, int shuffle)
{
        struct object_lease *l = container_of(driver, struct object_lease, driver);
        pthread_mutex_lock(&l->lock);
        vec_push(&l->removed, shuffle);
        pthread_cond_signal(&l->wake);
        pthread_mutex_unlock(&l->lock);
}

static void object_lease_free(struct object_lease *l)
{
        vec_deinit(&l->removed);
        object_listing_deinit(&l->left);
        pthread_cond_destroy(&l->wake);
        pthread_mutex_destroy(&l->lock);
        free(l->root);
        free(l->directory);
        free(l->lease);
        free(l);
}

static void object_lease_stop(struct remote_shuffle_driver *driver)
{
        struct object_lease *l = container_of(driver, struct object_lease, driver);
        struct fst_error error = FST_ERROR_INIT;
        pthread_mutex_lock(&l->lock);
        l->stopping = true;
        pthread_cond_signal(&l->wake);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->thread, NULL);
        if (object_lease_is_owner(l) && object_lease_remove_directory(l, l->directory, &error))
                log_warn(LOG, "%s is not removed: %s", l->directory, error_message(&error));
        error_deinit(&error);
        object_lease_free(l);
}

static const char *object_lease_directory(const struct remote_shuffle_driver *driver)
{
        return container_of(driver, struct object_lease, driver)->directory;
}

static bool object_lease_has(const struct remote_shuffle_driver *driver, int shuffle, int32_t writer, uint32_t place)
{
        return object_listing_has(&container_of(driver, struct object_lease, driver)->left, shuffle, writer, place);
}

static const struct remote_shuffle_driver_class object_lease_class = {
        .directory = object_lease_directory,
        .has = object_lease_has,
        .remove_shuffle = object_lease_remove_shuffle,
        .stop = object_lease_stop,
};

/* An application id may come from a cluster manager: only letters, digits and "._-" go into a path. */
static char *object_lease_name(const char *app_id, uint32_t random)
{
        char *name = mem_printf(PREFIX "%s-%08x", app_id, random);
        for (char *c = name; *c; c++)
                if (!strchr("._-", *c) && !(*c >= '0' && *c <= '9') && !((*c | 32) >= 'a' && (*c | 32) <= 'z'))
                        *c = '_';
        return name;
}

/* Goes on with the directory of an earlier driver. Returns false if it is not there any more. */
static bool object_lease_continue(struct object_lease *l, const char *earlier, int retries)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *in_root = earlier ? path_join(l->root, path_name(earlier)) : NULL;
        struct file_status status = {0};
        if (!earlier || strcmp(in_root, earlier) != 0)
                return false;
        l->directory = mem_strdup(earlier);
        l->lease = path_join(l->directory, LEASE);
        int r = l->fs->stat(l->fs, l->lease, &status, &error);
        file_status_deinit(&status);
        if (r == 0) /* renewed before anything is listed: from now on, nobody sweeps it */
                r = object_lease_write_first(l, retries, &error);
        if (r == 0)
                r = object_listing_read(l->fs, l->directory, &l->left, &error);
        if (r == 0)
                return true;
        log_warn(LOG, "Map outputs of the earlier driver are computed again: %s", error_message(&error));
        if (r == -ENOENT)
                object_lease_remove_directory(l, earlier, NULL);
        l->left.len = 0;
        free(steal(l->directory));
        free(steal(l->lease));
        return false;
}

static int object_lease_begin(struct object_lease *l, const struct object_lease_options *options, int retries,
                              struct fst_error *error)
{
        uint32_t random = 0;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                return error_set(error, -EIO, "no random number");
        _cleanup_free_ char *name = object_lease_name(options->app_id, random);
        l->directory = path_join(l->root, name);
        l->lease = path_join(l->directory, LEASE);
        if (options->begins)
                options->begins(options->owner, l->directory);
        return object_lease_write_first(l, retries, error);
}

/* Only executors that are decommissioned write to the fallback storage. */
static int object_lease_check_fallback(const struct fst_conf *conf, struct fst_error *error)
{
        static const char *const keys[] = {"spark.decommission.enabled", "spark.storage.decommission.enabled",
                                           "spark.storage.decommission.shuffleBlocks.enabled"};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                bool enabled;
                int r = conf_get_bool(conf, keys[i], &enabled, error);
                if (r)
                        return r;
                if (!enabled)
                        log_warn(LOG,
                                 OBJECT_FALLBACK_KEY
                                 " has no effect, because %s is false: set it to true, or remove the path",
                                 keys[i]);
        }
        return 0;
}

int object_lease_new(struct fst_conf *conf, const struct object_lease_options *options,
                     struct remote_shuffle_driver **driver, struct fst_error *error)
{
        const char *key = conf_contains(conf, OBJECT_STORE_KEY) ? OBJECT_STORE_KEY : OBJECT_FALLBACK_KEY;
        const char *store = conf_get_raw(conf, key);
        int64_t lease_ms, retries, retry_ms;
        *driver = NULL;
        if (!store || !*store)
                return 0;
        if (*store != '/' && !strchr(store, ':'))
                return error_set(error, -EINVAL,
                                 "%s is \"%s\": set it to a whole path, with its scheme (s3a://, hdfs:// or file://)",
                                 key, store);
        int r = strcmp(key, OBJECT_FALLBACK_KEY) == 0 ? object_lease_check_fallback(conf, error) : 0;
        if (r == 0)
                r = conf_get_ms(conf, LEASE_KEY, &lease_ms, error);
        if (r == 0)
                r = conf_get_int(conf, "spark.shuffle.io.maxRetries", &retries, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.shuffle.io.retryWait", &retry_ms, error);
        if (r)
                return r;
        if (lease_ms < MIN_LEASE_MS)
                return error_set(error, -EINVAL, LEASE_KEY " is %" PRId64 " ms: it must be at least 1s", lease_ms);
        struct object_lease *l = new0(struct object_lease);
        l->driver.class = &object_lease_class;
        l->lease_ms = lease_ms;
        l->retry_ms = MAX(retry_ms, (int64_t)MIN_RETRY_MS);
        l->owns_directory = options->owns_directory;
        l->owner = options->owner;
        pthread_mutex_init(&l->lock, NULL);
        pthread_cond_init(&l->wake, NULL);
        retries = MIN(retries, (int64_t)INT16_MAX);
        r = file_system_resolve(store, &l->root, &l->fs, error);
        const bool continued = r == 0 && object_lease_continue(l, options->earlier, (int)retries);
        if (r == 0 && !continued)
                r = object_lease_begin(l, options, (int)retries, error);
        if (r == 0) {
                conf_set(conf, OBJECT_DIRECTORY_KEY, l->directory);
                r = -pthread_create(&l->thread, NULL, object_lease_main, l);
                if (r && !continued)
                        l->fs->remove(l->fs, l->directory, NULL);
        }
        if (r) {
                object_lease_free(l);
                return error_wrap(error, r, "%s=%s cannot be used", key, store);
        }
        log_info(LOG, "Map outputs are stored in %s%s", l->directory,
                 continued ? ", where the earlier driver has left some" : "");
        *driver = &l->driver;
        return 0;
}
