/* See client_arguments.h. */
#include "submit/kubernetes/client_arguments.h"

#include "base/error.h"
#include "base/mem.h"

static int client_arguments_take_pair(struct client_arguments *a, const char *name, const char *value)
{
        if (strcmp(name, "--primary-java-resource") == 0) {
                a->language = KUBE_JAVA;
                a->resource = value;
        } else if (strcmp(name, "--primary-py-file") == 0) {
                a->language = KUBE_PYTHON;
                a->resource = value;
        } else if (strcmp(name, "--primary-r-file") == 0) {
                a->language = KUBE_R;
                a->resource = value;
        } else if (strcmp(name, "--main-class") == 0) {
                a->main_class = value;
        } else if (strcmp(name, "--arg") == 0) {
                a->arguments[a->n_arguments++] = value;
        } else if (strcmp(name, "--proxy-user") == 0) {
                a->proxy_user = value;
        } else {
                return -EINVAL;
        }
        return 0;
}

int client_arguments_parse(const char *const *words, size_t n, struct client_arguments *out, struct fst_error *error)
{
        _cleanup_(client_arguments_deinit) struct client_arguments a = {.arguments = new_array(const char *, n + 1)};
        for (size_t i = 0; i < n; i += 2) {
                bool pair = i + 1 < n && words[i + 1];
                if (!pair || client_arguments_take_pair(&a, words[i], words[i + 1]) < 0)
                        return error_set(error, -EINVAL, "Unknown arguments: %s%s%s", words[i], pair ? " " : "",
                                         pair ? words[i + 1] : "");
        }
        if (!a.main_class)
                return error_set(error, -EINVAL, "requirement failed: Main class must be specified via --main-class");
        *out = a;
        a.arguments = NULL;
        return 0;
}

void client_arguments_deinit(struct client_arguments *a)
{
        free(a->arguments);
        a->arguments = NULL;
}

void client_arguments_put(const struct client_arguments *a, struct kube_conf *c)
{
        c->language = a->language;
        c->resource = a->resource;
        c->main_class = a->main_class;
        c->proxy_user = a->proxy_user;
        c->arguments = a->arguments;
        c->n_arguments = a->n_arguments;
}
