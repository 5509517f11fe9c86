/*
 * Compacts the older files of a rolling event log into one that has the events of live jobs, stages, tasks and
 * executors only (events/event_filter.h), as Spark's EventLogFileCompactor does. Genuine Spark reads such a log, and
 * this program reads those that genuine Spark compacted.
 */
#pragma once

#include "events/event_files.h"

struct history_compactor_options {
        size_t max_files; /* that are not compacted; 0: all */
        double threshold; /* of event_filter_score */
        size_t max_line;
};

enum history_compaction { HISTORY_COMPACTION_DONE, HISTORY_COMPACTION_FEW_FILES, HISTORY_COMPACTION_LOW_SCORE };

/* Returns true if the log has more files than stay uncompacted. */
bool history_compactor_wants(const struct history_compactor_options *options, const struct event_log_info *log);

/*
 * Writes the compacted file under a hidden name, renames it, and then removes the files that it replaces: a process
 * that is killed on the way leaves a log that can be read. Blocks. Returns 0 and *@result, or negative with @error, and
 * then the log is as before.
 */
int history_compactor_run(const struct history_compactor_options *options, const struct file_system *fs,
                          const struct event_log_info *log, enum history_compaction *result, struct fst_error *error);
