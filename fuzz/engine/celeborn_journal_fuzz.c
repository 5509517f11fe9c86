/*
 * The records of a lifecycle manager in a driver's journal, from arbitrary bytes. Each record is the length of its
 * content (a byte) and the content. Whatever was restored, the manager goes on: it sends, answers and ends.
 */
#include "base/mem.h"
#include "celeborn/lifecycle/lifecycle_journal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void journal_drain_actions(struct lifecycle *core)
{
        for (struct lifecycle_action a; lifecycle_next_action(core, &a);)
                lifecycle_action_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct lifecycle_master master = {(char *)"m", 9097};
        const struct celeborn_config config = {.app_id = "app",
                                               .hostname = "h",
                                               .tenant = "t",
                                               .user = "u",
                                               .tags = "",
                                               .masters = &master,
                                               .n_masters = 1,
                                               .journaled = true,
                                               .heartbeat = 1000,
                                               .stop_timeout = 1000};
        struct lifecycle *core = lifecycle_new(&config, 1);
        char *id = NULL;
        int r = 0;
        for (size_t at = 0; at < size && r == 0; at += 1 + data[at]) {
                const size_t len = MIN((size_t)data[at], size - at - 1);
                const fst_bytes record = {(const char *)data + at + 1, len};
                if (lifecycle_read_application(record, &id) == 0)
                        free(steal(id));
                r = lifecycle_restore(core, record);
        }
        if (r == 0) {
                lifecycle_restored(core, 2);
                for (int32_t shuffle = 0; shuffle < 4; shuffle++)
                        for (int kind = CELEBORN_ASK_LOCATIONS; kind <= CELEBORN_ASK_FILES; kind += 2) {
                                struct celeborn_question question = {.kind = (enum celeborn_question_kind)kind,
                                                                     .shuffle = shuffle};
                                lifecycle_past(core, shuffle);
                                lifecycle_ask(core, NULL, &question, 3);
                        }
                journal_drain_actions(core);
                lifecycle_stop(core, 4);
                journal_drain_actions(core);
        }
        lifecycle_free(core);
        return 0;
}
