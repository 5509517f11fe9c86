/* The path of the firesteel binary that belongs to this library, used to start executors and applications. */
#pragma once

/*
 * Returns the path of this program if it is firesteel, else of the binary beside the library. The caller owns it. NULL
 * if there is none.
 */
char *program_find(void);
