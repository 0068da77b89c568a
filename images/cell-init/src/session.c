// A session: the cell lives on between its steps, until the host finishes it or a limit of the run ends it.
#include <signal.h>
#include "account.h"
#include "cell.h"

// True with a step to run.
static bool await_step(uint64_t run_at) {
    const uint8_t *payload;
    size_t length;
    if (now_us() >= run_at) ask_to_stop(CAUSE_RUN_TIME, run_at);
    switch (input_next(&payload, &length)) {
        case EV_FILE: scratch_file_begin(); return false;
        case EV_FILE_DATA: scratch_file_data(payload, length); return false;
        case EV_STEP: return true;
        case EV_FINISH: cell.finishing = true; return false;
        case EV_KILL: take_kill(); return false;
        default: break;
    }
    if (payload) return false;
    pump(run_at);
    int none;
    reap(0, &none);
    interpreter_look();
    return false;
}

// What still lives ends: by itself within the grace, or at once when that is over.
static void end_all(void) {
    uint64_t grace_at = cell.cause == CAUSE_NONE ? now_us() + cell.job.limits.grace_ms * 1000ull : cell.kill_at;
    int none = -1;
    cell.streams[0] = cell.streams[1] = (struct stream){.fd = -1};
    if (cell.interpreter.pid) interpreter_speak();
    interpreter_finish();
    while (cell.interpreter.pid && now_us() < grace_at) {
        pump(grace_at);
        take_kills();
        if (!reap(0, &none)) break;
    }
    kill_all(0, &none);
    log_drain();
    cell.stdout_bytes += cell.streams[0].bytes;
    cell.stderr_bytes += cell.streams[1].bytes;
    cell.interpreter.fds[0] = cell.interpreter.fds[1] = -1;
    interpreter_forget();
}

void run_session(struct account *whole) {
    struct account first, before;
    preload_end();
    account_read(&first);
    before = first;
    uint64_t run_at = now_us() + cell.job.limits.run_ms * 1000;
    while (cell.cause == CAUSE_NONE && !cell.finishing)
        if (await_step(run_at)) run_step(run_at, &before);
    end_all();
    cell.blocks_over = true;
    account_read(whole);
    account_since(whole, &first);
}
