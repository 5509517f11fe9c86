/*
 * The executors that the driver reported lost, by the scheduler's index, so that no task waits for their servers. An
 * index is never reused by a driver, so the set only grows. Any thread.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lost_executors {
        pthread_mutex_t lock;
        uint64_t *bits;
        size_t words;
};

#define LOST_EXECUTORS_INIT ((struct lost_executors){.lock = PTHREAD_MUTEX_INITIALIZER})

void lost_executors_deinit(struct lost_executors *lost);

/* An index of MAX_LOST_EXECUTORS or more is ignored. */
void lost_executors_add(struct lost_executors *lost, int32_t executor);
#define MAX_LOST_EXECUTORS (1 << 24)

/* Forgets all of them: another driver gives other indexes. */
void lost_executors_clear(struct lost_executors *lost);

/* Implements shuffle_reader_env.lost, with the set as owner. */
bool lost_executors_has(void *lost, int32_t executor);
