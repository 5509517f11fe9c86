/* See lost_executors.h. */
#include "exec/lost_executors.h"

#include "base/mem.h"

void lost_executors_deinit(struct lost_executors *lost)
{
        free(lost->bits);
        pthread_mutex_destroy(&lost->lock);
}

void lost_executors_add(struct lost_executors *lost, int32_t executor)
{
        if (executor < 0 || executor >= MAX_LOST_EXECUTORS)
                return;
        size_t word = (size_t)executor / 64;
        pthread_mutex_lock(&lost->lock);
        if (word >= lost->words) {
                lost->bits = mem_grow(lost->bits, (word + 1) * sizeof(*lost->bits));
                memset(lost->bits + lost->words, 0, (word + 1 - lost->words) * sizeof(*lost->bits));
                lost->words = word + 1;
        }
        lost->bits[word] |= (uint64_t)1 << (executor % 64);
        pthread_mutex_unlock(&lost->lock);
}

void lost_executors_clear(struct lost_executors *lost)
{
        pthread_mutex_lock(&lost->lock);
        if (lost->words)
                memset(lost->bits, 0, lost->words * sizeof(*lost->bits));
        pthread_mutex_unlock(&lost->lock);
}

bool lost_executors_has(void *owner, int32_t executor)
{
        struct lost_executors *lost = owner;
        pthread_mutex_lock(&lost->lock);
        size_t word = (size_t)executor / 64;
        bool has = executor >= 0 && word < lost->words && (lost->bits[word] >> (executor % 64) & 1);
        pthread_mutex_unlock(&lost->lock);
        return has;
}
