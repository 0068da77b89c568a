// One step of a session: a process of its own, or code for the interpreter that lives on.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "account.h"
#include "cell.h"

static struct stepping {
    pid_t main;
    int status;
    bool in_interpreter, said_started;
    enum stop_cause cause;  // Of this step alone.
    uint64_t kill_at;       // The end of its grace, once its time is over.
    uint64_t began_us;
} step;

// Asked again, the program is interrupted again.
void interrupt_step(void) {
    if (!step.main || cell.cause != CAUSE_NONE) return;
    if (step.cause == CAUSE_NONE) step.cause = CAUSE_INTERRUPTED;
    kill(-step.main, SIGINT);
}

static void overrun(uint64_t since) {
    uint64_t grace = cell.job.limits.grace_ms * 1000ull, at_least = now_us() + grace / 2;
    step.kill_at = since + grace > at_least ? since + grace : at_least;
    step.cause = CAUSE_BLOCK_TIME;
    // The interpreter gets a chance to keep its state.
    if (step.in_interpreter) kill(-step.main, SIGINT);
    else signal_step(SIGTERM);
}

static bool is_over(void) {
    const struct interpreter *i = &cell.interpreter;
    return step.status != -1 || (step.in_interpreter && (i->done || i->broken));
}

// Until the step has ended; once the session is stopped, until nothing lives or the grace is over.
static void await_end(uint64_t step_at, uint64_t run_at) {
    uint64_t sample_at = account_samples() ? step.began_us : NEVER;
    for (bool alive = true;;) {
        uint64_t now = now_us();
        if (now >= step_at && !step.kill_at) overrun(step_at);
        if (now >= run_at) ask_to_stop(CAUSE_RUN_TIME, run_at);
        if (cell.cause == CAUSE_NONE && now >= sample_at) {
            account_sample();
            sample_at = now + SAMPLE_US;
        }
        uint64_t kill_at = cell.cause != CAUSE_NONE ? cell.kill_at : step.kill_at ? step.kill_at : NEVER;
        if (now >= kill_at) return;
        pump(nearest(kill_at, nearest(sample_at, nearest(step.kill_at ? NEVER : step_at, run_at > now ? run_at : NEVER))));
        take_kills();
        uint8_t program;
        struct ending none;
        if (cell.status_fd < 0 && !step.said_started && !failed_to_start(&none, &program)) {
            say_started(program, step.began_us);
            step.said_started = true;
        }
        alive = reap(step.main, &step.status);
        if (cell.cause == CAUSE_NONE ? is_over() : !alive) return;
    }
}

static struct ending how_it_ended(void) {
    struct ending end;
    uint8_t program;
    while (cell.status_fd >= 0) pump(NEVER);
    if (!step.said_started && failed_to_start(&end, &program)) return end;
    if (!step.said_started) say_started(0, step.began_us);
    if (WIFEXITED(step.status)) return (struct ending){.how = HOW_EXITED, .code = WEXITSTATUS(step.status)};
    return (struct ending){.how = HOW_SIGNALLED, .code = WTERMSIG(step.status)};
}

static void kill_everything(void) {
    kill_all(step.main, &step.status);
    cell.interpreter.pid = 0;
}

static struct ending run_process(struct block *b, uint64_t step_at, uint64_t run_at) {
    bool beside = cell.interpreter.pid != 0;
    int status = -1;
    if (beside && !residents_stop()) {
        kill_all(0, &status);
        interpreter_forget();
        beside = false;
    }
    struct ending end;
    if (block_begin(b, &step.main, &end)) {
        await_end(step_at, run_at);
        if (beside && cell.cause == CAUSE_NONE && cell.interpreter.pid) kill_step(step.main, &step.status);
        else kill_everything();
        end = how_it_ended();
    }
    log_drain();
    if (beside) residents_go_on();
    if (!cell.interpreter.pid) interpreter_forget();
    return end;
}

static struct ending run_in_interpreter(struct block *b, uint64_t step_at, uint64_t run_at) {
    struct interpreter *i = &cell.interpreter;
    int err = 0;
    bool lives = i->pid != 0;
    if (!lives && !interpreter_start(b, &err)) return (struct ending){.how = HOW_NOT_STARTED, .code = STAGE_FORK, .err = err};
    step.main = i->pid;
    interpreter_speak();
    if (lives) {
        say_started(LIVES_ON, step.began_us);
        step.said_started = true;
    }
    if (!interpreter_ask(b)) i->broken = true;
    await_end(step_at, run_at);
    if (i->done && cell.cause == CAUSE_NONE && step.status == -1) {
        if (!step.said_started) say_started(0, step.began_us);
        interpreter_rest();
        return (struct ending){.how = HOW_SAID};
    }
    kill_everything();
    struct ending end = how_it_ended();
    log_drain();
    i->fds[0] = i->fds[1] = -1;
    interpreter_forget();
    return end;
}

static void say_over(void) {
    struct writer w = out_begin(2);
    put_uint(&w, cell.block_index, 2);
    out_end(T_STEP_OVER, &w);
}

// `before` is what the cell had used when the step before ended, and becomes what it has used now.
void run_step(uint64_t run_at, struct account *before) {
    struct block *b = &cell.job.blocks[0];
    uint64_t began_us = now_us(), step_at = b->time_ms ? began_us + b->time_ms * 1000 : NEVER;
    step = (struct stepping){.status = -1, .in_interpreter = b->in_interpreter, .began_us = began_us};
    cell.block_index = cell.job.steps;
    interpreter_look();
    cell.streams[0] = cell.streams[1] = (struct stream){.fd = -1};
    int err = step_files_error();
    if (!err && *b->path) err = scratch_folders(b->path);
    if (!err && *b->path) err = scratch_place(b);
    struct ending end = {.how = HOW_NOT_STARTED, .code = STAGE_FILE, .err = err};
    if (!err) end = b->in_interpreter ? run_in_interpreter(b, step_at, run_at) : run_process(b, step_at, run_at);
    uint64_t ended_us = now_us();
    struct account now, account;
    account_read(&now);
    account = now;
    account_since(&account, before);
    *before = now;
    say_ended(&end, cell.cause != CAUSE_NONE ? cell.cause : step.cause, began_us, ended_us, &account);
    cell.stdout_bytes += cell.streams[0].bytes;
    cell.stderr_bytes += cell.streams[1].bytes;
    cell.blocks_begun++;
    step.main = 0;
    say_over();
    job_step_over(&cell.job);
}
