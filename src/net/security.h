/*
 * What processes of an application must prove to one another before they exchange a byte.
 *
 * Nothing by default. With spark.authenticate: that they know the application's secret, by TLS 1.3 with an external
 * pre-shared key, always together with an ephemeral Diffie-Hellman exchange and without early data. The key is not
 * the secret but derived from it (HKDF-SHA-256) for one application and one purpose, as RFC 9257 asks. With
 * spark.ssl.rpc.enabled alone: certificates, PEM files or PKCS#12 stores. Everything is encrypted in both cases.
 *
 * The secret is spark.authenticate.secret, or what the environment's _SPARK_AUTH_SECRET says, or the content of
 * spark.authenticate.secret.file (.driver.file, .executor.file where those are set).
 *
 * Made once for a process, read by all threads.
 */
#pragma once

struct fst_conf;
struct fst_error;
struct security;

/* Whose files and settings apply: spark.authenticate.secret.driver.file or .executor.file. */
enum security_role { SECURITY_DRIVER, SECURITY_EXECUTOR };

/*
 * Read what @conf asks for. *@out is NULL if that is nothing. @app_id is bound into the key: both sides must give the
 * same. A secret of less than 128 bits is used, with a warning in the log. 0, or negative with @error set: no secret,
 * a file that cannot be read, a certificate that does not fit its key, the crypto module is missing.
 */
int security_new(const struct fst_conf *conf, const char *app_id, enum security_role role, struct security **out,
                 struct fst_error *error);

/*
 * The same proof bound to another purpose ("rpc", "transfer"): what was said on a channel of one purpose is of no
 * use on one of another. *@out is NULL if @security is. Freed with security_free before @security is.
 */
int security_for(const struct security *security, const char *purpose, struct security **out, struct fst_error *error);

/* Channels made from it must be gone. NULL is allowed. */
void security_free(struct security *security);

/* "pre-shared key", "certificates"; "none" for NULL: for log lines. */
const char *security_name(const struct security *security);

/*
 * A new secret of spark.authenticate.secretBitLength bits as hexadecimal text, for an application whose cluster
 * manager makes none (local-cluster, YARN, Kubernetes). The caller owns it and passes it on by the environment's
 * _SPARK_AUTH_SECRET or a file, never on a command line. 0, or negative with @error set.
 */
int security_make_secret(const struct fst_conf *conf, char **out, struct fst_error *error);
