import type { RunningProducer } from './producer.ts';

const newest = '2026-07-28';
const meta = 'io.modelcontextprotocol';

/** The parts of a tool's answer that tests look at. */
export interface ToolAnswer {
  content: { type: string; text?: string; data?: string; mimeType?: string; uri?: string }[];
  structuredContent: Record<string, unknown> & { run: string };
  isError?: boolean;
}

interface McpReply {
  status: number;
  result?: unknown;
  error?: { code: number; message: string };
}

/** One message of the newest revision, without a library in between. */
export function mcpMessage(method: string, params: object = {}, id = 1) {
  const envelope = {
    [`${meta}/protocolVersion`]: newest,
    [`${meta}/clientInfo`]: { name: 'test', version: '1' },
    [`${meta}/clientCapabilities`]: {},
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } };
}

interface Asking {
  key?: string;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

export async function askMcp(
  producer: RunningProducer,
  method: string,
  params: Record<string, unknown> = {},
  { headers, ...asking }: Asking = {},
): Promise<McpReply> {
  const name = params['name'] ?? params['uri'];
  const answer = await producer.ask('POST', '/mcp', {
    ...asking,
    body: JSON.stringify(mcpMessage(method, params)),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': newest,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
  });
  const body = (await answer.json()) as Omit<McpReply, 'status'>;
  return { status: answer.status, ...body };
}

export async function callTool(
  producer: RunningProducer,
  name: string,
  args: object = {},
  asking: Asking = {},
): Promise<ToolAnswer> {
  const { status, result, error } = await askMcp(producer, 'tools/call', { name, arguments: args }, asking);
  if (!result) throw new Error(`${name} answered ${status}: ${error?.message}`);
  return result as ToolAnswer;
}

/** The first text of an answer. */
export const textIn = ({ content }: ToolAnswer): string => content.find(({ type }) => type === 'text')?.text ?? '';
