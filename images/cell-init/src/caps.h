// The kernel's definitions for capget and capset, which musl lacks.
#pragma once
#include <stdint.h>

struct cap_header {
    uint32_t version;
    int pid;
};

struct cap_data {
    uint32_t effective, permitted, inheritable;
};

#define CAP_HEADER {.version = 0x20080522, .pid = 0}
