/* Query strings, form bodies and paths from untrusted clients. */
#include "text/percent.h"
#include "web/form.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        struct form f = FORM_INIT, again = FORM_INIT;
        struct buf encoded = BUF_INIT, decoded = BUF_INIT;
        if (form_parse(&f, text, size)) {
                int64_t n;
                for (size_t i = 0; i < f.fields.len; i++) {
                        if (i)
                                buf_putc(&encoded, '&');
                        percent_encode(&encoded, f.fields.data[i].name, "");
                        buf_putc(&encoded, '=');
                        percent_encode(&encoded, f.fields.data[i].value, "");
                        form_get_int(&f, f.fields.data[i].name, &n);
                }
                if (!form_parse(&again, buf_text(&encoded), encoded.len) || again.fields.len != f.fields.len)
                        abort();
                for (size_t i = 0; i < f.fields.len; i++)
                        if (strcmp(f.fields.data[i].value, again.fields.data[i].value) != 0)
                                abort();
        }
        if (form_put_decoded(&decoded, text, size) && decoded.len > size)
                abort();
        form_deinit(&f);
        form_deinit(&again);
        buf_deinit(&encoded);
        buf_deinit(&decoded);
        return 0;
}
