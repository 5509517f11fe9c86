/*
 * Where and how an executor writes what does not fit into memory: its directories and the codecs that the
 * configuration asks for. One for an executor, constant.
 */
#pragma once

#include "io/codec/codec.h"
#include "store/disk_dirs.h"

#include <stdbool.h>

struct spill_space {
        struct disk_dirs *dirs;
        enum codec_kind shuffle_codec;             /* spark.shuffle.compress and spark.io.compression.codec */
        enum codec_kind spill_codec;               /* spark.shuffle.spill.compress */
        int level;                                 /* spark.io.compression.zstd.level */
        bool shuffle_if_cheaper, spill_if_cheaper; /* nobody asked for these; spill_options.if_cheaper */
};
