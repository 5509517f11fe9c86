/*
 * A client of a Kubernetes API server on a loop: requests and answers are objects (jansson's json_t), many are under
 * way at once on one connection, and what may be tried again is tried again.
 *
 *      r = kube_client_new(loop, &config, "firesteel/0.1", &client, error);
 *      call = kube_create(client, "spark-jobs", pod, created, owner);
 *      …                                  → created(owner, call, 0, &answer)
 *      kube_client_free(client);
 *
 * or, where there is nothing else to do, as in a submission:
 *
 *      r = kube_wait(client, kube_create(client, ns, pod, NULL, NULL), &object, error);
 *
 * TRYING AGAIN. Connections that break, 408, 429 and 5xx are tried again up to `attempts` times, with a pause that
 * doubles from 100 ms to 10 s, with jitter, or that the server names (Retry-After). A creation whose answer was lost
 * may have happened: if trying again finds an object of that name, it is fetched, and it is ours if it bears the
 * labels, annotations and data that we sent (and there are any): then it counts as created. What has no name
 * (generateName), or is sent by kube_send as a POST, is tried again only if nothing can have happened. A deletion that
 * finds nothing on a later attempt has happened.
 *
 * A 401 makes the client read token files and ask credential programs anew, once.
 *
 * Everything happens on the loop's thread. `done` is called exactly once for each call that is not cancelled, never
 * from within the function that began it; every function here may be called within it, kube_client_free too.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

#include <jansson.h>
#include <uv.h>

struct fst_error;
struct kube_call;
struct kube_client;

/* Outcomes: what the server answered, besides 0. Each has its sentence in `error`. */
enum {
        FST_KUBE_E_NOT_FOUND = 1,  /* 404 */
        FST_KUBE_E_ALREADY_EXISTS, /* 409: another object has the name */
        FST_KUBE_E_CONFLICT,       /* 409: it was changed meanwhile */
        FST_KUBE_E_GONE,           /* 410: the resource version or continue token is too old */
        FST_KUBE_E_UNAUTHORIZED,   /* 401 */
        FST_KUBE_E_FORBIDDEN,      /* 403: `error` names account, verb, resource and namespace, and the cure */
        FST_KUBE_E_QUOTA,          /* 403: a quota is used up */
        FST_KUBE_E_INVALID,        /* 400, 405, 413, 415, 422: the request is wrong */
        FST_KUBE_E_TOO_MANY,       /* 429, after all attempts */
        FST_KUBE_E_UNAVAILABLE,    /* 5xx, after all attempts */
};

/* An API server that has just been started knows no rights yet: only who is refused so often in a row must not. */
#define KUBE_REFUSALS 3

/* How often in a row this account was refused: @before, and outcome @r. */
static inline int kube_refusals(int before, int r)
{
        return r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_UNAUTHORIZED ? before + 1 : 0;
}

/* Everything is borrowed for the call of `done`; json_incref what is to stay. */
struct kube_answer {
        int status;                    /* of HTTP; 0: none came */
        json_t *object;                /* what came, a Status object included; NULL: nothing, or no JSON */
        const char *reason;            /* of a Status: "AlreadyExists"; "" without */
        const struct fst_error *error; /* NULL for 0 */
        int64_t retry_after_ms;        /* what the server named last; 0: nothing */
        int attempts;                  /* at least 1 */
        int throttled;                 /* how many of them met 429 */
        bool maybe_done; /* @r is not 0, and yet one of them may have been carried out: its answer was lost */
};

/* @r 0: done; > 0: one of the outcomes; < 0: no answer, as http_perform has it. @call is gone afterwards. */
typedef void kube_done(void *owner, struct kube_call *call, int r, const struct kube_answer *answer);

/* The content of a 2xx answer as it comes. Not 0 ends the call: it answers that if negative, else -ECANCELED. */
typedef int kube_sink(void *owner, const char *data, size_t n);

struct kube_request {
        const char *method;       /* "GET" without */
        const char *path;         /* "/api/v1/namespaces/x/pods"; see kube_path */
        const char *query;        /* "limit=1", without "?"; NULL: none. Encoded by the caller: kube_query_add. */
        const json_t *body;       /* NULL: none. Turned into text at once. */
        const char *content_type; /* "application/json" without */
        const char *accept;       /* "application/json" without */
        int64_t timeout_ms;       /* of an attempt: the configuration's; -1: none (streams have none) */
        int attempts;             /* KUBE_ATTEMPTS; 1: never again */
        kube_sink *sink;          /* NULL: the answer is read as JSON. Streams are not tried again once they spoke. */
        int64_t silence_ms;       /* a stream that says nothing for so long ends with -ETIMEDOUT; 0: it may */
};

#define KUBE_ATTEMPTS 6

/*
 * @config is borrowed until kube_client_free. @user_agent NULL: "firesteel". 0, or negative with @error: the http
 * module is not there, a certificate file cannot be read.
 */
