// The memory that init needs to report how a run ended after its job used up all the rest.
#include <errno.h>
#include <sys/mman.h>
#include "cell.h"

#define RESERVE_BYTES (2 * 1024 * 1024)

static void *reserve;

void touch(void *memory, size_t bytes) {
    volatile uint8_t *at = memory;
    for (size_t i = 0; i < bytes; i += PAGE_BYTES) at[i] = at[i];
    if (bytes) at[bytes - 1] = at[bytes - 1];
}

void hold(void *pages, size_t bytes) {
    touch(pages, bytes);
    madvise(pages, bytes, MADV_DONTFORK);
}

// Touch everything while init is alone in the cell.
void hold_memory(void) {
    if (reserve) return;
    out_hold();
    input_hold();
    relay_hold();
    said_hold();
    residents_hold();
    totals_start();
    reserve = mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reserve == MAP_FAILED) fail(E_SYSTEM, errno, "no memory for the reserve");
    hold(reserve, RESERVE_BYTES);
}

// For the page tables and stacks of the last children.
void free_reserve(void) {
    munmap(reserve, RESERVE_BYTES);
}
