/*
 * When executors fetch a piece of a broadcast value: at most TURNS of them at a time for each process that has it. The
 * first ones fetch it from the driver, the next ones from these, and so on. If thousands of executors ask at once, the
 * driver sends the piece only a few times, and nobody waits longer than some round trips.
 *
 * A pure core. An executor that was told the holders ends its turn when it has the piece. One that never gets it (it
 * died) delays others by at most BROADCAST_TURN_TIMEOUT: then the waiting ones are answered without a turn.
 */
#pragma once

#include "store/block_name.h"

#include <stdbool.h>
#include <stdint.h>

enum { BROADCAST_TURNS = 4 };

/* An executor is told so many holders of a piece. If it reaches none of them, it fetches the piece from the driver. */
enum { MAX_PIECE_HOLDERS = 3 };

#define BROADCAST_TURN_TIMEOUT ((int64_t)500000000) /* ns */

struct broadcast_turns;

struct broadcast_turns *broadcast_turns_new(void);

/* No asker may wait. NULL is allowed. */
void broadcast_turns_free(struct broadcast_turns *turns);

/* An executor asks for the holders of a piece. Returns true to answer it now. Otherwise @asker waits. */
bool broadcast_turns_ask(struct broadcast_turns *turns, struct block_name piece, void *asker, int64_t now);

/* An executor has got the piece. */
void broadcast_turns_held(struct broadcast_turns *turns, struct block_name piece);

/* The value is removed. All of its askers are to be answered. */
void broadcast_turns_remove(struct broadcast_turns *turns, int64_t id);

/* Returns the next asker to answer now, with *@piece, or NULL. Call it after each of the above, and at the deadline. */
void *broadcast_turns_next(struct broadcast_turns *turns, int64_t now, struct block_name *piece);

/* When an asker may have waited too long; INT64_MAX: nobody waits. */
int64_t broadcast_turns_deadline(const struct broadcast_turns *turns);

/* Returns any asker that waits, for the end of the driver, or NULL. */
void *broadcast_turns_drop(struct broadcast_turns *turns);
