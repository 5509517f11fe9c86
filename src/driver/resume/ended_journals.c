/* See ended_journals.h. */
#include "driver/resume/ended_journals.h"

#include "base/error.h"
#include "base/vec.h"
#include "exec/exit_hooks.h"
#include "journal/place.h"

#include <pthread.h>

struct ended_journal {
        struct journal_place *place;
        int epoch;
};

static struct {
        pthread_mutex_t lock;
        VEC(struct ended_journal) journals;
        bool hooked;
} ended = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ended_journals_remove(bool succeeded)
{
        pthread_mutex_lock(&ended.lock);
        for (size_t i = 0; i < ended.journals.len; i++) {
                struct ended_journal *journal = &ended.journals.data[i];
                struct fst_error ignored = FST_ERROR_INIT;
                if (succeeded && journal_place_newest(journal->place, &ignored) == journal->epoch)
                        journal_place_remove(journal->place);
                error_deinit(&ignored);
                journal_place_free(journal->place);
        }
        vec_deinit(&ended.journals);
        pthread_mutex_unlock(&ended.lock);
}

static void ended_journals_on_signal(void *unused)
{
        ended_journals_remove(true);
}

void ended_journals_add(struct journal_place *place, int epoch)
{
        struct fst_error ignored = FST_ERROR_INIT;
        pthread_mutex_lock(&ended.lock);
        vec_push(&ended.journals, ((struct ended_journal){place, epoch}));
        const bool hooked = ended.hooked;
        ended.hooked = true;
        pthread_mutex_unlock(&ended.lock);
        if (!hooked && exit_hooks_add(ended_journals_on_signal, NULL, &ignored) < 0)
                error_deinit(&ignored); /* then a signal leaves the journals */
}
