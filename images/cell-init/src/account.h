// The kernel's account of the cell: from its cgroup or, without one, from the processes waited for.
#pragma once
#include <stdint.h>
#include "wire.h"

#define UNKNOWN UINT64_MAX

struct account {
    uint64_t cpu_us, peak_memory, oom_kills, max_rss, peak_pids, pids_refused;
    uint64_t at_limit;  // Whether the cell ever came to its own memory limit: otherwise a kill is for its host's lack.
    uint64_t no_routes, failed_connects, local_connects, unheard_datagrams;
};

// Where the kernel keeps no peak (gVisor, cgroup v2 before 5.19) init samples the current use.
bool account_samples(void);
void account_sample(void);

void account_read(struct account *account);
// Counters since `before`; peaks stay peaks.
void account_since(struct account *account, const struct account *before);
void account_put(struct writer *w, const struct account *account);
