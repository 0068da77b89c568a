// cell-init: PID 1 of a cell. It reports the posture, takes a job, runs its blocks, sends the outputs, and ends.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "account.h"
#include "cell.h"

#define HELLO_WITHIN_US 120000000ull
#define EMPTY_WITHIN_US 15000000ull

struct cell cell;

static void on_child(int signal) {
    (void)signal;
}

static void start(void) {
    // A thousand calls take ten milliseconds under gVisor, which accepts no end above the highest possible descriptor;
    // an older kernel offers no other way.
    if (syscall(SYS_close_range, 3u, (unsigned)INT_MAX, 0u))
        for (int fd = 3; fd < 1024; fd++) close(fd);
    prctl(PR_SET_DUMPABLE, 0);
    umask(022);
    // An exec keeps ignored signals, so a signal that the engine's parent ignored would be ignored in every block. Reset
    // them once here, not in every child: each call costs time under gVisor.
    for (int s = 1; s <= SIGSYS; s++) signal(s, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = on_child};
    sigaction(SIGCHLD, &action, NULL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    for (int fd = 0; fd < 2; fd++) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    cell.lifetime_at = now_us() + HELLO_WITHIN_US;
    cell.status_fd = cell.streams[0].fd = cell.streams[1].fd = -1;
}

static void say_ready(void) {
    struct utsname name;
    uname(&name);
    struct writer w = out_begin(2 + 2 + sizeof name.machine);
    put_uint(&w, VERSION, 2);
    put_str(&w, name.machine, strlen(name.machine));
    out_end(T_READY, &w);
}

static void begin(void) {
    cell.started_us = now_us();
    cell.lifetime_at = cell.started_us + cell.job.limits.lifetime_ms * 1000;
    // Nothing of the job lives yet, so no folder on the way to a block's file can be the job's.
    for (size_t i = 0; i < cell.job.block_count; i++) {
        int err = *cell.job.blocks[i].path ? scratch_folders(cell.job.blocks[i].path) : 0;
        if (err) fail(E_FILE, err, "the folder of a block's file could not be made in /work");
    }
    // Behind the folders of our files, which have to be ours; and before any time of the job counts.
    workspace_lay_out();
}

static void await_start(void) {
    for (;;) {
        const uint8_t *payload;
        size_t length;
        preload_look();
        switch (input_next(&payload, &length)) {
            case EV_HELLO:
                cell.lifetime_at = now_us() + cell.job.waiting_ms * 1000;
                scratch_check();
                break;
            case EV_SEAL: seal(); break;
            case EV_PRELOAD: preload_start(); break;
            case EV_JOB: log_start(); break;
            case EV_FILE: scratch_file_begin(); break;
            case EV_FILE_DATA: scratch_file_data(payload, length); break;
            case EV_START: begin(); return;
            default:
                if (!payload) pump(preload_wakes());
        }
    }
}

static void empty_scratch(void) {
    struct child_plan plan = {.out = -1, .err = -1, .status_fd = -1, .body = scratch_empty};
    pid_t child = spawn(&plan);
    if (child > 0) wait_for(child, now_us() + EMPTY_WITHIN_US);
}

static void say_end(uint64_t wall_us, const struct account *account, const struct totals *outputs) {
    struct writer w = out_begin(256);
    put_uint(&w, cell.cause, 1);
    put_uint(&w, cell.kill_reason, 1);
    put_uint(&w, cell.blocks_begun, 2);
    put_uint(&w, wall_us, 8);
    account_put(&w, account);
    put_uint(&w, cell.stdout_bytes, 8);
    put_uint(&w, cell.stderr_bytes, 8);
    put_uint(&w, cell.ring.dropped[1] + cell.ring.dropped[2], 8);
    put_uint(&w, outputs->files, 4);
    put_uint(&w, outputs->bytes, 8);
    put_uint(&w, outputs->refused, 8);
    put_uint(&w, outputs->flags, 1);
    out_end(T_END, &w);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "posture") == 0) return posture_main();
    if (getpid() != 1) {
        fputs("cell-init: runs as PID 1 of a cell only\n", stderr);
        return 64;
    }
    start();
    say_ready();
    await_start();
    struct account account;
    if (cell.job.is_session) run_session(&account);
    else run_blocks(&account);
    uint64_t wall_us = since_start();
    free_reserve();
    bool none = no_outputs(), keeps_work = cell.job.workspace.asked;
    if (!keeps_work) say_left();
    if (!none || keeps_work) empty_scratch();
    log_tail();
    if (!none) collect_outputs();
    struct totals outputs = *totals;
    if (keeps_work) collect_workspace();
    say_end(wall_us, &account, &outputs);
    out_drain();
    return 0;
}
