/*
 * Adds the time zone database of this machine to an image, so that programs in it know the zones of schedules. A zone
 * with several names is one file and links to it, whether this machine has links or copies: equal databases give equal
 * layers.
 */
#pragma once

struct fst_error;
struct image_layer;

#define ZONE_FOLDER "/usr/share/zoneinfo"

/*
 * Adds the TZif files below @from at the same places below ZONE_FOLDER, without the sets "posix" and "right", and
 * without the names for this machine's own zone. Does nothing if @from does not exist. Returns -errno with @error for
 * a file that cannot be read.
 */
int zone_files_add(struct image_layer *layer, const char *from, struct fst_error *error);
