/*
 * Which drivers this cluster runs: native applications. A JVM's driver could not register with a master of ours
 * (Spark's messages between processes are serialized Java objects), so it is refused when it is submitted, with that
 * reason, unless spark.firesteel.standalone.jvm is "local": then it runs beside its worker as java with local[CORES].
 *
 * Every way to submit asks here: the REST server, the legacy gateway, and workers that are to launch one.
 */
#pragma once

struct fst_conf;
struct fst_error;

enum driver_kind { DRIVER_NATIVE, DRIVER_JVM };

/*
 * What the driver in the file at @url ("file:/a/app.so", "hdfs://…/app.jar?x") is, by its name. @conf is the daemon's.
 * 0 and *@kind; -ENOTSUP with @error, a sentence for who submits, if no driver here is made of it; -EINVAL if
 * spark.firesteel.standalone.jvm says neither "refuse" nor "local".
 */
int driver_check(const char *url, const struct fst_conf *conf, enum driver_kind *kind, struct fst_error *error);
