/* Any text is a file name or an error, and a full path resolves to itself. */
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        char *path = NULL, *again = NULL;
        if (path_resolve(text, &path, &error) < 0) {
                if (path || !error.message)
                        abort();
                return 0;
        }
        if (path_local(path)[0] != '/' || strchr(path_name(path), '/'))
                abort();
        if (path_resolve(path, &again, &error) == 0) {
                if (strcmp(path, again) != 0)
                        abort();
        } else if (strlen(path) < 4096) {
                abort();
        }
        _cleanup_free_ char *child = path_join(path, "x");
        _cleanup_free_ char *back = path_parent(child);
        if (!back || strcmp(back, path) != 0)
                abort();
        free(path_parent(path));
        free(path);
        free(again);
        return 0;
}
