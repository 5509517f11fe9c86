/*
 * The records of a Mesos dispatcher (dispatcher.proto) in the store of a standalone master (standalone/recovery): one
 * for each driver that has not ended, and one with the id of its framework.
 *
 * Differs from Spark, whose records are Java objects in ZooKeeper: neither reads the other's.
 */
#pragma once

#include "mesos/dispatcher/dispatcher_core.h"
#include "standalone/recovery/persistence.h"

/* The bytes of a driver's record, which the caller owns. */
void *dispatcher_record_pack(const struct dispatcher *d, const struct mesos_driver *driver, size_t *size);

/*
 * Passes @records to @d: the framework's id, then the drivers in the order of their submission. Skips invalid records
 * with a warning that names them, and returns their number.
 */
int dispatcher_records_read(struct dispatcher *d, const struct persistence_record *records, size_t n, int64_t now);

/* The id under which the framework's record is stored, whose data is the id that Mesos gave. */
#define DISPATCHER_FRAMEWORK_RECORD "framework"
