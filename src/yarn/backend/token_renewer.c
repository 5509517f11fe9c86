/*
 * See token_renewer.h.
 *
 * Threads: `lock` guards what the thread and the loop share. The thread may be in a request that takes long when the
 * renewer is closed, so nothing waits for it: the last one of the two releases the memory.
 */
#include "yarn/backend/token_renewer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "hadoop/credentials.h"
#include "net/kerberos.h"
#include "yarn/application/delegation_tokens.h"
#include "yarn/conf/yarn_conf.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG "HadoopDelegationTokenManager"
#define PRINCIPAL_KEY "spark.kerberos.principal"
#define KEYTAB_KEY "spark.kerberos.keytab"
#define SOURCE_KEY "spark.kerberos.renewal.credentials"
#define TICKET_RATIO 0.8 /* of its time, after which Hadoop logs in again */
#define OWN_CACHE "MEMORY:firesteel-"

struct token_renewer {
        /* Used by the thread alone. */
        struct fst_conf conf;
        struct yarn_conf yarn;
        char *principal, *keytab; /* NULL: the user's ticket cache */
        char *cache;              /* of the keytab's ticket; NULL before the first login */
        bool owns_cache;
        int64_t logged_in_ms, ticket_expires_ms;
        int64_t interval_ms; /* 0: not known yet */
        double ratio;
        int64_t retry_ms, relogin_ms;

        uv_async_t wake;
        token_renewer_done done;
        void *owner;

        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct buf fresh; /* a stream that `done` has not got yet */
        bool closed;      /* the owner is gone */
        int users;        /* the thread, and the handle */
};

static void renewer_unref(struct token_renewer *t)
{
        pthread_mutex_lock(&t->lock);
        const bool last = --t->users == 0;
        pthread_mutex_unlock(&t->lock);
        if (!last)
                return;
        if (t->owns_cache)
                kerberos_forget(t->cache);
        buf_deinit_secret(&t->fresh);
        yarn_conf_deinit(&t->yarn);
        conf_deinit(&t->conf);
        pthread_mutex_destroy(&t->lock);
        pthread_cond_destroy(&t->changed);
        free(t->principal);
        free(t->keytab);
        free(t->cache);
        free(t);
}

/* ------------------------------------------------------------------------------------------------------- the thread */

/* Gets a new ticket into the cache. A ticket of --keytab in this process is replaced for all its threads. */
static int renewer_login(struct token_renewer *t, struct fst_error *error)
{
        int64_t expires = 0;
        int r;
        if (!t->principal) {
                log_info(LOG, "Attempting to load user's ticket cache.");
                return 0;
        }
        log_info(LOG, "Attempting to login to KDC using principal: %s", t->principal);
        const char *shared = getenv("KRB5CCNAME");
        if (!t->cache && shared && strncmp(shared, OWN_CACHE, strlen(OWN_CACHE)) == 0)
                t->cache = mem_strdup(shared);
        if (t->cache) {
                r = kerberos_login_again(t->principal, t->keytab, t->cache, &expires, error);
        } else {
                r = kerberos_login(t->principal, t->keytab, &t->cache, &expires, error);
                t->owns_cache = r == 0;
        }
        if (r < 0)
                return r;
        kerberos_use(t->cache);
        t->logged_in_ms = time_of_day_ms();
        t->ticket_expires_ms = expires * 1000;
        log_info(LOG, "Successfully logged into KDC.");
        return 0;
}

