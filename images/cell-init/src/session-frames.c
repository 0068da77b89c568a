// The frames of a session: which one it is, the start of each step, and what the host orders meanwhile. And that of a
// workspace, which runs have, too.
#include "decode.h"

enum job_event on_session(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != LOADING || job->is_session || job->block_count) return FAULT(E_ORDER, "SESSION: not now");
    job->said_bytes = get_uint(&r, 8);
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "SESSION: wrong length");
    job->is_session = true;
    return EV_NONE;
}

enum job_event on_step(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != IDLE || job->block_count == 0) return FAULT(E_ORDER, "STEP: no block to start");
    if (job->steps == MAX_STEPS) return FAULT(E_LIMIT, "STEP: too many");
    job->blocks[0].in_interpreter = get_uint(&r, 1);
    size_t count = get_uint(&r, 1);
    if (count > MAX_COLLECTED) return FAULT(E_LIMIT, "STEP: too many files to collect");
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const uint8_t *path = get_str(&r, &length);
        if (r.bad || !good_path(path, length)) return FAULT(E_PROTOCOL, "STEP: not a path in /work");
        char *copy = copy_str(path, length);
        if (!copy) return NO_MEMORY;
        job->collected[job->collected_count++] = copy;
    }
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "STEP: wrong length");
    job->phase = STARTED;
    return EV_STEP;
}

// Between two steps there is nothing to interrupt: the step may have ended while the frame was on its way.
enum job_event on_session_order(const struct job *job, struct reader r, enum job_event event, struct fault *fault) {
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "INTERRUPT or FINISH: wrong length");
    if (job->phase < STARTED || !job->is_session) return FAULT(E_ORDER, "INTERRUPT or FINISH: there is no session");
    return event;
}

void job_step_over(struct job *job) {
    free_blocks(job);
    job->code_bytes = job->file_bytes = job->file_count = 0;
    job->steps++;
    job->phase = IDLE;
}

enum job_event on_workspace(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != LOADING || job->workspace.asked) return FAULT(E_ORDER, "WORKSPACE: not now");
    job->workspace.asked = true;
    job->workspace.bytes = get_uint(&r, 8);
    job->workspace.files = get_uint(&r, 4);
    return WHOLE(r) ? EV_NONE : FAULT(E_PROTOCOL, "WORKSPACE: wrong length");
}
