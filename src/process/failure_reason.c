/* See failure_reason.h. */
#include "process/failure_reason.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
        pthread_mutex_t lock;
        char *text;
} failure_reason = {.lock = PTHREAD_MUTEX_INITIALIZER};

void failure_reason_add(const char *reason)
{
        pthread_mutex_lock(&failure_reason.lock);
        if (!failure_reason.text)
                failure_reason.text = mem_strdup(reason);
        pthread_mutex_unlock(&failure_reason.lock);
}

void failure_reason_clear(void)
{
        pthread_mutex_lock(&failure_reason.lock);
        free(steal(failure_reason.text));
        pthread_mutex_unlock(&failure_reason.lock);
}

char *failure_reason_text(void)
{
        pthread_mutex_lock(&failure_reason.lock);
        char *text = failure_reason.text ? mem_strdup(failure_reason.text) : NULL;
        pthread_mutex_unlock(&failure_reason.lock);
        return text;
}

/* ------------------------------------------------------------------------------------------------- of a thread */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void failure_reason_make_key(void)
{
        pthread_key_create(&thread_key, free);
}

void failure_reason_set_thread(const char *message)
{
        pthread_once(&thread_once, failure_reason_make_key);
        free(pthread_getspecific(thread_key));
        pthread_setspecific(thread_key, mem_strdup(message));
}

const char *failure_reason_of_thread(void)
{
        pthread_once(&thread_once, failure_reason_make_key);
        const char *message = pthread_getspecific(thread_key);
        return message ? message : "";
}
