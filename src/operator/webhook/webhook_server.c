/*
 * See webhook_server.h. A round reads the Secret, makes a new certificate if one is needed, listens with it, and writes
 * the configuration. One request is under way at a time. A round that fails begins again after a pause.
 */
#include "operator/webhook/webhook_server.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http/http_server.h"
#include "operator/webhook/admission.h"
#include "operator/webhook/resource_quota.h"
#include "operator/webhook/webhook_certificate.h"
#include "text/json.h"

#define WEBHOOK_LOG "SparkWebhook"
#define CONFIGURATION_API "admissionregistration.k8s.io/v1"

/* Object and old object of a review have at most 3 MiB each in JSON, but clients may send more than etcd takes. */
enum { ROUND_MS = 60000, PAUSE_MS = 2000, QUOTA_ATTEMPTS = 3, MAX_REVIEW = 16 << 20 };

/* A review that waits for the quotas of its namespace. */
struct quota_review {
        struct quota_review *prev, *next;
        struct webhook_server *server;
        struct http_call *http;
        struct kube_call *call;
        json_t *review;
};

struct webhook_server {
        uv_loop_t *loop;
        struct webhook_options options;
        char *names[4]; /* of DNS, NULL at the end */
        uv_timer_t timer;
        struct kube_call *call; /* NULL between rounds */
        struct http_server *http;
        struct webhook_certificate certificate; /* of `http` */
        LIST(struct quota_review) reviews;
        bool trusted;
};

static void webhook_server_read_secret(struct webhook_server *s);

static void webhook_server_on_timer(uv_timer_t *timer)
{
        webhook_server_read_secret(timer->data);
}

static void webhook_server_again(struct webhook_server *s, uint64_t ms)
{
        uv_timer_start(&s->timer, webhook_server_on_timer, ms, 0);
}

static void webhook_server_fail(struct webhook_server *s, const char *what, const char *message)
{
        log_warn(WEBHOOK_LOG, "%s: %s", what, message);
        webhook_server_again(s, PAUSE_MS);
}

/* ---------------------------------------------------------------------------------------------------------- reviews */

/* @quotas: the items of a ResourceQuotaList, or NULL. */
static void webhook_server_answer(struct http_call *call, const json_t *review, const json_t *quotas)
{
        struct fst_error error = FST_ERROR_INIT;
        json_t *answer = admission_review(review, quotas, &error);
        if (!answer) {
                _cleanup_free_ char *text = mem_printf("%s\n", error_message(&error));
                http_call_answer_text(call, 400, "text/plain; charset=utf-8", text);
                error_deinit(&error);
                return;
        }
        const char *refusal = json_text_at(answer, "response.status.message");
        if (refusal)
                log_info(WEBHOOK_LOG, "Refused %s %s/%s: %s", json_text_or_empty(review, "request.kind.kind"),
                         json_text_or_empty(review, "request.namespace"), json_text_or_empty(review, "request.name"),
                         refusal);
        char *text = json_dumps(answer, JSON_COMPACT);
        http_call_answer_text(call, 200, "application/json", text);
        free(text);
        json_decref(answer);
}

static void quota_review_free(struct quota_review *q)
{
        list_remove(&q->server->reviews, q);
        json_decref(q->review);
        free(q);
}

/* Without the quotas nothing is stored, as with the genuine webhook: the API server says why, and the user repeats. */
static void quota_review_on_list(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct quota_review *q = owner;
        if (r == 0) {
                webhook_server_answer(q->http, q->review, json_object_get(response->object, "items"));
        } else {
                _cleanup_free_ char *text =
                        mem_printf("failed to list resource quotas: %s\n", error_message(response->error));
                log_warn(WEBHOOK_LOG, "%s", text);
                http_call_answer_text(q->http, 500, "text/plain; charset=utf-8", text);
        }
        quota_review_free(q);
}

/* Reads the quotas of the application's namespace, as the API server has them now, and answers then. */
static void webhook_server_read_quotas(struct webhook_server *s, struct http_call *call, json_t *review)
{
        _cleanup_free_ char *path =
                kube_path("v1", json_text_or_empty(review, "request.namespace"), "resourcequotas", NULL);
        struct quota_review *q = new0(struct quota_review);
        q->server = s;
        q->http = call;
        q->review = json_incref(review);
        list_append(&s->reviews, q);
        q->call = kube_get(s->options.client, path, quota_review_on_list, q);
        kube_limit_attempts(q->call, QUOTA_ATTEMPTS);
}

