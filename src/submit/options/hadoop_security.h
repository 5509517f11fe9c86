/*
 * Who a submission is for Hadoop where that asks for Kerberos: hadoop.security.authentication is "kerberos" in
 * core-site.xml. (What --conf spark.hadoop.… says comes too late for this in Spark, and here.) Without that everything
 * here costs a look for the file.
 */
#pragma once

#include <stdbool.h>

struct fst_error;

struct hadoop_security {
        bool enabled;
        char *user; /* the short name, without realm and host, of the tickets that are there, else of the account */
        char *ticket_cache; /* of hadoop_security_login; NULL: nobody has logged in */
};

/* Read the configuration and who the user is. -errno or -EINVAL with @error for a configuration file. */
int hadoop_security_init(struct hadoop_security *s, const char *(*env)(const char *name), struct fst_error *error);

/* The thread's tickets are again what they were before hadoop_security_login. */
void hadoop_security_deinit(struct hadoop_security *s);

/*
 * Log in with a keytab, if Kerberos is asked for: this thread has its tickets from now on (net/kerberos.h); whoever
 * takes `ticket_cache` (steal) has to forget it. -EACCES and others with @error in Spark's words.
 */
int hadoop_security_login(struct hadoop_security *s, const char *principal, const char *keytab,
                          struct fst_error *error);

/* A principal's short name, owned by the caller: "hdfs/host@REALM" is "hdfs". */
char *kerberos_short_name(const char *principal);

/*
 * The principal whose tickets the @len bytes of a credential cache hold, owned by the caller: format 3 or 4 of MIT's
 * FILE caches. NULL for anything else. Pure.
 */
char *kerberos_cache_principal(const unsigned char *data, unsigned long len);
