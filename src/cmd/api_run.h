/*
 * The summary of a run that a driver or a history server serves, for comparisons (status/comparison.h).
 */
#pragma once

#include "status/comparison.h"

struct fst_error;

/*
 * Asks /api/v1 at @url, the address of a driver or of an application of a history server. The caller calls
 * run_summary_deinit. What limited a stage comes from servers of Firesteel only. Returns 0, or negative with @error, as
 * api_site_open; @run is untouched then.
 */
int api_run_summary(const char *url, struct run_summary *run, struct fst_error *error);
