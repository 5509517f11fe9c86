/* See secret.h. */
#include "net/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int secret_draw(char *text, size_t size)
{
        unsigned char bytes[256];
        size_t n = (size - 1) / 2;
        if (n > sizeof(bytes))
                return -EINVAL;
        if (getrandom(bytes, n, 0) != (ssize_t)n)
                return -errno;
        for (size_t i = 0; i < n; i++)
                snprintf(text + 2 * i, 3, "%02x", bytes[i]);
        return 0;
}

bool secret_equals(const char *given, size_t len, const char *secret)
{
        unsigned char differs = len != strlen(secret);
        for (size_t i = 0; secret[i]; i++)
                differs |= (unsigned char)(secret[i] ^ (i < len ? given[i] : 0));
        return !differs;
}
