/* See ended_journals.h. */
#include "driver/resume/ended_journals.h"

#include "base/error.h"
#include "base/vec.h"
#include "exec/exit_hooks.h"
#include "journal/place.h"

#include <pthread.h>

static struct {
        pthread_mutex_t lock;
        VEC(struct journal_place *) places;
        bool hooked;
        bool exits; /* exit() runs, with status 0 */
} ended = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ended_journals_remove(bool succeeded)
{
        pthread_mutex_lock(&ended.lock);
        for (size_t i = 0; i < ended.places.len; i++) {
                if (succeeded && !journal_place_is_superseded(ended.places.data[i]))
                        journal_place_remove(ended.places.data[i]);
                journal_place_free(ended.places.data[i]);
        }
        vec_deinit(&ended.places);
        pthread_mutex_unlock(&ended.lock);
}

void ended_journals_remove_last(void)
{
        ended.exits = true;
}

/* The dynamic linker registers the function that calls this before main starts, so exit() calls it after its handlers. */
__attribute__((destructor)) static void ended_journals_on_unload(void)
{
        if (ended.exits)
                ended_journals_remove(true);
}

static void ended_journals_on_signal(void *unused)
{
        ended_journals_remove(true);
}

void ended_journals_add(struct journal_place *place)
{
        struct fst_error ignored = FST_ERROR_INIT;
        pthread_mutex_lock(&ended.lock);
        vec_push(&ended.places, place);
        const bool hooked = ended.hooked;
        ended.hooked = true;
        pthread_mutex_unlock(&ended.lock);
        if (!hooked && exit_hooks_add(ended_journals_on_signal, NULL, &ignored) < 0)
                error_deinit(&ignored); /* then a signal leaves the journals */
}
