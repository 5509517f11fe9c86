/* Connections whose bytes the caller reads and writes (http_tunnel.h). */
#include "net/http/http_module_internal.h"

#include <errno.h>
#include <stdio.h>

static int http_tunnel_module_fail(struct http_handle *h, CURLcode code, const char *text, char *message, size_t size)
{
        snprintf(message, size, "%s", text && *text ? text : curl_easy_strerror(code));
        return http_error_code(h, code);
}

int http_tunnel_module_open(struct http_handle *h, const struct http_request *q, int *fd, char *message, size_t size)
{
        static struct http_receiver nothing; /* no answer is read */
        char text[CURL_ERROR_SIZE] = "";
        struct curl_slist *headers = NULL, *connect_to = NULL;
        curl_socket_t socket = CURL_SOCKET_BAD;
        curl_easy_reset(h->curl);
        int r = http_configure(h, q, &nothing, text, &headers, &connect_to, message, size);
        if (r == 0) {
                curl_easy_setopt(h->curl, CURLOPT_CONNECT_ONLY, 1L);
                curl_easy_setopt(h->curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
                curl_easy_setopt(h->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
                CURLcode code = curl_easy_perform(h->curl);
                if (code == CURLE_OK)
                        code = curl_easy_getinfo(h->curl, CURLINFO_ACTIVESOCKET, &socket);
                r = code == CURLE_OK ? 0 : http_tunnel_module_fail(h, code, text, message, size);
        }
        curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, NULL);
        curl_slist_free_all(headers);
        curl_slist_free_all(connect_to);
        *fd = (int)socket;
        return r;
}

ssize_t http_tunnel_module_read(struct http_handle *h, void *buffer, size_t n, char *message, size_t size)
{
        size_t got = 0;
        CURLcode code = curl_easy_recv(h->curl, buffer, n, &got);
        if (code == CURLE_OK)
                return (ssize_t)got;
        return code == CURLE_AGAIN ? -EAGAIN : http_tunnel_module_fail(h, code, NULL, message, size);
}

ssize_t http_tunnel_module_write(struct http_handle *h, const void *data, size_t n, char *message, size_t size)
{
        size_t sent = 0;
        CURLcode code = curl_easy_send(h->curl, data, n, &sent);
        if (code == CURLE_OK)
                return sent > 0 ? (ssize_t)sent : -EAGAIN;
        return code == CURLE_AGAIN ? -EAGAIN : http_tunnel_module_fail(h, code, NULL, message, size);
}
