/*
 * Applications whose driver may die (docs/guide/resuming.md).
 *
 *      #include <firesteel/resume.h>
 */
#pragma once

#include <firesteel/context.h>

FST_BEGIN_DECLS

/*
 * True if an earlier driver ran this application and died (spark.firesteel.resume.enabled): main runs again, and
 * actions that had ended return their results at once. For effects of main itself that must not happen twice.
 */
FST_API bool fst_is_resumed(const fst_context *sc);

FST_END_DECLS