int kube_client_new(uv_loop_t *loop, const struct kube_config *config, const char *user_agent, struct kube_client **out,
                    struct fst_error *error);

/* Calls that are under way are cancelled. What libuv holds is freed when the loop turns. NULL is allowed. */
void kube_client_free(struct kube_client *client);

uv_loop_t *kube_client_loop(const struct kube_client *client);
const struct kube_config *kube_client_config(const struct kube_client *client);
size_t kube_client_pending(const struct kube_client *client);

/* For tests: the first pause before trying again, and the longest, in place of 100 ms and 10 s. */
void kube_client_set_pause(struct kube_client *client, int64_t first_ms, int64_t longest_ms);

/* How many answers have come, whatever they said: one that grows is of a server that is there. */
uint64_t kube_client_answers(const struct kube_client *client);

/* Begin a call; @request is borrowed for this function. @done may be NULL for kube_wait. */
struct kube_call *kube_send(struct kube_client *client, const struct kube_request *request, kube_done *done,
                            void *owner);
void kube_cancel(struct kube_call *call); /* `done` will not be called */

/* At most @n attempts in all, those included that were made. */
void kube_limit_attempts(struct kube_call *call, int n);

/*
 * 409 because something was changed meanwhile, a quota's count for one, is tried again as well. For what is sent
 * without saying of which version it is; deletions that name no uid are so by themselves.
 */
void kube_bear_conflicts(struct kube_call *call);

/*
 * No more patience, but nothing is left unknown that can be known: what the server may have heard ends with its answer,
 * or without one, and is not tried again; anything else ends with -ECANCELED when the loop turns.
 */
void kube_give_up(struct kube_call *call);

/*
 * Run the loop until @call, which has no `done`, is done: @r, with the sentence in @error; *@object (NULL is allowed)
 * is the caller's, NULL if there is none. For programs that have nothing else to do meanwhile.
 */
int kube_wait(struct kube_client *client, struct kube_call *call, json_t **object, struct fst_error *error);

/*
 * "/api/v1/namespaces/NS/pods/NAME". @api: "v1", "apps/v1", …; @namespace NULL: none; @name NULL: the collection;
 * further parts ("log") in @name after a slash. The caller owns it.
 */
char *kube_path(const char *api, const char *namespace, const char *resource, const char *name);

/* Of an object: its apiVersion and kind decide ("pods" of Pod; PodGroup, …). @with_name: its own, else its collection.
 */
char *kube_object_path(const json_t *object, const char *namespace, bool with_name);

/* "a=b&" and so on, percent-encoded, into an owned text: *@query NULL is a beginning. @value NULL adds nothing. */
void kube_query_add(char **query, const char *name, const char *value);

/* POST to the collection of the object's kind; the namespace is the object's own where it says one. */
struct kube_call *kube_create(struct kube_client *client, const char *namespace, const json_t *object, kube_done *done,
                              void *owner);
struct kube_call *kube_get(struct kube_client *client, const char *path, kube_done *done, void *owner);

enum kube_patch_kind { KUBE_PATCH_MERGE, KUBE_PATCH_STRATEGIC, KUBE_PATCH_JSON };
struct kube_call *kube_patch(struct kube_client *client, const char *path, enum kube_patch_kind kind,
                             const json_t *patch, kube_done *done, void *owner);

/* NULL: what the server does by itself. */
struct kube_deletion {
        const int64_t *grace_s;  /* grace period; 0 is "at once" */
        const char *propagation; /* "Foreground", "Background", "Orphan" */
        const char *uid;         /* only if it is this one: else FST_KUBE_E_CONFLICT */
        const char *labels;      /* of a collection: which ones */
        const char *fields;
};
struct kube_call *kube_delete(struct kube_client *client, const char *path, const struct kube_deletion *how,
                              kube_done *done, void *owner);

/*
 * All items of a collection, page by page (@page of them; 0: 250), each handed to @item and freed. Not 0 from @item
 * ends the list with it. `answer->object` of done: the last page without its items (metadata.resourceVersion). A list
 * that grew too old between pages (410) is begun again, and @item is called with NULL first: forget what came.
 */
typedef int kube_item(void *owner, json_t *item);
struct kube_listing {
        const char *path, *labels, *fields;
        int page;
        bool from_cache; /* resourceVersion=0: what the server has at hand, in one page */
        kube_item *item;
};
struct kube_call *kube_list_items(struct kube_client *client, const struct kube_listing *listing, kube_done *done,
                                  void *owner);

/* A container's log through @sink. Zero or NULL: all that there is of the only container. */
struct kube_log {
        const char *container;
        int64_t tail_lines, limit_bytes, since_s;
        int64_t silence_ms; /* as of a request, in whole seconds */
        bool follow, previous, timestamps;
        kube_sink *sink;
};
struct kube_call *kube_logs(struct kube_client *client, const char *namespace, const char *pod,
                            const struct kube_log *log, kube_done *done, void *owner);
