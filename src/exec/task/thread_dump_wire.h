/* Threads of a process as a message ThreadDump (rpc/control.proto). */
#pragma once

struct buf;
struct slot;

/* Appends the packed threads of this process; as thread_dump_take. */
void thread_dump_encode(struct slot *const *slots, int n_slots, struct buf *out);
