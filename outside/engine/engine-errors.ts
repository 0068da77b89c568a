import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

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
  const said = saidBy(error);
  if (refusalStatusOf(error) === undefined)
    return new HotcellError(
      'engine_unavailable',
      `could not reach the container engine to ${what}: ${said}. Check that it runs and that this user may use its socket`,
      { cause: error },
    );
  if (/no such image/i.test(said))
    return new HotcellError('image_missing', `the engine could not ${what}: ${said}. Build or load the image again`, {
      cause: error,
    });
  if (/unknown or invalid runtime name/i.test(said))
    return new HotcellError(
      'runtime_missing',
      `the engine could not ${what}: ${said}. Install and register the runtime (doctor --fix does), then try again`,
      { cause: error },
    );
  return new HotcellError('cell_failed', `the engine could not ${what}: ${said}`, { cause: error });
}
