/**
 * Every error that crosses between parts of Hotcell has a code of this closed list. What a program does in its cell is
 * never an error: it is an outcome.
 */
export const errorCodes = {
  invalid: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  too_slow: { status: 408, retryable: true },
  conflict: { status: 409, retryable: true },
  finished_already: { status: 409, retryable: false },
  erased: { status: 410, retryable: false },
  too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  policy_refused: { status: 422, retryable: false },
  idempotency_mismatch: { status: 422, retryable: false },
  snapshot_refused: { status: 422, retryable: false },
  queue_full: { status: 429, retryable: true },
  too_many: { status: 429, retryable: true },
  quota_exceeded: { status: 429, retryable: true },
  internal: { status: 500, retryable: true },
  store_unavailable: { status: 503, retryable: true },
  queue_unavailable: { status: 503, retryable: true },
  overloaded: { status: 503, retryable: true },
  engine_unavailable: { status: 503, retryable: true },
  // Of a client: the API did not answer.
  api_unreachable: { status: 503, retryable: true },
  // Of the worker: why an attempt failed.
  ticket_refused: { status: 400, retryable: false },
  image_missing: { status: 500, retryable: true },
  image_refused: { status: 500, retryable: false },
  runtime_missing: { status: 500, retryable: false },
  cell_failed: { status: 500, retryable: true },
  posture_differs: { status: 500, retryable: true },
  stream_broken: { status: 500, retryable: true },
  input_damaged: { status: 500, retryable: true },
  input_missing: { status: 500, retryable: false },
  record_damaged: { status: 500, retryable: false },
  // What a newer version wrote is left to workers of that version.
  newer_version: { status: 500, retryable: true },
  lost_claim: { status: 409, retryable: false },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One problem: `path` names the field, `message` the reason and what to do. */
export interface Issue {
  path: string;
  message: string;
}

export class HotcellError extends Error {
  override readonly name = 'HotcellError';
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];
  /** More members of a problem response, for example the run of a refusal. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: { issues?: readonly Issue[]; cause?: unknown; extra?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.issues = more.issues ?? [];
    this.extra = more.extra ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  /** Whether the same request may succeed later: decided here and nowhere else. */
  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }

  /** With it the operator finds a refused request in the producer's log. */
  get requestId(): string | undefined {
    const id = this.extra['requestId'];
    return typeof id === 'string' ? id : undefined;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
