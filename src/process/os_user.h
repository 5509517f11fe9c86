/* The account of this process in the system's user database. */
#pragma once

/*
 * The name of the effective user, or NULL if it has no account. Each user is looked up once in a process: an account
 * does not change its name, and a lookup opens and reads /etc/passwd, or asks a server. Valid until the process ends.
 * Any thread.
 */
const char *os_user_name(void);
