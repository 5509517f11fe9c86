/* The submission_class of YARN: submits, follows and kills applications for the library (firesteel/submit.h). */
#pragma once

#include "submit/api/submitter.h"

extern const struct submission_class yarn_submission_class;
