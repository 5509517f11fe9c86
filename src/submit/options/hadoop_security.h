/*
 * The Hadoop user of a submission, where core-site.xml sets hadoop.security.authentication to "kerberos". (As in Spark,
 * --conf spark.hadoop.… is applied too late for this.) Without Kerberos, these functions only check whether the file
 * exists.
 */
#pragma once

#include <stdbool.h>

struct fst_error;

struct hadoop_security {
        bool enabled;
        char *user;         /* the short name, without host and realm, of the ticket holder, else of the account */
        char *ticket_cache; /* of hadoop_security_login; NULL without a login */
};

/*
 * Reads the configuration and the user. Returns -errno or -EINVAL with @error for a configuration file that cannot be
 * read.
 */
int hadoop_security_init(struct hadoop_security *s, const char *(*env)(const char *name), struct fst_error *error);

/* Restores the thread's tickets from before hadoop_security_login. */
void hadoop_security_deinit(struct hadoop_security *s);

/*
 * Logs in with a keytab, if Kerberos is enabled. This thread then uses the new tickets (net/kerberos.h). A caller that
 * steals `ticket_cache` must forget the tickets itself. Returns -EACCES and others with @error in Spark's words.
 */
int hadoop_security_login(struct hadoop_security *s, const char *principal, const char *keytab,
                          struct fst_error *error);

/* The short name of a principal, owned by the caller: "hdfs/host@REALM" gives "hdfs". */
char *kerberos_short_name(const char *principal);

/*
 * The principal of the tickets in a credential cache of @len bytes, owned by the caller. Reads formats 3 and 4 of MIT's
 * FILE caches, and returns NULL for anything else. Pure.
 */
char *kerberos_cache_principal(const unsigned char *data, unsigned long len);
