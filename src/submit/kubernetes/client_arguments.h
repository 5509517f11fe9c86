/*
 * The words that spark-submit gives the Kubernetes client (SUBMIT_CLASS_KUBERNETES): which application is to run.
 * Spark's ClientArguments.
 */
#pragma once

#include "kubernetes/conf/kube_conf.h"

struct client_arguments {
        enum kube_language language;
        const char *resource, *main_class, *proxy_user; /* borrowed from the words; resource and user may be NULL */
        const char **arguments;                         /* of the application; owned, its words are borrowed */
        size_t n_arguments;
};

/* -EINVAL with Spark's sentence for what is no such word, or no class. */
int client_arguments_parse(const char *const *words, size_t n, struct client_arguments *out, struct fst_error *error);
void client_arguments_deinit(struct client_arguments *a);

/* Say in @c what the arguments say; borrowed. */
void client_arguments_put(const struct client_arguments *a, struct kube_conf *c);
