import type {
  CallToolResult,
  ContentBlock,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Api } from './api.ts';
import { Failure, failureOf, showFailure } from './failure.ts';
import type { TellProgress } from './wait-telling.ts';

/** What every tool of one server has at hand. */
export interface Served {
  api: Api;
  /** What a cell has under the policy that a request without one gets; undefined if it isn't known. */
  cell: string | undefined;
}

interface At extends Served {
  /** Aborted when the client takes its call back, or goes away. */
  signal: AbortSignal;
  /** Undefined: the client did not ask to be told. */
  tell: TellProgress | undefined;
}

/** What a tool answers: the same facts as an object and as a text for a model. */
export interface Told<O> {
  facts: O;
  text: string;
  /** The program failed: it is an answer, and says so. */
  failed?: boolean;
  more?: readonly ContentBlock[];
}

interface Tool<I extends z.ZodObject, O extends z.ZodObject> {
  name: string;
  title: string;
  describe: (served: Served) => string;
  input: I;
  output: O;
  hints: ToolAnnotations;
  act: (at: At, input: z.output<I>) => Promise<Told<z.input<O>>>;
}

export type AddTool = (server: McpServer, served: Served) => void;

/** A tool of the table: what goes wrong in it is its answer, with every reason, and never an error of the protocol. */
export const tool =
  <I extends z.ZodObject, O extends z.ZodObject>({ name, title, describe, input, output, hints, act }: Tool<I, O>) =>
  (server: McpServer, served: Served): void => {
    const outputSchema = z.object({ ...output.partial().shape, error: Failure.optional() });
    const config = { title, description: describe(served), inputSchema: input, outputSchema, annotations: hints };
    server.registerTool<typeof outputSchema, I>(name, config, (async (asked: z.output<I>, context: Context) => {
      const at = { ...served, signal: context.mcpReq.signal, tell: tellerOf(context) };
      try {
        return answerOf(await act(at, asked));
      } catch (error) {
        if (at.signal.aborted) throw error;
        const failure = await failureOf(at.api, error);
        return answerOf({ facts: { error: failure }, text: showFailure(failure), failed: true });
      }
    }) as never);
  };

type Context = Pick<ServerContext, 'mcpReq'>;

/** A client that asks for progress sends a token, by which it knows the messages of this call. */
function tellerOf({ mcpReq }: Context): TellProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return async ({ waited, of, message }) =>
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: waited, total: of, message },
    });
}

function answerOf({ facts, text, failed, more = [] }: Told<object>): CallToolResult {
  return {
    content: [{ type: 'text', text }, ...more],
    structuredContent: { ...facts },
    ...(failed && { isError: true }),
  };
}