/* Fetches tokens into @stream. Sets *@delay until the next ones are needed; INT64_MAX: they need not be renewed. */
static int renewer_fetch(struct token_renewer *t, struct buf *stream, int64_t *delay, struct fst_error *error)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials fresh = {0};
        int r = renewer_login(t, error);
        r = r < 0 ? r : delegation_tokens_fetch(&t->conf, &t->yarn, &fresh, error);
        if (r == 0 && !t->interval_ms) {
                r = delegation_tokens_interval(&t->conf, &t->yarn, &t->interval_ms, error);
                t->interval_ms = r == -ENODATA ? INT64_MAX : t->interval_ms;
                r = r == -ENODATA ? 0 : r;
        }
        if (r < 0)
                return r;
        hadoop_credentials_write(&fresh, stream);
        const int64_t issued = delegation_tokens_issued(&fresh), now = time_of_day_ms();
        *delay = INT64_MAX;
        int64_t next;
        if (issued == INT64_MAX || t->interval_ms == INT64_MAX || __builtin_add_overflow(issued, t->interval_ms, &next))
                return 0;
        *delay = MAX((int64_t)(t->ratio * (double)(next - now)), (int64_t)0);
        log_info(LOG,
                 "Calculated delay on renewal is %lld, based on next renewal %lld and the ratio %g, and current time "
                 "%lld",
                 (long long)*delay, (long long)next, t->ratio, (long long)now);
        log_info(LOG, "Scheduling renewal in %.1f s.", (double)*delay / 1000);
        return 0;
}

/* Fetches tokens and hands them to the loop. Returns the delay until the next turn. */
static int64_t renewer_update(struct token_renewer *t)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct buf stream = BUF_INIT;
        int64_t delay;
        if (renewer_fetch(t, &stream, &delay, &error) < 0) {
                log_warn(
                        LOG,
                        "Failed to update tokens, will try again in %.1f s! If this happens too often tasks will fail. "
                        "%s",
                        (double)t->retry_ms / 1000, error_message(&error));
                buf_deinit_secret(&stream);
                return t->retry_ms;
        }
        log_info(LOG, "Updating delegation tokens.");
        pthread_mutex_lock(&t->lock);
        buf_deinit_secret(&t->fresh);
        t->fresh = stream;
        if (!t->closed)
                uv_async_send(&t->wake);
        pthread_mutex_unlock(&t->lock);
        return delay;
}

/* Replaces a ticket that has used up most of its time. */
static void renewer_check_ticket(struct token_renewer *t)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const int64_t now = time_of_day_ms();
        if (!t->principal || !t->cache || t->ticket_expires_ms <= t->logged_in_ms ||
            (double)(now - t->logged_in_ms) < TICKET_RATIO * (double)(t->ticket_expires_ms - t->logged_in_ms))
                return;
        if (renewer_login(t, &error) < 0)
                log_warn(LOG, "%s", error_message(&error));
}

/* Waits for @ms. Returns true if the renewer was closed. */
static bool renewer_wait(struct token_renewer *t, int64_t ms)
{
        const struct timespec until = timespec_of_ns(now_ns() + ms_to_ns(ms));
        pthread_mutex_lock(&t->lock);
        for (int r = 0; r == 0 && !t->closed;)
                r = pthread_cond_timedwait(&t->changed, &t->lock, &until);
        const bool closed = t->closed;
        pthread_mutex_unlock(&t->lock);
        return closed;
}

static void *renewer_main(void *argument)
{
        struct token_renewer *t = argument;
        for (bool closed = false; !closed;) {
                const int64_t delay = renewer_update(t), start = now_ms();
                for (int64_t left = delay; left > 0 && !closed; left = delay - (now_ms() - start)) {
                        closed = renewer_wait(t, MIN(left, t->relogin_ms));
                        if (!closed)
                                renewer_check_ticket(t);
                }
                closed = closed || renewer_wait(t, 0);
        }
        kerberos_use(NULL);
        renewer_unref(t);
        return NULL;
}

/* --------------------------------------------------------------------------------------------------------- the loop */

static void renewer_on_wake(uv_async_t *handle)
{
        struct token_renewer *t = handle->data;
        struct buf stream;
        pthread_mutex_lock(&t->lock);
        stream = t->fresh;
        t->fresh = (struct buf)BUF_INIT;
        pthread_mutex_unlock(&t->lock);
        if (stream.len && !t->closed)
                t->done(t->owner, stream.data, stream.len);
        buf_deinit_secret(&stream);
}

static void renewer_on_closed(uv_handle_t *handle)
{
        renewer_unref(handle->data);
}

void token_renewer_close(struct token_renewer *t)
{
        if (!t)
                return;
        pthread_mutex_lock(&t->lock);
        t->closed = true;
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->lock);
        uv_close((uv_handle_t *)&t->wake, renewer_on_closed);
}

