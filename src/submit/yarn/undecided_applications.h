/*
 * Which applications of a user the ResourceManager has received but neither accepted nor refused yet. Many submissions
 * of one process share the answer to one getApplications, instead of a getApplicationReport of each of them.
 *
 *      struct undecided_applications *u = undecided_applications_join(owner);      a submission was sent
 *      if (!undecided_applications_has(u, rm, id, sent_ns))
 *              … ask for the application's own report …
 *      undecided_applications_leave(u);                                           the ResourceManager has decided
 *
 * Any thread may call these functions; @rm belongs to the caller.
 */
#pragma once

#include "yarn/protocol/yarn_ids.h"

struct hadoop_rpc_client;
struct undecided_applications;

/* The applications of one cluster and user, named by @owner (yarn_cluster_owner). NULL if @owner is NULL. */
struct undecided_applications *undecided_applications_join(const char *owner);
void undecided_applications_leave(struct undecided_applications *u); /* NULL is allowed */

/*
 * Whether the application @id, which was submitted before @sent_ns (now_ns), waits for a decision. Calls the
 * ResourceManager if the last answer is older than UNDECIDED_AGE_MS. False means that only the application's report can
 * tell: it is decided or unknown, the call failed, or so few submissions take part that a report of each is cheaper.
 */
bool undecided_applications_has(struct undecided_applications *u, struct hadoop_rpc_client *rm,
                                struct yarn_application_id id, int64_t sent_ns);

#define UNDECIDED_AGE_MS 50
#define UNDECIDED_MIN_MEMBERS 4 /* with fewer submissions each one asks for its own report */
