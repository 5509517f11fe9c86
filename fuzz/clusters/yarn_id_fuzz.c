/* YARN's identifiers: what can be parsed is written in a form that parses to the same. */
#include "base/mem.h"
#include "yarn/protocol/yarn_ids.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        struct yarn_application_id application, same;
        struct yarn_container_id container, same_container;
        char written[YARN_ID_TEXT];
        if (yarn_application_parse(text, &application, NULL) == 0) {
                if (yarn_application_parse(yarn_application_text(application, written), &same, NULL) != 0 ||
                    same.id != application.id || same.cluster_timestamp != application.cluster_timestamp)
                        abort();
        }
        if (yarn_container_parse(text, &container, NULL) == 0) {
                if (yarn_container_parse(yarn_container_text(container, written), &same_container, NULL) != 0 ||
                    same_container.id != container.id || same_container.attempt != container.attempt ||
                    same_container.application.cluster_timestamp != container.application.cluster_timestamp)
                        abort();
        }
        return 0;
}
