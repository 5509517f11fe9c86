/* Random UUIDs (version 4), for names that nobody else has. */
#pragma once

#define UUID_TEXT 37 /* with the NUL */

/* "0d1e2f3a-…" into @text. Any thread. */
void uuid_draw(char text[static UUID_TEXT]);
