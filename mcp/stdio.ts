import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { mcpServer } from './mcp-server.ts';
import type { Served } from './tool.ts';

/** Serves the client that started this process, until it closes stdin. Nothing else may write to stdout. */
export function serveClient(served: Served, failed: (error: Error) => void): void {
  serveStdio(() => mcpServer(served), { onerror: failed });
}
