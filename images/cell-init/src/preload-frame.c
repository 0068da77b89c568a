// The frame of a preload: as a block's, but its file lies where the interpreter finds it before its own script.
#include "decode.h"

enum job_event on_preload(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != SEALED || job->has_preload) return FAULT(E_ORDER, "PRELOAD: not now");
    job->has_preload = true;
    enum job_event event = take_block(job, &job->preload, 0, &r, fault);
    if (event == EV_FAULT) return event;
    if (!*job->preload.path || !job->preload.size || !job->preload.time_ms)
        return FAULT(E_PROTOCOL, "PRELOAD: without a file or a time");
    return EV_NONE;
}
