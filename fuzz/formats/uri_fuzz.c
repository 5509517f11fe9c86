/* Parts lie within the text, and a path written as a URI is read again unchanged. */
#include "io/fs/uri.h"

#include "base/mem.h"

static void check_part(const char *text, size_t len, struct uri_part part)
{
        _cleanup_free_ char *decoded = uri_decode(part);
        if (part.text && (part.text < text || part.text + part.len > text + len || strlen(decoded) > part.len))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        _cleanup_(buf_deinit) struct buf quoted = BUF_INIT;
        struct uri u, again;
        buf_puts(&quoted, "file:/");
        uri_put_path(&quoted, text);
        if (uri_parse(buf_text(&quoted), &again)) {
                _cleanup_free_ char *path = uri_decode(again.path);
                if (again.path.text == quoted.data + 5 && strcmp(path + 1, text) != 0)
                        abort();
        }
        if (!uri_parse(text, &u))
                return 0;
        check_part(text, strlen(text), u.scheme);
        check_part(text, strlen(text), u.authority);
        check_part(text, strlen(text), u.path);
        check_part(text, strlen(text), u.query);
        check_part(text, strlen(text), u.fragment);
        return 0;
}
