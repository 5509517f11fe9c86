/*
 * The executor manager of coarse-grained mode: each executor is a Mesos task that runs as long as the application wants
 * it. The shell around offers/coarse_offers.h.
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
int coarse_manager_new(struct fst_context *sc, struct mesos_application *application, struct executor_manager **out,
                       struct fst_error *error);
