// Frames from the host: read as soon as they come (so that stdin's end is seen at once), decoded on demand.
#include <errno.h>
#include <unistd.h>
#include "cell.h"

static uint8_t buffer[HEADER_BYTES + MAX_PAYLOAD_BYTES];
static size_t used, filled;

void input_hold(void) {
    touch(buffer, sizeof buffer);
}

bool input_wanted(void) {
    return filled < sizeof buffer || used;
}

void input_read(void) {
    if (used) {
        memmove(buffer, buffer + used, filled - used);
        filled -= used;
        used = 0;
    }
    ssize_t n = read(STDIN_FILENO, buffer + filled, sizeof buffer - filled);
    if (n > 0) filled += (size_t)n;
    // The dead man's switch: the worker at the other end is gone.
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) die();
}

// EV_NONE if there is no whole frame yet (payload NULL), or after a frame that needs no action.
enum job_event input_next(const uint8_t **payload, size_t *length) {
    *payload = NULL;
    if (filled - used < HEADER_BYTES) return EV_NONE;
    uint8_t type;
    struct fault fault;
    if (!frame_header(buffer + used, &type, length, &fault)) fail_as(&fault);
    if (filled - used - HEADER_BYTES < *length) return EV_NONE;
    *payload = buffer + used + HEADER_BYTES;
    used += HEADER_BYTES + *length;
    enum job_event event = job_frame(&cell.job, type, *payload, *length, &fault);
    if (event == EV_FAULT) fail_as(&fault);
    return event;
}
