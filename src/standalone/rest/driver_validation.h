/* Decides which drivers this cluster runs: native applications. A JVM's driver could not register with this master
 * (Spark's messages are serialized Java objects), so it is refused at submission with that reason, unless
 * spark.firesteel.standalone.jvm is "local": then it runs beside its worker as java with local[CORES].
 *
 * All ways to submit call it: the REST server, the legacy gateway, and workers before a launch.
 */
#pragma once

struct fst_conf;
struct fst_error;

enum driver_kind { DRIVER_NATIVE, DRIVER_JVM };

/* Determines the kind of driver from the name of the file at @url ("file:/a/app.so", "hdfs://…/app.jar?x"). @conf is
 * the daemon's. Returns 0 and *@kind; -ENOTSUP with @error, worded for the user, if this cluster runs no such driver;
 * -EINVAL if spark.firesteel.standalone.jvm is neither "refuse" nor "local".
 */
int driver_check(const char *url, const struct fst_conf *conf, enum driver_kind *kind, struct fst_error *error);
