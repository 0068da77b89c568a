// One wait for everything: the host's frames, the block's output, a child's frames, dead children, time.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include "cell.h"

enum { P_IN, P_OUT, P_STDOUT, P_STDERR, P_RELAY, P_STATUS, P_SAID, P_PRELOAD, P_COUNT = P_PRELOAD + 3 };

#define READY_EVENTS (POLLIN | POLLHUP | POLLERR)

// PID 1's end is the end of every process in the cell, on every runtime; the kill only makes it sooner.
_Noreturn void die(void) {
    kill(-1, SIGKILL);
    _exit(71);
}

_Noreturn void fail(enum cell_error code, int err, const char *text) {
    kill(-1, SIGKILL);
    // Nothing may follow an ERROR frame.
    cell.streams[0].fd = cell.streams[1].fd = cell.status_fd = relay.fd = -1;
    struct writer w = out_begin(4 + 2 + MAX_ERROR_TEXT_BYTES);
    put_uint(&w, code, 2);
    put_uint(&w, (uint64_t)err, 2);
    put_str(&w, text, strnlen(text, MAX_ERROR_TEXT_BYTES));
    out_end(T_ERROR, &w);
    out_drain();
    _exit(70);
}

_Noreturn void fail_as(const struct fault *fault) {
    fail(fault->code, fault->err, fault->text);
}

static void status_read(void) {
    ssize_t n = read(cell.status_fd, cell.status + cell.status_length, sizeof cell.status - cell.status_length);
    if (n > 0) cell.status_length += (size_t)n;
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
    close(cell.status_fd);
    cell.status_fd = -1;
}

void pump(uint64_t wake_at) {
    uint64_t now = now_us();
    if (now >= cell.lifetime_at) die();
    // Wake the caller that waits for the queue to empty.
    if (out_pending()) {
        out_flush();
        if (!out_pending()) return;
    }
    // Don't poll a descriptor that is not wanted: its POLLHUP would turn the wait into a spin. Stdin and stdout are
    // always polled: their end is the cell's end.
    bool logs = log_wanted(now, &wake_at);
    bool relays = out_room() >= 2 * (HEADER_BYTES + MAX_CHUNK_BYTES);
    struct pollfd polled[P_COUNT] = {
        [P_IN] = {.fd = STDIN_FILENO, .events = input_wanted() ? POLLIN : 0},
        [P_OUT] = {.fd = STDOUT_FILENO, .events = out_pending() ? POLLOUT : 0},
        [P_STDOUT] = {.fd = logs ? cell.streams[0].fd : -1, .events = POLLIN},
        [P_STDERR] = {.fd = logs ? cell.streams[1].fd : -1, .events = POLLIN},
        [P_RELAY] = {.fd = relays ? relay.fd : -1, .events = POLLIN},
        [P_STATUS] = {.fd = cell.status_fd, .events = POLLIN},
        [P_SAID] = {.fd = relays && said_wanted() ? cell.interpreter.channel : -1, .events = POLLIN},
    };
    // Only to wake the caller, which looks itself.
    const struct preload *p = &cell.preload;
    const int waiting[] = {p->channel, p->fds[0], p->fds[1]};
    for (int i = 0; i < 3; i++) polled[P_PRELOAD + i] = (struct pollfd){.fd = p->pid ? waiting[i] : -1, .events = POLLIN};
    if (cell.lifetime_at < wake_at) wake_at = cell.lifetime_at;
    uint64_t wait = wake_at > now ? wake_at - now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000), .tv_nsec = (long)(wait % 1000000) * 1000};
    sigset_t none;
    sigemptyset(&none);
    // SIGCHLD is unblocked only here: a child that died before the wait ends it at once.
    if (ppoll(polled, P_COUNT, wake_at == NEVER ? NULL : &timeout, &none) <= 0) return;
    if (polled[P_OUT].revents & (POLLERR | POLLHUP | POLLNVAL)) die();
    if (polled[P_IN].revents & POLLIN) input_read();
    else if (polled[P_IN].revents) die();
    if (polled[P_STATUS].revents & READY_EVENTS) status_read();
    if (polled[P_STDOUT].revents & READY_EVENTS) log_read(0);
    if (polled[P_STDERR].revents & READY_EVENTS) log_read(1);
    if (polled[P_RELAY].revents & READY_EVENTS) relay_read();
    if (polled[P_SAID].revents & READY_EVENTS) said_read();
    out_flush();
}
