/*
 * Fetches new delegation tokens before those of an application expire, on a thread of its own: with the keytab of
 * spark.kerberos.principal, or with the user's ticket cache (spark.kerberos.renewal.credentials=ccache).
 *
 *      r = token_renewer_new(loop, conf, yarn_conf, on_tokens, owner, &renewer, error);
 *      token_renewer_close(renewer);
 *
 * Behaviour: as Spark's HadoopDelegationTokenManager. The first tokens are fetched at once, the next ones when
 * spark.security.credentials.renewalRatio of the interval has passed, after which a token must be renewed. If this
 * fails, the next attempt follows after spark.security.credentials.retryWait. Every spark.kerberos.relogin.period the
 * ticket is looked at, and replaced once 80 % of its time have passed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct fst_conf;
struct fst_error;
struct token_renewer;
struct yarn_conf;

/* Runs on the loop's thread with new tokens as a stream of credentials (hadoop/credentials.h). */
typedef void (*token_renewer_done)(void *owner, const void *stream, size_t len);

/* Whether tokens are renewed: the cluster has Kerberos, and there is a keytab or a ticket for it. Returns 0, or -EINVAL
 * with @error. */
int token_renewer_wanted(const struct fst_conf *conf, const struct yarn_conf *yarn, bool *out, struct fst_error *error);

/* Starts the thread. @conf and @yarn are copied. Returns 0, or negative with @error. */
int token_renewer_new(uv_loop_t *loop, const struct fst_conf *conf, const struct yarn_conf *yarn,
                      token_renewer_done done, void *owner, struct token_renewer **out, struct fst_error *error);

/* Ends it: @done is not called any more. The memory is released when the loop has run, and the thread has ended. NULL
 * is allowed. */
void token_renewer_close(struct token_renewer *renewer);
