/* The file system of local files. */
#pragma once

#include "io/fs/file_system.h"

struct fst_conf;

/*
 * Sets how files that are opened afterwards are read, in the whole process: whether blocks are read ahead if the page
 * cache does not have them (the default), and whether reads pass by the page cache (O_DIRECT; not the default). File
 * systems that refuse O_DIRECT are read through the page cache, with one warning. Any thread.
 */
void local_fs_configure(bool ahead, bool direct);

/* Does so as spark.firesteel.io.readAhead and spark.firesteel.io.direct say, and configures io/ahead/drop_behind.h.
 * Returns -EINVAL with key and value. */
int local_fs_read_conf(const struct fst_conf *conf, struct fst_error *error);

extern const struct file_system local_fs;
