/*
 * Encodes and decodes the records that a master stores of applications, drivers and workers (master_record.proto).
 *
 *      static void store(void *owner, enum master_record kind, const char *id, const void *object)
 *      {
 *              size_t size;
 *              _cleanup_free_ void *data = master_record_pack(kind, object, &size);
 *              persistence_store(p, kind, id, data, size);
 *      }
 *
 *      static void elected(void *owner, const struct persistence_record *records, size_t n)
 *      {
 *              _cleanup_(master_records_deinit) struct master_records r = MASTER_RECORDS_INIT;
 *              master_records_read(&r, records, n);
 *              master_elected(m, r.apps.data, (int)r.apps.len, r.drivers.data, (int)r.drivers.len, r.workers.data,
 *                             (int)r.workers.len, now);
 *      }
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "standalone/recovery/persistence.h"

/* @object is a struct master_app, master_driver or master_worker. The caller owns the bytes. */
void *master_record_pack(enum master_record kind, const void *object, size_t *size);

struct master_records {
        VEC(struct app_record) apps;
        VEC(struct driver_record) drivers;
        VEC(struct worker_spec) workers;
        struct arena arena; /* owns the specs' strings */
};

#define MASTER_RECORDS_INIT ((struct master_records){0})

/* Adds @records, which are copied, in their order. Skips unreadable or invalid ones with a warning that names them,
 * and returns their number.
 */
int master_records_read(struct master_records *r, const struct persistence_record *records, size_t n);
void master_records_deinit(struct master_records *r);
