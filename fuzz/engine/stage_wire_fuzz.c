/*
 * A stage as an executor receives it. A decoded stage stays within the memory limit, and can be encoded and decoded
 * again.
 */
#include "base/buf.h"
#include "base/error.h"
#include "exec/exec_env.h"
#include "exec/task/stage_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ignore_module(void *owner, const struct stage_module *file, struct fst_error *error)
{
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const struct stage_modules_source same = {.same_program = true};
        struct exec_env env = {.executor_id = "1"};
        struct fst_error error = FST_ERROR_INIT;
        struct stage_context *work, *again;
        struct buf bytes = BUF_INIT;
        if (stage_modules(data, size, ignore_module, NULL, &error))
                error_deinit(&error);
        if (stage_decode(data, size, &env, &work, &error)) {
                error_deinit(&error);
                return 0;
        }
        if (work->memory.bytes > 2 * (32 * size + 65536) + 8192)
                abort();
        if (stage_encode(work, &same, &bytes, &error) == 0) {
                if (stage_decode(bytes.data, bytes.len, &env, &again, &error))
                        abort();
                stage_context_unref(again);
        }
        buf_deinit(&bytes);
        error_deinit(&error);
        stage_context_unref(work);
        return 0;
}