static void webhook_server_serve(void *owner, struct http_call *call)
{
        static const char prefix[] = "/validate";
        struct webhook_server *s = owner;
        const char *type = http_call_header(call, "Content-Type");
        if (strncmp(call->path, prefix, sizeof(prefix) - 1) != 0)
                return http_call_answer_text(call, 404, "text/plain", "404 page not found\n");
        if (strcmp(call->method, "POST") != 0)
                return http_call_answer_text(call, 405, "text/plain", "only POST\n");
        if (!type || strncmp(type, "application/json", strlen("application/json")) != 0)
                return http_call_answer_text(call, 415, "text/plain", "a review is of the type application/json\n");
        json_t *review = json_loadb(call->body, call->body_len, 0, NULL);
        if (!review)
                return http_call_answer_text(call, 400, "text/plain", "the body is not JSON\n");
        if (s->options.enforce_quotas && resource_quota_concerns(json_object_get(review, "request")))
                webhook_server_read_quotas(s, call, review);
        else
                webhook_server_answer(call, review, NULL);
        json_decref(review);
}

static void webhook_server_keep(struct webhook_server *s, struct webhook_certificate *fresh)
{
        webhook_certificate_deinit(&s->certificate);
        s->certificate = *fresh;
        *fresh = (struct webhook_certificate){0};
}

/* Listens with the certificate, which it steals; on the same socket, if another one was used before. */
static int webhook_server_listen(struct webhook_server *s, struct webhook_certificate *fresh, struct fst_error *error)
{
        const struct http_server_tls tls = {.key = fresh->key, .chain = fresh->chain};
        const struct http_server_options options = {.loop = s->loop,
                                                    .service = "Webhook",
                                                    .port = s->options.port,
                                                    .previous = s->http,
                                                    .tls = &tls,
                                                    .max_body = MAX_REVIEW,
                                                    .handle = webhook_server_serve,
                                                    .owner = s};
        struct http_server *http;
        int r = http_server_new(&options, &http, error);
        if (r < 0)
                return r;
        http_server_free(s->http);
        s->http = http;
        webhook_server_keep(s, fresh);
        log_info(WEBHOOK_LOG, "Listening on port %d with a certificate for %s.", http_server_port(s->http),
                 s->names[0]);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- configuration */

static void webhook_server_end_round(struct webhook_server *s)
{
        if (!s->trusted)
                log_info(WEBHOOK_LOG, "The API server trusts this webhook (ValidatingWebhookConfiguration %s).",
                         s->options.configuration);
        s->trusted = true;
        webhook_server_again(s, ROUND_MS);
}

static void webhook_server_on_patched(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct webhook_server *s = owner;
        s->call = NULL;
        if (r == 0)
                webhook_server_end_round(s);
        else
                webhook_server_fail(s, "Cannot write the caBundle", error_message(response->error));
}

/* Returns the patch that sets the caBundle of all webhooks of @configuration, or NULL if they have it. */
static json_t *webhook_server_trust_patch(const json_t *configuration, const char *bundle)
{
        json_t *patch = json_array(), *webhook;
        size_t i;
        json_array_append_new(patch, json_pack("{s:s, s:s, s:O}", "op", "replace", "path", "/metadata/resourceVersion",
                                               "value", json_at(configuration, "metadata.resourceVersion")));
        json_array_foreach(json_object_get(configuration, "webhooks"), i, webhook) {
                _cleanup_free_ char *path = mem_printf("/webhooks/%zu/clientConfig/caBundle", i);
                if (strcmp(json_text_or_empty(webhook, "clientConfig.caBundle"), bundle) != 0)
                        json_array_append_new(patch,
                                              json_pack("{s:s, s:s, s:s}", "op", "add", "path", path, "value", bundle));
        }
        if (json_array_size(patch) == 1) {
                json_decref(patch);
                patch = NULL;
        }
        return patch;
}

static void webhook_server_on_configuration(void *owner, struct kube_call *call, int r,
                                            const struct kube_response *response)
{
        struct webhook_server *s = owner;
        s->call = NULL;
        if (r == FST_KUBE_E_NOT_FOUND) {
                s->trusted = false;
                webhook_server_fail(s, "There is no ValidatingWebhookConfiguration",
                                    "apply packaging/kubernetes/operator-webhook, or name yours with "
                                    "--validating-webhook-name");
                return;
        }
        if (r != 0) {
                webhook_server_fail(s, "Cannot read the ValidatingWebhookConfiguration",
                                    error_message(response->error));
                return;
        }
        _cleanup_(buf_deinit) struct buf bundle = BUF_INIT;
        base64_put(&bundle, s->certificate.trust, strlen(s->certificate.trust));
        json_t *patch = webhook_server_trust_patch(response->object, buf_text(&bundle));
        if (patch) {
                _cleanup_free_ char *path =
                        kube_path(CONFIGURATION_API, NULL, "validatingwebhookconfigurations", s->options.configuration);
                s->call = kube_patch(s->options.client, path, KUBE_PATCH_JSON, patch, webhook_server_on_patched, s);
                json_decref(patch);
        } else {
                webhook_server_end_round(s);
        }
}

/* ----------------------------------------------------------------------------------------------------------- secret */

static void webhook_server_on_written(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct webhook_server *s = owner;
        s->call = NULL;
        if (r == 0 || r == FST_KUBE_E_ALREADY_EXISTS || r == FST_KUBE_E_CONFLICT)
                webhook_server_read_secret(s); /* this replica's, or that of another one */
        else
                webhook_server_fail(s, "Cannot store the certificate", error_message(response->error));
}

static void webhook_server_renew(struct webhook_server *s, const json_t *old, const char *why)
{
        struct fst_error error = FST_ERROR_INIT;
        json_t *secret = NULL;
        const struct webhook_options *o = &s->options;
        log_info(WEBHOOK_LOG, "Makes a certificate in the Secret %s/%s: %s.", o->secret_namespace, o->secret, why);
        int r = webhook_certificate_make(old, o->secret_namespace, o->secret, (const char *const *)s->names, time(NULL),
                                         &secret, &error);
        if (r < 0) {
                webhook_server_fail(s, "Cannot make a certificate", error_message(&error));
        } else if (!old) {
                s->call = kube_create(o->client, o->secret_namespace, secret, webhook_server_on_written, s);
        } else {
                _cleanup_free_ char *path = kube_path("v1", o->secret_namespace, "secrets", o->secret);
                s->call = kube_send(o->client, &(struct kube_request){.method = "PUT", .path = path, .body = secret},
                                    webhook_server_on_written, s);
        }
        json_decref(secret);
        error_deinit(&error);
}

static void webhook_server_on_secret(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct webhook_server *s = owner;
        struct webhook_certificate certificate = {0};
        struct fst_error error = FST_ERROR_INIT;
        s->call = NULL;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND) {
                webhook_server_fail(s, "Cannot read the Secret of the certificate", error_message(response->error));
                return;
        }
        const json_t *secret = r == 0 ? response->object : NULL;
        if (webhook_certificate_read(secret, s->names[0], time(NULL), &certificate, &error) < 0) {
                webhook_server_renew(s, secret, error_message(&error));
        } else if ((!s->http || strcmp(s->certificate.chain, certificate.chain) != 0) &&
                   webhook_server_listen(s, &certificate, &error) < 0) {
                webhook_server_fail(s, "Cannot listen", error_message(&error));
        } else {
                if (certificate.chain)
                        webhook_server_keep(s, &certificate); /* with the trust of now */
                _cleanup_free_ char *path =
                        kube_path(CONFIGURATION_API, NULL, "validatingwebhookconfigurations", s->options.configuration);
                s->call = kube_get(s->options.client, path, webhook_server_on_configuration, s);
        }
        webhook_certificate_deinit(&certificate);
        error_deinit(&error);
}

