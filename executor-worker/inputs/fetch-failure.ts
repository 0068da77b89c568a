import { type ErrorCode, HotcellError, messageOf } from '@hotcell/contract/errors.ts';

/** Why a file could not be fetched, as one thread tells another. */
export interface Failure {
  /** Its place in the batch. */
  index: number;
  code: ErrorCode | undefined;
  /** The system's error code, for example ENOSPC. */
  errno: string | undefined;
  message: string;
}

export function failureOf(index: number, error: unknown): Failure {
  const code = error instanceof HotcellError ? error.code : undefined;
  const errno = error instanceof Error && 'code' in error && !code ? String(error.code) : undefined;
  return { index, code, errno, message: messageOf(error) };
}

export const errorOf = ({ code, errno, message }: Failure): Error =>
  code ? new HotcellError(code, message) : Object.assign(new Error(message), errno && { code: errno });
