/* The submission_class for REST servers: those of standalone masters, and Mesos dispatchers. */
#pragma once

#include "submit/api/submitter.h"

struct fst_error;
struct rest_answer;
struct rest_client;
struct submission;

extern const struct submission_class rest_submission_class;

/* Sends the creation of @s, whose arguments begin with resource and main class. Returns as rest_client_create. */
int rest_submission_create(struct rest_client *client, const struct submission *s, struct rest_answer *answer,
                           struct fst_error *error);
