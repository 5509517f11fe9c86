/*
 * Stores a map output in Celeborn while its task computes, as a remote_stream (shuffle/remote_shuffle.h): full pages
 * are pushed at once, small ones together at the end. Until the driver has named the locations of the shuffle, pages
 * wait.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

struct push_client;

/* Begins to store @output in Celeborn's shuffle @shuffle. @client is borrowed. Never NULL. */
struct remote_stream *push_stream_new(struct push_client *client, int32_t shuffle, const struct remote_output *output);
