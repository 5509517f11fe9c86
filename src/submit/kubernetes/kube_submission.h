/* The submission_class of Kubernetes: launches, follows and kills drivers on the loop's thread. */
#pragma once

#include "submit/api/submitter.h"

extern const struct submission_class kube_submission_class;
