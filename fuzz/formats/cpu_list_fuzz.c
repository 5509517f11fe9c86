/* Any text is a set of cpus, or is rejected and leaves the set as it was. */
#include "base/mem.h"
#include "numa/cpu_list.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        cpu_set_t cpus, before;
        CPU_ZERO(&before);
        CPU_SET(5, &before);
        cpus = before;
        if (cpu_list_parse(text, &cpus) && !CPU_EQUAL(&cpus, &before))
                abort();
        return 0;
}
