/* See source_text.h. A process loads one application, so one file is kept until the process ends. */
#include "exec/app/source_text.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { MAX_SOURCE = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
        char *name, *text;
} kept; /* under the lock; what it points to never changes */

static const char *source_text_base_name(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

void source_text_keep(const char *path)
{
        struct fst_error error = FST_ERROR_INIT;
        struct buf text = BUF_INIT;
        int r = file_text_read(path, MAX_SOURCE, &text, &error);
        error_deinit(&error);
        pthread_mutex_lock(&lock);
        if (r == 0 && text.len && !memchr(text.data, '\0', text.len) && !kept.text) {
                kept.name = mem_strdup(source_text_base_name(path));
                kept.text = buf_steal(&text);
        }
        pthread_mutex_unlock(&lock);
        buf_deinit(&text);
}

const char *source_text_find(const char *file)
{
        pthread_mutex_lock(&lock);
        const char *text = kept.text && strcmp(kept.name, source_text_base_name(file)) == 0 ? kept.text : NULL;
        pthread_mutex_unlock(&lock);
        return text;
}
