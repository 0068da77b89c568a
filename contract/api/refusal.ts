import { type ErrorCode, errorCodes, HotcellError } from '../errors.ts';
import { Problem } from './problem.ts';

/** The error that an answer other than good describes. */
export async function refusalOf(answer: Response): Promise<HotcellError> {
  const parsed = Problem.safeParse(await answer.json().catch(() => undefined));
  return parsed.success ? errorOf(parsed.data) : withoutReason(answer.status);
}

/** The API always says why: such an answer comes from something before it, which says by 5xx that it is away. */
function withoutReason(status: number): HotcellError {
  const what = `Something before the API answered ${status} without a reason of Hotcell's.`;
  return status >= 500
    ? new HotcellError('api_unreachable', `${what} The API may be away: try again, or check HOTCELL_URL.`)
    : new HotcellError('internal', `${what} Check HOTCELL_URL.`);
}

/** The error that a problem of the API describes. A newer API may have codes that this process does not know. */
export function errorOf({ code, detail, errors: issues, ...extra }: Problem): HotcellError {
  return new HotcellError(isCode(code) ? code : 'internal', detail, { issues, extra });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}
