/*
 * A request whose body comes piece by piece and whose length nobody knows yet: it is sent as it is written, so memory
 * stays small whatever is sent (HTTP/1.1, "Transfer-Encoding: chunked").
 *
 *      struct http_upload *upload;
 *      r = http_upload_begin(client, &(struct http_request){.url = url}, &upload, error);
 *      while (r == 0 && more)
 *              r = http_upload_write(upload, data, n, error);
 *      r = http_upload_end(upload, r, &answer, error);             // frees it in any case
 *
 * One upload of a client is under way at a time, and the client may perform other requests meanwhile. Nothing follows
 * redirections: a body cannot be sent twice.
 */
#pragma once

#include "net/http/http.h"

struct http_upload;

/*
 * Begin; nothing need have been sent yet. Method PUT where none is said; body, follow, sink and progress are not
 * looked at. What the request points at is borrowed until the end. -EBUSY while another is under way, -EINVAL, -ENOMEM.
 */
int http_upload_begin(struct http_client *client, const struct http_request *request, struct http_upload **out,
                      struct fst_error *error);

/*
 * Send all of @data; blocks until it has gone out. A server that has answered already gets no more: 0, and the end
 * says what it answered. Else what http_perform answers, and the upload is only good for its end.
 */
int http_upload_write(struct http_upload *upload, const void *data, size_t n, struct fst_error *error);

/*
 * With @so_far 0: send the end and wait for the answer, as http_perform has it. Negative: break off, so that the server
 * sees half a body; answers @so_far and leaves @error as it is.
 */
int http_upload_end(struct http_upload *upload, int so_far, struct http_answer *answer, struct fst_error *error);
