/* Declarations shared by the files of the API client. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "text/json_array_stream.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/exec_credential.h"
#include "net/http/http_async.h"

/* Which repetitions of a request are safe. */
enum kube_safety {
        KUBE_SAFE,     /* may be sent any number of times */
        KUBE_CREATION, /* creates a named object: a second attempt meets 409 and then compares the object */
        KUBE_ONCE,     /* may be carried out only once */
};

/* State of a running list; see kube_list_items. */
struct kube_list_state {
        char *path, *base_query; /* without the continue token */
        char *token;
        kube_item *item;
        int item_result;
        bool restart; /* half a page arrived, or the list expired: restart at the first page */
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
        json_t *created; /* metadata of the new object, limited to name, labels and annotations, and its data */
        struct kube_list_state *list;

        struct http_transfer *transfer; /* NULL: waiting */
        int64_t due;                    /* when to send it, on the loop's clock; < 0: when credentials arrive */
        int attempts, attempts_most, throttled;
        int64_t retry_after_ms;
        bool maybe_done; /* an attempt without a response may have been carried out */
        bool retries_conflicts;
        bool given_up;           /* end instead of sending again */
        bool comparing;          /* the transfer fetches the existing object to compare it */
        bool credential_renewed; /* credentials were renewed after a 401 */
        bool fresh;              /* use a new connection */
        bool reading;            /* its sink is running: free the call afterwards */
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
        struct kube_refresh *refresh; /* a running credential program */
        struct kube_credential credential, *old;
        size_t n_old;
        uint64_t answers, unlinked; /* responses received; calls removed from the list */
        bool has_credential, dead;
};

/*
 * Returns the outcome of @status and @object (a Status, or NULL): 0 for 2xx, or FST_KUBE_E_… with a message in @error.
 */
int kube_outcome(const struct kube_call *call, int status, const json_t *object, const char *text,
                 struct fst_error *error);

/* Returns "create pods \"x\" in namespace \"y\"" for a method and path. The caller owns it. */
char *kube_deed(const char *method, const char *path);

/* Returns the new call, before any call of `done`. */
struct kube_call *kube_begin(struct kube_client *client, const struct kube_request *request, enum kube_safety safety,
                             kube_done *done, void *owner);

/* Prepares the list to read a page. */
void kube_list_begin(struct kube_call *call);
