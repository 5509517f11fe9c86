/* Lists of coordinates: accepted ones have three non-empty parts, and their names fill any pattern. */
#include "base/mem.h"
#include "ivy/finder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        _cleanup_(coordinates_deinit) struct coordinates c = {0};
        struct names names = NAMES_INIT;
        if (coordinates_parse(text, &c, NULL) < 0 && c.len > 0)
                abort();
        for (size_t i = 0; i < c.len; i++) {
                const struct coordinate *one = &c.data[i];
                struct revision_name *id =
                        names_revision(&names, names_module(&names, one->group, one->artifact), one->version);
                const struct artifact a = {.name = one->artifact, .type = "jar", .ext = "jar"};
                if (!*one->group || !*one->artifact || !*one->version || strchr(one->group, ':') ||
                    strchr(one->version, ','))
                        abort();
                if (id != names_revision(&names, id->module, id->revision) && strcmp(id->revision, one->version) == 0)
                        abort();
                pattern_fill(&names, "[organisation]/[module](-[classifier])/[revision]", id, &a, true);
                pattern_fill(&names, text, id, &a, false);
                names_glob(one->group, one->artifact);
        }
        names_deinit(&names);
        return 0;
}
