/* What the files of the API client share. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "text/json_array_stream.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/exec_credential.h"
#include "net/http/http_async.h"

/* How often a request may be carried out. */
enum kube_safety {
        KUBE_SAFE,     /* as often as one likes */
        KUBE_CREATION, /* of a name: a second one is refused, and then it is looked at whose it is */
        KUBE_ONCE,     /* once */
};

/* A list that is under way; see kube_list_items. */
struct kube_list_state {
        char *path, *base_query; /* without the continue token */
        char *token;
        kube_item *item;
        int item_result;
        bool restart; /* half a page came, or the list grew too old: from the first page */
        struct json_items reader;
};

struct kube_call {
        struct kube_client *client;
        struct kube_call *prev, *next;
        kube_done *done;
        void *owner;

        char *method, *path, *query, *content_type, *accept, *body;
        size_t body_len;
        int64_t timeout_ms, silence_ms;
        kube_sink *sink;
        size_t streamed;
        enum kube_safety safety;
        json_t *created; /* metadata of what is being created, without more than marks it; and its data */
        struct kube_list_state *list;

        struct http_transfer *transfer; /* NULL: it waits */
        int64_t due;                    /* when it is sent, on the loop's clock; < 0: when there are credentials */
        int attempts, attempts_most, throttled;
        int64_t retry_after_ms;
        bool maybe_done; /* an attempt whose answer was lost may have been carried out */
        bool bears_conflicts;
        bool given_up; /* it ends when it would be sent */
        bool looking;  /* the transfer looks at whose the object is */
        bool renewed;  /* 401 was met, credentials were made anew */
        bool fresh;    /* on a new connection */
        bool reading;  /* its sink is being called: freed afterwards */
        bool cancelled;

        /* For kube_wait, which has no `done`: */
        bool over;
        int result;
        json_t *object;
        struct fst_error error;
};

struct kube_client {
        uv_loop_t *loop;
        const struct kube_config *config;
        struct http_async *http;
        char *user_agent;
        struct kube_call *first, *last;
        size_t n;
        uv_timer_t timer;
        int64_t first_pause, longest_pause;
        unsigned seed;
        struct kube_refresh *refresh; /* a program that is being asked for credentials */
        struct kube_credential credential, *old;
        size_t n_old;
        uint64_t answers, unlinked; /* that have come; calls that have left the list */
        bool has_credential, dead;
};

/* The outcome of @status and @object (a Status, or NULL): 0 for 2xx, or FST_KUBE_E_… with a sentence. */
int kube_outcome(const struct kube_call *call, int status, const json_t *object, const char *text,
                 struct fst_error *error);

/* "create pods \"x\" in namespace \"y\"" of a method and path. The caller owns it. */
char *kube_deed(const char *method, const char *path);

/* The call as it was begun; `done` has not been called. */
struct kube_call *kube_begin(struct kube_client *client, const struct kube_request *request, enum kube_safety safety,
                             kube_done *done, void *owner);

/* A page of a list is about to be read. */
void kube_list_begin(struct kube_call *call);
