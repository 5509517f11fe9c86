/* See fresh_names.h. */
#include "deploy/kubernetes/fresh_names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static void make_random(uint8_t *bytes, size_t n)
{
        if (getrandom(bytes, n, 0) != (ssize_t)n)
                abort(); /* up to 256 bytes are never refused once the machine has started */
}

static void put_hex(char *out, const uint8_t *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Version 4, its dashes left out if @plain. */
static void put_uuid(char *out, int plain)
{
        static const size_t lengths[] = {4, 2, 2, 2, 6};
        uint8_t b[16], *from = b;
        make_random(b, sizeof(b));
        b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
        b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
        for (size_t i = 0; i < 5; i++) {
                if (i && !plain)
                        *out++ = '-';
                put_hex(out, from, lengths[i]);
                out += 2 * lengths[i];
                from += lengths[i];
        }
}

void fresh_names_make(struct fresh_names *names)
{
        struct timespec now;
        uint8_t random[3];
        clock_gettime(CLOCK_REALTIME, &now);
        make_random(random, sizeof(random));
        unsigned long long ms = (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
        put_hex(names->unique, random, sizeof(random));
        snprintf(names->unique + 6, sizeof(names->unique) - 6, "%llx", ms & 0xffffffffffu);
        memcpy(names->app_id, "spark-", 6);
        put_uuid(names->app_id + 6, 1);
        put_uuid(names->uuid, 0);
}
