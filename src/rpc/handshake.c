/* Encodes and decodes HELLO. A peer's texts are checked before they are logged. */
#include "rpc/handshake.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/crc32c.h"
#include "net/socket.h"

#include "rpc/handshake.pb-c.h"

#include <stdio.h>
#include <sys/random.h>

#define FIRST_CHECKED_VERSION 2

void hello_init(struct hello *h)
{
        *h = (struct hello){.version_low = FRAME_VERSION, .version_high = FRAME_VERSION};
        snprintf(h->software, sizeof(h->software), "firesteel " FIRESTEEL_VERSION);
        if (getrandom(h->instance, sizeof(h->instance), 0) != (ssize_t)sizeof(h->instance))
                abort(); /* the kernel never returns fewer than these 16 bytes once it is seeded */
}

/* Returns the checksum of the packed message, whose own field is 0. Never 0. */
static uint32_t handshake_checksum(const Firesteel__Rpc__Hello *m)
{
        uint8_t packed[MAX_FRAME_HELLO];
        if (firesteel__rpc__hello__get_packed_size(m) > sizeof(packed))
                return 1; /* a received one that is longer packed than it was */
        const uint32_t sum = crc32c(packed, firesteel__rpc__hello__pack(m, packed));
        return sum ? sum : 1;
}

void hello_encode(const struct hello *h, struct buf *out)
{
        Firesteel__Rpc__Hello m = FIRESTEEL__RPC__HELLO__INIT;
        m.version_low = h->version_low;
        m.version_high = h->version_high;
        m.software = (char *)h->software;
        m.instance = (ProtobufCBinaryData){sizeof(h->instance), (uint8_t *)h->instance};
        m.app_id = (char *)h->app_id;
        m.address = (char *)h->address;
        m.max_message_bytes = h->max_message_bytes;
        m.line_ends = (char *)"\r\n\r\n";
        m.checksum = handshake_checksum(&m);
        size_t len = firesteel__rpc__hello__get_packed_size(&m);
        buf_reserve(out, len);
        out->len += firesteel__rpc__hello__pack(&m, (uint8_t *)out->data + out->len);
        out->data[out->len] = '\0';
}

/* Copies printable ASCII that fits. */
static int handshake_copy_text(const char *text, char *out, size_t size, const char *what, struct fst_error *error)
{
        size_t len = strlen(text);
        if (len >= size)
                return error_set(error, -EPROTO, "a handshake whose %s has %zu bytes", what, len);
        for (size_t i = 0; i < len; i++)
                if (text[i] < ' ' || text[i] > '~')
                        return error_set(error, -EPROTO, "a handshake whose %s is not plain text", what);
        memcpy(out, text, len + 1);
        return 0;
}

static int handshake_check(const Firesteel__Rpc__Hello *m, struct hello *h, struct fst_error *error)
{
        struct host_port address;
        *h = (struct hello){.version_low = m->version_low,
                            .version_high = m->version_high,
                            .max_message_bytes = m->max_message_bytes};
        if (m->version_low == 0 || m->version_high < m->version_low || m->version_high > 1000000)
                return error_set(error, -EPROTO, "a handshake with the versions %u to %u", m->version_low,
                                 m->version_high);
        if (m->instance.len != HELLO_INSTANCE_SIZE)
                return error_set(error, -EPROTO, "a handshake with an instance of %zu bytes", m->instance.len);
        memcpy(h->instance, m->instance.data, HELLO_INSTANCE_SIZE);
        int r = handshake_copy_text(m->software, h->software, sizeof(h->software), "software", error);
        if (r == 0)
                r = handshake_copy_text(m->app_id, h->app_id, sizeof(h->app_id), "application", error);
        if (r == 0)
                r = handshake_copy_text(m->address, h->address, sizeof(h->address), "address", error);
        if (r == 0 && *h->address && host_port_parse(h->address, &address, NULL) < 0)
                return error_set(error, -EPROTO, "a handshake whose address is not of the form host:port");
        return r;
}

int hello_decode(const uint8_t *body, size_t len, struct hello *out, struct fst_error *error)
{
        if (len > MAX_FRAME_HELLO)
                return error_set(error, -EPROTO, "a handshake of %zu bytes", len);
        Firesteel__Rpc__Hello *m = firesteel__rpc__hello__unpack(NULL, len, body);
        if (!m)
                return error_set(error, -EPROTO, "a malformed handshake");
        struct hello h;
        const uint32_t sum = m->checksum;
        m->checksum = 0;
        int r = m->version_high >= FIRST_CHECKED_VERSION && sum != handshake_checksum(m)
                        ? error_set(error, -EBADMSG, "a handshake with a wrong checksum: bytes were damaged on the way")
                        : handshake_check(m, &h, error);
        firesteel__rpc__hello__free_unpacked(m, NULL);
        if (r == 0)
                *out = h;
        return r;
}

int hello_check(const struct hello *own, const struct hello *other, struct fst_error *error)
{
        if (other->version_low > own->version_high || other->version_high < own->version_low)
                return error_set(
                        error, -EPROTO,
                        "it is %s with version %u of the RPC, this is %s with version %u: driver and executors "
                        "must be of the same version",
                        *other->software ? other->software : "a program", other->version_high, own->software,
                        own->version_high);
        if (memcmp(own->instance, other->instance, HELLO_INSTANCE_SIZE) == 0)
                return error_set(error, -EPROTO, "this process reached itself");
        if (*own->app_id && *other->app_id && strcmp(own->app_id, other->app_id) != 0)
                return error_set(error, -EPROTO, "it belongs to the application %s, this is of %s", other->app_id,
                                 own->app_id);
        return 0;
}
