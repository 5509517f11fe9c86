/* Untrusted texts in pages and JSON: they stay text, and the page stays valid UTF-8. */
#include "web/html.h"
#include "text/json_writer.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct buf page = BUF_INIT, json = BUF_INIT;
        struct json_out j = {.out = &json};
        char *text = malloc(size + 1);
        memcpy(text, data, size);
        text[size] = '\0';
        html_text(&page, text, strlen(text));
        if (strpbrk(buf_text(&page), "<>\"'"))
                abort();
        json_t *utf8 = json_stringn(buf_text(&page), page.len); /* NULL if it is invalid */
        if (!utf8)
                abort();
        json_decref(utf8);
        json_begin(&j);
        json_text(&j, text, text);
        json_list(&j, "list");
        json_text(&j, NULL, text);
        json_list_end(&j);
        json_end(&j);
        json_t *root = json_loadb(json.data, json.len, 0, NULL);
        if (!root)
                abort();
        json_decref(root);
        buf_deinit(&page);
        buf_deinit(&json);
        free(text);
        return 0;
}
