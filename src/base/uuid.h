/* Random UUIDs (version 4), for unique names. */
#pragma once

#define UUID_TEXT 37 /* with the NUL */

/* Writes "0d1e2f3a-…" to @text. Any thread. */
void uuid_draw(char text[static UUID_TEXT]);
