/* Any maven-metadata.xml: its revisions have a total order, and can be tested against ranges. */
#include "base/mem.h"
#include "base/vec.h"
#include "ivy/finder.h"
#include "ivy/revision.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct names names = NAMES_INIT;
        struct texts found = {0};
        metadata_revisions(&names, (const char *)data, size, &found);
        const char *stamp = metadata_snapshot(&names, (const char *)data, size);
        if (stamp && strchr(stamp, '/'))
                abort();
        for (size_t i = 0; i + 1 < found.len; i++) {
                const char *a = found.data[i], *b = found.data[i + 1];
                int forth = revision_compare(a, b), back = revision_compare(b, a);
                if ((forth < 0) != (back > 0) || (forth == 0) != (back == 0) || revision_compare(a, a) != 0)
                        abort();
                revision_accepts(a, b);
                if (!revision_is_dynamic(a) && !revision_accepts(a, a))
                        abort();
        }
        vec_deinit(&found);
        names_deinit(&names);
        return 0;
}
