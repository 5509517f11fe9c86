/* For tests: a random world for the master with hosts, clients, drivers, stored records and messages in flight. The
 * parts share one world, made from a seed: master_sim_ops.c carries out actions, master_sim_check.c checks invariants,
 * master_sim_test.c produces events.
 */
#pragma once

#include "standalone/core/master_fixture.h"

enum { WORKERS = 8, APPS = 6, TOKENS = 64, PROCESSES = 64, INBOX = 256, RECORDS = 256, STEPS = 350, SEEDS = 250 };

enum letter_kind { LETTER_REGISTERED, LETTER_CHANGED, LETTER_LAUNCH, LETTER_KILL, LETTER_DRIVER, LETTER_KILL_DRIVER };

struct process {
        char owner[40]; /* application or driver */
        int id;         /* -1: a driver */
        int cores, gpu; /* gpu: the address; -1: none */
        int64_t memory;
        bool running;
};

struct letter {
        enum letter_kind kind;
        struct process what;
};

struct master_sim_host {
        char id[32];
        int generation, cores, gpus;
        int64_t memory;
        bool up, knows;          /* knows: registered over this connection */
        uint64_t peer, old_peer; /* 0: not connected; old_peer: a connection whose end the master has not noticed yet */
        struct process processes[PROCESSES];
        int n_processes;
        struct letter inbox[INBOX];
        int n_inbox;
};

struct client {
        char id[40], address[32], next_address[32];
        bool lives, must_answer;
        bool gone; /* its driver ended; the next one may come */
        uint64_t peer;
        struct app_spec spec;
        struct executor_target targets[2];
        int next_executor;
};

struct record {
        enum master_record kind;
        char id[40];
        int at; /* host, client or token */
        bool launched;
        bool waiting; /* for its next driver */
        int next_executor;
};

struct master_world {
        uint64_t random, seed, next_peer;
        int64_t now;
        struct master *m;
        struct master_sim_host hosts[WORKERS];
        struct client clients[APPS];
        int n_clients_ever;
        bool supervised[TOKENS], over[TOKENS];
        int n_tokens;
        struct record records[RECORDS];
        int n_records;
        int64_t launches, lost, masters, resumed, superseded;
};

extern struct master_world world;

static const char *const gpu_names[] = {"0", "1", "2", "3"};

static inline unsigned sim_roll(unsigned n)
{
        return (unsigned)(object_hash_number(world.random += 0x9e3779b97f4a7c15u) % n);
}

#define HOLDS(condition)                                                                                               \
        do {                                                                                                           \
                if (!(condition))                                                                                      \
                        fail_msg("seed %d, line %d: %s", (int)world.seed, __LINE__, #condition);                       \
        } while (0)

/* Carries out the master's actions. Called after every event. */
void world_run(void);

/* Checks the invariants that hold after every event. */
void world_check(void);

/* Checks after a pass that Spark's full scan would place nothing more. */
void world_check_no_starvation(void);
