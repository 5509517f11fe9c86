/* Version 4 UUIDs from getrandom. */
#include "base/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void uuid_draw(char text[static UUID_TEXT])
{
        unsigned char u[16];
        if (getrandom(u, sizeof(u), 0) != sizeof(u))
                abort(); /* impossible for 16 bytes after the system has started */
        u[6] = (u[6] & 0x0f) | 0x40;
        u[8] = (u[8] & 0x3f) | 0x80;
        snprintf(text, UUID_TEXT, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
                 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}
