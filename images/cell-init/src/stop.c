// What the host asks for while the job runs, and what follows from it.
#include <signal.h>
#include "cell.h"

void ask_to_stop(enum stop_cause cause, uint64_t since) {
    // The first cause wins.
    if (cell.cause != CAUSE_NONE || cell.blocks_over) return;
    cell.cause = cause;
    // The grace begins with its cause, even if a storm of processes delayed init. The job gets at least half of it.
    uint64_t grace = cell.job.limits.grace_ms * 1000ull, at_least = now_us() + grace / 2;
    cell.kill_at = since + grace > at_least ? since + grace : at_least;
    kill(-1, SIGTERM);
    // What rests while a step runs hears it too.
    if (cell.job.is_session) kill(-1, SIGCONT);
}

void take_kill(void) {
    // Asked twice: don't wait even for the outputs.
    if (++cell.kills > 1) die();
    if (cell.cause == CAUSE_NONE && !cell.blocks_over) cell.kill_reason = cell.job.kill_reason;
    ask_to_stop(CAUSE_KILLED, now_us());
}

void take_kills(void) {
    if (cell.job.phase < STARTED) return;
    const uint8_t *payload;
    size_t length;
    for (;;) {
        enum job_event event = input_next(&payload, &length);
        if (!payload) return;
        if (event == EV_KILL) take_kill();
        if (event == EV_INTERRUPT) interrupt_step();
        if (event == EV_FINISH) cell.finishing = true;
    }
}
