// The blocks, one after the other, each alone in the cell.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "account.h"
#include "cell.h"

// From the records that the child left on the status pipe: the last one counts.
bool failed_to_start(struct ending *end, uint8_t *program) {
    *program = 0;
    if (cell.status_length < 4) return false;
    const uint8_t *last = cell.status + (cell.status_length / 4 - 1) * 4;
    *program = last[1];
    if (last[0] == STAGE_NONE) return false;
    *end = (struct ending){.how = HOW_NOT_STARTED, .code = last[0], .err = last[2] | last[3] << 8};
    return true;
}

void say_started(uint8_t program, uint64_t at_us) {
    struct writer w = out_begin(11);
    put_uint(&w, cell.block_index, 2);
    put_uint(&w, program, 1);
    put_uint(&w, at_us - cell.started_us, 8);
    out_end(T_BLOCK_STARTED, &w);
}

void say_ended(const struct ending *end, enum stop_cause cause, uint64_t began_us, uint64_t ended_us, const struct account *account) {
    struct writer w = out_begin(128);
    put_uint(&w, cell.block_index, 2);
    put_uint(&w, end->how, 1);
    put_uint(&w, (uint64_t)end->code, 1);
    put_uint(&w, (uint64_t)end->err, 2);
    put_uint(&w, cause, 1);
    put_uint(&w, cell.kill_reason, 1);
    put_uint(&w, ended_us - cell.started_us, 8);
    put_uint(&w, ended_us - began_us, 8);
    put_uint(&w, cell.streams[0].bytes + cell.streams[1].bytes, 8);
    account_put(&w, account);
    out_end(T_BLOCK_ENDED, &w);
}

// Until the block's own process has ended; once it is stopped, until nothing lives or the grace is over.
static struct ending follow(pid_t main, uint64_t began_us, uint64_t block_at, uint64_t run_at) {
    struct ending end = {.how = HOW_SIGNALLED, .code = SIGKILL};
    int status = -1;
    bool said = cell.in_preload, alive = true;
    uint8_t program;
    // A preload runs already.
    if (said) say_started(IN_PRELOAD, began_us);
    uint64_t sample_at = account_samples() ? began_us : NEVER;
    while (alive && !(status != -1 && cell.cause == CAUSE_NONE)) {
        uint64_t now = now_us();
        if (now >= block_at) ask_to_stop(CAUSE_BLOCK_TIME, block_at);
        if (now >= run_at) ask_to_stop(CAUSE_RUN_TIME, run_at);
        if (cell.cause != CAUSE_NONE) {
            // As few calls as possible from here to the kill: with many processes, gVisor makes init wait its turn for each.
            if (now >= cell.kill_at) break;
            pump(cell.kill_at);
        } else {
            if (now >= sample_at) {
                account_sample();
                sample_at = now + SAMPLE_US;
            }
            pump(nearest(sample_at, nearest(block_at, run_at)));
        }
        take_kills();
        if (cell.status_fd < 0 && !said && !failed_to_start(&end, &program)) {
            say_started(program, began_us);
            said = true;
        }
        alive = reap(main, &status);
    }
    if (sample_at != NEVER && cell.cause == CAUSE_NONE) account_sample();
    kill_all(main, &status);
    while (cell.status_fd >= 0) pump(NEVER);
    if (failed_to_start(&end, &program)) return end;
    if (!said) say_started(program, began_us);
    if (WIFEXITED(status)) return (struct ending){.how = HOW_EXITED, .code = WEXITSTATUS(status)};
    return (struct ending){.how = HOW_SIGNALLED, .code = WTERMSIG(status)};
}

// Its process, with pipes of its own; false, and why, if there is none.
bool block_begin(struct block *b, pid_t *main, struct ending *end) {
    int out[2], errors[2], status[2];
    pipe_as_job(out, LOG_PIPE_BYTES);
    pipe_as_job(errors, LOG_PIPE_BYTES);
    if (pipe2(status, O_CLOEXEC) || fcntl(status[0], F_SETFL, O_NONBLOCK)) fail(E_SYSTEM, errno, "a pipe for a block");
    cell.status_length = 0;
    cell.status_fd = status[1];
    struct child_plan plan = {
        .out = out[1], .err = errors[1], .aside = cell.preload.theirs, .status_fd = status[1], .body = run_program, .argument = b, .body_stage = STAGE_EXEC};
    *main = cell.blocks_begun == 0 ? spawn_sharing(&plan) : spawn(&plan);
    int err = errno;
    close(out[1]);
    close(errors[1]);
    close(status[1]);
    cell.status_fd = status[0];
    cell.streams[0].fd = out[0];
    cell.streams[1].fd = errors[0];
    if (*main > 0) return true;
    close(status[0]);
    cell.status_fd = -1;
    *end = (struct ending){.how = HOW_NOT_STARTED, .code = STAGE_FORK, .err = err};
    return false;
}

static struct ending run_block(struct block *b, uint64_t began_us, uint64_t run_at) {
    cell.in_preload = preload_takes(b);
    int err = *b->path ? scratch_place(b) : 0;
    if (err) return (struct ending){.how = HOW_NOT_STARTED, .code = STAGE_FILE, .err = err};
    pid_t main;
    struct ending end;
    bool begun = cell.in_preload;
    if (begun) main = preload_go();
    else begun = block_begin(b, &main, &end);
    if (begun) end = follow(main, began_us, b->time_ms ? began_us + b->time_ms * 1000 : NEVER, run_at);
    log_drain();
    return end;
}

// `whole` is the total of all blocks. Between two blocks nothing of the job lives, so one reading ends the one and begins
// the other.
void run_blocks(struct account *whole) {
    struct account first, before, now;
    account_read(&first);
    before = now = first;

    uint64_t first_us = now_us();
    uint64_t run_at = first_us + cell.job.limits.run_ms * 1000;
    for (size_t i = 0; i < cell.job.block_count && cell.cause == CAUSE_NONE; i++) {
        cell.block_index = i;
        cell.streams[0] = cell.streams[1] = (struct stream){.fd = -1};
        uint64_t began_us = now_us();
        struct ending end = run_block(&cell.job.blocks[i], began_us, run_at);
        uint64_t ended_us = now_us();
        account_read(&now);
        struct account account = now;
        account_since(&account, &before);
        before = now;
        say_ended(&end, cell.cause, began_us, ended_us, &account);
        cell.stdout_bytes += cell.streams[0].bytes;
        cell.stderr_bytes += cell.streams[1].bytes;
        cell.blocks_begun++;
        take_kills();
        if (end.how != HOW_EXITED || end.code != 0) break;
    }
    cell.blocks_over = true;
    *whole = now;
    account_since(whole, &first);
}
