/* Messages of a task process with damaged memory: outcomes, or the index of a map output. The first byte chooses one.
 */
#include "base/error.h"
#include "exec/isolation/task_process_wire.h"
#include "shuffle/shuffle_output_export.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"
#include "store/memory.h"

#include <fcntl.h>
#include <firesteel/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_outcomes(const uint8_t *data, size_t size)
{
        struct task_process_outcome outcome;
        struct task_process_texts texts;
        size_t offset = 0;
        while (task_process_outcome_get(data, size, &offset, MAX_TASK_BATCH, &outcome, &texts) > 0)
                if (outcome.at >= MAX_TASK_BATCH || texts.encoded + outcome.encoded > data + size)
                        __builtin_trap();
}

static void read_index(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        static struct spill_space space;
        if (!space.dirs && disk_dirs_new("/tmp", 1, &space.dirs, &error))
                __builtin_trap();
        struct memory_manager *manager = memory_manager_new(1 << 20, 0.5);
        struct shuffle_store *store = shuffle_store_new(&space);
        struct shuffle_output *output = NULL;
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (shuffle_handover_take(store, manager, 3, FST_PAIR(I64, I64), fd, data, size, &output, &error) == 0)
                shuffle_output_unref(output);
        error_deinit(&error);
        shuffle_store_free(store);
        memory_manager_free(manager);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        if (data[0] & 1)
                read_outcomes(data + 1, size - 1);
        else
                read_index(data + 1, size - 1);
        return 0;
}
