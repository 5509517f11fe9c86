/*
 * Credentials from a program (`exec` of a kubeconfig file, client.authentication.k8s.io): it is run without input, and
 * prints an ExecCredential.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

struct kube_credential {
        char *token;
        char *cert_data, *key_data;
        int64_t expires; /* seconds since 1970; 0: never */
};

void kube_credential_deinit(struct kube_credential *c);

#define KUBE_EXEC_TIMEOUT_MS 60000

/*
 * Run @config's program and read what it prints; waits for at most @timeout_ms. Any thread. Negative with @error, which
 * has the last of what it wrote to its standard error, and how to install it if the file says so: -ENOENT no such
 * program, -ECANCELED it failed, -ETIMEDOUT, -EINVAL for what it printed.
 */
int kube_exec_run(const struct kube_config *config, int timeout_ms, struct kube_credential *out,
                  struct fst_error *error);

/* "2026-11-22T10:30:00Z" as seconds since 1970; -1 if it is no such time. */
int64_t kube_time_parse(const char *text);
