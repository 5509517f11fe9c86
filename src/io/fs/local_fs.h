/* Local files as a file system. */
#pragma once

#include "io/fs/file_system.h"

extern const struct file_system local_fs;
