/* See os_user.h. */
#include "process/os_user.h"

#include "base/mem.h"

#include <pthread.h>
#include <pwd.h>
#include <stddef.h>
#include <unistd.h>

/* The users that were looked up: one, or some more if the process changes its user. Never freed. */
struct os_user {
        uid_t id;
        char *name;
        struct os_user *next;
};

static struct {
        pthread_mutex_t lock;
        struct os_user *first;
} os_users = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *os_user_name(void)
{
        const uid_t id = geteuid();
        struct passwd entry, *found = NULL;
        char text[4096];
        pthread_mutex_lock(&os_users.lock);
        struct os_user *user = os_users.first;
        while (user && user->id != id)
                user = user->next;
        if (!user && getpwuid_r(id, &entry, text, sizeof(text), &found) == 0 && found) {
                user = new0(struct os_user);
                *user = (struct os_user){.id = id, .name = mem_strdup(found->pw_name), .next = os_users.first};
                os_users.first = user;
        }
        pthread_mutex_unlock(&os_users.lock);
        return user ? user->name : NULL;
}
