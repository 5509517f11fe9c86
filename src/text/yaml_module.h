/* What the core and the yaml module share. The module uses no symbol of the core: this page is all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YAML_ABI 1
#define YAML_MODULE_SYMBOL "firesteel_yaml_module" /* const struct yaml_ops *f(void) */

enum yaml_token_kind {
        YAML_TOKEN_DOCUMENT, /* one begins */
        YAML_TOKEN_DOCUMENT_END,
        YAML_TOKEN_SCALAR,
        YAML_TOKEN_ALIAS, /* text: the anchor's name */
        YAML_TOKEN_MAPPING,
        YAML_TOKEN_SEQUENCE,
        YAML_TOKEN_END, /* of the mapping or sequence */
};

struct yaml_token {
        enum yaml_token_kind kind;
        const char *text; /* ends with a NUL that is not counted */
        size_t len;
        const char *anchor, *tag; /* NULL: none */
        bool plain;               /* a scalar without quotes */
        size_t line;              /* the first is 1 */
};

struct yaml_ops {
        uint32_t abi; /* YAML_ABI */
        /*
         * Hand all tokens of @text to @take, in order, each borrowed for the call. Not 0 from it ends this with the
         * same. -EINVAL with a sentence in @message if the text is no YAML.
         */
        int (*parse)(const char *text, size_t len, int (*take)(void *context, const struct yaml_token *token),
                     void *context, char *message, size_t size);
};
