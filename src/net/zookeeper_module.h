/* The interface of the zookeeper module, which uses no symbol of the core.
 *
 * The module calls the receiver's functions on its threads, or from within an operation. They must not block.
 */
#pragma once

#include "net/zookeeper.h"

#define ZOOKEEPER_ABI 1
#define ZOOKEEPER_MODULE_SYMBOL "firesteel_zookeeper_module" /* const struct zookeeper_ops *f(void) */

struct zookeeper_handle;

struct zookeeper_receiver {
        void (*session)(void *context, enum zookeeper_session session, int timeout);
        void (*watch)(void *context, const char *path);
        void (*answer)(void *context, void *tag, const struct zookeeper_answer *answer);
        void *context;
        void (*log)(const char *line);
};

struct zookeeper_ops {
        uint32_t abi; /* ZOOKEEPER_ABI */
        /* NULL with @message: names cannot be resolved. @receiver must last until `close` has returned. May block. */
        struct zookeeper_handle *(*connect)(const struct zookeeper_options *options,
                                            const struct zookeeper_receiver *receiver, char *message, size_t size);
        /* May block for a few seconds. Answers pending requests from within, with OVER. */
        void (*close)(struct zookeeper_handle *handle);
        void (*create)(struct zookeeper_handle *handle, const char *path, const void *data, size_t size, bool ephemeral,
                       void *tag);
        void (*exists)(struct zookeeper_handle *handle, const char *path, bool watch, void *tag);
        void (*children)(struct zookeeper_handle *handle, const char *path, void *tag);
        void (*get)(struct zookeeper_handle *handle, const char *path, void *tag);
        void (*multi)(struct zookeeper_handle *handle, const struct zookeeper_step *steps, size_t n, void *tag);
};
