/* An executor's directories and codecs for data that does not fit into memory. One for each executor, constant. */
#pragma once

#include "io/codec/codec.h"
#include "store/disk_dirs.h"

#include <stdbool.h>

struct spill_space {
        struct disk_dirs *dirs;
        enum codec_kind shuffle_codec; /* spark.shuffle.compress and spark.io.compression.codec */
        enum codec_kind spill_codec;   /* spark.shuffle.spill.compress */
        int level;                     /* spark.io.compression.zstd.level */
        bool shuffle_if_cheaper,
                spill_if_cheaper; /* compression is a default, not configured; see spill_options.if_cheaper */
};
