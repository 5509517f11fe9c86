/*
 * The drivers of clusters, by whichever way a submission has prepared for: a master's REST server or a Mesos
 * dispatcher (rest_client.h), or the legacy gateway of a standalone master (gateway_client.h). Answers have one form,
 * that of REST.
 *
 *      struct cluster_client c = {.stopped = &stopped};
 *      r = cluster_client_submit(&c, &submission, &answer, &error);
 *      …
 *      struct cluster_place place = cluster_place_of(&submission);
 *      r = cluster_client_status(&c, &place, answer.submission_id, &answer, &error);
 *      cluster_client_deinit(&c);
 *
 * The connections to one master are kept until another one is asked. One thread at a time; all functions block.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct gateway_client;
struct rest_answer;
struct rest_client;
struct strmap;
struct submission;

struct cluster_client {
        const int *stopped; /* atomic: calls end early with -ECANCELED once it is not 0. NULL: they do not */

        struct rest_client *rest;
        struct gateway_client *gateway;
        char *rest_master, *gateway_master; /* whose they are; the latter with the settings of its connections */
};

void cluster_client_deinit(struct cluster_client *c);

/* Where drivers are. All is borrowed. */
struct cluster_place {
        const char *master;
        bool gateway;
        const struct strmap *conf; /* secrets and timeouts of connections */
};

/* Of what was prepared for a cluster. */
struct cluster_place cluster_place_of(const struct submission *s);

/*
 * Submit what was prepared for RestSubmissionClientApp or ClientApp. 0 with *@answer (REST_ANSWER_INIT before), which
 * may be a refusal; FST_REST_E_NO_SERVER when a standalone master was no REST server, so that the caller prepares again
 * with submission.force_legacy; or negative with @error: -ENOTCONN nobody is there, -ENOTSUP there is no such way,
 * -EAGAIN no master leads now, others as the clients have them.
 */
int cluster_client_submit(struct cluster_client *c, const struct submission *s, struct rest_answer *answer,
                          struct fst_error *error);

/* 0 with *@answer, which says whether the driver is known, or negative with @error, as above. */
int cluster_client_kill(struct cluster_client *c, const struct cluster_place *place, const char *id,
                        struct rest_answer *answer, struct fst_error *error);
int cluster_client_status(struct cluster_client *c, const struct cluster_place *place, const char *id,
                          struct rest_answer *answer, struct fst_error *error);
