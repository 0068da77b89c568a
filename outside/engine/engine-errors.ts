import { type ErrorCode, HotcellError, messageOf } from '@hotcell/contract/errors.ts';

/** The HTTP status of a refusal by the engine; undefined for any other error. */
export function refusalStatusOf(error: unknown): number | undefined {
  const status = error !== null && typeof error === 'object' && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** What went wrong, in the engine's words. */
function saidBy(error: unknown): string {
  const json = error !== null && typeof error === 'object' && 'json' in error ? error.json : undefined;
  const message = json !== null && typeof json === 'object' && 'message' in json ? json.message : undefined;
  return (typeof message === 'string' ? message : messageOf(error)).trim();
}

/** Distinguish an unreachable engine, a missing image, a missing runtime, and a container that cannot be made. */
export function explainEngineError(error: unknown, what: string): HotcellError {
  if (error instanceof HotcellError) return error;
  const said = saidBy(error).replace(/\.$/, '');
  const explained = (code: ErrorCode, message: string) => new HotcellError(code, message, { cause: error });
  if (refusalStatusOf(error) === undefined) {
    const check = 'Check that it runs and that this user may use its socket.';
    return explained('engine_unavailable', `Could not reach the container engine to ${what}: ${said}. ${check}`);
  }
  const refused = `The engine could not ${what}: ${said}.`;
  if (/no such image/i.test(said)) return explained('image_missing', `${refused} Build or load the image again.`);
  if (/unknown or invalid runtime name/i.test(said))
    return explained('runtime_missing', `${refused} Run ./hotcell doctor --fix to install and register the runtime.`);
  return explained('cell_failed', refused);
}
