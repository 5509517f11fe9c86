/*
 * The stored registrations of a shuffle service: any bytes, and any content with a valid magic number and checksum, are
 * a state or an error with a message.
 */
#include "base/error.h"
#include "base/mem.h"
#include "shuffle/shuffle_service_state.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void check_state(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        Firesteel__ShuffleServiceState *state = NULL;
        int r = service_state_parse("state", data, size, &state, &error);
        if ((r == 0) != (state != NULL) || (r < 0 && !*error_message(&error)))
                abort();
        if (r < 0)
                return;
        firesteel__shuffle_service_state__free_unpacked(state, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint8_t *file = mem_alloc(size + 16);
        check_state(data, size);
        memcpy(file, "FSTEXEC1", 8);
        if (size)
                memcpy(file + 8, data, size);
        uint64_t sum = htole64(XXH3_64bits(file, size + 8));
        memcpy(file + 8 + size, &sum, 8);
        check_state(file, size + 16);
        free(file);
        return 0;
}
