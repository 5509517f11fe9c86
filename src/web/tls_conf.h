/* The certificates of pages: spark.ssl.standalone.*, each falling back to spark.ssl.*. */
#pragma once

#include "net/http/http_server.h"

struct fst_conf;
struct fst_error;

struct tls_conf {
        bool enabled;
        int port; /* of encrypted connections; 0: not said */
        struct http_server_tls tls;
};

/*
 * Read them, files too, for the module @space ("standalone"). 0, or -EINVAL and the like with @error naming key or
 * file. Deinitialise it in either case.
 */
int tls_conf_read(struct tls_conf *t, const struct fst_conf *conf, const char *space, struct fst_error *error);
void tls_conf_deinit(struct tls_conf *t);
