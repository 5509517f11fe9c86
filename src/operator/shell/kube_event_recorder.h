/*
 * Writes Events (events.k8s.io/v1) about applications. An event that the API server refuses, or that exceeds
 * MAX_PENDING_EVENTS, is dropped: events inform, and nothing depends on them.
 *
 * Threads: the loop's thread.
 */
#pragma once

#include <stddef.h>

struct kube_event_recorder;
struct kube_client;

#define MAX_PENDING_EVENTS 10000

struct kube_event_recorder *kube_event_recorder_new(struct kube_client *client);

/* Call it before the client is freed. NULL is allowed. */
void kube_event_recorder_free(struct kube_event_recorder *r);

/* Returns how many bytes of @text an event's note takes: at most 1000, and whole characters. */
size_t event_note_length(const char *text);

/* The object that an event regards. Texts are borrowed for the call. */
struct event_object {
        const char *kind, *namespace, *name, *uid;
        const char *api; /* NULL: OPERATOR_API */
};

/* @type: "Normal" or "Warning". @reason: "SparkApplicationSubmitted". */
void kube_event_recorder_record(struct kube_event_recorder *r, const struct event_object *object, const char *type,
                                const char *reason, const char *message);
