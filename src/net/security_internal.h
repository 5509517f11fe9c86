/* What a security holds, for channels; everybody else sees net/security.h. */
#pragma once

#include "net/crypto.h"

enum security_kind { SECURITY_PSK, SECURITY_CERTIFICATES };

struct security {
        enum security_kind kind;
        const struct crypto_ops *crypto;
        struct tls_context *client, *server;
        const struct security *shared; /* whose contexts they are, if not its own */
        uint8_t secret[SHA256_SIZE]; /* derived from the application's secret; keys of purposes come from it */
        char *identity;              /* of the key, without purpose */
};
