/* The submission_class for REST servers: those of standalone masters, and Mesos dispatchers. */
#pragma once

#include "submit/api/submitter.h"

extern const struct submission_class rest_submission_class;
