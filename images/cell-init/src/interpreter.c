// The interpreter of a session: one process of the job, fed step after step. Its stdin is one end of a pair of sockets,
// by which init names the file with the step's code, and hears what the interpreter says of it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cell.h"

#define NONCE_BYTES 16

static bool try_start(struct child_plan *plan, struct interpreter *i, int *err) {
    i->pid = spawn(plan);
    *err = errno;
    close(plan->out);
    close(plan->err);
    close(plan->channel);
    close(plan->status_fd);
    return i->pid > 0;
}

// True if its process was made; whether its program could be executed shows later, as for a block.
bool interpreter_start(struct block *block, int *err) {
    struct interpreter *i = &cell.interpreter;
    int out[2], errors[2], pair[2], status[2];
    pipe_as_job(out, LOG_PIPE_BYTES);
    pipe_as_job(errors, LOG_PIPE_BYTES);
    if (pipe2(status, O_CLOEXEC) || fcntl(status[0], F_SETFL, O_NONBLOCK)) fail(E_SYSTEM, errno, "a pipe for the interpreter");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) || fcntl(pair[0], F_SETFL, O_NONBLOCK))
        fail(E_SYSTEM, errno, "a pair of sockets for the interpreter");
    *i = (struct interpreter){.channel = pair[0], .fds = {out[0], errors[0]}};
    said_start();
    cell.status_length = 0;
    cell.status_fd = status[1];
    struct child_plan plan = {.out = out[1],
                              .err = errors[1],
                              .channel = pair[1],
                              .status_fd = status[1],
                              .body = run_program,
                              .argument = block,
                              .body_stage = STAGE_EXEC};
    bool made = try_start(&plan, i, err);
    cell.status_fd = status[0];
    if (made) return true;
    close(status[0]);
    cell.status_fd = -1;
    interpreter_forget();
    return false;
}

// Names the step's file. The nonce is new for each step: what an earlier one wrote ahead is not this one's.
bool interpreter_ask(const struct block *block) {
    struct interpreter *i = &cell.interpreter;
    i->done = false;
    i->asked = true;
    if (syscall(SYS_getrandom, i->nonce, NONCE_BYTES, 0) != NONCE_BYTES) fail(E_SYSTEM, errno, "no random bytes for a step");
    size_t path = strlen(block->path);
    uint8_t message[4 + NONCE_BYTES + MAX_PATH_BYTES];
    set_uint(message, NONCE_BYTES + path, 4);
    memcpy(message + 4, i->nonce, NONCE_BYTES);
    memcpy(message + 4 + NONCE_BYTES, block->path, path);
    size_t length = 4 + NONCE_BYTES + path;
    // An interpreter that does not take even this has not read what came before.
    return send(i->channel, message, length, MSG_NOSIGNAL) == (ssize_t)length;
}

void interpreter_speak(void) {
    for (int n = 0; n < 2; n++) cell.streams[n].fd = cell.interpreter.fds[n];
}

static uint64_t waiting_bytes(int fd) {
    int bytes = 0;
    return fd < 0 || ioctl(fd, FIONREAD, &bytes) || bytes < 0 ? 0 : (uint64_t)bytes;
}

// Takes in what it wrote by now, and leaves what its threads write from now on to the next step.
void interpreter_rest(void) {
    for (int n = 0; n < 2; n++) {
        struct stream *stream = &cell.streams[n];
        uint64_t until = stream->bytes + waiting_bytes(stream->fd);
        while (stream->fd >= 0 && stream->bytes < until) {
            uint64_t wake_at = NEVER, before = stream->bytes;
            if (!log_wanted(now_us(), &wake_at)) {
                pump(wake_at);
                continue;
            }
            log_read(n);
            // Any process of the job can open this pipe and read what was counted: then the rest never comes.
            if (stream->bytes == before) break;
        }
        cell.interpreter.fds[n] = stream->fd;
        stream->fd = -1;
    }
}

// It is dead, or never lived.
void interpreter_forget(void) {
    struct interpreter *i = &cell.interpreter;
    if (i->channel > 0) close(i->channel);
    for (int n = 0; n < 2; n++)
        if (i->fds[n] > 0) close(i->fds[n]);
    *i = (struct interpreter){0};
}

// It may have ended by itself: what it started ends with it, and the next step finds another one.
void interpreter_look(void) {
    struct interpreter *i = &cell.interpreter;
    if (i->pid || i->channel <= 0) return;
    int none = -1;
    kill_all(0, &none);
    interpreter_forget();
}

// Nothing more comes: it ends by itself, with what its program does at its end.
void interpreter_finish(void) {
    if (cell.interpreter.pid) shutdown(cell.interpreter.channel, SHUT_WR);
}
