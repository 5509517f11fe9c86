/*
 * A client of a Kubernetes API server on a loop. Requests and responses are JSON objects (jansson). Many calls run at
 * once on one connection. Safe calls are retried.
 *
 *      r = kube_client_new(loop, &config, "firesteel/0.1", &client, error);
 *      call = kube_create(client, "spark-jobs", pod, created, owner);
 *      …                                  → created(owner, call, 0, &answer)
 *      kube_client_free(client);
 *
 * or, for a caller with nothing else to do, such as a submission:
 *
 *      r = kube_wait(client, kube_create(client, ns, pod, NULL, NULL), &object, error);
 *
 * Retries. Broken connections, 408, 429 and 5xx are retried up to `attempts` times. The pause doubles from 100 ms to 10
 * s with jitter, or is the server's Retry-After. If the response to a creation was lost and a retry finds an object of
 * that name, the client fetches the object. The creation counts as successful if the object has the labels, annotations
 * and data that were sent, of which there must be some. A creation without a name (generateName) and a POST by
 * kube_send are retried only if the server cannot have carried them out. A deletion that meets 404 on a retry counts as
 * successful.
 *
 * After a 401 the client reads token files and runs credential programs again, once.
 *
 * Threads: everything runs on the loop's thread. `done` is called exactly once for each call that is not cancelled, and
 * never from the function that began the call. It may call every function here, kube_client_free too.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

#include <jansson.h>
#include <uv.h>

struct fst_error;
struct kube_call;
struct kube_client;

/* Outcomes: the server's responses other than success. `error` holds a message for each. */
enum {
        FST_KUBE_E_NOT_FOUND = 1,  /* 404 */
        FST_KUBE_E_ALREADY_EXISTS, /* 409: another object has the name */
        FST_KUBE_E_CONFLICT,       /* 409: another writer changed the object */
        FST_KUBE_E_GONE,           /* 410: the resource version or continue token is too old */
        FST_KUBE_E_UNAUTHORIZED,   /* 401 */
        FST_KUBE_E_FORBIDDEN,      /* 403: `error` names account, verb, resource, namespace and the remedy */
        FST_KUBE_E_QUOTA,          /* 403: a quota is exhausted */
        FST_KUBE_E_INVALID,        /* 400, 405, 413, 415, 422: the request is invalid */
        FST_KUBE_E_TOO_MANY,       /* 429, after all attempts */
        FST_KUBE_E_UNAVAILABLE,    /* 5xx, after all attempts */
};

/* A freshly started API server may answer 403 until it has loaded RBAC: only this many in a row are final. */
#define KUBE_REFUSALS 3

/* Counts consecutive 403 responses: @before of them, then outcome @r. */
static inline int kube_refusals(int before, int r)
{
        return r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_UNAUTHORIZED ? before + 1 : 0;
}

/* Borrowed for the call of `done`. Take a reference (json_incref) to keep the object. */
struct kube_response {
        int status;                    /* HTTP status; 0: no response */
        json_t *object;                /* the body, also a Status object; NULL: none, or invalid JSON */
        const char *reason;            /* reason of a Status, "AlreadyExists"; "" without one */
        const struct fst_error *error; /* NULL for 0 */
        int64_t retry_after_ms;        /* the last Retry-After; 0: none */
        int attempts;                  /* at least 1 */
        int throttled;                 /* how many attempts met 429 */
        bool maybe_done; /* @r is not 0, but the server may have carried out an attempt whose response was lost */
};

/*
 * @r 0: success. @r > 0: one of the outcomes. @r < 0: no response, with the codes of http_perform. @call is invalid
 * afterwards.
 */
typedef void kube_done(void *owner, struct kube_call *call, int r, const struct kube_response *response);

/*
 * Receives the body of a 2xx response in pieces. A result other than 0 ends the call with that code if negative, else
 * -ECANCELED.
 */
typedef int kube_sink(void *owner, const char *data, size_t n);

struct kube_request {
        const char *method;       /* NULL: "GET" */
        const char *path;         /* "/api/v1/namespaces/x/pods"; see kube_path */
        const char *query;        /* "limit=1", without "?", percent-encoded (kube_query_add); NULL: none */
        const json_t *body;       /* NULL: none; serialized before the function returns */
        const char *content_type; /* NULL: "application/json" */
        const char *accept;       /* NULL: "application/json" */
        int64_t timeout_ms;       /* for one attempt; 0: the configuration's; -1: no limit (streams have none) */
        int attempts;             /* 0: KUBE_ATTEMPTS; 1: no retry */
        kube_sink *sink;          /* NULL: parse the body as JSON. A stream is not retried after its first data. */
        int64_t silence_ms;       /* ends a stream with -ETIMEDOUT after this long without data; 0: no limit */
};

#define KUBE_ATTEMPTS 6

/*
 * @config is borrowed until kube_client_free. @user_agent NULL: "firesteel". Returns 0, or negative with @error: the
 * http module is missing, or a certificate file is unreadable.
 */
