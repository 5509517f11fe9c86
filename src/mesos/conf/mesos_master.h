/*
 * Where Mesos's masters are: the part of spark.master behind "mesos://".
 *
 *      host:port                             one master, or any of several: another than the leader redirects
 *      zk://[user:password@]h1:p,h2:p/path   the leader is the oldest node below the path in ZooKeeper
 *      file:///path                          a file that holds one of the two
 */
#pragma once

struct fst_error;

enum mesos_master_kind { MESOS_MASTER_ADDRESS, MESOS_MASTER_ZOOKEEPER };

struct mesos_master {
        enum mesos_master_kind kind;
        char *address;       /* "host:port"; ADDRESS */
        char *servers;       /* "h1:p,h2:p"; ZOOKEEPER */
        char *user_password; /* "user:password", or NULL; ZOOKEEPER */
        char *path;          /* "/mesos", "" for the root; ZOOKEEPER */
        char *text;          /* for messages: without the password */
};

/*
 * Parses @text, with or without "mesos://" before it. Reads the file of a file: URL. Returns 0; -EINVAL with @error;
 * or a negative status with @error for a file that cannot be read. The caller releases *@out.
 */
int mesos_master_parse(const char *text, struct mesos_master *out, struct fst_error *error);

void mesos_master_deinit(struct mesos_master *master);
