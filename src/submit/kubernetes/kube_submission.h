/* What the library does for drivers in Kubernetes: launched, followed and killed on the loop's thread. */
#pragma once

#include "submit/api/submitter.h"

extern const struct submission_class kube_submission_class;
