// The state of PID 1, and the functions that its parts share.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "job.h"
#include "ring.h"
#include "wire.h"

#define NEVER UINT64_MAX

struct stream {
    int fd;  // -1: closed.
    uint64_t bytes;
};

// Of a session; all zero while there is none. A descriptor that is closed is -1.
struct interpreter {
    pid_t pid;
    int channel;  // Ours of the pair; the other end is its stdin.
    int fds[2];   // Its stdout and stderr, read while a step of its runs.
    uint8_t nonce[16];
    bool asked, done, broken;  // Of its step.
};

// A program that has loaded libraries and waits for the first block. All zero while there is none.
struct preload {
    pid_t pid;
    int channel;  // Ours of the pair; the other end is its descriptor PRELOAD_FD.
    int theirs;   // That end, while it is being started.
    int fds[2];   // Its stdout and stderr.
    uint64_t ready_by;
    bool ready, ended;
};

struct cell {
    struct job job;
    struct interpreter interpreter;
    struct preload preload;
    bool in_preload;  // The block that runs.
    bool finishing;
    uint64_t started_us;   // When START came; every time that is sent counts from here.
    uint64_t lifetime_at;  // Then init kills everything and exits, whatever else happens.

    enum stop_cause cause;
    uint8_t kill_reason;
    unsigned kills;
    uint64_t kill_at;  // The end of the grace, once a stop was asked for.
    bool blocks_over;

    struct stream streams[2];  // stdout and stderr of the running block.
    size_t block_index, blocks_begun;
    uint64_t stdout_bytes, stderr_bytes;
    uint64_t bounding;  // The capabilities that a child has to drop.
    int status_fd;  // Closed by the block's exec; a record in it says how far it came.
    uint8_t status[64];
    size_t status_length;
    uint64_t log_head_left;
    bool log_limit_sent;
    struct ring ring;
};

extern struct cell cell;

// clock.c
uint64_t now_us(void);
uint64_t since_start(void);

// out.c: frames to the host. out_begin waits for room, out_end queues the frame.
void out_hold(void);
struct writer out_begin(size_t most);
void out_end(uint8_t type, struct writer *w);
size_t out_room(void);
bool out_pending(void);
void out_flush(void);
void out_drain(void);

// input.c: frames from the host.
void input_hold(void);
bool input_wanted(void);
void input_read(void);
enum job_event input_next(const uint8_t **payload, size_t *length);

// memory.c: a held buffer is resident from then on, with its bytes unchanged. Its whole pages stay out of every fork:
// no child needs them.
#define PAGE_BYTES 4096
void touch(void *memory, size_t bytes);
void hold(void *pages, size_t bytes);
void hold_memory(void);
void free_reserve(void);

// loop.c: waits until something happens or the time comes, and moves bytes meanwhile.
void pump(uint64_t wake_at);
_Noreturn void die(void);
_Noreturn void fail(enum cell_error code, int err, const char *text);
_Noreturn void fail_as(const struct fault *fault);

// log.c
void log_start(void);
bool log_wanted(uint64_t now, uint64_t *quiet_until);
void log_read(int stream);
void log_drain(void);
void log_tail(void);

// relay.c: whole frames of a child of ours, passed on to the host.
struct relay {
    int fd;
    uint8_t first, last;  // The types it may send.
    uint64_t frames;
    uint8_t last_type;
};
extern struct relay relay;
void relay_hold(void);
void relay_start(int fd, uint8_t first, uint8_t last);
void relay_read(void);

// child.c
struct child_plan {
    int out, err;   // -1: /dev/null.
    int channel;    // Its stdin. 0: /dev/null.
    int aside;      // Its descriptor PRELOAD_FD. 0: none.
    int status_fd;  // -1: none.
    bool (*body)(void *argument, int *err);
    void *argument;
    enum start_stage body_stage;
};
#define LOG_PIPE_BYTES (64 * 1024)
#define FRAMES_PIPE_BYTES (256 * 1024)
void pipe_as_job(int ends[2], int bytes);
pid_t spawn(struct child_plan *plan);
pid_t spawn_sharing(struct child_plan *plan);
bool reap(pid_t main, int *status);
void kill_all(pid_t main, int *status);
bool wait_for(pid_t child, uint64_t until);
bool wait_beside(pid_t child, uint64_t until);
bool run_program(void *block, int *err);
bool run_posture(void *nothing, int *err);

// scratch.c
void scratch_check(void);
int scratch_folders(const char *path);
int scratch_place(const struct block *block);
void scratch_file_begin(void);
void scratch_file_data(const uint8_t *bytes, size_t length);
int step_files_error(void);
void scratch_keep_out(const char *path);
int scratch_take_away(const char *path);
bool scratch_unused(void);

// left.c
void say_left(void);

// empty.c
bool scratch_empty(void *nothing, int *err);

// posture.c, seal.c
int posture_main(void);
void seal(void);

// block.c
#define SAMPLE_US 100000
struct account;
struct ending {
    enum block_how how;
    int code, err;
};
void run_blocks(struct account *whole);
bool block_begin(struct block *block, pid_t *main, struct ending *end);
bool failed_to_start(struct ending *end, uint8_t *program);
void say_started(uint8_t program, uint64_t at_us);
void say_ended(const struct ending *end, enum stop_cause cause, uint64_t began_us, uint64_t ended_us, const struct account *account);
static inline uint64_t nearest(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// stop.c
void ask_to_stop(enum stop_cause cause, uint64_t since);
void take_kill(void);
void take_kills(void);

// session.c, step.c
void run_session(struct account *whole);
void run_step(uint64_t run_at, struct account *before);
void interrupt_step(void);

// interpreter.c
bool interpreter_start(struct block *block, int *err);
bool interpreter_ask(const struct block *block);
void interpreter_speak(void);
void interpreter_rest(void);
void interpreter_look(void);
void interpreter_finish(void);
void interpreter_forget(void);

// said.c
void said_hold(void);
void said_start(void);
bool said_wanted(void);
void said_read(void);

// preload.c
#define PRELOAD_FD 99
void preload_start(void);
void preload_look(void);
uint64_t preload_wakes(void);
void preload_stop(void);
bool preload_takes(const struct block *block);
pid_t preload_go(void);
void preload_end(void);

// residents.c
void residents_hold(void);
bool residents_stop(void);
bool residents_are(pid_t alone);
void residents_go_on(void);
void signal_step(int signal);
void kill_step(pid_t main, int *status);

// collect.c
struct totals {
    uint32_t files;
    uint64_t bytes, refused;
    uint8_t flags;
};
extern struct totals *totals;
void totals_start(void);
bool no_outputs(void);
void collect_outputs(void);
void collect_workspace(void);

// workspace.c
void workspace_lay_out(void);
