// What the decoders of the host's frames share.
#pragma once
#include <errno.h>
#include "job.h"
#include "wire.h"

#define FAULT(C, T) (*fault = (struct fault){.code = (C), .text = (T)}, EV_FAULT)
#define NO_MEMORY (*fault = (struct fault){.code = E_SYSTEM, .err = ENOMEM, .text = "no memory for the job"}, EV_FAULT)
#define WHOLE(R) (!(R).bad && (R).left == 0)

// job.c
char *copy_str(const uint8_t *bytes, size_t length);
bool good_path(const uint8_t *bytes, size_t length);
void free_block(struct block *b);
void free_blocks(struct job *job);
enum job_event take_block(struct job *job, struct block *b, size_t index, struct reader *r, struct fault *fault);

// session-frames.c
enum job_event on_session(struct job *job, struct reader r, struct fault *fault);
enum job_event on_workspace(struct job *job, struct reader r, struct fault *fault);
enum job_event on_step(struct job *job, struct reader r, struct fault *fault);
enum job_event on_session_order(const struct job *job, struct reader r, enum job_event event, struct fault *fault);

// preload-frame.c
enum job_event on_preload(struct job *job, struct reader r, struct fault *fault);