int token_renewer_wanted(const struct fst_conf *conf, const struct yarn_conf *yarn, bool *out, struct fst_error *error)
{
        _cleanup_free_ char *source = NULL;
        bool wanted = false;
        int r = delegation_tokens_wanted(conf, yarn, &wanted, error);
        r = r < 0 ? r : conf_get_string(conf, SOURCE_KEY, &source, error);
        if (r < 0)
                return r;
        if (strcmp(source, "keytab") == 0) {
                wanted = wanted && conf_get_value(conf, PRINCIPAL_KEY);
        } else if (strcmp(source, "ccache") == 0) {
                _cleanup_free_ char *ticket = wanted ? kerberos_principal() : NULL;
                wanted = ticket != NULL;
        } else {
                return error_set(error, -EINVAL, SOURCE_KEY " is \"%s\": set it to keytab or ccache", source);
        }
        *out = wanted;
        return 0;
}

/* The path of a keytab, which may be a URI. Owned. */
static char *renewer_keytab_path(const char *keytab)
{
        static const char *const schemes[] = {"local:", "file:"};
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
                const size_t n = strlen(schemes[i]);
                if (strncmp(keytab, schemes[i], n) == 0)
                        return mem_strdup(strncmp(keytab + n, "//", 2) == 0 ? keytab + n + 2 : keytab + n);
        }
        return mem_strdup(keytab);
}

static int renewer_read(struct token_renewer *t, struct fst_error *error)
{
        const char *principal = conf_get_value(&t->conf, PRINCIPAL_KEY), *keytab = conf_get_value(&t->conf, KEYTAB_KEY);
        _cleanup_free_ char *source = NULL;
        if (!principal != !keytab)
                return error_set(error, -EINVAL,
                                 "requirement failed: Both principal and keytab must be defined, or "
                                 "neither.");
        int r = conf_get_string(&t->conf, SOURCE_KEY, &source, error);
        r = r < 0 ? r : conf_get_double(&t->conf, "spark.security.credentials.renewalRatio", &t->ratio, error);
        r = r < 0 ? r : conf_get_ms(&t->conf, "spark.security.credentials.retryWait", &t->retry_ms, error);
        r = r < 0 ? r : conf_get_ms(&t->conf, "spark.kerberos.relogin.period", &t->relogin_ms, error);
        if (r < 0)
                return r;
        t->retry_ms = MAX(t->retry_ms, (int64_t)1);
        t->relogin_ms = MAX(t->relogin_ms, (int64_t)1);
        if (principal && strcmp(source, "keytab") == 0) {
                t->principal = mem_strdup(principal);
                t->keytab = renewer_keytab_path(keytab);
        }
        return 0;
}

int token_renewer_new(uv_loop_t *loop, const struct fst_conf *conf, const struct yarn_conf *yarn,
                      token_renewer_done done, void *owner, struct token_renewer **out, struct fst_error *error)
{
        struct token_renewer *t = new0(struct token_renewer);
        pthread_attr_t detached;
        pthread_t thread;
        cond_init_monotonic(&t->changed);
        pthread_mutex_init(&t->lock, NULL);
        conf_init(&t->conf);
        strmap_merge(&t->conf.set, &conf->set);
        hadoop_conf_init(&t->yarn.hadoop, yarn->hadoop.env);
        strmap_merge(&t->yarn.hadoop.values, &yarn->hadoop.values);
        t->done = done;
        t->owner = owner;
        t->users = 1;
        int r = renewer_read(t, error);
        if (r < 0) {
                renewer_unref(t);
                return r;
        }
        uv_async_init(loop, &t->wake, renewer_on_wake);
        t->wake.data = t;
        t->users = 2;
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        r = -pthread_create(&thread, &detached, renewer_main, t);
        pthread_attr_destroy(&detached);
        if (r < 0) {
                t->users = 1;
                token_renewer_close(t);
                return error_set(error, r, "no thread for renewing delegation tokens: %s", strerror(-r));
        }
        *out = t;
        return 0;
}
