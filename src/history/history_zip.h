/* Puts event logs into an archive, for /api/v1/applications/ID/logs. */
#pragma once

#include "events/event_files.h"
#include "io/codec/zip_file.h"

struct file_system;

/*
 * Writes @log as it lies in its directory: a file, or a directory with its files. Returns 0 or a negative code with
 * @error; the archive is then incomplete.
 */
int history_zip_log(const struct file_system *fs, const struct event_log_info *log, struct zip_writer *zip,
                    struct fst_error *error);
