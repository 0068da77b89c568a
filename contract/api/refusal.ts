import { type ErrorCode, errorCodes, HotcellError } from '../errors.ts';
import { Problem } from './problem.ts';

/** The error that an answer other than good describes. */
export async function refusalOf(answer: Response): Promise<HotcellError> {
  const parsed = Problem.safeParse(await answer.json().catch(() => undefined));
  if (!parsed.success) return new HotcellError('internal', `The API answered ${answer.status} without a reason.`);
  return errorOf(parsed.data);
}

/** The error that a problem of the API describes. A newer API may have codes that this process does not know. */
export function errorOf({ code, detail, errors: issues, ...extra }: Problem): HotcellError {
  return new HotcellError(isCode(code) ? code : 'internal', detail, { issues, extra });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}
