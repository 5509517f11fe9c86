/* An in-process ZooKeeper for tests: nodes, sessions, ephemeral and sequential nodes, watches and transactions, in
 * place of the module (net/zookeeper_module.h). Tests make it lose connections, answers and sessions.
 */
#pragma once

#include "base/mem.h"
#include "net/zookeeper_module.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FAKE_NODES 4096
#define FAKE_SESSIONS 1024

struct zookeeper_handle {
        const struct zookeeper_receiver *receiver;
        bool connected, expired, told_expired, closed;
        /* For the next request that changes something: lose the request or only its answer, then break the
         * connection.
         */
        enum { LOSE_NOTHING, LOSE_REQUEST, LOSE_ANSWER } lose;
        char *watches[64];
        int n_watches;
};

static struct {
        pthread_mutex_t lock;
        struct {
                char *path;
                char *data;
                size_t size;
                int64_t created;
                struct zookeeper_handle *owner; /* of an ephemeral node */
        } nodes[FAKE_NODES];
        int n_nodes, number;
        int64_t transaction;
        struct zookeeper_handle *sessions[FAKE_SESSIONS];
        int n_sessions;
        int requests;
        bool no_names; /* sessions cannot begin, because names do not resolve */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int fake_find(const char *path)
{
        for (int i = 0; i < fake.n_nodes; i++)
                if (strcmp(fake.nodes[i].path, path) == 0)
                        return i;
        return -1;
}

static void fake_changed(const char *path)
{
        for (int i = 0; i < fake.n_sessions; i++) {
                struct zookeeper_handle *h = fake.sessions[i];
                for (int k = 0; k < h->n_watches; k++) {
                        if (strcmp(h->watches[k], path) != 0)
                                continue;
                        if (h->connected && !h->closed)
                                h->receiver->watch(h->receiver->context, path);
                        free(h->watches[k]);
                        h->watches[k--] = h->watches[--h->n_watches];
                }
        }
}

static void fake_remove(int i)
{
        char *path = fake.nodes[i].path;
        free(fake.nodes[i].data);
        fake.nodes[i] = fake.nodes[--fake.n_nodes];
        fake_changed(path);
        free(path);
}

static void fake_put(const char *path, const void *data, size_t size, struct zookeeper_handle *owner)
{
        if (fake.n_nodes == FAKE_NODES)
                abort();
        int i = fake.n_nodes++;
        fake.nodes[i].path = mem_strdup(path);
        fake.nodes[i].data = mem_alloc(size + 1);
        if (size)
                memcpy(fake.nodes[i].data, data, size);
        fake.nodes[i].size = size;
        fake.nodes[i].created = fake.transaction;
        fake.nodes[i].owner = owner;
        fake_changed(path);
}

static bool fake_has_parent(const char *path)
{
        _cleanup_free_ char *parent = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
        return !*parent || fake_find(parent) >= 0;
}

/* ----------------------------------------------------------------------------------------------- controls for tests */

static void fake_disconnect(struct zookeeper_handle *h)
{
        if (h->connected && !h->closed)
                h->receiver->session(h->receiver->context, ZOOKEEPER_DISCONNECTED, 0);
        h->connected = false;
}

static int fake_agreed = 15000;

static void fake_reconnect(struct zookeeper_handle *h)
{
        if (h->closed || h->connected)
                return;
        if (h->expired) {
                if (!h->told_expired)
                        h->receiver->session(h->receiver->context, ZOOKEEPER_EXPIRED, 0);
                h->told_expired = true;
                return;
        }
        h->connected = true;
        h->receiver->session(h->receiver->context, ZOOKEEPER_CONNECTED, fake_agreed);
}

/* Expires the session. The client learns this when it is connected (again). */
static void fake_expire(struct zookeeper_handle *h)
{
        if (h->expired)
                return;
        h->expired = true;
        for (int i = fake.n_nodes - 1; i >= 0; i--)
                if (i < fake.n_nodes && fake.nodes[i].owner == h)
                        fake_remove(i);
        if (h->connected) {
                fake_disconnect(h);
                fake_reconnect(h);
        }
}

/* ---------------------------------------------------------------------------------------------- the operations */

static struct zookeeper_handle *fake_connect(const struct zookeeper_options *options,
                                             const struct zookeeper_receiver *receiver, char *message, size_t size)
{
        pthread_mutex_lock(&fake.lock);
        struct zookeeper_handle *h = NULL;
        if (fake.no_names)
                snprintf(message, size, "there are no names");
        else {
                if (fake.n_sessions == FAKE_SESSIONS)
                        abort();
                h = fake.sessions[fake.n_sessions++] = new0(struct zookeeper_handle);
                h->receiver = receiver;
                fake_reconnect(h);
        }
        pthread_mutex_unlock(&fake.lock);
        return h;
}

static void fake_close(struct zookeeper_handle *h)
{
        pthread_mutex_lock(&fake.lock);
        if (h->connected) /* otherwise the servers do not notice, and the test expires it */
                fake_expire(h);
        h->closed = true;
        h->connected = false;
        pthread_mutex_unlock(&fake.lock);
}

static void fake_answer(struct zookeeper_handle *h, void *tag, enum zookeeper_code code,
                        const struct zookeeper_answer *more)
{
        struct zookeeper_answer answer = more ? *more : (struct zookeeper_answer){0};
        answer.code = code;
        answer.text = "as the fake says";
        h->receiver->answer(h->receiver->context, tag, &answer);
}

/* Locks. Returns false if it has answered already. */
static bool fake_begin(struct zookeeper_handle *h, bool changes, void *tag)
{
        pthread_mutex_lock(&fake.lock);
        fake.requests++;
        bool lost = changes && h->lose == LOSE_REQUEST;
        if (h->connected && !lost)
                return true;
        fake_answer(h, tag, h->expired && h->told_expired ? ZOOKEEPER_OVER : ZOOKEEPER_LOST, NULL);
        if (lost) {
                h->lose = LOSE_NOTHING;
                fake_disconnect(h);
        }
        pthread_mutex_unlock(&fake.lock);
        return false;
}

static void fake_end(struct zookeeper_handle *h, bool changes, void *tag, enum zookeeper_code code,
                     const struct zookeeper_answer *more)
{
        if (changes && h->lose == LOSE_ANSWER) {
                h->lose = LOSE_NOTHING;
                fake_answer(h, tag, ZOOKEEPER_LOST, NULL);
                fake_disconnect(h);
        } else
                fake_answer(h, tag, code, more);
        pthread_mutex_unlock(&fake.lock);
}

static void fake_create(struct zookeeper_handle *h, const char *path, const void *data, size_t size, bool ephemeral,
                        void *tag)
{
        if (!fake_begin(h, true, tag))
                return;
        _cleanup_free_ char *full = ephemeral ? mem_printf("%s%010d", path, fake.number++) : mem_strdup(path);
        enum zookeeper_code code = ZOOKEEPER_OK;
        if (!fake_has_parent(full))
                code = ZOOKEEPER_NO_NODE;
        else if (fake_find(full) >= 0)
                code = ZOOKEEPER_NODE_EXISTS;
        else {
                fake.transaction++;
                fake_put(full, data, size, ephemeral ? h : NULL);
        }
        fake_end(h, true, tag, code, &(struct zookeeper_answer){.path = code == ZOOKEEPER_OK ? full : NULL});
}

static void fake_exists(struct zookeeper_handle *h, const char *path, bool watch, void *tag)
{
        if (!fake_begin(h, false, tag))
                return;
        if (watch && h->n_watches < 64)
                h->watches[h->n_watches++] = mem_strdup(path);
        fake_end(h, false, tag, fake_find(path) >= 0 ? ZOOKEEPER_OK : ZOOKEEPER_NO_NODE, NULL);
}

static void fake_children(struct zookeeper_handle *h, const char *path, void *tag)
{
        const char *names[FAKE_NODES];
        size_t n = 0, len = strlen(path);
        if (!fake_begin(h, false, tag))
                return;
        for (int i = 0; i < fake.n_nodes; i++) {
                const char *p = fake.nodes[i].path;
                if (strncmp(p, path, len) == 0 && p[len] == '/' && !strchr(p + len + 1, '/'))
                        names[n++] = p + len + 1;
        }
        fake_end(h, false, tag, fake_find(path) >= 0 ? ZOOKEEPER_OK : ZOOKEEPER_NO_NODE,
                 &(struct zookeeper_answer){.children = names, .n_children = n});
}

static void fake_get(struct zookeeper_handle *h, const char *path, void *tag)
{
        if (!fake_begin(h, false, tag))
                return;
        int i = fake_find(path);
        struct zookeeper_answer answer = {0};
        if (i >= 0) {
                answer.data = fake.nodes[i].data;
                answer.size = fake.nodes[i].size;
                answer.created = fake.nodes[i].created;
        }
        fake_end(h, false, tag, i >= 0 ? ZOOKEEPER_OK : ZOOKEEPER_NO_NODE, &answer);
}

static enum zookeeper_code fake_step(const struct zookeeper_step *s)
{
        int i = fake_find(s->path);
        if (s->what == ZOOKEEPER_CREATE)
                return i >= 0 ? ZOOKEEPER_NODE_EXISTS : fake_has_parent(s->path) ? ZOOKEEPER_OK : ZOOKEEPER_NO_NODE;
        return i >= 0 ? ZOOKEEPER_OK : ZOOKEEPER_NO_NODE;
}

/* Steps concern different nodes, so all can be checked before any is applied. */
static void fake_multi(struct zookeeper_handle *h, const struct zookeeper_step *steps, size_t n, void *tag)
{
        enum zookeeper_code code = ZOOKEEPER_OK;
        size_t failed = 0;
        if (!fake_begin(h, true, tag))
                return;
        for (; failed < n && code == ZOOKEEPER_OK; failed++)
                code = fake_step(&steps[failed]);
        fake.transaction++;
        for (size_t i = 0; code == ZOOKEEPER_OK && i < n; i++) {
                int at = fake_find(steps[i].path);
                if (steps[i].what == ZOOKEEPER_CREATE)
                        fake_put(steps[i].path, steps[i].data, steps[i].size, NULL);
                else if (steps[i].what == ZOOKEEPER_DELETE)
                        fake_remove(at);
                else if (steps[i].what == ZOOKEEPER_SET) {
                        fake.nodes[at].data = mem_grow(fake.nodes[at].data, steps[i].size + 1);
                        memcpy(fake.nodes[at].data, steps[i].data, steps[i].size);
                        fake.nodes[at].size = steps[i].size;
                }
        }
        fake_end(h, true, tag, code, &(struct zookeeper_answer){.failed = failed ? failed - 1 : 0});
}

static const struct zookeeper_ops fake_ops = {
        .abi = ZOOKEEPER_ABI,
        .connect = fake_connect,
        .close = fake_close,
        .create = fake_create,
        .exists = fake_exists,
        .children = fake_children,
        .get = fake_get,
        .multi = fake_multi,
};

/* Makes the server empty. No session may be open. */
static void fake_reset(void)
{
        while (fake.n_nodes > 0)
                fake_remove(fake.n_nodes - 1);
        for (int i = 0; i < fake.n_sessions; i++) {
                for (int k = 0; k < fake.sessions[i]->n_watches; k++)
                        free(fake.sessions[i]->watches[k]);
                free(fake.sessions[i]);
        }
        fake.n_sessions = fake.number = fake.requests = 0;
        fake.no_names = false;
        fake_agreed = 15000;
}
