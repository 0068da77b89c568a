// A preload: an interpreter that was started as the job in a cell that waits, with the command of a usual first block, and
// has loaded libraries before it reads its script. It says that it is ready, and reads a byte; when that comes, it goes on
// and runs the script, which is the block's by then. Until then whatever it does but wait is the end of the cell.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cell.h"

#define READY 'R'
#define GO "G"

void preload_start(void) {
    struct block *b = &cell.job.preload;
    struct preload *p = &cell.preload;
    int pair[2];
    int err = scratch_folders(b->path);
    if (!err) err = scratch_place(b);
    if (err) fail(E_PRELOAD, err, "the preload's file could not be written to /work");
    // Its interpreter would leave what it compiled.
    scratch_keep_out(b->path);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) || fcntl(pair[0], F_SETFL, O_NONBLOCK))
        fail(E_SYSTEM, errno, "a pair of sockets for the preload");
    *p = (struct preload){.channel = pair[0], .theirs = pair[1], .ready_by = now_us() + b->time_ms * 1000};
    struct ending end;
    if (!block_begin(b, &p->pid, &end)) fail(E_PRELOAD, end.err, "no process for the preload");
    close(p->theirs);
    p->theirs = 0;
    for (int n = 0; n < 2; n++) {
        p->fds[n] = cell.streams[n].fd;
        cell.streams[n].fd = -1;
    }
    cell.job.code_bytes -= b->size;
}

// When to look again although nothing happened.
uint64_t preload_wakes(void) {
    return cell.preload.pid && !cell.preload.ready ? cell.preload.ready_by : NEVER;
}

// Stops it, and sees that it is alone and has left nothing.
void preload_stop(void) {
    preload_look();
    if (!cell.preload.ready) fail(E_PRELOAD, 0, "the preload is not ready");
    if (!residents_stop() || !residents_are(cell.preload.pid)) fail(E_PRELOAD, 0, "the preload started other processes");
    if (!scratch_unused()) fail(E_PRELOAD, 0, "the preload left files");
}

// It says so itself, and is believed for nothing: from here on it may only wait.
static void become_ready(void) {
    cell.preload.ready = true;
    int err = scratch_take_away(cell.job.preload.path);
    if (err) fail(E_PRELOAD, err, "the preload's file could not be removed from /work");
    preload_stop();
    residents_go_on();
    struct writer w = out_begin(0);
    out_end(T_PRELOADED, &w);
}

// Fails the cell for anything that the preload does but become ready, once.
void preload_look(void) {
    struct preload *p = &cell.preload;
    if (!p->pid) return;
    int none = -1;
    reap(0, &none);
    struct ending end;
    uint8_t program;
    if (cell.status_fd < 0 && failed_to_start(&end, &program)) fail(E_PRELOAD, end.err, "the preload's program cannot be run");
    struct pollfd out[2] = {{.fd = p->fds[0], .events = POLLIN}, {.fd = p->fds[1], .events = POLLIN}};
    poll(out, 2, 0);
    if ((out[0].revents | out[1].revents) & POLLIN) fail(E_PRELOAD, 0, "the preload wrote something");
    if (p->ended) fail(E_PRELOAD, 0, "the preload ended while it waited");
    if (out[0].revents || out[1].revents) fail(E_PRELOAD, 0, "the preload closed its output");
    if (!p->ready && now_us() >= p->ready_by) fail(E_PRELOAD, 0, "the preload was not ready in time");
    uint8_t said;
    ssize_t n = read(p->channel, &said, 1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n != 1 || said != READY || p->ready) fail(E_PRELOAD, 0, "the preload said something else than that it is ready");
    become_ready();
}

static bool same_words(char *const *a, char *const *b) {
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b)) return false;
    return !*a && !*b;
}

// Whether this block is what the preload was started as, in the same environment. If not, or if it is a later one, no
// preload lives on.
bool preload_takes(const struct block *block) {
    const struct block *own = &cell.job.preload;
    if (!cell.preload.pid) return false;
    preload_look();
    if (!cell.job.env_came_late && same_words(own->programs, block->programs) && same_words(own->args + 1, block->args + 1))
        return true;
    preload_end();
    return false;
}

// Its process, which is the block's from here on.
pid_t preload_go(void) {
    struct preload *p = &cell.preload;
    pid_t pid = p->pid;
    cell.status_length = 0;
    for (int n = 0; n < 2; n++) cell.streams[n].fd = p->fds[n];
    // One that is dead does not take it: its end is the block's end.
    if (send(p->channel, GO, 1, MSG_NOSIGNAL) != 1) kill(pid, SIGKILL);
    close(p->channel);
    *p = (struct preload){0};
    return pid;
}

void preload_end(void) {
    struct preload *p = &cell.preload;
    if (!p->pid) return;
    int none = -1;
    kill_all(0, &none);
    close(p->channel);
    for (int n = 0; n < 2; n++) close(p->fds[n]);
    *p = (struct preload){0};
}
