/*
 * The arguments of the Kubernetes client (SUBMIT_CLASS_KUBERNETES), which describe the application (Spark:
 * ClientArguments).
 */
#pragma once

#include "kubernetes/conf/kube_conf.h"

struct client_arguments {
        enum kube_language language;
        const char *resource, *main_class, *proxy_user; /* borrowed from the words; resource and user may be NULL */
        const char **arguments;                         /* of the application; owned, its words are borrowed */
        size_t n_arguments;
};

/* Returns -EINVAL with Spark's message for an unknown argument, or if the class is missing. */
int client_arguments_parse(const char *const *words, size_t n, struct client_arguments *out, struct fst_error *error);
void client_arguments_deinit(struct client_arguments *a);

/* Copies the arguments into @c, which borrows them. */
void client_arguments_put(const struct client_arguments *a, struct kube_conf *c);
