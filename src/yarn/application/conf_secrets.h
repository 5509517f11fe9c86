/*
 * The configuration of a native application inside the credentials of its ApplicationMaster's container, instead of in
 * a staging directory: each file is a secret, whose alias is a prefix and its name in __spark_conf__.
 *
 *      r = conf_secrets_put(&archive, &hadoop, &credentials, error);                 the client
 *      r = conf_secrets_unpack(getenv("HADOOP_TOKEN_FILE_LOCATION"), ".", error);    firesteel yarn-am
 *
 * YARN keeps the credentials in a file that only the application's user can read; the unpacked files have the mode
 * 0400.
 */
#pragma once

#include <stddef.h>

struct conf_archive;
struct fst_error;
struct hadoop_conf;
struct hadoop_credentials;

/* Larger configurations are staged: the ResourceManager stores the credentials of each application. */
#define CONF_SECRETS_MAX_SIZE ((size_t)64 << 10)

/* Returned by conf_secrets_put: the configuration is too large, and @credentials are as before. */
#define CONF_SECRETS_E_TOO_LARGE 1

/* Adds the files of @archive (conf_archive_list). Returns 0, CONF_SECRETS_E_TOO_LARGE, or negative with @error. */
int conf_secrets_put(const struct conf_archive *archive, const struct hadoop_conf *hadoop,
                     struct hadoop_credentials *credentials, struct fst_error *error);

/*
 * Writes the files in the credentials file @path to __spark_conf__ in the directory @folder, and replaces files of that
 * name. Does nothing if there are none. Returns 0, or negative with @error: -EBADMSG for a name that leaves the
 * directory.
 */
int conf_secrets_unpack(const char *path, const char *folder, struct fst_error *error);
