/*
 * The executor manager of fine-grained mode: each task of Spark is a Mesos task, and one executor on each agent runs
 * them. The shell around offers/fine_offers.h.
 */
#pragma once

struct executor_manager;
struct fst_context;
struct fst_error;
struct mesos_application;

/*
 * Takes the content of @application. Returns 0 and *@out, which the caller owns, or -EINVAL with @error and
 * @application unchanged.
 */
int fine_manager_new(struct fst_context *sc, struct mesos_application *application, struct executor_manager **out,
                     struct fst_error *error);
