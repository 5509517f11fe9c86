/*
 * Hadoop's credentials: delegation tokens and secrets, as `HADOOP_TOKEN_FILE_LOCATION` names them in a file and as a
 * container's launch context carries them.
 *
 *      _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
 *      r = hadoop_credentials_load(&c, getenv("HADOOP_TOKEN_FILE_LOCATION"), error);
 *      const struct hadoop_token *t = hadoop_credentials_find(&c, "YARN_AM_RM_TOKEN", NULL);
 *
 * The stream is "HDTS", the version 0, then tokens and secrets in Hadoop's variable-length integers
 * (org.apache.hadoop.security.Credentials).
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

/* Tokens are small; a larger file is refused. */
#define HADOOP_CREDENTIALS_MAX_SIZE ((size_t)16 << 20)

/* The key of the secret of spark.authenticate in an application's credentials (Spark's SecurityManager). */
#define HADOOP_SECRET_OF_SPARK "sparkCookie"

/* All members are owned. */
struct hadoop_token {
        char *alias; /* the key in the credentials: a service for most, "" for YARN's own */
        struct buf identifier, password;
        char *kind;    /* "HDFS_DELEGATION_TOKEN" */
        char *service; /* "127.0.0.1:9000", "ha-hdfs:name", or "" */
};

struct hadoop_secret {
        char *alias;
        struct buf value;
};

struct hadoop_credentials {
        VEC(struct hadoop_token) tokens;
        VEC(struct hadoop_secret) secrets;
};

void hadoop_credentials_deinit(struct hadoop_credentials *c);

/*
 * Adds what the @len bytes of a stream hold; a token or secret replaces the one with the same alias. Returns 0, or
 * -EBADMSG with @error for a damaged stream, which adds nothing; -ENOTSUP for version 1, which only Hadoop's dtutil
 * writes.
 */
int hadoop_credentials_read(struct hadoop_credentials *c, const void *data, size_t len, struct fst_error *error);

/* Reads the stream in a file. As hadoop_credentials_read, or -errno with @error naming the file. */
int hadoop_credentials_load(struct hadoop_credentials *c, const char *path, struct fst_error *error);

/* Appends the stream to @out. */
void hadoop_credentials_write(const struct hadoop_credentials *c, struct buf *out);

/* The first token of @kind for @service (NULL: for any), or NULL. Borrowed until the credentials change. */
const struct hadoop_token *hadoop_credentials_find(const struct hadoop_credentials *c, const char *kind,
                                                   const char *service);

/* The value of a secret, or NULL. Borrowed. */
const struct buf *hadoop_credentials_secret(const struct hadoop_credentials *c, const char *alias);

/* Adds a copy of @token or a secret; it replaces the one with the same alias. */
void hadoop_credentials_add(struct hadoop_credentials *c, const struct hadoop_token *token);
void hadoop_credentials_add_secret(struct hadoop_credentials *c, const char *alias, const void *value, size_t len);

/* Frees the secrets and overwrites their bytes. The tokens stay. */
void hadoop_credentials_forget_secrets(struct hadoop_credentials *c);

/* The content of the identifier of a delegation token of a file system. Strings are owned. */
struct hadoop_token_identifier {
        char *owner, *renewer, *real_user; /* real_user is "" unless somebody acts for the owner */
        int64_t issued_ms, max_ms;         /* since 1970; after max_ms the token cannot be renewed */
};

/* Reads it. Returns 0, or -EBADMSG if it is of another form (the tokens of YARN are). */
int hadoop_token_identify(const struct hadoop_token *token, struct hadoop_token_identifier *out);
void hadoop_token_identifier_deinit(struct hadoop_token_identifier *identifier);

void hadoop_token_deinit(struct hadoop_token *token);
void hadoop_token_copy(const struct hadoop_token *token, struct hadoop_token *out);

/*
 * A token as one word, the form of Hadoop's Token.encodeToUrlString that WebHDFS answers and REST submissions carry:
 * the token's fields in base64 with "-" and "_", without padding. hadoop_token_from_text fills @out, without alias, and
 * returns 0, or -EBADMSG with @error.
 */
char *hadoop_token_to_text(const struct hadoop_token *token);
int hadoop_token_from_text(const char *text, struct hadoop_token *out, struct fst_error *error);

/* Overwrites and frees such a word, or a text that contains one. NULL is allowed. */
void hadoop_token_text_free(char *text);
static inline void hadoop_token_text_freep(char **text)
{
        hadoop_token_text_free(*text);
}
