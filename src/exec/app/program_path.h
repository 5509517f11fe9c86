/*
 * The firesteel program that belongs to this library: who is not it starts it for executors and for applications.
 */
#pragma once

/* This very program if it is firesteel, else the one beside the library: its path, which the caller owns; or NULL. */
char *program_find(void);
