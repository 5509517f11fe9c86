/*
 * How the API server is reached, and as whom: from kubeconfig files, from what a pod finds in itself, and from the
 * configuration's spark.kubernetes.authenticate.* keys, as Spark's client factory puts them over each other.
 *
 *      r = kube_config_from_conf(conf, KUBE_SUBMISSION, master, &config, error);
 *
 * 1. The files that KUBECONFIG names (":" between them), or ~/.kube/config: merged as kubectl does, the first that
 *    says a thing decides; of them the context spark.kubernetes.context, or the current one.
 * 2. Where there is none: the token, certificate and namespace that are mounted into a pod.
 * 3. Over these the master URL and the keys <prefix>.{caCertFile,clientKeyFile,clientCertFile,oauthToken,
 *    oauthTokenFile}, spark.kubernetes.trust.certificates and the timeouts of the client's kind.
 *
 * Secrets are never part of a message or of kube_config_describe.
 */
#pragma once

#include <firesteel/context.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

/* Whose client: which keys and which timeouts hold. */
enum kube_client_kind {
        KUBE_SUBMISSION,    /* spark.kubernetes.authenticate.submission, spark.kubernetes.submission.*Timeout */
        KUBE_CLIENT_DRIVER, /* spark.kubernetes.authenticate, spark.kubernetes.driver.*Timeout */
        KUBE_POD_DRIVER,    /* spark.kubernetes.authenticate.driver.mounted: a driver that runs in a pod */
};

/* A program that is asked for credentials (client.authentication.k8s.io). */
struct kube_exec {
        char *command;     /* as it is run: absolute where the file said a path */
        char **arguments;  /* without the command; ends in NULL */
        char **env;        /* "NAME=value", besides this process's own; ends in NULL */
        char *api_version; /* "client.authentication.k8s.io/v1" */
        char *install_hint;
        bool cluster_info; /* is told of the cluster */
};

/* What is not said is NULL. Data are texts of PEM. A file is named where both could be. */
struct kube_config {
        char *server;              /* "https://10.0.0.1:6443", without a slash at its end */
        char *namespace;           /* of the context or the pod; never NULL: "default" */
        bool namespace_is_default; /* nobody said it */
        char *context;             /* its name, if it comes from a file */
        char *ca_file, *ca_data;
        char *cert_file, *cert_data, *key_file, *key_data;
        char *token, *token_file; /* the file is read again for each request; it wins */
        char *user, *password;
        struct kube_exec *exec;
        char *tls_server_name, *proxy_url;
        bool insecure;      /* any certificate is taken */
        char **impersonate; /* "Impersonate-User: x" …; ends in NULL */
        int64_t request_timeout_ms, connect_timeout_ms;
};

#define KUBE_CONFIG_INIT ((struct kube_config){0})

void kube_config_deinit(struct kube_config *c);

/* What is needed to ask for credentials (kube_exec_run) apart from @from, and no more. Deinit. @from has a program. */
void kube_config_copy_exec(const struct kube_config *from, struct kube_config *out);

/*
 * As described above. @master: "k8s://…" or what follows it; NULL, or "k8s://https://kubernetes.default.svc" being
 * out of reach is no reason to fail here: nothing is connected. 0, or negative with @error: -EINVAL for a file that
 * cannot be understood, a context that is not there, or a token given twice; what open(2) said of a file that is named
 * and cannot be read.
 */
int kube_config_from_conf(const struct fst_conf *conf, enum kube_client_kind kind, const char *master,
                          struct kube_config *out, struct fst_error *error);

/* Where the files are; for tests other places than the environment's and a pod's. */
struct kube_places {
        const char *kubeconfig;                  /* KUBECONFIG; NULL or "": home's */
        const char *home;                        /* HOME */
        const char *service_account;             /* "/var/run/secrets/kubernetes.io/serviceaccount" */
        const char *service_host, *service_port; /* KUBERNETES_SERVICE_HOST, _PORT */
};

/* Those of this process. Borrowed from the environment. */
struct kube_places kube_places_here(void);

/* 1. and 2. alone. @context NULL or "": the current one. */
int kube_config_read(const struct kube_places *places, const char *context, struct kube_config *out,
                     struct fst_error *error);

/* One kubeconfig file's text; paths in it are relative to @folder. For tests and the fuzzer. */
int kube_config_parse(const char *text, size_t len, const char *folder, const char *context, struct kube_config *out,
                      struct fst_error *error);

/* Whether both reach the same server in the same way as the same user. */
bool kube_config_same(const struct kube_config *a, const struct kube_config *b);

/* "k8s://host:6443" or "host:6443" or "https://host/": the server's URL, https:// where no scheme is said. Owned. */
char *kube_server_of_master(const char *master);

/* "https://10.0.0.1:6443, context kind-x, client certificate": for the log. The caller owns it. */
char *kube_config_describe(const struct kube_config *c);
