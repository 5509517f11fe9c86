/*
 * The connection over which the submissions of a process reach one ResourceManager without waiting for each other:
 * ids of new applications are asked for before they are needed, and a submission that was sent does not hold its worker
 * until the ResourceManager has answered.
 *
 *      r = submission_pipeline_join(cluster, &pipeline, error);
 *      r = submission_pipeline_take_id(pipeline, others, stopped, &created, error);
 *      submission_pipeline_send(pipeline, &request, done, owner);               → done(owner, &result)
 *      submission_pipeline_leave(pipeline);                                     the last one closes the connection
 *
 * Any thread may call these functions.
 */
#pragma once

#include "hadoop/rpc_client.h"
#include "yarn/protocol/yarn.pb-c.h"

struct fst_error;
struct submission_pipeline;
struct yarn_cluster;

/* The pipeline of a shared @cluster, which it holds a reference to. Returns 0, or negative with @error. */
int submission_pipeline_join(struct yarn_cluster *cluster, struct submission_pipeline **out, struct fst_error *error);

/* Not from `done`. NULL is allowed. */
void submission_pipeline_leave(struct submission_pipeline *p);

/*
 * Waits for the id of a new application, and until the ResourceManager has answered most of the submissions. @others:
 * so many submissions will soon ask, too. Returns 0 and *@out, which the caller frees; negative with @error if the
 * ResourceManager gives none, or -EINTR once the atomic *@stopped is nonzero.
 */
int submission_pipeline_take_id(struct submission_pipeline *p, size_t others, const int *stopped,
                                Firesteel__Yarn__GetNewApplicationResponse **out, struct fst_error *error);

/* Takes over @request (yarn_rm_pack_submission). `done` runs exactly once, on the pipeline's thread. */
void submission_pipeline_send(struct submission_pipeline *p, struct buf *request, hadoop_rpc_done done, void *owner);
