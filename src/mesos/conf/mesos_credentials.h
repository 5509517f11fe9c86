/*
 * How a framework proves who it is to Mesos, and TLS to the masters.
 *
 * Principal and secret come from spark.mesos.principal and .secret, else SPARK_MESOS_PRINCIPAL and SPARK_MESOS_SECRET,
 * else the files that spark.mesos.principal.file and .secret.file name, else those of SPARK_MESOS_PRINCIPAL_FILE and
 * SPARK_MESOS_SECRET_FILE. The API takes them by basic authentication. TLS has the variables of Mesos's own library:
 *
 *      LIBPROCESS_SSL_ENABLED=true|1
 *      LIBPROCESS_SSL_CA_FILE                   PEM; otherwise the system's certificates
 *      LIBPROCESS_SSL_CERT_FILE, _KEY_FILE      PEM: this process's own
 *      LIBPROCESS_SSL_VERIFY_SERVER_CERT=false  accept any certificate
 */
#pragma once

#include <stdbool.h>

struct fst_conf;
struct fst_error;

struct mesos_credentials {
        char *principal; /* NULL: none */
        char *secret;    /* NULL: none */
        bool tls, verify;
        char *ca_file, *cert_file, *key_file; /* NULL: none */
};

/*
 * Reads them from @conf and the variables that @environment returns (conf_environment, or a test's). Returns 0, a
 * negative status with @error for a file that cannot be read, or -EINVAL with @error for a secret without a principal.
 * The caller releases *@out.
 */
int mesos_credentials_read(const struct fst_conf *conf, const char *(*environment)(const char *name),
                           struct mesos_credentials *out, struct fst_error *error);

/* Overwrites the secret. */
void mesos_credentials_deinit(struct mesos_credentials *credentials);
