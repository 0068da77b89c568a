import { createMcpHandler } from '@modelcontextprotocol/server';
import { mcpServer } from './mcp-server.ts';
import type { Served } from './tool.ts';

/** Answers one request of the Streamable HTTP transport, whose body is parsed already. */
export type McpEndpoint = (request: Request, body: unknown) => Promise<Response>;

interface Settings {
  /** For this request, with the rights of its caller. */
  servedFor: (request: Request) => Promise<Served>;
  failed: (error: Error) => void;
}

/** Without a session: clients of the revisions before 2026-07-28 are answered by the same tools, one request at a time. */
export function openEndpoint({ servedFor, failed }: Settings): McpEndpoint {
  const handler = createMcpHandler(
    async ({ requestInfo }) => {
      if (!requestInfo) throw new Error('An MCP server was asked for without a request.');
      return mcpServer(await servedFor(requestInfo));
    },
    { onerror: failed },
  );
  return async (request, body) => await handler.fetch(request, { parsedBody: body });
}
