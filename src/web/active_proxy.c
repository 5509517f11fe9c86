/* See active_proxy.h. */
#include "web/active_proxy.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "net/http/http.h"
#include "text/json.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOG "AmIpFilter"
#define STATE_PATH "/ws/v1/cluster/info" /* a standby answers it itself */
#define TIMEOUT_MS 3000
#define MAX_STATE (64u << 10)

enum rm_state { RM_GONE, RM_STANDBY, RM_CLOSED, RM_ACTIVE }; /* RM_CLOSED: it tells its state to known users only */

struct active_proxy {
        struct string_list bases;
        pthread_t thread;
        bool has_thread; /* it is to be joined */
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool searches; /* these are guarded by `lock` */
        size_t found;
        int64_t found_ns;           /* when the last search ended; 0: never */
        struct timespec wait_until; /* callers wait so long for the present search */
        int stopped;                /* atomic */
};

struct active_proxy *active_proxy_new(const struct string_list *bases)
{
        struct active_proxy *p = new0(struct active_proxy);
        for (size_t i = 0; i < bases->len; i++)
                string_list_add(&p->bases, bases->data[i]);
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        return p;
}

void active_proxy_free(struct active_proxy *p)
{
        if (!p)
                return;
        __atomic_store_n(&p->stopped, 1, __ATOMIC_RELAXED);
        if (p->has_thread)
                pthread_join(p->thread, NULL);
        string_list_deinit(&p->bases);
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        free(p);
}

static int on_active_proxy_progress(void *context, int64_t done, int64_t total)
{
        const struct active_proxy *p = context;
        return __atomic_load_n(&p->stopped, __ATOMIC_RELAXED);
}

static enum rm_state active_proxy_read_state(const struct http_answer *answer)
{
        if (answer->status == 401 || answer->status == 403)
                return RM_CLOSED;
        json_t *root = answer->status == 200 ? json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL) : NULL;
        const char *state = json_text_at(root, "clusterInfo.haState");
        const enum rm_state result = state && strcmp(state, "ACTIVE") == 0 ? RM_ACTIVE : RM_STANDBY;
        json_decref(root);
        return result;
}

static enum rm_state active_proxy_ask(struct active_proxy *p, struct http_client *http, const char *base)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        static const char *const headers[] = {"Accept: application/json", NULL};
        const char *host = strstr(base, "://"), *path = host ? strchr(host + 3, '/') : NULL;
        _cleanup_free_ char *url = mem_printf("%.*s" STATE_PATH, (int)(path ? path - base : (long)strlen(base)), base);
        const struct http_request request = {.url = url,
                                             .headers = headers,
                                             .connect_timeout_ms = TIMEOUT_MS,
                                             .timeout_ms = TIMEOUT_MS,
                                             .max_answer = MAX_STATE,
                                             .progress = on_active_proxy_progress,
                                             .context = p};
        struct http_answer answer = HTTP_ANSWER_INIT;
        const int r = http_perform(http, &request, &answer, &error);
        if (r < 0)
                log_debug(LOG, "%s", error_message(&error));
        const enum rm_state state = r < 0 ? RM_GONE : active_proxy_read_state(&answer);
        http_answer_deinit(&answer);
        return state;
}

static void *active_proxy_main(void *context)
{
        struct active_proxy *p = context;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct http_client *http = NULL;
        size_t best = SIZE_MAX;
        enum rm_state best_state = RM_STANDBY;
        if (http_client_new(&http, &error) < 0)
                log_warn(LOG, "the active ResourceManager cannot be looked for: %s", error_message(&error));
        for (size_t i = 0; http && i < p->bases.len && best_state != RM_ACTIVE; i++) {
                const enum rm_state state = active_proxy_ask(p, http, p->bases.data[i]);
                if (state > best_state) {
                        best = i;
                        best_state = state;
                }
        }
        http_client_free(http);
        pthread_mutex_lock(&p->lock);
        if (best != SIZE_MAX)
                p->found = best;
        p->searches = false;
        p->found_ns = now_ns();
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        return NULL;
}

/* Under the lock. */
static void active_proxy_search(struct active_proxy *p)
{
        if (p->has_thread)
                pthread_join(p->thread, NULL); /* it has ended but for its last instructions */
        p->has_thread = p->searches = pthread_create(&p->thread, NULL, active_proxy_main, p) == 0;
        clock_gettime(CLOCK_MONOTONIC, &p->wait_until);
        p->wait_until.tv_sec += ACTIVE_PROXY_WAIT_S;
}

const char *active_proxy_base(struct active_proxy *p)
{
        if (p->bases.len == 1)
                return p->bases.data[0];
        pthread_mutex_lock(&p->lock);
        const bool is_fresh = p->found_ns && now_ns() - p->found_ns < ms_to_ns(ACTIVE_PROXY_AGE_MS);
        if (!p->searches && !is_fresh)
                active_proxy_search(p);
        while (p->searches && pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &p->wait_until) == 0)
                ;
        const char *base = p->bases.data[p->found];
        pthread_mutex_unlock(&p->lock);
        return base;
}
