/* The interface between the core and the yaml module. The module uses no symbol of the core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YAML_ABI 1
#define YAML_MODULE_SYMBOL "firesteel_yaml_module" /* const struct yaml_ops *f(void) */

enum yaml_token_kind {
        YAML_TOKEN_DOCUMENT, /* start of a document */
        YAML_TOKEN_DOCUMENT_END,
        YAML_TOKEN_SCALAR,
        YAML_TOKEN_ALIAS, /* text: the anchor's name */
        YAML_TOKEN_MAPPING,
        YAML_TOKEN_SEQUENCE,
        YAML_TOKEN_END, /* end of a mapping or sequence */
};

struct yaml_token {
        enum yaml_token_kind kind;
        const char *text; /* NUL-terminated; the NUL is not counted */
        size_t len;
        const char *anchor, *tag; /* NULL: none */
        bool plain;               /* a scalar without quotes */
        size_t line;              /* counts from 1 */
};

struct yaml_ops {
        uint32_t abi; /* YAML_ABI */
        /*
         * Passes all tokens of @text to @take in order, each borrowed for the call. Stops with the result of @take if
         * it is not 0. Returns -EINVAL with @message for invalid YAML.
         */
        int (*parse)(const char *text, size_t len, int (*take)(void *context, const struct yaml_token *token),
                     void *context, char *message, size_t size);
};
