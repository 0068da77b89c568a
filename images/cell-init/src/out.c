// Frames to the host. Writes never block: a host that does not read must not keep init from enforcing limits.
#include <errno.h>
#include <unistd.h>
#include "cell.h"

#define QUEUE_BYTES (512 * 1024)

static uint8_t queue[QUEUE_BYTES] __attribute__((aligned(PAGE_BYTES)));
static size_t sent, queued;

void out_hold(void) {
    hold(queue, sizeof queue);
}

bool out_pending(void) {
    return sent < queued;
}

size_t out_room(void) {
    if (sent && (sent == queued || QUEUE_BYTES - queued < QUEUE_BYTES / 2)) {
        memmove(queue, queue + sent, queued - sent);
        queued -= sent;
        sent = 0;
    }
    return QUEUE_BYTES - queued;
}

void out_flush(void) {
    while (sent < queued) {
        ssize_t n = write(STDOUT_FILENO, queue + sent, queued - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) die();
        sent += (size_t)n;
    }
    sent = queued = 0;
}

struct writer out_begin(size_t most) {
    while (out_room() < HEADER_BYTES + most) pump(NEVER);
    return (struct writer){.at = queue + queued + HEADER_BYTES, .room = most};
}

void out_end(uint8_t type, struct writer *w) {
    if (w->bad) die();
    set_header(queue + queued, type, w->length);
    queued += HEADER_BYTES + w->length;
}

void out_drain(void) {
    while (out_pending()) pump(NEVER);
}
