/* See thread_dump_wire.h. */
#include "exec/task/thread_dump_wire.h"

#include "base/buf.h"
#include "base/mem.h"
#include "exec/task/thread_dump.h"
#include "rpc/control.pb-c.h"

void thread_dump_encode(struct slot *const *slots, int n_slots, struct buf *out)
{
        size_t n, symbol = 0;
        struct thread_sample *threads = thread_dump_take(slots, n_slots, &n);
        char **symbols = thread_symbols_new(threads, n);
        Firesteel__Thread *messages = new_array(Firesteel__Thread, n), **pointers = new_array(Firesteel__Thread *, n);
        char(*states)[2] = mem_zero(n * sizeof(*states) + 1);
        for (size_t i = 0; i < n; i++) {
                Firesteel__Thread *m = pointers[i] = &messages[i];
                firesteel__thread__init(m);
                states[i][0] = threads[i].state;
                m->id = threads[i].id;
                m->name = threads[i].name;
                m->state = states[i];
                m->cpu_ms = threads[i].cpu_ms;
                m->wait = threads[i].wait;
                m->task_id = threads[i].task_id;
                m->function = threads[i].function;
                m->stack = symbols + symbol;
                m->n_stack = (size_t)threads[i].n_frames;
                symbol += m->n_stack;
        }
        Firesteel__ThreadDump dump = FIRESTEEL__THREAD_DUMP__INIT;
        dump.threads = pointers;
        dump.n_threads = n;
        size_t size = firesteel__thread_dump__get_packed_size(&dump);
        buf_reserve(out, size);
        out->len += firesteel__thread_dump__pack(&dump, (uint8_t *)out->data + out->len);
        free(states);
        free(messages);
        free(pointers);
        thread_symbols_free(symbols);
        free(threads);
}
