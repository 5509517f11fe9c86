/*
 * A client for cluster-mode drivers. It uses the way that the submission was prepared for: a master's REST server or a
 * Mesos dispatcher (rest_client.h), or a standalone master's legacy gateway (legacy_client.h). Replies have the form of
 * REST's.
 *
 *      struct cluster_client c = {.stopped = &stopped};
 *      r = cluster_client_submit(&c, &submission, &answer, &error);
 *      …
 *      struct cluster_place place = cluster_place_of(&submission);
 *      r = cluster_client_status(&c, &place, answer.submission_id, &answer, &error);
 *      cluster_client_deinit(&c);
 *
 * Connections to a master stay open until a call names another master. One thread at a time. All functions block.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct legacy_client;
struct rest_answer;
struct rest_client;
struct strmap;
struct submission;

struct cluster_client {
        const int *stopped; /* atomic; nonzero makes calls end early with -ECANCELED; may be NULL */

        struct rest_client *rest;
        struct legacy_client *gateway;
        char *rest_master,
                *legacy_masters; /* the masters of the two clients; the latter includes its connection settings */
};

void cluster_client_deinit(struct cluster_client *c);

/* Where a driver was submitted to. All members are borrowed. */
struct cluster_place {
        const char *master;
        bool gateway;
        const struct strmap *conf; /* secrets and timeouts of connections */
};

/* The cluster that @s was prepared for. */
struct cluster_place cluster_place_of(const struct submission *s);

/*
 * Submits what was prepared for RestSubmissionClientApp or ClientApp. Returns 0 with *@answer (REST_ANSWER_INIT
 * before), which may be a refusal. Returns FST_REST_E_NO_SERVER if a standalone master has no REST server: the caller
 * then prepares again with submission.force_legacy. Returns negative with @error: -ENOTCONN no master is reachable,
 * -ENOTSUP the way is not supported, -EAGAIN no master leads now, others as in the two clients.
 */
int cluster_client_submit(struct cluster_client *c, const struct submission *s, struct rest_answer *answer,
                          struct fst_error *error);

/* Returns 0 with *@answer, which says whether the driver is known, or negative with @error, as above. */
int cluster_client_kill(struct cluster_client *c, const struct cluster_place *place, const char *id,
                        struct rest_answer *answer, struct fst_error *error);
int cluster_client_status(struct cluster_client *c, const struct cluster_place *place, const char *id,
                          struct rest_answer *answer, struct fst_error *error);
