/*
 * See driver_client.h. A request has two references: the waiting thread's, which may leave early, and the rpc layer's,
 * which calls back once, or never if the env is closed. driver_client_free frees the requests without a callback.
 */
#include "exec/driver_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "process/interruptible_wait.h"
#include "rpc/rpc.h"

#include <pthread.h>
#include <time.h>

struct driver_request {
        struct driver_request *next;
        struct driver_client *asks;
        uint16_t type;
        int64_t timeout_ms;
        uint8_t *body; /* later the reply's body */
        size_t len;
        int status;
        char *message;
        bool answered;
        int refs; /* of thread and rpc layer; under the lock */
};

struct driver_client {
        struct rpc_ref *driver;
        uv_async_t wake;
        pthread_mutex_t lock;
        pthread_cond_t answered;
        struct driver_request *first, **last; /* to be sent */
        struct driver_request *sent;          /* waiting for their replies */
        bool stopped;
};

/* Lock held. */
static void driver_request_unref(struct driver_request *q)
{
        if (--q->refs > 0)
                return;
        free(q->body);
        free(q->message);
        free(q);
}

/* Ends a request of the rpc layer. Lock held. */
static void request_finish(struct driver_client *a, struct driver_request *q, int status, const char *message)
{
        struct driver_request **at = &a->sent;
        while (*at != q)
                at = &(*at)->next;
        *at = q->next;
        if (!q->answered) {
                q->status = status;
                q->message = message ? mem_strdup(message) : NULL;
                q->answered = true;
                pthread_cond_broadcast(&a->answered);
        }
        driver_request_unref(q);
}

static void on_driver_reply(void *owner, struct rpc_answer *answer)
{
        struct driver_request *q = owner;
        struct driver_client *a = q->asks;
        pthread_mutex_lock(&a->lock);
        if (answer->status == 0 && !q->answered) {
                free(q->body);
                q->body = mem_alloc(answer->len + 1);
                q->len = answer->len;
                if (answer->len)
                        memcpy(q->body, answer->body, answer->len);
        }
        request_finish(a, q, answer->status > 0 ? -EREMOTEIO : answer->status, answer->message);
        pthread_mutex_unlock(&a->lock);
}

static void send_requests(struct driver_client *a)
{
        pthread_mutex_lock(&a->lock);
        while (a->first) {
                struct driver_request *q = a->first;
                a->first = q->next;
                if (!a->first)
                        a->last = &a->first;
                q->next = a->sent;
                a->sent = q;
                int r = a->stopped
                                ? -ESHUTDOWN
                                : rpc_ask(a->driver, q->type, q->body, q->len, NULL, q->timeout_ms, on_driver_reply, q);
                if (r)
                        request_finish(a, q, r, NULL);
        }
        pthread_mutex_unlock(&a->lock);
}

static void on_wake(uv_async_t *handle)
{
        send_requests(handle->data);
}

int driver_client_new(uv_loop_t *loop, struct rpc_ref *driver, struct driver_client **asks, struct fst_error *error)
{
        struct driver_client *a = new0(struct driver_client);
        int r = uv_async_init(loop, &a->wake, on_wake);
        if (r) {
                free(a);
                return error_set(error, r, "cannot wake the executor's loop: %s", uv_strerror(r));
        }
        a->wake.data = a;
        a->driver = rpc_ref_ref(driver);
        a->last = &a->first;
        pthread_mutex_init(&a->lock, NULL);
        cond_init_monotonic(&a->answered);
        *asks = a;
        return 0;
}

void driver_client_set_driver(struct driver_client *a, struct rpc_ref *driver)
{
        pthread_mutex_lock(&a->lock);
        struct rpc_ref *former = a->driver;
        a->driver = rpc_ref_ref(driver);
        pthread_mutex_unlock(&a->lock);
        rpc_ref_unref(former);
}

void driver_client_stop(struct driver_client *a)
{
        pthread_mutex_lock(&a->lock);
        bool first = !a->stopped;
        a->stopped = true;
        for (struct driver_request *q = a->sent; q; q = q->next) {
                q->status = -ESHUTDOWN;
                q->answered = true;
        }
        pthread_cond_broadcast(&a->answered);
        pthread_mutex_unlock(&a->lock);
        send_requests(a);
        if (first)
                uv_close((uv_handle_t *)&a->wake, NULL);
}

void driver_client_free(struct driver_client *a)
{
        if (!a)
                return;
        while (a->sent) {
                struct driver_request *q = a->sent;
                a->sent = q->next;
                driver_request_unref(q);
        }
        rpc_ref_unref(a->driver);
        pthread_mutex_destroy(&a->lock);
        pthread_cond_destroy(&a->answered);
        free(a);
}

/* Takes @packed. */
static int driver_client_wait(struct driver_client *a, uint16_t type, uint8_t *packed, size_t packed_len,
                              int64_t timeout_ms, const int *stopped, uint8_t **body, size_t *len,
                              struct fst_error *error)
{
        struct driver_request *q = new0(struct driver_request);
        q->asks = a;
        q->refs = 2;
        q->type = type;
        q->timeout_ms = timeout_ms;
        q->len = packed_len;
        q->body = packed;

        pthread_mutex_lock(&a->lock);
        if (a->stopped) {
                pthread_mutex_unlock(&a->lock);
                free(q->body);
                free(q);
                return error_set(error, -ESHUTDOWN, "the executor is ending");
        }
        *a->last = q;
        a->last = &q->next;
        uv_async_send(&a->wake);
        while (!q->answered && stop_wait(&a->answered, &a->lock, stopped))
                ;
        int r = q->answered ? q->status : -ECANCELED;
        if (r == 0) {
                *body = steal(q->body);
                *len = q->len;
        } else if (!q->answered) {
                error_set(error, r, "task was cancelled");
        } else {
                error_set(error, r, "%s", q->message ? q->message : strerror(-r));
        }
        driver_request_unref(q);
        pthread_mutex_unlock(&a->lock);
        return r;
}

int driver_client_ask(struct driver_client *a, uint16_t type, const ProtobufCMessage *question, const int *stopped,
                      uint8_t **body, size_t *len, struct fst_error *error)
{
        size_t size = protobuf_c_message_get_packed_size(question);
        uint8_t *packed = mem_alloc(size + 1);
        protobuf_c_message_pack(question, packed);
        return driver_client_wait(a, type, packed, size, 0, stopped, body, len, error);
}

int driver_client_ask_packed(struct driver_client *a, uint16_t type, const void *question, size_t question_len,
                             int64_t timeout_ms, const int *stopped, uint8_t **body, size_t *len,
                             struct fst_error *error)
{
        uint8_t *packed = mem_alloc(question_len + 1);
        memcpy(packed, question, question_len);
        return driver_client_wait(a, type, packed, question_len, timeout_ms, stopped, body, len, error);
}
