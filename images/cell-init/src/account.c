#include "account.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char text[4096];

static bool slurp(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n < 0) return false;
    text[n] = 0;
    return true;
}

// A file of one number, or the number behind `word` at the start of a line.
static uint64_t number(const char *path, const char *word) {
    if (!slurp(path)) return UNKNOWN;
    const char *at = text;
    size_t length = word ? strlen(word) : 0;
    while (word && (strncmp(at, word, length) || at[length] != ' ')) {
        at = strchr(at, '\n');
        if (!at++) return UNKNOWN;
    }
    at += length;
    while (*at == ' ' || *at == '\t') at++;
    return *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : UNKNOWN;
}

static uint64_t either(const char *v2, const char *v2_word, const char *v1, const char *v1_word) {
    uint64_t value = number(v2, v2_word);
    return value == UNKNOWN ? number(v1, v1_word) : value;
}

static uint64_t sum(uint64_t a, uint64_t b) {
    return a == UNKNOWN ? b : b == UNKNOWN ? a : a + b;
}

// /proc/net/snmp has a line of names and below it a line of values, each behind the protocol's name.
static uint64_t protocol_number(const char *protocol, const char *name) {
    const char *names = strstr(text, protocol), *values = names ? strchr(names, '\n') : NULL;
    if (!values || strncmp(++values, protocol, strlen(protocol))) return UNKNOWN;
    size_t length = strlen(name);
    while (*names != '\n') {
        size_t word = strcspn(names, " \n");
        if (word == length && !strncmp(names, name, length)) return strtoull(values, NULL, 10);
        names += word + strspn(names + word, " ");
        values += strcspn(values, " \n");
        values += strspn(values, " ");
    }
    return UNKNOWN;
}

#define NET "/proc/net/"

// Of the cell's own network namespace. Linux counts a connection without a route as such. gVisor counts it as failed, and
// there a refused one may be failed as well: that one was begun, but not accepted.
static void network_read(struct account *a) {
    bool there = slurp(NET "snmp");
    a->unheard_datagrams = there ? protocol_number("Udp: ", "NoPorts") : UNKNOWN;
    a->failed_connects = there ? sum(protocol_number("Tcp: ", "AttemptFails"), protocol_number("Tcp: ", "PassiveOpens")) : UNKNOWN;
    a->local_connects = there ? protocol_number("Tcp: ", "ActiveOpens") : UNKNOWN;
    uint64_t ipv4 = there ? protocol_number("Ip: ", "OutNoRoutes") : UNKNOWN;
    a->no_routes = sum(ipv4, number(NET "snmp6", "Ip6OutNoRoutes"));
}

#define CG "/sys/fs/cgroup/"

static uint64_t peak(void) {
    return either(CG "memory.peak", NULL, CG "memory/memory.max_usage_in_bytes", NULL);
}

#define NEARLY (1024 * 1024)

// Version 1 has no such count. A kill at the limit comes when not even a few pages are left below it.
static uint64_t at_limit(void) {
    uint64_t hits = number(CG "memory.events", "oom");
    if (hits != UNKNOWN) return hits > 0;
    uint64_t most = number(CG "memory/memory.limit_in_bytes", NULL);
    uint64_t used = number(CG "memory/memory.max_usage_in_bytes", NULL);
    return most == UNKNOWN || used == UNKNOWN ? UNKNOWN : used + NEARLY >= most;
}

static uint64_t sampled;
static const char *sampled_file;

bool account_samples(void) {
    static const char *const files[] = {CG "memory.current", CG "memory/memory.usage_in_bytes"};
    if (peak() != UNKNOWN) return false;
    for (int i = 0; i < 2 && !sampled_file; i++)
        if (number(files[i], NULL) != UNKNOWN) sampled_file = files[i];
    return sampled_file != NULL;
}

// Opened each time: gVisor lets the job open any descriptor that init keeps open.
void account_sample(void) {
    uint64_t now = number(sampled_file, NULL);
    if (now != UNKNOWN && now > sampled) sampled = now;
}

void account_read(struct account *a) {
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    uint64_t waited = (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
    uint64_t v1_ns = number(CG "cpuacct/cpuacct.usage", NULL);
    uint64_t cpu = v1_ns == UNKNOWN ? number(CG "cpu.stat", "usage_usec") : v1_ns / 1000;
    // A job can hide from wait() (SIGCHLD ignored), and gVisor's cgroup may report 0: the larger value is closer.
    a->cpu_us = cpu == UNKNOWN || cpu < waited ? waited : cpu;
    a->max_rss = (uint64_t)children.ru_maxrss * 1024;
    a->peak_memory = peak();
    if (a->peak_memory == UNKNOWN && sampled) a->peak_memory = sampled;
    a->oom_kills = either(CG "memory.events", "oom_kill", CG "memory/memory.oom_control", "oom_kill");
    a->peak_pids = either(CG "pids.peak", NULL, CG "pids/pids.peak", NULL);
    a->pids_refused = either(CG "pids.events", "max", CG "pids/pids.events", "max");
    a->at_limit = at_limit();
    network_read(a);
}

static uint64_t since(uint64_t now, uint64_t before) {
    return now == UNKNOWN || before == UNKNOWN ? UNKNOWN : now < before ? 0 : now - before;
}

void account_since(struct account *a, const struct account *before) {
    a->cpu_us = since(a->cpu_us, before->cpu_us);
    a->oom_kills = since(a->oom_kills, before->oom_kills);
    a->pids_refused = since(a->pids_refused, before->pids_refused);
    a->no_routes = since(a->no_routes, before->no_routes);
    a->failed_connects = since(a->failed_connects, before->failed_connects);
    a->local_connects = since(a->local_connects, before->local_connects);
    a->unheard_datagrams = since(a->unheard_datagrams, before->unheard_datagrams);
}

// What was sent to where nothing is: to outside, or to the resolver that a cell does not have.
static uint64_t network_tries(const struct account *a) {
    return sum(sum(a->no_routes, a->unheard_datagrams), since(a->failed_connects, a->local_connects));
}

void account_put(struct writer *w, const struct account *a) {
    const uint64_t all[] = {a->cpu_us,    a->peak_memory,  a->oom_kills, a->max_rss,
                            a->peak_pids, a->pids_refused, a->at_limit,  network_tries(a)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) put_uint(w, all[i], 8);
}
