// What lives on while a step runs that is not the interpreter's: the interpreter and what its steps started. Init stops
// them meanwhile, so that they can neither write into the step's streams nor outlive their rest by a fork; all other
// processes are the step's, and end with it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cell.h"
#include "entries.h"

#define MOST_RESIDENTS 4096
#define UNDEAD_AFTER_US 20000000

struct process {
    pid_t pid;
    uint64_t began;  // A number that is given out again is another process.
};

static struct process residents[MOST_RESIDENTS];
static size_t resident_count;
static struct entries entries;

void residents_hold(void) {
    touch(residents, sizeof residents);
    touch(&entries, sizeof entries);
}

// False for one that is gone or dead.
static bool look_at(int proc, const char *name, struct process *found) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "%s/stat", name);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    // Its name can hold anything but ends at the last bracket; the state follows, and 19 fields later when it began.
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X') return false;
    for (int field = 0; at && field < 21; field++) at = strchr(at + 1, ' ');
    if (!at) return false;
    *found = (struct process){.pid = atoi(name), .began = strtoull(at + 1, NULL, 10)};
    return true;
}

static bool is_resident(const struct process *one) {
    for (size_t i = 0; i < resident_count; i++)
        if (residents[i].pid == one->pid && residents[i].began == one->began) return true;
    return false;
}

// Calls back for each process of the job. False if they cannot be listed.
static bool each_process(bool (*take)(const struct process *one, int signal), int signal) {
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) return false;
    bool whole = true;
    entries_start(&entries, proc);
    for (const char *name; whole && (name = entries_next(&entries));) {
        struct process one;
        if (name[0] < '1' || name[0] > '9' || atoi(name) == 1 || !look_at(proc, name, &one)) continue;
        whole = take(&one, signal);
    }
    close(proc);
    return whole;
}

static bool add_resident(const struct process *one, int signal) {
    (void)signal;
    if (is_resident(one)) return true;
    if (resident_count == MOST_RESIDENTS) return false;
    residents[resident_count++] = *one;
    return true;
}

// False if it cannot be done: then nothing may live on.
bool residents_stop(void) {
    resident_count = 0;
    // Linux stops all at once, and what is stopped cannot fork. gVisor can miss one that is just being created: again,
    // until a look finds no new one.
    for (int i = 0; i < 64; i++) {
        size_t before = resident_count;
        kill(-1, SIGSTOP);
        if (!each_process(add_resident, 0)) return false;
        if (i && before == resident_count) return true;
    }
    return false;
}

bool residents_are(pid_t alone) {
    return resident_count == 1 && residents[0].pid == alone;
}

void residents_go_on(void) {
    resident_count = 0;
    kill(-1, SIGCONT);
}

static size_t strangers;

static bool signal_stranger(const struct process *one, int signal) {
    if (is_resident(one)) return true;
    strangers++;
    kill(one->pid, signal);
    return true;
}

// To the step's own processes.
void signal_step(int signal) {
    each_process(signal_stranger, signal);
}

// Ends all that the step started. Stopped first, so that none of it forks faster than it dies.
void kill_step(pid_t main, int *status) {
    for (uint64_t until = now_us() + UNDEAD_AFTER_US;;) {
        kill(-1, SIGSTOP);
        strangers = 0;
        if (!each_process(signal_stranger, SIGKILL)) fail(E_SYSTEM, errno, "the processes of a step cannot be listed");
        bool alive = reap(main, status);
        if (!alive || (!strangers && *status != -1)) return;
        if (now_us() > until) fail(E_UNDEAD, 0, "a process of a step does not die");
        pump(now_us() + 1000);
    }
}
