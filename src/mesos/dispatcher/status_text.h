/*
 * A message of Mesos as the text of protobuf, with the names of Mesos's older API ("slave_id"): the form in which
 * Spark's dispatcher shows the last update of a driver.
 *
 *      task_id {
 *        value: "driver-20261129031500-0001"
 *      }
 *      state: TASK_RUNNING
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

struct buf;

/* Appends the fields that @message has, by number. Unknown fields are left out. */
void status_text_put(struct buf *out, const ProtobufCMessage *message);

/* The text of a packed TaskStatus, which the caller owns. NULL if @data is none. */
char *status_text_of(const void *data, size_t size);
