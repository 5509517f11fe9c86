/*
 * A batch with a page, as executors push it:
 *
 *      header of the batch | check u32 | frame of the page (store/page_frame.h)
 *
 * The check is the lower half of the xxh3 of the batch's header and the frame's header, little-endian. Celeborn stores
 * no checksum: without the check, a flipped bit in the number of an attempt would make a reader leave a batch out. The
 * frame's header has the checksum of the page.
 */
#pragma once

#include "celeborn/protocol/celeborn_frame.h"
#include "store/page_frame.h"

#include <stdbool.h>

#define PAGE_BATCH_CHECK 4
#define PAGE_BATCH_HEADER (CELEBORN_BATCH_HEADER + PAGE_BATCH_CHECK + PAGE_FRAME_HEADER)
#define PAGE_BATCH_FRAME (CELEBORN_BATCH_HEADER + PAGE_BATCH_CHECK) /* offset of the frame */

/* Sets the header of the batch and the check. The frame's header is in its place. */
void page_batch_seal(unsigned char header[static PAGE_BATCH_HEADER], struct celeborn_batch batch);

/* Returns whether the check matches. */
bool page_batch_is_sound(const unsigned char header[static PAGE_BATCH_HEADER]);
