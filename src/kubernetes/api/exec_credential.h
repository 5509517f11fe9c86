/*
 * Runs credential programs (`exec` of a kubeconfig file, client.authentication.k8s.io). The program gets no input and
 * prints an ExecCredential.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

struct http_request;

struct kube_credential {
        char *token;
        char *cert_data, *key_data;
        int64_t expires; /* seconds since 1970; 0: never */
};

void kube_credential_deinit(struct kube_credential *c);

#define KUBE_EXEC_TIMEOUT_MS 60000

/*
 * Reads the token to send: that of the file, which may have changed, else of @config, else of the program. *@token is
 * NULL without one; the caller owns it. Negative with @error if the file cannot be read.
 */
int kube_credential_read_token(const struct kube_config *config, const struct kube_credential *credential, char **token,
                               struct fst_error *error);

/* Sets proxy, time to connect, trust and client certificate of a request to the server of @config. Borrows from both.
 */
void kube_credential_set_connection(const struct kube_config *config, const struct kube_credential *credential,
                                    struct http_request *request);

/*
 * Runs the program of @config and reads its output within @timeout_ms. Blocks. Any thread. Returns 0 or a negative
 * code: -ENOENT if the program is missing, -ECANCELED if it failed, -ETIMEDOUT, -EINVAL for invalid output. @error
 * holds the end of its standard error, and the file's install hint if there is one.
 */
int kube_exec_run(const struct kube_config *config, int timeout_ms, struct kube_credential *out,
                  struct fst_error *error);

/* Parses "2026-11-22T10:30:00Z" as seconds since 1970. Returns -1 for an invalid time. */
int64_t kube_time_parse(const char *text);
