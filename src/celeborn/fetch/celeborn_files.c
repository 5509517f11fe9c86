/* See celeborn_files.h. */
#include "celeborn/fetch/celeborn_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "celeborn/protocol/celeborn_message.h"
#include "shuffle/remote_shuffle.h"

void celeborn_files_init(struct celeborn_files *files,
                         int (*ask)(void *owner, const struct celeborn_question *question, const int *stopped,
                                    struct celeborn_answer *answer, struct fst_error *error),
                         void *owner)
{
        *files = (struct celeborn_files){.ask = ask, .owner = owner};
        pthread_mutex_init(&files->lock, NULL);
        pthread_mutex_init(&files->asking, NULL);
}

static void celeborn_file_group_free(struct celeborn_files *files, struct celeborn_file_group *group)
{
        list_remove(&files->groups, group);
        celeborn_answer_deinit(&group->answer);
        free(group);
}

void celeborn_files_deinit(struct celeborn_files *files)
{
        while (files->groups.first)
                celeborn_file_group_free(files, files->groups.first);
        pthread_mutex_destroy(&files->asking);
        pthread_mutex_destroy(&files->lock);
}

static struct celeborn_file_group *celeborn_files_find(struct celeborn_files *files, int32_t shuffle)
{
        struct celeborn_file_group *group = files->groups.first;
        while (group && (group->shuffle != shuffle || group->forgotten))
                group = group->next;
        return group;
}

/* Checks what the driver named. */
static int celeborn_files_check(int32_t shuffle, const struct celeborn_answer *answer, struct fst_error *error)
{
        const char *why = answer->message ? answer->message : celeborn_status_name(answer->status);
        if (answer->status == CELEBORN_SHUFFLE_DATA_LOST || answer->status == CELEBORN_SHUFFLE_UNREGISTERED)
                return error_set(error, FST_REMOTE_E_LOST, "shuffle %d in Celeborn is lost: %s", shuffle, why);
        if (answer->status != CELEBORN_SUCCESS)
                return error_set(error, -EIO, "the driver named no files of shuffle %d in Celeborn: %s", shuffle, why);
        for (int i = 0; i < answer->n_locations; i++) {
                const struct celeborn_location *at = &answer->locations[i];
                if (at->primary >= answer->n_workers || at->replica >= answer->n_workers ||
                    (i > 0 && at->partition < at[-1].partition))
                        return error_set(error, -EPROTO, "the driver named invalid files of shuffle %d in Celeborn",
                                         shuffle);
        }
        return 0;
}

/* Takes a reference to the files of a shuffle if they are known. */
static struct celeborn_file_group *celeborn_files_take(struct celeborn_files *files, int32_t shuffle)
{
        pthread_mutex_lock(&files->lock);
        struct celeborn_file_group *found = celeborn_files_find(files, shuffle);
        if (found)
                found->refs++;
        pthread_mutex_unlock(&files->lock);
        return found;
}

/* Asks for the files of a shuffle, and keeps them with one reference. */
static int celeborn_files_ask(struct celeborn_files *files, int32_t shuffle, const int *stopped,
                              struct celeborn_file_group **group, struct fst_error *error)
{
        struct celeborn_question question = {.kind = CELEBORN_ASK_FILES, .shuffle = shuffle};
        struct celeborn_answer answer = {0};
        int r = files->ask(files->owner, &question, stopped, &answer, error);
        if (r == 0)
                r = celeborn_files_check(shuffle, &answer, error);
        if (r) {
                celeborn_answer_deinit(&answer);
                return r;
        }
        *group = new0(struct celeborn_file_group);
        (*group)->shuffle = shuffle;
        (*group)->refs = 1;
        (*group)->answer = answer;
        pthread_mutex_lock(&files->lock);
        list_append(&files->groups, *group);
        pthread_mutex_unlock(&files->lock);
        return 0;
}

int celeborn_files_get(struct celeborn_files *files, int32_t shuffle, const int *stopped,
                       const struct celeborn_file_group **group, struct fst_error *error)
{
        struct celeborn_file_group *found = celeborn_files_take(files, shuffle);
        int r = 0;
        if (!found) {
                pthread_mutex_lock(&files->asking);
                found = celeborn_files_take(files, shuffle);
                if (!found)
                        r = celeborn_files_ask(files, shuffle, stopped, &found, error);
                pthread_mutex_unlock(&files->asking);
        }
        if (found)
                *group = found;
        return r;
}

void celeborn_files_put(struct celeborn_files *files, const struct celeborn_file_group *group)
{
        struct celeborn_file_group *own = (struct celeborn_file_group *)group;
        if (!own)
                return;
        pthread_mutex_lock(&files->lock);
        if (--own->refs == 0 && own->forgotten)
                celeborn_file_group_free(files, own);
        pthread_mutex_unlock(&files->lock);
}

void celeborn_files_forget(struct celeborn_files *files, int32_t shuffle)
{
        pthread_mutex_lock(&files->lock);
        struct celeborn_file_group *group = celeborn_files_find(files, shuffle);
        if (group && group->refs)
                group->forgotten = true;
        else if (group)
                celeborn_file_group_free(files, group);
        pthread_mutex_unlock(&files->lock);
}

const struct celeborn_location *celeborn_file_group_partition(const struct celeborn_file_group *group,
                                                              int32_t partition, int *n)
{
        const struct celeborn_location *at = group->answer.locations;
        int low = 0, high = group->answer.n_locations;
        while (low < high) {
                int middle = low + (high - low) / 2;
                if (at[middle].partition < partition)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (high = low; high < group->answer.n_locations && at[high].partition == partition;)
                high++;
        *n = high - low;
        return at + low;
}
