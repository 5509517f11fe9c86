/*
 * Delegation tokens of an application on a cluster with Kerberos: containers have no tickets, so the client fetches
 * tokens of the file systems with its own, and sends them in the containers' credentials.
 *
 *      r = delegation_tokens_of_submission(conf, yarn, getenv("HADOOP_TOKEN_FILE_LOCATION"), &credentials, error);
 *      r = delegation_tokens_fetch(conf, yarn, &credentials, error);        later, again
 *
 * Behaviour: Spark's HadoopDelegationTokenManager with its provider "hadoopfs". The file systems are fs.defaultFS, that
 * of spark.yarn.stagingDir, and spark.kerberos.access.hadoopFileSystems or else each of dfs.nameservices; those
 * without tokens are left out. The ResourceManager renews the tokens, except those of
 * spark.kerberos.renewal.exclude.hadoopFileSystems.
 *
 * Differs from Spark: if a file system gives no token, the submission fails; with Spark, its containers do.
 *
 * All functions block, and use the calling thread's ticket (net/kerberos.h).
 */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct hadoop_credentials;
struct yarn_conf;

/* Whether there are tokens: the cluster has Kerberos, and spark.security.credentials.hadoopfs.enabled. Returns 0, or
 * -EINVAL with @error. */
int delegation_tokens_wanted(const struct fst_conf *conf, const struct yarn_conf *yarn, bool *out,
                             struct fst_error *error);

/*
 * Fills @out for a submission: the tokens in @file (NULL: no file), and new ones if there is a Kerberos ticket. Without
 * Kerberos only those in @file. Returns 0; -EACCES with @error if there is neither a ticket nor a token; or negative
 * with @error.
 */
int delegation_tokens_of_submission(const struct fst_conf *conf, const struct yarn_conf *yarn, const char *file,
                                    struct hadoop_credentials *out, struct fst_error *error);

/* Fetches tokens of all file systems into @out; they replace those of the same service. Returns 0, or negative with
 * @error. */
int delegation_tokens_fetch(const struct fst_conf *conf, const struct yarn_conf *yarn, struct hadoop_credentials *out,
                            struct fst_error *error);

/*
 * How long a token is valid until it must be renewed, in ms: the shortest of all file systems. Fetches tokens that this
 * user may renew, as Spark does. Leaves out file systems that do not renew them, with a warning. Returns 0, or negative
 * with @error; -ENODATA if no file system renews a token.
 */
int delegation_tokens_interval(const struct fst_conf *conf, const struct yarn_conf *yarn, int64_t *out,
                               struct fst_error *error);

/* When the oldest token of a file system was issued, in ms since 1970; INT64_MAX: there is none. */
int64_t delegation_tokens_issued(const struct hadoop_credentials *credentials);

/* Appends the roots of the file systems, "hdfs://host:port/", to @out. Returns 0, or -EINVAL with @error. */
int delegation_tokens_roots(const struct fst_conf *conf, const struct yarn_conf *yarn, struct string_list *out,
                            struct fst_error *error);

/*
 * The principal that renews the tokens, owned by the caller: yarn.resourcemanager.principal with the ResourceManager's
 * host for _HOST. NULL with @error if it is not set.
 */
char *delegation_tokens_renewer(const struct yarn_conf *yarn, struct fst_error *error);
