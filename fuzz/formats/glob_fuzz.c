/* Any text is a pattern or an error, and matching ends. The first line is the pattern, the rest the name. */
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(glob_words_deinit) struct glob_words list = {0}, words = {0};
        if (size > 1000)
                return 0;
        _cleanup_free_ char *pattern = mem_strndup((const char *)data, size);
        char *name = strchr(pattern, '\n');
        if (name)
                *name++ = '\0';
        else
                name = pattern + strlen(pattern);
        glob_split_list(pattern, &list);
        for (size_t i = 0; i < list.len; i++) {
                bool good = glob_check(list.data[i], &error) == 0;
                _cleanup_free_ char *plain = glob_unquote(list.data[i]);
                if (good && !glob_has_magic(list.data[i]) && !glob_match(list.data[i], plain))
                        abort();
                if (glob_expand(list.data[i], i & 1, &words, &error) < 0 && !error.message)
                        abort();
        }
        for (size_t i = 0; i < words.len && i < 100; i++)
                glob_match(words.data[i], name);
        return 0;
}
