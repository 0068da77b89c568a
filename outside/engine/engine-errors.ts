import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

/** The HTTP status of the engine's refusal, if that is what the error is. */
export function statusOf(error: unknown): number | undefined {
  const status = error !== null && typeof error === 'object' && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** What the engine says went wrong, in its own words. */
function saidBy(error: unknown): string {
  const json = error !== null && typeof error === 'object' && 'json' in error ? error.json : undefined;
  const message = json !== null && typeof json === 'object' && 'message' in json ? json.message : undefined;
  return (typeof message === 'string' ? message : messageOf(error)).trim();
}

/** Tell an engine that is not there from an image or runtime that is missing, and from a container that cannot be. */
export function explainEngineError(error: unknown, what: string): HotcellError {
  if (error instanceof HotcellError) return error;
  const said = saidBy(error);
  if (statusOf(error) === undefined)
    return new HotcellError(
      'engine_unavailable',
      `the container engine could not be asked to ${what}: ${said}. See that it runs and that its socket is ours to use`,
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