static void webhook_server_read_secret(struct webhook_server *s)
{
        _cleanup_free_ char *path = kube_path("v1", s->options.secret_namespace, "secrets", s->options.secret);
        s->call = kube_get(s->options.client, path, webhook_server_on_secret, s);
}

/* --------------------------------------------------------------------------------------------------------- lifetime */

struct webhook_server *webhook_server_new(uv_loop_t *loop, const struct webhook_options *options)
{
        struct webhook_server *s = new0(struct webhook_server);
        s->loop = loop;
        s->options = *options;
        s->names[0] = mem_printf("%s.%s.svc", options->service, options->service_namespace);
        s->names[1] = mem_printf("%s.%s.svc.cluster.local", options->service, options->service_namespace);
        s->names[2] = mem_printf("%s.%s", options->service, options->service_namespace);
        uv_timer_init(loop, &s->timer);
        s->timer.data = s;
        webhook_server_read_secret(s);
        return s;
}

static void webhook_server_on_closed(uv_handle_t *handle)
{
        struct webhook_server *s = handle->data;
        for (size_t i = 0; i < ARRAY_SIZE(s->names); i++)
                free(s->names[i]);
        webhook_certificate_deinit(&s->certificate);
        free(s);
}

void webhook_server_free(struct webhook_server *s)
{
        if (!s)
                return;
        if (s->call)
                kube_cancel(s->call);
        while (s->reviews.first) {
                struct quota_review *q = s->reviews.first;
                kube_cancel(q->call);
                http_call_answer_text(q->http, 503, "text/plain", "the webhook ends\n");
                quota_review_free(q);
        }
        http_server_free(s->http);
        uv_close((uv_handle_t *)&s->timer, webhook_server_on_closed);
}

bool webhook_server_ready(const struct webhook_server *s)
{
        return s->http && s->trusted;
}
