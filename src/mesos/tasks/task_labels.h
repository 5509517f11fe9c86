/* Labels in a setting: "key:value,key:value", where \, and \: stand for a comma and a colon. */
#pragma once

#include "mesos/protocol/mesos.pb-c.h"

struct arena;
struct fst_error;

/* Sets *@out to labels in @arena; NULL and "" give none. Returns 0, or -EINVAL with @error. */
int task_labels_parse(struct arena *arena, const char *text, Firesteel__Mesos__Labels **out, struct fst_error *error);
