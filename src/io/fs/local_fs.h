/* The file system of local files. */
#pragma once

#include "io/fs/file_system.h"

extern const struct file_system local_fs;
