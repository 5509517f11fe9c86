/* Random and time-based names from getrandom and the clock. */
#include "kubernetes/conf/generated_names.h"

#include "base/clock.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void make_random(uint8_t *bytes, size_t n)
{
        if (getrandom(bytes, n, 0) != (ssize_t)n)
                abort(); /* getrandom never fails for up to 256 bytes once the machine has started */
}

static void generated_names_put_hex(char *out, const uint8_t *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Appends a UUID without dashes. */
static void put_plain_uuid(char *out)
{
        char uuid[UUID_TEXT];
        uuid_draw(uuid);
        for (const char *c = uuid; *c; c++)
                if (*c != '-')
                        *out++ = *c;
        *out = '\0';
}

void fresh_names_make(struct fresh_names *names)
{
        uint8_t random[3];
        make_random(random, sizeof(random));
        unsigned long long ms = (unsigned long long)time_of_day_ms();
        generated_names_put_hex(names->unique, random, sizeof(random));
        snprintf(names->unique + 6, sizeof(names->unique) - 6, "%llx", ms & 0xffffffffffu);
        memcpy(names->app_id, "spark-", 6);
        put_plain_uuid(names->app_id + 6);
        uuid_draw(names->uuid);
        *names->prefix = '\0';
}