int kube_client_new(uv_loop_t *loop, const struct kube_config *config, const char *user_agent, struct kube_client **out,
                    struct fst_error *error);

/* Cancels running calls. libuv's handles are freed in a later turn of the loop. NULL is allowed. */
void kube_client_free(struct kube_client *client);

uv_loop_t *kube_client_loop(const struct kube_client *client);
const struct kube_config *kube_client_config(const struct kube_client *client);
size_t kube_client_pending(const struct kube_client *client); /* for tests */

/* For tests: sets the first and the longest pause between attempts, instead of 100 ms and 10 s. */
void kube_client_set_pause(struct kube_client *client, int64_t first_ms, int64_t longest_ms);

/* Returns the number of responses so far, of any status. A growing number shows that the server is alive. */
uint64_t kube_client_answers(const struct kube_client *client);

/* Begins a call. @request is borrowed for this function. @done may be NULL for kube_wait. */
struct kube_call *kube_send(struct kube_client *client, const struct kube_request *request, kube_done *done,
                            void *owner);
void kube_cancel(struct kube_call *call); /* does not call `done` */

/* Limits the call to @n attempts, past ones included. */
void kube_limit_attempts(struct kube_call *call, int n);

/*
 * Also retries 409 conflicts, such as with a quota's counter. For requests that name no resource version, and deletions
 * that name no uid.
 */
void kube_bear_conflicts(struct kube_call *call);

/*
 * Ends the call early without losing a known result. An attempt that the server may have received ends with its
 * response, or without one, and is not retried. Any other call ends with -ECANCELED in a later turn of the loop.
 */
void kube_give_up(struct kube_call *call);

/*
 * Runs the loop until @call, which has no `done`, has ended. Returns its result, with the message in @error. If it is
 * 0, the caller owns *@object, NULL without one; otherwise *@object is unchanged, also if the server answered with an
 * object. @object may be NULL. For programs with nothing else to do meanwhile.
 */
int kube_wait(struct kube_client *client, struct kube_call *call, json_t **object, struct fst_error *error);

/*
 * Returns "/api/v1/namespaces/NS/pods/NAME". @api: "v1", "apps/v1", … @namespace NULL: none. @name NULL: the
 * collection. @name may have further parts after a slash ("NAME/log"). The caller owns the result.
 */
char *kube_path(const char *api, const char *namespace, const char *resource, const char *name);

/* As kube_path, from the apiVersion and kind of @object. @with_name: the object itself, else its collection. */
char *kube_object_path(const json_t *object, const char *namespace, bool with_name);

/* Appends "a=b&", percent-encoded, to an owned string. *@query NULL starts one. @value NULL appends nothing. */
void kube_query_add(char **query, const char *name, const char *value);

/* POSTs to the collection of the object's kind, in the object's own namespace if it names one. */
struct kube_call *kube_create(struct kube_client *client, const char *namespace, const json_t *object, kube_done *done,
                              void *owner);
struct kube_call *kube_get(struct kube_client *client, const char *path, kube_done *done, void *owner);

enum kube_patch_kind { KUBE_PATCH_MERGE, KUBE_PATCH_STRATEGIC, KUBE_PATCH_JSON };
struct kube_call *kube_patch(struct kube_client *client, const char *path, enum kube_patch_kind kind,
                             const json_t *patch, kube_done *done, void *owner);

/* Zero or NULL fields keep the server's defaults. */
struct kube_deletion {
        const int64_t *grace_s;  /* grace period; 0: at once */
        const char *propagation; /* "Foreground", "Background", "Orphan" */
        const char *uid;         /* delete only this object, else FST_KUBE_E_CONFLICT */
        const char *labels;      /* for a collection: the label selector */
        const char *fields;
};
struct kube_call *kube_delete(struct kube_client *client, const char *path, const struct kube_deletion *how,
                              kube_done *done, void *owner);

/*
 * Lists a collection in pages of @page items (0: 250). Passes each item to @item and frees it. A result other than 0
 * from @item ends the list with it. `answer->object` of `done` is the last page without its items
 * (metadata.resourceVersion). If the list expires between pages (410) it restarts, and @item is called with NULL first:
 * discard the earlier items.
 */
typedef int kube_item(void *owner, json_t *item);
struct kube_listing {
        const char *path, *labels, *fields;
        int page;
        bool from_cache; /* resourceVersion=0: the server's cached state, in one page */
        bool whole;      /* the newest state in one page, which newer servers have in their cache. Takes any time as
                            long as data comes */
        kube_item *item;
};
struct kube_call *kube_list_items(struct kube_client *client, const struct kube_listing *listing, kube_done *done,
                                  void *owner);

/* Streams a container's log to @sink. Zero or NULL options: the whole log of the only container. */
struct kube_log {
        const char *container;
        int64_t tail_lines, limit_bytes, since_s;
        int64_t silence_ms; /* as in a request, in whole seconds */
        bool follow, previous, timestamps;
        kube_sink *sink;
};
struct kube_call *kube_logs(struct kube_client *client, const char *namespace, const char *pod,
                            const struct kube_log *log, kube_done *done, void *owner);
