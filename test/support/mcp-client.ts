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
export function mcpMessage(method: string, params: object = {}, id = 1, more: object = {}) {
  const envelope = {
    ...more,
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

/** What a call of a tool that asks for progress is sent: messages, and at last the answer. */
export async function* toolWithProgress(
  producer: RunningProducer,
  name: string,
  args: object,
  progressToken: string,
): AsyncGenerator<{ method?: string; params?: Record<string, unknown>; result?: ToolAnswer }> {
  const answer = await producer.ask('POST', '/mcp', {
    body: JSON.stringify(mcpMessage('tools/call', { name, arguments: args }, 1, { progressToken })),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': newest,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
  });
  if (!answer.body) throw new Error(`${name} answered ${answer.status} without a body`);
  let text = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length));
  }
}

/** The first text of an answer. */
export const textIn = ({ content }: ToolAnswer): string => content.find(({ type }) => type === 'text')?.text ?? '';
