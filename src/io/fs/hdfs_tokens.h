/*
 * Delegation tokens of HDFS: those of this process, which prove its user to WebHDFS in place of a Kerberos ticket, and
 * requests for new ones.
 *
 *      hdfs_tokens_add(&credentials);                          from now on; every request of this process
 *      r = hdfs_token_fetch(remote, "hdfs://depot/x", "rm/host@REALM", &token, error);
 *
 * At first the tokens are those in the file that HADOOP_TOKEN_FILE_LOCATION names, as in a container of YARN. A token
 * belongs to a service: "ha-hdfs:NAME" for a nameservice, else the address of the namenode's RPC. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct hadoop_conf;
struct hadoop_credentials;
struct hadoop_token;
struct remote_fs;

/* The kinds of tokens, by the scheme of a path: hdfs, webhdfs, swebhdfs. */
#define HDFS_TOKEN "HDFS_DELEGATION_TOKEN"
#define WEBHDFS_TOKEN "WEBHDFS delegation"
#define SWEBHDFS_TOKEN "SWEBHDFS delegation"

/* Adds copies of the tokens in @credentials to those of this process. A token replaces the one with the same alias. */
void hdfs_tokens_add(const struct hadoop_credentials *credentials);

/*
 * From now on, processes that this one forks see the tokens of later calls of hdfs_tokens_add, too: those of a task
 * process are replaced while it runs. The caller has no other threads yet.
 */
void hdfs_tokens_share(void);

/* For tests: the tokens are again those of the environment. */
void hdfs_tokens_reset(void);

/* The token for @path as one word (hadoop_token_to_text), owned by the caller, or NULL. With a proxy user, only a token
 * of that user. */
char *hdfs_tokens_find(const struct hadoop_conf *conf, const char *path);

/* The service of the tokens for @path, owned by the caller; *@kind is their kind. NULL if @path has no tokens. */
char *hdfs_token_service(const struct hadoop_conf *conf, const char *path, const char **kind);

/*
 * Gets a token for the file system of @path with the thread's Kerberos ticket. @renewer, a principal or a user, may
 * renew it; "": none. Blocks. Returns 0 and @token, owned by the caller; -ENODATA without @error if the file system
 * has no tokens; or negative with @error.
 */
int hdfs_token_fetch(struct remote_fs *remote, const char *path, const char *renewer, struct hadoop_token *token,
                     struct fst_error *error);

/* Renews a token of which the thread's user is the renewer. Returns 0 and its new expiry in ms since 1970, or negative
 * with @error. Blocks. */
int hdfs_token_renew(struct remote_fs *remote, const char *path, const struct hadoop_token *token, int64_t *expires_ms,
                     struct fst_error *error);

/* Cancels a token that the thread's user owns or may renew. Returns 0, or negative with @error. Blocks. */
int hdfs_token_cancel(struct remote_fs *remote, const char *path, const struct hadoop_token *token,
                      struct fst_error *error);
