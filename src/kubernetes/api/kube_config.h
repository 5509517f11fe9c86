/*
 * Address and credentials of the API server. They come from kubeconfig files, from the files in a pod, and from the
 * keys spark.kubernetes.authenticate.*, in the order of Spark's client factory.
 *
 *      r = kube_config_from_conf(conf, KUBE_SUBMISSION, master, &config, error);
 *
 * 1. The files in KUBECONFIG (separated by ":"), or ~/.kube/config. They are merged as in kubectl: the first file that
 * has an entry wins. The context is spark.kubernetes.context, or the current one.
 * 2. Without such files: the token, certificate and namespace mounted into a pod.
 * 3. The master URL and the keys <prefix>.{caCertFile,clientKeyFile,clientCertFile,oauthToken,oauthTokenFile},
 *    spark.kubernetes.trust.certificates and the timeouts of the client's kind override these.
 *
 * No message and no result of kube_config_describe contains a secret.
 */
#pragma once

#include <firesteel/context.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

/* The kind of client, which selects the keys and timeouts. */
enum kube_client_kind {
        KUBE_SUBMISSION,    /* spark.kubernetes.authenticate.submission, spark.kubernetes.submission.*Timeout */
        KUBE_CLIENT_DRIVER, /* spark.kubernetes.authenticate, spark.kubernetes.driver.*Timeout */
        KUBE_POD_DRIVER,    /* spark.kubernetes.authenticate.driver.mounted: a driver in a pod */
};

/* A program that prints credentials (client.authentication.k8s.io). */
struct kube_exec {
        char *command;     /* as passed to exec; absolute if the file gives a path */
        char **arguments;  /* without the command; NULL-terminated */
        char **env;        /* "NAME=value", added to this process's environment; NULL-terminated */
        char *api_version; /* "client.authentication.k8s.io/v1" */
        char *install_hint;
        bool cluster_info; /* pass the cluster's data to the program */
};

/* Absent values are NULL. Data fields hold PEM text. Where both are possible, a file path is set. */
struct kube_config {
        char *server;              /* "https://10.0.0.1:6443", without a trailing slash */
        char *namespace;           /* of the context or the pod, else "default"; never NULL */
        bool namespace_is_default; /* no source names one */
        char *context;             /* its name if it comes from a file */
        char *ca_file, *ca_data;
        char *cert_file, *cert_data, *key_file, *key_data;
        char *token, *token_file; /* read again for each request; wins over token */
        char *user, *password;
        struct kube_exec *exec;
        char *tls_server_name, *proxy_url;
        bool insecure;      /* accept any certificate */
        char **impersonate; /* "Impersonate-User: x" …; NULL-terminated */
        int64_t request_timeout_ms, connect_timeout_ms;
};

#define KUBE_CONFIG_INIT ((struct kube_config){0})

void kube_config_deinit(struct kube_config *c);

/* Copies the fields that kube_exec_run needs to @out, which the caller deinits. @from must have a program. */
void kube_config_copy_exec(const struct kube_config *from, struct kube_config *out);

/*
 * Reads the configuration as described above. @master is "k8s://…" or the part after it. Connects to nothing, so an
 * unreachable server, or @master NULL or "k8s://https://kubernetes.default.svc", is not an error here. Returns 0, or
 * negative with @error: -EINVAL for an invalid file, an unknown context or two tokens; open(2)'s code for a named file
 * that is unreadable.
 */
int kube_config_from_conf(const struct fst_conf *conf, enum kube_client_kind kind, const char *master,
                          struct kube_config *out, struct fst_error *error);

/* Locations of the files. Tests use other ones than the environment's and a pod's. */
struct kube_places {
        const char *kubeconfig;                  /* KUBECONFIG; NULL or "": home's */
        const char *home;                        /* HOME */
        const char *service_account;             /* "/var/run/secrets/kubernetes.io/serviceaccount" */
        const char *service_host, *service_port; /* KUBERNETES_SERVICE_HOST, _PORT */
};

/* The locations of this process. Borrowed from the environment. */
struct kube_places kube_places_here(void);

/* Steps 1 and 2 only. @context NULL or "": the current one. */
int kube_config_read(const struct kube_places *places, const char *context, struct kube_config *out,
                     struct fst_error *error);

/*
 * The same for a program that needs a server, at the locations of this process. @kubeconfig: the flag --kubeconfig, which
 * wins over KUBECONFIG; NULL or "": none. Also -EINVAL if no server is named.
 */
int kube_config_read_here(const char *kubeconfig, struct kube_config *out, struct fst_error *error);

/* Reads the text of one kubeconfig file. Paths in it are relative to @folder. For tests and the fuzzer. */
int kube_config_parse(const char *text, size_t len, const char *folder, const char *context, struct kube_config *out,
                      struct fst_error *error);

/* Whether both reach the same server in the same way as the same user. */
bool kube_config_same(const struct kube_config *a, const struct kube_config *b);

/*
 * Returns the URL of "k8s://host:6443", "host:6443" or "https://host/", with https:// by default. The caller owns it.
 */
char *kube_server_of_master(const char *master);

/* Returns "https://10.0.0.1:6443, context kind-x, client certificate" for the log. The caller owns it. */
char *kube_config_describe(const struct kube_config *c);
