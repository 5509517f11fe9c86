/* SparkContext.addFile of a directory: it travels as an archive that every process unpacks under the directory's name.
 */
#pragma once

#include "pyspark_driver/classes.h"

/*
 * Adds the directory @path with all that is in it. False if @path is not a directory. Else the call throws on failure,
 * and always without @recursive.
 */
bool added_directory(struct py4j_call *call, struct driver_session *session, const char *path, bool recursive);
