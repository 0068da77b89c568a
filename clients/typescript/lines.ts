import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

/**
 * The lines of a body, without the empty ones that keep the connection alive. A connection that ends in the middle of a
 * line is an error: half a line is never taken for a whole one.
 */
export async function* linesOf(answer: Response): AsyncGenerator<string> {
  if (!answer.body) return;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of answer.body) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield line;
    }
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new HotcellError('api_unreachable', `the connection to the API broke: ${messageOf(cause)}`, { cause });
  }
  if (rest !== '') throw new HotcellError('api_unreachable', 'the connection to the API ended in the middle of a line');
}
