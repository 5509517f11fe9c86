/* Layout of struct security for channels. Others include net/security.h. */
#pragma once

#include "net/crypto.h"
#include "net/sha256.h"

enum security_kind { SECURITY_PSK, SECURITY_CERTIFICATES };

struct security {
        enum security_kind kind;
        const struct crypto_ops *crypto;
        struct tls_context *client, *server;
        const struct security *shared; /* owner of the contexts, if not this one */
        uint8_t secret[SHA256_SIZE]; /* derived from the application's secret; the keys of purposes are derived from it
                                      */
        char *identity;              /* of the key, without the purpose */
};
