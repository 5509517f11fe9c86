/* Uploads. http_upload_module.c does the transfers. */
#include "net/http/http_upload.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/http/http_internal.h"

struct http_upload {
        struct http_client *client;
        struct http_request request;
        struct http_answer answer;
        struct http_exchange exchange;
};

static int http_upload_fail(struct http_upload *u, int r, const char *message, struct fst_error *error)
{
        return http_exchange_finish(&u->exchange, r, message, error);
}

static void upload_free(struct http_upload *u)
{
        u->client->uploading = false;
        http_answer_deinit(&u->answer);
        free(u);
}

int http_upload_begin(struct http_client *client, const struct http_request *request, struct http_upload **out,
                      struct fst_error *error)
{
        char message[512] = "";
        if (client->uploading)
                return error_set(error, -EBUSY, "one upload of a client at a time");
        struct http_upload *u = new0(struct http_upload);
        u->client = client;
        u->request = *request;
        u->request.body = NULL;
        u->request.body_len = 0;
        u->request.follow = false;
        u->request.sink = NULL;
        u->request.progress = NULL;
        client->uploading = true;
        http_exchange_init(&u->exchange, &u->request, &u->answer);
        int r = client->ops->upload_begin(client->handle, &u->request, &u->exchange.receiver, message, sizeof(message));
        if (r < 0) {
                r = http_upload_fail(u, r, message, error);
                upload_free(u);
                return r;
        }
        *out = u;
        return 0;
}

int http_upload_write(struct http_upload *u, const void *data, size_t n, struct fst_error *error)
{
        char message[512] = "";
        int r = u->client->ops->upload_write(u->client->handle, data, n, message, sizeof(message));
        return r < 0 ? http_upload_fail(u, r, message, error) : 0;
}

int http_upload_end(struct http_upload *u, int so_far, struct http_answer *answer, struct fst_error *error)
{
        char message[512] = "";
        int r = u->client->ops->upload_end(u->client->handle, so_far == 0, message, sizeof(message));
        if (so_far < 0)
                r = so_far;
        else
                r = http_upload_fail(u, r, message, error);
        if (r == 0) {
                http_answer_deinit(answer);
                *answer = u->answer;
                u->answer = HTTP_ANSWER_INIT;
        }
        upload_free(u);
        return r;
}
