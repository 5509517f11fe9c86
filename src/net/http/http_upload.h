/*
 * A request whose body is written in pieces and has no known length: each piece is sent at once, so memory use is
 * constant (HTTP/1.1, "Transfer-Encoding: chunked").
 *
 *      struct http_upload *upload;
 *      r = http_upload_begin(client, &(struct http_request){.url = url}, &upload, error);
 *      while (r == 0 && more)
 *              r = http_upload_write(upload, data, n, error);
 *      r = http_upload_end(upload, r, &answer, error);             // frees it in any case
 *
 * A client has at most one upload at a time, and may perform other requests meanwhile. Redirections are not followed,
 * because a body cannot be sent twice.
 */
#pragma once

#include "net/http/http.h"

struct http_upload;

/* Begins an upload. Nothing need be sent yet. The default method is PUT. Body, follow, sink and progress are ignored.
 * The data of @request is borrowed until the end. -EBUSY during another upload, -EINVAL, -ENOMEM.
 */
int http_upload_begin(struct http_client *client, const struct http_request *request, struct http_upload **out,
                      struct fst_error *error);

/* Sends all of @data. Blocks until done. Returns 0 without sending if the server has answered already. The end
 * returns its answer. Otherwise returns the error of http_perform, and the upload must be ended.
 */
int http_upload_write(struct http_upload *upload, const void *data, size_t n, struct fst_error *error);

/* With @so_far 0: sends the end and waits for the answer, as http_perform. Negative: aborts, so that the server sees
 * an incomplete body; returns @so_far and leaves @error unchanged.
 */
int http_upload_end(struct http_upload *upload, int so_far, struct http_answer *answer, struct fst_error *error);
