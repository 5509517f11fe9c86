/*
 * The page that several ResourceManagers have for an application, at the one that is active. A standby would only send
 * browsers on, and one that is gone would leave them alone.
 *
 *      struct active_proxy *p = active_proxy_new(&bases);
 *      const char *base = active_proxy_base(p);
 *      active_proxy_free(p);
 *
 * A thread asks the ResourceManagers, at most every ACTIVE_PROXY_AGE_MS, and never with a single one. It asks for their
 * state and not for the page, as Hadoop's filter does: they would ask the driver for it, which waits for the answer.
 */
#pragma once

#include <stdint.h>

struct active_proxy;
struct string_list;

#define ACTIVE_PROXY_AGE_MS 5000
#define ACTIVE_PROXY_WAIT_S 1

/* @bases: "http://rm:8088/proxy/APPLICATION", at least one, in the order in which they are asked. Copied. */
struct active_proxy *active_proxy_new(const struct string_list *bases);

/* May wait for the thread, whose last request ends within seconds. NULL is allowed. */
void active_proxy_free(struct active_proxy *p);

/*
 * The base at the ResourceManager that is active. Without one, of the first that refuses to tell its state (security);
 * without such, the last result, or the first base. Waits for a search until it is ACTIVE_PROXY_WAIT_S old, and then
 * returns the last result. One thread at a time. Borrowed until the next call.
 */
const char *active_proxy_base(struct active_proxy *p);
