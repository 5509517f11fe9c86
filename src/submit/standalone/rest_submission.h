/* What the library does for drivers that a REST server takes: of standalone masters, and of Mesos dispatchers. */
#pragma once

#include "submit/api/submitter.h"

extern const struct submission_class rest_submission_class;
