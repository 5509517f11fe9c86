/* TLS settings and certificates of pages: spark.ssl.standalone.*, each of which falls back to spark.ssl.*. */
#pragma once

#include "net/http/http_server.h"

struct fst_conf;
struct fst_error;

struct tls_conf {
        bool enabled;
        int port; /* of TLS connections; 0: unset */
        struct http_server_tls tls;
};

/*
 * Reads the settings and their files for the module @space ("standalone"). Returns 0, or -EINVAL and similar with
 * @error, which names the key or file. The caller must deinit in either case.
 */
int tls_conf_read(struct tls_conf *t, const struct fst_conf *conf, const char *space, struct fst_error *error);
void tls_conf_deinit(struct tls_conf *t);
