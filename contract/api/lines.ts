import { HotcellError, messageOf } from '../errors.ts';

/**
 * Yields the lines of a body, without the empty ones that keep the connection alive. A connection that ends within a
 * line is an error, so that no reader takes half a line for a whole one.
 */
export async function* linesOf(answer: Response): AsyncGenerator<string> {
  if (!answer.body) return;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of answer.body) {
      // Only what is new is searched: a line may be as long as a result with a hundred thousand outputs.
      const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
      if (lines.length === 0) {
        rest += end;
        continue;
      }
      lines.unshift(rest + end);
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield line;
    }
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new HotcellError('api_unreachable', `The connection to the API broke: ${messageOf(cause)}. Try again.`, {
      cause,
    });
  }
  if (rest !== '')
    throw new HotcellError('api_unreachable', 'The connection to the API broke within a line. Try again.');
}
