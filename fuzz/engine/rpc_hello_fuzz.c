/* The body of a HELLO from an unauthenticated peer: accepted texts are plain, fit, and can be sent again. */
#include "base/buf.h"
#include "base/error.h"
#include "rpc/handshake.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const char *text, size_t size)
{
        size_t len = strnlen(text, size);
        if (len == size)
                abort();
        for (size_t i = 0; i < len; i++)
                if (text[i] < ' ' || text[i] > '~')
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct hello h, again, own;
        struct fst_error error = FST_ERROR_INIT;
        if (hello_decode(data, size, &h, &error) == 0) {
                struct buf b = BUF_INIT;
                check_text(h.software, sizeof(h.software));
                check_text(h.app_id, sizeof(h.app_id));
                check_text(h.address, sizeof(h.address));
                hello_encode(&h, &b);
                if (b.len > MAX_FRAME_HELLO || hello_decode((uint8_t *)b.data, b.len, &again, NULL) < 0 ||
                    strcmp(h.app_id, again.app_id) != 0 || strcmp(h.address, again.address) != 0)
                        abort();
                hello_init(&own);
                hello_check(&own, &h, &error);
                buf_deinit(&b);
        }
        error_deinit(&error);
        return 0;
}
