/* Authentication and encryption between processes of an application.
 *
 * None by default. With spark.authenticate processes prove that they know the application's secret, by TLS 1.3 with
 * an external pre-shared key, always together with an ephemeral Diffie-Hellman exchange and without early data. The
 * key is derived from the secret (HKDF-SHA-256) for one application and one purpose, as RFC 9257 requires. With
 * spark.ssl.rpc.enabled alone they use certificates, from PEM files or PKCS#12 stores. Both encrypt everything.
 *
 * The secret is spark.authenticate.secret, or the environment's _SPARK_AUTH_SECRET, or the content of
 * spark.authenticate.secret.file (.driver.file, .executor.file where those are set).
 *
 * Created once in a process, read by all threads.
 */
#pragma once

#include <stdint.h>

struct fst_conf;
struct fst_error;
struct security;

/* Selects spark.authenticate.secret.driver.file or .executor.file. */
enum security_role { SECURITY_DRIVER, SECURITY_EXECUTOR };

/* Reads @conf. *@out is NULL if no security is configured. @app_id is bound into the key: both sides must pass the
 * same. Accepts a secret of less than 128 bits with a warning. Returns 0, or negative with @error: no secret, an
 * unreadable file, a certificate that does not match its key, a missing crypto module.
 */
int security_new(const struct fst_conf *conf, const char *app_id, enum security_role role, struct security **out,
                 struct fst_error *error);

/* Binds the proof to another purpose ("rpc", "transfer"): data of a channel of one purpose is useless on one of
 * another. *@out is NULL if @security is. Free it before @security.
 */
int security_for(const struct security *security, const char *purpose, struct security **out, struct fst_error *error);

/* All its channels must be freed. NULL is allowed. */
void security_free(struct security *security);

/* For tests: "pre-shared key", "certificates"; "none" for NULL: for log lines. */
const char *security_name(const struct security *security);

/* Makes a secret of spark.authenticate.secretBitLength bits as hexadecimal text, for an application whose cluster
 * manager makes none (local-cluster, YARN, Kubernetes). The caller owns it and must pass it on by the environment's
 * _SPARK_AUTH_SECRET or a file, never on a command line. Returns 0, or negative with @error.
 */
int security_make_secret(const struct fst_conf *conf, char **out, struct fst_error *error);

#define SECURITY_DERIVED_SIZE 32

/* Derives a secret for another purpose from that of spark.authenticate, by HKDF-SHA-256: it does not reveal the
 * application's secret, if this has enough random bits. @purpose names one use of one application. Returns 0, or
 * negative with @error: no secret, an unreadable file, a missing crypto module.
 */
int security_derive(const struct fst_conf *conf, enum security_role role, const char *purpose,
                    uint8_t out[static SECURITY_DERIVED_SIZE], struct fst_error *error);
